"""What stands for the items of the data: the nodes of a taxonomy over public items, and the sensitive items themselves.

The taxonomy is over public items only (Cao et al. 2010, Appendix B): a generalized sensitive item would still tell that
there is something to hide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from veilset.anonymize.rho_uncertainty.rules import Marks, Rows
from veilset.anonymize.taxonomies import codes_of
from veilset.engines import Piece, Work
from veilset.engines.rows import changed
from veilset.errors import Infeasible, InvalidArgument
from veilset.limits import Limits
from veilset.transactions import Taxonomy, Transactions

STUCK = "Items that must be kept break the promise"
"""How the error begins if no item of a violating rule may be removed."""


class Hierarchy:
    """Nodes and sensitive items as numbers, in the order of the vocabulary (a node stands where its first item does).

    A node with a single child is replaced by it: it says no less, and its split would gain nothing and end there. Only
    items that occur count. Every public item is among the leaves of the taxonomy, sensitive ones are left out; *weight*
    is that of each item of the data, which need only have names and roles.
    """

    items: list[npt.NDArray[np.int64]]
    """The items (codes of the data) below each node."""
    children: list[list[int]]
    """The nodes right below each."""
    root: int | None
    """The node above all public items; None if there is none."""
    sensitive: Marks
    total: npt.NDArray[np.int64]
    """The weight of all items below each: Σ sup(a), unless there are weights."""
    leaves: npt.NDArray[np.int64]
    """|leaves(n)| of §3.2: the number of items a node stands for, 0 if it is an item."""
    cost: npt.NDArray[np.int64]
    """What suppressing each loses: sup(g) (1 - IL_g), in units of 1 / (number of public items)."""

    def __init__(
        self,
        data: Transactions,
        supports: npt.NDArray[np.int64],
        population: int,
        taxonomy: Taxonomy,
        weight: npt.NDArray[np.int64],
    ) -> None:
        self.data = data
        self.supports = supports
        self.population = population
        self.public = len(data.public)
        codes = {name: code for code, name in enumerate(data.names)}
        below: dict[int, list[int]] = {}
        for name in data.public:
            leaf = taxonomy.leaf(name)
            for node in (leaf, *taxonomy.ancestors(leaf)):
                below.setdefault(node, []).append(codes[name])
        # Of nodes with the same items the lowest, which has the smallest number, stands for all.
        lowest: dict[int, int] = {}
        for node in sorted(below):
            same = [child for child in taxonomy.children(node) if len(below.get(child, ())) == len(below[node])]
            lowest[node] = lowest[same[0]] if same else node
        nodes = sorted(set(lowest.values()), key=lambda node: (below[node][0], -len(below[node]), -node))
        entries = sorted(
            [(below[node][0], rank, node) for rank, node in enumerate(nodes)]
            + [(codes[name], 0, -1) for name in data.sensitive]
        )
        number = {node: entry for entry, (_, _, node) in enumerate(entries) if node >= 0}
        self._node = [node for _, _, node in entries]
        self._taxonomy = taxonomy
        self.items = [np.array(below[node] if node >= 0 else [first]) for first, _, node in entries]
        self.children = [[] for _ in entries]
        for node, entry in number.items():
            above = next((lowest[up] for up in taxonomy.ancestors(node) if lowest[up] != node), None)
            if above is not None:
                self.children[number[above]].append(entry)
        for entries_below in self.children:
            entries_below.sort()
        self.root = number[lowest[taxonomy.root]] if self.public else None
        self.sensitive = np.array([node < 0 for node in self._node], dtype=np.uint8)
        self.total = np.array([int(weight[items].sum()) for items in self.items], dtype=np.int64)
        self.leaves = np.array([len(items) if len(items) > 1 else 0 for items in self.items], dtype=np.int64)
        self.cost = self.total * (max(1, self.public) - self.leaves)
        self._entry_of = np.zeros(len(data.names), dtype=np.int32)
        for entry, items in enumerate(self.items):
            if len(items) == 1:
                self._entry_of[items[0]] = entry
        self.check_names(self.above)

    def check_names(self, entries: Iterable[int]) -> None:
        """Raise if a group has the name of an item of the data."""
        names = set(self.data.names)
        for entry in entries:
            if len(self.items[entry]) > 1 and (name := self.label(entry)) in names:
                raise InvalidArgument(
                    f"{name!r} is an item of the data, but also the name of a group of other items.",
                    "Give one of them another name.",
                )

    def __len__(self) -> int:
        return len(self.items)

    def rows(self, data: Work, limits: Limits) -> Rows:
        """The transactions, each item as itself."""
        return Rows(*data, len(self.data.names)).renamed(self._entry_of, len(self), limits=limits)

    @cached_property
    def above(self) -> dict[int, tuple[int, ...]]:
        """The nodes above each, the nearest first; ALL is left out, which says nothing."""
        found: dict[int, tuple[int, ...]] = dict.fromkeys(np.flatnonzero(self.sensitive).tolist(), ())
        waiting: list[tuple[int, tuple[int, ...]]] = []
        if self.root is not None:
            waiting += [(entry, ()) for entry in self.children[self.root] or [self.root]]
        while waiting:
            entry, path = waiting.pop()
            found[entry] = path
            waiting += [(child, (entry, *path)) for child in self.children[entry]]
        return found

    @cached_property
    def paths(self) -> list[list[int]]:
        """For each item of the data, its entry and all nodes above it."""
        return [[entry, *self.above[entry]] for entry in self._entry_of.tolist()]

    def extended(self, data: Work, limits: Limits) -> Rows:
        """The transactions, each item with all nodes above it.

        An itemset of nodes has the same transactions there as in the data recoded to any cut that has these nodes.
        """
        code = codes_of(self.paths)
        # Row numbers, entries, both as one number, and these sorted.
        limits.require(48 * len(data.items) * code[:1].size, "Recoding", "give a taxonomy with fewer levels.")
        offsets, items = changed(Piece(data.offsets, data.items), code, len(self))
        return Rows(offsets, items, data.weights, len(self)).renamed(self.itself(), len(self), limits=limits)

    def itself(self) -> npt.NDArray[np.int32]:
        """For each entry its own number."""
        return np.arange(len(self), dtype=np.int32)

    def leaf_entries(self, node: int) -> npt.NDArray[np.int32]:
        """The entries of the items below a node."""
        entries: npt.NDArray[np.int32] = self._entry_of[self.items[node]]
        return entries

    def marks(self, entries: Sequence[int] | npt.NDArray[np.int32]) -> Marks:
        """An array that marks these."""
        marked = np.zeros(len(self), dtype=np.uint8)
        marked[np.array(entries, dtype=np.int64)] = 1
        return marked

    def average_loss(self, kept: Collection[int]) -> float:
        """avgLoss of §3.2 if these stand for what is below them and all other items are suppressed."""
        supports, public = self.supports, max(1, self.public)
        saved = sum(int(supports[self.items[entry]].sum()) * (public - int(self.leaves[entry])) for entry in kept)
        everything = int(supports.sum()) * public
        return float(Fraction(everything - saved, everything)) if everything else 0.0

    def entry(self, item: str) -> int:
        """The entry of an item of the data."""
        return int(self._entry_of[self.data.codes([item])[0]])

    def label(self, entry: int) -> str:
        """What stands in the release: an item's own name, or the label of a node."""
        items = self.items[entry]
        return self.data.names[int(items[0])] if len(items) == 1 else self._taxonomy.label(self._node[entry])

    def stuck(self, rule: Sequence[int]) -> Infeasible:
        """The error for a violating rule none of whose items may go, what is inferred last."""
        *known, inferred = map(self.label, rule)
        told = " + ".join(map(repr, known)) or "nothing"
        return Infeasible(
            f"{STUCK}: an attacker who knows {told} infers {inferred!r} with too high a confidence.",
            "Remove one of these items from the list, or choose a larger rho.",
        )

    def stands_for(self, entry: int) -> tuple[str, ...]:
        """All items of the taxonomy that a node may mean, whether they occur or not."""
        return self._taxonomy.leaves_under(self._node[entry])
