"""`Taxonomy`: a tree over item names, along which items are generalized.

A node is identified by its path from the root, not by its name: in the Groceries data the item "sausage"
stands in the category "sausage" of the department "meat and sausage". So nodes are numbers, and a *label* is
a name made longer where it would not be unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, near_misses, said
from veilset.io.trees import ROOT, read_tree, tree_of_frame, write_tree
from veilset.limits import Bounds, Limits
from veilset.transactions.arguments import check_transactions
from veilset.transactions.transactions import Transactions
from veilset.transactions.tree_fit import notes_on_fit
from veilset.transactions.tree_labels import unique_labels
from veilset.transactions.tree_making import groups_by_co_occurrence, groups_by_fan_out
from veilset.transactions.vocabulary import check_writable, item_name, several, vocabulary_order
from veilset.views import MOST_ROWS, Shown, Summary


class Taxonomy(Shown):
    """A tree over item names, immutable.

    Made by `read`, `from_frame`, `from_paths`, `by_fan_out` or `by_co_occurrence`. Nodes are numbers: first the leaves
    in vocabulary order, so that node i is the item ``leaves[i]``, then the groups, the deepest first, and the root: a
    parent's number is larger than its child's. `names` and `parents` hold each node's own name and its parent (-1:
    none).

    Examples
    --------
    >>> food = ["dairy", "food"]
    >>> taxonomy = Taxonomy.from_paths({"milk": food, "brie": food, "soap": ["household"]})
    >>> taxonomy
    <Taxonomy: 3 items, 7 nodes, 3 levels>
      food: 2 items
      household: 1 item
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
        makers = ("read", "from_frame", "from_paths", "by_fan_out", "by_co_occurrence")
        raise TypeError(f"Use {', '.join(f'Taxonomy.{maker}' for maker in makers)}.")

    @classmethod
    def by_fan_out(
        cls, items: Transactions | Iterable[str | int], n: int, *, min_support: int | None = None
    ) -> Taxonomy:
        """A tree whose groups have n members in vocabulary order; the last of a level may have fewer.

        For a `Transactions` object, the tree is over its public items: such a tree reveals which items occur. The names
        of a catalogue, which has others too, do not. A single member moves up a level unchanged.

        Parameters
        ----------
        items : Transactions or iterable of str
        n : int
            Members of a group.
        min_support : int, optional
            No group is named after an item of the `Transactions` that fewer of them hold; it has its number instead.

        Examples
        --------
        >>> taxonomy = Taxonomy.by_fan_out(range(1, 10), 4)
        >>> [taxonomy.label(node) for node in range(len(taxonomy.leaves), len(taxonomy))]
        ['1..4', '5..8', 'ALL']
        >>> baskets = Transactions.from_lists([["ale", "bun"], ["bun", "fig"], ["fig", "rum"]])
        >>> Taxonomy.by_fan_out(baskets, 2, min_support=2).to_paths()["fig"]
        ['fig..#4']
        """
        _check_number(n, "fan-out", 2)
        if isinstance(items, str):
            raise InvalidArgument(f"The items are the text {items!r}.", "Give a list of names, or transactions.")
        rare: frozenset[str] = frozenset()
        if isinstance(items, Transactions):
            given: Sequence[str] = items.public
            rare = frozenset(items.names[code] for code in np.flatnonzero(items.supports < (min_support or 0)).tolist())
        else:
            given = [item_name(item, "by_fan_out") for item in items]
            if min_support is not None:
                raise InvalidArgument(f"{said('min_support')} needs transactions, not names.", "Leave it out.")
        return cls.of_neighbours(given, n, rare)

    @classmethod
    def of_neighbours(cls, names: Sequence[str], n: int, rare: Collection[str]) -> Taxonomy:
        """`by_fan_out` of these names, with no group named after a *rare* one."""
        leaves = _in_vocabulary_order(names)
        return cls._grow(leaves, groups_by_fan_out(leaves, n, frozenset(rare)))

    @classmethod
    def by_co_occurrence(
        cls, data: Transactions, fan_out: int, *, min_support: int, **bounds: Unpack[Bounds]
    ) -> Taxonomy:
        """A tree whose groups have up to *fan_out* members that occur together; the same for any order of rows.

        It is made of the public items, and reveals which of them occur together in *data*: see the page on limits.

        Parameters
        ----------
        data : Transactions
        fan_out : int
            Maximum number of members of a group.
        min_support : int
            Pairs of items that fewer transactions contain are ignored, so that the tree does not show what one person
            did. Use the k of your promise.
        **bounds
            threads, memory_limit, time_limit, progress: see `veilset.audit`.

        Examples
        --------
        >>> data = Transactions.from_lists([["ale", "nuts"], ["bun", "jam"], ["ale", "nuts"], ["bun", "jam"], ["ale"]])
        >>> Taxonomy.by_co_occurrence(data, 2, min_support=2).to_paths()
        {'ale': ['ale + 1 more'], 'bun': ['bun + 1 more'], 'jam': ['bun + 1 more'], 'nuts': ['ale + 1 more']}
        """
        _check_number(fan_out, "fan-out", 2)
        _check_number(min_support, "min_support", 1)
        check_transactions(data)
        leaves = _in_vocabulary_order(data.public)
        limits = Limits(**bounds)
        return cls._grow(leaves, groups_by_co_occurrence(data, leaves, fan_out, min_support=min_support, limits=limits))

    @classmethod
    def read(
        cls, path: str | Path, *, kind: str | None = None, columns: Sequence[str] | None = None, encoding: str = "utf-8"
    ) -> Taxonomy:
        """A tree from a file of any form; see the page on taxonomies.

        Parameters
        ----------
        path : path
            ``.csv`` or ``.tsv`` with a header: an item, then its groups, the most general last; with the header
            ``child,parent``, a node and the one above it. ``.txt``: lines like ``item;group;*``. ``.json``: nested
            objects.
        kind : {"paths", "edges", "lines", "json"}, optional
            The form, regardless of the file name.
        columns : sequence of str, optional
            The columns of a table to take, the item's (or the child's) first; None takes all in their order.
        encoding : str
            Encoding of the text.
        """
        return cls.from_paths(read_tree(path, kind=kind, columns=columns, encoding=encoding))

    @classmethod
    def from_frame(cls, frame: Any, *, kind: str | None = None, columns: Sequence[str] | None = None) -> Taxonomy:
        """A tree from a frame: pandas, polars, Arrow, or anything else with the Arrow interface.

        Parameters
        ----------
        frame : frame
            With an item and its groups in each row, the most general last; or, if its columns are ``child`` and
            ``parent``, a node and the one above it. Whole numbers are names; a null is an empty cell.
        kind : {"paths", "edges"}, optional
            Which of the two it is, regardless of the column names.
        columns : sequence of str, optional
            The columns to take, the item's (or the child's) first; None takes all in their order.

        Examples
        --------
        >>> import pyarrow as pa
        >>> Taxonomy.from_frame(pa.table({"item": ["milk", "soap"], "shelf": ["dairy", "care"]})).to_paths()
        {'milk': ['dairy'], 'soap': ['care']}
        >>> Taxonomy.from_frame(pa.table({"child": ["milk", "dairy"], "parent": ["dairy", "food"]})).to_paths()
        {'milk': ['dairy', 'food']}
        """
        return cls.from_paths(tree_of_frame(frame, kind=kind, columns=columns))

    @classmethod
    def from_paths(cls, paths: Mapping[str, Sequence[str]]) -> Taxonomy:
        """A tree from each item's groups, the most general last; the root above them is implied."""
        checked: dict[str, list[str]] = {}
        for item, groups in paths.items():
            if isinstance(groups, str):
                raise InvalidArgument(f"The groups of {item!r} are the text {groups!r}.", "Give a list of names.")
            checked[item_name(item, "from_paths")] = [item_name(group, f"The groups of {item!r}") for group in groups]
        return cls._grow(_in_vocabulary_order([item_name(item, "from_paths") for item in paths]), checked)

    @classmethod
    def _grow(cls, leaves: list[str], paths: Mapping[str, Sequence[str]]) -> Taxonomy:
        # Groups are numbered as met from the root (0) down, and renumbered when all are known.
        found: dict[tuple[int, str], int] = {}
        name, parent, depth = [ROOT], [-1], [0]
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
                raise InvalidArgument(
                    f"{leaf!r} is both an item and a group at the same place in the tree.",
                    "Give one of them another name.",
                )
        order = sorted(range(len(name)), key=lambda group: -depth[group])
        number = {group: len(leaves) + i for i, group in enumerate(order)}
        above = [number[at] for at in leaf_parent] + [number[parent[group]] for group in order[:-1]] + [-1]
        check_writable([*leaves, *name])
        names = (*leaves, *(name[group] for group in order))
        return cls._of(tuple(leaves), names, np.array(above, dtype=np.int32))

    @classmethod
    def _of(
        cls,
        leaves: tuple[str, ...],
        names: tuple[str, ...],
        parents: npt.NDArray[np.int32],
        labels: tuple[str, ...] | None = None,
    ) -> Taxonomy:
        tree = object.__new__(cls)
        parents.setflags(write=False)
        object.__setattr__(tree, "leaves", leaves)
        object.__setattr__(tree, "names", names)
        object.__setattr__(tree, "parents", parents)
        if labels is not None:
            tree.__dict__["_labels"] = labels
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
            raise InvalidArgument(
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
            raise InvalidArgument(f"There is no node {label!r} in the taxonomy.", hint or "Check its spelling.")
        return self._node_of[label]

    def leaf(self, name: str) -> int:
        """The leaf of this item; unlike a label, an item's name is always unique."""
        if name not in self._leaf_of:
            raise InvalidArgument(
                f"There is no item {name!r} in the taxonomy.", near_misses(name, self.leaves) or "Check its spelling."
            )
        return self._leaf_of[name]

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return unique_labels(self.names, self.parents.tolist(), self.depth)

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

    def write(self, path: str | Path, *, kind: str | None = None) -> None:
        """Write a file that `read` reads back exactly; *kind* or the file name gives the form (``.csv``: paths).

        Edges identify a node by its name, so a tree with two nodes of one name is refused. Lines cannot hold a name
        with a semicolon.
        """
        write_tree(path, self.to_paths(), kind=kind)

    def without(self, items: Iterable[str]) -> Taxonomy:
        """The tree without these leaves and without groups that have none left; what stays keeps its label.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_paths({"milk": ["dairy", "food"], "rye": ["food"], "soap": ["household"]})
        >>> taxonomy.without(["milk", "soap"]).to_paths()
        {'rye': ['food']}
        """
        gone = {self.leaf(item) for item in several(items, "items")}
        if not gone:
            return self
        kept = {name: leaf for leaf, name in enumerate(self.leaves) if leaf not in gone}
        names = list(kept)
        tree = self._grow([names[i] for i in vocabulary_order(names)], self.to_paths())
        old: dict[int, int] = {tree.root: self.root}
        for new, name in enumerate(tree.leaves):
            old.update(zip((new, *tree.ancestors(new)), (kept[name], *self.ancestors(kept[name])), strict=True))
        # A label stays: a group must not take over the name of a leaf that is gone, which the data may have.
        labels = tuple(self.label(old[node]) for node in range(len(tree)))
        return self._of(tree.leaves, tree.names, tree.parents, labels)

    def pruned(self, data: Transactions) -> Taxonomy:
        """The tree without the sensitive items of *data*, which are never generalized."""
        return self.without(name for name in data.sensitive if name in self._leaf_of)

    def check(self, data: Transactions) -> tuple[str, ...]:
        """Notes on leaves that are not used; an error if a public item of *data* is not a leaf.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_paths({"milk": ["food"], "brie": ["food"], "insulin": ["pharmacy"]})
        >>> for note in taxonomy.check(Transactions.from_lists([["milk", "insulin"]], sensitive=["insulin"])):
        ...     print(note)
        1 leaf does not occur in the data: 'brie'.
        1 sensitive item is among the leaves and is not generalized: 'insulin'.
        """
        return notes_on_fit(self.leaves, self.names[len(self.leaves) :], data)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.parents, other.parents)

    def __hash__(self) -> int:
        return hash(self.names)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A taxonomy is immutable; {name!r} cannot be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Taxonomy._of, (self.leaves, self.names, self.parents, self._labels)

    def _summary(self) -> Summary:
        groups = self.children(self.root)
        below = [(self.names[node], len(self.leaves_under(node))) for node in groups[:MOST_ROWS]]
        rows = [(name, f"{count:,} item{'s' * (count != 1)}") for name, count in below]
        facts = [(len(self.leaves), "item(s)"), (len(self), "node(s)"), (self.depth, "level(s)")]
        return Summary("Taxonomy", facts=facts, head=("group", "items"), rows=rows, count=len(groups))


TaxonomyLike: TypeAlias = Taxonomy | Mapping[str, Sequence[str]] | str | Path | Any
"""A taxonomy, each item's groups (the most general last), a file that `Taxonomy.read` reads, or a frame."""


def taxonomy_of(given: TaxonomyLike) -> Taxonomy:
    """The taxonomy that an option gives."""
    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, Mapping):
        return Taxonomy.from_paths(given)
    return Taxonomy.read(given) if isinstance(given, (str, Path)) else Taxonomy.from_frame(given)


def _in_vocabulary_order(names: Sequence[str]) -> list[str]:
    if not names:
        raise InvalidArgument("There are no items to build a taxonomy from.", "Give at least one public item.")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise InvalidArgument(f"The item {twice[0]!r} is given twice.", "List every item once.")
    return [names[i] for i in vocabulary_order(list(names))]


def _check_number(number: object, what: str, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
        raise InvalidArgument(f"The {what} is {number!r}.", f"Give a whole number of at least {least}.")
