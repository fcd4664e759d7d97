"""Partitions of items in files: a table with a header, of which the columns ``item`` and ``column`` are taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from veilset.errors import UnreadableInput, near_misses
from veilset.io.companions import check_rows, read_table

__all__ = ["PartitionFile", "read_partition"]

_HEADER = ("item", "column")


@dataclass(frozen=True)
class PartitionFile:
    """A partition as it stands in a file.

    Parameters
    ----------
    path : str
    columns : mapping
        The items of each column, by what the file calls it; both in the order in which they first appear.
    lines : mapping
        The line of each item.
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
    """The columns that a file gives.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.tsv``, perhaps ``.gz``, with the header ``item,column``; a line says which column an item is in,
        by any text. Other columns of the table do not count.
    encoding : str
        Of the text.
    """
    table = read_table(path, encoding=encoding)
    for name in _HEADER:
        if name not in table.columns:
            raise UnreadableInput(
                f"{str(path)!r}, line 1: the header has no column {name!r}; it has "
                f"{', '.join(map(repr, table.columns[:5]))}{', …' * (len(table.columns) > 5)}.",
                near_misses(name, table.columns) or "Begin the file with the line item,column.",
            )
    table = table.only(_HEADER)
    check_rows(path, table)
    columns: dict[str, list[str]] = {}
    for item, column in table.rows:
        columns.setdefault(column, []).append(item)
    lines = {row[0]: line for row, line in zip(table.rows, table.lines, strict=True)}
    return PartitionFile(str(path), {label: tuple(items) for label, items in columns.items()}, lines)
