"""MultiTbl (thesis Figure 3): the decision tree of the join, grown level by level without computing the join.

At each node, each site finds its best split. The one with the largest gain wins, the first of equals. It splits its
rows, and the others follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veilset.joins.graph import JoinGraph
from veilset.joins.propagation import propagate_splits
from veilset.joins.site import ROOT, Numbers, Site
from veilset.joins.tree import Node

_UNIT = 2.0**-48  # bits


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


def grow(sites: Mapping[str, Site], graph: JoinGraph, stop: Stop) -> Grown:
    """Grow the tree of the join whose classes were propagated to all sites."""
    root = Node(next(iter(sites.values())).counts(ROOT))
    level = {} if stop(root) else {ROOT: root}
    rows_by_level = []
    made = 1
    while level:
        numbers = np.array(list(level), np.int64)
        rows_by_level.append(sum(site.size(numbers) for site in sites.values()))
        below: dict[int, Node] = {}
        for winner, nodes in _winners(sites, level, stop.min_leaf).items():
            children = np.arange(made, made + 2 * len(nodes), dtype=np.int64)
            made += len(children)
            open_nodes = _split(sites[winner], level, nodes, children, stop)
            below |= open_nodes
            # A node none of whose children is split further need not be split elsewhere.
            onward = [
                at for at in range(len(nodes)) if {int(children[2 * at]), int(children[2 * at + 1])} & set(open_nodes)
            ]
            if onward:
                pairs = np.stack([children[::2], children[1::2]], axis=1)[onward].ravel()
                propagate_splits(sites, graph, winner, np.array(nodes, np.int64)[onward], pairs)
            done = np.array([child for child in children.tolist() if child not in open_nodes], np.int64)
            for site in sites.values():
                site.forget(done)
        for site in sites.values():
            site.forget(numbers)
        level = below
    return Grown(root, tuple(rows_by_level))


def _winners(sites: Mapping[str, Site], level: Mapping[int, Node], min_leaf: int) -> dict[str, list[int]]:
    """The nodes that each site splits; those that nobody can are left out."""
    numbers = np.array(list(level), np.int64)
    info = {name: site.best_splits(numbers, min_leaf) for name, site in sites.items()}
    won: dict[str, list[int]] = {}
    for place, number in enumerate(level):
        winner = max(sites, key=lambda name: info[name][place])  # the first of equals
        if info[winner][place] > 0:
            level[number].gain = info[winner][place] * _UNIT
            won.setdefault(winner, []).append(number)
    return won


def _split(
    winner: Site, level: Mapping[int, Node], nodes: Sequence[int], children: Numbers, stop: Stop
) -> dict[int, Node]:
    """Split nodes at their winner; the children that are split further, by number."""
    counts = winner.split(np.array(nodes, np.int64), children)
    below: dict[int, Node] = {}
    for place, number in enumerate(nodes):
        node = level[number]
        node.split = winner.criterion(number)
        node.children = tuple(Node(counts[2 * place + side], node.depth + 1) for side in (0, 1))
        pairs = zip(children[2 * place : 2 * place + 2].tolist(), node.children, strict=True)
        below |= {child_number: child for child_number, child in pairs if not stop(child)}
    return below
