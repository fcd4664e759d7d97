"""The information gain of a split, from class counts alone."""

from __future__ import annotations

from veilset import _native
from veilset.joins.growing import UNIT
from veilset.joins.summaries import to_words
from veilset.joins.tree import Node


def gain_of(node: Node) -> float:
    """The gain of a node's split in bits for each joined row: to the last bit what the site that splits it finds.

    >>> leaves = Node((4, 0), 1), Node((1, 3), 1)
    >>> round(gain_of(Node((5, 3), children=leaves)), 6)
    0.548795
    """
    return _native.joins.gain(to_words(node.children[0].counts, 2), to_words(node.counts, 2)) * UNIT
