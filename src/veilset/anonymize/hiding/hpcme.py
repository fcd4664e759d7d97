"""``hpcme``: hides patterns completely with minimum side effect (Lee, Chang, Chen 2004, §3.3).

The matrix is that of `non_hidden_first`. Where its product keeps a victim although a -1 met it in this transaction, the
victim stays with the **restoration probability** p_r only. (Read literally, the paper asks whether there is any -1 in
the victim's column; victims would then vanish from transactions that hold no pair of a hidden pattern, and p_r = 0
would not be the hidden-first algorithm, as the paper says it is.) With p_r = 1 it is `non_hidden_first`.
"""

from __future__ import annotations

from veilset.anonymize.chance import Share, probability
from veilset.anonymize.hiding.hide import Hidden, Patterns, hide
from veilset.limits import Limits
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["hpcme"]


def hpcme(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    p_r: Share = "0.35",
    keep_patterns: Patterns | None = None,
    certify: bool = True,
    margin: Share = "1/2",
    random_state: int | None = None,
    limits: Limits,
) -> Release:
    """Hide patterns, and give back by chance what patterns to keep need.

    Parameters
    ----------
    p_r : share
        The restoration probability, from 0 to 1: the higher, the more is kept, and the less is hidden.
    keep_patterns : iterable of iterables of str, optional
        The non-sensitive patterns, whose loss is to be avoided. None: the maximal ones among the itemsets that reach
        min_support and contain no hidden pattern.
    certify : bool
        Go on until everything is hidden: p_r is lowered in ten steps until all is hidden that a lower p_r can hide,
        then victims go, and what need not have gone is put back. False: the product alone, which promises nothing.
    margin : share
        How far below min_support a pattern may be brought, from 0 to 1: for each, a level between 1 - margin and 1
        times min_support is drawn. With 0 all end just below min_support, and point at themselves.
    random_state : int, optional
        The secret seed of every choice by chance. None: one that nobody can guess; ``release.options`` has it.

    Examples
    --------
    >>> from veilset import HiddenPatterns
    >>> data = Transactions.from_lists([[4, 5], [2, 4], [1, 2, 5], [1, 3, 5], [1, 2, 3, 5], [2, 4, 5]])
    >>> promise = HiddenPatterns([["4", "5"], ["1", "2", "5"]], min_support="30%")
    >>> keep = [["2", "4"], ["1", "3", "5"]]
    >>> hpcme(data, promise, p_r=0, keep_patterns=keep, certify=False, limits=Limits()).data.to_lists()
    [['5'], ['2', '4'], ['5'], ['1', '3', '5'], ['3', '5'], ['5']]
    """
    return hide(
        data,
        promise,
        "hpcme",
        spare=True,
        reinforce=True,
        p_r=probability(p_r, "p_r"),
        keep_patterns=keep_patterns,
        certify=certify,
        margin=margin,
        random_state=random_state,
        limits=limits,
        options={},
    )
