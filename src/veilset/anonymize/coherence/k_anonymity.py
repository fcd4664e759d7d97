"""``k-anonymity``, the baseline of the relational world (thesis §4.5.1, "k-Anonymizer").

All public items together are the quasi-identifier: what is left of a transaction must be the same in at least k
transactions, whatever an attacker knows of it. Items are put in one by one, the heaviest first, while every class
of equal transactions keeps k members (and, for h, no sensitive item is in too many of a class): an itemset is held by
whole classes, so that (h,k,p)-coherence follows for every p. Global, like the recoding the thesis compares with: an
item is suppressed in all transactions or in none.
"""

from __future__ import annotations

import numpy as np

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
    heaviest_first = np.lexsort((np.arange(len(task.weight)), -task.weight)).tolist()
    public = [data.names[code] for code in heaviest_first if not data.is_sensitive[code]]
    may_join = task.miner.splitting(task.question, public)
    gone = []
    for number, item in enumerate(public):
        task.limits.step("Comparing transactions", number, len(public))
        if not may_join(item):
            gone.append(item)
    return gone
