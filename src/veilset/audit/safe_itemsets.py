"""The safe itemsets of an audit on an engine, in parts that tasks open one after the other.

They are a trie: of each size, what extends the itemsets that are one item smaller, in their order. A part has those
whose rarest items are in one stretch. A share of branches looks up what it extends, and subsets of this without the
item of the branch. All others of their items extend an item of the share. So it needs its own itemsets, and of those
behind them the ones made of items that do; it keeps no more of a part than these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.engines import Held, Shared

IN_PART = 4_000_000
"""Itemsets that a task opens at once, roughly: 64 MB."""
_MOST_PARTS = 32
"""Each part is sent out by itself; more itemsets than these parts hold are opened a 32nd at a time."""

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


class Level(NamedTuple):
    """The itemsets of one size: last items and supports, and how many there are for each itemset of one item less."""

    items: _Codes
    supports: _Array
    children: _Codes


class Part(NamedTuple):
    """The itemsets whose rarest items are first .. end - 1; of each size, those that tasks open."""

    first: int
    end: int
    levels: tuple[Shared[Level], ...]


class SafeItemsets:
    """What is known to be safe, where tasks can open it."""

    def __init__(self, held: Held, *, triples: bool) -> None:
        self._held, self._triples = held, triples
        self._ends: list[_Array] = []
        self.parts: tuple[Part, ...] = ()
        self.any_in_last = True

    def add(self, level: Level) -> None:
        """Itemsets that are larger by one than those before; pairs come first."""
        behind = np.append(0, np.cumsum(level.children, dtype=np.int64))
        if not self._ends:
            self._cut(level.children)
        # Where the itemsets of each part end; those of one item are their numbers.
        above = self._ends[-1]
        ends = behind[above]
        self.parts = tuple(
            part._replace(levels=(*part.levels, self._held.shared(_between(level, above[i : i + 2], ends[i : i + 2]))))
            for i, part in enumerate(self.parts)
        )
        self._ends.append(ends)
        self.any_in_last = bool(len(level.items))

    def _cut(self, children: _Codes) -> None:
        # An item that so many others extend has no more triples than they have pairs.
        count = children.astype(np.int64)
        most = np.cumsum(count + count * (count - 1) // 2 if self._triples else count)
        number = most // max(IN_PART, int(most[-1]) // _MOST_PARTS)
        ends = np.append(np.flatnonzero(number[1:] != number[:-1]) + 1, len(children))
        self._ends.append(np.append(0, ends))
        self.parts = tuple(
            Part(first, end, ()) for first, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        )

    def close(self) -> None:
        """Let them be forgotten."""
        for part in self.parts:
            for level in part.levels:
                level.close()


def _between(level: Level, above: _Array, mine: _Array) -> Level:
    return Level(level.items[slice(*mine)], level.supports[slice(*mine)], level.children[slice(*above)])


def needed(parts: Sequence[Part], first: int, end: int, second: int) -> list[Level]:
    """What the branches first .. end - 1 need, of these with second items from *second* on; as if it were all."""
    items = max((part.end for part in parts), default=0)
    theirs = np.zeros(items, dtype=bool)
    theirs[first:end] = True
    others = theirs.copy()
    found: list[list[Level]] = []
    for part in parts:
        if part.end <= first:
            levels = [_nothing(part.end - part.first), *(_nothing(0) for _ in part.levels[1:])]
        else:
            levels = _kept(part, [one.open() for one in part.levels], theirs, others, second)
        found.append(levels)
    return [Level(*map(np.concatenate, zip(*same, strict=True))) for same in zip(*found, strict=True)]


def _kept(part: Part, levels: list[Level], theirs: _Array, others: _Array, second: int) -> list[Level]:
    """The share's own itemsets, and those made of *others* alone, which grows by what extends its items."""
    root = np.arange(part.first, part.end)
    there, found = np.ones(len(root), dtype=bool), list[Level]()
    for number, (items, supports, children) in enumerate(levels):
        parent = np.repeat(np.arange(len(root)), children)
        own = theirs[root[parent]]
        if number == 0:
            own_there = own & (items >= second)
            others[items[own_there]] = True
            root_in_others = others[root]
            kept = own_there | (~own & root_in_others[parent] & others[items])
        else:
            kept = there[parent] & (own | others[items])
        count = np.bincount(parent[kept], minlength=len(root)).astype(np.int32)
        found.append(Level(items[kept], supports[kept], count[there]))
        root, there = root[parent], kept
    return found


def _nothing(above: int) -> Level:
    return Level(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(above, np.int32))
