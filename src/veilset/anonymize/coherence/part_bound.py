"""The itemsets that a release by single occurrences can hold, and what it loses at least.

Taking occurrences away makes no itemset more frequent. So what a row keeps has only public itemsets that k transactions
of the original hold, up to p items: the heaviest such part is the most that it can keep (`native/partial/bound.cpp`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.coherence.task import Task
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining import Itemsets, count_frequent, frequent
from veilset.release import OCCURRENCES, Bound

WEIGHTED = "share of the total weight"
"""What is minimised if weights are given, as `Bound.of` says it."""

_BOUNDING = "Bounding the loss"
_MOST_SETS = 5_000_000  # that the bound is worked out from
_LOOKUPS = 2_000_000_000  # of itemsets among these; twenty seconds of processor time where rows are long


def least_loss(task: Task, worth: npt.NDArray[np.int64], reached: float, limits: Limits) -> Bound | None:
    """What every release by single occurrences loses at least; None: not within the limits."""
    data = task.original
    try:
        sets, size = frequent_parts(task, _MOST_SETS, limits)
        limits.step(_BOUNDING)
        with limits.guard(_BOUNDING, "choose a smaller p."):
            most = _native.partial.most_kept(
                data.offsets,
                data.items,
                len(data.names),
                may=possible_items(task),
                worth=worth,
                set_offsets=sets.offsets,
                set_items=sets.items,
                size=size,
                lookups=_LOOKUPS,
                threads=limits.thread_count,
                **limits.for_kernel(lambda _: _BOUNDING),
            )
    except BudgetExceeded:
        return None
    total = int(worth[data.items].sum())
    public = int(worth[data.items[data.is_sensitive[data.items] == 0]].sum())
    least = Fraction(max(0, public - most), max(1, total))
    return Bound(reached, min(reached, float(least)), OCCURRENCES if task.weights is None else WEIGHTED)


def possible_items(task: Task) -> npt.NDArray[np.uint8]:
    """Which items a release can hold: the public ones in k transactions."""
    data = task.original
    may: npt.NDArray[np.uint8] = ((data.is_sensitive == 0) & (data.supports >= task.promise.k)).astype(np.uint8)
    return may


def frequent_parts(task: Task, most: int, limits: Limits) -> tuple[Itemsets, int]:
    """The public itemsets of two items and more that k transactions hold, up to a size at which they can be listed."""
    data, promise, bounds = task.original, task.promise, limits.bounds()
    longest = max(1, int(data.lengths.max(initial=1)))
    for size in range(min(promise.p or longest, longest, 4), 1, -1):
        counted = count_frequent(data, promise.k, max_size=size, items=data.public, **bounds).total
        if counted <= most:
            return frequent(data, promise.k, min_size=2, max_size=size, items=data.public, **bounds), size
    return frequent(data, promise.k, min_size=1, max_size=1, items=data.public, **bounds)[:0], 1
