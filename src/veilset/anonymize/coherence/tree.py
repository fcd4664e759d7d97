"""``tree`` (thesis §4.3): suppresses the item in most minimal moles per weight, until none is left.

The moles stand in a MOLE-tree (Definition 11), so that suppressing an item finds all of its moles by following the
item's node-link; see ``native/mining/mole_tree.cpp``. Where we differ: a restore pass puts back what need not have
gone. Without it (``restore=False``, ``--as-published``) this is the thesis' Tree-Cohesion.
"""

from __future__ import annotations

from veilset.anonymize.coherence.cover import Cover, by_mole_tree
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Items, Restore, WeightsOption
from veilset.limits import Limits
from veilset.mining import Moles
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


def tree(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    restore: Restore = True,
    limits: Limits,
) -> Release:
    """Suppress by the largest MM(v)/IL(v): minimal moles that contain an item, per weight.

    Examples
    --------
    >>> from veilset import Coherence, Transactions, anonymize
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"]])
    >>> anonymize(data, Coherence(k=2, p=2), method="tree").suppressed
    ('c',)
    >>> anonymize(data, Coherence(k=2, p=2), method="tree", keep=["c"]).suppressed
    ('b',)
    """
    task = Task.of(data, promise, weights=weights, keep=keep, limits=limits)
    gone = suppressed_by_tree(task, task.moles(), restore=restore)
    return task.release("tree", gone, task.options(restore=restore))


def suppressed_by_tree(task: Task, moles: Moles, *, restore: bool) -> tuple[str, ...]:
    """What the greedy suppresses, given all minimal moles. Those of one item go first (Observation 2)."""
    task = task.knowing(moles)
    gone: tuple[str, ...] = (*task.alone, *by_mole_tree(task, moles[moles.itemsets.sizes > 1]))
    return Cover(task, moles).restored(gone) if restore else gone
