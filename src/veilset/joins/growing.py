"""MultiTbl (thesis Figure 3): the decision tree of the join, grown level by level without computing the join.

At each node, each site finds its best split. The one with the largest gain wins, the first of equals. It splits its
rows, and the others follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count

from veilset.joins.graph import JoinGraph
from veilset.joins.propagation import propagate_splits
from veilset.joins.site import ROOT, Site, numbers_of
from veilset.joins.tree import Node
from veilset.limits import Limits

UNIT = 2.0**-48
"""What gains are counted in: bits."""


@dataclass(frozen=True)
class Stop:
    """When a node is a leaf: it is pure, or at this depth, or cannot have two children of so many joined rows."""

    max_depth: int | None = None
    min_leaf: int = 1

    def __call__(self, node: Node) -> bool:
        """Whether the node is a leaf by its counts and depth alone."""
        pure = max(node.counts) == node.rows
        return pure or node.depth == self.max_depth or node.rows < 2 * self.min_leaf


@dataclass(frozen=True)
class Grown:
    """A tree as it was grown, and how many rows of the tables reached each level of it."""

    root: Node
    rows_by_level: tuple[int, ...]


def grow(sites: Mapping[str, Site], graph: JoinGraph, stop: Stop, limits: Limits) -> Grown:
    """Grow the tree of the join whose classes were propagated to all sites."""
    root = Node(next(iter(sites.values())).counts(ROOT))
    level = {} if stop(root) else {ROOT: root}
    numbers = count(ROOT + 1)
    rows_by_level: list[int] = []
    while level:
        limits.step(f"Growing level {len(rows_by_level) + 1} of the tree", 0, len(level))
        rows_by_level.append(sum(site.size(numbers_of(level)) for site in sites.values()))
        below: dict[int, Node] = {}
        for winner, nodes in _winners(sites, level, stop.min_leaf).items():
            children = {number: (next(numbers), next(numbers)) for number in nodes}
            below |= _split(sites[winner], level, children, stop)
            # What is split no further need not be split at the other sites.
            onward = {number: pair for number, pair in children.items() if not below.keys().isdisjoint(pair)}
            if onward:
                propagate_splits(
                    sites, graph, winner, numbers_of(onward), numbers_of(chain.from_iterable(onward.values()))
                )
            done = [child for pair in children.values() for child in pair if child not in below]
            for site in sites.values():
                site.forget(numbers_of(done))
        for site in sites.values():
            site.forget(numbers_of(level))
        level = below
    return Grown(root, tuple(rows_by_level))


def _winners(sites: Mapping[str, Site], level: Mapping[int, Node], min_leaf: int) -> dict[str, list[int]]:
    """The nodes that each site splits; those that nobody can split are left out."""
    info = {name: site.best_splits(numbers_of(level), min_leaf) for name, site in sites.items()}
    won: dict[str, list[int]] = {}
    for place, (number, node) in enumerate(level.items()):
        winner = max(sites, key=lambda name: info[name][place])  # the first of equals
        if info[winner][place] > 0:
            node.gain = info[winner][place] * UNIT
            won.setdefault(winner, []).append(number)
    return won


def _split(
    winner: Site, level: Mapping[int, Node], children: Mapping[int, tuple[int, int]], stop: Stop
) -> dict[int, Node]:
    """Split nodes at their winner; the children that are split further, by number."""
    counts = iter(winner.split(numbers_of(children), numbers_of(chain.from_iterable(children.values()))))
    below: dict[int, Node] = {}
    for number, pair in children.items():
        node = level[number]
        node.split = winner.criterion(number)
        node.children = Node(next(counts), node.depth + 1), Node(next(counts), node.depth + 1)
        below |= {at: child for at, child in zip(pair, node.children, strict=True) if not stop(child)}
    return below
