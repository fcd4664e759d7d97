"""``non-hidden-first`` (NHF): spares what a pattern to keep holds (Lee, Chang, Chen 2004, §3.2, Figure 5).

Only pairs that no pattern to keep holds get a victim, and pairs that only patterns to keep hold get a 1, which makes up
for a -1. What is hidden of a hidden pattern may be too little; `certify` sees to the rest.
"""

from __future__ import annotations

from veilset.anonymize.chance import Share
from veilset.anonymize.hiding.hide import Hidden, Patterns, hide
from veilset.limits import Limits
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["non_hidden_first"]


def non_hidden_first(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    keep_patterns: Patterns | None = None,
    certify: bool = True,
    margin: Share = "1/2",
    random_state: int | None = None,
    limits: Limits,
) -> Release:
    """Break up pairs of items of a hidden pattern where no pattern to keep suffers.

    Parameters
    ----------
    keep_patterns, certify, margin, random_state
        As for `hpcme`.

    Examples
    --------
    >>> from veilset import HiddenPatterns
    >>> data = Transactions.from_lists([[4, 5], [2, 4], [1, 2, 5], [1, 3, 5], [1, 2, 3, 5], [2, 4, 5]])
    >>> promise = HiddenPatterns([["4", "5"], ["1", "2", "5"]], min_support="30%")
    >>> keep = [["2", "4"], ["1", "3", "5"]]
    >>> non_hidden_first(data, promise, keep_patterns=keep, certify=False, limits=Limits()).data.to_lists()
    [['5'], ['2', '4'], ['5'], ['1', '3', '5'], ['1', '3', '5'], ['2', '4', '5']]
    """
    return hide(
        data,
        promise,
        "non-hidden-first",
        spare=True,
        reinforce=True,
        keep_patterns=keep_patterns,
        certify=certify,
        margin=margin,
        random_state=random_state,
        limits=limits,
        options={},
    )
