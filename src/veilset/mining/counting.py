"""Counting given itemsets: which transactions hold one, how many hold each of many; and the pairs that occur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import InvalidArgument, said
from veilset.exact import Support, support_of
from veilset.limits import Bounds, Limits
from veilset.mining.frequent_itemsets import allowed
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions, check_transactions


def cover(data: Transactions, itemset: Iterable[str]) -> npt.NDArray[np.int64]:
    """The positions of the transactions that contain all of these items, ascending; for no items, all positions.

    >>> data = Transactions.from_lists([["a", "b"], ["a"], ["a", "b", "c"]])
    >>> cover(data, ["b", "a"]).tolist()
    [0, 2]
    >>> data.take(cover(data, ["b"])).to_lists()
    [['a', 'b'], ['a', 'b', 'c']]
    """
    check_transactions(data)
    wanted = np.unique(data.codes(itemset)).astype(np.int32)
    return _native.mining.cover(data.offsets, data.items, len(data.names), wanted)


def support(data: Transactions, itemset: Iterable[str]) -> int:
    """The number of transactions that contain all of these items.

    >>> support(Transactions.from_lists([["a", "b"], ["a"], ["a", "b", "c"]]), ["a", "b"])
    2
    """
    return len(cover(data, itemset))


def supports(
    data: Transactions, itemsets: Itemsets | Iterable[Iterable[str]], **bounds: Unpack[Bounds]
) -> npt.NDArray[np.int64]:
    """The support of each of many itemsets; much faster than counting them one by one.

    Parameters
    ----------
    itemsets : Itemsets, or iterable of iterables of str
        `Itemsets` may come from other data, such as the original of a release: items are matched by name, and those
        that are not in *data* have support 0. In lists of names, each must be in *data*.

    Returns
    -------
    array of int64
        In the order of the itemsets.

    Notes
    -----
    Fastest if itemsets that share their rarest items are adjacent, as in the result of `frequent`.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a"], ["a", "b", "c"]])
    >>> supports(data, [["a"], ["a", "c"], []]).tolist()
    [3, 1, 3]
    >>> supports(data.without(["c"]), pairs(data)).tolist()  # those of a and b, a and c, b and c
    [2, 0, 0]
    """
    check_transactions(data)
    limits = Limits(**bounds)
    offsets, codes = coded(data, itemsets)
    with limits.guard("Counting itemsets", "count fewer itemsets at once."):
        return _native.mining.supports(
            data.offsets,
            data.items,
            len(data.names) + 1,  # the last is the code of what no transaction holds
            offsets,
            codes,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting itemsets"),
        )


def pairs(
    data: Transactions,
    *,
    min_support: Support = 1,
    items: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Itemsets:
    """All pairs of items that at least *min_support* transactions contain. Sensitive items are treated like others.

    Memory grows with the pairs that occur, not with those that could. Pairs are in vocabulary order; *min_support* and
    *items* are as for `frequent`.

    >>> data = Transactions.from_lists([["a", "b"], ["a"], ["a", "b", "c"]])
    >>> pairs(data).to_lists()
    [(['a', 'b'], 2), (['a', 'c'], 1), (['b', 'c'], 1)]
    >>> pairs(data, min_support="2/3").to_lists()
    [(['a', 'b'], 2)]
    """
    check_transactions(data)
    limits = Limits(**bounds)
    with limits.guard("Counting pairs", f"use a higher {said('min_support')} or fewer items."):
        offsets, found, together = _native.mining.pairs(
            data.offsets,
            data.items,
            allowed(data, items),
            min_support=support_of(min_support, len(data)),
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting pairs"),
        )
    return Itemsets(data.names, offsets, found, together)


def coded(
    data: Transactions, itemsets: Itemsets | Iterable[Iterable[str]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The itemsets as offsets and codes of *data*; what is not there has the code after the last."""
    if isinstance(itemsets, Itemsets):
        return itemsets.offsets, itemsets.codes_in(data.names)
    flat: list[str] = []
    offsets = [0]
    for number, itemset in enumerate(_several(itemsets), start=1):
        if isinstance(itemset, (str, bytes)) or not isinstance(itemset, Iterable):
            raise InvalidArgument(f"Itemset {number} is {itemset!r}, not a list of items.", f"Write [{itemset!r}].")
        flat.extend(itemset)
        offsets.append(len(flat))
    return np.array(offsets, dtype=np.int64), data.codes(flat).astype(np.int32)


def _several(itemsets: Iterable[Iterable[str]]) -> Iterable[Iterable[str]]:
    if isinstance(itemsets, (str, bytes)) or not isinstance(itemsets, Iterable):
        raise InvalidArgument(
            f"{said('itemsets')} is {itemsets!r}.", "Give a list of lists of items, or the result of frequent."
        )
    return itemsets
