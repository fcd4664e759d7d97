"""Choosing over a list of minimal moles: the greedy of the MOLE-tree, putting items back, and a local search."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from veilset import _native
from veilset.anonymize.coherence.task import Task
from veilset.errors import BudgetExceeded
from veilset.mining import Itemsets
from veilset.mining.frequent_itemsets import allowed

_TASK, _ADVICE = "The choice of items", "choose a smaller p."
_GREEDY = "Suppressing the items in most sets that break the promise"
_PATIENCE = 16_000  # steps in a row that gain nothing, after which a local search ends
_WORK = 240_000_000  # moles it may look at: a second at most


def by_mole_tree(task: Task, moles: Itemsets) -> tuple[str, ...]:
    """What the greedy of the MOLE-tree suppresses, in its order: the largest MM(v)/IL(v) first (Figure 15)."""
    task.limits.step(_GREEDY)
    with task.limits.guard(_TASK, _ADVICE):
        chosen = _native.mining.suppress_by_tree(
            moles.offsets,
            moles.items,
            task.weight,
            allowed(task.data, task.keep),
            **task.limits.for_kernel(lambda _: _GREEDY),
        )
    return tuple(task.data.names[code] for code in chosen.tolist())


class Cover:
    """All minimal moles of a task, and questions about which items can be kept together.

    The same as asking the data, where the moles are few enough to be listed; many times faster then.
    """

    def __init__(self, task: Task, moles: Itemsets) -> None:
        self._task = task
        with task.limits.guard(_TASK, _ADVICE):
            self._cover = _native.mining.MoleCover(
                moles.offsets,
                moles.items,
                task.weight,
                allowed(task.data, task.keep),
                memory_limit=task.limits.bytes_left(),
            )
        by_weight = np.lexsort((np.arange(len(task.weight)), -task.weight))
        self._by_weight = by_weight[task.data.is_sensitive[by_weight] == 0].astype(np.int32)

    def restored(self, suppressed: Collection[str], first: Iterable[str] = ()) -> tuple[str, ...]:
        """What remains suppressed after the restore pass: *first* is put back first, then the heaviest."""
        self._set(set(self._task.data.public).difference(suppressed))
        self._cover.insert(self._task.data.codes(first).astype(np.int32))
        self._cover.insert(self._by_weight)
        return self._suppressed()

    def improved(self, suppressed: Collection[str], seed: int = 0) -> tuple[str, ...]:
        """What a short local search makes of this: never worse, and still maximal. Another seed takes another way.

        At the time limit it ends with what it has reached.
        """
        self._set(set(self._task.data.public).difference(suppressed))
        try:
            with self._task.limits.guard(_TASK, _ADVICE):
                self._cover.search(
                    patience=_PATIENCE,
                    work=_WORK,
                    seed=seed,
                    **self._task.limits.for_kernel(lambda _: "Searching for a better choice"),
                )
        except BudgetExceeded:
            if self._task.limits.seconds_left() > 0:
                raise
        self._cover.insert(self._by_weight)
        return self._suppressed()

    def _set(self, kept: Collection[str]) -> None:
        self._cover.clear()
        self._cover.insert(self._task.data.codes(self._task.keep).astype(np.int32))
        self._cover.insert(self._task.data.codes(self._task.data.in_order(kept)).astype(np.int32))

    def _suppressed(self) -> tuple[str, ...]:
        kept = self._cover.kept()
        data = self._task.data
        return tuple(data.names[code] for code in np.flatnonzero((kept == 0) & (data.is_sensitive == 0)).tolist())
