"""Tables and the keys that link them: what training and prediction start from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import InvalidArgument, VeilsetError, near_misses, said
from veilset.io.columns import is_text
from veilset.joins.columns import Attribute, Codes, attributes
from veilset.joins.graph import JoinGraph, equalities_of, named_sides
from veilset.joins.key_advice import FEW, better_rule
from veilset.joins.keys import KeyRule, check_types, key_column, shared_keys
from veilset.joins.site import Site
from veilset.joins.tables import read_table
from veilset.limits import Limits

_T = TypeVar("_T")
_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")  # as Arrow names their types
_MANY = 100  # different texts
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


@dataclass(frozen=True)
class Match:
    """How many rows of two neighbouring tables have a partner in the other.

    >>> print(Match("T1", "T2", "T1.J1 = T2.J1", 4, 4, 4, 3, 2))
    T1.J1 = T2.J1: 4 of 4 rows of T1 (100%) and 3 of 4 rows of T2 (75%) match, on 2 keys
    """

    left: str
    right: str
    on: str
    left_rows: int
    left_matched: int
    right_rows: int
    right_matched: int
    keys: int

    def __str__(self) -> str:
        left = _share(self.left, self.left_matched, self.left_rows)
        right = _share(self.right, self.right_matched, self.right_rows)
        return f"{self.on}: {left} and {right} match, on {self.keys:,} key{'s' * (self.keys != 1)}"


def _share(table: str, matched: int, rows: int) -> str:
    return f"{matched:,} of {rows:,} rows of {table} ({matched / max(1, rows):.0%})"


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Tables of a join, and for each edge the numbers of the keys that both its tables have."""

    tables: Mapping[str, pa.Table]
    graph: JoinGraph
    keys: Sequence[tuple[Codes, Codes, int]]
    rule: KeyRule
    _ranked: dict[tuple[str, str], Attribute] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], graph: JoinGraph, rule: KeyRule) -> LinkedTables:
        """Link tables by the equalities of a graph. Tables without a common key are refused."""
        keys = []
        for edge in graph.edges:
            left, right = tables[edge.left], tables[edge.right]
            check_types(edge, left.schema, right.schema, rule)
            sides = key_column(left, edge.left_columns, rule), key_column(right, edge.right_columns, rule)
            keys.append(shared_keys(*sides))
        return cls(tables, graph, keys, rule)

    @classmethod
    def read(
        cls,
        given: Mapping[str, Any] | LinkedTables,
        joins: Sequence[tuple[str, str] | str],
        keys: str | Sequence[str],
        limits: Limits,
    ) -> LinkedTables:
        """Read tables in any form, and link them by equalities; *keys* says how keys are written.

        Tables that are linked already stay as they are, if nothing else is asked for.
        """
        joins, rule = equalities_of(joins), KeyRule.of(keys)
        if isinstance(given, LinkedTables):
            given._check_asked(joins, rule)
            return given
        tables = read_tables(given, joins, limits)
        graph = JoinGraph.of({name: table.column_names for name, table in tables.items()}, joins)
        return cls.of(tables, graph, rule)

    def _check_asked(self, joins: Sequence[Any], rule: KeyRule) -> None:
        if joins:
            raise InvalidArgument(
                f"{said('joins')} is {joins!r}, but the tables are linked already, by {self.graph.equalities()!r}.",
                f"Leave out {said('joins')}, or give the tables by name.",
            )
        if rule != self.rule:
            raise InvalidArgument(
                f"{said('keys')} is {str(rule)!r}, but the tables are linked already, with keys written "
                f"{str(self.rule)!r}.",
                "Give the same here, or give the tables by name.",
            )

    @classmethod
    def again(
        cls,
        given: Mapping[str, Any],
        graph: JoinGraph,
        asked: Mapping[str, Mapping[str, str]],
        rule: KeyRule,
        limits: Limits,
        texts: Collection[tuple[str, str]] = (),
    ) -> LinkedTables:
        """Other tables, linked like those of a training: with its keys, and the columns that its tree asks about.

        *asked* has the types that these columns had. Columns in *texts* stay text where types are guessed.
        """
        _check_by_name(given)
        if missing := [name for name in graph.tables if name not in given]:
            raise _lacking(missing[0], given)
        tables = read_tables({name: given[name] for name in graph.tables}, graph.equalities(), limits, texts)
        for name, table in tables.items():
            _check_columns(name, table, sorted(graph.join_columns(name)), "by which it is joined")
            _check_asked(name, table, asked.get(name, {}))
        return cls.of(tables, graph, rule)

    def keeping(self, table: str, rows: npt.NDArray[np.bool_]) -> LinkedTables:
        """The same with these rows of one table only."""
        keys = [
            (left[rows] if edge.left == table else left, right[rows] if edge.right == table else right, count)
            for edge, (left, right, count) in zip(self.graph.edges, self.keys, strict=True)
        ]
        tables = {name: one.filter(pa.array(rows)) if name == table else one for name, one in self.tables.items()}
        known = {
            (name, column): replace(one, codes=one.codes[rows]) if name == table else one
            for (name, column), one in self._ranked.items()
        }
        return LinkedTables(tables, self.graph, keys, self.rule, known)

    def alone(self, table: str) -> LinkedTables:
        """One of the tables, joined to nothing."""
        return LinkedTables({table: self.tables[table]}, JoinGraph((table,), ()), (), self.rule, self._ranked)

    def attributes(self, table: str, columns: Sequence[str], limits: Limits) -> tuple[Attribute, ...]:
        """These columns of a table as attributes. Each is ranked once, also for what `keeping` gives later."""
        for column in columns:
            if (table, column) not in self._ranked:
                with of_table(table):
                    self._ranked[table, column] = attributes(self.tables[table], [column])[0]
                limits.check_time(f"Ranking the values of {table}.{column}", "leave out columns.")
        return tuple(self._ranked[table, column] for column in columns)

    def mostly_unique(self) -> list[tuple[str, int, int]]:
        """Ranked columns of text with a new value in most rows: "table.column", different values, rows."""
        return [
            (f"{table}.{column}", len(one.values), len(one.codes))
            for (table, column), one in self._ranked.items()
            if one.kind == "category" and len(one.values) > _MANY and 2 * len(one.values) > len(one.codes)
        ]

    def told_by(self, table: str, column: str) -> set[tuple[str, str]]:
        """Columns of other tables with the same name and, row by row, the same values: the table under another name."""
        mine = self.tables[table].column(column)
        return {
            (name, column)
            for name, other in self.tables.items()
            if name != table and column in other.column_names and mine.equals(other.column(column))
        }

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """The rows that match on each edge."""
        found = []
        for edge, (left, right, count) in zip(self.graph.edges, self.keys, strict=True):
            matched = int(np.count_nonzero(left >= 0)), int(np.count_nonzero(right >= 0))
            found.append(Match(edge.left, edge.right, str(edge), len(left), matched[0], len(right), matched[1], count))
        return tuple(found)

    def check_matches(self) -> None:
        """Raise if two neighbouring tables have no key in common."""
        for edge, match in zip(self.graph.edges, self.matches, strict=True):
            if match.keys == 0:
                left = self._first_keys(edge.left, [names[0] for names in edge.left_columns])
                right = self._first_keys(edge.right, [names[0] for names in edge.right_columns])
                better = better_rule(self.tables[edge.left], self.tables[edge.right], edge, self.rule)
                raise InvalidArgument(
                    f"No row of {match.left} ({match.left_rows:,} rows) matches a row of {match.right} "
                    f"({match.right_rows:,} rows) on {match.on}: their first keys are {left} and {right}.",
                    better.told(edge) if better else "Check that both columns hold the same keys, written alike.",
                )

    def key_notes(self) -> tuple[str, ...]:
        """Where few rows match, and many more would if keys were written in some way: which."""
        found = []
        for edge, match in zip(self.graph.edges, self.matches, strict=True):
            if match.left_matched < FEW * match.left_rows or match.right_matched < FEW * match.right_rows:
                better = better_rule(self.tables[edge.left], self.tables[edge.right], edge, self.rule)
                found += [f"{match.on}: {better.told(edge)}"] if better else []
        return tuple(found)

    def _first_keys(self, table: str, columns: Sequence[str]) -> str:
        shown = [_legible(column.slice(0, 3)) for column in self.tables[table].select(columns).columns]
        return ", ".join(map("/".join, zip(*shown, strict=True))) or "none"

    def sites(
        self, attributes: Mapping[str, Sequence[Attribute]], classes: int, wide: bool, limits: Limits
    ) -> dict[str, Site]:
        """A site for each table, with these attributes."""
        held: dict[str, dict[int, tuple[Codes, int]]] = {name: {} for name in self.tables}
        for number, (edge, (left, right, count)) in enumerate(zip(self.graph.edges, self.keys, strict=True)):
            held[edge.left][number] = left, count
            held[edge.right][number] = right, count
        return {
            name: Site(name, table.num_rows, attributes[name], held[name], classes, wide, limits)
            for name, table in self.tables.items()
        }

    def described(self) -> str:
        """The matches of all edges, a line each."""
        return "\n".join(map(str, self.matches))


def _legible(column: Any) -> list[str]:
    """Values to show. Python cannot hold all times that Arrow can, so these come as Arrow writes them."""
    if pa.types.is_temporal(column.type):
        return list(map(str, column.cast(pa.string()).to_pylist()))
    return list(map(repr, column.to_pylist()))


def _check_by_name(given: Any) -> None:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"{said('tables')} is a {type(given).__name__}, not tables by name.", 'For example: {"T1": frame}.'
        )
    if wrong := [name for name in given if not isinstance(name, str)]:
        raise InvalidArgument(f"{wrong[0]!r} is not the name of a table.", "Names are text.")


def read_tables(
    given: Mapping[str, Any],
    joins: Sequence[tuple[str, str] | str],
    limits: Limits,
    texts: Collection[tuple[str, str]] = (),
    about: Callable[[str], AbstractContextManager[None]] = lambda name: nullcontext(),
) -> dict[str, pa.Table]:
    """All tables of a study, by name; each is read within what *about* gives for its name.

    Where types are guessed, keys stay text, and so do *texts* (table, column).
    """
    _check_by_name(given)
    sides = named_sides(joins, given)
    tables = {}
    for name, table in given.items():
        keys = [side.removeprefix(f"{name}.") for side in sides if side.startswith(f"{name}.")]
        keys += [column for of, column in texts if of == name]
        with about(name):
            tables[name] = read_table(name, table, keys=keys, limits=limits)
    return tables


def read_records(
    given: Mapping[str, Any],
    asked: Mapping[str, Mapping[str, str]],
    limits: Limits,
    texts: Collection[tuple[str, str]] = (),
) -> dict[str, pa.Table]:
    """Joined records, whose parts have the same position in all tables; *asked* are the columns that are needed."""
    _check_by_name(given)
    if missing := [name for name in asked if name not in given]:
        raise _lacking(missing[0], given)
    tables = read_tables(given, (), limits, texts)
    lengths = {name: table.num_rows for name, table in tables.items()}
    if len(set(lengths.values())) != 1:
        raise InvalidArgument(
            f"The tables have different numbers of rows: {lengths}.",
            "Give a row of each for every joined record, in the same order.",
        )
    for name, columns in asked.items():
        _check_asked(name, tables[name], columns)
    return tables


def _lacking(table: str, given: Mapping[str, Any]) -> InvalidArgument:
    return InvalidArgument(
        f"The model needs the table {table!r}; given: {', '.join(map(repr, given)) or 'none'}.",
        "Give each table under the name that it had in training.",
    )


def _check_asked(name: str, table: pa.Table, types: Mapping[str, str]) -> None:
    """Raise if a column is missing, or holds text and was a number in training."""
    _check_columns(name, table, list(types), "which the tree asks about")
    for column, of in types.items():
        values = table.column(column)
        if of.startswith(_NUMBERS) and is_text(values.type):
            is_number = pc.fill_null(pc.match_substring_regex(values.cast(pa.large_string()), _NUMBER), True)
            place = pc.index(is_number, False).as_py()
            if place >= 0:
                raise InvalidArgument(
                    f"The column {name}.{column} is of type {values.type}, and was of type {of} in training: its row "
                    f"{place + 1:,} has {values[place].as_py()!r}, which is no number.",
                    "Correct the value, or leave it out if it is missing.",
                )


def _check_columns(name: str, table: pa.Table, columns: Sequence[str], why: str) -> None:
    for column in columns:
        if column not in table.column_names:
            raise InvalidArgument(
                f"Table {name!r} lacks the column {column!r}, {why}. "
                f"Available: {', '.join(map(repr, table.column_names))}.",
                near_misses(column, table.column_names) or "Give it under the name that it had in training.",
            )


@contextmanager
def of_table(table: str) -> Iterator[None]:
    """Errors about columns name the table, also where they say which columns to ignore."""

    def placed(name: str, *value: Any) -> str:
        if name == "ignore" and value:
            return said(name, [f"{table}.{column}" for column in value[0]])
        return said(name, *value)

    try:
        yield
    except VeilsetError as error:
        raise type(error)(*error.spelled(placed)).within(f"Table {table!r}: ") from None


def with_counts(run: Callable[[bool], _T]) -> _T:
    """What *run* gives for counts of 64 bits or, if the join has more rows, of 128."""
    try:
        return run(False)
    except _native.joins.TooManyRows:
        pass
    try:
        return run(True)
    except _native.joins.TooManyRows:
        raise too_many_rows() from None


def too_many_rows() -> InvalidArgument:
    """The error for a join that not even counts of 128 bits are enough for."""
    return InvalidArgument(
        "The join, or that of some of the tables, has more than 3.4·10^38 rows, which is more than can be counted.",
        "Leave out a table, or join on more columns.",
    )
