"""`Classes` on an engine: which items may split transactions into classes, in rounds over all of them.

A class that an item would make too small stays too small however else it is split, and so does one that would hold a
sensitive item too often: one of its parts does. So an item that may not join now may never. Each round asks all items
that are left whether they may join alone; the first that may joins, and those that may not are out. There are as many
rounds as items that join, which are few where classes must be large.

Transactions are counted by class and item before they are sent: a class of any size is a number for each of its items.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from veilset.engines import Held, Piece, Work
from veilset.engines.rows import packed
from veilset.limits import Limits
from veilset.mining.miner import Question

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
_TASK, _ADVICE = "Comparing transactions", "choose another method."


def kept_in_classes(held: Held, question: Question, asked: _Codes, limits: Limits) -> frozenset[str]:
    """Those of the items that join, asked in this order."""
    names = held.vocabulary
    things = np.flatnonzero(names.is_sensitive == 1).astype(np.int32)
    if question["h"] >= 1:
        things = things[:0]
    kept: list[int] = []
    left = asked
    while len(left):
        limits.check_time(_TASK, _ADVICE)
        limits.step(_TASK, len(asked) - len(left), len(asked))
        spoiling = _spoiling(held, question, np.array(sorted(kept), np.int32), left, things)
        left = left[~np.isin(left, spoiling)]
        if len(left):
            kept.append(int(left[0]))
            left = left[1:]
    return frozenset(names.names[code] for code in kept)


def _spoiling(held: Held, question: Question, kept: _Codes, left: _Codes, things: _Codes) -> _Codes:
    """The items that may not join alone."""
    items = len(held.vocabulary.names)
    role = np.zeros(items, dtype=np.int8)
    role[kept], role[left], role[things] = 1, 2, 3
    shares = held.parallelism
    dealt = held.dealt(partial(dealt_counts, role=role, shares=shares), shares)
    share = question["h"]
    try:
        found = dealt.each(
            partial(_spoiling_here, nothing=items, k=question["k"], h_num=share.numerator, h_den=share.denominator)
        )
    finally:
        dealt.close()
    return np.unique(np.concatenate([np.zeros(0, np.int32), *found]))


def dealt_counts(piece: Piece, *, role: npt.NDArray[np.int8], shares: int) -> tuple[_Numbers, _Codes]:
    """For each row: its share, an item or none, a sensitive item or none, and its class, that is what it has of some.

    *role* of an item: 1, the classes are made of it; 2, it is asked about; 3, it is sensitive. None is the number of
    items. Rows of a class go to one share.
    """
    count, nothing = len(piece.offsets) - 1, len(role)
    row = np.repeat(np.arange(count), np.diff(piece.offsets))
    of_item = role[piece.items]
    in_class = of_item == 1
    mixed = piece.items[in_class].astype(np.int64) * 2_654_435_761 % (1 << 32) >> 8
    share = np.bincount(row[in_class], weights=mixed, minlength=count).astype(np.int64) % shares
    lengths = np.bincount(row[in_class], minlength=count)
    members, ends = piece.items[in_class], np.cumsum(lengths)

    everyone = np.arange(count)
    item_row = np.concatenate([everyone, row[of_item == 2]])
    item = np.concatenate([np.full(count, nothing), piece.items[of_item == 2]])
    # Each of those with each sensitive item of the row, and with none.
    carried = np.bincount(row[of_item == 3], minlength=count)
    things, before = piece.items[of_item == 3], np.cumsum(carried) - carried
    times = carried[item_row]
    place = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    whose = np.concatenate([item_row, np.repeat(item_row, times)])
    which = np.concatenate([item, np.repeat(item, times)])
    thing = np.concatenate([np.full(len(item), nothing), things[np.repeat(before[item_row], times) + place]])

    held = lengths[whose]
    offsets = np.append(0, np.cumsum(3 + held))
    values = np.empty(offsets[-1], dtype=np.int32)
    for at, column in enumerate((share[whose], which, thing)):
        values[offsets[:-1] + at] = column
    rest = np.ones(len(values), dtype=bool)
    for at in range(3):
        rest[offsets[:-1] + at] = False
    values[rest] = members[np.arange(held.sum()) + np.repeat(ends[whose] - np.cumsum(held), held)]
    return offsets, values


def _spoiling_here(_: int, rows: Work, *, nothing: int, k: int, h_num: int, h_den: int) -> _Codes:
    """The items that would make a class of this share too small, or too sure."""
    if not len(rows.weights):
        return np.zeros(0, dtype=np.int32)
    starts = rows.offsets[:-1]
    item, thing = rows.items[starts].astype(np.int64), rows.items[starts + 1]
    of_class = np.ones(len(rows.items), dtype=bool)
    of_class[starts] = of_class[starts + 1] = False
    keys = packed(rows.offsets - 2 * np.arange(len(rows.offsets)), rows.items[of_class])
    number = pc.dictionary_encode(keys).indices.to_numpy().astype(np.int64)
    sizes = np.zeros(number.max() + 1, dtype=np.int64)
    whole = (item == nothing) & (thing == nothing)
    sizes[number[whole]] = rows.weights[whole]

    # Of each class, those with an item; and without it, if there are some.
    pairs = (item != nothing) & (thing == nothing)
    key = number * (nothing + 1) + item
    order = np.argsort(key[pairs])
    pair, inside = key[pairs][order], rows.weights[pairs][order]
    of, asked = pair // (nothing + 1), pair % (nothing + 1)
    outside = sizes[of] - inside
    bad = (inside < k) | ((outside > 0) & (outside < k))
    for one in np.unique(thing[thing != nothing]).tolist():
        carrying = thing == one
        all_of_them = np.zeros(len(sizes), dtype=np.int64)
        alone = carrying & (item == nothing)
        all_of_them[number[alone]] = rows.weights[alone]
        together = np.zeros(len(pair), dtype=np.int64)
        both = carrying & (item != nothing)
        together[np.searchsorted(pair, key[both])] = rows.weights[both]
        bad |= (together * h_den > h_num * inside) | ((all_of_them[of] - together) * h_den > h_num * outside)
    return np.unique(asked[bad]).astype(np.int32)
