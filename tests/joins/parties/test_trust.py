"""Who may talk to whom: a certificate that is refused is told in words, on both sides, and is no network failure."""

import asyncio
import ssl
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.support.errors import refused
from tests.support.party_network import TIME_OUT, Pair, Shop, hello, identity, run, without_details
from veilset.errors import InvalidArgument
from veilset.joins.parties import certificates, frames
from veilset.joins.parties.certificates import Identity
from veilset.joins.parties.wire import PROTOCOL, Disrupted, dial

_DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the keys are."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def pair(folder):
    """A bank that dials and a shop that listens."""
    return Pair(folder)


async def _call(shop: Shop, caller, certificate, **more) -> tuple[Disrupted, str]:
    """What the caller is told, and what the shop complains about."""
    async with shop.listener() as listener:
        with pytest.raises(Disrupted) as caught:
            await dial(listener.address, "shop", caller, certificate, hello("bank"), time_out=TIME_OUT, **more)
        return caught.value, await shop.complaint()


_STRANGERS = {
    "the caller is unknown": ({"bank": {}}, {}),
    "the caller's has expired": ({"bank": {"begins": -9, "ends": -2}}, {"bank": True}),
    "the caller's is not valid yet": ({"bank": {"begins": 2, "ends": 9}}, {"bank": True}),
    "the answerer is unknown": ({"shop": {}}, {}),
    "the answerer's has expired": ({"shop": {"begins": -9, "ends": -2}}, {"shop": True}),
    "the answerer's is not valid yet": ({"shop": {"begins": 2, "ends": 9}}, {"shop": True}),
}
_FAULTS = {"unknown": "certificate", "expired": "certificate", "not valid yet": "clock"}


@pytest.mark.parametrize("case", _STRANGERS)
def test_certificates_that_are_refused_are_told_apart_on_both_sides(case, pair, folder, snapshot):
    changed, pinned = _STRANGERS[case]
    shown = {"bank": pair.bank, "shop": pair.shop} | {
        name: identity(folder, name, **validity) for name, validity in changed.items()
    }
    known = pair.certificates | {name: shown[name].certificate for name in pinned}
    error, complaint = run(_call(Shop(shown["shop"], known), shown["bank"], known["shop"]))
    assert error.fault == next(fault for words, fault in _FAULTS.items() if words in case)
    assert error.party == "shop"
    assert without_details(f"bank: {error}\nshop: {complaint}") == snapshot


def test_another_party_that_answers_is_named(pair, folder, snapshot):
    clinic = identity(folder, "clinic")
    others = {**pair.certificates, "clinic": clinic.certificate}
    shop = Shop(clinic, others)
    error, complaint = run(_call(shop, pair.bank, pair.shop.certificate, others=others))
    assert (error.fault, error.party) == ("certificate", "shop")
    assert without_details(f"bank: {error}\nclinic: {complaint}") == snapshot


def test_who_reaches_oneself_is_told_so(pair, snapshot):
    shop = Shop(pair.bank, pair.certificates)
    error, complaint = run(_call(shop, pair.bank, pair.shop.certificate))
    assert error.fault == "certificate"
    assert without_details(f"bank: {error}\nbank: {complaint}") == snapshot


def test_only_the_very_certificates_of_the_study_count(pair, folder):
    """A certificate in the study may be one that signs others; these are still strangers."""
    authority, signed = _authority_and_signed(folder, "shop")
    shop = Shop(signed, pair.certificates)
    error, _ = run(_call(shop, pair.bank, authority))
    assert (error.fault, error.party) == ("certificate", "shop")
    caller = Shop(pair.shop, {**pair.certificates, "bank": (signing := _authority_and_signed(folder, "bank"))[0]})
    error, complaint = run(_call(caller, signing[1], pair.shop.certificate))
    assert (error.fault, error.party) == ("certificate", "shop")
    assert "not in the study" in complaint


def _authority_and_signed(folder, name) -> tuple[bytes, Identity]:
    """A certificate that may sign others (DER), and an identity that it has signed."""
    keys = [ed25519.Ed25519PrivateKey.generate() for _ in range(2)]
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{name}'s authority")])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = [
        x509.CertificateBuilder(issuer, owner, key.public_key(), 5 + authority, now - _DAY, now + _DAY)
        .add_extension(x509.BasicConstraints(authority, None), critical=True)
        .sign(keys[0], None)
        for owner, key, authority in ((issuer, keys[0], True), (subject, keys[1], False))
    ]
    signed = identity(folder, name)
    pem = serialization.Encoding.PEM
    signed.certificate_file.write_bytes(made[1].public_bytes(pem))
    signed.key_file.write_bytes(
        keys[1].private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made[0].public_bytes(serialization.Encoding.DER), Identity.load(signed.key_file.parent, name)


_HELLOS = {
    "another study": {"study": "0bad"},
    "another clock": {"time": 1.7e9},
    "a clock of nowhere": {"time": 1e300},
    "another version": {"protocol": PROTOCOL + 1},
    "another name": {"party": "clinic"},
}


@pytest.mark.parametrize("case", _HELLOS)
def test_both_sides_say_what_does_not_fit(case, pair, snapshot):
    async def work():
        shop = Shop(pair.shop, pair.certificates, lambda peer, theirs: hello("shop", time=1.8e9))
        ours = replace(hello("bank", time=1.8e9 + 500), **_HELLOS[case])
        async with shop.listener() as listener:
            with pytest.raises(Disrupted) as caught:
                await dial(listener.address, "shop", pair.bank, pair.shop.certificate, ours, time_out=TIME_OUT)
            complaint = await shop.complaint()
        assert caught.value.party == "shop"
        return caught.value, complaint

    error, complaint = run(work())
    assert without_details(f"{error.fault}\nbank: {error}\nshop: {complaint}") == snapshot


def test_time_that_passes_while_dialling_is_no_wrong_clock(pair):
    """The time in a hello is when it is said."""
    heard = []

    async def work():
        shop = Shop(pair.shop, pair.certificates, lambda peer, theirs: heard.append(theirs) or hello("shop"))
        async with shop.listener() as busy:
            port = int(busy.address.rpartition(":")[2])
        calling = asyncio.create_task(pair.dial(f"127.0.0.1:{port}"))
        began = hello("bank").time
        await asyncio.sleep(0.3)
        async with shop.listener(port=port):
            channel = await calling
            await channel.close()
        assert heard[0].time > began + 0.2

    run(work())


def test_whom_the_greeter_refuses_is_told_why(pair, snapshot):
    def greet(peer, theirs):
        raise Disrupted("shop has revoked the model.", "Ask it.", party=peer, fault="refused")

    error, complaint = run(_call(Shop(pair.shop, pair.certificates, greet), pair.bank, pair.shop.certificate))
    assert (error.fault, error.party) == ("refused", "shop")
    assert without_details(f"bank: {error}\nshop: {complaint}") == snapshot


@pytest.mark.parametrize(
    "fields", [{}, {"protocol": "1"}, {"attempt": True}, {"role": "spy"}, {"run": "x" * 201}, {"more": 1}]
)
def test_a_hello_of_another_form_is_garbage(pair, fields, monkeypatch):
    usual = vars(hello("bank"))
    monkeypatch.setattr("veilset.joins.parties.greeting.asdict", lambda _: {**usual, **fields} if fields else {})
    error, complaint = run(_call(Shop(pair.shop, pair.certificates), pair.bank, pair.shop.certificate))
    assert (error.fault, error.party) == ("garbage", "shop")
    assert complaint.startswith("bank ")


_PLAIN = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n",
    "zeros": bytes(100),
    "a frame": b"\x00\x00\x00\x05hello",
    "old SSL": b"\x80\x2e\x01\x00\x02",
}


@pytest.mark.parametrize("first", _PLAIN.values(), ids=_PLAIN)
def test_plaintext_is_refused_with_a_sentence(pair, first, snapshot):
    async def work():
        shop = Shop(pair.shop, pair.certificates)
        async with shop.listener() as listener:
            reader, writer = await asyncio.open_connection(*listener.address.split(":"))
            writer.write(first)
            answer = await reader.read()
            writer.close()
            assert answer == b""
            return await shop.complaint()

    assert without_details(run(work())) == snapshot(name="plaintext")


@pytest.mark.parametrize("first", [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.0 400 Bad Request\r\n\r\n"])
def test_an_address_where_something_else_answers_is_told(pair, first, snapshot):
    async def greet(reader, writer):
        writer.write(first)
        await reader.read(100)
        writer.close()

    async def work():
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(Disrupted) as caught:
                await pair.dial(f"127.0.0.1:{port}")
        assert (caught.value.fault, caught.value.party) == ("plaintext", "shop")
        return str(caught.value)

    assert without_details(run(work())) == snapshot(name="something else")


@pytest.mark.parametrize("case", ["no certificate", "TLS 1.2"])
def test_less_than_both_certificates_and_tls_1_3_is_refused(pair, case, snapshot):
    async def work():
        shop = Shop(pair.shop, pair.certificates)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(cadata=pair.shop.certificate)
        if case == "TLS 1.2":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.load_cert_chain(pair.bank.certificate_file, pair.bank.key_file)
        async with shop.listener() as listener:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                reader, writer = await asyncio.open_connection(*listener.address.split(":"), ssl=context)
                try:
                    assert not await reader.read()
                finally:
                    writer.transport.abort()
                raise ConnectionError
            return await shop.complaint()

    assert without_details(run(work())) == snapshot


def test_an_extra_that_is_missing_is_named(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with refused(InvalidArgument, "cryptography", "pip install 'veilset[join]'"):
        certificates.from_text(certificates.as_text(pair.bank.certificate))
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with refused(InvalidArgument, "msgpack", "pip install 'veilset[join]'"):
        frames.alive_frame(False)
