"""The restore pass: puts suppressed items back while nothing breaks.

A greedy method suppresses items that, in the end, need not have gone. Putting them back one by one, the most frequent
first, gives a *maximal* release: no suppressed item could return by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from veilset.limits import Limits


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
        limits.step("Restoring items", number, len(candidates))
        if not still_safe(item):
            gone.append(item)
    return tuple(gone)
