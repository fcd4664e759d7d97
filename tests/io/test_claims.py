"""Small files that claim to hold more than memory does are refused before anything is unpacked."""

import io
import random

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

import veilset as vs
from tests.support.commands import refusal
from tests.support.effort import repeats
from tests.support.errors import refused
from tests.support.memory import leaving, own_memory
from tests.support.mutating import mutated
from tests.support.tables import a_file_of_many_rows
from veilset.io.claims import Claims, claims_of
from veilset.io.suspect import SuspectFile
from veilset.limits import Limits

MANY = 5_000_000
ROOM = 50_000_000  # bytes; each of the files would take more
K2 = ["--k", "2", "--p", "1"]


def lists(count: int) -> pa.Table:
    """So many empty lists."""
    ends = pa.array(np.zeros(count + 1, np.int32))
    return pa.table({"items": pa.ListArray.from_arrays(ends, pa.array([], pa.string()))})


def one_list(count: int) -> pa.Table:
    """A list with so many ids that are all the same."""
    return pa.table({"items": pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), ids(count))})


def long(count: int) -> pa.Table:
    """So many rows of one transaction."""
    return pa.table({"id": ids(count), "item": ids(count)})


def text(count: int) -> pa.Table:
    """A single item, with a name of twenty times so many characters."""
    return pa.table({"items": [["x" * (20 * count)]]})


def ids(count: int) -> pa.Array:
    return pa.array(np.zeros(count, np.int32))


def written(table: pa.Table, container: str) -> bytes:
    file = io.BytesIO()
    if container == "parquet":
        pa.parquet.write_table(table, file, compression="zstd")
        return file.getvalue()
    new = pa.ipc.new_stream if container == "stream" else pa.ipc.new_file
    with new(file, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return file.getvalue()


def claims(content: bytes, container: str, *wanted: str) -> Claims:
    source = SuspectFile(io.BytesIO(content), "it", container, Limits())
    return claims_of(source, "parquet" if container == "parquet" else "arrow", wanted or ("items", "id", "item"))


@pytest.mark.parametrize("container", ["parquet", "file", "stream"])
@pytest.mark.parametrize(
    ("make", "rows"),
    [(lists, MANY), (one_list, 1), (long, MANY), (text, 1)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_small_file_that_claims_too_much_is_told_before_it_is_read(tmp_path, make, rows, container):
    path = tmp_path / f"small.{'parquet' if container == 'parquet' else 'arrow'}"
    path.write_bytes(written(make(MANY), container))
    size = path.stat().st_size
    assert size < 100_000
    columns = {"long": ("id", "item")} if make is long else {}
    limit = leaving(ROOM)
    with refused(vs.UnreadableInput, "small", f"{size:,}", f"{rows:,}", "memory_limit='1GB'"):
        vs.read(path, memory_limit=limit, **columns)
    assert own_memory() < limit - ROOM * 4 // 5
    if make is not text:
        assert len(vs.read(path, memory_limit="8GB", **columns)) == (1 if make is long else rows)


@pytest.mark.no_sanitizer(reason="measures memory, of which sanitizers keep what is freed")
@pytest.mark.parametrize("command", ["audit", "publish", "mine"])
def test_300_million_rows_in_769_kilobytes(tmp_path, monkeypatch, capsys, command):
    """By the command line, which answers before it makes anything of the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.parquet").write_bytes(a_file_of_many_rows(300_000_000, groups=30))
    size = (tmp_path / "small.parquet").stat().st_size
    assert size < 800_000
    options = {"mine": ["--min-support", "2"], "audit": K2, "publish": [*K2, "--yes", "--out", "out"]}[command]
    for _ in range(2):  # the first may import what the command needs
        limit = leaving(10 * ROOM)
        arguments = (command, "small.parquet", *options, "--memory-limit", str(limit))
        refusal(capsys, *arguments, values=("small.parquet", f"{size:,}", "300,000,000", "--memory-limit 32GB"))
    assert own_memory() < limit - 10 * ROOM + ROOM // 5
    assert [path.name for path in tmp_path.iterdir()] == ["small.parquet"]


@pytest.mark.parametrize("container", ["parquet", "file", "stream"])
def test_what_is_claimed_is_what_is_there(container):
    table = pa.table({"items": [["a", "b"], [], ["a"]] * 5, "more": [["c"] * 9] * 15})
    found = claims(written(table, container), container, "items")
    if container == "parquet":  # an empty list counts, as its absence of values is one
        assert (found.rows, found.values) == (15, 20)
    else:  # of the larger column
        assert (found.rows, found.values) == (15, 135)
    assert found.unpacked > 0


@pytest.mark.parametrize("container", ["parquet", "file", "stream"])
def test_damaged_claims_are_none_or_numbers(container):
    dice = random.Random(container)
    content = written(pa.table({"items": [["a", "b"], [], ["a"]] * 5}), container)
    for _ in range(repeats(3000)):
        found = claims(mutated(content, content, dice, near_ends=True), container)
        assert all(isinstance(number, int) for number in found)
