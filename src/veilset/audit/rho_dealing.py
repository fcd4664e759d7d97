"""Which rows go to which share of the sensitive items, for an audit of transactions that lie in pieces.

Most of it are functions of one piece, which run wherever it lies; `inferences_spread` says what shares and company are.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from veilset.audit.dealing import in_order, rows_of
from veilset.audit.shares import MOST_IN_SHARE, stretches
from veilset.engines import Dealt, Held, Piece, Work

_GROUPS = 256
"""Stretches of sensitive items whose company is looked at: bits for each item and each of them come to the driver."""
_LARGER = 1.25  # a share may be so much larger than its first group alone

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
_Bits = npt.NDArray[np.uint8]


def dealt_by_company(
    data: Held, asked: _Codes, supports: _Array, known: npt.NDArray[np.bool_]
) -> tuple[Dealt, list[_Codes]]:
    """The rows of each share, and its sensitive items: stretches of those *asked* about.

    Items that are neither *known* nor asked about in a share are left out there.
    """
    items = len(supports)
    place = np.full(items, -1, dtype=np.int32)
    place[asked] = np.arange(len(asked))
    costs = data.totals(partial(costs_of_items, place=place, rank=_rank(supports), supports=supports))["costs"]
    group = stretches(costs, _GROUPS)
    company = _company_of(data, np.append(group, -1)[place].astype(np.int32), int(group[-1]) + 1)
    group_costs = np.bincount(group, weights=costs).astype(np.int64)
    share = shares_of(company, group_costs, supports, data.parallelism)
    shares = [asked[share[group] == number] for number in range(int(share[-1]) + 1)]
    wanted = [
        np.bitwise_or.reduce(company[share == number]) & np.packbits(known | np.isin(np.arange(items), shares[number]))
        for number in range(len(shares))
    ]
    return data.dealt(partial(dealt_rows, wanted=wanted), len(shares)), shares


def _rank(supports: _Array) -> _Codes:
    """For each item, its place from the rarest to the most frequent."""
    rank = np.empty(len(supports), dtype=np.int32)
    rank[np.argsort(supports, kind="stable")] = np.arange(len(supports))
    return rank


def supports_of(piece: Piece, *, items: int) -> dict[str, _Array]:
    """How many rows hold each item."""
    return {"supports": np.bincount(piece.items, minlength=items)}


def costs_of_items(piece: Piece, *, place: _Codes, rank: _Codes, supports: _Array) -> dict[str, _Array]:
    """For each sensitive item that is asked about, what its rows cost.

    To find those who hold all the rest of a row, the holders of its rarest item are looked through.
    """
    row, ranks = in_order(piece, rank)
    by_rank = np.argsort(rank)
    length = np.diff(piece.offsets)[row]
    first = np.append(True, row[1:] != row[:-1])[: len(row)]
    begin = np.maximum.accumulate(np.where(first, np.arange(len(row)), 0))
    rarest = np.minimum(begin + first, len(row) - 1)  # of the others
    cost = length + np.where(length > 2, supports[by_rank[ranks[rarest]]], 0)
    at = place[by_rank[ranks]]
    count = int(place.max(initial=-1)) + 1
    return {"costs": np.bincount(at[at >= 0], weights=cost[at >= 0], minlength=count).astype(np.int64)}


def _company_of(data: Held, group: _Codes, groups: int) -> _Bits:
    """For each group, which items share a row with one of its own, as bits."""
    slots = min(groups, data.parallelism)
    dealt = data.dealt(partial(company, group=group, slots=slots), slots)
    try:
        answers = dealt.each(partial(_as_bits, items=len(group)))
    finally:
        dealt.close()
    bits = np.zeros((groups, -(-len(group) // 8)), dtype=np.uint8)
    for numbers, found in answers:
        bits[numbers] = found
    return bits


def company(piece: Piece, *, group: _Codes, slots: int) -> tuple[_Array, _Codes]:
    """Rows of a slot, a group and an item that shares a row with one of the group; each once."""
    row, of_item = rows_of(piece), group[piece.items]
    lengths = np.diff(piece.offsets)
    found = []
    for number in np.unique(of_item[of_item >= 0]).tolist():
        holds = np.zeros(len(lengths), dtype=bool)
        holds[row[of_item == number]] = True
        met = np.unique(piece.items[np.repeat(holds, lengths)])
        found.append(np.stack([np.full(len(met), number % slots), np.full(len(met), number), met], axis=1))
    values = np.concatenate([np.empty((0, 3)), *found]).astype(np.int32)
    return np.arange(len(values) + 1) * 3, values.ravel()


def _as_bits(_: int, rows: Work, *, items: int) -> tuple[_Codes, _Bits]:
    """The groups of a slot, and the company of each."""
    pairs = rows.items.reshape(-1, 2)
    numbers, which = np.unique(pairs[:, 0], return_inverse=True)
    bits = np.zeros((len(numbers), -(-items // 8)), dtype=np.uint8)
    np.bitwise_or.at(bits, (which, pairs[:, 1] // 8), (128 >> pairs[:, 1] % 8).astype(np.uint8))
    return numbers, bits


def shares_of(company: _Bits, costs: _Array, supports: _Array, parallelism: int) -> _Codes:
    """The share of each group: stretches that cost about the same, of which none holds too much.

    Shares overlap: where sensitive items occur with nearly everything, each share holds nearly everything. So there are
    no more of them than can be worked on at once, unless that would make one larger than its first group has to be.
    """
    room = max(1, -(-int(costs.sum()) // parallelism))
    share, filled, met, most = 0, 0, company[0], 0.0
    shares = np.zeros(len(costs), dtype=np.int32)
    for group, cost in enumerate(costs.tolist()):
        both = met | company[group]
        if group and (filled + cost > room or _held(both, supports) > most):
            share, filled, both = share + 1, 0, company[group]
        if not filled:
            most = max(MOST_IN_SHARE, _LARGER * _held(both, supports))
        filled += cost
        met = both
        shares[group] = share
    return shares


def _held(company: _Bits, supports: _Array) -> int:
    """How many occurrences the items have."""
    return int(supports[np.unpackbits(company, count=len(supports)) == 1].sum())


def dealt_rows(piece: Piece, *, wanted: list[_Bits]) -> tuple[_Array, _Codes]:
    """Each row once for each share that wants one of its items: the share, and those that it wants."""
    row = rows_of(piece)
    lengths, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for share, bits in enumerate(wanted):
        is_wanted = bits[piece.items // 8] >> (7 - piece.items % 8) & 1 == 1
        held = np.bincount(row[is_wanted], minlength=len(piece.offsets) - 1)
        held = held[held > 0]
        mine = np.full(len(held) + held.sum(), share, dtype=np.int32)
        is_item = np.ones(len(mine), dtype=bool)
        is_item[np.cumsum(1 + held) - held - 1] = False
        mine[is_item] = piece.items[is_wanted]
        lengths.append(1 + held)
        values.append(mine)
    return np.append(0, np.cumsum(np.concatenate(lengths))), np.concatenate(values)
