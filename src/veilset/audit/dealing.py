"""Which rows go to which share of the branches, for an audit of transactions that lie in pieces.

Functions of one piece, which run wherever it lies; `coherence_spread` says what shares and branches are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from veilset.audit.shares import Shares
from veilset.engines import Piece

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


def costs_of_pairs(piece: Piece, *, rank: _Codes, cut: _Codes, group: _Codes) -> dict[str, _Array]:
    """For each branch that is cut and each group of second items: what rows with both have from the first one on."""
    row, ranks = in_order(piece, rank)
    shape, lead = (len(piece.offsets) - 1, int(group.max(initial=-1)) + 1), np.flatnonzero(np.isin(ranks, cut))
    begins = _begins(row, group[ranks])
    left = np.searchsorted(row, row[begins], side="right") - begins
    read = sparse.csr_array((left, (row[begins], group[ranks[begins]])), shape)
    leading = (np.ones(len(lead), dtype=np.int64), (np.searchsorted(cut, ranks[lead]), row[lead]))
    return {"costs": (sparse.csr_array(leading, (len(cut), shape[0])) @ read).toarray().ravel()}


def dealt_rows(piece: Piece, *, rank: _Codes, order: _Codes, kind: _Codes, shares: Shares) -> tuple[_Array, _Codes]:
    """Each row once for each share that needs it: the share, the items that it needs, the sensitive ones.

    A stretch of branches needs the items from its first one on; a branch that is cut needs its own item alone, and a
    stretch of its pairs needs this and those from its first second item on.
    """
    row, ranks = in_order(piece, rank)
    begins = _begins(row, shares.of_branch[ranks])
    lead, following, share = _pairs(row, ranks, shares)
    whose, starts = np.concatenate([row[begins], row[lead]]), np.concatenate([begins, following])
    public = np.searchsorted(row, whose, side="right") - starts
    public[: len(begins)][shares.is_cut[ranks[begins]]] = 1

    is_sensitive = kind[piece.items] >= 0
    sensitive, carriers = piece.items[is_sensitive], rows_of(piece)[is_sensitive]
    first = np.searchsorted(carriers, whose)
    carried = np.searchsorted(carriers, whose, side="right") - first

    in_front = 1 + np.repeat([0, 1], [len(begins), len(lead)])
    offsets = np.append(0, np.cumsum(in_front + public + carried))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = np.concatenate([shares.of_branch[ranks[begins]], share])
    values[offsets[len(begins) : -1] + 1] = order[ranks[lead]]
    values[_stretches(offsets[:-1] + in_front, public)] = order[ranks[_stretches(starts, public)]]
    values[_stretches(offsets[:-1] + in_front + public, carried)] = sensitive[_stretches(first, carried)]
    return offsets, values


def _pairs(row: _Array, ranks: _Codes, shares: Shares) -> tuple[_Array, _Array, _Codes]:
    """Where a row has the item of a branch that is cut, where the first item of a share of its pairs, and the share."""
    lead = np.flatnonzero(shares.is_cut[ranks])
    first, end = (shares.of_branch[ranks[lead] + after].astype(np.int64) + 1 - after for after in (0, 1))
    lead, share = np.repeat(lead, end - first), _stretches(first, end - first)
    place, width = row * len(shares.of_branch) + ranks, len(shares.of_branch)
    following = np.searchsorted(place, row[lead] * width + shares.second[share])
    there = following < np.searchsorted(place, row[lead] * width + shares.second_end[share])
    return lead[there], following[there], share[there].astype(np.int32)


def _begins(row: _Array, of: _Codes) -> _Array:
    """Where another row begins, or something else in it."""
    return np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (of[1:] != of[:-1]))[: len(row)])


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
