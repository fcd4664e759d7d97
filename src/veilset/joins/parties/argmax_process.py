"""The process in which one party compares secret shares. `argmax` runs this file as a script.

MPyC keeps its state in globals, reads the command line when it is imported, and computes on the event loop. In a
process of its own that disturbs nobody. It opens no connection here: what it sends and receives passes over one socket
to the party that started it, which has authenticated channels to the others. For arrays MPyC would use `pickle`, with
which one party could run code at another; ``--mix32-64bit`` makes it send plain field elements instead.

A frame on the socket is the number of a party (2 bytes), a length (4 bytes) and bytes. Frames under our own number are
the task, which comes first, and the answer, which comes last, both as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

GAIN_BITS = 56
"""Gains are below two to the power of this."""
_HEAD = struct.Struct("<HI")
_SECURITY = 60  # what is opened tells something about a difference of gains with a chance of about 2^-60
_AT_ONCE = 512  # comparisons: bounds memory, and the seconds between two messages
_KEYED = 6  # parties: up to here keys for common random numbers are quicker, beyond there are too many


def frame(party: int, content: bytes) -> bytes:
    """A frame with bytes for a party, or from it."""
    return _HEAD.pack(party, len(content)) + content


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """The party and the bytes of the next frame."""
    party, length = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    return party, await reader.readexactly(length)


class _Transport:
    """What MPyC takes for its connection to a party. All that it writes in one turn of the loop is one frame."""

    def __init__(self, party: int, writer: asyncio.StreamWriter) -> None:
        self._party = party
        self._writer = writer
        self._written = bytearray()

    def write(self, data: bytes) -> None:
        if not self._written:
            asyncio.get_running_loop().call_soon(self._flush)
        self._written += data

    def writelines(self, pieces: Sequence[bytes]) -> None:
        self.write(b"".join(pieces))

    def _flush(self) -> None:
        self._writer.write(frame(self._party, bytes(self._written)))
        self._written.clear()


def _runtime(parties: int, me: int) -> Any:
    """MPyC's runtime for this party; its options are those of its command line."""
    options = ["--no-log", "--no-uvloop", "--mix32-64bit", f"-K{_SECURITY}", f"-M{parties}", f"-I{me}"]
    sys.argv[1:] = options if parties <= _KEYED else [*options, "--no-prss"]
    from mpyc import runtime  # noqa: PLC0415

    runtime.pickle = None  # so that a release of MPyC that uses it all the same ends in an error
    return runtime.mpc


async def _exchange(mpc: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Connect MPyC to all other parties, and pass on what they send until the socket is closed."""
    from mpyc.asyncoro import MessageExchanger  # noqa: PLC0415

    others = {party: MessageExchanger(mpc, party if party > mpc.pid else None) for party in range(len(mpc.parties))}
    del others[mpc.pid]
    for party, exchanger in others.items():  # of two parties, the first begins: with its number and keys
        exchanger.connection_made(_Transport(party, writer))
    while True:
        party, content = await read_frame(reader)
        others[party].data_received(content)
        if others[party].peer_pid not in (party, None):
            raise ValueError(f"Party {party} calls itself {others[party].peer_pid}.")


async def _first_largest(mpc: Any, gains: list[list[int]]) -> list[int]:
    """For each node the first largest of the parties' gains in sum, counted from 1; 0 if all of them are 0."""
    import numpy as np  # noqa: PLC0415

    secret = mpc.SecInt(GAIN_BITS + 1)  # a difference has a sign
    nothing = secret.array(np.zeros((len(gains), 1), dtype=object))
    total = sum(mpc.input(secret.array(np.array(gains, dtype=object))))
    winners = mpc.np_argmax(mpc.np_concatenate((nothing, total), axis=1), axis=1)
    return [int(winner) for winner in await mpc.output(winners)]


async def _compare(mpc: Any, gains: list[list[int]]) -> list[int]:
    """The winners of all nodes, some nodes at a time."""
    await mpc.parties[mpc.pid].protocol  # done when all parties have introduced themselves
    nodes = max(1, _AT_ONCE // len(gains[0]))
    return [
        winner
        for start in range(0, len(gains), nodes)
        for winner in await _first_largest(mpc, gains[start : start + nodes])
    ]


async def _serve(connection: socket.socket) -> None:
    """Take a task from the socket, and answer it."""
    reader, writer = await asyncio.open_connection(sock=connection)
    me, task = await read_frame(reader)
    parties, gains = json.loads(task)
    mpc = _runtime(parties, me)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: _give_up(context.get("exception", context["message"])))
    mpc.parties[me].protocol = loop.create_future()
    exchanging = asyncio.ensure_future(_exchange(mpc, reader, writer))
    comparing = asyncio.ensure_future(_compare(mpc, gains))
    done, _ = await asyncio.wait((comparing, exchanging), return_when=asyncio.FIRST_COMPLETED)
    answer = await (comparing if comparing in done else exchanging)  # the second only ever ends in an error
    exchanging.cancel()
    with suppress(asyncio.CancelledError):
        await exchanging
    writer.write(frame(me, json.dumps(answer).encode()))
    await writer.drain()


def _give_up(reason: object) -> NoReturn:
    """End at once, with a reason: MPyC's other tasks would wait, or complain for long."""
    sys.stderr.write(f"{reason!r}\n")
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    try:
        asyncio.new_event_loop().run_until_complete(_serve(socket.socket(fileno=int(sys.argv[1]))))
    except BaseException as error:
        _give_up(error)
