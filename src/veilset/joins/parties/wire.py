"""Connections between parties: TLS 1.3, both sides known by pinned certificates, messages that are checked before use.

`dial` opens one, `Listener` waits for them; either way a `Channel` comes out, over which `Hello` has passed in both
directions. What fails is `Disrupted`.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from dataclasses import replace

from veilset.joins.parties.addresses import split_address
from veilset.joins.parties.certificates import Identity, client_context
from veilset.joins.parties.channel import Channel
from veilset.joins.parties.disrupted import Disrupted, Fault
from veilset.joins.parties.framed import Tap, Traffic
from veilset.joins.parties.frames import Message, as_digits, from_digits
from veilset.joins.parties.greeting import greet_first, in_time
from veilset.joins.parties.hello import PROTOCOL, Hello
from veilset.joins.parties.listener import Listener
from veilset.joins.parties.reasons import Reasons, secured
from veilset.joins.parties.tls import SecureStream

__all__ = [
    "PROTOCOL",
    "Channel",
    "Disrupted",
    "Fault",
    "Hello",
    "Listener",
    "Message",
    "Tap",
    "Traffic",
    "as_digits",
    "dial",
    "from_digits",
]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


async def dial(
    address: str,
    peer: str,
    identity: Identity,
    certificate: bytes,
    hello: Hello,
    *,
    time_out: float,
    others: Mapping[str, bytes] | None = None,
    tap: Tap | None = None,
) -> Channel:
    """Connect to a party, and greet it.

    Parameters
    ----------
    address : str
        Its host and port.
    peer, certificate
        Its name, and the certificate (DER) that the study has for it.
    identity : Identity
        Ours.
    hello : Hello
        What we say first. Its time is put forward by what passes until it is said.
    time_out : float
        Seconds until all of this must have happened; a connection that is refused is tried again until then. Later, the
        peer may be silent for as long.
    others : mapping, optional
        The certificates of all parties, by name: if another of them answers, the error says which.
    """
    known = {**(others or {}), identity.name: identity.certificate, peer: certificate}
    reasons = Reasons(f"{peer} at {address}", peer, address, identity, {peer: certificate}, time_out)
    clock = asyncio.get_running_loop().time
    began = clock()
    deadline = began + time_out
    stream, shown = await _connected(client_context(identity, known.values()), reasons, deadline)
    if shown != certificate:
        name = next((name for name, one in known.items() if one == shown), "")
        raise await Channel(stream, replace(reasons, party=name), tap).refuse(reasons.wrong(name))
    channel = Channel(stream, reasons, tap)
    hello = replace(hello, time=hello.time + clock() - began)
    channel.hello = await in_time(channel, greet_first(channel, hello), deadline)
    return channel


async def _connected(context: ssl.SSLContext, reasons: Reasons, deadline: float) -> tuple[SecureStream, bytes]:
    """A secured connection, and the certificate of the other side. As long as nobody answers, it is tried again."""
    last: OSError | EOFError | None = None
    pause = _FIRST_PAUSE
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                reader, writer = await _opened(*split_address(reasons.address))
            stream = SecureStream(reader, writer, context, server=False)
            return stream, await secured(stream, reasons, deadline)
        except Disrupted as error:
            if not (error.fault == "closed" and not stream.heard):
                raise
            last = EOFError()  # like a tunnel whose other end is not there yet
        except OSError as error:
            last = last if isinstance(error, TimeoutError) and last is not None else error
        if asyncio.get_running_loop().time() + pause > deadline:
            raise reasons.unreachable(last)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def _opened(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to one of the addresses of a host; if there is none, the error of the first."""
    failures = []
    for *_, place in await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            return await asyncio.open_connection(*place[:2])
        except OSError as error:
            failures.append(error)
    raise failures[0]
