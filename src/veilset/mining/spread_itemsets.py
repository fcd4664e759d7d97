"""Itemsets on an engine: the answers of `supports`, of `pairs`, and of `frequent` with ``kind="maximal"``.

A maximal itemset is searched where its rarest item is: a share of the items is given, in one shuffle, the rows with one
of them, without rarer ones (`dealing`). All rows of an itemset whose rarest item belongs to the share are there, so its
support there is its support; what is maximal among all is maximal there. Some are part of an itemset whose rarest item
belongs to another share: the driver leaves these out.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Held, Piece, Work
from veilset.engines.rows import only
from veilset.limits import Limits
from veilset.mining.dealing import branch_costs, dealt_places, shares_of
from veilset.mining.itemsets import Itemsets

_TASK, _ADVICE = "The search for frequent itemsets", "use a higher support."
_SLOTS_AT_ONCE = 3  # shares of the pairs, for each task that can run at once

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


def supports_held(held: Held, itemsets: Itemsets, limits: Limits) -> _Numbers:
    """The support of each of many itemsets, whose items are those of what is held."""
    limits.check_time("Counting itemsets", "count fewer itemsets at once.")
    counted = held.totals(partial(_supports, itemsets=itemsets))
    return counted.get("supports", np.zeros(len(itemsets), dtype=np.int64))


def maximal_held(held: Held, supports: _Numbers, least: int, limits: Limits) -> Itemsets:
    """The itemsets that at least *least* transactions contain, and none of which is part of another."""
    limits.check_time(_TASK, _ADVICE)
    limits.step("Searching for frequent itemsets")
    items = np.flatnonzero(supports >= max(1, least))
    order = items[np.argsort(supports[items], kind="stable")].astype(np.int32)
    place = np.full(len(supports), -1, dtype=np.int32)
    place[order] = np.arange(len(order))
    costs = held.totals(partial(branch_costs, place=place, publics=len(order)))
    share = shares_of(costs.get("costs", np.zeros(len(order), np.int64)), held.parallelism)
    count = int(share.max(initial=-1)) + 1
    bounds = list(pairwise(np.searchsorted(share, np.arange(count + 1)).tolist()))
    fresh = np.ones(len(order), dtype=np.uint8)
    dealt = held.dealt(partial(dealt_places, place=place, share=share, fresh=fresh), count)
    try:
        search = partial(_maximal, bounds=bounds, items=len(order), least=least)
        answers = dealt.each(search)
    finally:
        dealt.close()
    limits.require(4 * sum(places.nbytes for _, places in answers), _TASK, _ADVICE)
    lengths = np.concatenate([np.zeros(0, np.int64), *(lengths for lengths, _ in answers)])
    places = np.concatenate([np.zeros(0, np.int32), *(places for _, places in answers)])
    with limits.guard(_TASK, _ADVICE):
        offsets, found, _ = _maximal_rows(np.append(0, np.cumsum(lengths)), order[places], len(supports), limits)
    nothing = np.zeros(len(offsets) - 1, dtype=np.int64)
    listed = Itemsets(held.vocabulary.names, offsets, found, nothing)
    return Itemsets(listed.names, offsets, found, supports_held(held, listed, limits))


class Pairs(NamedTuple):
    """Pairs of codes that occur, the smaller one first, and how many transactions contain both."""

    first: _Numbers
    second: _Numbers
    supports: _Numbers


def pairs_held(held: Held, items: _Numbers, limits: Limits) -> Pairs:
    """All pairs of these items that occur."""
    limits.check_time("Counting pairs", "count fewer items at once.")
    width = len(held.vocabulary.names)
    allowed = np.zeros(width, dtype=np.uint8)
    allowed[items] = 1
    slots = _SLOTS_AT_ONCE * held.parallelism
    dealt = held.dealt(partial(_dealt_pairs, allowed=allowed, slots=slots), slots)
    try:
        parts = dealt.each(partial(_added_pairs, width=width))
    finally:
        dealt.close()
    keys = np.concatenate([np.zeros(0, np.int64), *(keys for keys, _ in parts)])
    counts = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in parts)])
    return Pairs(*np.divmod(keys, max(1, width)), counts)


def supports_in(piece: Piece, itemsets: Itemsets) -> _Numbers:
    """How many of the rows of a piece hold each itemset."""
    limits = Limits(threads=1)
    with limits.guard("Counting itemsets", "count fewer itemsets at once."):
        return _native.mining.supports(
            *piece,
            len(itemsets.names),
            itemsets.offsets,
            itemsets.items,
            threads=1,
            **limits.for_kernel(lambda _: "Counting itemsets"),
        )


def _supports(piece: Piece, *, itemsets: Itemsets) -> dict[str, _Numbers]:
    return {"supports": supports_in(piece, itemsets)}


def _maximal(
    number: int, rows: Work, *, bounds: list[tuple[int, int]], items: int, least: int
) -> tuple[_Numbers, _Codes]:
    """The lengths and the places of the itemsets that are maximal in a share and have their rarest item there."""
    limits, (first, end) = Limits(threads=1), bounds[number]
    # Whether *least* rows contain an itemset does not depend on what a row weighs beyond that.
    often = np.repeat(np.arange(len(rows.weights)), np.minimum(rows.weights, max(1, least)))
    with limits.guard(_TASK, _ADVICE):
        offsets, places, _ = _native.mining.frequent(
            *only(Piece(rows.offsets, rows.items), often),
            np.ones(items, dtype=np.uint8),
            min_support=max(1, least),
            kind="maximal",
            min_size=1,
            max_size=0,
            threads=1,
            **limits.for_kernel(lambda _: _TASK),
        )
    mine = np.flatnonzero((places[offsets[:-1]] >= first) & (places[offsets[:-1]] < end))
    found = only(Piece(offsets, places), mine)
    return np.diff(found.offsets), found.items


def _maximal_rows(
    offsets: _Numbers, items: _Codes, vocabulary: int, limits: Limits
) -> tuple[_Numbers, _Codes, _Numbers]:
    """The itemsets that are part of no other; each may stand there once."""
    rows = Piece(offsets, items)
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ascending = items[np.lexsort((items, row))]
    return _native.mining.frequent(
        rows.offsets,
        ascending,
        np.ones(vocabulary, dtype=np.uint8),
        min_support=1,
        kind="maximal",
        min_size=1,
        max_size=0,
        threads=limits.thread_count,
        **limits.for_kernel(lambda _: _TASK),
    )


def _dealt_pairs(piece: Piece, *, allowed: npt.NDArray[np.uint8], slots: int) -> tuple[_Numbers, _Codes]:
    """Rows of a slot, both items of a pair, and how many rows of the piece contain it."""
    limits = Limits(threads=1)
    with limits.guard("Counting pairs", "count fewer items at once."):
        _, found, together = _native.mining.pairs(
            *piece, allowed, min_support=1, threads=1, **limits.for_kernel(lambda _: "Counting pairs")
        )
    both = np.sort(found.reshape(-1, 2), axis=1)
    values = np.column_stack([both[:, 0] % slots, both, together]).astype(np.int32)
    return 4 * np.arange(len(both) + 1, dtype=np.int64), values.ravel()


def _added_pairs(_: int, rows: Work, *, width: int) -> tuple[_Numbers, _Numbers]:
    """The different pairs, as numbers, and how many transactions contain each."""
    first, second, together = rows.items.reshape(-1, 3).T.astype(np.int64)
    keys, which = np.unique(first * width + second, return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, which, together * rows.weights)
    return keys, counts
