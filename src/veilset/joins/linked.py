"""Tables and the keys that link them: what training and prediction start from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import InvalidArgument, said, unknown
from veilset.io.columns import is_text
from veilset.joins.columns import Attribute, Codes, attributes, column_of, in_microseconds, kind_of, ranked
from veilset.joins.graph import JoinGraph, equalities_of, named_sides
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
        cls, given: Mapping[str, Any], joins: Sequence[tuple[str, str] | str], keys: str | Sequence[str], limits: Limits
    ) -> LinkedTables:
        """Read tables in any form, and link them by equalities; *keys* says how keys are written."""
        joins = equalities_of(joins)
        tables = read_tables(given, joins, limits)
        graph = JoinGraph.of({name: table.column_names for name, table in tables.items()}, joins)
        return cls.of(tables, graph, KeyRule.of(keys))

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
            raise unknown("table", missing[0], given, f"The tree was trained on {', '.join(graph.tables)}.")
        tables = read_tables({name: given[name] for name in graph.tables}, graph.equalities(), limits, texts)
        for name, table in tables.items():
            _check_columns(name, table, sorted(graph.join_columns(name)))
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
                raise InvalidArgument(
                    f"No row of {match.left} ({match.left_rows:,} rows) matches a row of {match.right} "
                    f"({match.right_rows:,} rows) on {match.on}: their first keys are {left} and {right}.",
                    "Check that both columns hold the same keys, written alike.",
                )

    def _first_keys(self, table: str, columns: Sequence[str]) -> str:
        first = self.tables[table].select(columns).slice(0, 3).to_pylist()
        return ", ".join("/".join(repr(value) for value in row.values()) for row in first) or "none"

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
) -> dict[str, pa.Table]:
    """All tables of a study, by name. Where types are guessed, keys stay text, and so do *texts* (table, column)."""
    _check_by_name(given)
    sides = named_sides(joins)
    return {
        name: read_table(
            name,
            table,
            keys=[side.removeprefix(f"{name}.") for side in sides if side.startswith(f"{name}.")]
            + [column for of, column in texts if of == name],
            limits=limits,
        )
        for name, table in given.items()
    }


def read_records(
    given: Mapping[str, Any],
    asked: Mapping[str, Mapping[str, str]],
    limits: Limits,
    texts: Collection[tuple[str, str]] = (),
) -> dict[str, pa.Table]:
    """Joined records, whose parts have the same position in all tables; *asked* are the columns that are needed."""
    _check_by_name(given)
    if missing := [name for name in asked if name not in given]:
        raise unknown("table", missing[0], given, f"The tree asks about {', '.join(sorted(asked))}.")
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


def _check_asked(name: str, table: pa.Table, types: Mapping[str, str]) -> None:
    """Raise if a column is missing, or holds text and was a number in training."""
    _check_columns(name, table, list(types))
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


def _check_columns(name: str, table: pa.Table, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in table.column_names:
            raise unknown("column", column, table.column_names, "It was there in training.").within(f"Table {name!r}: ")


def class_codes(table: pa.Table, column: str) -> tuple[Codes, list[Any]]:
    """The number of each row's class (-1: it has none), and the classes in order.

    >>> codes, classes = class_codes(pa.table({"Class": ["no", None, "yes", "no"]}), "Class")
    >>> codes.tolist(), classes
    ([0, -1, 1, 0], ['no', 'yes'])
    """
    labels = column_of(table, column)
    if kind_of(labels.type) is None:
        raise InvalidArgument(
            f"The column {column!r} is of type {labels.type}, which cannot be a class.",
            "Convert it to text, numbers, booleans or dates.",
        )
    codes, values = ranked(labels)
    return codes, in_microseconds(column, values).to_pylist()


def class_numbers(table: pa.Table, column: str, classes: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The place of each row's class among *classes*; -1: it is none of them, -2: the row has no class.

    >>> class_numbers(pa.table({"Class": ["no", None, "yes", "perhaps"]}), "Class", ["no", "yes"]).tolist()
    [0, -2, 1, -1]
    """
    codes, values = class_codes(table, column)
    number = {value: place for place, value in enumerate(classes)}
    return np.array([*(number.get(value, -1) for value in values), -2], np.int64)[codes]


def with_counts(run: Callable[[bool], _T]) -> _T:
    """What *run* gives for counts of 64 bits or, if the join has more rows, of 128."""
    try:
        return run(False)
    except _native.joins.TooManyRows:
        pass
    try:
        return run(True)
    except _native.joins.TooManyRows:
        raise InvalidArgument(
            "The join, or that of some of the tables, has more than 3.4·10^38 rows, which is more than can be counted.",
            "Leave out a table, or join on more columns.",
        ) from None
