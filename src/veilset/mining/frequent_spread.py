"""Frequent itemsets in transactions that an engine holds: those of `frequent`, in an order of their own.

An itemset belongs to the branch of its rarest item. A share of the branches is given the rows with one of its items:
without rarer ones if all itemsets are asked for, else whole, because a rarer item may show that an itemset is not
closed or not maximal. A task walks its branches with the code that walks them in memory
(``native/mining/frequent.cpp``). The list is put into an order that no share can change: the fewest items first, then
the order of the vocabulary.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Held, Work
from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.limits import Limits
from veilset.mining.dealing import branch_costs, counted, dealt_places
from veilset.mining.itemsets import Itemsets
from veilset.mining.shares import shares_of

MOST_ITEMSETS = 5_000_000
"""No longer list comes to the driver."""
_TASK, _ADVICE = "The search for frequent itemsets", f"use a higher {said('min_support')}."

_Codes = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.int64]
_Walked = tuple[_Numbers, _Codes, _Numbers] | None
"""Offsets, ranks and supports; None: there are too many."""


def frequent_on_engine(
    held: Held,
    mask: npt.NDArray[np.uint8],
    *,
    min_support: int,
    kind: str,
    min_size: int,
    max_size: int,
    limits: Limits,
) -> Itemsets:
    """The itemsets of the items of *mask*; a *max_size* of 0: of any size."""
    refuse_threads(limits)
    supports = supports_on_engine(held)
    codes = np.flatnonzero((mask == 1) & (supports >= max(1, min_support)))
    order = codes[np.argsort(supports[codes], kind="stable")].astype(np.int32)
    place = np.full(len(supports), -1, dtype=np.int32)
    place[order] = np.arange(len(order))
    question = {
        "order": np.arange(len(order), dtype=np.int32),
        "supports": supports[order],
        "vocabulary": len(order),
        "transactions": len(held),
        "min_support": max(1, min_support),
        "kind": kind,
        "min_size": min_size,
        "max_size": max_size,
        "most": MOST_ITEMSETS,
    }
    limits.check_time(_TASK, _ADVICE)
    limits.step(_TASK)
    costs = held.totals(partial(branch_costs, place=place, publics=len(order))) if len(held) else {}
    shares = shares_of(costs.get("costs", np.zeros(len(order), np.int64)), 0, held.parallelism, None)
    bounds = [(1 + first, 1 + end) for first, end, _, _ in shares.bounds.tolist()]  # step 0 is the empty itemset
    fresh = np.ones(len(order), dtype=np.uint8)
    deal = partial(dealt_places, place=place, shares=shares, fresh=fresh, whole=kind != "all")
    dealt = held.dealt(deal, len(bounds))
    try:
        found = dealt.each(partial(_walk, question=question, bounds=bounds))
    finally:
        dealt.close()
    nothing = Work(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    return _in_order(held, [_walk(0, nothing, question=question, bounds=[(0, 1)]), *found], order, limits)


def supports_on_engine(held: Held) -> _Numbers:
    """For each item, the number of transactions that hold it."""
    items = len(held.vocabulary.names)
    found = held.totals(partial(counted, among=np.ones(items, dtype=bool))) if len(held) else {}
    return found.get("supports", np.zeros(items, dtype=np.int64))


def refuse_threads(limits: Limits) -> None:
    """Raise if a number of threads was asked for, which an engine has as its own."""
    if limits.threads is not None:
        raise InvalidArgument(
            f"{said('threads', limits.threads)} does not apply on an engine.", "Choose it with the engine."
        )


def _walk(number: int, rows: Work, *, question: dict[str, Any], bounds: list[tuple[int, int]]) -> _Walked:
    """The itemsets of the branches of one share."""
    limits = Limits(threads=1)
    first, end = bounds[number]
    with limits.guard(_TASK, _ADVICE):
        return _native.mining.frequent_share(
            *rows, **question, first=first, end=end, **limits.for_kernel(lambda _: _TASK)
        )


def _in_order(held: Held, shares: list[_Walked], order: _Codes, limits: Limits) -> Itemsets:
    """What all shares found, in the codes of the vocabulary."""
    parts = [part for part in shares if part is not None]
    total = sum(len(supports) for *_, supports in parts)
    if len(parts) < len(shares) or total > MOST_ITEMSETS:
        raise BudgetExceeded(
            f"There are more than {MOST_ITEMSETS:,} itemsets: too many to list on an engine.",
            f"Use a higher {said('min_support')}, a smaller {said('max_size')}, or closed or maximal itemsets.",
        )
    occurrences = sum(len(items) for _, items, _ in parts)
    limits.require(4 * 4 * occurrences + 4 * 8 * total, _TASK, _ADVICE)
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(offsets) for offsets, _, _ in parts)])
    items = order[np.concatenate([np.zeros(0, np.int32), *(items for _, items, _ in parts)])]
    supports = np.concatenate([np.zeros(0, np.int64), *(supports for *_, supports in parts)])
    begins = np.cumsum(sizes) - sizes
    listed, counts, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        mine = np.flatnonzero(sizes == size)
        codes = np.sort(items[begins[mine][:, None] + np.arange(size)], axis=1)
        by_code = np.lexsort(codes.T[::-1])
        listed.append(codes[by_code].ravel())
        counts.append(supports[mine][by_code])
        lengths.append(np.full(len(mine), size))
    offsets = np.append(0, np.cumsum(np.concatenate(lengths)))
    return Itemsets(held.vocabulary.names, offsets, np.concatenate(listed), np.concatenate(counts))
