"""What the neighbour on an edge will learn about our rows, counted at home before anything is sent.

Protects nothing by itself: it counts. A neighbour is told for each join value that it shares with us (thesis §3.3)

- how many of our rows have it: a class summary that comes back differs from the one that was sent by this factor;
- from the target table, how many of them are in each class;
- at each split, how many of its joined rows go to either child.

Where one row holds a join value, these are the class of a person and a bit per split. Where few hold it, or all of them
are in one class or go one way, they say as much of each of them. The thesis calls the class public and stops there; a
report must not. Before the intersection nobody knows which join values are shared, so all of ours are taken for shared:
the numbers are upper bounds. Before each class summary the same is counted again, for the rows that it is made of.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.joins.columns import Codes
from veilset.joins.site import ROOT, Site
from veilset.joins.summaries import ClassSummary
from veilset.views import Count

FLOOR = 5
"""Rows that a group must have to be shown. Publishers of official tables use 3 to 10: a convention, not a proof."""

_NEARLY = 0.9  # of the join values, so that a few duplicate rows do not make groups of people
_MOST_LEVELS = 6  # 2^(2^6) cells are more than any table has join values

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Held:
    """Some join values, and how many of our rows have them."""

    keys: int
    rows: int


@dataclass(frozen=True)
class EdgeLeakage:
    """What summaries on one edge tell at most about the rows of our table. A row stands for a person.

    Parameters
    ----------
    floor : int
        Groups of fewer rows are small.
    max_depth : int or None
        Largest depth of the tree.
    keys : int
        Join values that we bring to the intersection. Their number is told, unless it is padded.
    held : Held
        Those in summaries, and their rows: in the target table, only rows with a class.
    few : Held
        Those that fewer rows than the floor have.
    indivisible : Held
        Those with two rows or more that no split can divide into two groups of the floor.
    pure : Held or None
        Those whose rows are all in one class: a class summary tells the class of each of them. None: nobody knows yet.
    few_pure : Held or None
        Those of them that fewer rows than the floor have.
    histogram : tuple of (int, int)
        How many join values have 1, 2, … rows: (rows, join values), by rows. This is always told, value by value.
    """

    floor: int
    max_depth: int | None
    keys: int
    held: Held
    few: Held
    indivisible: Held
    pure: Held | None
    few_pure: Held | None
    histogram: tuple[tuple[int, int], ...]

    @property
    def alone(self) -> int:
        """Rows that have a join value of their own: every summary is about one person each."""
        return dict(self.histogram).get(1, 0)

    @property
    def unique(self) -> bool:
        """Whether each join value is that of one row."""
        return 0 < self.held.keys == self.alone

    @property
    def nearly_unique(self) -> bool:
        """Whether nine join values in ten or more are those of one row: some rows of a unique column may be doubled."""
        return self.held.keys > 0 and self.alone >= _NEARLY * self.held.keys

    @property
    def cells(self) -> int:
        """Into how many cells the neighbour can sort its join values by the children that they reach, at most.

        A join value can reach each leaf or not. Splits whose children are all leaves are not passed on, so the leaves
        are those one level higher.
        """
        levels = _MOST_LEVELS if self.max_depth is None else min(_MOST_LEVELS, max(0, self.max_depth - 1))
        return min(self.held.keys, (1 << (1 << levels)) - 1)

    def told(self, to: str, padded: bool = False) -> tuple[str, ...]:
        """What the neighbour *to* would learn, a sentence each, with numbers and without values."""
        if not self.held.keys:
            return (f"{to} learns nothing about your rows: none of them has a join value.",)
        return tuple(
            sentence
            for sentence in (
                self._intersection(to, padded),
                self._row_counts(to),
                self._classes(to),
                self._sides(to),
                self._differences(to),
                self._cells(to),
                f"Where {to} has a join value in a single row, all of this is about that row. Only {to} can see where.",
            )
            if sentence
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers."""
        derived = {name: getattr(self, name) for name in ("alone", "unique", "nearly_unique", "cells")}
        return asdict(self) | {"histogram": [list(pair) for pair in self.histogram]} | derived

    def _intersection(self, to: str, padded: bool) -> str:
        size = "" if padded else f", and that you have {self.keys:,} in all"
        return f"{to} learns which of its join values you also have{size}."

    def _row_counts(self, to: str) -> str:
        alone, few = Count(self.alone), Count(self.few.keys)
        single = f"{alone:,} {alone:occurs|occur} in a single row" if alone else "none occurs in a single row"
        more = f", {few:,} in fewer than {self.floor:,}" if few > alone else ""
        return (
            f"{to} learns how many of your rows have each shared join value. You have {_of(self.held)}; {single}{more}."
        )

    def _classes(self, to: str) -> str:
        if not self.pure or not self.few_pure or not self.pure.keys:
            return ""
        rows, few = Count(self.pure.rows), Count(self.few_pure.rows)
        return (
            f"Class summaries tell {to} the class of {rows:,} {rows:row|rows}: all rows with the same join value are "
            f"in the same class. {few:,} of these {few:is in a group|are in groups} of fewer than {self.floor:,}."
        )

    def _sides(self, to: str) -> str:
        alone, few = Count(self.alone), Count(self.few.rows)
        sentences = [f"Each split of this table tells {to} the side of {alone:,} {alone:row|rows}."] if alone else []
        if few > alone:
            sentences.append(
                f"If all rows with a join value go to the same side, {to} learns the side of each. This can happen to "
                f"{few:,} rows in groups of fewer than {self.floor:,}."
            )
        return " ".join(sentences)

    def _differences(self, to: str) -> str:
        if not self.indivisible.keys:
            return ""
        return (
            f"No split can divide {_of(self.indivisible)} without showing fewer than {self.floor:,} rows on one side. "
            f"{to} can compare a node with its children and learn about these few, even about a single row."
        )

    def _cells(self, to: str) -> str:
        cells = Count(self.cells)
        return f"Over the whole tree, {to} can sort its join values into at most {cells:,} {cells:cell|cells}."


def _of(held: Held) -> str:
    keys, rows = Count(held.keys), Count(held.rows)
    return f"{keys:,} {keys:join value|join values} in {rows:,} {rows:row|rows}"


def leakage_of(
    keys: Codes,
    count: int,
    classes: Codes | None = None,
    *,
    floor: int = FLOOR,
    max_depth: int | None = None,
) -> EdgeLeakage:
    """What would be told if all our join values were shared.

    Parameters
    ----------
    keys : array of int32
        The number of each row's join value, -1: it has none.
    count : int
        How many join values there are.
    classes : array of int32, optional
        In the target table, the class of each row, -1: it has none and takes no part.
    floor : int
        Smaller groups are small.
    max_depth : int, optional
        Largest depth of the tree.

    Examples
    --------
    >>> leakage = leakage_of(np.array([0, 1, 1, 1, -1], np.int32), 2, np.array([0, 1, 0, 1, 1], np.int32))
    >>> leakage.alone, leakage.few, leakage.pure
    (1, Held(keys=2, rows=4), Held(keys=1, rows=1))
    """
    part = keys >= 0 if classes is None else (keys >= 0) & (classes >= 0)
    rows = np.bincount(keys[part], minlength=count)
    pure = None if classes is None else _pure(keys[part], count, classes[part])
    return _counted(rows, count, pure, floor, max_depth)


def leakage_now(
    site: Site, edge: int, summary: ClassSummary, *, floor: int = FLOOR, max_depth: int | None = None
) -> EdgeLeakage:
    """What a class summary tells that is about to be sent, of shared join values and of rows that are still in."""
    codes, count = site.keys[edge]
    present = codes[site.rows_at(ROOT)[0]]
    rows = np.bincount(present[present >= 0], minlength=count)
    pure = np.zeros(count, bool)
    pure[summary.keys] = np.count_nonzero(_nonzero(summary), axis=1) == 1
    return _counted(rows, count, pure, floor, max_depth)


def _nonzero(summary: ClassSummary) -> Mask:
    """Whether a join value has joined rows of a class: join values by classes."""
    words = summary.counts.reshape(len(summary.keys), summary.classes, summary.width)
    found: Mask = np.any(words, axis=2)
    return found


def _pure(keys: Codes, count: int, classes: Codes) -> Mask:
    """Join values whose rows are all in one class."""
    some = np.full(count, -1, np.int32)
    some[keys] = classes
    mixed = np.zeros(count, bool)
    mixed[keys[classes != some[keys]]] = True
    return (some >= 0) & ~mixed


def _counted(rows: Counts, count: int, pure: Mask | None, floor: int, max_depth: int | None) -> EdgeLeakage:
    few = (rows > 0) & (rows < floor)
    sizes = np.bincount(rows[rows > 0])
    there = np.flatnonzero(sizes)
    return EdgeLeakage(
        floor=floor,
        max_depth=max_depth,
        keys=count,
        held=_held(rows, rows > 0),
        few=_held(rows, few),
        indivisible=_held(rows, (rows > 1) & (rows < 2 * floor)),
        pure=None if pure is None else _held(rows, pure),
        few_pure=None if pure is None else _held(rows, pure & few),
        histogram=tuple(zip(there.tolist(), sizes[there].tolist(), strict=True)),
    )


def _held(rows: Counts, chosen: Mask) -> Held:
    return Held(int(np.count_nonzero(chosen)), int(rows[chosen].sum()))
