"""``hidden-first`` (HF): every pair inside a hidden pattern gets a victim (Lee, Chang, Chen 2004, §3.1, Figure 4).

The text spares pairs that a pattern to keep holds too, as the other algorithms do; its figure does not. The figure is
followed, and ``spare_shared_pairs`` gives the text. S holds no 1 beside its diagonal, so that one -1 is enough.
"""

from __future__ import annotations

from veilset.anonymize.chance import Share
from veilset.anonymize.hiding.hide import Hidden, Patterns, hide
from veilset.limits import Limits
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["hidden_first"]


def hidden_first(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    keep_patterns: Patterns | None = None,
    spare_shared_pairs: bool = False,
    certify: bool = True,
    margin: Share = "1/2",
    random_state: int | None = None,
    limits: Limits,
) -> Release:
    """Break up every pair of items of a hidden pattern.

    Parameters
    ----------
    spare_shared_pairs : bool
        Leave pairs alone that a pattern to keep holds, too.
    keep_patterns, certify, margin, random_state
        As for `hpcme`.

    Examples
    --------
    >>> from veilset import HiddenPatterns
    >>> data = Transactions.from_lists([[4, 5], [2, 4], [1, 2, 5], [1, 3, 5], [1, 2, 3, 5], [2, 4, 5]])
    >>> promise = HiddenPatterns([["4", "5"], ["1", "2", "5"]], min_support="30%")
    >>> keep = [["2", "4"], ["1", "3", "5"]]
    >>> hidden_first(data, promise, keep_patterns=keep, certify=False, limits=Limits()).data.to_lists()
    [['5'], ['2', '4'], ['5'], ['3', '5'], ['3', '5'], ['5']]
    """
    return hide(
        data,
        promise,
        "hidden-first",
        spare=spare_shared_pairs,
        reinforce=False,
        keep_patterns=keep_patterns,
        certify=certify,
        margin=margin,
        random_state=random_state,
        limits=limits,
        options={"spare_shared_pairs": spare_shared_pairs},
    )
