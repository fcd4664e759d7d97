"""``optimal``: the least loss that suppression can reach, proven.

A set of items may be kept if and only if it holds no minimal mole, so what is suppressed is a hitting set of the
minimal moles, and the cheapest one is the best release there is. There may be millions of moles; few of them matter:

1. The moles of one item are gone from the start (Observation 2), those of two items make the first program.
2. What the program would keep is looked up in the data. The moles found in it are added, until there are none.
3. Whatever the program likes, a restore pass in its order makes a true release of it; the best one so far stands ready.

With ``utility="nuggets"`` the loss is the number of nuggets (frequent itemsets) that hold a suppressed item: exactly,
if they are not too many to be part of the program one by one; otherwise the bound from below is not that of the best
release, and ``bound.of`` says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.auto import best_of_all
from veilset.anonymize.coherence.highs import Stopped
from veilset.anonymize.coherence.hitting_set import HittingSet
from veilset.anonymize.coherence.losses import Loss, loss_of
from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.rows import Sets
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Chosen, Items, NuggetSize, NuggetSupport, WeightsOption
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.options import Option
from veilset.release import Bound, Release
from veilset.transactions import Transactions

_MOLES_AT_ONCE = 50_000
_MOLES_AT_FIRST = 3_000_000
_TIME_AT_FIRST = 0.2  # the share of the time that is spent on finding them


def optimal(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    utility: Annotated[
        Literal["items", "nuggets"],
        Option(
            "choice",
            "Unit of the loss: items, or frequent itemsets (nuggets).",
            choices=("items", "nuggets"),
        ),
    ] = "items",
    nugget_support: NuggetSupport = None,
    nugget_size: NuggetSize = None,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """The release that loses least, or at a time limit the best one found, with what is proven about it.

    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["c"]])
    >>> release = optimal(data, Coherence(k=2, p=2), limits=Limits())
    >>> release.suppressed, release.bound
    (('c',), Bound(reached=0.2857142857142857, least=0.2857142857142857, of='share of all item occurrences'))
    """
    task = Task.of(data, promise, weights=weights, keep=keep, limits=limits)
    bound = None
    if chosen is not None:
        gone = task.data.in_order(task.chosen(chosen))
    else:
        weighted = weights is not None
        loss = loss_of(task, utility, weighted=weighted, nugget_support=nugget_support, nugget_size=nugget_size)
        gone, bound = _Search(task, loss).run()
    options = task.options(utility=utility, nugget_support=nugget_support, nugget_size=nugget_size, chosen=gone)
    return task.release("optimal", gone, options, bound=bound)


class _Search:
    """The best release so far, and the program that looks for better ones."""

    def __init__(self, task: Task, loss: Loss) -> None:
        self._task, self._loss = task, loss
        self._gone = tuple(item for item in task.data.public if item not in task.keep)
        self._program: HittingSet | None = None
        self._reserve = 0.0  # seconds that it takes to make a release of what a program likes

    def run(self) -> tuple[tuple[str, ...], Bound]:
        """What to suppress, and what is proven about it."""
        first, loss = self._gone, self._loss
        counted = loss.total
        try:
            first = self._gone = self._start()
            if loss.count is not None:
                counted = loss.count(first)
            with suppress(Stopped):  # then the best so far is the answer
                self._prove()
        except BudgetExceeded:
            if self._task.limits.seconds_left() > 0:
                raise
        reached = loss.least(self._cost(self._gone))
        if loss.count is not None:
            reached, self._gone = min((counted, first), (self._counted(loss.count), self._gone))
        least = loss.least(0 if self._program is None else self._program.least)
        return self._gone, Bound(loss.share(reached), loss.share(min(least, reached)), loss.of)

    def _start(self) -> tuple[str, ...]:
        """A good release to begin with; a restore pass on it tells how long one takes."""
        part = self._task.limits.part(0.5)
        try:
            self._gone, _ = best_of_all(replace(self._task, limits=part))
        except BudgetExceeded:
            if part.seconds_left() > 0:
                raise
        started = time.monotonic()
        gone = restore_coherence(self._task, self._gone)
        self._reserve = 1.5 * (time.monotonic() - started)
        return gone

    def _counted(self, count: Callable[[Collection[str]], int]) -> int:
        """What the best so far really loses; without time to count that, no more is known than what there is."""
        try:
            return count(self._gone)
        except BudgetExceeded:
            if self._task.limits.seconds_left() > 0:
                raise
            return self._loss.total

    def _prove(self) -> None:
        task, loss = self._task, self._loss
        codes = np.arange(len(loss.cost))
        pairs = task.moles(max_size=min(2, task.promise.p or 2))
        self._program = program = HittingSet(
            loss.cost,
            pairs[pairs.sizes == 2].items.reshape(-1, 2),
            loss.groups,
            always=np.isin(codes, task.data.codes(task.alone)),
            never=np.isin(codes, task.data.codes(task.keep)),
            offer=self._offer,
            best=self._cost(self._gone),
            limits=task.limits,
            seconds=self._seconds,
            tell=self._tell,
        )
        program.add(self._first_moles())
        liked = program.relax()
        while not program.proven:
            moles = self._moles_in(liked)
            if len(moles) == 0:
                whole = program.branch()
                if whole is None:
                    return
                liked = whole
                moles = self._moles_in(liked)
                if len(moles) == 0:
                    program.best = self._offer(liked)
                    return
            program.add(moles)
            liked = program.relax()

    def _first_moles(self) -> Sets:
        """All larger moles if they are not too many: a program that knows them seldom asks again."""
        chunks, count = [Sets.of([])], 0
        until = self._seconds() * (1 - _TIME_AT_FIRST)
        for sets in self._larger_moles(set(self._task.data.public).difference(self._task.alone)):
            chunks.append(sets)
            count += len(sets)
            if count >= _MOLES_AT_FIRST or self._seconds() < until:
                break
        return Sets.joined(*chunks)

    def _moles_in(self, liked: npt.NDArray[np.float64]) -> Sets:
        """Moles of three items or more among those that a program would rather keep, and that it does not hit."""
        data, alone = self._task.data, set(self._task.alone)
        kept = [item for item in data.public if liked[data.codes([item])[0]] < 0.5 and item not in alone]
        for sets in self._larger_moles(kept):
            broken = sets.sums(liked) < 1 - 1e-6
            if broken.any():
                return sets.take(broken)
        return Sets.of([])

    def _larger_moles(self, items: Collection[str]) -> Iterator[Sets]:
        """The minimal moles of three items or more, found as they are asked for."""
        task = self._task
        if task.promise.p is not None and task.promise.p < 3:
            return
        for chunk in task.mole_chunks(_MOLES_AT_ONCE, items=items):
            sets = Sets(chunk.itemsets.offsets, chunk.itemsets.items)
            yield sets.take(sets.sizes > 2)

    def _offer(self, liked: npt.NDArray[np.float64]) -> int:
        """Put items back in the order in which a program would; keep what comes of it if it is the best so far."""
        task = self._task
        order = np.lexsort((-task.weight, liked))
        rank = np.empty_like(task.weight)
        rank[order] = np.arange(len(order))[::-1]
        everything = tuple(item for item in task.data.public if item not in task.keep)
        gone = restore_coherence(replace(task, weight=rank), everything)
        self._gone = min(self._gone, gone, key=self._cost)
        return self._cost(self._gone)

    def _cost(self, gone: tuple[str, ...]) -> int:
        return self._loss.cost_of(self._task.data.codes(gone))

    def _seconds(self) -> float:
        return self._task.limits.seconds_left() - self._reserve

    def _tell(self) -> None:
        if self._program is not None:
            best, least = self._program.best, self._program.least
            loss = self._loss
            shown = [f"{loss.share(loss.least(cost)):.2%}" for cost in (best, least)]
            self._task.limits.step(f"Proving the optimum (best {shown[0]}, at least {shown[1]})", least, max(1, best))
