"""How many transactions hold which part of a pattern: counted by ``native/audit/patterns.cpp``, here or on an engine.

On an engine it counts each piece. The different parts of a pattern are brought together in one share, and added up
there. Tasks know patterns by numbers and items by codes, so no log of theirs tells what is hidden.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.engines import Held, Piece, Work
from veilset.engines.rows import packed, united
from veilset.limits import Limits

TASK, ADVICE = "The audit", "audit fewer or shorter patterns."
_SLOTS_AT_ONCE = 3  # shares of the patterns, for each task that can run at once

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


class Counted(NamedTuple):
    """The different parts of each pattern that rows hold, as the kernel tells them.

    Those of pattern p are ``first[p] .. first[p + 1]``; part i holds the items at
    ``places[begins[i] : begins[i + 1]]`` of its pattern, and *rows[i]* rows hold exactly these.
    """

    first: _Array
    begins: _Array
    places: _Codes
    rows: _Array


class Patterns(NamedTuple):
    """Patterns as rows of codes, which ascend, of a vocabulary with so many items."""

    offsets: _Array
    codes: _Codes
    vocabulary: int


def counted(rows: Piece, patterns: Patterns, limits: Limits) -> Counted:
    """What rows hold of the patterns."""
    with limits.guard(TASK, ADVICE):
        return Counted(
            *_native.audit.patterns(
                rows.offsets,
                rows.items,
                patterns.vocabulary,
                patterns.offsets,
                patterns.codes,
                threads=limits.thread_count,
                **limits.for_kernel(lambda _: "Counting the patterns in transactions"),
            )
        )


def counted_on_engine(data: Held, patterns: Patterns, limits: Limits) -> Counted:
    """The same for transactions that an engine holds; parts of a pattern are in another order."""
    count = len(patterns.offsets) - 1
    slots = min(count, _SLOTS_AT_ONCE * data.parallelism)
    limits.check_time(TASK, ADVICE)
    dealt = data.dealt(partial(_parts_of_piece, patterns=patterns, slots=slots), slots)
    try:
        limits.require(3 * sum(dealt.each(_size)), TASK, ADVICE)  # they come as they are, and are put together once
        found = [rows for rows in dealt.each(_added_up) if len(rows.weights)]
    finally:
        dealt.close()
    return _in_order(found, count)


def _parts_of_piece(piece: Piece, *, patterns: Patterns, slots: int) -> tuple[_Array, _Codes]:
    """Rows of a slot, a pattern, how many rows of the piece hold exactly a part of it, and the places of this part."""
    found = counted(piece, patterns, Limits(threads=1))
    pattern = np.repeat(np.arange(len(found.first) - 1, dtype=np.int32), np.diff(found.first))
    ends = found.begins + 3 * np.arange(len(found.begins))
    values = np.empty(ends[-1], dtype=np.int32)
    is_place = np.ones(len(values), dtype=bool)
    for column, numbers in enumerate((pattern % slots, pattern, found.rows)):
        values[ends[:-1] + column] = numbers
        is_place[ends[:-1] + column] = False
    values[is_place] = found.places
    return ends, values


def _size(_: int, rows: Work) -> int:
    return rows.items.nbytes + rows.offsets.nbytes + rows.weights.nbytes


def _added_up(_: int, rows: Work) -> Work:
    """The different rows of a pattern and places of a part, with how many rows hold exactly that in all pieces."""
    begins = rows.offsets[:-1]
    is_left = np.ones(len(rows.items), dtype=bool)
    is_left[begins + 1] = False
    parts = packed(rows.offsets - np.arange(len(rows.offsets)), rows.items[is_left])
    numbers = rows.weights * rows.items[begins + 1]
    return united([pa.table({"row": parts, "weight": numbers})])


def _in_order(found: list[Work], patterns: int) -> Counted:
    """The parts of one pattern after those of another."""
    heads = [rows.items[rows.offsets[:-1]] for rows in found]
    pattern = np.concatenate([np.empty(0, dtype=np.int32), *heads])
    lengths = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(rows.offsets) for rows in found)])
    values = np.concatenate([np.empty(0, dtype=np.int32), *(rows.items for rows in found)])
    weights = np.concatenate([np.empty(0, dtype=np.int64), *(rows.weights for rows in found)])
    order = np.argsort(pattern, kind="stable")
    begins = (np.cumsum(lengths) - lengths)[order] + 1
    lengths = lengths[order] - 1
    ends = np.append(0, np.cumsum(lengths))
    places = values[np.arange(ends[-1]) + np.repeat(begins - ends[:-1], lengths)]
    return Counted(np.searchsorted(pattern[order], np.arange(patterns + 1)), ends, places, weights[order])
