"""How many moles there are, minimal or not, and how many of them hold each item, without listing them.

A public itemset is safe if at least k transactions hold it and no subset of it gives a sensitive item away; of the
itemsets that occur, the others are moles. Both kinds are counted inside the cohorts of a depth-first walk, so that the
moles that hold an item cost the walk of that item's cohort, not one of the whole data.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np

from veilset.errors import InvalidArgument
from veilset.exact import check_whole, exact_share
from veilset.limits import Bounds
from veilset.mining.frequent_itemsets import Count, count_frequent
from veilset.mining.itemsets import Itemsets
from veilset.mining.moles import minimal_rare
from veilset.transactions import Transactions, check_transactions


def giveaways(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Itemsets:
    """The minimal moles that *k* transactions or more contain: they are moles because they imply a sensitive item.

    An itemset with a support of at least *k* is a mole if and only if it contains one of these. If the confidence of an
    attacker who knows nothing is above *h*, the only one is the empty itemset. Parameters are as for `minimal_rare`.

    >>> data = Transactions.from_lists([["a", "b", "s"], ["a", "b", "s"], ["a"], ["b"], ["c"]], sensitive=["s"])
    >>> giveaways(data, 2, h="2/3").to_lists()
    [(['a', 'b'], 2)]
    """
    check_transactions(data)
    share = exact_share(h, "h")
    if any(int(data.supports[code]) > share * len(data) for code in data.codes(data.sensitive).tolist()):
        return Itemsets(data.names, np.zeros(2, np.int64), np.zeros(0, np.int32), np.array([len(data)], np.int64))
    moles = minimal_rare(data, k, h=share, max_size=max_size, items=items, **bounds)
    return moles.itemsets[moles.supports >= k]


def count_moles(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    containing: Iterable[str] = (),
    items: Iterable[str] | None = None,
    known: Itemsets | None = None,
    **bounds: Unpack[Bounds],
) -> Count:
    """The exact number of moles, minimal or not.

    A mole is a public itemset that occurs, and that fewer than *k* transactions contain, or that, or a subset of it,
    implies a sensitive item with a confidence above *h*.

    Parameters
    ----------
    k, h, max_size, items
        As for `minimal_rare`.
    containing : iterable of str
        Count only the moles with all of these public items; ``per_item`` then says how many contain these and the item.
    known : Itemsets, optional
        The result of `giveaways` with the same *k*, *h* and *max_size* for these items or more. It saves the search if
        you count several times.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]])
    >>> count_moles(data, 2)
    Count(total=3, per_item={'a': 2, 'b': 2, 'c': 3})
    """
    check_transactions(data)
    share = exact_share(h, "h")
    check_whole(k, "k", "Give a whole number of at least 1.")
    public = list(data.public if items is None else items)
    given = list(containing)
    if hidden := sorted(set(data.sensitive).intersection(public + given)):
        raise InvalidArgument(f"{hidden[0]!r} is sensitive, but moles are public itemsets.", "Remove it from the list.")
    if known is None and share < 1:  # with h = 1 nothing is given away
        known = giveaways(data, k, h=share, max_size=max_size, items={*public, *given}, **bounds)
    occurring = count_frequent(data, 1, containing=given, max_size=max_size, items=public, **bounds)
    safe = count_frequent(data, k, containing=given, avoiding=known, max_size=max_size, items=public, **bounds)
    per_item = {item: number - safe.per_item[item] for item, number in occurring.per_item.items()}
    return Count(occurring.total - safe.total, per_item)
