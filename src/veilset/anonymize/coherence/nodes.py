"""What an item can become: the nodes of a taxonomy as items of their own.

A transaction that holds an item holds, one may say, every group above it. With all of them written into it, an itemset
of nodes has the same transactions there as in the data recoded to any cut that has these nodes. So the moles of *all*
cuts are the moles of one data set, fixed before anything is chosen (Observation 1), and what is to be found is a set of
nodes, none above another, that contains no mole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np

from veilset.anonymize.coherence.task import Task
from veilset.anonymize.taxonomies import codes_of
from veilset.errors import InvalidArgument
from veilset.mining import Miner
from veilset.transactions import Taxonomy, Transactions
from veilset.transactions.vocabulary import several


class Nodes:
    """The nodes that can stand for public items of the data, and the weight of each.

    A node is left out if it stands for no more items than one of its children (the child says more), or for all of them
    (then it says nothing, IL = 1). Nodes are numbered as in the taxonomy, which has every public item of the data among
    its leaves, and no sensitive one.
    """

    above: dict[int, tuple[int, ...]]
    """The ancestors of each node, the nearest first."""
    below: dict[int, list[int]]
    """The children of each node."""
    top: list[int]
    """The nodes that have none above them."""
    weight: dict[int, int]
    """What keeping a node saves: sup(g) * (1 - IL_g), with sup(g) the sum of its leaves' supports, in units of 1 /
    (number of public items). To lose an item that must survive costs more than all else."""

    def __init__(self, task: Task, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.task = task
        data = task.data
        leaf_of = {taxonomy.leaf(item): item for item in data.public}
        supports = dict(zip(data.names, task.miner.supports.tolist(), strict=True))
        self.items = len(leaf_of)
        self._leaves = np.zeros(len(taxonomy), dtype=np.int64)  # that occur, of each node
        self._supports = np.zeros(len(taxonomy), dtype=np.int64)
        must_stay = np.zeros(len(taxonomy), dtype=np.int64)
        paths = {leaf: (leaf, *taxonomy.ancestors(leaf)) for leaf in leaf_of}
        for leaf, path in paths.items():
            on_path = list(path)
            self._leaves[on_path] += 1
            self._supports[on_path] += supports[leaf_of[leaf]]
            must_stay[on_path] += leaf_of[leaf] in task.keep
        self.above = {}
        for leaf, path in paths.items():
            useful = [leaf]
            for node in path[1:]:
                if self._leaves[useful[-1]] < self._leaves[node] < self.items:
                    useful.append(node)
            for at, node in enumerate(useful):
                self.above[node] = tuple(useful[at + 1 :])
        self.below = {node: [] for node in self.above}
        self.top = []
        for node in sorted(self.above):
            (self.below[self.above[node][0]] if self.above[node] else self.top).append(node)
        everything = task.occurrences * self.items + 1
        self.weight = {
            node: int(self._supports[node]) * (self.items - self.hidden(node)) + everything * int(must_stay[node])
            for node in self.above
        }
        self._check_names()

    def hidden(self, node: int) -> int:
        """IL of a node, in units of 1 / (number of public items): the items it might be; 0 for a leaf."""
        return int(self._leaves[node]) if self.is_group(node) else 0

    def is_group(self, node: int) -> bool:
        """Whether the node is no item."""
        return node >= len(self.taxonomy.leaves)

    def name(self, node: int) -> str:
        """What the release calls it."""
        return self.taxonomy.label(node) if self.is_group(node) else self.taxonomy.leaves[node]

    def named(self, names: Iterable[str]) -> frozenset[int]:
        """The nodes that a release calls so, once it is known that none is above another."""
        node_of = {self.name(node): node for node in self.above}
        given = frozenset(several(names, "chosen"))
        if strange := sorted(given.difference(node_of)):
            raise InvalidArgument(
                f"{strange[0]!r} is neither a public item nor a group of public items.",
                "Use the names an earlier release kept.",
            )
        kept = frozenset(node_of[name] for name in given)
        if above := [node for node in sorted(kept) if not kept.isdisjoint(self.above[node])]:
            raise InvalidArgument(
                f"{self.name(above[0])!r} must be kept, but so must a group above it.",
                "Remove one of them from the list.",
            )
        return kept

    def _check_names(self) -> None:
        taken = set(self.task.original.names)
        for node in self.above:
            if self.is_group(node) and self.taxonomy.label(node) in taken:
                raise InvalidArgument(
                    f"{self.taxonomy.label(node)!r} is an item of the data and what a group of other items would be "
                    "called.",
                    "Rename the group in the taxonomy.",
                )

    @cached_property
    def _becomes(self) -> list[list[int]]:
        """For each item of the data, the nodes that it has; a sensitive item has a number of its own."""
        seen = self.task.data
        first = len(self.taxonomy)
        hidden = seen.is_sensitive.tolist()
        leaves = [None if at else self.taxonomy.leaf(name) for name, at in zip(seen.names, hidden, strict=True)]
        return [[first + code] if leaf is None else [leaf, *self.above[leaf]] for code, leaf in enumerate(leaves)]

    @cached_property
    def _numbers(self) -> list[int]:
        return sorted({number for numbers in self._becomes for number in numbers})

    @cached_property
    def miner(self) -> Miner:
        """Who counts in the data with every node in every transaction that holds an item below it.

        Names are the numbers of nodes.
        """
        numbers = self._numbers
        place = {number: at for at, number in enumerate(numbers)}
        code = codes_of([[place[node] for node in nodes] for nodes in self._becomes])
        everything = np.array([0, len(numbers)], dtype=np.int64), np.arange(len(numbers), dtype=np.int32)
        hidden = [str(number) for number in numbers if number >= len(self.taxonomy)]
        vocabulary = Transactions.from_codes(*everything, list(map(str, numbers)), sensitive=hidden)
        return self.task.miner.replaced(code, vocabulary, self.task.limits)

    @cached_property
    def supports(self) -> dict[int, int]:
        """For each node, how many transactions hold it."""
        return dict(zip(self._numbers, self.miner.supports.tolist(), strict=True))

    def kept_as(self, item: str, kept: Collection[int]) -> int | None:
        """The kept node that stands for an item; None: it is suppressed."""
        leaf = self.taxonomy.leaf(item)
        return next((node for node in (leaf, *self.above[leaf]) if node in kept), None)

    def recoding(self, kept: Collection[int]) -> dict[str, str]:
        """Items to the names of the kept groups above them."""
        becomes = ((item, self.kept_as(item, kept)) for item in self.task.original.public)
        return {item: self.name(node) for item, node in becomes if node is not None and self.is_group(node)}

    def uncovered(self, kept: Collection[int]) -> tuple[str, ...]:
        """The public items that no kept node stands for: they are suppressed."""
        return tuple(item for item in self.task.original.public if self.kept_as(item, kept) is None)

    def stand_for(self, kept: Collection[int]) -> dict[str, tuple[str, ...]]:
        """The names of kept groups to all public items of the taxonomy below them, whether they occur or not."""
        return {self.name(node): self.taxonomy.leaves_under(node) for node in sorted(kept) if self.is_group(node)}

    def total(self, kept: Collection[int]) -> int:
        """The weight of a set of nodes."""
        return sum(self.weight[node] for node in kept)

    def average_loss(self, kept: Collection[int]) -> float:
        """The average loss if these nodes are kept and all other public items are suppressed."""
        everything = self.task.occurrences
        public = int(self._supports[-1])
        saved = sum(int(self._supports[node]) * (self.items - self.hidden(node)) for node in kept)
        return float(Fraction(public * self.items - saved, everything * self.items)) if public else 0.0
