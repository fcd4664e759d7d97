"""Writing anatomized tables, and whether a file is what would be written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.io.anatomy_cells import BUCKET, column_names
from veilset.io.formatting import occurrences_at_once, quoted
from veilset.io.gather import row_blocks, text_of
from veilset.io.layout import Layout
from veilset.io.plain import write_table
from veilset.io.rows import arrow_numbers
from veilset.io.writing import other_text, other_values

__all__ = ["AnatomizedRows"]

_CELLS = 1 << 20  # that are worked on at once


@dataclass(frozen=True)
class AnatomizedRows:
    """Canonical rows in buckets, and columns for their items.

    Parameters
    ----------
    offsets, items, names
        Row r holds the names of ``items[offsets[r]:offsets[r + 1]]``.
    column_of : array of int32
        The column of each item, from 0; none is without items.
    width : int
        The number of columns.
    buckets : array of int64
        The bucket of each row, from 0.
    """

    offsets: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]
    names: Sequence[str]
    column_of: npt.NDArray[np.int32]
    width: int
    buckets: npt.NDArray[np.int64]

    def write(self, stream: IO[bytes], layout: Layout) -> None:
        """Write the table, block by block; the items of a cell in the order of the names."""
        if layout.form.container == "parquet":
            write_table(stream, self._tables(), self._schema(), "parquet")
            return
        for block in self._texts(layout):
            stream.write(block)

    def more_in(self, path: Path, layout: Layout) -> str | None:
        """None if *path* holds these rows just as `write` writes them, else where it differs.

        Text must be the same byte for byte; the values of a table, with nothing beside them (`veilset.io.plain`).
        """
        if layout.form.container == "parquet":
            return other_values(path, self._tables, self._schema(), "parquet")
        return other_text(path, self._texts(layout))

    def _schema(self) -> Any:
        lists = [(name, pa.list_(pa.string())) for name in column_names(self.width)]
        return pa.schema([(BUCKET, pa.int64()), *lists])

    def _tables(self) -> Iterator[Any]:
        schema, vocabulary = self._schema(), pa.array(self.names, pa.string())
        for buckets, columns in self._blocks():
            lists = [
                pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), vocabulary.take(arrow_numbers(codes)))
                for offsets, codes in columns
            ]
            yield pa.table([arrow_numbers(buckets), *lists], schema=schema)

    def _texts(self, layout: Layout) -> Iterator[bytes]:
        is_csv = layout.form.container == "csv"
        spell: Callable[[str], str] = _in_cell if is_csv else _json_name
        vocabulary = pa.array([spell(name) for name in self.names], pa.large_string())
        called = column_names(self.width)
        if is_csv:
            yield ",".join([BUCKET, *called]).encode() + b"\n"
        for buckets, columns in self._blocks():
            numbers = arrow_numbers(buckets).cast(pa.large_string())
            cells = [_joined(offsets, codes, vocabulary, "," if is_csv else ", ") for offsets, codes in columns]
            if is_csv:
                lines = _beside(_beside(numbers, *map(_quoted, cells), between=","), "\n")
            else:
                keys = [f', "{name}": [' for name in called]
                parts = [part for key, cell in zip(keys, cells, strict=True) for part in (key, cell, "]")]
                lines = _beside(f'{{"{BUCKET}": ', numbers, *parts, "}\n")
            yield text_of(lines)

    def _blocks(self) -> Iterator[tuple[npt.NDArray[np.int64], list[tuple[Any, Any]]]]:
        """Some rows: their buckets, counting from 1, and for each column where the cells begin, and their codes."""
        most = max(1, min(occurrences_at_once(self.names, 1 << 23), _CELLS // max(1, self.width)))
        for first, last in row_blocks(self.offsets, most):
            rows, ends = last - first, self.offsets[first : last + 1]
            items = np.ascontiguousarray(self.items[ends[0] : ends[-1]])
            row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(ends))
            starts, codes = _native.core.group(self.column_of[items] * np.int32(rows) + row, items, self.width * rows)
            columns = []
            for column in range(self.width):
                own = starts[column * rows : (column + 1) * rows + 1]
                columns.append((own - own[0], codes[own[0] : own[-1]]))
            yield self.buckets[first:last] + 1, columns


def _joined(offsets: Any, codes: Any, vocabulary: Any, between: str) -> Any:
    lists = pa.LargeListArray.from_arrays(arrow_numbers(offsets), vocabulary.take(arrow_numbers(codes)))
    return pc.binary_join(lists, pa.scalar(between, pa.large_string()))


def _quoted(cells: Any) -> Any:
    """Cells as fields of CSV; names with blanks or line ends have quotes already."""
    needs = pc.match_substring_regex(cells, '[,"]')
    return pc.if_else(needs, _beside('"', pc.replace_substring(cells, '"', '""'), '"'), cells)


def _beside(*parts: Any, between: str = "") -> Any:
    texts = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar(between, pa.large_string()))


def _in_cell(name: str) -> str:
    return quoted(name, ",")


def _json_name(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
