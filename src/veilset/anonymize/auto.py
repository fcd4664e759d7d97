"""``auto``, the default: the method that keeps most of the data among those there are.

Today that is insertion: suppress every public item, then let the restore pass put them back one by one, the most
frequent first, while no mole appears. An item that is in no mole always returns, so this is `remove_all` followed by a
restore pass, without the search for all moles.
"""

from __future__ import annotations

import time

from veilset.anonymize.restore import restore_coherence
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["auto"]


def auto(data: Transactions, promise: Coherence, /, *, limits: Limits) -> Release:
    """A maximal release: of the items that are gone, none could return."""
    started = time.perf_counter()
    promise.check_feasible(data)
    suppressed = restore_coherence(data, promise, data.public, limits=limits)
    return Release(
        original=data,
        data=data.without(suppressed),
        promise=promise,
        method="auto",
        options={},
        suppressed=suppressed,
        seconds=time.perf_counter() - started,
    )
