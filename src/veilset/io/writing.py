"""Transactions to files of every format, and whether a file is what would be written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa

from veilset.io.blocks import block_of, schema_of
from veilset.io.files import opened
from veilset.io.formatting import occurrences_at_once, text_blocks
from veilset.io.gather import row_blocks
from veilset.io.layout import Layout
from veilset.io.plain import batches_of, check_plain, other_writer, sum_if_just, write_table
from veilset.io.rows import Codes, Offsets
from veilset.limits import Limits

_TABLES = ("parquet", "arrow")
_COMPARING = "Comparing a file with its transactions"
_ROOM_TO_COMPARE = 1 << 24  # bytes: what is written for some transactions, and what the file holds there

Block = TypeVar("Block")


@dataclass(frozen=True)
class Difference:
    """Where a file is not, byte for byte, what would be written for some rows.

    With *same_values* its rows are the same and nothing else was found, but another writer laid them out: what else is
    in the file, nobody can tell.
    """

    says: str
    same_values: bool = False


def as_written(layout: Layout) -> Layout:
    """How to write what was read in this layout: every choice made, nothing of persons or columns that are no items."""
    container, shape, _, _ = layout.form
    columns = {"long": layout.columns or ("id", "item"), "wide": ()}.get(shape, layout.columns)
    if shape == "lists" and container in _TABLES:
        columns = layout.columns or ("items",)
    return Layout(layout.format, layout.delimiter, header=shape != "lists" and container == "csv", columns=columns)


def write_rows(stream: IO[bytes], offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout) -> None:
    """Write canonical rows, block by block."""
    if layout.form.container in _TABLES:
        blocks = _table_blocks(offsets, items, names, layout)
        write_table(stream, blocks, schema_of(names, layout), layout.form.container)
    else:
        for block in text_blocks(offsets, items, names, layout):
            stream.write(block)


def table_of(offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout) -> Any:
    """Canonical rows as one Arrow table, with the values that `write_rows` writes to a file of tables."""
    return pa.concat_tables([schema_of(names, layout).empty_table(), *_table_blocks(offsets, items, names, layout)])


def check_names(names: Sequence[str], layout: Layout) -> None:
    """Raise if one of these names cannot be written so."""
    if layout.form.container in _TABLES:
        schema_of(names, layout)
    elif names:
        for _ in text_blocks(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), names, layout):
            pass  # the names come first


def find_difference(
    path: Path, sha256: str, offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout, limits: Limits
) -> Difference | None:
    """None if *path* holds these rows just as `write_rows` writes them, byte for byte, else where it differs.

    The bytes that are written must have this *sha256*: what the file had in earlier readings does not matter then.
    """
    if layout.form.container not in _TABLES:
        return other_text(path, sha256, text_blocks(offsets, items, names, layout), limits)
    schema, container = schema_of(names, layout), layout.form.container
    return other_values(path, sha256, lambda: _table_blocks(offsets, items, names, layout), schema, container, limits)


def other_text(path: Path, sha256: str, blocks: Iterable[bytes], limits: Limits) -> Difference | None:
    """None if *path* holds just this text, which has this sum, else where it differs."""
    digest = hashlib.sha256()
    with opened(path) as file:
        for block in _in_limits(blocks, limits):
            if file.read(len(block)) != block:
                return Difference("its text differs")
            digest.update(block)
        if file.read(1):
            return Difference("there is more at its end")
    return _unless_changed(digest.hexdigest(), sha256)


def _unless_changed(now: str, sha256: str) -> Difference | None:
    return None if now == sha256 else Difference("it was changed while it was being read: its sha256 is another one")


def other_values(
    path: Path, sha256: str, blocks: Callable[[], Iterable[Any]], schema: Any, container: str, limits: Limits
) -> Difference | None:
    """None if the table at *path* holds just these blocks, in bytes that have this sum, else where it differs."""
    now = sum_if_just(path, _in_limits(blocks(), limits), schema, container, limits)
    if now is not None:
        return _unless_changed(now, sha256)
    if (more := check_plain(path, schema, container, limits)) is not None:
        return Difference(more)
    expected = _rebatched(batch for block in _in_limits(blocks(), limits) for batch in block.to_batches())
    for ours, theirs in zip_longest(expected, _rebatched(batches_of(path, container, limits))):
        if ours is None or theirs is None or not ours.equals(theirs):
            return Difference("its values, or their order, differ")
    return Difference(other_writer(path, container, limits), same_values=True)


def _in_limits(blocks: Iterable[Block], limits: Limits) -> Iterator[Block]:
    remaining = iter(blocks)
    while True:
        limits.check_time(_COMPARING, "split the release.")
        limits.require(_ROOM_TO_COMPARE, _COMPARING, "use a machine with more memory.")
        if (block := next(remaining, None)) is None:
            return
        yield block


def _table_blocks(offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout) -> Iterator[Any]:
    is_wide = layout.form.shape == "wide"
    most = max(1, (1 << 24) // max(1, len(names))) if is_wide else occurrences_at_once(names, 1 << 23)
    for first, last in row_blocks(offsets, most):
        yield block_of(offsets[first : last + 1], items, names, layout, first + 1)


def _rebatched(batches: Iterable[Any], rows: int = 1 << 16) -> Iterator[Any]:
    """The same rows in tables of the same number of rows each."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        while count >= rows:
            table = pa.Table.from_batches(waiting).combine_chunks()
            yield table.slice(0, rows)
            waiting = table.slice(rows).to_batches()
            count -= rows
    if count:
        yield pa.Table.from_batches(waiting).combine_chunks()
