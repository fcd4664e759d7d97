"""Where parties listen and dial: addresses, ports, names; and callers who do not stop anybody else."""

import asyncio
import errno
import socket

import pytest

from tests.support.errors import refused
from tests.support.fault_proxy import FaultProxy, NetworkFault
from tests.support.party_network import TIME_OUT, Pair, Shop, hello, run, without_details
from veilset.errors import InvalidArgument
from veilset.joins.parties import listener as listening
from veilset.joins.parties import wire
from veilset.joins.parties.addresses import split_address
from veilset.joins.parties.complaints import Complaints
from veilset.joins.parties.wire import Disrupted, Listener

_SHORT = 1.0


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A bank that dials and a shop that listens."""
    return Pair(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def shop(pair):
    """The shop."""
    return Shop(pair.shop, pair.certificates)


def test_a_port_in_use_is_told(shop, snapshot):
    async def work():
        async with shop.listener() as first:
            port = split_address(first.address)[1]
            with pytest.raises(InvalidArgument) as caught:
                async with shop.listener(port=port):
                    pass
        return str(caught.value)

    assert without_details(run(work())) == snapshot


@pytest.mark.parametrize(
    ("host", "failure"),
    [
        ("192.0.2.1", OSError(errno.EADDRNOTAVAIL, "")),
        ("192.0.2.2", OSError("could not bind on any address")),
        ("shop.invalid", socket.gaierror(socket.EAI_NONAME, "Name or service not known")),
        ("127.0.0.1", OSError(errno.EACCES, "")),
        ("127.0.0.2", OSError(errno.ENOBUFS, "")),
    ],
)
def test_an_address_where_nobody_can_listen_is_told(shop, host, failure, monkeypatch, snapshot):
    async def start_server(*_):
        raise failure

    async def work():
        monkeypatch.setattr(asyncio, "start_server", start_server)
        listener = Listener(
            host, 80, shop.identity, {}, shop.greet, shop._keep, time_out=TIME_OUT, complain=shop.complaints.append
        )
        with refused(InvalidArgument, "shop", f"{host}:80") as caught:
            async with listener:
                pass
        return str(caught.value)

    assert run(work()) == snapshot


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        OSError(errno.EHOSTUNREACH, "No route to host"),
        OSError(errno.ENETUNREACH, "Network is unreachable"),
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"),
        TimeoutError(errno.ETIMEDOUT, "Connection timed out"),
    ],
    ids=lambda failure: f"{type(failure).__name__} {failure.errno}",
)
def test_a_party_that_cannot_be_reached_is_told_as_what_it_is(pair, failure, monkeypatch, snapshot):
    async def opened(*_):
        raise failure

    async def work():
        monkeypatch.setattr(wire, "_opened", opened)
        with pytest.raises(Disrupted) as caught:
            await pair.dial("127.0.0.1:7001", time_out=0.1)
        assert (caught.value.fault, caught.value.party) == ("unreachable", "shop")
        return str(caught.value)

    assert run(work()) == snapshot


@pytest.mark.parametrize("address", ["shop", "shop:", ":7001", "shop:70000", "::1:7001", "http://shop:1", "a b:1", ""])
def test_what_is_no_address_is_refused(pair, address):
    with refused(InvalidArgument, repr(address)):
        run(pair.dial(address))


def test_who_dials_waits_for_the_other_to_start(pair, shop):
    async def work():
        async with shop.listener() as early:
            port = split_address(early.address)[1]
        calling = asyncio.create_task(pair.dial(f"127.0.0.1:{port}"))
        await asyncio.sleep(0.2)
        assert not calling.done()
        async with shop.listener(port=port):
            await (await calling).close()

    run(work())


def test_a_tunnel_without_a_party_behind_it_is_like_nobody(pair, shop, snapshot):
    async def work():
        async with shop.listener() as listener, FaultProxy(listener.address, [NetworkFault("refuse")]) as proxy:
            await (await pair.dial(proxy.address)).close()
            assert proxy.connections == 2
        refusals = [NetworkFault("refuse", connection=i) for i in range(99)]
        async with FaultProxy(listener.address, refusals) as proxy:
            with pytest.raises(Disrupted) as caught:
                await pair.dial(proxy.address, time_out=_SHORT)
        assert caught.value.fault == "unreachable"
        return str(caught.value)

    assert without_details(run(work())) == snapshot


@pytest.mark.parametrize("direction", ["there", "back"])
def test_who_never_answers_is_silent(pair, direction):
    async def work():
        shop = Shop(pair.shop, pair.certificates, time_out=_SHORT)
        async with (
            shop.listener() as listener,
            FaultProxy(listener.address, [NetworkFault("stall", direction=direction)]) as proxy,
        ):
            with refused(Disrupted, "shop", proxy.address) as caught:
                await pair.dial(proxy.address, time_out=_SHORT)
            assert caught.value.fault == "silent"
            assert await shop.complaint()

    run(work())


def test_broken_callers_stop_nobody_else(pair, shop):
    async def work():
        async with shop.listener() as listener:
            place = split_address(listener.address)
            for first in (b"", b"\x16", b"\x16\x03\x01\xff\xff", b"\x15\x03\x01\x00\x02\x02\x28", b"garbage"):
                reader, writer = await asyncio.open_connection(*place)
                writer.write(first)
                writer.write_eof()
                await reader.read()
                writer.close()
            channel = await pair.dial(listener.address)
            await channel.close()
            assert len(shop.complaints) == 5

    run(work())


def test_strangers_who_say_nothing_are_not_let_in_without_end(pair, shop, monkeypatch):
    monkeypatch.setattr(listening, "MOST_GREETING", 3)

    async def work():
        async with shop.listener() as listener:
            place = split_address(listener.address)
            quiet = [await asyncio.open_connection(*place) for _ in range(5)]
            assert "3 have not said yet" in await shop.complaint()
            channel = await pair.dial(listener.address)
            await channel.close()
            for _, writer in quiet:
                writer.close()
        assert len([one for one in shop.complaints if "at once" in one]) == 0

    run(work())


def test_silent_strangers_do_not_keep_a_party_out(pair, monkeypatch):
    """They come back as often as they are dropped; a long time-out does not help, and the screen stays readable."""
    monkeypatch.setattr(listening, "MOST_GREETING", 3)
    shop = Shop(pair.shop, pair.certificates, time_out=3600)

    async def work():
        async def hold(place):
            while True:
                reader, writer = await asyncio.open_connection(*place)
                try:
                    await reader.read(1)
                except OSError:
                    pass
                finally:
                    writer.close()

        async with shop.listener() as listener:
            strangers = [asyncio.create_task(hold(split_address(listener.address))) for _ in range(5)]
            await asyncio.sleep(0.05)
            for _ in range(3):
                await (await pair.dial(listener.address)).close()
            for one in strangers:
                one.cancel()
            await asyncio.gather(*strangers, return_exceptions=True)
        assert len(shop.complaints) < 15

    run(work())


def test_a_certificate_is_due_soon(pair, monkeypatch):
    monkeypatch.setattr(listening, "LONGEST_HANDSHAKE", 0.1)
    shop = Shop(pair.shop, pair.certificates, time_out=3600)

    async def work():
        async with shop.listener() as listener:
            _, writer = await asyncio.open_connection(*split_address(listener.address))
            assert "silent for 0.1 seconds" in await shop.complaint()
            writer.close()

    run(work())


def test_complaints_about_strangers_are_counted():
    told: list[str] = []
    now = [0.0]
    complaints = Complaints(told.append, 2, lambda: now[0])
    for at in (1, 2, 3, 4, 59, 61, 62):
        now[0] = at
        complaints.say(f"at {at}")
    assert told == ["at 1", "at 2", "3 more calls of this kind came to nothing.", "at 61", "at 62"]


def test_an_error_of_ours_ends_one_channel_and_is_complained_about(pair, shop):
    async def arrived(channel, theirs):
        raise InvalidArgument("The table of shop is gone.", "Put it back.")

    async def work():
        async with shop.listener(arrived) as listener:
            for _ in range(2):
                channel = await pair.dial(listener.address)
                with refused(Disrupted, "shop"):
                    await channel.expect("sum")
                assert await shop.complaint() == "The table of shop is gone. Put it back."

    run(work())


def test_a_mistake_in_the_program_comes_out_at_the_end(pair, shop):
    async def arrived(channel, theirs):
        raise ZeroDivisionError

    async def work():
        async with shop.listener(arrived) as listener:
            channel = await pair.dial(listener.address)
            with refused(Disrupted, "shop"):
                await channel.expect("sum")

    with pytest.raises(ZeroDivisionError):
        run(work())


def test_the_end_of_a_listener_ends_what_it_began(pair, shop):
    async def arrived(channel, theirs):
        await channel.expect("never")

    async def work():
        async with shop.listener(arrived) as listener:
            quiet = await asyncio.open_connection(*split_address(listener.address))
            channel = await pair.dial(listener.address)
        with refused(Disrupted, "shop") as caught:
            await channel.expect("sum")
        assert caught.value.fault == "closed"
        quiet[1].close()

    run(work())


def test_a_caller_is_known_by_its_certificate_and_its_hello(pair):
    async def work():
        shop = Shop(pair.shop, pair.certificates)
        seen = []

        async def arrived(channel, theirs):
            seen.append((channel.peer, theirs.party, channel.hello.run))
            await channel.close()

        async with shop.listener(arrived) as listener:
            channel = await pair.dial(listener.address)
            with pytest.raises(Disrupted):
                await channel.expect("sum")
        assert seen == [("bank", "bank", hello("bank").run)]

    run(work())
