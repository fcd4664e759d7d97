"""Which rows go to which share of the branches, for an audit of transactions that lie in pieces.

Functions of one piece, which run wherever it lies; `coherence_spread` says what shares and branches are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset.engines import Piece

MOST_IN_SHARE = 8_000_000
"""Item occurrences that a share is to hold, roughly: some hundred megabytes in its task."""
_SHARES_AT_ONCE = 3
"""Shares for each task that can run at once, so that none waits long for the last."""

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


def survey(piece: Piece, *, kind: _Codes, things: int) -> dict[str, _Array]:
    """What level 0 needs, and the order of the items."""
    row = rows_of(piece)
    of_item = kind[piece.items]
    pairs = np.unique(row[of_item >= 0] * max(1, things) + of_item[of_item >= 0])
    return {
        "supports": np.bincount(piece.items, minlength=len(kind)),
        "sizes": np.bincount(np.bincount(row[of_item < 0], minlength=len(piece.offsets) - 1)),
        "with": np.bincount(pairs % max(1, things), minlength=things),
        "with_any": np.array([len(np.unique(pairs // max(1, things)))]),
    }


def costs_of_branches(piece: Piece, *, rank: _Codes) -> dict[str, _Array]:
    """For each item, how many items its rows have from it on: what its branch has to read."""
    row, ranks = in_order(piece, rank)
    ends = np.searchsorted(row, row, side="right")
    left = ends - np.arange(len(row))
    return {"costs": np.bincount(ranks, weights=left, minlength=int(rank.max(initial=-1)) + 1).astype(np.int64)}


def dealt_rows(piece: Piece, *, rank: _Codes, order: _Codes, kind: _Codes, share: _Codes) -> tuple[_Array, _Codes]:
    """Each row once for each share that has one of its items: the share, the items from its first on, the sensitive."""
    row, ranks = in_order(piece, rank)
    mine = share[ranks]
    begins = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (mine[1:] != mine[:-1]))[: len(row)])
    public = np.searchsorted(row, row[begins], side="right") - begins

    whose = rows_of(piece)
    is_sensitive = kind[piece.items] >= 0
    sensitive, carriers = piece.items[is_sensitive], whose[is_sensitive]
    first = np.searchsorted(carriers, row[begins])
    carried = np.searchsorted(carriers, row[begins], side="right") - first

    offsets = np.append(0, np.cumsum(1 + public + carried))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = mine[begins]
    values[_stretches(offsets[:-1] + 1, public)] = order[ranks[_stretches(begins, public)]]
    values[_stretches(offsets[:-1] + 1 + public, carried)] = sensitive[_stretches(first, carried)]
    return offsets, values


def dealt_whole(piece: Piece, *, rank: _Codes, order: _Codes, share: _Codes) -> tuple[_Array, _Codes]:
    """Each row once for each share that has one of its items: the share, and the items from its first on.

    A row that has rarer ones comes with an item of an earlier share.
    """
    row, ranks = in_order(piece, rank)
    mine = share[ranks]
    starts = np.append(True, row[1:] != row[:-1])[: len(row)]
    begins = np.flatnonzero(starts | np.append(True, mine[1:] != mine[:-1])[: len(row)])
    cut = (~starts[begins]).astype(np.int64)
    held = np.searchsorted(row, row[begins], side="right") - begins

    offsets = np.append(0, np.cumsum(1 + cut + held))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = mine[begins]
    before = np.searchsorted(share, mine[begins]) - 1
    values[offsets[:-1][cut == 1] + 1] = order[before[cut == 1]]
    values[_stretches(offsets[:-1] + 1 + cut, held)] = order[ranks[_stretches(begins, held)]]
    return offsets, values


def dealt_overlaps(piece: Piece, *, itemsets: list[list[int]], kind: _Codes) -> tuple[_Array, _Codes]:
    """Each row once for each itemset, whose number is the share: what it holds of this, and of the sensitive items."""
    row = rows_of(piece)
    lengths, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for number, itemset in enumerate(itemsets):
        wanted = kind >= 0
        wanted[itemset] = True
        held = np.bincount(row[wanted[piece.items]], minlength=len(piece.offsets) - 1)
        mine = np.full(len(held) + held.sum(), number, dtype=np.int32)
        mine[_stretches(np.cumsum(1 + held) - held, held)] = piece.items[wanted[piece.items]]
        lengths.append(1 + held)
        values.append(mine)
    return np.append(0, np.cumsum(np.concatenate(lengths))), np.concatenate(values)


def rows_of(piece: Piece) -> _Array:
    """The row of each occurrence."""
    return np.repeat(np.arange(len(piece.offsets) - 1), np.diff(piece.offsets))


def in_order(piece: Piece, rank: _Codes) -> tuple[_Array, _Codes]:
    """The row and the rank of each occurrence that has one, row by row from the rarest item on."""
    ranks, row = rank[piece.items], rows_of(piece)
    ranked = ranks >= 0
    row, ranks = row[ranked], ranks[ranked]
    by_rank = np.lexsort((ranks, row))
    return row[by_rank], ranks[by_rank]


def _stretches(begins: _Array, lengths: _Array) -> _Array:
    """begin, begin + 1, …, so many of each."""
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(begins - before, lengths), dtype=np.int64)


def shares_of(costs: _Array, parallelism: int) -> _Codes:
    """The share of each branch."""
    return stretches(costs, max(_SHARES_AT_ONCE * parallelism, -(-int(costs.sum()) // MOST_IN_SHARE)))


def stretches(costs: _Array, count: int) -> _Codes:
    """Of each, the number of the stretch that it is in: about so many, which cost about the same."""
    room = max(1, -(-int(costs.sum()) // count))
    stretch, filled, numbers = 0, 0, np.zeros(len(costs), dtype=np.int32)
    for place, cost in enumerate(costs.tolist()):
        if filled and filled + cost > room:
            stretch, filled = stretch + 1, 0
        filled += cost
        numbers[place] = stretch
    return numbers
