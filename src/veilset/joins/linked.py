"""Tables and the keys that link them: what training and prediction start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.errors import InvalidArgument
from veilset.joins.columns import Attribute
from veilset.joins.graph import JoinGraph
from veilset.joins.keys import Codes, KeyRule, check_types, key_column, shared_keys
from veilset.joins.site import Site
from veilset.limits import Limits


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

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], graph: JoinGraph, rule: KeyRule) -> LinkedTables:
        """Link tables by the equalities of a graph. Tables without a common key are refused."""
        keys = []
        for edge in graph.edges:
            left, right = tables[edge.left], tables[edge.right]
            check_types(edge, left.schema, right.schema, rule)
            sides = key_column(left, edge.left_columns, rule), key_column(right, edge.right_columns, rule)
            keys.append(shared_keys(*sides))
        return cls(tables, graph, keys)

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """The rows that match on each edge."""
        found = []
        for edge, (left, right, count) in zip(self.graph.edges, self.keys, strict=True):
            matched = int(np.count_nonzero(left >= 0)), int(np.count_nonzero(right >= 0))
            found.append(
                Match(edge.left, edge.right, str(edge), len(left), matched[0], len(right), matched[1], count)
            )
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


def with_counts(run: Any) -> Any:
    """What *run* gives for counts of 64 bits or, if the join has more rows, of 128."""
    from veilset import _native  # noqa: PLC0415

    try:
        return run(wide=False)
    except _native.joins.TooManyRows:
        pass
    try:
        return run(wide=True)
    except _native.joins.TooManyRows:
        raise InvalidArgument(
            "The join has more than 10^38 rows, which is more than can be counted.",
            "Leave out a table, or join on more columns.",
        ) from None
