"""Small files beside the data: CSV tables with a header, and lists. Every error names the line that is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from veilset import _native
from veilset.errors import InvalidArgument, UnreadableInput, near_misses, said, unknown
from veilset.io.atomic import write_whole
from veilset.io.files import read_text_bytes
from veilset.io.formatting import line_ends, quoted
from veilset.io.frames import table_reader
from veilset.io.gather import strings_of
from veilset.io.layout import delimiter_of

_PARTITION = ("item", "column")


def at_line(path: str | Path | None, line: int, what: str, advice: str) -> UnreadableInput:
    """The error about a line of a file, or a row of a frame, which has no path."""
    where = f"Row {line:,} (counting from 1) of the frame" if path is None else f"{str(path)!r}, line {line}"
    return UnreadableInput(f"{where}: {what}.", advice)


def in_header(path: str | None, what: str, advice: str) -> UnreadableInput:
    """The error about the columns of a table."""
    return UnreadableInput(f"The frame: {what}.", advice) if path is None else at_line(path, 1, what, advice)


def line_named(path: str | Path | None, line: int) -> str:
    """A line of the same file, or a row of the same frame, in a message."""
    return f"row {line:,}" if path is None else f"line {line}"


def without_rows(path: str | None, of: str) -> UnreadableInput:
    """The error about a table that has nothing but columns."""
    what = "The frame has no rows" if path is None else f"{path!r} has nothing after line 1, its header"
    return UnreadableInput(f"{what}.", f"Give every {of} a line.")


@dataclass(frozen=True)
class Table:
    """The header and the lines of a table in the file *path*; None: of a frame.

    An empty cell is empty text. *lines* says on which line of the file each row stands (begins, if a quoted cell goes
    over several), or which row of the frame it is.
    """

    path: str | None
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    lines: list[int]

    def only(self, columns: Sequence[str]) -> Table:
        """The table with these columns, in this order."""
        for name in columns:
            if name not in self.columns:
                raise unknown("column", name, self.columns)
        at = [self.columns.index(name) for name in columns]
        return replace(self, columns=tuple(columns), rows=[tuple(row[i] for i in at) for row in self.rows])

    def numbered(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Each row after the number of its line."""
        return zip(self.lines, self.rows, strict=True)


def read_table(path: str | Path, *, encoding: str = "utf-8") -> Table:
    """The table in a CSV file (``.tsv``: with tabs), perhaps ``.gz``; blank lines are passed over."""
    delimiter = delimiter_of(path)
    text = read_text_bytes(path, encoding)
    try:
        fields, start, line = _native.text.parse_record(text, delimiter)
        offsets, codes, strings, *_ = _native.text.parse_basket(text, delimiter, start, line, last=True)
    except _native.text.ParseError as error:
        raise UnreadableInput(f"Cannot read {str(path)!r}, {error}.", "Check the quotes on this line.") from None
    header = tuple(field.decode() for field in fields)
    if twice := next((name for i, name in enumerate(header) if name in header[:i]), None):
        raise at_line(path, 1, f"the header contains {twice!r} twice", "Give every column a unique name.")
    names = [*strings_of(strings).to_pylist(), ""]  # code -1, an empty cell, finds the last
    ends = [line_ends(name) for name in names]
    cells = codes.tolist()
    rows, lines = [], []
    for first, last in pairwise(offsets.tolist()):
        row = cells[first:last]
        if row and len(row) != len(header):
            what = f"the header has {len(header)} columns, not {len(row)}"
            raise at_line(
                path,
                line,
                what,
                "Quote cells that contain a delimiter, and give every line the same number of columns.",
            )
        if row:
            rows.append(tuple(names[code] for code in row))
            lines.append(line)
        line += 1 + sum(ends[code] for code in row)
    return Table(str(path), header, rows, lines)


def read_paths(path: str | Path, *, encoding: str = "utf-8") -> dict[str, tuple[str, ...]]:
    """For each item, found in the first column, the cells that follow it."""
    table = read_table(path, encoding=encoding)
    check_rows(table)
    return {row[0]: row[1:] for row in table.rows}


def check_rows(table: Table, *, ragged: bool = False) -> None:
    """An item and something about it on every line, and no item twice; *ragged*: the last cells may be empty."""
    if len(table.columns) < 2:
        advice = "Give the item and at least one group above it, separated by commas."
        named = "".join(f", {name!r}" for name in table.columns)
        raise in_header(table.path, f"there is {'only one column' if named else 'no column'}{named}", advice)
    if not table.rows:
        raise without_rows(table.path, "item")
    line_of: dict[str, int] = {}
    for line, row in table.numbered():
        filled = max((at + 1 for at, cell in enumerate(row) if cell), default=0) if ragged else len(row)
        if "" in row[: max(1, filled)]:
            advice = "Fill it in; only the last cells of a line may be empty." if ragged else "Fill it in."
            raise at_line(table.path, line, f"the column {table.columns[row.index('')]!r} is empty", advice)
        check_once(table.path, line, row[0], line_of)


def check_once(path: str | Path | None, line: int, item: str, line_of: dict[str, int]) -> None:
    """Raise if another line is that of this item; *line_of* is where each was found, and is added to."""
    if (before := line_of.setdefault(item, line)) != line:
        what = f"the item {item!r} is already on {line_named(path, before)}"
        raise at_line(path, line, what, "List every item once.")


def table_of_frame(frame: Any, columns: Sequence[str] | None = None) -> Table:
    """The names in a frame, or in these columns of it, as text; null is an empty cell, and 48.0 the name "48".

    >>> import pyarrow as pa
    >>> table_of_frame(pa.table({"item": ["milk", "soap"], "shelf": [5, None]})).rows
    [('milk', '5'), ('soap', '')]
    """
    found = table_reader(frame).read_all()
    names = tuple(found.column_names)
    if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
        raise InvalidArgument(f"Two columns are named {twice!r}.", "Give every column a unique name.")
    for name in columns or ():
        if name not in names:
            raise unknown("column", name, names)
    chosen = tuple(columns or names)
    cells = [[_cell(value, row, name) for row, value in enumerate(found[name].to_pylist(), 1)] for name in chosen]
    return Table(None, chosen, list(zip(*cells, strict=True)), list(range(1, len(found) + 1)))


def _cell(value: Any, row: int, column: str) -> str:
    if value is None or value != value:  # noqa: PLR0124 - not a number
        return ""
    if isinstance(value, (float, Decimal)) and value == value // 1:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        what = f"the column {column!r} holds {value!r}, which is not a name"
        advice = f"Names are text or whole numbers. Use {said('columns')} to leave out other columns."
        raise at_line(None, row, what, advice)
    return str(value)


@dataclass(frozen=True)
class PartitionFile:
    """A partition as it stands in a file.

    *columns* are the items of each column, by what the file calls it, both in the order in which they first appear;
    *lines* the line of each item.
    """

    path: str
    columns: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The items of each column."""
        return tuple(self.columns.values())

    def named(self, item: str) -> str:
        """An item with its place, for a message."""
        return f"{item!r} (line {self.lines[item]})"


def read_partition(path: str | Path, *, encoding: str = "utf-8") -> PartitionFile:
    """The columns that a file gives: ``.csv`` or ``.tsv``, perhaps ``.gz``, with the header ``item,column``.

    A line says which column an item is in, by any text. Other columns of the table do not count.
    """
    table = read_table(path, encoding=encoding)
    for name in _PARTITION:
        if name not in table.columns:
            held = ", ".join(map(repr, table.columns[:5])) + ", …" * (len(table.columns) > 5)
            advice = near_misses(name, table.columns) or "Add the header item,column as the first line."
            raise at_line(path, 1, f"the header has no column {name!r}; it has {held}", advice)
    table = table.only(_PARTITION)
    check_rows(table)
    columns: dict[str, list[str]] = {}
    for item, column in table.rows:
        columns.setdefault(column, []).append(item)
    lines = {item: line for line, (item, _) in table.numbered()}
    return PartitionFile(str(path), {label: tuple(items) for label, items in columns.items()}, lines)


def write_table(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write what `read_table` reads back."""
    delimiter = delimiter_of(path)
    lines = [columns, *rows]
    text = "".join(delimiter.join(quoted(cell, delimiter) for cell in line) + "\n" for line in lines)
    write_whole(Path(path), text.encode())


def read_item_list(path: str | Path, encoding: str = "utf-8") -> list[str]:
    """Names from a file, one a line; blanks around a name and empty lines do not count."""
    lines = re.split("\r\n|\n|\r", read_text_bytes(path, encoding).decode())
    names = [line.strip(" \t") for line in lines]
    return [name for name in names if name]
