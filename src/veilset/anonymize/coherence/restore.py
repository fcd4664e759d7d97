"""The restore pass for (h,k,p)-coherence: of what a method suppressed, nothing stays gone that could return."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from veilset.anonymize.coherence.task import Task
from veilset.anonymize.restore import restore


def restore_coherence(task: Task, suppressed: Collection[str], first: Sequence[str] = ()) -> tuple[str, ...]:
    """What remains suppressed, in vocabulary order: *first* is put back first, then the heaviest."""
    data, alone, gone = task.data, set(task.alone), set(suppressed)
    # A size-1 mole can never return: only the others are asked. Ties go to the item that comes first.
    by_weight = sorted(data.in_order(gone - alone), key=lambda item: -task.weight[data.codes([item])[0]])
    asked = list(dict.fromkeys([*(item for item in first if item in gone - alone), *by_weight]))
    kept = [item for item in data.public if item not in gone]
    may_return = task.miner.returning(task.question, kept, asked)
    stays_gone = set(restore(asked, may_return, limits=task.limits))
    return data.in_order(stays_gone | (alone & gone))
