"""Small files beside the data: CSV tables with a header, and lists. Every error names the line that is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from veilset import _native
from veilset.errors import UnreadableInput, unknown
from veilset.io.atomic import write_whole
from veilset.io.files import read_text_bytes
from veilset.io.formatting import quoted
from veilset.io.gather import strings_of
from veilset.io.layout import delimiter_of

__all__ = ["Table", "check_rows", "read_item_list", "read_paths", "read_table", "write_table"]


@dataclass(frozen=True)
class Table:
    """The header and the lines of a table.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns.
    rows : list of tuple
        The cells of each line; an empty cell is empty text.
    lines : list of int
        The line of the file each row stands on (begins on, if a quoted cell goes over several).
    """

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    lines: list[int]

    def only(self, columns: Sequence[str]) -> Table:
        """The table with these columns, in this order."""
        for name in columns:
            if name not in self.columns:
                raise unknown("column", name, self.columns)
        at = [self.columns.index(name) for name in columns]
        return Table(tuple(columns), [tuple(row[i] for i in at) for row in self.rows], self.lines)


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
        raise UnreadableInput(
            f"{str(path)!r}, line 1: the header names {twice!r} twice.",
            "Give every column a name of its own.",
        )
    names = [*strings_of(strings).to_pylist(), ""]  # code -1, an empty cell, finds the last
    line_ends = [_line_ends(name) for name in names]
    cells, bounds = codes.tolist(), offsets.tolist()
    rows, lines = [], []
    for first, last in pairwise(bounds):
        row = cells[first:last]
        if row and len(row) != len(header):
            raise UnreadableInput(
                f"{str(path)!r}, line {line}: the header has {len(header)} columns, not {len(row)}.",
                "Quote cells that hold a delimiter, and give every line all columns.",
            )
        if row:
            rows.append(tuple(names[code] for code in row))
            lines.append(line)
        line += 1 + sum(line_ends[code] for code in row)
    return Table(header, rows, lines)


def read_paths(path: str | Path, *, encoding: str = "utf-8") -> dict[str, tuple[str, ...]]:
    """For each item, found in the first column, the cells that follow it."""
    table = read_table(path, encoding=encoding)
    check_rows(path, table)
    return {row[0]: row[1:] for row in table.rows}


def check_rows(path: str | Path, table: Table, *, ragged: bool = False) -> None:
    """An item and something about it on every line, and no item twice; *ragged*: the last cells may be empty."""
    if len(table.columns) < 2:
        raise UnreadableInput(
            f"{str(path)!r}, line 1: there is one column only, {table.columns[0]!r}.",
            "Give the item and at least one group above it, with a comma between them.",
        )
    if not table.rows:
        raise UnreadableInput(f"{str(path)!r} has nothing after line 1, its header.", "Give every item a line.")
    line_of: dict[str, int] = {}
    for line, row in zip(table.lines, table.rows, strict=True):
        filled = max((at + 1 for at, cell in enumerate(row) if cell), default=0) if ragged else len(row)
        if "" in row[: max(1, filled)]:
            raise UnreadableInput(
                f"{str(path)!r}, line {line}: the column {table.columns[row.index('')]!r} is empty.",
                "Fill it in; only the last cells of a line may be empty." if ragged else "Fill it in.",
            )
        if row[0] in line_of:
            raise UnreadableInput(
                f"{str(path)!r}, line {line}: the item {row[0]!r} stands on line {line_of[row[0]]} already.",
                "Give every item one line.",
            )
        line_of[row[0]] = line


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


def _line_ends(cell: str) -> int:
    return cell.count("\n") + cell.count("\r") - cell.count("\r\n")
