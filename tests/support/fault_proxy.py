"""A network that fails as it is told: a proxy between the one who dials and the one who listens.

Each fault hits one connection, counted from 0, when so many bytes have passed in one direction. Connections without a
fault pass unharmed.
"""

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from veilset.joins.parties.addresses import joined_address, split_address

Kind = Literal["refuse", "reset", "cut", "truncate", "delay", "stall", "corrupt", "reorder", "duplicate"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Direction = Literal["there", "back"]
"""From the one who dials, and from the one who listens."""
_AT_ONCE = 1 << 16
_AT_ONCE_CLOSED = struct.pack("ii", 1, 0)  # SO_LINGER


@dataclass(frozen=True)
class NetworkFault:
    """What happens to a connection.

    Parameters
    ----------
    kind : str
        refuse: it is closed before anything passes; reset, cut: it ends, at once or in order; truncate: one direction
        ends; stall: one direction stands still for ever, but the connection stays open; delay: it stands still for a
        while; corrupt: a bit of a byte changes; reorder, duplicate: two pieces change places, or one passes twice.
    after : int
        Bytes that pass in this direction before.
    direction : str
        The direction that it hits.
    connection : int
        Which connection it hits.
    size : int
        Bytes of a piece.
    seconds : float
        How long a delay is.
    """

    kind: Kind
    after: int = 0
    direction: Direction = "there"
    connection: int = 0
    size: int = 100
    seconds: float = 0.1


def random_script(draw: random.Random, connections: int = 4, most: int = 20_000) -> list[NetworkFault]:
    """One to three faults, on any of the first connections, most of them within its first few thousand bytes."""
    return [
        NetworkFault(
            draw.choice(KINDS),
            after=int(most ** draw.random()) - 1,
            direction=draw.choice(get_args(Direction)),
            connection=draw.randrange(connections),
            size=draw.randint(1, 400),
            seconds=draw.random() / 4,
        )
        for _ in range(draw.randint(1, 3))
    ]


class _Ended(Exception):
    """The connection is over, in a way that was told."""


@dataclass
class FaultProxy:
    """Passes connections on to a listener, while its block runs, and does to them what the script says.

    Parameters
    ----------
    target : str
        The address of the listener.
    script : sequence of NetworkFault
        What happens.
    """

    target: str
    script: Sequence[NetworkFault] = ()
    connections: int = 0
    _links: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> "FaultProxy":
        self._server = await asyncio.start_server(self._called, "127.0.0.1", 0)
        self.address = joined_address(*self._server.sockets[0].getsockname()[:2])
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for link in self._links:
            link.cancel()
        if self._links:
            await asyncio.wait(self._links)

    def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        faults = [fault for fault in self.script if fault.connection == self.connections]
        self.connections += 1
        link = asyncio.create_task(self._link(reader, writer, faults))
        self._links.add(link)
        link.add_done_callback(self._links.discard)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, faults: list) -> None:
        """One connection, in both directions, until it is over in both."""
        ends = [writer]
        try:
            if any(fault.kind == "refuse" for fault in faults):
                return
            far_reader, far_writer = await asyncio.open_connection(*split_address(self.target))
            ends.append(far_writer)
            async with asyncio.TaskGroup() as directions:
                directions.create_task(_pass_on(reader, far_writer, _of(faults, "there"), ends))
                directions.create_task(_pass_on(far_reader, writer, _of(faults, "back"), ends))
        except* (OSError, _Ended):
            pass
        finally:
            for end in ends:
                end.close()


def _of(faults: list[NetworkFault], direction: Direction) -> list[NetworkFault]:
    return sorted((fault for fault in faults if fault.direction == direction), key=lambda fault: fault.after)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, faults: list[NetworkFault], ends: list
) -> None:
    """One direction of a connection."""
    passed = 0
    while content := await reader.read(_AT_ONCE):
        while faults and faults[0].after < passed + len(content):
            fault = faults.pop(0)
            before = max(0, fault.after - passed)
            writer.write(content[:before])
            await writer.drain()
            passed += before
            content = await _harmed(fault, content[before:], reader, writer, ends)
        writer.write(content)
        await writer.drain()
        passed += len(content)
    with contextlib.suppress(OSError):
        writer.write_eof()


async def _harmed(
    fault: NetworkFault, content: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ends: list
) -> bytes:
    """What passes on after a fault; raise if nothing does."""
    match fault.kind:
        case "delay":
            await asyncio.sleep(fault.seconds)
        case "corrupt":
            return bytes([content[0] ^ 1 << fault.size % 8]) + content[1:]
        case "duplicate":
            return content[: fault.size] + content
        case "reorder":
            while len(content) < 2 * fault.size and (more := await reader.read(_AT_ONCE)):
                content += more
            return content[fault.size : 2 * fault.size] + content[: fault.size] + content[2 * fault.size :]
        case _:
            await _end(fault.kind, reader, writer, ends)
    return content


async def _end(kind: Kind, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ends: list) -> None:
    """Let nothing more pass in a direction, or in both."""
    if kind == "stall":
        await asyncio.Event().wait()
    if kind == "reset":
        for end in ends:
            end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE_CLOSED)
            end.transport.abort()
    if kind == "truncate":
        writer.write_eof()
        while await reader.read(_AT_ONCE):
            pass
    raise _Ended
