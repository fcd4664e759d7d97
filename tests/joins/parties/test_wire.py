"""A channel between two parties: messages, heart-beats, and how it ends."""

import asyncio
import socket
import time

import msgpack
import numpy as np
import pytest

from tests.support.errors import refused
from tests.support.fault_proxy import NetworkFault
from tests.support.party_network import TIME_OUT, Pair, Shop, run
from veilset.errors import CannotWrite
from veilset.joins.parties import frames
from veilset.joins.parties.wire import Disrupted

_SHORT = 0.7
_MUCH = np.arange(3_000_000)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A bank that dials and a shop that listens."""
    return Pair(tmp_path_factory.mktemp("keys"))


def test_messages_arrive_in_order_with_their_arrays(pair):
    async def work():
        async with pair.met() as (bank, shop):
            assert (bank.peer, shop.peer) == ("shop", "bank")
            assert bank.hello.party == "shop"
            for number in range(3):
                await bank.send("sum", {"number": number}, {"x": np.arange(number, dtype=np.uint8)})
            await shop.send("reply")
            for number in range(3):
                message = await shop.expect("sum", "other")
                assert (message.kind, message.fields) == ("sum", {"number": number})
                assert message.arrays["x"].tolist() == list(range(number))
            assert (await bank.expect("reply")).arrays == {}

    run(work())


def test_large_arrays_pass_both_ways_at_once(pair):
    async def work():
        async with pair.met() as (bank, shop):
            sent = {"x": _MUCH, "none": _MUCH[:0], "bytes": _MUCH[:999].astype(np.uint8)}
            _, _, there, back = await asyncio.gather(
                bank.send("sum", arrays=sent),
                shop.send("sum", arrays=sent),
                shop.expect("sum", most=1 << 25),
                bank.expect("sum", most=1 << 25),
            )
            for message in (there, back):
                assert message.arrays.keys() == sent.keys()
                assert all(np.array_equal(message.arrays[name], sent[name]) for name in sent)

    run(work())


def test_the_traffic_is_what_the_tap_saw_with_lengths(pair):
    seen = []

    async def work():
        async with pair.met(tap=lambda *frame: seen.append(frame)) as (bank, shop):
            await bank.send("sum", {"a": 1}, {"x": np.arange(5)})
            await shop.expect("sum")
            await shop.send("reply")
            await bank.expect("reply")
            for direction, count in (("sent", shop.traffic.sent), ("received", shop.traffic.received)):
                sizes = [4 + len(frame) for way, peer, frame in seen if (way, peer) == (direction, "bank")]
                assert sum(sizes) == count
            assert bank.traffic.sent == shop.traffic.received

    run(work())
    kinds = [msgpack.unpackb(frame)[:2] for way, _, frame in seen if way == "received"]
    assert ["message", "sum"] in kinds


def test_idle_channels_stay_open(pair):
    async def work():
        async with pair.met(time_out=_SHORT) as (bank, shop):
            await asyncio.sleep(2.5 * _SHORT)
            await bank.send("sum")
            await shop.expect("sum")

    run(work())


def test_a_peer_that_is_busy_is_waited_for(pair):
    async def work():
        shop = Shop(pair.shop, pair.certificates, time_out=_SHORT)
        async with shop.listener() as listener:
            bank = await pair.dial(listener.address, time_out=_SHORT)
            back = await shop.channels.get()
            for channel, option in ((bank, socket.SO_SNDBUF), (back, socket.SO_RCVBUF)):
                end = channel._stream._writer.get_extra_info("socket")
                end.setsockopt(socket.SOL_SOCKET, option, 1 << 16)  # so that not all is in buffers at once
            sending = asyncio.create_task(bank.send("sum", arrays={"x": _MUCH}))
            await asyncio.sleep(2.5 * _SHORT)
            assert not sending.done()
            message = await back.expect("sum", most=1 << 25)
            await sending
            assert np.array_equal(message.arrays["x"], _MUCH)
            await asyncio.gather(bank.close(), back.close())

    run(work())


@pytest.mark.parametrize("direction", ["there", "back"])
def test_a_silent_peer_ends_all_that_waits_with_one_error(pair, direction):
    async def work():
        async with pair.met(NetworkFault("stall", 4_000, direction), time_out=_SHORT) as (bank, shop):
            one, other = (bank, shop) if direction == "there" else (shop, bank)
            waiting = [one.send("sum", arrays={"x": _MUCH}), one.expect("never"), other.expect("sum", most=1 << 25)]
            ends = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(end) for end in ends] == [Disrupted] * 3
            assert str(ends[0]) == str(ends[1])
            assert ends[2].fault == "silent"
            assert ends[2].party == other.peer
            with refused(Disrupted, one.peer):
                await one.send("more")
            with refused(Disrupted, other.peer):
                await other.expect("more")

    run(work())


def test_an_unexpected_message_ends_the_session_on_both_sides(pair, snapshot):
    async def work():
        async with pair.met() as (bank, shop):
            await bank.send("secret", {"salary": 4711}, {"x": _MUCH[4711:4713]})
            with pytest.raises(Disrupted) as here:
                await shop.expect("sum", "reply")
            with pytest.raises(Disrupted) as there:
                await bank.expect("answer")
            assert (here.value.fault, here.value.party) == ("unexpected", "bank")
            assert (there.value.fault, there.value.party) == ("unexpected", "shop")
            assert f"{here.value}\n{there.value}" == snapshot

    run(work())


_GARBAGE = {
    "no msgpack": b"\xc1",
    "no form": msgpack.packb([1, 2]),
    "a chunk alone": msgpack.packb(["chunk", b"abc"]),
    "too much": frames.header_frame("sum", {}, {"x": np.zeros(101, np.uint8)}),
    "much too much": msgpack.packb(["message", "sum", {}, {"x": ["int64", 2**63 - 1]}]),
    "a goodbye with other fields": frames.header_frame("goodbye", {"reason": 5}, {}),
    "a goodbye for no known reason": frames.header_frame("goodbye", {"reason": "", "fault": "bored"}, {}),
}


@pytest.mark.parametrize("frame", _GARBAGE.values(), ids=_GARBAGE)
def test_garbage_ends_the_session_on_both_sides(pair, frame):
    async def work():
        async with pair.met() as (bank, shop):
            await bank._put(frame)
            for channel, other in ((shop, "bank"), (bank, "shop")):
                with refused(Disrupted, other) as caught:
                    await channel.expect("sum", most=100)
                assert (caught.value.fault, caught.value.party) == ("garbage", other)

    run(work())


@pytest.mark.no_sanitizer(reason="an allocation of this size ends a process under sanitizers")
def test_arrays_that_are_larger_than_memory_end_the_session_on_both_sides(pair):
    """As many bytes are possible in the protocol, and an honest peer need not send them."""

    async def work():
        async with pair.met() as (bank, shop):
            await bank._put(msgpack.packb(["message", "sum", {}, {"x": ["int64", 2**58]}]))
            for channel, other in ((shop, "bank"), (bank, "shop")):
                with refused(Disrupted, other, f"{2**61:,}") as caught:
                    await channel.expect("sum", most=2**62)
                assert (caught.value.fault, caught.value.party) == ("refused", other)

    run(work())


@pytest.mark.parametrize(
    "chunks",
    [
        [msgpack.packb(["chunk", bytes(7)])],
        [msgpack.packb(["chunk", bytes(9)])],
        [msgpack.packb(["chunk", bytes(4)]), msgpack.packb(["chunk", bytes(4)])],
        [frames.header_frame("sum", {}, {})],
    ],
)
def test_arrays_in_wrong_pieces_are_garbage(pair, chunks):
    async def work():
        async with pair.met() as (bank, shop):
            for frame in [frames.header_frame("sum", {}, {"x": _MUCH[:1]}), *chunks]:
                await bank._put(frame)
            with refused(Disrupted, "bank") as caught:
                await shop.expect("sum")
            assert caught.value.fault == "garbage"

    run(work())


@pytest.mark.parametrize("size", [0, frames.LARGEST_FRAME + 1, 2**32 - 1])
def test_a_frame_of_a_wrong_size_is_refused_before_it_is_read(pair, size):
    async def work():
        async with pair.met() as (bank, shop):
            bank._stream.put(frames.PREFIX.pack(size) + b"GET / HTTP/1.0")
            with refused(Disrupted, "bank", f"{size:,}") as caught:
                await shop.expect("sum")
            assert caught.value.fault == "garbage"

    run(work())


def test_what_came_before_a_goodbye_is_still_given_out(pair, snapshot):
    async def work():
        async with pair.met() as (bank, shop):
            await bank.send("sum", arrays={"x": _MUCH[:10]})
            await bank.close("The disk of bank is full.\x1b[2J\nMake room.")
            assert (await shop.expect("sum")).arrays["x"].tolist() == list(range(10))
            with pytest.raises(Disrupted) as caught:
                await shop.expect("sum")
            assert (caught.value.fault, caught.value.party) == ("closed", "bank")
            assert str(caught.value) == snapshot
            with refused(Disrupted, "shop"):
                await bank.send("sum")

    run(work())


@pytest.mark.parametrize("fault", ["cut", "reset"])
def test_a_cut_is_told_at_once_on_both_sides(pair, fault):
    async def work():
        async with pair.met(NetworkFault(fault, 4_000)) as (bank, shop):
            waiting = asyncio.gather(bank.expect("reply"), shop.expect("sum", most=1 << 25), return_exceptions=True)
            with pytest.raises(Disrupted):
                await bank.send("sum", arrays={"x": _MUCH})
            async with asyncio.timeout(TIME_OUT / 2):
                ends = await waiting
            assert [(end.fault, end.party) for end in ends] == [("closed", "shop"), ("closed", "bank")]

    run(work())


@pytest.mark.parametrize("kind", ["send", "expect"])
def test_half_a_message_is_the_last(pair, kind):
    """Who gives up amid a message cannot begin another: the other side would take it for the rest."""

    async def work():
        async with pair.met() as (bank, shop):
            tasks = {"send": asyncio.create_task(bank.send("sum", arrays={"x": _MUCH}))}
            while not shop._waiting:
                await asyncio.sleep(0.01)
            if kind == "expect":
                tasks[kind] = asyncio.create_task(shop.expect("sum", most=1 << 25))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            tasks[kind].cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
            channel = bank if kind == "send" else shop
            with refused(Disrupted, channel.peer, "'sum'"):
                await channel.send("more")

    run(work())


def test_giving_up_to_wait_harms_nothing(pair):
    async def work():
        async with pair.met() as (bank, shop):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(shop.expect("sum"), 0.05)
            await bank.send("sum")
            await shop.expect("sum")

    run(work())


def test_a_record_that_cannot_be_kept_ends_the_session_as_that(pair):
    def full(way, peer, frame):
        if b"sum" in frame:
            raise OSError(28, "No space left on device")

    async def work():
        async with pair.met(tap=full) as (bank, shop):
            await bank.send("sum")
            with refused(CannotWrite, "bank", "No space left on device"):
                await shop.expect("sum")
            with refused(Disrupted, "shop"):
                await bank.expect("reply")

    run(work())


def test_channels_that_nobody_closes_end_with_the_loop(pair):
    async def work():
        met = pair.met()
        await met.__aenter__()

    asyncio.run(work())


def test_a_held_up_process_is_not_a_silent_peer(pair):
    """Computing in the loop for longer than the time-out is wrong, but the peer is not to blame."""

    async def work():
        async with pair.met(time_out=_SHORT) as (bank, shop):
            await bank.send("sum")
            time.sleep(1.5 * _SHORT)
            await shop.expect("sum")
            time.sleep(1.5 * _SHORT)
            await bank.send("sum")
            await shop.expect("sum")

    run(work())


def test_errors_keep_who_and_what_when_they_are_put_into_a_place():
    error = Disrupted("shop is silent.", "Wait.", party="shop", fault="silent")
    for same in (error.within("Level 3: "), error.calling(time_out="patience")):
        assert (same.party, same.fault, same.exit_code) == ("shop", "silent", 4)
    assert Disrupted("", party="shop", fault="study").exit_code == 2
