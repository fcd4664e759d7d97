"""``remove-all``, the baseline (thesis §4.5.1, "RmAll"): suppresses every public item that occurs in any mole.

The size-1 moles go first (Observation 2); over the raw data, nearly every item shares a mole with one of them, and the
baseline would remove nearly everything.
"""

from __future__ import annotations

import time

from veilset.anonymize.restore import restore_coherence
from veilset.limits import Limits
from veilset.mining import items_in_moles, minimal_rare
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["remove_all"]


def remove_all(data: Transactions, promise: Coherence, /, *, restore: bool = False, limits: Limits) -> Release:
    """Suppress the size-1 moles, then every item of any mole that is left.

    Parameters
    ----------
    restore : bool
        Put back what need not have gone (off: this is the plain baseline).
    """
    started = time.perf_counter()
    promise.check_feasible(data)
    alone = {mole.items[0] for mole in minimal_rare(data, promise.k, h=promise.share, max_size=1, **limits.bounds())}
    rest = data.without(alone)
    together = items_in_moles(rest, promise.k, h=promise.share, max_size=promise.p, **limits.bounds())
    if restore:  # a size-1 mole can never return: only the others are asked
        together = restore_coherence(rest, promise, together, limits=limits)
    gone = alone.union(together)
    suppressed = tuple(item for item in data.names if item in gone)
    return Release(
        original=data,
        data=data.without(suppressed),
        promise=promise,
        method="remove-all",
        options={"restore": restore},
        suppressed=suppressed,
        seconds=time.perf_counter() - started,
    )
