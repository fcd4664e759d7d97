"""What a split summary tells about our rows, counted before it is sent; and what all of them tell together.

An entry of a split summary is about the rows of one join value at a node. The neighbour learns which share of their
joined rows goes to either child. If all of them go one way, it knows the side of each. If some do, the entry less one
of its halves is about the others: a group of one, if one row differs. A row of a table that follows another's split can
reach both children; then its side is not told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veilset.joins.columns import Codes
from veilset.joins.parties.leakage import FLOOR, Counts, Mask
from veilset.joins.site import Numbers, Site
from veilset.joins.summaries import SplitSummary
from veilset.views import Count


@dataclass(frozen=True, eq=False)
class SplitCheck:
    """What a split summary tells, node by node.

    Parameters
    ----------
    floor : int
        Groups of fewer rows are small.
    nodes : array of int64
        The nodes of the summary. All other arrays have a number for each of them.
    entries : array of int64
        Join values.
    pinned_keys, pinned_rows : array of int64
        Join values whose rows all go to one child alone, and these rows: the neighbour knows their side.
    pinned_alone : array of int64
        Those of them that a single row has here.
    pinned_few : array of int64
        Pinned rows in small groups.
    one_apart : array of int64
        Join values of several rows of which all but one reach a child: parent less child is about a single row.
    small : array of int64
        Join values with a small group: rows in a child, or rows of the node that are not in it.
    """

    floor: int
    nodes: Numbers
    entries: Counts
    pinned_keys: Counts
    pinned_rows: Counts
    pinned_alone: Counts
    pinned_few: Counts
    one_apart: Counts
    small: Counts

    @classmethod
    def of(cls, summary: SplitSummary, rows: tuple[Codes, Codes, Codes], floor: int = FLOOR) -> SplitCheck:
        """Count, given our rows at the node, in its first and in its second child, for each entry of the summary."""
        here, left, right = rows
        pinned = (left == 0) | (right == 0)
        apart = here - left, here - right
        small = [(group > 0) & (group < floor) for group in (left, right, *apart)]

        def by_node(numbers: Codes | Mask) -> Counts:
            return np.diff(np.append(0, np.cumsum(numbers, dtype=np.int64))[summary.offsets])

        return cls(
            floor,
            summary.nodes,
            np.diff(summary.offsets),
            by_node(pinned),
            by_node(here * pinned),
            by_node(pinned & (here == 1)),
            by_node(here * (pinned & (here < floor))),
            by_node((here > 1) & ((apart[0] == 1) | (apart[1] == 1))),
            by_node(np.logical_or.reduce(small)),
        )

    @property
    def withheld(self) -> Mask:
        """For each node, whether its summary shows a small group: not to be sent under "refuse" and "suppress"."""
        return self.small > 0

    def told(self, to: str) -> str:
        """The whole summary in a sentence."""
        keys, nodes, shown = Count(self.entries.sum()), Count(len(self.nodes)), Count(self.withheld.sum())
        rows, few, apart = Count(self.pinned_rows.sum()), int(self.pinned_few.sum()), Count(self.one_apart.sum())
        return (
            f"{to} learns how {keys:,} {keys:join value divides|join values divide} at {nodes:,} {nodes:node|nodes}, "
            f"and the side of {rows:,} {rows:row|rows}, {few:,} of them in groups of fewer than {self.floor:,}. "
            f"{apart:,} {apart:time|times}, a single row parts from the others with its join value. {shown:,} "
            f"{shown:node shows|nodes show} a group of fewer than {self.floor:,} rows."
        )

    def to_dict(self) -> dict[str, Any]:
        """The numbers of all nodes."""
        numbers = {name: one.tolist() for name, one in vars(self).items() if name != "floor"}
        return {"floor": self.floor, **numbers, "withheld": self.withheld.tolist()}


def check_split(site: Site, edge: int, summary: SplitSummary, floor: int = FLOOR) -> SplitCheck:
    """Check what a site is about to send, before it forgets the node or one of its children."""
    return SplitCheck.of(summary, rows_by_entry(site, edge, summary), floor)


def rows_by_entry(site: Site, edge: int, summary: SplitSummary) -> tuple[Codes, Codes, Codes]:
    """For each entry of a split summary, our rows with its join value at the node and in either child."""
    codes, count = site.keys[edge]
    place = np.zeros(count, np.int32)
    found = tuple(np.zeros(len(summary.keys), np.int32) for _ in range(3))
    families = zip(summary.nodes.tolist(), summary.children[::2].tolist(), summary.children[1::2].tolist(), strict=True)
    for at, family in enumerate(families):
        first, last = summary.offsets[at], summary.offsets[at + 1]
        place[summary.keys[first:last]] = np.arange(last - first)
        for numbers, node in zip(found, family, strict=True):
            numbers[first:last] = np.bincount(place[codes[site.rows_at(node)[0]]], minlength=last - first)
    return found[0], found[1], found[2]


class Cells:
    """Into how many cells the neighbour on an edge can sort its join values, by all split summaries that we sent there.

    Two join values are in one cell if their rows reached the same children at each node: the first, the second, or
    both. The shares that go to both can tell more.

    Parameters
    ----------
    count : int
        How many join values the edge has.
    alive : array of bool, optional
        Those that are still in the join after class propagation; all, if it is not given.
    """

    def __init__(self, count: int, alive: Mask | None = None) -> None:
        self._history = np.zeros(count, np.int64) if alive is None else alive.astype(np.int64) - 1
        self._next = 1
        self._sizes: Counts | None = None

    def refine(self, summary: SplitSummary) -> None:
        """Take in what a split summary tells."""
        words = summary.counts.reshape(len(summary.keys), 2, summary.classes * summary.width)
        left, right = (np.logical_or.reduce([word != 0 for word in words[:, side].T]) for side in (0, 1))
        sides = left + 2 * right.astype(np.int64)
        for first, last in zip(summary.offsets[:-1], summary.offsets[1:], strict=True):
            self._refine(summary.keys[first:last], sides[first:last])
        self._sizes = None

    def _refine(self, keys: Codes, sides: Counts) -> None:
        """New numbers for the cells that these join values are in now; join values elsewhere keep theirs."""
        refined = 4 * self._history[keys] + sides
        if self._next <= len(keys):  # counting is faster than sorting
            found = np.zeros(4 * self._next, bool)
            found[refined] = True
            which, cells = (np.cumsum(found) - 1)[refined], int(found.sum())
        else:
            values, which = np.unique(refined, return_inverse=True)
            cells = len(values)
        self._history[keys] = self._next + which
        self._next += cells

    @property
    def sizes(self) -> Counts:
        """How many join values each cell has."""
        if self._sizes is None:
            self._sizes = np.unique(self._history[self._history >= 0], return_counts=True)[1].astype(np.int64)
        return self._sizes

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.sizes)

    @property
    def smallest(self) -> int:
        """How many join values the smallest cell has; 0: there are none."""
        return int(self.sizes.min(initial=np.iinfo(np.int64).max)) if len(self.sizes) else 0

    @property
    def alone(self) -> int:
        """Join values that have a cell of their own: the tree tells them from all others."""
        return int(np.count_nonzero(self.sizes == 1))
