"""Transactions into buckets (IV.B, Figure 2): in which order they come, and what is done where some fit nowhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.anatomy.columns import Columns
from veilset.anonymize.anatomy.permuting import secret
from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.transactions import Transactions

_ONE_IN = 1000  # transactions may be withheld before columns are merged instead
_FEW, _PATIENCE = 32, 200  # transactions, or one in so many, may need joined buckets before columns are merged instead
_RULES = ("value", "free", "sensitive")  # as native/anatomy/limits.hpp numbers them
_ADVICE = "take fewer transactions or columns."


@dataclass(frozen=True, eq=False)
class Filled:
    """Buckets: the transactions in them, and the bucket of each, numbered without gaps and in no order."""

    members: npt.NDArray[np.int64]
    bucket_of: npt.NDArray[np.int64]
    left_over: int
    joined: int

    def alone(self) -> Filled:
        """The same if there were no other transactions."""
        return replace(self, members=np.arange(len(self.members)))

    @property
    def crowding(self) -> float:
        """How many transactions are in the bucket of a transaction, on average; infinite if there are none."""
        sizes = np.bincount(self.bucket_of)
        return float((sizes**2).sum() / len(self.members)) if len(self.members) else np.inf


def fill_all(
    data: Transactions,
    made: Columns,
    *,
    promise: LDiverseAnatomy,
    open_buckets: int,
    size: int,
    seed: int,
    limits: Limits,
) -> tuple[Columns, Filled]:
    """Buckets that take all transactions, or nearly; where they do not, columns are merged, then buckets are larger."""
    best: Filled | None = None
    while True:
        limits.require(8 * len(data) * (8 + len(made.items)), "Filling buckets", _ADVICE)
        filled = fill_buckets(data, promise, made, open_buckets=open_buckets, size=size, seed=seed, limits=limits)
        is_enough = (len(data) - len(filled.members)) * _ONE_IN <= len(data)
        if not is_enough and made.can_be_fewer:
            made = made.with_fewer(data, promise, limits)
            continue
        if best is None or len(filled.members) > len(best.members):
            best = filled
        if is_enough or size == len(data):
            break
        size = min(len(data), 4 * max(size, ceil(promise.l)))  # larger buckets take rows that smaller ones cannot
    if len(best.members):
        return made, best
    raise Infeasible(
        f"No bucket of {len(made.items)} columns is {promise.l}-diverse.",
        "Ask for a smaller l, other columns or fewer sensitive items.",
    )


def fill_buckets(
    data: Transactions,
    promise: LDiverseAnatomy,
    made: Columns,
    *,
    open_buckets: int,
    size: int,
    seed: int,
    limits: Limits,
) -> Filled:
    """The buckets of the transactions for which there is one (Figure 2).

    Transactions come in a secret order. Where that crowds them into few buckets, those with the least and those with
    the most come in turns: the latter fit to the former, and would be used up by others.
    """
    # Columns with common values first: where two transactions are alike is then seen soon.
    common_first = np.argsort([-int(np.bincount(column).max()) for column in made.values.T], kind="stable")
    values = np.ascontiguousarray(made.values[:, common_first])
    rules = [_RULES.index(promise.rule(sensitive=made.counted[number].sensitive)) for number in common_first]
    limited = _limited(data, promise, made, common_first)

    def filled(order: npt.NDArray[np.int64]) -> Filled:
        with limits.guard("Filling buckets", _ADVICE):
            bucket_of, left_over, joined = _native.anatomy.buckets(
                values.ravel(),
                values.max(axis=0).astype(np.int64),
                np.array(rules, dtype=np.uint8),
                order,
                limited,
                numerator=promise.l.numerator,
                denominator=promise.l.denominator,
                least_size=size,
                open_buckets=min(open_buckets, len(data)),
                patience=max(_FEW, len(data) // _PATIENCE) if made.can_be_fewer else len(data),
                **limits.for_kernel(lambda _: "Filling buckets"),
            )
        members = np.flatnonzero(bucket_of >= 0)
        return Filled(members, bucket_of[members], left_over, joined)

    everything = np.array([0, len(data)], dtype=np.int64)
    order = _native.anatomy.shuffled_in_buckets(everything, secret(f"{seed}", "order", len(data)))
    first = filled(order)
    if open_buckets == 1 or first.crowding <= 2 * max(size, float(promise.l)):
        return first
    fullest_last, half = order[np.argsort((values[order] > 0).sum(axis=1), kind="stable")], (len(order) + 1) // 2
    in_turns = np.empty_like(order)
    in_turns[::2], in_turns[1::2] = fullest_last[:half], fullest_last[half:][::-1]
    return min(first, filled(in_turns), key=lambda one: (-len(one.members) * _ONE_IN // len(data), one.crowding))


def _limited(
    data: Transactions, promise: LDiverseAnatomy, made: Columns, order: npt.NDArray[np.int64]
) -> _native.anatomy.Limited:
    """The single items that are limited, and in which of the columns, *order* being theirs, each of them is."""
    nothing = np.zeros(0, dtype=np.int32)
    if not promise.items:
        return _native.anatomy.Limited(offsets=nothing.astype(np.int64), items=nothing, column_of=nothing)
    number = np.full(len(data.names), -1, dtype=np.int32)
    column_of: list[int] = []
    for place, column in enumerate(order.tolist()):
        part = made.counted[column]
        if part.sensitive:
            continue
        for code in part.codes:
            if data.supports[code] * promise.l <= len(data) - part.empty:
                number[code] = len(column_of)
                column_of.append(place)
    there = number[data.items] >= 0
    offsets = np.concatenate([[0], np.cumsum(there)])[data.offsets].astype(np.int64)
    return _native.anatomy.Limited(
        offsets=offsets, items=number[data.items[there]], column_of=np.array(column_of, dtype=np.int32)
    )
