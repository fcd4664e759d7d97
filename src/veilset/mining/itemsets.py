"""`Itemsets`: many itemsets with their supports, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.views import MOST_ROWS, Shown, Summary, Tabular, by_size, listed

Selection: TypeAlias = slice | npt.NDArray[np.integer | np.bool_]
"""Which of many: a slice, a mask or an array of positions."""


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets(Shown, Tabular):
    """Itemsets in one sparse matrix; names are looked up on access.

    Itemset i holds the items ``names[c] for c in items[offsets[i]:offsets[i + 1]]``, in the order of the vocabulary.

    >>> from veilset import Transactions, mining
    >>> found = mining.frequent(Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["c"]]), 2)
    >>> len(found), found.by_size
    (4, (3, 1))
    >>> found
    <Itemsets: 4 itemsets>
      3 of 1 item, 1 of 2 items
      a: 2 transactions
      a, b: 2 transactions
      b: 2 transactions
      c: 2 transactions
    >>> list(found[:2])
    [(('a',), 2), (('a', 'b'), 2)]
    """

    names: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]
    supports: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of items of each."""
        return np.diff(self.offsets)

    @property
    def by_size(self) -> tuple[int, ...]:
        """How many there are of one item, of two items, and so on."""
        return tuple(np.bincount(self.sizes)[1:].tolist())

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for first in range(0, len(self), _AT_ONCE):
            last = min(first + _AT_ONCE, len(self))
            ends = self.offsets[first : last + 1].tolist()
            start = ends[0]
            codes = self.items[start : ends[-1]].tolist()
            for i, support in enumerate(self.supports[first:last].tolist()):
                yield tuple(self.names[c] for c in codes[ends[i] - start : ends[i + 1] - start]), support

    @overload
    def __getitem__(self, which: int) -> tuple[tuple[str, ...], int]: ...
    @overload
    def __getitem__(self, which: Selection) -> Itemsets: ...
    def __getitem__(self, which: int | Selection) -> tuple[tuple[str, ...], int] | Itemsets:
        """One of them as (names, support), or several as `Itemsets`: a slice, a mask or an array of positions."""
        if isinstance(which, (int, np.integer)):
            at = range(len(self))[which]
            codes = self.items[self.offsets[at] : self.offsets[at + 1]].tolist()
            return tuple(self.names[c] for c in codes), int(self.supports[at])
        if isinstance(which, slice) and which.step in (None, 1):
            first, last, _ = which.indices(len(self))
            last = max(first, last)
            ends = self.offsets[first : last + 1]
            return Itemsets(self.names, ends - ends[0], self.items[ends[0] : ends[-1]], self.supports[first:last])
        chosen = np.arange(len(self))[which]
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        items = self.items[np.repeat(self.offsets[chosen], sizes) + within]
        return Itemsets(self.names, offsets, items, self.supports[chosen])

    @staticmethod
    def joined(one: Itemsets, other: Itemsets) -> Itemsets:
        """The itemsets of both, which must have the same vocabulary."""
        return Itemsets(
            one.names,
            np.concatenate([one.offsets, one.offsets[-1] + other.offsets[1:]]),
            np.concatenate([one.items, other.items]),
            np.concatenate([one.supports, other.supports]),
        )

    def codes_in(self, names: tuple[str, ...]) -> npt.NDArray[np.int32]:
        """``items`` as codes of another vocabulary; what is not there has the code after its last."""
        if names == self.names:
            return self.items
        code_of = {name: code for code, name in enumerate(names)}
        there = np.array([code_of.get(name, len(names)) for name in self.names], dtype=np.int32)
        return there[self.items]

    def to_lists(self) -> list[tuple[list[str], int]]:
        """(names, support) of each."""
        return [(list(names), support) for names, support in self]

    def to_arrow(self) -> pa.Table:
        """A table with the columns ``items`` (lists of names) and ``support``."""
        return pa.table({"items": self.names_to_arrow(), "support": self.supports})

    def names_to_arrow(self) -> pa.LargeListArray:
        """The itemsets as lists of names, without their supports."""
        dictionary = pa.DictionaryArray.from_arrays(pa.array(self.items), pa.array(self.names, pa.string()))
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), dictionary)

    def _summary(self) -> Summary:
        rows = [
            (listed(names), f"{support:,} transaction{'s' * (support != 1)}") for names, support in self[:MOST_ROWS]
        ]
        notes, facts = [by_size(self.by_size)] if rows else [], [(len(self), "itemset(s)")]
        return Summary("Itemsets", facts=facts, notes=notes, head=("items", "support"), rows=rows, count=len(self))


_AT_ONCE = 4096  # itemsets whose names are looked up at once
