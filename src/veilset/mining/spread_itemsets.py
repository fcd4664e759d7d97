"""Counting itemsets in what an engine holds: the answers of `supports` and `pairs`."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Held, Piece, Work
from veilset.limits import Limits
from veilset.mining.itemsets import Itemsets

_SLOTS_AT_ONCE = 3  # shares of the pairs, for each task that can run at once

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


def supports_held(held: Held, itemsets: Itemsets, limits: Limits) -> _Numbers:
    """The support of each of many itemsets, whose items are those of what is held."""
    limits.check_time("Counting itemsets", "count fewer itemsets at once.")
    counted = held.totals(partial(_supports, itemsets=itemsets))
    return counted.get("supports", np.zeros(len(itemsets), dtype=np.int64))


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
