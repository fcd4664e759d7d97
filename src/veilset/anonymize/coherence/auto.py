"""``auto``, the default: the method that keeps most of the data among those there are.

Today that is insertion: suppress every public item, then let the restore pass put them back one by one, the most
frequent first, while no mole appears. An item that is in no mole always returns, so this is `remove_all` followed by a
restore pass, without the search for all moles.
"""

from __future__ import annotations

import time

from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["auto"]


def auto(data: Transactions, promise: Coherence, /, *, limits: Limits) -> Release:
    """A maximal release: of the items that are gone, none could return."""
    started = time.perf_counter()
    task = Task.of(data, promise, limits=limits)
    gone = restore_coherence(task, data.public)
    return task.release("auto", gone, options={}, seconds=time.perf_counter() - started)
