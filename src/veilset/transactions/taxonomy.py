"""`Taxonomy`: a tree over item names, along which items are generalized.

A node is identified by its path from the root, not by its name: in the Groceries data the item "sausage"
stands in the category "sausage" of the department "meat and sausage". So nodes are numbers, and a *label* is
a name made longer where it would not be unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veilset.errors import WrongUsage, near_misses
from veilset.io.table import read_paths, write_paths
from veilset.transactions.transactions import Transactions
from veilset.transactions.vocabulary import item_name, vocabulary_order

__all__ = ["Taxonomy"]

_ROOT = "ALL"
_SEPARATOR = " > "


class Taxonomy:
    """A tree over item names, immutable.

    Made by `read`, `from_paths` or `by_fan_out`. Nodes are numbers: first the leaves in vocabulary order, so
    that node i is the item ``leaves[i]``, then the groups, the deepest first, and the root: a parent's number
    is larger than its child's. `names` and `parents` hold each node's own name and its parent (-1: none).

    Examples
    --------
    >>> food = ["dairy", "food"]
    >>> taxonomy = Taxonomy.from_paths({"milk": food, "brie": food, "soap": ["household"]})
    >>> taxonomy
    <Taxonomy: 3 items under 'ALL', 7 nodes, depth 3>
    >>> taxonomy.leaves
    ('brie', 'milk', 'soap')
    >>> [taxonomy.label(node) for node in taxonomy.ancestors(taxonomy.leaf("milk"))]
    ['dairy', 'food', 'ALL']
    >>> taxonomy.leaves_under(taxonomy.node("food"))
    ('brie', 'milk')
    """

    __slots__ = ("__dict__", "leaves", "names", "parents")

    leaves: tuple[str, ...]
    names: tuple[str, ...]
    parents: npt.NDArray[np.int32]

    def __init__(self) -> None:
        raise TypeError("Use Taxonomy.read, Taxonomy.from_paths or Taxonomy.by_fan_out.")

    @classmethod
    def by_fan_out(cls, items: Transactions | Iterable[str | int], n: int) -> Taxonomy:
        """A tree whose groups have n members in vocabulary order; the last of a level may have fewer.

        Of a `Transactions` object the public items are taken. A member left alone moves up a level as it is.

        Examples
        --------
        >>> taxonomy = Taxonomy.by_fan_out(range(1, 10), 4)
        >>> [taxonomy.label(node) for node in range(len(taxonomy.leaves), len(taxonomy))]
        ['1..4', '5..8', 'ALL']
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
            raise WrongUsage(f"The fan-out is {n!r}.", "Give a whole number of at least 2.")
        if isinstance(items, str):
            raise WrongUsage(f"The items are the text {items!r}.", "Give a list of names, or transactions.")
        given = items.public if isinstance(items, Transactions) else [item_name(item, "by_fan_out") for item in items]
        leaves = _in_vocabulary_order(given)
        paths: dict[str, list[str]] = {leaf: [] for leaf in leaves}
        width = 1
        while width * n < len(leaves):
            width *= n
            for first in range(0, len(leaves), width):
                group = leaves[first : first + width]
                # No more than one member of the level below: it moves up as it is.
                if len(group) > width // n:
                    name = f"{group[0]}..{group[-1]}"
                    for leaf in group:
                        paths[leaf].append(name)
        return cls._grow(leaves, paths)

    @classmethod
    def read(cls, path: str | Path, *, columns: Sequence[str] | None = None, encoding: str = "utf-8") -> Taxonomy:
        """A tree from a CSV file with a header: an item, then its groups, the most general last.

        Parameters
        ----------
        path : path
            ``.gz`` is decompressed; ``.tsv`` has tabs.
        columns : sequence of str, optional
            The columns to take, the item's first; None takes all as they stand.
        encoding : str
            Of the text.
        """
        return cls.from_paths(read_paths(path, columns=columns, encoding=encoding))

    @classmethod
    def from_paths(cls, paths: Mapping[str, Sequence[str]]) -> Taxonomy:
        """A tree from each item's groups, the most general last; the root above them is implied."""
        checked: dict[str, list[str]] = {}
        for item, groups in paths.items():
            if isinstance(groups, str):
                raise WrongUsage(f"The groups of {item!r} are the text {groups!r}.", "Give a list of names.")
            checked[item_name(item, "from_paths")] = [item_name(group, f"The groups of {item!r}") for group in groups]
        return cls._grow(_in_vocabulary_order([item_name(item, "from_paths") for item in paths]), checked)

    @classmethod
    def _grow(cls, leaves: list[str], paths: Mapping[str, Sequence[str]]) -> Taxonomy:
        # Groups are numbered as met from the root (0) down, and renumbered when all are known.
        found: dict[tuple[int, str], int] = {}
        name, parent, depth = [_ROOT], [-1], [0]
        leaf_parent: list[int] = []
        for leaf in leaves:
            at = 0
            for group in reversed(paths[leaf]):
                child = found.setdefault((at, group), len(name))
                if child == len(name):
                    name.append(group)
                    parent.append(at)
                    depth.append(depth[at] + 1)
                at = child
            leaf_parent.append(at)
        for leaf, at in zip(leaves, leaf_parent, strict=True):
            if (at, leaf) in found:
                raise WrongUsage(
                    f"{leaf!r} is an item and a group at the same place of the tree.",
                    "Give one of them another name.",
                )
        order = sorted(range(len(name)), key=lambda group: -depth[group])
        number = {group: len(leaves) + i for i, group in enumerate(order)}
        above = [number[at] for at in leaf_parent] + [number[parent[group]] for group in order[:-1]] + [-1]
        tree = object.__new__(cls)
        parents = np.array(above, dtype=np.int32)
        parents.setflags(write=False)
        object.__setattr__(tree, "leaves", tuple(leaves))
        object.__setattr__(tree, "names", (*leaves, *(name[group] for group in order)))
        object.__setattr__(tree, "parents", parents)
        return tree

    def __len__(self) -> int:
        return len(self.names)

    @property
    def root(self) -> int:
        """The node above all."""
        return len(self) - 1

    def parent(self, node: int) -> int | None:
        """The node above; None for the root."""
        above = int(self.parents[self._known(node)])
        return None if above < 0 else above

    def ancestors(self, node: int) -> tuple[int, ...]:
        """The nodes above, from the parent to the root."""
        found = []
        above = self.parent(node)
        while above is not None:
            found.append(above)
            above = self.parent(above)
        return tuple(found)

    def children(self, node: int) -> tuple[int, ...]:
        """The nodes right below, in ascending order; none for a leaf."""
        order, begin = self._by_parent
        at = self._known(node)
        return tuple(order[begin[at] : begin[at + 1]].tolist())

    @cached_property
    def _by_parent(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        below = self.parents[:-1]
        begin = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.bincount(below, minlength=len(self)), out=begin[1:])
        return np.argsort(below, kind="stable"), begin

    def leaves_under(self, node: int) -> tuple[str, ...]:
        """The items below a node, in vocabulary order; of a leaf, itself."""
        waiting, found = [self._known(node)], []
        while waiting:
            at = waiting.pop()
            if at < len(self.leaves):
                found.append(at)
            waiting.extend(self.children(at))
        return tuple(self.leaves[leaf] for leaf in sorted(found))

    @cached_property
    def depth(self) -> int:
        """The number of steps from the root to the deepest leaf."""
        steps = [0] * len(self)
        for node, above in zip(range(len(self) - 2, -1, -1), self.parents[-2::-1].tolist(), strict=True):
            steps[node] = steps[above] + 1
        return max(steps)

    def _known(self, node: int) -> int:
        if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or not 0 <= node < len(self):
            raise WrongUsage(
                f"There is no node {node!r}; there are {len(self)}, from 0.",
                "Look nodes up with node(label) or leaf(name).",
            )
        return int(node)

    def label(self, node: int) -> str:
        """The name of a node if no other has it, else as much of its path as no other has.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_paths({"ham": ["sausage", "meat"], "sausage": ["sausage", "meat"]})
        >>> [taxonomy.label(node) for node in range(len(taxonomy))]
        ['ham', 'sausage > sausage', 'meat > sausage', 'meat', 'ALL']
        """
        return self._labels[self._known(node)]

    def node(self, label: str) -> int:
        """The node with this label."""
        if label not in self._node_of:
            alike = [known for name, known in zip(self.names, self._labels, strict=True) if name == label]
            hint = f"Did you mean {' or '.join(map(repr, alike[:3]))}?" if alike else near_misses(label, self._labels)
            raise WrongUsage(f"There is no node {label!r} in the taxonomy.", hint or "Check its spelling.")
        return self._node_of[label]

    def leaf(self, name: str) -> int:
        """The leaf of this item; other than a label, an item's name is always its own."""
        if name not in self._leaf_of:
            raise WrongUsage(
                f"There is no item {name!r} in the taxonomy.",
                near_misses(name, self.leaves) or "Check its spelling.",
            )
        return self._leaf_of[name]

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        labels, top = list(self.names), list(range(len(self)))
        taken: set[str] = set()
        waiting = list(top)
        # Each round settles the labels that are unique and takes the others one step further to the root.
        for _ in range(self.depth + 1):
            times = Counter(labels[node] for node in waiting)
            clash = [node for node in waiting if times[labels[node]] > 1 or labels[node] in taken]
            taken.update(labels[node] for node in set(waiting).difference(clash))
            for node in clash:
                if top[node] != self.root:
                    top[node] = int(self.parents[top[node]])
                    labels[node] = f"{self.names[top[node]]}{_SEPARATOR}{labels[node]}"
            waiting = clash
        # Whole paths look alike only if a name holds the separator; then a number tells them apart.
        for node in waiting:
            labels[node] = next(new for i in count(2) if (new := f"{labels[node]} ({i})") not in taken)
            taken.add(labels[node])
        return tuple(labels)

    @cached_property
    def _node_of(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self._labels)}

    @cached_property
    def _leaf_of(self) -> dict[str, int]:
        return {name: leaf for leaf, name in enumerate(self.leaves)}

    def to_paths(self) -> dict[str, list[str]]:
        """Each item's groups, the most general last; what `from_paths` takes."""
        return {
            name: [self.names[group] for group in self.ancestors(leaf)[:-1]] for leaf, name in enumerate(self.leaves)
        }

    def write(self, path: str | Path) -> None:
        """Write a CSV file that `read` reads back; all items must be equally deep below the root."""
        paths = self.to_paths()
        depths = {len(groups) for groups in paths.values()}
        if len(depths) > 1 or 0 in depths:
            raise WrongUsage(
                f"The items have {' or '.join(map(str, sorted(depths)))} groups above them.",
                "A table needs the same number for all, at least one: repeat names where a level is missing.",
            )
        write_paths(path, paths)

    def check(self, data: Transactions) -> tuple[str, ...]:
        """Notes on leaves that play no part; an error if a public item of *data* is not a leaf.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_paths({"milk": ["food"], "brie": ["food"], "insulin": ["pharmacy"]})
        >>> for note in taxonomy.check(Transactions.from_lists([["milk", "insulin"]], sensitive=["insulin"])):
        ...     print(note)
        1 leaf does not occur in the data: 'brie'.
        1 sensitive item is among the leaves and is not generalized: 'insulin'.
        """
        missing = [name for name in data.public if name not in self._leaf_of]
        if missing:
            raise WrongUsage(
                f"{len(missing):,} of {len(data.public):,} public items are no leaves: {_few(missing)}.",
                near_misses(missing[0], self.leaves) or "Add a line for each, or read another taxonomy.",
            )
        notes = []
        occurring = set(data.names)
        if absent := [name for name in self.leaves if name not in occurring]:
            verb = "leaf does" if len(absent) == 1 else "leaves do"
            notes.append(f"{len(absent):,} {verb} not occur in the data: {_few(absent)}.")
        if sensitive := [name for name in data.sensitive if name in self._leaf_of]:
            verb = "item is among the leaves and is" if len(sensitive) == 1 else "items are among the leaves and are"
            notes.append(f"{len(sensitive):,} sensitive {verb} not generalized: {_few(sensitive)}.")
        return tuple(notes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.parents, other.parents)

    def __hash__(self) -> int:
        return hash(self.names)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A taxonomy is immutable; {name!r} cannot be set.")

    def __repr__(self) -> str:
        return f"<Taxonomy: {len(self.leaves):,} items under {_ROOT!r}, {len(self):,} nodes, depth {self.depth}>"


def _in_vocabulary_order(names: Sequence[str]) -> list[str]:
    if not names:
        raise WrongUsage("There are no items to build a taxonomy over.", "Give at least one public item.")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise WrongUsage(f"The item {twice[0]!r} is given twice.", "Give every item once.")
    return [names[i] for i in vocabulary_order(list(names))]


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
