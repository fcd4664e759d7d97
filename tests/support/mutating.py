"""Reads mutated files of one format in a process of its own, as `test_reading_fuzz` does.

Run with ``-m``, and: the format, how many inputs each of its readers gets, a folder. The input at work is in the
folder's file ``victim…``, so that it is there if the process ends. Prints, as JSON, how often each reader gave each
kind of answer, and by how many megabytes the process grew.
"""

import gc
import gzip
import io
import json
import random
import resource
import signal
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa

from tests.support.memory import leaving, peak_memory
from tests.support.mutating_seeds import TOKENS, Reader, readers_of
from veilset.errors import UnreadableInput, VeilsetError
from veilset.io import Layout, as_written, write_rows
from veilset.io.blocks import schema_of
from veilset.io.plain import check_plain
from veilset.transactions import Transactions, read

ROOM = 1 << 28  # bytes that reading an input may take
PATIENCE = 60  # seconds for one input; then the system ends the process


def main(kind: str, count: int, folder: Path) -> None:
    """Give *count* inputs to each reader; anything but transactions or a plain refusal ends with a traceback."""
    dice = random.Random(kind)
    readers = readers_of(kind)
    for reader in readers:  # all code is loaded before memory is measured
        check(reader, reader.seeds[0], folder)
    gc.freeze()  # `leaving` need not look at it again
    bound_memory(4 * ROOM)
    before = peak_memory()
    answers = {reader.name: Counter(check(reader, seed, folder) for seed in reader.seeds) for reader in readers}
    for reader in readers:
        if set(answers[reader.name]) != {"read"}:
            raise AssertionError(f"The seeds of {reader.name} cannot all be read: {answers[reader.name]}.")
        for _ in range(count):
            answers[reader.name][check(reader, _input(reader, dice), folder)] += 1
    grown = (peak_memory() - before) // 2**20
    sys.stdout.write(json.dumps({"answers": answers, "grown": grown}))


def check(reader: Reader, content: bytes, folder: Path) -> str:
    """The kind of answer that a reader gives."""
    victim = folder / f"victim{reader.suffix}"
    victim.write_bytes(content)
    signal.alarm(PATIENCE)
    if not reader.is_text:
        _check_plain(victim, reader.format)
    try:
        data = read(victim, format=reader.format, memory_limit=leaving(ROOM), **reader.options)
    except VeilsetError as error:
        if not (error.what and error.next_step):
            raise
        return type(error).__name__
    finally:
        signal.alarm(0)
    _check_round_trip(data, folder)
    return "read"


def _check_round_trip(data: Transactions, folder: Path) -> None:
    assert data.source is not None
    layout = as_written(data.source.layout)
    if layout.form.shape == "wide" and not data.names:
        return  # such a table has no column
    written = io.BytesIO()
    write_rows(written, data.offsets, data.items, data.names, layout)
    again = folder / f"again{layout.form.suffix}"
    again.write_bytes(written.getvalue())
    options = {"long": layout.columns} if layout.form.shape == "long" else {"column": next(iter(layout.columns), None)}
    if layout.form.container == "csv":
        options["delimiter"] = layout.delimiter
    found = read(again, format=layout.format, **options)
    if found != data.anonymous():
        raise AssertionError(f"Read again, the transactions differ: {found.to_lists()}, {data.to_lists()}")


def _check_plain(victim: Path, kind: str) -> None:
    """The other reader of tables: it must be as patient with them as the first."""
    layout = as_written(Layout(kind))
    try:
        check_plain(victim, schema_of("ab", layout), layout.form.container)
    except UnreadableInput as error:
        if not error.next_step:
            raise


def bound_memory(more: int) -> None:
    """Let the system refuse what is far too much, so that the machine survives a defect."""
    status = Path("/proc/self/status").read_text()
    now = 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmData:")))
    resource.setrlimit(resource.RLIMIT_DATA, (now + more, now + more))


def _input(reader: Reader, dice: random.Random) -> bytes:
    """A mutated file. A packed one has a mutated text in it, or is mutated itself."""
    content, other = dice.choice(reader.seeds), dice.choice(reader.seeds)
    if reader.packing and dice.random() < 0.4:
        return packed(mutated(unpacked(content, reader.packing), b"", dice), reader.packing)
    return mutated(content, other, dice, near_ends=not reader.is_text)


def packed(text: bytes, packing: str) -> bytes:
    """The text as a file of this ending holds it."""
    return gzip.compress(text, mtime=0) if packing == ".gz" else pa.compress(text, "zstd", asbytes=True)


def unpacked(content: bytes, packing: str) -> bytes:
    """The text in a packed file."""
    if packing == ".gz":
        return gzip.decompress(content)
    return pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()


def mutated(content: bytes, other: bytes, dice: random.Random, *, near_ends: bool = False) -> bytes:
    """The content with some bytes changed, cut off, doubled, taken away, or continued by another one."""
    changed = bytearray(content)
    kind = dice.randrange(12)
    start, stop = sorted(dice.randrange(len(content) + 1) for _ in range(2))
    if kind == 0:
        del changed[start:]
    elif kind == 1:
        changed[stop:stop] = content[start:stop]
    elif kind == 2:
        del changed[start : min(stop, start + 20)]
    elif kind == 3:
        changed[start:] = other[dice.randrange(len(other) + 1) :]
    for _ in range(dice.randrange(4 if kind < 4 else 1, 5) if kind else 0):
        at = dice.randrange(len(changed) + 1)
        if near_ends and dice.random() < 0.5:  # headers and footers are where sizes stand
            at = dice.choice((at % 300, max(0, len(changed) - at % 300)))
        match dice.randrange(4) if not near_ends else dice.choice((0, 0, 0, 1, 2, 3, 3, 3)):
            case 0:
                changed[at : at + 1] = bytes([dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))])
            case 1:
                changed[at : at + dice.choice((0, 1))] = dice.choice(TOKENS)
            case 2:
                del changed[at : at + 1]
            case _:
                changed[at : at + 1] = bytes(byte ^ 1 << dice.randrange(8) for byte in changed[at : at + 1])
    return bytes(changed)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
