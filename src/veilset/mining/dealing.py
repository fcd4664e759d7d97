"""Which rows go to which share of a search on an engine: functions of one piece, which run wherever it lies.

`spread` says what shares and branches are. Items become *places*: public ones their ranks from the rarest on, sensitive
ones the numbers after these; -1 is left out. The auditors have code of their own for this.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Piece
from veilset.limits import Limits

_SHARE = 8_000_000
"""Item occurrences that a share is to hold, roughly: some hundred megabytes in its task."""
_SHARES_AT_ONCE = 3
"""Shares for each task that can run at once, so that none waits long for the last."""

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


def dealt_places(
    piece: Piece, *, place: _Codes, share: _Codes, fresh: npt.NDArray[np.uint8], whole: bool = False
) -> tuple[_Numbers, _Codes]:
    """Each row once for each share that has one of its public items: the share, and the places from its first item on.

    Where nothing fresh follows, no itemset is asked for. With *whole*, it is all places of the row.
    """
    rows, places, left = _placed(piece, place)
    whose = np.full(len(places), -1, dtype=np.int64)
    walked = places < len(share)
    whose[walked] = share[places[walked]]
    begins = np.flatnonzero(walked & np.append(True, (rows[1:] != rows[:-1]) | (whose[1:] != whose[:-1]))[: len(rows)])
    is_fresh = np.zeros(len(places), dtype=np.int64)
    is_fresh[walked] = fresh[places[walked]]
    before = np.append(0, np.cumsum(is_fresh))
    begins = begins[before[begins + left[begins]] > before[begins]]
    to = whose[begins]
    if whole:
        begins = np.searchsorted(rows, rows[begins])
    lengths = left[begins]
    offsets = np.append(0, np.cumsum(1 + lengths))
    values = np.empty(offsets[-1], dtype=np.int32)
    values[offsets[:-1]] = to
    rest = np.ones(len(values), dtype=bool)
    rest[offsets[:-1]] = False
    # The places of stretch i: begins[i], begins[i] + 1, … as often as it is long.
    values[rest] = places[np.arange(lengths.sum()) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)]
    return offsets, values


def shares_of(costs: _Numbers, parallelism: int) -> _Codes:
    """The share of each branch: stretches that cost about the same."""
    count = max(_SHARES_AT_ONCE * parallelism, -(-int(costs.sum()) // _SHARE))
    # The share in which the middle of a branch falls, without gaps in the numbers.
    middles = np.cumsum(costs) - costs / 2
    found = np.unique(middles * count // max(1, int(costs.sum())), return_inverse=True)[1]
    return np.asarray(found, dtype=np.int32)


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
