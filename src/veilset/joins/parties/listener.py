"""Waiting for other parties to call. A caller that breaks off, sends garbage or may not call stops nobody else."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Self

from veilset.errors import InvalidArgument, VeilsetError
from veilset.joins.parties.addresses import joined_address
from veilset.joins.parties.certificates import Identity, server_context
from veilset.joins.parties.channel import Channel
from veilset.joins.parties.complaints import Complaints
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.framed import Tap
from veilset.joins.parties.greeting import greet_back, in_time
from veilset.joins.parties.hello import Hello
from veilset.joins.parties.reasons import Reasons, secured
from veilset.joins.parties.tls import SecureStream

MOST_GREETING = 32
"""Callers that may be on the way from their first byte to the end of their greeting, at a time."""
LONGEST_HANDSHAKE = 10.0
"""Seconds that a caller has to show its certificate, if the time-out is not shorter."""
_MOST_COMPLAINTS = 10  # a minute, about strangers


class Listener:
    """Accepts calls of the parties of a study while its block runs.

    Parameters
    ----------
    host : str
        The address of ours to listen at.
    port : int
        The port; 0 takes a free one.
    identity : Identity
        What we show.
    certificates : mapping
        Those who may call, by name, and their certificates (DER).
    greet : callable
        Gives our answer to the hello of a party; may raise `Disrupted`, which the caller is told.
    arrived : callable
        Takes over each channel, and the hello of its peer. What it raises ends this channel; an error of ours is
        complained about, any other is raised at the end of the block.
    time_out : float
        Seconds until a caller must have done its greeting, and may be silent later. Its certificate is due earlier.
    complain : callable
        Told a sentence for every call that came to nothing; if strangers call very often, how many.
    """

    address: str
    """Where it listens, with the port it has taken."""

    def __init__(
        self,
        host: str,
        port: int,
        identity: Identity,
        certificates: Mapping[str, bytes],
        greet: Callable[[str, Hello], Hello],
        arrived: Callable[[Channel, Hello], Awaitable[None]],
        *,
        time_out: float,
        complain: Callable[[str], None],
        tap: Tap | None = None,
    ) -> None:
        self._host, self._port, self._identity = host, port, identity
        self._certificates = dict(certificates)
        self._names = {one: name for name, one in self._certificates.items()}
        self._greet, self._arrived, self._complain = greet, arrived, complain
        self._time_out, self._tap = time_out, tap
        self._context = server_context(identity, [identity.certificate, *self._certificates.values()])
        self._calls: set[asyncio.Task[None]] = set()
        self._greeting: dict[asyncio.Task[None], SecureStream] = {}
        self._strangers = Complaints(complain, _MOST_COMPLAINTS, time.monotonic)
        self._crowds = Complaints(complain, 1, time.monotonic)
        self._mistakes: list[Exception] = []
        self._closing = False

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(self._called, self._host, self._port)
        except OSError as error:
            raise self._not_bound(error) from None
        self.address = joined_address(*self._server.sockets[0].getsockname()[:2])
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._closing = True
        self._server.close()
        for call in self._calls:
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)
        if error is None and self._mistakes:
            raise self._mistakes[0]

    def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream = SecureStream(reader, writer, self._context, server=True)
        if self._closing or (len(self._greeting) >= MOST_GREETING and not self._made_room(stream.caller)):
            stream.abort()
            return
        call = asyncio.create_task(self._answer(stream))
        self._calls.add(call)
        self._greeting[call] = stream
        call.add_done_callback(self._ended)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        if (stream := self._greeting.pop(call, None)) is not None and call.cancelled():
            stream.abort()  # it may have been cancelled before it began

    def _made_room(self, caller: str) -> bool:
        """Whether there is room for another caller, after one was dropped that has not shown a certificate yet.

        Those who have sent nothing go first, then those of the address that most of them call from, then the oldest.
        """
        waiting = {call: stream for call, stream in self._greeting.items() if not stream.secured}
        self._crowds.say(
            f"Too many call at once, now {caller}: {MOST_GREETING} have not said yet who they are, and some are "
            "dropped. If parties cannot get through, keep strangers from this port by a firewall."
        )
        if not waiting:
            return False
        hosts = Counter(_host(stream) for stream in waiting.values())
        dropped = min(waiting, key=lambda call: (waiting[call].heard, -hosts[_host(waiting[call])]))
        self._greeting.pop(dropped).abort()
        dropped.cancel()
        return True

    async def _answer(self, stream: SecureStream) -> None:
        """Greet a caller, and hand it over."""
        call = asyncio.current_task()
        try:
            channel = await self._greeted(stream)
        except VeilsetError as error:
            known = not isinstance(error, Disrupted) or error.party
            (self._complain if known else self._strangers.say)(str(error))
            return
        if call is not None:
            self._greeting.pop(call, None)
        await self._hand_over(channel)

    async def _greeted(self, stream: SecureStream) -> Channel:
        caller = stream.caller
        reasons = Reasons(f"A caller from {caller}", "", caller, self._identity, self._certificates, self._time_out)
        now = asyncio.get_running_loop().time()
        soon = min(self._time_out, LONGEST_HANDSHAKE)
        shown = await secured(stream, replace(reasons, time_out=soon), now + soon)
        name = self._names.get(shown, "")
        known = replace(reasons, who=f"{name} at {caller}", party=name) if name else reasons
        channel = Channel(stream, known, self._tap)
        if not name:
            ours = shown == self._identity.certificate
            raise await channel.refuse(reasons.wrong(self._identity.name if ours else ""))
        channel.hello = await in_time(channel, greet_back(channel, self._greet), now + self._time_out)
        return channel

    async def _hand_over(self, channel: Channel) -> None:
        try:
            await self._arrived(channel, channel.hello)
        except BaseException as error:
            if isinstance(error, VeilsetError):
                self._complain(str(error))
            elif isinstance(error, Exception):
                self._mistakes.append(error)
            await channel.close(f"{self._identity.name} has stopped.")
            if isinstance(error, asyncio.CancelledError):
                raise

    def _not_bound(self, error: OSError) -> InvalidArgument:
        """Why nobody can listen here."""
        address = joined_address(self._host, self._port)
        if isinstance(error, socket.gaierror):
            return InvalidArgument(
                f"{self._identity.name} cannot listen at {address}: the host name is not known ({error.strerror}).",
                "Set listen in the party file to an address of this machine, such as 0.0.0.0 and the port.",
            )
        if error.errno == errno.EADDRINUSE:
            return InvalidArgument(
                f"{self._identity.name} cannot listen at {address}: another program uses this port.",
                "Stop it (perhaps an earlier veilset join party still runs), or agree on another port in the study.",
            )
        if error.errno in (errno.EADDRNOTAVAIL, None):  # none if there were several to try
            return InvalidArgument(
                f"{self._identity.name} cannot listen at {address}: it is no address of this machine.",
                "If others reach it through another one, set listen in the party file, such as 0.0.0.0 and the port.",
            )
        if error.errno in (errno.EACCES, errno.EPERM):
            return InvalidArgument(
                f"{self._identity.name} cannot listen at {address}: the system does not permit it.",
                "Agree on a port of 1024 or above in the study.",
            )
        return InvalidArgument(
            f"{self._identity.name} cannot listen at {address}: {os.strerror(error.errno)}.",
            "Choose another address.",
        )


def _host(stream: SecureStream) -> str:
    return stream.caller.rpartition(":")[0]
