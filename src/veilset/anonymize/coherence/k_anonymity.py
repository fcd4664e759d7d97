"""``k-anonymity``, the baseline of the relational world (thesis §4.5.1, "k-Anonymizer").

All public items together are the quasi-identifier: what is left of a transaction must be the same in at least k
transactions, whatever an attacker knows of it. Items are put in one by one, the heaviest first, while every class
of equal transactions keeps k members (and, for h, no sensitive item is in too many of a class): an itemset is held by
whole classes, so that (h,k,p)-coherence follows for every p. Global, like the recoding the thesis compares with: an
item is suppressed in all transactions or in none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.task import Task
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


def k_anonymity(data: Transactions, promise: Coherence, /, *, limits: Limits) -> Release:
    """Suppress items until the public items of every transaction are those of at least k transactions.

    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a"], ["a"], ["a", "b", "c"], ["a", "b", "c"]])
    >>> k_anonymity(data, Coherence(k=3, p=1), limits=Limits()).custodian_data.to_lists()
    [['a'], ['a'], ['a'], ['a'], ['a'], ['a']]
    """
    task = Task.of(data, promise, limits=limits)
    return task.release("k-anonymity", suppressed_for_classes(task), {})


def suppressed_for_classes(task: Task) -> list[str]:
    """What must go so that the public items of every transaction are those of at least k transactions."""
    data = task.data
    # Row numbers, their order and sorted rows, and two numbers for each row.
    needed = 8 * (4 * len(data.items) + 2 * len(data))
    task.limits.require(needed, "Comparing transactions", "use a machine with more of it.")
    order = np.argsort(data.items, kind="stable")
    rows_by_item = np.repeat(np.arange(len(data)), data.lengths)[order]
    first = np.searchsorted(data.items[order], np.arange(len(data.names) + 1))
    rows_of = [rows_by_item[first[code] : first[code + 1]] for code in range(len(data.names))]
    sensitive = [rows_of[code] for code in np.flatnonzero(data.is_sensitive).tolist()]
    class_of = np.zeros(len(data), dtype=np.int64)  # equal numbers: equal so far
    sizes = np.array([len(data)])
    gone = []
    public = [code for code in np.lexsort((np.arange(len(task.weight)), -task.weight)) if not data.is_sensitive[code]]
    for number, code in enumerate(public):
        task.limits.step("Comparing transactions", number, len(public))
        task.limits.check_time("Comparing transactions", "choose another method.")
        split = _split(class_of, sizes, rows_of[code])
        if _safe(*split, sensitive, task.promise):
            class_of, sizes = split
        else:
            gone.append(data.names[code])
    return gone


def _split(
    class_of: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The classes when these rows are told apart from the others."""
    with_item = np.bincount(class_of[rows], minlength=len(sizes))
    divided = (with_item > 0) & (with_item < sizes)
    moved = np.full(len(sizes), -1)
    moved[divided] = len(sizes) + np.arange(np.count_nonzero(divided))
    finer = class_of.copy()
    leaving = rows[divided[class_of[rows]]]
    finer[leaving] = moved[class_of[leaving]]
    return finer, np.concatenate([np.where(divided, sizes - with_item, sizes), with_item[divided]])


def _safe(
    class_of: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    sensitive: list[npt.NDArray[np.int64]],
    promise: Coherence,
) -> bool:
    if sizes.min() < promise.k:
        return False
    h = promise.share
    return all(
        (np.bincount(class_of[rows], minlength=len(sizes)) * h.denominator <= sizes * h.numerator).all()
        for rows in sensitive
    )
