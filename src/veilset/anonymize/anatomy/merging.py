"""Columns that can be l-diverse at all, and what is done about those that cannot.

Whatever the buckets, a column is l-diverse only if its commonest value belongs to no more than a share 1/l of all
transactions (where having none of its items is free: of those that have any). And if that holds for all columns, one
bucket of all transactions is l-diverse. So while a column fails, the worst one becomes one with another of its kind,
public or sensitive. Which two that are does not depend on l, only when to stop: that is why in the end the largest l
that would do is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import Infeasible, said
from veilset.exact import percent
from veilset.limits import Limits
from veilset.mining import column_values
from veilset.models import LDiverseAnatomy
from veilset.release import ColumnMerge
from veilset.transactions import Transactions

_PARTNERS = 32  # that are tried for a column: with hundreds of columns, all would take minutes


@dataclass(frozen=True, eq=False)
class Column:
    """A column with the numbers of its values."""

    codes: tuple[int, ...]
    """Its items, ascending; all sensitive, or all public."""
    values: npt.NDArray[np.int32]
    """The number of each transaction's value: 0 for none of the items, else 1, 2, … by first appearance."""
    sensitive: bool
    share: Fraction
    """That of the commonest value."""
    commonest: int
    """The number of that value, the lowest if there are several."""

    @property
    def place(self) -> tuple[bool, int]:
        """By which columns are ordered: public ones first, then by their first items."""
        return self.sensitive, self.codes[0]


def smaller_task(columns: int) -> str:
    """What helps where so many columns take too long, or too much memory: fewer than two are none."""
    return "ask for fewer columns." if columns > 2 else "take fewer transactions."


def number_values(
    data: Transactions, columns: Sequence[Sequence[int]], promise: LDiverseAnatomy, limits: Limits
) -> list[Column]:
    """The columns of these codes, in order; each column's items are all sensitive or all public."""
    parts = sorted((tuple(sorted(codes)) for codes in columns), key=lambda codes: (data.is_sensitive[codes[0]], codes))
    column_of = np.empty(len(data.names), dtype=np.int32)
    for number, codes in enumerate(parts):
        column_of[list(codes)] = number
    values, distinct = column_values(data, column_of, len(parts), limits=limits)
    return [
        _column(
            codes, numbers, _native.core.count_codes(numbers, others + 1), bool(data.is_sensitive[codes[0]]), promise
        )
        for codes, numbers, others in zip(parts, values, distinct.tolist(), strict=True)
    ]


def merge_until_feasible(
    data: Transactions, columns: Sequence[Column], promise: LDiverseAnatomy, limits: Limits
) -> tuple[list[Column], tuple[ColumnMerge, ...]]:
    """At least two columns, of which each can be l-diverse, and which of the given ones became one; or `Infeasible`."""
    left = list(columns)
    merges: list[ColumnMerge] = []
    most = Fraction(1)  # the largest l that the columns could have been stopped at
    while True:
        worst = max(left, key=lambda column: column.share)  # the first, if there are several
        if len(left) > 1:
            most = max(most, 1 / worst.share)
        if len(left) > 1 and worst.share * promise.l <= 1:
            return left, tuple(merges)
        limits.step("Merging columns", len(merges), len(columns))
        way = _best_partner(worst, left, promise, limits) if len(left) > 2 else None
        if way is None:
            raise _infeasible(data, worst, promise, len(columns), most)
        partner, both = way
        merges.append(ColumnMerge(_names(data, worst), _names(data, partner), worst.share, both.share))
        left = sorted([*(c for c in left if c not in (worst, partner)), both], key=lambda column: column.place)


def _best_partner(
    worst: Column, left: Sequence[Column], promise: LDiverseAnatomy, limits: Limits
) -> tuple[Column, Column] | None:
    """The column that *worst* becomes one with, and what comes of it; None: no other is of its kind.

    It leaves the lowest worst share of all columns; of several, the lowest share of what the two become; of several,
    the first. So two columns that fail help each other where they can, and others stay as they are. Where very many
    columns are wished for, the worst 32 others are tried.
    """
    best: tuple[Fraction, Fraction, int, Column] | None = None
    rest = sorted((column for column in left if column is not worst), key=lambda column: -column.share)
    tried = 0
    for partner in rest:
        others = rest[1].share if partner is rest[0] else rest[0].share  # the worst of those that stay as they are
        if best is not None and (others > best[0] or tried == _PARTNERS):
            break  # the same is true of all that follow
        if partner.sensitive == worst.sensitive:
            tried += 1
            both = _merged(worst, partner, promise, limits)
            way = (max(others, both.share), both.share, left.index(partner), both)
            best = way if best is None else min(best, way)
    return None if best is None else (left[best[2]], best[3])


def _merged(one: Column, other: Column, promise: LDiverseAnatomy, limits: Limits) -> Column:
    with limits.guard("Merging columns", "ask for fewer columns."):
        values, counts = _native.anatomy.merged_values(
            one.values, other.values, **limits.for_kernel(lambda _: "Merging columns")
        )
    return _column(tuple(sorted(one.codes + other.codes)), values, counts, one.sensitive, promise)


def _column(
    codes: tuple[int, ...],
    values: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    sensitive: bool,
    promise: LDiverseAnatomy,
) -> Column:
    free = promise.empty_is_free(sensitive=sensitive)
    commonest = int(np.argmax(counts[1:])) + 1 if free else int(np.argmax(counts))
    among = len(values) - int(counts[0]) if free else len(values)
    return Column(codes, values, sensitive, Fraction(int(counts[commonest]), among), commonest)


def _names(data: Transactions, column: Column) -> tuple[str, ...]:
    return tuple(data.names[code] for code in column.codes)


def _infeasible(
    data: Transactions, column: Column, promise: LDiverseAnatomy, columns: int, most: Fraction
) -> Infeasible:
    row = data[int(np.argmax(column.values == column.commonest))]
    names = set(_names(data, column))
    value = [item for item in row if item in names]
    free = promise.empty_is_free(sensitive=column.sensitive)
    who = "the transactions that have any of its items" if free else "all transactions"
    lower = most.numerator * 1000 // most.denominator / 1000  # rounded down, so that it will do
    smaller = f"Ask for an l of at most {lower:.10g}, or for" if lower > 1 else "No l above 1 would do: ask for"
    return Infeasible(
        f"The {columns:,} columns cannot be made {promise.l}-diverse. In the {'sensitive ' * column.sensitive}column "
        f"{_few(_names(data, column))} the commonest value, {_few(value) or 'none of its items'}, belongs to "
        f"{percent(column.share)} of {who}, which is more than 1/l.",
        f"{smaller} {'fewer or ' * (columns > 2)}other columns"
        + ("." if value else f", or say {said('empty', 'free')}."),
    )


def _few(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
