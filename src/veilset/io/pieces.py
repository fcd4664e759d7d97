"""Large tables to files, piece by piece: Parquet, CSV, JSON. A file is there as a whole or not at all.

In CSV a list of names is one field, which is itself a line of basket CSV: names separated by commas, quoted where they
must be. So ``csv.reader([field])`` gives the names back, whatever characters are in them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from veilset.errors import InvalidArgument
from veilset.io.atomic import atomic_file
from veilset.io.formatting import in_basket, json_name


@contextlib.contextmanager
def write_pieces(path: Path, schema: Any, *, replace: bool = False) -> Iterator[Callable[[Any], None]]:
    """A function that writes one piece of a table after another to *path*, in the format its name says.

    The *schema* of all pieces has numbers, strings and lists of strings.
    """
    check_table_name(path)
    with atomic_file(path, replace=replace) as stream:
        writer = _WRITERS[path.suffix.lower()](stream, schema)
        try:
            yield writer.write_table
        finally:
            writer.close()  # in any case before the stream is closed


def pieces_of(table: Any, schema: Any, *, rows: int = 1 << 16, names: int = 1 << 20) -> Iterator[Any]:
    """A table in pieces, its columns as in *schema*: names in full instead of as codes.

    A piece has up to so many rows and so many names in lists; a row with more names is a piece by itself.
    """
    lengths = [pc.list_value_length(table[column.name]).to_numpy() for column in schema if _is_list(column.type)]
    ends = np.concatenate([[0], np.cumsum(np.sum(lengths, axis=0), dtype=np.int64)])
    start = 0
    while start < len(table):
        enough = int(np.searchsorted(ends, ends[start] + names, side="right")) - 1
        stop = min(start + rows, max(start + 1, enough))
        columns = [_plain(_whole(table[column.name].slice(start, stop - start)), column.type) for column in schema]
        yield pa.table(columns, schema=schema)
        start = stop


def _plain(column: Any, kind: Any) -> Any:
    if not _is_list(kind):
        return column.cast(kind)
    # Cast by itself, a slice of lists would have all names of the whole cast.
    return pa.ListArray.from_arrays(_offsets(column), column.flatten().cast(pa.string()))


def check_table_name(path: Path) -> None:
    """Raise if the name of a file does not say in which of the formats to write it."""
    if path.suffix.lower() not in _WRITERS:
        *most, last = TABLE_SUFFIXES
        raise InvalidArgument(
            f"{path.name!r} does not indicate a format.",
            f"End it in {', '.join(most)} or {last}, such as result{most[0]}.",
        )


class _Csv:
    """RFC 4180 with a header."""

    def __init__(self, stream: BinaryIO, schema: Any) -> None:
        flat = pa.schema([pa.field(f.name, pa.string() if _is_list(f.type) else f.type) for f in schema])
        self._writer = pyarrow.csv.CSVWriter(stream, flat)

    def write_table(self, piece: Any) -> None:
        """Write the next piece."""
        columns = [basket_cells(column) if _is_list(column.type) else column for column in _columns(piece)]
        self._writer.write_table(pa.table(columns, names=piece.column_names))

    def close(self) -> None:
        """Nothing comes after the last one."""
        self._writer.close()


class _JsonLines:
    """One object a line."""

    first, between, last, nothing = "", "\n", "\n", ""

    def __init__(self, stream: BinaryIO, schema: Any) -> None:
        self._stream = stream
        self._before = self.first

    def write_table(self, piece: Any) -> None:
        """Write the next piece."""
        if len(piece):
            self._stream.write((self._before + self.between.join(json_lines(piece).to_pylist())).encode())
            self._before = self.between

    def close(self) -> None:
        """Write what comes after the last one."""
        self._stream.write((self.last if self._before == self.between else self.nothing).encode())


class _Json(_JsonLines):
    """One array, an object a line."""

    first, between, last, nothing = "[\n", ",\n", "\n]\n", "[]\n"


_WRITERS: dict[str, Callable[[BinaryIO, Any], Any]] = {
    ".parquet": pyarrow.parquet.ParquetWriter,
    ".csv": _Csv,
    ".json": _Json,
    ".jsonl": _JsonLines,
}

TABLE_SUFFIXES = tuple(_WRITERS)


def _columns(piece: Any) -> list[Any]:
    return [_whole(column) for column in piece.columns]


def _whole(column: Any) -> Any:
    """A column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind))


def json_lines(piece: Any) -> Any:
    """Each row of a table as a JSON object."""
    parts: list[Any] = []
    for name, column in zip(piece.column_names, _columns(piece), strict=True):
        parts += [f"{', ' if parts else '{'}{json_name(name)}: ", _json(column)]
    return pc.binary_join_element_wise(*parts, "}", "")


def _json(column: Any) -> Any:
    if _is_list(column.type):
        return pc.binary_join_element_wise("[", _joined(column, json_name, ", "), "]", "")
    if pa.types.is_string(column.type):
        return pc.fill_null(_spelled(column, json_name), "null")
    return pc.fill_null(column.cast(pa.string()), "null")


def basket_cells(lists: Any) -> Any:
    """Each list of names as a line of basket CSV."""
    return _joined(lists, in_basket)


def _joined(lists: Any, spell: Callable[[str], str], between: str = ",") -> Any:
    """Each list as one text; every name is spelled once, not once for each of its occurrences."""
    return pc.binary_join(pa.ListArray.from_arrays(_offsets(lists), _spelled(lists.flatten(), spell)), between)


def _offsets(lists: Any) -> Any:
    """Where each list begins, for an array that may be a slice of a longer one and knows no nulls."""
    return pc.subtract(lists.offsets, lists.offsets[0]).cast(pa.int32())


def _spelled(names: Any, spell: Callable[[str], str]) -> Any:
    encoded = names.dictionary_encode()
    spelled = pa.array([spell(name) for name in encoded.dictionary.to_pylist()], pa.string())
    return spelled.take(encoded.indices)
