"""Frequent itemsets, all of them or only the closed or the maximal ones; and their number without listing them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Held
from veilset.errors import InvalidArgument, said, unknown
from veilset.exact import Support, check_whole, is_whole, support_of
from veilset.limits import Bounds, Limits
from veilset.mining.frequent_spread import frequent_on_engine
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions, check_transactions

LARGEST = 2**31 - 1
"""No data has itemsets or supports beyond this; what is asked for beyond it may be cut to it."""

Kind = Literal["all", "closed", "maximal"]

_ADVICE = f"use a higher {said('min_support')}, a smaller {said('max_size')}, or closed or maximal itemsets."


def frequent(
    data: Transactions | Held,
    min_support: Support,
    *,
    kind: Kind = "all",
    min_size: int = 1,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Itemsets:
    """The itemsets that at least *min_support* transactions contain. Sensitive items are treated like others.

    Parameters
    ----------
    data : Transactions
        Or transactions that an engine holds: then at most 5 million itemsets, the fewest items first.
    min_support : int, float or str
        A whole number of transactions, or a share of them: 0.01, ``"1%"``, ``"1/3"``.
    kind : {"all", "closed", "maximal"}
        Closed: no larger itemset has the same support. Maximal: no larger itemset is frequent.
    min_size, max_size : int, optional
        Leave out itemsets with fewer or more items; this does not affect which are closed or maximal.
    items : iterable of str, optional
        Only these items; all others are ignored.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["c"]])
    >>> frequent(data, 2, kind="closed").to_lists()
    [(['a', 'b'], 2), (['c'], 2)]
    """
    limits = Limits(**bounds)
    if kind not in get_args(Kind):
        raise unknown("kind", kind, get_args(Kind))
    at_least, at_most = _sizes(min_size, max_size)
    if isinstance(data, Held):
        return frequent_on_engine(
            data,
            allowed(data.vocabulary, items),
            min_support=support_of(min_support, len(data)),
            kind=kind,
            min_size=at_least,
            max_size=at_most,
            limits=limits,
        )
    check_transactions(data)
    with limits.guard("The search for frequent itemsets", _ADVICE):
        offsets, found, supports = _native.mining.frequent(
            data.offsets,
            data.items,
            allowed(data, items),
            min_support=support_of(min_support, len(data)),
            kind=kind,
            min_size=at_least,
            max_size=at_most,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Searching for frequent itemsets"),
        )
    return Itemsets(data.names, offsets, found, supports)


@dataclass(frozen=True)
class Count:
    """The number of itemsets, and for each item the number of those that contain it."""

    total: int
    per_item: dict[str, int]


def count_frequent(
    data: Transactions,
    min_support: Support,
    *,
    containing: Iterable[str] = (),
    avoiding: Itemsets | None = None,
    min_size: int = 1,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    **bounds: Unpack[Bounds],
) -> Count:
    """The exact number of frequent itemsets, without listing them; it may be astronomically large.

    Parameters
    ----------
    containing : iterable of str
        Count only the itemsets with all of these items. ``per_item`` then says how many contain these and the item.
    avoiding : Itemsets, optional
        Count only the itemsets that contain none of these; items are matched by name.
    min_support, min_size, max_size, items
        As for `frequent`.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["c"]])
    >>> count_frequent(data, 1)
    Count(total=7, per_item={'a': 4, 'b': 4, 'c': 4})
    >>> count_frequent(data, 1, containing=["a"])
    Count(total=4, per_item={'a': 4, 'b': 2, 'c': 2})
    >>> count_frequent(data, 1, avoiding=frequent(data, 2, min_size=2))  # those without a and b together
    Count(total=5, per_item={'a': 2, 'b': 2, 'c': 3})
    """
    check_transactions(data)
    limits = Limits(**bounds)
    at_least, at_most = _sizes(min_size, max_size)
    mask = allowed(data, items)
    wanted = np.unique(data.codes(containing)).astype(np.int32)
    mask[wanted] = 1
    with limits.guard(
        "Counting frequent itemsets", f"use a higher {said('min_support')} or a smaller {said('max_size')}."
    ):
        counts = _native.mining.count_frequent(
            data.offsets,
            data.items,
            mask,
            wanted,
            np.zeros(1, dtype=np.int64) if avoiding is None else avoiding.offsets,
            np.zeros(0, dtype=np.int32) if avoiding is None else avoiding.codes_in(data.names),
            min_support=support_of(min_support, len(data)),
            min_size=at_least,
            max_size=at_most,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting frequent itemsets"),
        )
    total, *per_item = (int.from_bytes(row.tobytes(), "little") for row in counts.reshape(len(mask) + 1, -1))
    return Count(total, {name: per_item[c] for c, name in enumerate(data.names) if mask[c]})


def support_of_nuggets(asked: Support | None, k: int, transactions: int) -> int:
    """k': how many transactions hold a nugget (thesis Definition 7) at least.

    None: 1% of them, but at least the k of coherence, since no release shows what fewer hold.

    >>> support_of_nuggets(None, 20, 10_000), support_of_nuggets(None, 20, 1000), support_of_nuggets("5%", 20, 1000)
    (100, 20, 50)
    """
    return (
        max(k, support_of("1%", transactions)) if asked is None else support_of(asked, transactions, "nugget_support")
    )


def check_nugget_size(asked: int | None) -> None:
    """Raise unless there can be nuggets of up to p' items; None: of any size."""
    any_size = f"Give at least 1, or {said('nugget_size', None)} for nuggets of any size."
    check_whole(asked, "nugget_size", any_size, may_be_none=True)


def allowed(data: Transactions, items: Iterable[str] | None) -> npt.NDArray[np.uint8]:
    """A mask over the vocabulary: the items that may be mined."""
    if items is None:
        return np.ones(len(data.names), dtype=np.uint8)
    mask = np.zeros(len(data.names), dtype=np.uint8)
    mask[data.codes(items)] = 1
    return mask


def _sizes(min_size: int, max_size: int | None) -> tuple[int, int]:
    """What the kernels take: 0 stands for no largest size."""
    check_whole(min_size, "min_size", "Itemsets have at least 1 item.")
    if max_size is not None and not is_whole(max_size, min_size):
        raise InvalidArgument(
            f"{said('max_size')} is {max_size} and {said('min_size')} {min_size}.",
            f"Give a {said('max_size')} of at least {said('min_size')} in whole numbers, or none.",
        )
    return min(min_size, LARGEST), min(max_size or 0, LARGEST)
