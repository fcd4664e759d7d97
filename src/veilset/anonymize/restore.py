"""The restore pass: puts suppressed items back while nothing breaks.

A greedy method suppresses items that, in the end, need not have gone. Putting them back one by one, the most frequent
first, gives a *maximal* cohesion: no suppressed item could return by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from veilset.limits import Limits
from veilset.mining import Keeping
from veilset.models import Coherence
from veilset.transactions import Transactions

__all__ = ["restore", "restore_coherence"]


def restore(candidates: Sequence[str], still_safe: Callable[[str], bool], *, limits: Limits) -> tuple[str, ...]:
    """Ask of each candidate in turn whether it may return; give those that may not.

    Parameters
    ----------
    candidates : sequence of str
        Suppressed items, in the order in which they are to be put back.
    still_safe : callable
        Whether an item may return *together with all the items it has said yes to before*.
    """
    gone = []
    for number, item in enumerate(candidates):
        limits.step("Putting items back", number, len(candidates))
        if not still_safe(item):
            gone.append(item)
    return tuple(gone)


def restore_coherence(
    data: Transactions, promise: Coherence, suppressed: Collection[str], *, limits: Limits
) -> tuple[str, ...]:
    """What remains suppressed after a restore pass for (h,k,p)-coherence, in vocabulary order."""
    kept = Keeping(data, promise.k, h=promise.share, max_size=promise.p, **limits.bounds())
    gone = set(suppressed)
    for item in data.public:
        if item not in gone:
            kept.keep(item)

    def still_safe(item: str) -> bool:
        if kept.brings_mole(item):
            return False
        kept.keep(item)
        return True

    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    by_support = sorted(
        (item for item in data.public if item in gone), key=lambda item: -support[item]
    )  # ties: vocabulary
    stays_gone = set(restore(by_support, still_safe, limits=limits))
    return tuple(item for item in data.public if item in stays_gone)
