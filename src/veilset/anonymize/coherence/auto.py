"""``auto``, the default: several strategies, each followed by a restore pass and a short local search; the best wins.

The published greedy (`tree`) fails where moles explode: moles of three and four popular items outnumber all others, and
it throws the popular items away. Strategies that do not look at all moles at once do better there:

- *insertion* starts from nothing and puts items back, the heaviest first, while no mole appears;
- *core* starts from one itemset that many transactions hold (at h = 1, if k of them do, it has no mole of any size);
- *staged* hits the moles of one item, then finds and hits those of two items in what is left, and so on;
- *classes* starts from what `k-anonymity` suppresses. It takes part where any number of items may be known and no
  item must be kept: no search for moles is sure to end there, and this has an answer at once.

All minimal moles are listed once, if they are few enough; then `tree` takes part, and everything else is asked of the
list instead of the data. Otherwise the other strategies ask the data, and there is no local search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.cover import Cover, by_mole_tree
from veilset.anonymize.coherence.k_anonymity import suppressed_for_classes
from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Chosen, Items, WeightsOption
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining import Itemsets
from veilset.models import Coherence
from veilset.release import Attempt, Release
from veilset.transactions import Transactions

_MOST_MOLES = 5_000_000
_PATIENCE = 60.0  # seconds for each further strategy, once there is an answer
_LISTING = 10.0  # seconds: what takes longer to list has too many moles for what follows
_CLASSES = "classes"
_TOO_MANY = "Listing all sets of items that break the promise takes too long, or too much memory."


def auto(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Suppress what the best of several strategies suppresses; `Release.attempts` says what each of them lost.

    >>> from veilset import Coherence, Transactions, anonymize
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"]])
    >>> release = anonymize(data, Coherence(k=2, p=2))
    >>> release.suppressed, [attempt.name for attempt in release.attempts]
    (('c',), ['insertion', 'core', 'staged', 'tree'])
    """
    task = Task.of(data, promise, weights=weights, keep=keep, limits=limits)
    gone, attempts = chosen_or_best(task, chosen)
    return task.release("auto", gone, task.options(chosen=gone), attempts=attempts)


def chosen_or_best(task: Task, chosen: Iterable[str] | None) -> tuple[tuple[str, ...], tuple[Attempt, ...]]:
    """What an earlier run chose to suppress, or what the best strategy suppresses."""
    return best_of_all(task) if chosen is None else (task.data.in_order(task.chosen(chosen)), ())


def quick_auto(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    limits: Limits,
) -> Release:
    """What *insertion* suppresses without a local search: `auto` never loses more of what it weighs."""
    task = Task.of(data, promise, weights=weights, keep=keep, limits=limits)
    moles, _ = all_moles(task, share=0.9)
    (start,) = insertion(task)
    gone = restore_coherence(task, start) if moles is None else Cover(task.knowing(moles), moles).restored(start)
    return task.release("auto", gone, task.options())


def best_of_all(task: Task) -> tuple[tuple[str, ...], tuple[Attempt, ...]]:
    """What the best strategy suppresses, and what each of them loses."""
    moles, why_not = all_moles(task)
    cover = None
    if moles is not None:
        task = task.knowing(moles)
        try:
            cover = Cover(task, moles)
        except BudgetExceeded:
            moles, why_not = None, _TOO_MANY
    best: tuple[str, ...] | None = None
    attempts: dict[str, Attempt] = {}
    won = ""
    strategies = _STRATEGIES
    if task.promise.p is None and not task.keep:
        strategies = {_CLASSES: partial(_classes, cover), **strategies}
    for number, (name, strategy) in enumerate(strategies.items(), start=1):
        started = time.perf_counter()
        task.limits.step(f"Trying {name}", number - 1, len(strategies))
        share = 1 / (len(strategies) - number + 1)
        part = task.within(task.limits.part(share) if best is None else task.part(share, _PATIENCE))
        try:
            start = strategy(part, moles, why_not)
            gone = start[0] if name == _CLASSES else _maximal(part, cover, number, *start)
        except BudgetExceeded as error:
            attempts[name] = Attempt(name, None, time.perf_counter() - started, error.what, "not finished")
            continue
        attempts[name] = Attempt(name, task.loss(gone), time.perf_counter() - started)
        if best is None or task.lost(gone) < task.lost(best):
            best, won = gone, name
    if best is None:
        raise BudgetExceeded(
            " ".join(f"{attempt.name}: {attempt.note}" for attempt in attempts.values()),
            "Allow more time or memory, or choose a smaller p.",
        )
    attempts[won] = replace(attempts[won], state="chosen")
    return best, tuple(attempts.values())


def _classes(cover: Cover | None, task: Task, *_: object) -> tuple[tuple[str, ...]]:
    """What k-anonymity suppresses, less what can return within some time: it keeps the promise either way."""
    gone = task.data.in_order(suppressed_for_classes(task))
    try:
        return (_maximal(task.within(task.part(0.5, _PATIENCE)), cover, 0, gone),)
    except BudgetExceeded:
        return (gone,)


def _maximal(
    task: Task, cover: Cover | None, seed: int, gone: Collection[str], first: Sequence[str] = ()
) -> tuple[str, ...]:
    if cover is None:
        return restore_coherence(task, gone, first)
    return cover.improved(cover.restored(gone, first), seed)


def all_moles(task: Task, share: float = 0.5) -> tuple[Itemsets | None, str]:
    """The list of all minimal moles; or None, and why there is none. It may take this share of the time left."""
    part = task.within(task.part(share, _LISTING))
    try:
        moles = task.miner.few_moles(part.question, _MOST_MOLES)
    except BudgetExceeded:
        return None, _TOO_MANY
    return moles, "" if moles is not None else f"More than {_MOST_MOLES:,} sets of items break the promise."


def staged(task: Task, moles: Itemsets | None, _: str) -> tuple[tuple[str, ...]]:
    """Hit the moles of s items, then find those of s + 1 items in what is left."""
    gone = list(task.alone)
    size = 1
    while size != task.promise.p:
        left = set(task.data.public).difference(gone)
        if size >= task.miner.longest(left):
            break  # no larger itemset occurs
        size += 1
        found = task.moles(max_size=size, items=left) if moles is None else _made_of(moles, size, task.data.codes(gone))
        gone += by_mole_tree(task, found)
    return (tuple(gone),)


def _made_of(moles: Itemsets, size: int, gone: npt.NDArray[np.int64]) -> Itemsets:
    """Those of up to *size* items that hold none that is gone: the same as looking for them in what is left."""
    lost = np.zeros(len(moles.names), dtype=bool)
    lost[gone] = True
    hit = np.logical_or.reduceat(lost[moles.items], moles.offsets[:-1]) if len(moles) else lost[:0]
    left: Itemsets = moles[(moles.sizes <= size) & ~hit]
    return left


def insertion(task: Task, *_: object) -> tuple[tuple[str, ...]]:
    """Start from what must be kept: the restore pass puts back what it can."""
    return (task.data.in_order(set(task.data.public) - task.keep),)


def core(task: Task, *_: object) -> tuple[tuple[str, ...], list[str]]:
    """Start from what must be kept, and put one itemset back before anything else.

    It grows by the item that most of its transactions hold, while at least k do.
    """
    data, grown = task.data, list[str]()
    while True:
        counts = np.where(data.is_sensitive == 0, task.miner.beside(grown), 0)
        counts[data.codes(grown)] = 0
        if counts.max(initial=0) < task.promise.k:
            return (*insertion(task), grown)
        grown.append(data.names[int(counts.argmax())])


def tree(task: Task, moles: Itemsets | None, why_not: str) -> tuple[tuple[str, ...]]:
    """The published greedy."""
    if moles is None:
        raise BudgetExceeded(why_not)
    return ((*task.alone, *by_mole_tree(task, moles[moles.sizes > 1])),)


# Quick ones first: what takes long has an answer to fall back upon.
_STRATEGIES: dict[str, Callable[[Task, Itemsets | None, str], Any]] = {
    "insertion": insertion,
    "core": core,
    "staged": staged,
    "tree": tree,
}
