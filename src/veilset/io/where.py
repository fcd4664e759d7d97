"""Rows that satisfy an SQL condition, evaluated by DuckDB; all others are as if they were not in the source.

DuckDB sees neither the file nor any other: it is handed the columns that the condition names, piece by piece, in a
database in memory that may reach nothing outside. So a condition is about one row, and gives the same answer again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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

_UNSTEADY = {"age": 1, "current_localtime": 0, "current_localtimestamp": 0}
"""Functions that use the time if they have so many arguments, although DuckDB calls them consistent."""

_SHOWN = 30  # columns in an error


@dataclass
class _Names:
    """What an expression names: columns, parameters of lambdas, functions and how many arguments they have."""

    columns: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    functions: dict[str, set[int]] = field(default_factory=dict)
    asks: bool = False
    has_star: bool = False

    @classmethod
    def of(cls, tree: Any) -> _Names:
        """What an expression names, in the form into which DuckDB parses it."""
        names = cls()
        names._walk(tree, frozenset())
        return names

    def _walk(self, tree: Any, bound: frozenset[str]) -> None:
        if isinstance(tree, list):
            for part in tree:
                self._walk(part, bound)
        if not isinstance(tree, dict):
            return
        kind = tree.get("class")
        if kind == "COLUMN_REF" and (name := tree["column_names"][0]).casefold() not in bound:
            self.columns.add(name)
        if kind == "LAMBDA":  # or a path in JSON, whose left side is a column
            parameters = _Names.of(tree["lhs"])
            self.bound |= parameters.columns
            bound |= {name.casefold() for name in parameters.columns}
        if "function_name" in tree:
            arguments = tree.get("arguments") or ()
            self.functions.setdefault(tree["function_name"].lower(), set()).add(len(arguments))
        self.asks |= kind == "SUBQUERY"
        self.has_star |= kind == "STAR"
        for part in tree.values():
            self._walk(part, bound)


class _InMemory:
    """A DuckDB that reaches nothing but what it is handed."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.duckdb = installed("duckdb", f"Reading with {said('where')}", SQL_EXTRA)
        self.columns: Sequence[str] = ()
        self.names = _Names()
        self._text, self._row = text, "row"
        config = {
            "enable_external_access": "false",
            "memory_limit": f"{limits.bytes_left()}B",
            "temp_directory": "",  # the data goes to no disk
            "threads": str(limits.thread_count),
        }
        self.connection = self.duckdb.connect(":memory:", config=config)
        self.connection.execute("SET enable_progress_bar = false")  # it would go to standard output
        self.connection.execute("SET TimeZone = 'UTC'")  # not that of this machine

    def expression(self) -> Any:
        """The condition, which must be about one row and give the same answer again."""
        found = self.duckdb.SQLExpression(self._text)
        self.names = self._names_in(self._text)
        while self._row in {name.casefold() for name in (*self.names.columns, *self.names.bound)}:
            self._row += "_"
        return found

    def _names_in(self, text: str, within: tuple[str, ...] = ()) -> _Names:
        """The names in an expression, or in that of a macro of DuckDB; an error if its value may change."""
        ((tree,),) = self.connection.execute("SELECT json_serialize_sql(?)", [f"SELECT {text}"]).fetchall()
        names = _Names.of(json.loads(tree)["statements"][0]["node"]["select_list"])
        if names.asks or names.has_star:
            what = "holds a query of its own" if names.asks else "takes several columns at once"
            raise InvalidArgument(f"{said('where', self._text)} {what}.", "Give a condition on one row.")
        for name, arguments in names.functions.items():
            told = self.connection.execute(
                "SELECT stability, macro_definition, parameters FROM duckdb_functions() WHERE function_name = ? "
                "AND function_type IN ('scalar', 'macro')",
                [name],
            ).fetchall()
            changes = _UNSTEADY.get(name, -1) in arguments
            for stability, definition, parameters in told:
                if definition is None:
                    changes |= stability != "CONSISTENT"
                elif name not in within:
                    inside = self._names_in(definition, (*within, name))
                    changes |= not inside.columns <= {*parameters}
            if changes:
                raise InvalidArgument(
                    f"{said('where', self._text)}: {name} can return a different result on each run.",
                    "Write the value instead, so that the run can be repeated.",
                )
        return names

    def places(self, expression: Any, arrays: Sequence[Any], names: Sequence[str], count: int) -> Any:
        """The rows of a table with these columns that satisfy the condition."""
        numbers = arrow_numbers(np.arange(count, dtype=np.int64))
        table = pa.table([*arrays, numbers], names=[*names, self._row])
        chosen = self.connection.from_arrow(table).filter(expression)
        return chosen.select(self.duckdb.ColumnExpression(self._row)).to_arrow_table().column(0).to_numpy()

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
        listed = _listed(self.columns)
        return InvalidArgument(
            f"DuckDB rejected {said('where', self._text)}: {reason}.",
            f"The columns are {listed}; write names in double quotes and text in single quotes."
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
                f"For a table, use {said('long', ('ID', 'ITEM'))} or {said('wide', True)}; for baskets with a line of "
                f"column names, {said('header', True)}."
                if layout.format == "basket"
                else "Leave it out.",
            )
        limits.require(ROOM, f"{said('where')}", "filter the file beforehand.")
        self.text, self._layout, self._limits = text, layout, limits
        self._seen = self._kept = 0
        self._memory = _InMemory(text, limits)
        self._batches = Batches(self._memory, limits)
        self._expression = self._batches.ask(self._memory.expression)

    @property
    def note(self) -> dict[str, int]:
        """How many rows are left, as a note."""
        note = f"{self._kept:,} of {self._seen:,} rows satisfy {said('where', self.text)}; the others were skipped."
        return {note.replace("{", "{{").replace("}", "}}"): 1}

    def mentioned(self, columns: Iterable[str]) -> list[str]:
        """The columns that the condition may speak of."""
        names = {name.casefold() for name in self._memory.names.columns | self._memory.names.bound}
        found = [name for name in columns if name.casefold() in names]
        twice = next((name for name in found if [other.casefold() for other in found].count(name.casefold()) > 1), None)
        if twice is not None:
            raise InvalidArgument(
                f"{said('where', self.text)}: several columns are named {twice!r}, differing only in case.",
                "Give them different names.",
            )
        return found

    def keeps(self, table: Any, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which rows of a table satisfy the condition; *columns* are all those of the source."""
        self._memory.columns = columns
        names = self.mentioned(table.schema.names)
        arrays = [table.column(name) for name in names]
        keep = np.zeros(len(table), dtype=bool)
        keep[self._batches.ask(lambda: self._memory.places(self._expression, arrays, names, len(table)))] = True
        self._require(table.schema.names)
        self._seen += len(keep)
        self._kept += int(keep.sum())
        return keep

    def _missing(self, columns: Iterable[str]) -> list[str]:
        """The names that would have to be columns, but are none of these."""
        there = {name.casefold() for name in columns}
        return sorted({name.casefold() for name in self._memory.names.columns} - there)

    def _require(self, columns: Sequence[str]) -> None:
        """Raise if a name is no column of these; DuckDB itself knows names such as ``localtime``."""
        for name in self._missing(columns):
            raise InvalidArgument(
                f"{said('where', self.text)}: {name} is no column.",
                f"The columns are {_listed(columns)}; write text in single quotes, and values instead of what changes.",
            )

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
            # A blank line of a table is passed over and told; among baskets it would be a transaction.
            told = b"\n" * blank * (self._layout.form.shape != "lists")
            yield "".join(f"{line}\n" for line in lines.to_pylist()).encode() + told

    def _json_blocks(self, path: Path, blocks: Iterable[bytes]) -> Iterator[bytes]:
        held, number, columns = b"", 0, dict[str, None]()
        for block in _with_end(blocks):
            lines = (held + (block or b"")).splitlines(keepends=True)
            held = lines.pop() if lines and block is not None else b""
            objects, texts = [], []
            for line in lines:
                number += 1
                if text := line.strip(b" \t\r\n"):
                    objects.append(_object(line, path, number))
                    texts.append(text + b"\n")
            blank = b"\n" * (len(lines) - len(texts))
            if not objects:
                yield blank
                continue
            columns |= dict.fromkeys(key for found in objects for key in found)
            # Keys that are in no object so far may come later.
            perhaps = {name.casefold() for name in self._memory.names.bound} - {name.casefold() for name in columns}
            wanted = [*self.mentioned(columns), *sorted({*self._missing(columns), *perhaps})]
            cells = [pa.array([_text(found.get(key)) for found in objects], pa.string()) for key in wanted]
            numbers = arrow_numbers(np.arange(len(objects)))  # so that there is a column in any case
            keep = self.keeps(pa.table([*cells, numbers], names=[*wanted, ""]), [*columns])
            yield b"".join(line for line, kept in zip(texts, keep.tolist(), strict=True) if kept) + blank
        self._require([*columns])


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else ""
    return ", ".join(map(repr, columns[:_SHOWN])) + more


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
