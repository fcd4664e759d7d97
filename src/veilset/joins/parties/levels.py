"""A level of the tree as it is decided: who splits which node. The coordinator tells it, and each party checks it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.joins.parties.control import array, senseless
from veilset.joins.parties.wire import Message
from veilset.joins.site import Numbers

_TYPES = {"nodes": np.int64, "children": np.int64, "tables": np.int32, "onward": np.uint8, "ended": np.int64}


@dataclass(frozen=True, eq=False)
class Level:
    """What all parties know of a level that is split: for each node, which table splits it, and its children.

    Parameters
    ----------
    nodes, children : array of int64
        The nodes that are split, and their children, two each.
    tables : array of int32
        The number of the table that splits each, in the order of the study.
    onward : array of uint8
        Whether a node has a child that is split further: only then the other tables follow.
    ended : array of int64
        Nodes that are done with: those of this level, and children that are split no further.
    """

    nodes: Numbers
    children: Numbers
    tables: npt.NDArray[np.int32]
    onward: npt.NDArray[np.uint8]
    ended: Numbers

    def of(self, table: int, *, onward: bool) -> tuple[Numbers, Numbers]:
        """The nodes that a table splits, and their children; all of them, or those that others must follow."""
        chosen = self.tables == table
        if onward:
            chosen &= self.onward > 0
        return self.nodes[chosen], self.children.reshape(-1, 2)[chosen].ravel()

    @property
    def families(self) -> dict[int, tuple[int, int, int]]:
        """The table and the two children of each node."""
        pairs = self.children.reshape(-1, 2).tolist()
        found = zip(self.nodes.tolist(), self.tables.tolist(), pairs, strict=True)
        return {node: (table, *pair) for node, table, pair in found}

    @property
    def below(self) -> set[int]:
        """The children that are split further."""
        return set(self.children.tolist()) - set(self.ended.tolist())


def asked_nodes(peer: str, message: Message, alive: Set[int]) -> Numbers:
    """The nodes of a level, each once, of those that are there."""
    nodes: Numbers = array(peer, message, "nodes", np.int64)
    if len(nodes) == 0 or not _once(nodes, alive):
        raise senseless(peer, message.kind)
    return nodes


def proposed_level(peer: str, message: Message, nodes: Numbers, alive: Set[int], tables: int) -> Level:
    """Who splits which of these nodes: their children are new."""
    level = _level(peer, message)
    children = level.children.tolist()
    known = _once(level.nodes, set(nodes.tolist())) and all(0 <= table < tables for table in level.tables.tolist())
    if not known or len(set(children)) < len(children) or any(child < 1 or child in alive for child in children):
        raise senseless(peer, message.kind)
    return level


def decided_level(peer: str, message: Message, proposed: Level, alive: Set[int]) -> Level:
    """The same without what is withheld; and which of its nodes are split further, and which are done with."""
    level = _level(peer, message)
    same = level.families.items() <= proposed.families.items() and len(level.families) == len(level.nodes)
    done = _once(level.ended, alive | set(proposed.children.tolist()))
    below = level.below
    onward = [not below.isdisjoint(pair) for pair in level.children.reshape(-1, 2).tolist()]
    if not same or not done or level.onward.tolist() != onward:
        raise senseless(peer, message.kind)
    return level


def _level(peer: str, message: Message) -> Level:
    level = Level(**{name: array(peer, message, name, dtype) for name, dtype in _TYPES.items()})
    count = len(level.nodes)
    if (len(level.tables), len(level.onward), len(level.children)) != (count, count, 2 * count):
        raise senseless(peer, message.kind)
    return level


def _once(numbers: Numbers, among: Set[int]) -> bool:
    """Whether numbers are some of these, each once."""
    listed = numbers.tolist()
    return len(set(listed)) == len(listed) and among >= set(listed)
