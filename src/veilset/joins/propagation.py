"""What sites tell each other so that the counts of each are those of the join (thesis §3.3.1 and §3.3.2)."""

from __future__ import annotations

from collections.abc import Mapping

from veilset.joins.graph import JoinGraph
from veilset.joins.site import Numbers, Site

Move = tuple[str, str, int]
"""A summary on its way: from a table, to a neighbour, on an edge."""


def propagate_classes(sites: Mapping[str, Site], graph: JoinGraph, target: str) -> None:
    """Class propagation: afterwards, the class counts at each site are numbers of rows of the join.

    Rows that have no part in the join are dropped everywhere.
    """
    phase_1 = depth_first(graph, target)
    last = phase_1[-1][1] if phase_1 else target
    for sender, receiver, edge in [*phase_1, *graph.visits(last)]:
        sites[receiver].receive(edge, sites[sender].class_summary(edge))


def depth_first(graph: JoinGraph, start: str) -> list[Move]:
    """Phase 1: a depth-first traversal, forward and backward, until each table was visited.

    >>> graph = JoinGraph.of({"T1": ["J1", "J2"], "T2": ["J1"], "T3": ["J2"]}, ["T1.J1 = T2.J1", "T1.J2 = T3.J2"])
    >>> depth_first(graph, "T1")
    [('T1', 'T2', 0), ('T2', 'T1', 0), ('T1', 'T3', 1)]
    """
    moves: list[Move] = []
    path: list[Move] = []
    for forward in graph.visits(start):
        while path and path[-1][1] != forward[0]:
            sender, receiver, edge = path.pop()
            moves.append((receiver, sender, edge))
        moves.append(forward)
        path.append(forward)
    return moves


def propagate_splits(
    sites: Mapping[str, Site], graph: JoinGraph, winner: str, nodes: Numbers, children: Numbers
) -> None:
    """Split propagation: nodes that the winner has split are split alike at all other sites, from it outward."""
    for sender, receiver, edge in graph.visits(winner):
        sites[receiver].follow(edge, sites[sender].split_summary(edge, nodes, children))
