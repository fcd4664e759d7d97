"""Which ways of writing keys would let more rows of two tables match.

They are tried on distinct keys, and on tables with many of them not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.errors import said
from veilset.joins.graph import Edge
from veilset.joins.keys import KEY_STEPS, KeyRule, KeyStep, key_column, key_kind, shared_keys

FEW = 0.9
"""The share of rows with a partner below which another way to write keys is worth a try."""

_WORTH = 0.05  # of the rows of a table
_MOST_KEYS = 50_000

_Side = tuple[pa.Table, npt.NDArray[np.int64], tuple[tuple[str, ...], ...], int]
"""A row for each distinct key, how many rows have it, the columns of the key, and how many rows there are."""


@dataclass(frozen=True)
class Better:
    """Steps for keys, and the shares of rows of two tables that have a partner with them."""

    steps: tuple[KeyStep, ...]
    left: float
    right: float

    def told(self, edge: Edge) -> str:
        """As a sentence."""
        shares = f"{_percent(self.left)} of the rows of {edge.left} and {_percent(self.right)} of {edge.right}"
        return f"{said('keys', list(self.steps))} would match {shares}."


def better_rule(left: pa.Table, right: pa.Table, edge: Edge, rule: KeyRule) -> Better | None:
    """Steps to add to a rule, if they let many more rows match.

    >>> edge = Edge("A", "B", (("id",),), (("id",),))
    >>> better_rule(pa.table({"id": ["007", "x"]}), pa.table({"id": ["7", "9"]}), edge, KeyRule())
    Better(steps=('zeros',), left=0.5, right=0.5)
    """
    if not any(_is_text(table, parts) for table, parts in ((left, edge.left_columns), (right, edge.right_columns))):
        return None
    sides = [_distinct(left, edge.left_columns, rule), _distinct(right, edge.right_columns, rule)]
    if any(len(side[0]) > _MOST_KEYS for side in sides):
        return None
    now = best = _matched(sides, rule)
    while further := [KeyRule((*best.steps, step)) for step in KEY_STEPS if step not in best.steps]:
        tried = max((_matched(sides, one) for one in further), key=lambda one: one.left + one.right)
        if tried.left + tried.right <= best.left + best.right:
            break
        best = tried
    worth = max(best.left - now.left, best.right - now.right) >= _WORTH
    return Better(KeyRule.of(best.steps).steps, best.left, best.right) if worth else None


def _is_text(table: pa.Table, parts: tuple[tuple[str, ...], ...]) -> bool:
    return any(key_kind(name, table.schema.field(name).type) == "text" for names in parts for name in names)


def _distinct(table: pa.Table, parts: tuple[tuple[str, ...], ...], rule: KeyRule) -> _Side:
    keys = key_column(table, parts, rule).parts
    rows = np.flatnonzero(np.logical_and.reduce([part.codes >= 0 for part in keys]))
    numbers = np.zeros(len(rows), np.int64)
    for part in keys:
        _, numbers = np.unique(numbers * len(part.values) + part.codes[rows], return_inverse=True)
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    names = list(dict.fromkeys(name for one in parts for name in one))
    return table.select(names).take(pa.array(rows[first])), counts, parts, table.num_rows


def _matched(sides: list[_Side], rule: KeyRule) -> Better:
    keys = [key_column(table, parts, rule) for table, _, parts, _ in sides]
    numbers: tuple[Any, Any] = shared_keys(*keys)[:2]
    left, right = (
        float(counts[ids >= 0].sum() / max(1, rows)) for ids, (_, counts, _, rows) in zip(numbers, sides, strict=True)
    )
    return Better(rule.steps, left, right)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
