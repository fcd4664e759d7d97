"""The cells of anatomized tables as they stand in CSV, JSON lines and Parquet; what they mean is checked elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import UnreadableInput
from veilset.io.columns import coded_items, is_text, list_offsets
from veilset.io.formatting import in_basket, line_ends
from veilset.io.gather import buffers_of, strings_of, text_of
from veilset.io.layout import Layout
from veilset.io.rows import Codes, Offsets, ends_of
from veilset.io.tables import open_columns
from veilset.io.text import TextSource
from veilset.limits import Limits

BUCKET = "bucket"
"""The name of the first column."""

_AS_WRITTEN = "The columns must be bucket, column_1, column_2, …, in this order."
_NUMBER_THEM = "Number the buckets from 1."

_Rows = tuple[Offsets, Codes, Any]
"""Lists of items: where each begins, their codes, and the codes' names."""

_Place = Callable[[int], str]
"""Where in the file a row stands, such as "line 7"."""


def column_names(count: int) -> list[str]:
    """What the columns of items are called.

    >>> column_names(2)
    ['column_1', 'column_2']
    """
    return [f"column_{number}" for number in range(1, count + 1)]


@dataclass(frozen=True)
class Cells:
    """Some rows of the table: the cells of the first column, then those of the second, …

    Parameters
    ----------
    width : int
        How many columns of items there are.
    buckets : array of int64
        What each row says.
    offsets, codes : arrays
        Cell c is that of row ``c % rows`` in column ``c // rows``; it holds ``codes[offsets[c]:offsets[c + 1]]``.
    names : pyarrow.Array of strings
        Name of each code; distinct.
    """

    width: int
    buckets: npt.NDArray[np.int64]
    offsets: Offsets
    codes: Codes
    names: Any
    place: _Place


_Parse = Callable[[bytes, int, int, bool], tuple[Cells, int, int]]
"""As the parsers of `veilset.io.text`."""


def cells_of_csv(source: TextSource) -> _Parse:
    """What parses blocks of CSV, after the header."""
    header = source.header()
    _check_header(header, lambda what: source.error(f"line 1: {what}", _AS_WRITTEN))

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Cells, int, int]:
        every = list(range(len(header)))
        parsed, blank, end, next_line = _native.text.parse_table(text, ",", at, line, last, every, len(every))
        if blank:
            raise source.error(f"line {line} to {next_line - 1}: {blank} of these are blank", "Remove the blank lines.")
        columns = [(codes, strings_of(strings)) for codes, strings in parsed]

        def place(row: int) -> str:
            ends = [np.array([*map(line_ends, texts.to_pylist()), 0])[codes[:row]] for codes, texts in columns]
            return f"line {line + row + sum(int(inside.sum()) for inside in ends)}"  # names may have line ends in them

        buckets = _whole_numbers(*columns[0], place, source)
        parts = [_of_rows(_split(texts, codes, place, source), codes) for codes, texts in columns[1:]]
        return _cells(buckets, parts, place), end, next_line

    return parse


def _split(texts: Any, codes: Codes, place: _Place, source: TextSource) -> _Rows:
    """The items of each of these texts of cells; one that is not written as we write it is an error.

    They are parsed as the lines of one text. Each was a line by itself if it is just what its items are written as.
    """
    found = _parsed_lines(texts)
    if found is not None:
        return found
    row, cell, advice = min(
        (int(np.argmax(codes == code)), cell, advice)
        for code, cell in enumerate(texts.to_pylist())
        if (advice := _other_spelling(cell)) is not None
    )
    raise source.error(f"{place(row)}: the cell {cell!r} is not a valid line of a basket file", advice)


def _parsed_lines(texts: Any) -> _Rows | None:
    line_end, nothing = pa.scalar("\n", texts.type), pa.scalar("", texts.type)
    lines = text_of(pc.binary_join_element_wise(texts, line_end, nothing))
    try:
        offsets, codes, strings, *_ = _native.text.parse_basket(lines, ",", 0, 1, last=True)
    except _native.text.ParseError:
        return None
    names = strings_of(strings)
    if len(offsets) - 1 != len(texts) or (len(codes) and codes.min() < 0):
        return None
    spelled = pa.array(map(in_basket, names.to_pylist()), pa.large_string())
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), spelled.take(pa.array(codes)))
    return (offsets, codes, names) if pc.binary_join(lists, pa.scalar(",", texts.type)).equals(texts) else None


def _other_spelling(cell: str) -> str | None:
    """What to do about a cell that is not as its items are written; None if it is."""
    text = cell.encode()
    try:
        fields, end, _ = _native.text.parse_record(text, ",")
    except _native.text.ParseError:
        return "Check its quotes."
    right = ",".join(in_basket(field.decode()) for field in fields if field)
    if end < len(text):
        return "Quote names that contain line breaks."
    return None if right == cell else f"Write {right!r}."


def _whole_numbers(codes: Codes, texts: Any, place: _Place, source: TextSource) -> npt.NDArray[np.int64]:
    """The numbers that the texts of buckets say."""
    said = [*texts.to_pylist(), ""]  # code -1, an empty cell, finds the last
    numbers = np.array([int(text) if text.isascii() and text.isdigit() and len(text) < 18 else -1 for text in said])
    found = numbers[codes]
    if len(wrong := np.flatnonzero(found < 0)):
        row = int(wrong[0])
        raise source.error(f"{place(row)}: the bucket is {said[codes[row]]!r}, not a whole number", _NUMBER_THEM)
    return found.astype(np.int64)


def cells_of_json(source: TextSource) -> _Parse:
    """What parses blocks of JSON lines; the first line says how many columns there are."""
    columns: list[str] = []

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Cells, int, int]:
        if not columns and (first := _first_keys(text)) is not None:
            _check_header(first, lambda what: source.error(f"line 1: {what}", _AS_WRITTEN))
            columns.extend(first[1:])
        offsets, codes, strings, (whose, buckets), end, next_line = _native.text.parse_json_columns(
            text, at, line, last, BUCKET, columns
        )

        def place(row: int) -> str:
            return f"line {line + row}"

        numbers = _whole_numbers(whose, strings_of(buckets), place, source)
        return Cells(len(columns), numbers, offsets, codes, strings_of(strings), place), end, next_line

    return parse


def _first_keys(text: bytes) -> list[str] | None:
    """The keys of the first line; None if it is not complete, or no JSON object, which the parser then says better."""
    try:
        found = json.loads(re.split(b"[\r\n]", text, maxsplit=1)[0])
    except (ValueError, RecursionError):
        return None
    return list(found) if isinstance(found, dict) else None


def cells_of_parquet(path: Path, layout: Layout, limits: Limits) -> Iterator[Cells]:
    """The cells of a Parquet file, piece by piece."""

    def columns(schema: Any) -> list[str]:
        _check_header(schema.names, lambda what: UnreadableInput(f"{what}.", _AS_WRITTEN))
        _check_types(schema)
        return list(schema.names)

    first = 1
    for batch in open_columns(path, layout, columns, limits):

        def place(row: int, first: int = first) -> str:
            return f"row {first + row:,} (counting from 1)"

        buckets, *lists = batch.columns
        if buckets.null_count:
            row = pc.index(buckets.is_null(), True).as_py()
            raise UnreadableInput(f"{str(path)!r}, {place(row)}: the bucket is null.", _NUMBER_THEM)
        parts = [
            _list_rows(cells, name, path, place) for name, cells in zip(batch.schema.names[1:], lists, strict=True)
        ]
        yield _cells(buckets.to_numpy(), parts, place)
        first += len(batch)


def _check_types(schema: Any) -> None:
    bucket, *columns = schema
    if bucket.type != pa.int64():
        raise UnreadableInput(f"The buckets are of type {bucket.type}, not int64.", _NUMBER_THEM)
    for field in columns:
        if not (pa.types.is_list(field.type) and is_text(field.type.value_type)):
            raise UnreadableInput(
                f"The column {field.name!r} is of type {field.type}, not a list of text.", "Write the items as text."
            )


def _list_rows(cells: Any, name: str, path: Path, place: _Place) -> _Rows:
    """The lists of a column; a null, or an item without a name, is an error."""
    found = coded_items(cells.flatten(), name)
    offsets = list_offsets(cells)
    nameless = (found.codes < 0) | (found.codes == pc.index(found.names, "").as_py())
    if cells.null_count:
        where = f"{str(path)!r}, {place(pc.index(cells.is_null(), True).as_py())}"
        raise UnreadableInput(f"{where}: {name!r} is null.", "Use an empty list for an empty cell.")
    if nameless.any():
        where = f"{str(path)!r}, {place(int(np.searchsorted(offsets, nameless.argmax(), 'right')) - 1)}"
        raise UnreadableInput(f"{where}: {name!r} contains an item without a name.", "Give it a name, or remove it.")
    return offsets, found.codes, found.names


def _check_header(names: Sequence[str], error: Callable[[str], UnreadableInput]) -> None:
    """Raise unless there are a bucket and then columns of items, called as they are written."""
    if len(names) == 1 and names[0] == BUCKET:
        raise error("there is no item column")
    for found, wanted in zip(names or [""], [BUCKET, *column_names(len(names) - 1)], strict=True):
        if found != wanted:
            raise error(f"{found!r} is where {wanted!r} was expected")


def _of_rows(distinct: _Rows, cells: Codes) -> _Rows:
    """The lists of rows that have these cells; -1 is an empty one."""
    offsets, codes, names = distinct
    offsets = np.append(offsets, offsets[-1])  # one more, without items
    chosen = np.where(cells < 0, len(offsets) - 2, cells).astype(np.int64)
    return ends_of(np.diff(offsets)[chosen]), _native.core.take_rows(offsets, codes, chosen), names


def _cells(buckets: npt.NDArray[np.int64], columns: list[_Rows], place: _Place) -> Cells:
    """The lists of all columns one after the other, with one vocabulary."""
    names, offsets, codes, size = _native.text.Names(), [np.zeros(1, dtype=np.int64)], list[Codes](), 0
    for ends, items, own_names in columns:
        number = names.add(*buffers_of(own_names))
        offsets.append(ends[1:] + size)
        codes.append(number[items])
        size += len(items)
    return Cells(len(columns), buckets, np.concatenate(offsets), np.concatenate(codes), strings_of(names.take()), place)
