"""What suppression loses, in the form that `HittingSet` takes: a cost of each item, and of each group of items.

Every lost nugget N holds a suppressed item. Where nuggets are few, each is a group that costs 1. Where they are many,
each is shared out among its items: v costs Σ 1/|N| over the nuggets N ∋ v. What a set of items costs is then at most
the number of nuggets it loses, so the least cost is a bound from below and no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.rows import Groups, Sets
from veilset.anonymize.coherence.task import Task
from veilset.errors import InvalidArgument, said, unknown
from veilset.exact import Support
from veilset.mining import Itemsets, count_frequent, frequent
from veilset.mining.frequent_itemsets import check_nugget_size, support_of_nuggets
from veilset.release import OCCURRENCES

_ONE_BY_ONE = 100_000  # nuggets
_NO_GROUPS = Groups(Sets.of([]), np.zeros(0, dtype=np.int64))
_LARGEST_COST = 2**50  # of all items together


@dataclass(frozen=True)
class Loss:
    """A loss in whole numbers: of what is counted, and of how much there is."""

    of: str
    total: int
    sure: int
    """What is lost in any case and has no cost: nuggets that hold a mole of one item."""
    cost: npt.NDArray[np.int64]
    """What each item costs besides, by its code."""
    groups: Groups = _NO_GROUPS
    """What several items cost together."""
    parts: Fraction = Fraction(1)
    """So much cost is one of loss."""
    count: Callable[[Collection[str]], int] | None = None
    """What is really lost, where cost is only a bound from below."""

    def cost_of(self, gone: npt.NDArray[np.int64]) -> int:
        """What suppressing these codes costs."""
        chosen = np.zeros(len(self.cost))
        chosen[gone] = 1
        return int(self.cost[chosen > 0].sum()) + int(self.groups.cost[self.groups.sets.sums(chosen) > 0].sum())

    def least(self, cost: int) -> int:
        """What a release of this cost loses at least; exactly that much, unless there is *count*."""
        return self.sure + math.ceil(cost / self.parts)

    def share(self, lost: int) -> float:
        """The part of the total."""
        return lost / self.total if self.total else 0.0


def loss_of(
    task: Task,
    utility: str,
    *,
    weighted: bool,
    nugget_support: Support | None,
    nugget_size: int | None,
) -> Loss:
    """The loss that a method was asked to keep low."""
    if utility == "items":
        for option, value in (("nugget_support", nugget_support), ("nugget_size", nugget_size)):
            if value is not None:
                raise InvalidArgument(
                    f"{said(option)} is {value!r}, but the loss is measured in items.",
                    f"Leave it out, or use {said('utility', 'nuggets')}.",
                )
        return _of_items(task, weighted=weighted)
    if utility != "nuggets":
        raise unknown("utility", utility, ("items", "nuggets"))
    check_nugget_size(nugget_size)
    support = support_of_nuggets(nugget_support, task.promise.k, len(task.original))
    return _of_nuggets(task, support, nugget_size)


def _of_items(task: Task, *, weighted: bool) -> Loss:
    public = task.data.is_sensitive == 0
    unit = max(1, int(np.gcd.reduce(task.weight[public])))
    cost = np.where(public, task.weight // unit, 0)
    if weighted:
        return Loss("share of all weights", int(task.weight[public].sum()), 0, cost, parts=Fraction(1, unit))
    return Loss(OCCURRENCES, len(task.original.items), 0, cost, parts=Fraction(1, unit))


def _of_nuggets(task: Task, support: int, size: int | None) -> Loss:
    data, bounds = task.original, task.limits.bounds()

    def count(gone: Collection[str]) -> int:
        left = set(data.names).difference(gone)
        return total - count_frequent(data, support, max_size=size, items=left, **bounds).total

    total = count_frequent(data, support, max_size=size, **bounds).total
    sure = count(task.alone)
    left = set(data.names).difference(task.alone)
    if total - sure <= _ONE_BY_ONE:
        cost, groups = _one_by_one(task, frequent(data, support, max_size=size, items=left, **bounds))
        return Loss("share of all nuggets", total, sure, cost, groups)
    shares = _shared_out(task, support, total - sure, left)
    parts = Fraction(_LARGEST_COST, max(1, math.ceil(sum(shares.values()))))
    cost = np.zeros(len(task.data.names), dtype=np.int64)
    public = list(set(task.data.public).difference(task.alone))
    # Downwards: a bound from below stays one.
    cost[task.data.codes(public)] = [math.floor(shares[name] * parts) for name in public]
    return Loss(
        "share of all nuggets (its least is a bound by shares of nuggets)", total, sure, cost, _NO_GROUPS, parts, count
    )


def _one_by_one(task: Task, nuggets: Itemsets) -> tuple[npt.NDArray[np.int64], Groups]:
    """Nuggets with the same public items are lost together, those of one public item with that item."""
    public = set(task.data.public)
    code_of = {name: code for code, name in enumerate(task.data.names)}
    cost = np.zeros(len(code_of), dtype=np.int64)
    together: dict[tuple[int, ...], int] = {}
    for names, _ in nuggets:
        codes = tuple(code_of[name] for name in names if name in public)
        if len(codes) == 1:
            cost[codes[0]] += 1
        elif codes:
            together[codes] = together.get(codes, 0) + 1
    sets = Sets.of([np.array(codes, dtype=np.int32) for codes in together])
    return cost, Groups(sets, np.array(list(together.values()), dtype=np.int64))


def _shared_out(task: Task, support: int, total: int, left: Collection[str]) -> dict[str, Fraction]:
    """Σ 1/|N| over the nuggets N that hold an item, from their numbers size by size."""
    shares = dict.fromkeys(left, Fraction(0))
    before, size, found = dict.fromkeys(left, 0), 0, 0
    while found < total:
        size += 1
        counted = count_frequent(task.original, support, max_size=size, items=left, **task.limits.bounds())
        for name, number in counted.per_item.items():
            shares[name] += Fraction(number - before[name], size)
        before, found = counted.per_item, counted.total
    return shares
