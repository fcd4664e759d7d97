"""Which rows go to which share of a search on an engine: functions of one piece, which run wherever it lies.

`spread` says what shares and branches are. Items become *places*: public ones their ranks from the rarest on, sensitive
ones the numbers after these; -1 is left out. The auditors have code of their own for this.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from veilset import _native
from veilset.engines import Piece
from veilset.limits import Limits
from veilset.mining.shares import Shares

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


def counted(piece: Piece, *, among: npt.NDArray[np.bool_]) -> dict[str, _Numbers]:
    """How many rows hold each item, and how many hold so many of some items."""
    sizes = np.bincount(_rows(piece)[among[piece.items]], minlength=len(piece.offsets) - 1)
    return {"supports": np.bincount(piece.items, minlength=len(among)), "sizes": np.bincount(sizes)}


def counted_beside(piece: Piece, *, itemset: _Codes, items: int) -> dict[str, _Numbers]:
    """Of the rows that hold an itemset: how many hold each item."""
    rows = _rows(piece)
    held = np.bincount(rows[np.isin(piece.items, itemset)], minlength=len(piece.offsets) - 1) == len(itemset)
    return {"supports": np.bincount(piece.items[held[rows]], minlength=items)}


def counted_around(piece: Piece, *, offsets: _Numbers, itemsets: _Codes, items: int) -> dict[str, _Numbers]:
    """Of the rows that hold any of some itemsets: how many hold each item."""
    limits = Limits(threads=1)
    with limits.guard("The search for items in moles", "choose a smaller p."):
        held = _native.mining.rows_with_any(
            piece.offsets, piece.items, items, offsets, itemsets, **limits.for_kernel(lambda _: "Looking for moles")
        )
    return {"supports": np.bincount(piece.items[np.repeat(held == 1, np.diff(piece.offsets))], minlength=items)}


def branch_costs(piece: Piece, *, place: _Codes, publics: int) -> dict[str, _Numbers]:
    """For each public item, how many items its rows have from it on."""
    _, places, left = _placed(piece, place)
    walked = places < publics
    return {"costs": np.bincount(places[walked], weights=left[walked], minlength=publics).astype(np.int64)}


def pair_costs(piece: Piece, *, place: _Codes, large: _Codes, group: _Numbers) -> dict[str, _Numbers]:
    """For each large branch and each group of second items: how many items rows with both have from the second on."""
    rows, places, left = _placed(piece, place)
    walked = places < len(group)
    rows, places, left = rows[walked], places[walked], left[walked]
    # Of each group, the first item of a row: what a part would read that is this group.
    cell = rows * (int(group.max()) + 1) + group[places]
    firsts = np.unique(cell, return_index=True)[1]
    shape = len(piece.offsets) - 1, int(group.max()) + 1
    read = sparse.coo_array((left[firsts], (rows[firsts], group[places[firsts]])), shape).tocsr()
    number = np.full(len(group), -1, dtype=np.int64)
    number[large] = np.arange(len(large))
    leads = number[places] >= 0
    ones = np.ones(np.count_nonzero(leads), dtype=np.int64)
    led = sparse.coo_array((ones, (number[places[leads]], rows[leads])), (len(large), shape[0])).tocsr()
    return {"costs": (led @ read).toarray().ravel()}


def dealt_alone(piece: Piece, *, place: _Codes, shares: Shares) -> tuple[_Numbers, _Codes]:
    """Each public item of each row for the share that has it: the share, the item, the sensitive ones of the row."""
    rows, places, left = _placed(piece, place)
    walked = places < len(shares.of_branch)
    things = np.bincount(rows[~walked], minlength=len(piece.offsets) - 1)[rows[walked]]
    begins = (np.arange(len(places)) + left)[walked] - things
    offsets = np.append(0, np.cumsum(2 + things))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = shares.of_branch[places[walked]]
    values[offsets[:-1] + 1] = places[walked]
    rest = np.ones(len(values), dtype=bool)
    rest[offsets[:-1]] = rest[offsets[:-1] + 1] = False
    values[rest] = places[np.arange(things.sum()) + np.repeat(begins - np.cumsum(things) + things, things)]
    return offsets, values


def dealt_places(
    piece: Piece, *, place: _Codes, shares: Shares, fresh: npt.NDArray[np.uint8], whole: bool = False
) -> tuple[_Numbers, _Codes]:
    """Each row once for each share that has one of its public items: the share, and the places from its first item on.

    For a part of a branch, this is the item of the branch and the places from the first second item on. Where nothing
    fresh follows, no itemset is asked for. With *whole*, and no branch in parts, it is all places of the row.
    """
    rows, places, left = _placed(piece, place)
    walked = places < len(fresh)
    whose = np.full(len(places), -1, dtype=np.int64)
    whose[walked] = shares.of_branch[places[walked]]
    begins = np.flatnonzero(
        (whose >= 0) & np.append(True, (rows[1:] != rows[:-1]) | (whose[1:] != whose[:-1]))[: len(rows)]
    )
    leads, seconds, parts = _parted(rows, places, whose, walked, shares)
    is_fresh = np.zeros(len(places), dtype=np.int64)
    is_fresh[walked] = fresh[places[walked]]
    before = np.append(0, np.cumsum(is_fresh))

    share, starts = np.concatenate([whose[begins], parts]), np.concatenate([begins, seconds])
    head = np.concatenate([np.full(len(begins), -1, dtype=np.int64), leads])
    asked = (before[starts + left[starts]] > before[starts]) | ((head >= 0) & (is_fresh[head] == 1))
    share, starts, head = share[asked], starts[asked], head[asked]
    if whole:
        starts = np.searchsorted(rows, rows[starts])
    lengths, headed = left[starts], (head >= 0).astype(np.int64)
    offsets = np.append(0, np.cumsum(1 + headed + lengths))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = share
    values[offsets[:-1][head >= 0] + 1] = places[head[head >= 0]]
    rest = np.ones(len(values), dtype=bool)
    rest[offsets[:-1]] = rest[offsets[:-1] + headed] = False
    # The places of stretch i: starts[i], starts[i] + 1, … as often as it is long.
    values[rest] = places[np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)]
    return offsets, values


def _parted(
    rows: _Numbers, places: _Codes, whose: _Numbers, walked: npt.NDArray[np.bool_], shares: Shares
) -> tuple[_Numbers, _Numbers, _Numbers]:
    """For items of branches in parts, where these are, where the first item of a part is in the row, and the part."""
    leads = np.flatnonzero(walked & (whose < 0))
    count = shares.parts[places[leads] + 1] - shares.parts[places[leads]]
    behind = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    leads = np.repeat(leads, count)
    parts = shares.parts[places[leads]] + behind
    # Rows, and the places in them, ascend: so do both in one number.
    width = int(places.max(initial=0)) + 1 + len(shares.of_branch)
    numbers, (first, end) = rows * width + places, shares.bounds[parts, 2:].T
    seconds, ends = (np.searchsorted(numbers, rows[leads] * width + one) for one in (first, end))
    held = seconds < ends
    return leads[held], seconds[held], parts[held]


def _rows(piece: Piece) -> _Numbers:
    return np.repeat(np.arange(len(piece.offsets) - 1), np.diff(piece.offsets))


def _placed(piece: Piece, place: _Codes) -> tuple[_Numbers, _Codes, _Numbers]:
    """For each occurrence that has a place: its row, its place, and how many of the row are left from it on."""
    rows, places = _rows(piece), place[piece.items]
    rows, places = rows[places >= 0], places[places >= 0]
    in_order = np.lexsort((places, rows))
    rows, places = rows[in_order], places[in_order]
    ends = np.cumsum(np.bincount(rows, minlength=len(piece.offsets) - 1))
    return rows, places, ends[rows] - np.arange(len(rows))
