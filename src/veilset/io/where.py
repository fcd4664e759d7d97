"""Rows that satisfy an SQL condition, evaluated by DuckDB; all others are as if they were not in the source.

DuckDB sees neither the file nor any other: it is handed the columns that the condition names, piece by piece, in a
database in memory that may reach nothing outside. So a condition is about one row, and gives the same answer again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import BudgetExceeded, InvalidArgument, UnreadableInput, said
from veilset.io.databases import SQL_EXTRA
from veilset.io.gather import strings_of
from veilset.io.layout import Layout
from veilset.io.rows import arrow_numbers
from veilset.io.sql import ROOM, Batches
from veilset.io.text import TextSource
from veilset.limits import Limits
from veilset.views import installed

_ROW = "row of veilset"
_QUESTIONS = ("select", "values", "table")  # words that begin a query inside a condition
_SHOWN = 30  # columns in an error


class _InMemory:
    """A DuckDB that reaches nothing but what it is handed."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.duckdb = installed("duckdb", f"Reading with {said('where')}", SQL_EXTRA)
        self.columns: Sequence[str] = ()
        self._text = text
        config = {
            "enable_external_access": "false",
            "memory_limit": f"{limits.bytes_left()}B",
            "temp_directory": "",  # the data goes to no disk
            "threads": str(limits.thread_count),
        }
        self.connection = self.duckdb.connect(":memory:", config=config)
        self.connection.execute("SET enable_progress_bar = false")  # it would go to standard output

    def expression(self) -> Any:
        """The condition, which must be about one row and give the same answer again."""
        found = self.duckdb.SQLExpression(self._text)
        changing = {
            name
            for (name,) in self.connection.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT'"
            ).fetchall()
        }
        before = ""
        for place, kind in self.duckdb.tokenize(self._text):
            rest = self._text[place:]
            word = re.split(r"\W", rest, maxsplit=1)[0].lower()
            if kind.name == "keyword" and (word in _QUESTIONS or (before == "(" and word in ("from", "with"))):
                raise InvalidArgument(
                    f"{said('where', self._text)} holds a query of its own.", "Give a condition on one row."
                )
            follows = rest[len(word) :].lstrip()
            if word in changing and (follows.startswith("(") or word.startswith("current_")):
                raise InvalidArgument(
                    f"{said('where', self._text)}: {word} does not give the same answer again.",
                    "Write the value instead, so that the run can be repeated.",
                )
            if kind.name != "comment":
                before = rest[:1]
        return found

    def places(self, table: Any, expression: Any) -> Any:
        """The rows that satisfy the condition."""
        chosen = self.connection.from_arrow(table).filter(expression)
        return chosen.select(self.duckdb.ColumnExpression(_ROW)).to_arrow_table().column(0).to_numpy()

    def next_batch(self) -> None:
        """Nothing comes by itself."""

    def interrupt(self) -> None:
        """End what is going on, from another thread."""
        self.connection.interrupt()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()

    def explained(self, error: Exception, limits: Limits) -> Exception:
        """The error in our form, or as it is."""
        if isinstance(error, self.duckdb.OutOfMemoryException):
            try:
                limits.require(1 << 62, f"{said('where')}", "use a simpler condition.")
            except BudgetExceeded as stopped:
                return stopped
        if not isinstance(error, (self.duckdb.Error, pa.ArrowException)):
            return error
        reason = str(error).strip().partition("\n")[0].rstrip(".!")
        listed = ", ".join(map(repr, self.columns[:_SHOWN]))
        more = f" and {len(self.columns) - _SHOWN:,} more" if len(self.columns) > _SHOWN else ""
        return InvalidArgument(
            f"DuckDB refuses {said('where', self._text)}: {reason}.",
            f"The columns are {listed}{more}; write names in double quotes and text in single ones."
            if listed
            else "Give a condition such as Country = 'France'.",
        )


class Condition:
    """A condition, and how many rows it has seen and kept."""

    def __init__(self, text: str, layout: Layout, limits: Limits) -> None:
        container, shape, _, words = layout.form
        if shape == "anatomy" or container in ("fimi", "spmf") or not (layout.header or container != "csv"):
            raise InvalidArgument(
                f"{said('where', text)} needs columns with names, which {words} does not have.",
                f"For a table, say {said('long', ('ID', 'ITEM'))} or {said('wide', True)}; for baskets below a line of "
                f"names, {said('header', True)}."
                if layout.format == "basket"
                else "Leave it out.",
            )
        limits.require(ROOM, f"{said('where')}", "filter the file before.")
        self.text, self._layout, self._limits = text, layout, limits
        self._seen = self._kept = 0
        self._memory = _InMemory(text, limits)
        self._batches = Batches(self._memory, limits)
        self._expression = self._batches.ask(self._memory.expression)

    @property
    def note(self) -> dict[str, int]:
        """How many rows are left, as a note."""
        note = f"{self._kept:,} of {self._seen:,} rows satisfy {said('where', self.text)}; only they are counted."
        return {note.replace("{", "{{").replace("}", "}}"): 1}

    def mentioned(self, columns: Iterable[str]) -> list[str]:
        """The columns that the condition may speak of."""
        found = [name for name in columns if name and name.casefold() in self.text.casefold()]
        twice = next((name for name in found if [other.casefold() for other in found].count(name.casefold()) > 1), None)
        if twice is not None:
            raise InvalidArgument(
                f"{said('where', self.text)}: several columns are called {twice!r}, but for capitals.",
                "Give them different names.",
            )
        return found

    def keeps(self, table: Any, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which rows of a table satisfy the condition; *columns* are all those of the source."""
        self._memory.columns = columns
        numbers = arrow_numbers(np.arange(len(table), dtype=np.int64))
        arrays = [table.column(name) for name in self.mentioned(table.schema.names)]
        handed = pa.table([*arrays, numbers], names=[*self.mentioned(table.schema.names), _ROW])
        keep = np.zeros(len(table), dtype=bool)
        keep[self._batches.ask(lambda: self._memory.places(handed, self._expression))] = True
        self._seen += len(keep)
        self._kept += int(keep.sum())
        return keep

    def batches(self, batches: Iterable[Any], columns: Sequence[str]) -> Iterator[Any]:
        """Batches with only the rows that satisfy it."""
        for batch in batches:
            yield batch.filter(pa.array(self.keeps(batch, columns)))

    def text_blocks(self, path: Path, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The text with only the records that satisfy it."""
        json_lines = self._layout.form.container == "json"
        kept = self._json_blocks(path, blocks) if json_lines else self._csv_blocks(path, blocks)
        return filter(None, kept)  # an empty block would say that the text ends

    def _csv_blocks(self, path: Path, blocks: Iterable[bytes]) -> Iterator[bytes]:
        source = TextSource(path, self._layout, blocks)
        with source.errors():
            header = source.header()
        delimiter, every = self._layout.delimiter, list(range(len(header)))
        yield (
            delimiter.join(f'"{name.replace(chr(34), chr(34) * 2)}"' if name else "" for name in header) + "\n"
        ).encode()

        def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Any, int, int]:
            parsed, blank, at, line = _native.text.parse_table(text, delimiter, at, line, last, every, len(header))
            return (parsed, blank), at, line

        pieces: Iterator[Any] = source.pieces(parse)
        for parsed, blank in pieces:
            cells = [_cells(codes, strings) for codes, strings in parsed]
            keep = pa.array(self.keeps(pa.table(cells, names=header), header))
            quoted = [_quoted(column.filter(keep)) for column in cells]
            lines = pc.binary_join_element_wise(*quoted, _literal(delimiter)) if len(quoted) > 1 else quoted[0]
            yield "".join(f"{line}\n" for line in lines.to_pylist()).encode() + b"\n" * blank

    def _json_blocks(self, path: Path, blocks: Iterable[bytes]) -> Iterator[bytes]:
        held, number, columns = b"", 0, dict[str, None]()
        for block in _with_end(blocks):
            lines = (held + (block or b"")).splitlines(keepends=True)
            held = lines.pop() if lines and block is not None else b""
            objects, texts = [], []
            for line in lines:
                number += 1
                if line.strip():
                    objects.append(_object(line, path, number))
                    texts.append(line)
            blank = b"\n" * (len(lines) - len(texts))
            if not objects:
                yield blank
                continue
            columns |= dict.fromkeys(key for found in objects for key in found)
            wanted = self.mentioned(columns)
            cells = [pa.array([_text(found.get(key)) for found in objects], pa.string()) for key in wanted]
            numbers = arrow_numbers(np.arange(len(objects)))  # so that there is a column in any case
            keep = self.keeps(pa.table([*cells, numbers], names=[*wanted, ""]), [*columns])
            yield b"".join(line for line, kept in zip(texts, keep.tolist(), strict=True) if kept) + blank


def _with_end(blocks: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from blocks
    yield None


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnreadableInput(
            f"Cannot read {str(path)!r}, line {number}: it is no JSON object, so {said('where')} has no columns.",
            "Give every line one JSON object.",
        )
    return found


def _text(value: Any) -> str | None:
    """A value of a JSON object as text; numbers are as they are written."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _cells(codes: Any, strings: Any) -> Any:
    """A column as text; an empty cell is null."""
    return strings_of(strings).take(pa.array(codes, mask=codes < 0))


def _quoted(cells: Any) -> Any:
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.fill_null(pc.binary_join_element_wise(_literal('"'), doubled, _literal('"'), _literal("")), "")


def _literal(text: str) -> Any:
    return pa.scalar(text, pa.large_string())
