"""Which table splits a node, without telling gains: a secret-shared argmax (the extra ``mpc``).

Protects the gains of all parties: they learn the number of the winning table and nothing else, or that no table gains
anything. Each party divides its gains into Shamir shares, one for each party, and MPyC compares shares. This holds as
long as parties follow the protocol and no more than (m − 1) // 2 of the m parties put their shares together: one of
three or four, two of five or six. With two parties nothing could be hidden, so two are refused.

The winner's gain follows from the class counts of its two children, which all parties learn later (thesis §3.2), and
every other gain is known to be no larger.

MPyC runs in a process of its own (`argmax_process`). This file carries its messages over the parties' channels:
"argmax" once in each direction, to see that all parties have the same task, then "shares" until an empty one.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import metadata
from typing import Any

import numpy as np

from veilset.errors import BudgetExceeded, InvalidArgument, VeilsetError
from veilset.exact import is_whole
from veilset.joins.parties import argmax_process
from veilset.joins.parties.argmax_process import GAIN_BITS, frame, read_frame
from veilset.joins.parties.channels import Channel
from veilset.joins.parties.disrupted import Disrupted, Fault
from veilset.joins.parties.together import together

_LEAST_PARTIES = 3
_LARGEST_MESSAGE = 1 << 24
_LONGEST_QUOTE = 200


async def secret_argmax(
    gains: Sequence[Sequence[int]],
    *,
    mine: Sequence[int],
    tables: int,
    me: int,
    channels: Mapping[int, Channel],
    time_out: float,
) -> list[int | None]:
    """The table with the largest gain at each node, the first of equals; None where all gains are 0.

    All parties call this for the same nodes. A party that is late, because it still looks for splits, is waited for as
    long as its channel says that it is alive; from then on *time_out* counts.

    Parameters
    ----------
    gains : sequence of sequences of int
        For each node, the gain of each of our own tables: 0 ≤ gain < 2^56.
    mine : sequence of int
        The numbers of our own tables in the study's order, from 0. A party without tables may take part.
    tables : int
        How many tables all parties have.
    me : int
        Our number among the parties.
    channels : mapping
        The channels to all other parties, by their numbers.
    time_out : float
        How many seconds a party, or our own process, may send nothing while the others wait for it.

    Raises
    ------
    InvalidArgument
        Fewer than three parties, gains out of range, or MPyC is not installed.
    Disrupted
        Another party is gone, stalls, or compares something else.
    BudgetExceeded
        Our own process makes no progress.
    """
    _check(gains, mine, tables, me, channels)
    order = sorted([me, *channels])
    task = {"mpyc": _mpyc_version(), "parties": len(order), "tables": tables, "nodes": len(gains)}
    await together(_agree(channel, task | {"party": me}, number) for number, channel in channels.items())
    if not gains:
        return []
    peers = {order.index(number): channel for number, channel in channels.items()}
    async with _process() as (reader, writer):
        writer.write(frame(order.index(me), json.dumps([len(order), _over_all(gains, mine, tables)]).encode()))
        answer, *_ = await together(
            [
                _tell(reader, peers, time_out),
                *(_listen(channel, place, writer, time_out) for place, channel in peers.items()),
            ]
        )
    if len(answer) != len(gains) or not all(is_whole(winner, 0, tables) for winner in answer):
        raise VeilsetError(
            "The parties' shares of the winners do not fit together: a party sent wrong ones.",
            "Train again; if it happens again, compare what is installed at each party.",
        )
    return [winner - 1 if winner else None for winner in answer]


def _check(
    gains: Sequence[Sequence[int]], mine: Sequence[int], tables: int, me: int, channels: Mapping[int, Channel]
) -> None:
    parties = {me, *channels}
    if len(parties) < _LEAST_PARTIES:
        raise InvalidArgument(
            f"A secret-shared argmax of {len(parties)} parties hides nothing; it needs three or more.",
            "Compare plain gains, or let a process without tables take part that colludes with nobody.",
        )
    if len(set(mine)) < len(mine) or not all(is_whole(table, 0, tables - 1) for table in mine):
        raise InvalidArgument(f"Own tables {list(mine)!r} are not distinct numbers below {tables}.")
    for row in gains:
        if len(row) != len(mine) or not all(is_whole(gain, 0, (1 << GAIN_BITS) - 1) for gain in row):
            raise InvalidArgument(
                f"A node does not have {len(mine)} gains of at least 0 and below 2^{GAIN_BITS}, one for each own table."
            )


def _mpyc_version() -> str:
    """The release of MPyC, which is not imported here."""
    try:
        return metadata.version("mpyc")
    except metadata.PackageNotFoundError:
        raise InvalidArgument(
            "A secret-shared argmax needs the package mpyc, which is not installed.",
            "Install it: pip install 'veilset[mpc]'.",
        ) from None


def _over_all(gains: Sequence[Sequence[int]], mine: Sequence[int], tables: int) -> list[list[int]]:
    """Our gains in the columns of our own tables. The parties' shares are added, so other columns are 0."""
    spread = [[0] * tables for _ in gains]
    for row, own in zip(spread, gains, strict=True):
        for table, gain in zip(mine, own, strict=True):
            row[table] = int(gain)
    return spread


async def _agree(channel: Channel, task: Mapping[str, Any], number: int) -> None:
    """Wait until another party is about to compare, and make sure that it compares the same nodes in the same way."""
    await channel.send("argmax", task)
    theirs = (await channel.expect("argmax")).fields
    if theirs != {**task, "party": number}:
        fault: Fault = "unexpected" if theirs.get("mpyc") == task["mpyc"] else "version"
        quoted = repr(dict(theirs))[:_LONGEST_QUOTE]
        raise Disrupted(
            f"{channel.peer} compares something else: {quoted} there, {dict(task)!r} here.",
            "Use the same study and the same release of MPyC at all parties.",
            party=channel.peer,
            fault=fault,
        )


@asynccontextmanager
async def _process() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """The process that compares, as streams of frames from it and to it. It ends with the block."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    try:
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", argmax_process.__file__, str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                env={name: value for name, value in os.environ.items() if not name.startswith("MPYC_")},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        try:
            yield reader, writer
        except (asyncio.IncompleteReadError, ConnectionError):
            raise VeilsetError(
                f"The process that compares gains ended without an answer ({await _end(process)}).",
                "Train again; if it happens again, compare what is installed at each party.",
            ) from None
        finally:
            await _end(process)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _end(process: asyncio.subprocess.Process) -> str:
    """End a process; the last line of its complaint."""
    with suppress(ProcessLookupError):
        process.kill()
    _, complaint = await process.communicate()
    return (complaint.decode(errors="replace").splitlines() or ["no reason given"])[-1]


async def _tell(reader: asyncio.StreamReader, peers: Mapping[int, Channel], time_out: float) -> list[int]:
    """Send what the process has for other parties, to its end: the answer."""
    while True:
        try:
            async with asyncio.timeout(time_out):
                party, content = await read_frame(reader)
        except TimeoutError:
            raise BudgetExceeded(
                f"The process that compares gains made no progress for {time_out:g} seconds.",
                "Allow more time; if it happens again, compare what is installed at each party.",
            ) from None
        if party not in peers:
            break
        await _send(peers[party], content)
    for channel in peers.values():
        await _send(channel, b"")
    return list(json.loads(content))


async def _send(channel: Channel, content: bytes) -> None:
    await channel.send("shares", {}, {"bytes": np.frombuffer(content, np.uint8)})


async def _listen(channel: Channel, place: int, writer: asyncio.StreamWriter, time_out: float) -> None:
    """Give the process what another party sends, until that party has its answer."""
    while (content := await _shares(channel, time_out)).size:
        writer.write(frame(place, content.tobytes()))
        await writer.drain()


async def _shares(channel: Channel, time_out: float) -> Any:
    try:
        async with asyncio.timeout(time_out):
            message = await channel.expect("shares", most=_LARGEST_MESSAGE)
    except TimeoutError:
        raise Disrupted(
            f"{channel.peer} sent no shares of gains for {time_out:g} seconds.",
            f"Check that {channel.peer} still runs, and train again; or allow more time.",
            party=channel.peer,
            fault="silent",
        ) from None
    content = message.arrays.get("bytes")
    if content is None or content.dtype != np.uint8:
        raise Disrupted(
            f"{channel.peer} sent shares of gains without shares in them.",
            "Check that all parties run the same version, and train again.",
            party=channel.peer,
            fault="garbage",
        )
    return content
