"""``border``: keeps as many frequent itemsets as it can (thesis §4.2 and §4.4; Xu, Fung, Wang, Fu, Pei, ICDM 2008).

Nuggets are the itemsets that k' transactions or more hold: what is lost by suppressing an item v is N(v), the nuggets
that hold it; what is won is M(v), the moles that hold it. Both are counted over **all** moles and nuggets. While there
is a mole, the item with the largest Score = |M(v)|/|N(v)| goes.

The paper counts with the borders of both collections (`borders.py` does, step by step). The same numbers come faster
from counting inside cohorts: what the suppression of v takes from |M(v')| and |N(v')| are the moles and nuggets in the
cohort of v that hold v', and over a whole run no itemset is counted there twice.

Observation 2 as the paper applies it also throws away harmless items with k ≤ Sup < k'; those return in the end, unless
``restore=False`` (``--as-published``): then this is the thesis' Border-Cohesion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol, TypeAlias

from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Items, NuggetSize, NuggetSupport, Restore
from veilset.errors import BudgetExceeded, said
from veilset.limits import Limits
from veilset.mining import Count, count_frequent, count_moles, giveaways
from veilset.mining.frequent_itemsets import check_nugget_size, support_of_nuggets
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


def border(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    nugget_support: NuggetSupport = None,
    nugget_size: NuggetSize = None,
    keep: Items = (),
    restore: Restore = True,
    limits: Limits,
) -> Release:
    """Suppress the item with the most moles for each nugget it holds, until there is no mole."""
    task = Task.of(data, promise, keep=keep, limits=limits)
    support = support_of_nuggets(nugget_support, promise.k, len(data))
    check_nugget_size(nugget_size)
    try:
        left = worth_keeping(task, support)
        moles, nuggets = mole_cohorts(task, left), nugget_cohorts(task, left, support, nugget_size)
        in_all, may_go = moles.total, task.data.in_order(set(left.public) - task.keep)
        gone = set(task.data.public).difference(left.public)
        for item in greedy(moles, nuggets, may_go):
            gone.add(item)
            limits.step("Suppressing items", in_all - moles.total, in_all)
    except BudgetExceeded as stop:  # the advice of the miners speaks of options that this method does not have
        raise stop.within(
            "",
            f"Raise the limit, or choose a larger {said('nugget_support')}, "
            f"or a smaller {said('nugget_size')} or {said('p')}.",
        ) from None
    suppressed = restore_coherence(task, gone) if restore else task.data.in_order(gone)
    options = task.options(nugget_support=nugget_support, nugget_size=nugget_size, restore=restore)
    return task.release("border", suppressed, options)


def worth_keeping(task: Task, support: int) -> Transactions:
    """Observation 2: the data without the size-1 moles and without the public items that are no nuggets, Sup < k'."""
    data = task.data
    rare = {
        item
        for item, held in zip(data.names, data.supports.tolist(), strict=True)
        if held < max(support, task.promise.k)
    }
    return data.without((rare.union(task.alone) - task.keep).intersection(data.public))


class Counted(Protocol):
    """A collection of itemsets of which is known how many there are and how many hold each item: here by cohorts, in
    the paper by borders."""

    total: int

    @property
    def per_item(self) -> Mapping[str, int]:
        """How many of the itemsets hold each item."""

    def suppress(self, item: str) -> None:
        """Remove the itemsets that hold this item (the losers)."""


def greedy(moles: Counted, nuggets: Counted, items: Iterable[str]) -> Iterator[str]:
    """Figure 12: of these items, which one is suppressed next, until no mole is left."""
    left = list(items)
    while moles.total:
        chosen = _best(moles.per_item, nuggets.per_item, left)
        left.remove(chosen)
        moles.suppress(chosen)
        nuggets.suppress(chosen)
        yield chosen


def _best(moles: Mapping[str, int], nuggets: Mapping[str, int], items: Collection[str]) -> str:
    """The first item with the largest |M(v)|/|N(v)|."""
    some = [item for item in items if moles[item]]
    best = some[0]
    for item in some[1:]:
        # Multiplied out, the comparison is exact, and a score without nuggets is above all others, as it should be.
        if moles[item] * nuggets[best] > moles[best] * nuggets[item]:
            best = item
    return best


_CountInside: TypeAlias = Callable[[Collection[str], Collection[str]], Count]
"""Counts the itemsets that contain the first items and are made of the second ones."""


class Cohorts:
    """`Counted` by counting inside the cohort of what is suppressed."""

    def __init__(self, count: _CountInside, items: Iterable[str]) -> None:
        self._count = count
        counted = count((), tuple(items))
        self.total, self.per_item = counted.total, dict(counted.per_item)

    def suppress(self, item: str) -> None:
        """Remove the itemsets that hold this item."""
        losers = self._count((item,), tuple(self.per_item))
        self.total -= losers.total
        del self.per_item[item]
        for other in self.per_item:
            self.per_item[other] -= losers.per_item[other]


def mole_cohorts(task: Task, data: Transactions) -> Cohorts:
    """The moles of *data*, which is what Observation 2 has left."""
    # Which itemsets give a sensitive item away does not change when items are suppressed (Observation 1).
    known = giveaways(data, **task.question) if task.promise.share < 1 else None

    def count(containing: Collection[str], items: Collection[str]) -> Count:
        return count_moles(data, **task.question, containing=containing, items=items, known=known)

    return Cohorts(count, data.public)


def nugget_cohorts(task: Task, data: Transactions, support: int, size: int | None) -> Cohorts:
    """The nuggets of *data*: itemsets, sensitive items included (Definition 7), that k' transactions hold."""

    def count(containing: Collection[str], items: Collection[str]) -> Count:
        return count_frequent(data, support, containing=containing, max_size=size, items=items, **task.limits.bounds())

    return Cohorts(count, data.names)
