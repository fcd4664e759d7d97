"""Private set intersection against the bare scalar multiplications that it needs.

``make bench`` runs this as part of joins.py; ``python benchmarks/intersection.py`` runs it alone.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import rbcl
from measuring import shown, timed

from veilset.joins.parties.intersection import intersect
from veilset.joins.parties.key_bytes import encode_keys
from veilset.joins.parties.workers import Workers

__all__ = ["run"]

_KEYS = 100_000
_SHARED = 40_000
_ROUNDS = 5
_CORES = 2
_TARGET = 1.3
_CHUNK = 2_000
_HEADS = ("keys", "shared", "ours", "bare", "ratio", "in the rounds", "ratio of processor time", "target: at most")
_ABOUT = """
*Ours* takes keys from an Arrow column to the answer, which is asserted in every round: two processes, one a party,
joined by a socket, with one worker each. *Bare* are the 400,000 multiplications on ristretto255 that the parties need
(each multiplies its own points and the other's), by the same library on two workers: no hashing to points, no checks,
nothing sent. Both run in turns, after their workers have started. Times and ratios are medians of five rounds; that of
processor time leaves out what other programs on the machine took meanwhile.
"""


def run() -> list[str]:
    """A section of the results, as lines of Markdown."""
    with _parties() as intersected, Workers(_CORES) as workers:
        calls = (intersected, lambda: asyncio.run(_bare(workers)))
        for call in calls:  # until workers are ready
            call()
        rounds = [[timed(call) for call in calls] for _ in range(_ROUNDS)]
    ours, bare = (median(seconds for _, seconds in times) for times in zip(*rounds, strict=True))
    ratios = sorted(one[1] / other[1] for one, other in rounds)
    work = median(one[0] / other[0] for one, other in rounds)
    cells = [f"{_KEYS:,} and {_KEYS:,}", f"{_SHARED:,}", shown(ours), shown(bare), f"{median(ratios):.2f}"]
    cells += [f"{ratios[0]:.2f}–{ratios[-1]:.2f}", f"{work:.2f}", str(_TARGET)]
    return [
        *_ABOUT.strip().splitlines(),
        "",
        *(f"| {' | '.join(row)} |" for row in (_HEADS, ["---"] * len(_HEADS), cells)),
    ]


async def _bare(workers: Workers) -> float:
    """As many multiplications as both parties need, 2n each; the seconds of processor time that they took."""
    return sum(await workers.map(_multiplied, [(_CHUNK,)] * (4 * _KEYS // _CHUNK)))


def _multiplied(count: int) -> float:
    scalar, point = rbcl.crypto_core_ristretto255_scalar_random(), rbcl.crypto_core_ristretto255_random()
    before = process_time()
    for _ in range(count):
        point = rbcl.crypto_scalarmult_ristretto255(scalar, point)
    return process_time() - before


@contextmanager
def _parties() -> Iterator[Callable[[], float]]:
    """Two processes; the call has them intersect their keys once, and gives the processor time that this took."""
    context = multiprocessing.get_context("spawn")
    told = [context.Pipe() for _ in range(2)]
    ends = socket.socketpair()
    processes = [
        context.Process(target=_party, args=(place, ends[place], told[place][1]), daemon=True) for place in range(2)
    ]
    for process in processes:
        process.start()
    for end, (_, other) in zip(ends, told, strict=True):
        end.close()
        other.close()

    def intersected() -> float:
        for one, _ in told:
            one.send("go")
        return sum(one.recv() for one, _ in told)  # fails if a party has ended

    yield intersected
    for one, _ in told:
        one.close()
    for process in processes:
        process.join()


def _party(place: int, end: socket.socket, told: Any) -> None:
    numbers = np.arange(_KEYS) + place * (_KEYS - _SHARED)
    numbers = np.random.default_rng(place).permutation(numbers)
    expected = (numbers >= _KEYS - _SHARED) & (numbers < _KEYS)
    with suppress(EOFError), Workers(_CORES // 2) as workers, asyncio.Runner() as runner:
        channel = runner.run(_SocketChannel.over(end))
        while told.recv():
            before = process_time()
            keys = encode_keys([pa.array(numbers)])
            declared = (_KEYS, _KEYS)
            call = intersect(channel, keys, domain=b"benchmark", declared=declared, pad=False, workers=workers)
            found = runner.run(call)
            assert np.array_equal(found, expected), "the wrong keys are shared"
            told.send(process_time() - before)


@dataclass(frozen=True)
class _Received:
    fields: dict[str, Any]
    arrays: dict[str, Any]


class _SocketChannel:
    """Messages over a socket, with no more than the intersection needs."""

    peer = "other"

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def over(cls, end: socket.socket) -> _SocketChannel:
        return cls(*await asyncio.open_connection(sock=end))

    async def send(self, kind: str, fields: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        header = {"kind": kind, "fields": fields, "arrays": {name: array.nbytes for name, array in arrays.items()}}
        self._writer.write(json.dumps(header).encode() + b"\n")
        for array in arrays.values():
            self._writer.write(array.tobytes())
        await self._writer.drain()

    async def expect(self, *kinds: str, most: int) -> _Received:
        header = json.loads(await self._reader.readline())
        assert header["kind"] in kinds
        assert sum(header["arrays"].values()) <= most
        sizes = header["arrays"].items()
        arrays = {name: np.frombuffer(await self._reader.readexactly(size), np.uint8) for name, size in sizes}
        return _Received(header["fields"], arrays)


if __name__ == "__main__":
    print("\n".join(run()))
