"""Columns that can be l-diverse at all, and what is done about those that cannot.

Whatever the buckets, a value of a column must belong to no more than a share 1/l of all transactions. If each column is
l-diverse with all transactions in one bucket (`probabilities`), a bucket that takes every left-over transaction exists.
So while a column fails that test, the worst one becomes one with another public column. Which two that are does not
depend on l, only when to stop: that is why in the end the largest l that would do is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

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

_MOST_EXACT = 64  # columns: with more, at most as many have nothing in all others as in the fullest
_MOST_HALVED = 62  # columns, each of which is a bit
_FEW_COLUMNS = 12  # of which all pairs are tried, if need be
_PARTNERS = 32  # that are tried for a column: with hundreds of columns, all would take minutes


@dataclass(frozen=True, eq=False)
class Column:
    """A column with the numbers of its values."""

    codes: tuple[int, ...]
    """Its items, ascending; all sensitive, or all public."""
    values: npt.NDArray[np.int32]
    """The number of each transaction's value: 0 for none of the items, else 1, 2, … by first appearance."""
    sensitive: bool
    empty: int
    """How many transactions have none of the items."""
    largest: int
    """How many have the commonest other value."""
    commonest: int
    """The number of that value, the lowest if there are several."""

    @property
    def place(self) -> tuple[bool, int]:
        """By which columns are ordered: public ones first, then by their first items."""
        return self.sensitive, self.codes[0]

    def share(self, promise: LDiverseAnatomy) -> Fraction:
        """That of the commonest value, or of all transactions with a sensitive item: no buckets have a lower one."""
        rows = len(self.values)
        match promise.rule(sensitive=self.sensitive):
            case "sensitive":
                return Fraction(rows - self.empty, rows)
            case "free":
                return Fraction(self.largest, rows - self.empty)
            case _:
                return Fraction(max(self.empty, self.largest), rows)


def probabilities(columns: Sequence[Column], promise: LDiverseAnatomy) -> list[Fraction]:
    """For each column the largest probability of a value in one bucket of all transactions, or a little more.

    Where every transaction has something in some public column, it is the share. Elsewhere an attacker who knows that
    somebody has nothing in the other columns knows that he has something here. And somebody who has something in all
    others has nothing here with a probability of at most e / (n - E[T]), where e of the n transactions have nothing
    here, and T of them nothing in all others (see docs/anatomy.md). Transactions with sensitive items are in buckets
    for which that does not matter.
    """
    public = [column for column in columns if not column.sensitive]
    shares = [column.share(promise) for column in columns]
    if len(public) < 2 or min(column.empty for column in public) == 0 or promise.empty == "free":
        return shares
    rows = len(public[0].values)
    empty = [min(column.empty, rows - 1) for column in public]
    # E[T] is the product of all others, over so many transactions; the first is a number, the others are shares.
    every, below = (prod(empty), (rows - 1) ** (len(public) - 2)) if len(public) <= _MOST_EXACT else (0, 1)
    worst = []
    for column, share in zip(columns, shares, strict=True):
        if column.sensitive:
            worst.append(share)
            continue
        together = every // min(column.empty, rows - 1) if every else min(empty)
        left = rows * below - together
        nothing = Fraction(column.empty * below, left) if left > column.empty * below else Fraction(1)
        worst.append(max(share, nothing, Fraction(column.largest, rows - column.empty)))
    return worst


def smaller_task(columns: int) -> str:
    """What helps where so many columns take too long, or too much memory: fewer than two are none."""
    return "ask for fewer columns." if columns > 2 else "take fewer transactions."


def number_values(data: Transactions, columns: Sequence[Sequence[int]], limits: Limits) -> list[Column]:
    """The columns of these codes, in order; all sensitive items are one column, for they are protected together."""
    sensitive = [code for codes in columns for code in codes if data.is_sensitive[code]]
    public = [codes for codes in columns if not data.is_sensitive[codes[0]]]
    parts = [*sorted(tuple(sorted(codes)) for codes in public), *([tuple(sorted(sensitive))] if sensitive else [])]
    column_of = np.empty(len(data.names), dtype=np.int32)
    for number, codes in enumerate(parts):
        column_of[list(codes)] = number
    values, distinct = column_values(data, column_of, len(parts), limits=limits)
    return [
        _column(codes, numbers, _native.core.count_codes(numbers, others + 1), bool(data.is_sensitive[codes[0]]))
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
        found = probabilities(left, promise)
        highest = max(found)
        worst = left[found.index(highest)]  # the first, if there are several
        if len(left) > 1:
            most = max(most, 1 / highest)
        if len(left) > 1 and highest * promise.l <= 1:
            return left, tuple(merges)
        limits.step("Merging columns", len(merges), len(columns))
        if len(left) < 3 or worst.sensitive:
            break
        left, merge = _best_merge(data, left, worst, promise, limits)
        merges.append(merge)
    if not any(column.sensitive for column in columns) and 2 < len(columns) <= _MOST_HALVED:
        left, merges = _halves(data, columns, promise, limits)
        found = probabilities(left, promise)
        if max(found) * promise.l <= 1:
            return left, tuple(merges)
        most = max(most, 1 / max(found))
    raise _infeasible(data, worst, highest, promise, len(columns), most)


def _best_merge(
    data: Transactions, columns: Sequence[Column], worst: Column, promise: LDiverseAnatomy, limits: Limits
) -> tuple[list[Column], ColumnMerge]:
    """The worst column has become one with another; or, if that does not help and they do, two others have."""

    def highest(left: Sequence[Column]) -> Fraction:
        return max(probabilities(left, promise))

    best = merge_once(data, columns, worst, promise, limits)
    if highest(best[0]) >= highest(columns) and len(columns) <= _FEW_COLUMNS:
        others = [column for column in columns if not column.sensitive and column is not worst]
        merged = [merge_once(data, columns, column, promise, limits) for column in others]
        other = min(merged, key=lambda found: highest(found[0]))
        best = other if highest(other[0]) < highest(columns) else best
    return best


def _halves(
    data: Transactions, columns: Sequence[Column], promise: LDiverseAnatomy, limits: Limits
) -> tuple[list[Column], list[ColumnMerge]]:
    """The two columns that leave the fewest transactions with nothing in one of them, and how they came about.

    The last resort: columns that were merged one after the other may leave more. From that half of the columns that is
    the first, columns change sides one by one as long as that helps.
    """
    patterns = sum(((column.values > 0).astype(np.int64) << place for place, column in enumerate(columns)))
    patterns, times = np.unique(patterns, return_counts=True)
    everything = (1 << len(columns)) - 1

    def probability(half: int) -> float:
        one, other = (int(times[patterns & side == 0].sum()) for side in (half, everything & ~half))
        return max(one / max(1, len(data) - other), other / max(1, len(data) - one))

    half = (1 << len(columns) // 2) - 1
    while True:
        moved = [half ^ (1 << place) for place in range(len(columns))]
        best = min((side for side in moved if 0 < side < everything), key=probability)
        if probability(best) >= probability(half):
            break
        half = best
    sides = [[column for place, column in enumerate(columns) if half >> place & 1 == side] for side in (1, 0)]
    merges, made = [], []
    for side in sides:
        both = side[0]
        for other in side[1:]:
            one, both = both, _merged(both, other, limits)
            merges.append(ColumnMerge(_names(data, one), _names(data, other), one.share(promise), both.share(promise)))
        made.append(both)
    return sorted(made, key=lambda column: column.place), merges


def emptiest(columns: Sequence[Column]) -> Column:
    """The public column that most transactions have nothing in; the first, if there are several."""
    return max((column for column in columns if not column.sensitive), key=lambda column: column.empty)


def merge_once(
    data: Transactions, columns: Sequence[Column], one: Column, promise: LDiverseAnatomy, limits: Limits
) -> tuple[list[Column], ColumnMerge]:
    """*one* of several public columns has become one with the best partner for it.

    The partner leaves the lowest probability of all columns; of several, the lowest of what the two become; of several,
    the first. So two columns that fail help each other where they can, and others stay as they are. Where very many
    columns are wished for, the worst 32 others are tried.
    """
    best: tuple[Fraction, Fraction, int, Column] | None = None
    rest = sorted((c for c in columns if c is not one and not c.sensitive), key=lambda column: -column.share(promise))
    for partner in rest[:_PARTNERS]:
        if best is not None and rest[partner is rest[0]].share(promise) > best[0]:
            break  # a column that stays as it is is worse, and so it is with all that follow
        both = _merged(one, partner, limits)
        found = probabilities([both, *(c for c in columns if c not in (one, partner))], promise)
        candidate = (max(found), found[0], columns.index(partner), both)
        best = candidate if best is None else min(best, candidate, key=lambda way: way[:3])
    assert best is not None  # noqa: S101 - there are several
    partner, both = columns[best[2]], best[3]
    left = sorted([*(c for c in columns if c not in (one, partner)), both], key=lambda column: column.place)
    before = probabilities(columns, promise)[columns.index(one)]
    return left, ColumnMerge(_names(data, one), _names(data, partner), before, best[1])


def _merged(one: Column, other: Column, limits: Limits) -> Column:
    with limits.guard("Merging columns", "ask for fewer columns."):
        values, counts = _native.anatomy.merged_values(
            one.values, other.values, **limits.for_kernel(lambda _: "Merging columns")
        )
    return _column(tuple(sorted(one.codes + other.codes)), values, counts, one.sensitive)


def _column(
    codes: tuple[int, ...], values: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], sensitive: bool
) -> Column:
    commonest = int(np.argmax(counts[1:])) + 1
    return Column(codes, values, sensitive, int(counts[0]), int(counts[commonest]), commonest)


def _names(data: Transactions, column: Column) -> tuple[str, ...]:
    return tuple(data.names[code] for code in column.codes)


def _infeasible(
    data: Transactions, column: Column, highest: Fraction, promise: LDiverseAnatomy, columns: int, most: Fraction
) -> Infeasible:
    lower = most.numerator * 1000 // most.denominator / 1000  # rounded down, so that it will do
    smaller = f"Ask for an l of at most {lower:.10g}, or for" if lower > 1 else "No l above 1 would do: ask for"
    named = _few(_names(data, column))
    other = f"{smaller} {'fewer or ' * (columns > 2)}other columns"
    if column.sensitive:
        return Infeasible(
            f"{percent(highest)} of the transactions have one of the sensitive items {named}, more than "
            f"{1 / promise.l}: no buckets can hide who has one.",
            f"{smaller} fewer sensitive items.",
        )
    if column.empty < column.largest:
        row = data[int(np.argmax(column.values == column.commonest))]
        value = _few([item for item in row if item in set(_names(data, column))])
        return Infeasible(
            f"The {columns:,} columns cannot be made {promise.l}-diverse: in the column {named}, an attacker can be "
            f"{percent(highest)} certain of {value}.",
            f"{other}.",
        )
    return Infeasible(
        f"The {columns:,} columns cannot be made {promise.l}-diverse: {percent(Fraction(column.empty, len(data)))} of "
        f"the transactions have none of the items {named}. As no transaction is empty, an attacker who knows the "
        f"other columns can be {percent(highest)} certain of that.",
        f"{other}, or say {said('empty', 'free')}.",
    )


def _few(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
