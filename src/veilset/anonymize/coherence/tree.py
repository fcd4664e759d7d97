"""``tree`` (thesis §4.3): suppresses the item in most minimal moles per weight, until none is left.

The moles stand in a MOLE-tree (Definition 11), so that suppressing an item finds all of its moles by following the
item's node-link; see ``native/mining/mole_tree.cpp``. Where we differ: a restore pass puts back what need not have
gone. Without it (``restore=False``, ``--as-published``) this is the thesis' Tree-Cohesion.

If an attacker may know any number of items, the minimal moles of dense data can be too many to list. Then those of up
to three items are hit, and what the greedy would keep is put in item by item, as long as no larger mole appears.
"""

from __future__ import annotations

from veilset.anonymize.coherence.cover import Cover, by_mole_tree
from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Items, LargestListed, Restore, WeightsOption
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining import Itemsets
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

_PATIENCE = 30.0  # seconds
_LARGEST_LISTED = 3


def tree(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    restore: Restore = True,
    largest_listed: LargestListed = None,
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
    gone, largest_listed = by_greedy(task, largest_listed, restore=restore)
    return task.release("tree", gone, task.options(restore=restore, largest_listed=largest_listed))


def by_greedy(task: Task, largest_listed: int | None, *, restore: bool) -> tuple[tuple[str, ...], int | None]:
    """What the greedy suppresses, and up to which size it knew the moles (None: all of them)."""
    moles = all_moles(task) if largest_listed is None else None
    if moles is not None:
        return suppressed_by_tree(task, moles, restore=restore), None
    largest_listed = largest_listed or _LARGEST_LISTED
    return suppressed_up_to(task, largest_listed, restore=restore), largest_listed


def all_moles(task: Task) -> Itemsets | None:
    """All minimal moles; None if any number of items may be known, and to list them takes too long."""
    if task.promise.p is not None:
        return task.moles()
    try:
        return task.within(task.part(0.5, _PATIENCE)).moles()
    except BudgetExceeded:
        return None


def suppressed_up_to(task: Task, size: int, *, restore: bool) -> tuple[str, ...]:
    """What the greedy suppresses, given the minimal moles of up to so many items; then what larger ones require.

    Nothing is listed for those: items return one by one, those first that the greedy would keep.
    """
    hit = set(suppressed_by_tree(task, task.moles(max_size=size), restore=False))
    public = task.data.in_order(set(task.data.public) - task.keep)
    weight = dict(zip(task.data.names, task.weight.tolist(), strict=True))
    left = sorted((item for item in public if item not in hit), key=lambda item: -weight[item])
    gone = restore_coherence(task, public, left)
    return gone if restore else task.data.in_order({*gone, *hit})  # to suppress more never makes a mole


def suppressed_by_tree(task: Task, moles: Itemsets, *, restore: bool) -> tuple[str, ...]:
    """What the greedy suppresses, given all minimal moles. Those of one item go first (Observation 2)."""
    task = task.knowing(moles)
    gone: tuple[str, ...] = (*task.alone, *by_mole_tree(task, moles[moles.sizes > 1]))
    return Cover(task, moles).restored(gone) if restore else gone
