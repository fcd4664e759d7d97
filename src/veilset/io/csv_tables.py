"""CSV files with a header as Arrow tables: each column gets the type that its values have."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError, said
from veilset.io.files import TextBlocks
from veilset.limits import Limits

_OTHER_DELIMITERS = (";", "\t", "|", ",")
_BLOCK = 1 << 24  # bytes that one thread parses; a longer line is refused
_TIMES = 3  # as much memory as the text takes: as text, as columns of text, and as columns of their types


def read_csv_table(path: Path, text_columns: set[str], encoding: str, delimiter: str, limits: Limits) -> pa.Table:
    """The table in a file of delimited text, perhaps compressed (``.gz``, ``.zst``).

    The first line has the names of the columns. *text_columns* stay text, so that "007" is not 7; in other columns, all
    values decide: whole numbers, numbers, booleans, dates, times, or else text. An empty field is missing.
    """
    if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
        raise InvalidArgument(f"{said('delimiter')} is {delimiter!r}.", "Use one character, such as ';' or '|'.")
    stream = _Stream(TextBlocks(path, encoding, limits), str(path), limits)
    try:
        table = pyarrow.csv.read_csv(
            stream,
            pyarrow.csv.ReadOptions(block_size=_BLOCK),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(text_columns, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowException as error:
        if stream.error is not None:  # pyarrow has put it into words of its own
            raise stream.error from None
        reason = str(error).splitlines()[0].removeprefix("CSV parse error: ").rstrip(". ")
        raise UnreadableInput(
            f"{str(path)!r} is not a valid CSV table: {reason[:200]}.",
            f"Give every line as many fields as the header, separated by {delimiter!r}; quote fields that contain it.",
        ) from None
    _check_header(path, table.column_names, delimiter)
    return table


def _check_header(path: Path, names: list[str], delimiter: str) -> None:
    others = [mark for mark in _OTHER_DELIMITERS if mark != delimiter and mark in names[0]]
    if len(names) == 1 and others:
        raise UnreadableInput(
            f"{str(path)!r} has a single column, {names[0]!r}, which contains {others[0]!r}.",
            f"If that separates its fields, set {said('delimiter', others[0])}.",
        )
    if "" in names:
        raise UnreadableInput(
            f"Column {names.index('') + 1} of {str(path)!r} has no name.", "Name every column in the first line."
        )


class _Stream(io.RawIOBase):
    """Blocks of text as a stream for pyarrow, which remembers what went wrong."""

    def __init__(self, blocks: TextBlocks, name: str, limits: Limits) -> None:
        self._blocks, self._name, self._limits = iter(blocks), name, limits
        self._text, self._at = b"", 0
        self.error: VeilsetError | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into *buffer*, as much as there is."""
        try:
            if self._at == len(self._text):
                self._text, self._at = next(self._blocks, b""), 0
                self._limits.require(_TIMES * len(self._text), f"Reading {self._name!r}", "use Parquet.")
        except VeilsetError as error:
            self.error = error
            raise
        size = min(len(buffer), len(self._text) - self._at)
        buffer[:size] = self._text[self._at : self._at + size]
        self._at += size
        return size
