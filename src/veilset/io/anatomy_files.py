"""Anatomized tables: a line for each row of a bucket, with the bucket's number and, column by column, the row's items.

    bucket,column_1,column_2
    1,"d,e,f,h","a,b,c,g"
    1,"f,h",

In CSV a cell is itself a line of a basket file, and an empty one holds no item; in JSON lines and Parquet a cell is a
list. Buckets are numbered from 1 and follow each other. Every item stands in one column.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import UnreadableInput
from veilset.io.anatomy_cells import Cells, cells_of_csv, cells_of_json, cells_of_parquet, column_names
from veilset.io.atomic import sha256_of
from veilset.io.files import TextBlocks
from veilset.io.layout import Layout
from veilset.io.rows import Rows
from veilset.io.text import TextSource
from veilset.limits import Limits


class AnatomyFile:
    """An anatomized table: its rows, piece by piece, and once all were read, what is in which bucket and column."""

    def __init__(self, path: Path, layout: Layout, encoding: str, limits: Limits) -> None:
        self._path, self._layout, self._limits = path, layout, limits
        self._blocks = TextBlocks(path, encoding, limits)
        self._width = 0
        self._column_of: dict[str, int] = {}
        self._buckets = [np.zeros(0, dtype=np.int64)]
        self._last = 0

    @property
    def buckets(self) -> npt.NDArray[np.int64]:
        """The bucket of each row, from 0."""
        return np.concatenate(self._buckets)

    @property
    def columns(self) -> list[list[str]]:
        """The items of each column."""
        columns: list[list[str]] = [[] for _ in range(self._width)]
        for item, column in self._column_of.items():
            columns[column].append(item)
        if [] in columns:
            name = column_names(self._width)[columns.index([])]
            raise UnreadableInput(f"{str(self._path)!r}: no row has an item in {name!r}.", "Leave the column out.")
        return columns

    @property
    def sha256(self) -> str:
        """That of the file."""
        return sha256_of(self._path) if self._layout.form.container == "parquet" else self._blocks.sha256

    def pieces(self) -> Iterator[Rows]:
        """The rows; each holds the items of all its cells."""
        if self._layout.form.container == "parquet":
            yield from map(self._united, cells_of_parquet(self._path, self._layout, self._limits))
            return
        source = TextSource(self._path, self._layout, self._blocks)
        with source.errors():
            parse = cells_of_csv(source) if self._layout.form.container == "csv" else cells_of_json(source)

        def united(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
            cells, at, line = parse(text, at, line, last)
            return self._united(cells), at, line

        yield from source.pieces(united)

    def _united(self, cells: Cells) -> Rows:
        """The rows of some cells, after a look at all that can be wrong in them."""
        rows = len(cells.buckets)
        self._width = cells.width
        self._take_numbers(cells)
        self._take_columns(cells, rows)
        owners = np.tile(np.arange(rows, dtype=np.int32), cells.width)
        codes = np.empty(len(cells.codes), dtype=np.int32)
        offsets = _native.text.group_rows(cells.offsets, cells.codes, owners, rows, codes)
        self._check_once(cells, offsets, codes)
        return Rows(offsets, codes, cells.names)

    def _take_numbers(self, cells: Cells) -> None:
        """Each bucket is that of the row before, or the next; the first is 1."""
        before = np.append(self._last, cells.buckets[:-1])[: len(cells.buckets)]
        steps = cells.buckets - before
        wrong = np.flatnonzero((steps != 1) & ((steps != 0) | (before == 0)))
        if len(wrong):
            row = int(wrong[0])
            expected = f"{before[row]} or {before[row] + 1}" if before[row] else "1"
            raise self._error(
                cells.place(row),
                f"the bucket is {cells.buckets[row]}, not {expected}",
                "Number the buckets from 1 without gaps, and sort the rows by them.",
            )
        if len(cells.buckets):
            self._last = int(cells.buckets[-1])
        self._buckets.append(cells.buckets - 1)

    def _take_columns(self, cells: Cells, rows: int) -> None:
        """Every item stands in only one column."""
        names = cells.names.to_pylist()
        known = np.array([self._column_of.get(name, -1) for name in names], dtype=np.int32)
        for column in range(cells.width):
            codes = cells.codes[cells.offsets[column * rows] : cells.offsets[(column + 1) * rows]]
            here = _native.core.occurring(codes, len(names)).astype(bool)
            both = np.flatnonzero(here & (known >= 0) & (known != column))
            if len(both):
                raise self._in_two_columns(cells, rows, int(both[0]), int(known[both[0]]), column)
            known[here] = column
        # A file may have names that occur in no row.
        self._column_of.update((name, at) for name, at in zip(names, known.tolist(), strict=True) if at >= 0)

    def _in_two_columns(self, cells: Cells, rows: int, code: int, one: int, other: int) -> UnreadableInput:
        """The error that names the later of the two places where an item stands."""
        at = np.searchsorted(cells.offsets, np.flatnonzero(cells.codes == code), side="right") - 1
        first_in = {column: int((at[at // rows == column] % rows).min(initial=rows)) for column in (one, other)}
        if first_in[other] < first_in[one] < rows:
            one, other = other, one
        called = column_names(cells.width)
        return self._error(
            cells.place(first_in[other]),
            f"{cells.names[code].as_py()!r} stands in {called[other]!r}, and before in {called[one]!r}",
            "Put every item into exactly one column.",
        )

    def _check_once(self, cells: Cells, offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]) -> None:
        """No item stands twice in a row, which is twice in a cell."""
        ends, kept = _native.core.canonicalize(offsets, codes, np.arange(len(cells.names), dtype=np.int32))
        if len(kept) < len(codes):
            row = int(np.argmax(np.diff(offsets) > np.diff(ends)))
            kinds, times = np.unique(codes[offsets[row] : offsets[row + 1]], return_counts=True)
            twice = cells.names[int(kinds[times > 1][0])].as_py()
            raise self._error(cells.place(row), f"{twice!r} stands twice in a cell", "Name it once.")

    def _error(self, place: str, what: str, advice: str) -> UnreadableInput:
        return UnreadableInput(f"{str(self._path)!r}, {place}: {what}.", advice)
