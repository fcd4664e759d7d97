"""The rows that matter for hiding, reduced to the items that matter: their *kinds*.

An item matters if a hidden pattern or a pattern to keep holds it. What the matrix takes from a row, what is contested
in it and what patterns to keep lose with it depend on these items alone. So a method decides for kinds and for how many
rows there are of each. The rows of a kind are numbered in the order of their bytes, and chance and edits go by these
numbers. They depend on the rows, not on where these lie. So any order of the original, and any engine, gives the same
rows.

What is here are functions of one piece of the rows, which run wherever it lies; without *limits*, in a task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from veilset import _native
from veilset.engines import Held, Piece, Work
from veilset.engines.rows import only, packed, thinned, united
from veilset.errors import UnreadableInput
from veilset.limits import Limits
from veilset.mining import Itemsets

_TASK, _ADVICE = "Hiding patterns", "hide fewer of them at once."
_SLOTS_AT_ONCE = 3  # shares of the kinds, for each task that can run at once
_STAYS = 1
_AT_ONCE = 1 << 17  # rows of kinds that are looked at together

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
_Mask = npt.NDArray[np.bool_]


class Columns(NamedTuple):
    """A matrix by columns, without its diagonal."""

    ends: _Numbers
    items: _Codes
    values: npt.NDArray[np.int8]

    @classmethod
    def of(cls, matrix: csr_array) -> Columns:
        """Those of this matrix."""
        columns = matrix.tocsc()
        columns.setdiag(0)
        columns.eliminate_zeros()
        columns.sort_indices()
        return cls(columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data)

    def product(self, rows: Piece, limits: Limits | None = None) -> npt.NDArray[np.uint8]:
        """D·S under the paper's multiplication: for each occurrence 0 (gone), 1 (stays) or 2 (stays if restored)."""
        limits = limits or Limits(threads=1)
        with limits.guard("The product", "hide from fewer transactions at once."):
            return _native.hiding.sanitize(
                *rows,
                len(self.ends) - 1,
                self.ends,
                self.items,
                self.values,
                threads=limits.thread_count,
                **limits.for_kernel(lambda _: "Multiplying with the sanitization matrix"),
            )


@dataclass(frozen=True)
class Matter:
    """The items that matter, the hidden patterns and the matrix."""

    items: _Mask
    hidden: tuple[_Numbers, _Codes]
    matrix: Columns

    @classmethod
    def of(cls, hidden: Itemsets, keep: Itemsets, matrix: csr_array) -> Matter:
        """What matters for these patterns."""
        items = np.zeros(len(hidden.names), dtype=bool)
        items[hidden.items] = items[keep.items] = True
        return cls(items, (hidden.offsets, hidden.items), Columns.of(matrix))

    def reduced(self, piece: Piece) -> Piece:
        """The rows with the items that matter only."""
        return thinned(piece, self.items[piece.items])

    def contested(self, piece: Piece, *, limits: Limits | None = None) -> tuple[_Numbers, Piece]:
        """The rows that hold a hidden pattern, and their kinds: only from these something goes in the end."""
        limits = limits or Limits(threads=1)
        with limits.guard(_TASK, _ADVICE):
            held = _native.mining.rows_with_any(
                piece.offsets, piece.items, len(self.items), *self.hidden, **limits.for_kernel(lambda _: _TASK)
            )
        rows = np.flatnonzero(held)
        return rows, self.reduced(only(piece, rows))

    def touched(self, piece: Piece, *, limits: Limits | None = None) -> tuple[_Numbers, Piece]:
        """The rows that the product takes something from, or perhaps does, and their kinds."""
        states = self.matrix.product(piece, limits)
        row = np.repeat(np.arange(len(piece.offsets) - 1), np.diff(piece.offsets))
        rows = np.unique(row[states != _STAYS])
        return rows, self.reduced(only(piece, rows))

    def restored(self, kinds: Piece, copies: _Numbers, odds: int, seed: int, limits: Limits | None = None) -> _Mask:
        """Which occurrences the product leaves when those that need chance get it."""
        states = self.matrix.product(kinds, limits)
        kept = _native.hiding.restored(*kinds, len(self.items), states, copies, odds=odds, seed=seed)
        return kept.view(np.bool_)


def different(held: Held, mark: partial[tuple[_Numbers, Piece]], limits: Limits) -> Work:
    """The different kinds of the rows that *mark* tells, in the order of their bytes, and how many rows each has."""
    shares = _SLOTS_AT_ONCE * held.parallelism
    dealt = held.dealt(partial(_dealt_kinds, mark=mark, shares=shares), shares)
    try:
        limits.require(3 * sum(dealt.each(_size)), _TASK, _ADVICE)  # as they come, united, and in order
        parts = dealt.each(_as_it_is)
    finally:
        dealt.close()
    tables = [pa.table({"row": packed(one.offsets, one.items), "weight": one.weights}) for one in parts]
    return united(tables)


def taken_by_product(
    held: Held, matter: Matter, odds: int, seed: int, limits: Limits, *, in_task: Limits | None = None
) -> int:
    """How many occurrences the product takes from all rows, if what needs chance gets it."""
    shares = _SLOTS_AT_ONCE * held.parallelism
    limits.check_time(_TASK, _ADVICE)
    mark = partial(matter.touched, limits=in_task)
    dealt = held.dealt(partial(_dealt_kinds, mark=mark, shares=shares), shares)
    try:
        return sum(dealt.each(partial(_taken, matter=matter, odds=odds, seed=seed, limits=in_task)))
    finally:
        dealt.close()


@dataclass(frozen=True)
class Chosen:
    """What a method has decided for each row of each kind: which of the items that matter are kept."""

    matter: Matter
    kinds: Work
    kept: _Mask

    def mark(self, piece: Piece, *, limits: Limits | None = None) -> tuple[_Numbers, Piece]:
        """Which rows it speaks of."""
        return self.matter.contested(piece, limits=limits)

    def thin(self, piece: Piece, numbers: _Numbers) -> _Mask:
        """Which occurrences of these rows are kept."""
        reduced = self.matter.reduced(piece)
        known = packed(self.kinds.offsets, self.kinds.items)
        kind = pc.index_in(packed(*reduced), value_set=known).fill_null(-1).to_numpy()
        weights = self.kinds.weights
        if (kind < 0).any() or (numbers >= weights[kind]).any():
            raise UnreadableInput(
                "The source of the transactions has changed, or gives others each time it is read.",
                "Write them to a table first, and read that.",
            )
        # Row n of a kind comes n times its length after the first.
        lengths, sizes = np.diff(self.kinds.offsets), np.diff(reduced.offsets)
        begins = np.append(0, np.cumsum(lengths * weights))[kind] + numbers * lengths[kind]
        places = np.arange(len(reduced.items)) + np.repeat(begins - reduced.offsets[:-1], sizes)
        return _spread(piece, self.matter.items, self.kept[places])


@dataclass(frozen=True)
class ByProduct:
    """What the product takes, with what chance gives back."""

    matter: Matter
    odds: int
    seed: int

    def mark(self, piece: Piece, *, limits: Limits | None = None) -> tuple[_Numbers, Piece]:
        """Which rows it speaks of."""
        return self.matter.touched(piece, limits=limits)

    def thin(self, piece: Piece, numbers: _Numbers) -> _Mask:
        """Which occurrences of these rows are kept."""
        kept = self.matter.restored(self.matter.reduced(piece), numbers, self.odds, self.seed)
        return _spread(piece, self.matter.items, kept)


def rows_of(kinds: Work, limits: Limits) -> tuple[Piece, _Numbers]:
    """All rows of all kinds, and for each which one of its kind it is."""
    occurrences, count = int(np.diff(kinds.offsets) @ kinds.weights), int(kinds.weights.sum())
    limits.require(20 * occurrences + 40 * count, _TASK, _ADVICE)  # the rows, and where each begins while they are made
    ((rows, copies),) = _in_stretches(kinds, max(1, int(kinds.weights.sum())))
    return rows, copies


def _in_stretches(kinds: Work, most: int) -> Iterator[tuple[Piece, _Numbers]]:
    ends = np.append(0, np.cumsum(kinds.weights))
    bounds: Sequence[int] = [*range(0, int(ends[-1]), most), int(ends[-1])]
    for first, last in pairwise(bounds if len(bounds) > 1 else [0, 0]):
        number = np.arange(first, last)
        kind = np.searchsorted(ends, number, side="right") - 1
        yield only(Piece(kinds.offsets, kinds.items), kind), number - ends[kind]


def _spread(piece: Piece, matters: _Mask, kept: _Mask) -> _Mask:
    """What is kept of all occurrences, where some items do not matter."""
    whole = np.ones(len(piece.items), dtype=bool)
    whole[matters[piece.items]] = kept
    return whole


def _dealt_kinds(piece: Piece, *, mark: partial[tuple[_Numbers, Piece]], shares: int) -> tuple[_Numbers, _Codes]:
    """Each kind behind its share; equal kinds have the same."""
    _, (offsets, items) = mark(piece)
    sums = np.append(0, np.cumsum(items.astype(np.uint64) * np.uint64(2654435761)))  # may overflow
    share = (sums[offsets[1:]] - sums[offsets[:-1]]) % np.uint64(shares)
    ends = offsets + np.arange(len(offsets))
    values = np.empty(ends[-1], dtype=np.int32)
    rest = np.ones(len(values), dtype=bool)
    rest[ends[:-1]] = False
    values[ends[:-1]], values[rest] = share, items
    return ends, values


def _size(_: int, kinds: Work) -> int:
    return kinds.offsets.nbytes + kinds.items.nbytes + kinds.weights.nbytes


def _as_it_is(_: int, kinds: Work) -> Work:
    return kinds


def _taken(_: int, kinds: Work, *, matter: Matter, odds: int, seed: int, limits: Limits | None) -> int:
    taken = 0
    for rows, copies in _in_stretches(kinds, _AT_ONCE):
        taken += int(np.count_nonzero(~matter.restored(rows, copies, odds, seed, limits)))
    return taken
