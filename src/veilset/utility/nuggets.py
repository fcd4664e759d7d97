"""Loss of nuggets: frequent itemsets that an analyst no longer finds (thesis Definition 7, §4.5.1).

A nugget is an itemset of public or sensitive items, or both, with Sup >= k' and at most p' items; loss of nuggets is
(R - R')/R. Suppressing an item changes the support of no itemset without it, so the nuggets that are kept are those of
items that are still there under their own names; where only some occurrences are gone, those that still reach k'. A
coarser name makes other itemsets with other supports: a nugget of a recoded item counts as lost, and as kept under a
coarser name if none of its items is gone. Numbers of nuggets are
counted exactly, never listed: they may be astronomical.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import numpy as np

from veilset.exact import Support
from veilset.limits import Limits
from veilset.mining import count_frequent, frequent, supports
from veilset.mining.frequent_itemsets import check_nugget_size, support_of_nuggets
from veilset.release import Release
from veilset.transactions import Transactions


def nugget_losses(
    release: Release,
    unavoidable: Collection[str] | None = None,
    *,
    nugget_support: Support | None = None,
    nugget_size: int | None = None,
    limits: Limits | None = None,
) -> dict[str, float]:
    """Loss of nuggets of the original as it was, and without the items that had to go; what is kept under other names.

    Parameters
    ----------
    release : Release
    unavoidable : collection of str, optional
        What Observation 2 of the thesis removes before anything is chosen: public items that break the promise by
        themselves. None: not known, and then the second loss is left out.
    nugget_support : int, float or str, optional
        k', see `nugget_support_of`.
    nugget_size : int, optional
        p'; None: any.
    limits : Limits, optional
        `BudgetExceeded` is raised beyond them.

    Examples
    --------
    >>> from veilset import Coherence, anonymize
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"], ["d"]])
    >>> release = anonymize(data, Coherence(k=2, p=2))
    >>> release.suppressed  # {b c} and {d} are held by one; of the nuggets a, b, c, ab and ac, two are gone
    ('c', 'd')
    >>> nugget_losses(release, ["d"], nugget_support=2)
    {'nuggets_lost': 0.4, 'nuggets_kept_or_coarser': 0.6, 'nuggets_lost_after_preprocessing': 0.4}
    >>> nugget_losses(release, ["d"], nugget_support=1)  # now d, bc and abc are nuggets, too
    {'nuggets_lost': 0.625, 'nuggets_kept_or_coarser': 0.375, 'nuggets_lost_after_preprocessing': 0.5714285714285714}
    """
    check_nugget_size(nugget_size)
    limits = limits or Limits()
    least = nugget_support_of(release, nugget_support)
    often = _frequent(release.original, least)
    losses = {"nuggets_lost": _lost(release, often, least, nugget_size, limits)}
    if not release.generalized:
        losses["nuggets_kept_or_coarser"] = 1 - losses["nuggets_lost"]
    else:
        losses["nuggets_kept_or_coarser"] = _kept_or_coarser(release, often, least, nugget_size, limits)
    if unavoidable is not None:
        # Counting is what takes long, and as a rule nothing that had to go is frequent enough for a nugget.
        left = often.difference(unavoidable)
        losses["nuggets_lost_after_preprocessing"] = (
            losses["nuggets_lost"] if left == often else _lost(release, left, least, nugget_size, limits)
        )
    return losses


def nugget_support_of(release: Release, asked: Support | None = None) -> int:
    """k': how many transactions hold a nugget at least.

    A whole number of transactions, or a share of those of the original. None: 1% of them, but at least as many as the
    promise asks for (the k of coherence), since no release shows what fewer hold.
    """
    return support_of_nuggets(asked, release.promise.support_floor, len(release.original))


def own_names(release: Release) -> set[str]:
    """The items that the release has under their own names; a name that has become that of a group is none of them."""
    return (
        set(release.original.names).intersection(release.custodian_data.names).difference(release.generalized.values())
    )


def _frequent(data: Transactions, least: int) -> frozenset[str]:
    """The items of all nuggets."""
    return frozenset(name for name, count in zip(data.names, data.supports.tolist(), strict=True) if count >= least)


def _kept_or_coarser(release: Release, items: Collection[str], least: int, size: int | None, limits: Limits) -> float:
    """The share of the nuggets of these items that are frequent under the names they have now.

    Whoever holds an itemset holds the names of its items, so one that loses no item is frequent still; unless
    transactions are withheld that held something else than what is suppressed, or single occurrences are gone.
    """
    original, left = release.original, set(items).difference(release.suppressed)
    withheld = original.take(np.array(release.withheld, dtype=np.int64))
    may_be_rarer = release.kept is not None or not set(withheld.names).issubset(release.suppressed)
    if not items or (len(left) == len(items) and not may_be_rarer):
        return 1.0
    total = count_frequent(original, least, max_size=size, items=items, **limits.bounds()).total
    if not may_be_rarer:
        kept = count_frequent(original, least, max_size=size, items=left, **limits.bounds()).total
        return float(Fraction(kept, total))
    there = set(release.custodian_data.names)
    found = frequent(original, least, max_size=size, items=left, **limits.bounds())
    named = [{release.generalized.get(item, item) for item in itemset} for itemset, _ in found]
    counted = supports(release.custodian_data, [sorted(x) for x in named if x <= there], **limits.bounds())
    return float(Fraction(int((counted >= least).sum()), total))


def _lost(release: Release, items: Collection[str], least: int, size: int | None, limits: Limits) -> float:
    """(R - R')/R over the nuggets of these items."""
    before, after = release.original, release.custodian_data
    there = own_names(release).intersection(items)
    supports = (data.supports[data.codes(sorted(there))].tolist() for data in (before, after))
    if len(there) == len(items) and len({tuple(counts) for counts in supports}) == 1:
        return 0.0  # no occurrence of these items is gone: no need to count what may take long
    nuggets = count_frequent(before, least, max_size=size, items=items, **limits.bounds()).total
    # Where transactions are withheld or single occurrences are gone, supports are smaller: so count in the release.
    kept = count_frequent(after, least, max_size=size, items=there, **limits.bounds()).total
    return float(Fraction(nuggets - kept, nuggets))
