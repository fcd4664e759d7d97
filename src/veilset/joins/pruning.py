"""Pessimistic pruning (thesis §3.3.3): a subtree that is not expected to err less than a leaf becomes one.

The expected number of errors of a leaf is the upper limit of a confidence interval for the errors that it makes on the
joined rows. The thesis leaves the interval open; this is the one of C4.5, with its continuity correction.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from veilset.joins.tree import Node


def expected_errors(rows: int, errors: int, confidence: float) -> float:
    """How many of so many rows a leaf is expected to get wrong that got so many wrong.

    >>> round(expected_errors(2, 0, 0.25), 6), round(expected_errors(4, 1, 0.25), 6), expected_errors(1, 1, 0.25)
    (1.0, 2.171991, 1.0)
    """
    n = float(rows)
    if errors == 0:
        return -n * math.expm1(math.log(confidence) / n)
    if errors + 0.5 >= rows:
        return n
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / n
    upper = f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * upper / (1 + z * z / n)


def pruned(root: Node, confidence: float) -> Node:
    """The tree after pruning, bottom-up; the one given stays as it is."""
    errors: dict[int, float] = {}
    made: dict[int, Node] = {}
    for node in reversed(list(root.walk())):  # children before their parents
        as_leaf = expected_errors(node.rows, node.rows - max(node.counts), confidence)
        below = [errors[id(child)] for child in node.children]
        if node.is_leaf or as_leaf <= sum(below):
            errors[id(node)], made[id(node)] = as_leaf, Node(node.counts, node.depth)
        else:
            children = tuple(made[id(child)] for child in node.children)
            errors[id(node)] = sum(below)
            made[id(node)] = Node(node.counts, node.depth, node.split, node.gain, children)
    return made[id(root)]
