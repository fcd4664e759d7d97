"""Writing anatomized tables, and whether a file is what would be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.io.anatomy_cells import BUCKET, column_names
from veilset.io.formatting import occurrences_at_once
from veilset.io.gather import row_blocks, text_of
from veilset.io.layout import Layout
from veilset.io.pieces import basket_cells, json_lines
from veilset.io.plain import write_table
from veilset.io.rows import Codes, Offsets, arrow_numbers
from veilset.io.writing import Difference, other_text, other_values
from veilset.limits import Limits

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

    offsets: Offsets
    items: Codes
    names: Sequence[str]
    column_of: Codes
    width: int
    buckets: npt.NDArray[np.int64]

    def write(self, stream: IO[bytes], layout: Layout) -> None:
        """Write the table, block by block; the items of a cell in the order of the names."""
        if layout.form.container == "parquet":
            write_table(stream, self._tables(), self._schema(), "parquet")
            return
        for block in self._texts(layout):
            stream.write(block)

    def table(self) -> Any:
        """The whole table, as Arrow has it."""
        return pa.concat_tables([self._schema().empty_table(), *self._tables()])

    def more_in(self, path: Path, sha256: str, layout: Layout, limits: Limits) -> Difference | None:
        """None if *path* holds these rows just as `write` writes them, byte for byte, else where it differs.

        The bytes that are written must have this *sha256*.
        """
        if layout.form.container == "parquet":
            return other_values(path, sha256, self._tables, self._schema(), "parquet", limits)
        return other_text(path, sha256, self._texts(layout), limits)

    def _schema(self) -> Any:
        lists = [(name, pa.list_(pa.string())) for name in column_names(self.width)]
        return pa.schema([(BUCKET, pa.int64()), *lists])

    def _tables(self) -> Iterator[Any]:
        """Some rows after the others: their buckets, counting from 1, and their cells, column by column."""
        schema, vocabulary = self._schema(), pa.array(self.names, pa.string())
        most = max(1, min(occurrences_at_once(self.names, 1 << 23), _CELLS // max(1, self.width)))
        for first, last in row_blocks(self.offsets, most):
            rows, ends = last - first, self.offsets[first : last + 1]
            items = np.ascontiguousarray(self.items[ends[0] : ends[-1]])
            row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(ends))
            starts, codes = _native.core.group(self.column_of[items] * np.int32(rows) + row, items, self.width * rows)
            lists = []
            for column in range(self.width):
                own = starts[column * rows : (column + 1) * rows + 1]
                names = vocabulary.take(arrow_numbers(codes[own[0] : own[-1]]))
                lists.append(pa.ListArray.from_arrays(pa.array(own - own[0], pa.int32()), names))
            yield pa.table([arrow_numbers(self.buckets[first:last] + 1), *lists], schema=schema)

    def _texts(self, layout: Layout) -> Iterator[bytes]:
        if layout.form.container == "csv":
            yield ",".join(self._schema().names).encode() + b"\n"
        for block in self._tables():
            lines = _csv_lines(block) if layout.form.container == "csv" else json_lines(block)
            yield text_of(pc.binary_join_element_wise(lines, "\n", ""))


def _csv_lines(block: Any) -> Any:
    numbers, *columns = (column.chunk(0) for column in block.columns)
    return pc.binary_join_element_wise(numbers.cast(pa.string()), *map(_quoted, map(basket_cells, columns)), ",")


def _quoted(cells: Any) -> Any:
    """Cells as fields of CSV; names with blanks or line ends have quotes already."""
    within = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(cells, '[,"]'), within, cells)
