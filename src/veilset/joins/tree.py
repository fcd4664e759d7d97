"""A decision tree over joined rows."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from veilset.joins.columns import Kind
from veilset.views import card, legible

_DEEPEST = 40  # levels of text that are indented
_PLAIN = re.compile(r"\w[^\"'`,:;?()=≤→]*")
_WHOLE = 2.0**53  # below it, floats without a fraction are whole numbers
_FLOAT32 = float(np.finfo(np.float32).max)


def told(value: Any) -> str:
    """A value of a column as people read it; text that is no plain words is in quotes.

    >>> print(told("San Marino"), told("?"), told(""), told(1.0), told(0.1), told(datetime.datetime(2024, 5, 1)))
    San Marino '?' '' 1 0.1 2024-05-01
    """
    if isinstance(value, str):
        shown = legible(value)
        return shown if shown != value or _PLAIN.fullmatch(value) else repr(value)
    if isinstance(value, float):
        return _told_float(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is None and value.time() == datetime.time():
        return str(value.date())
    return str(value)


def _told_float(value: float) -> str:
    if value.is_integer() and abs(value) < _WHOLE:
        return str(int(value))
    if abs(value) <= _FLOAT32 and float(np.float32(value)) == value:  # it has no more digits than a short float
        return str(np.float32(value))
    return repr(value)


@dataclass(frozen=True)
class Split:
    """What a node asks of a column: whether its value is at most this one, or whether it is this one.

    >>> print(Split("T2", "Age", "number", 3), "|", Split("T1", "J1", "category", None))
    T2.Age ≤ 3 | T1.J1 is missing
    """

    table: str
    column: str
    kind: Kind
    value: Any

    @property
    def name(self) -> str:
        """The column with its table."""
        return f"{self.table}.{self.column}"

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} is missing"
        return f"{self.name} {'≤' if self.kind == 'number' else '='} {told(self.value)}"


@dataclass(repr=False, eq=False)
class Node:
    """Some of the joined rows, and how they are divided further.

    Parameters
    ----------
    counts : tuple of int
        Joined rows of each class.
    depth : int
        How many splits lead here.
    split : Split, optional
        What divides its rows: those for which it is true go to the first child. None: this is a leaf.
    gain : float
        Information gain of the split, in bits for each joined row.
    children : tuple of Node
        Two, or none.
    """

    counts: tuple[int, ...]
    depth: int = 0
    split: Split | None = None
    gain: float = 0.0
    children: tuple[Node, ...] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether nothing divides its rows."""
        return not self.children

    @property
    def rows(self) -> int:
        """How many joined rows reach it."""
        return sum(self.counts)

    @property
    def label(self) -> int:
        """The number of its largest class, the first of equals."""
        return self.counts.index(max(self.counts))

    @property
    def shares(self) -> list[float]:
        """The share of each class among its rows."""
        return [count / self.rows for count in self.counts]

    def __repr__(self) -> str:
        return f"<Node: depth {self.depth:,}, {self.rows:,} joined rows, {self.split or 'leaf'}>"

    def __eq__(self, other: object) -> bool:
        return self._flat() == other._flat() if isinstance(other, Node) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __reduce__(self) -> tuple[Any, ...]:
        return _node_of, (self._flat(),)

    def _flat(self) -> list[_Flat]:
        """All nodes, each before its children: a tree can be deeper than Python calls."""
        return [(node.counts, node.depth, node.split, node.gain, bool(node.children)) for node in self.walk()]

    def walk(self) -> Iterator[Node]:
        """This node and all below it, each before its children."""
        ahead = [self]
        while ahead:
            node = ahead.pop()
            yield node
            ahead += reversed(node.children)


_Flat: TypeAlias = tuple[tuple[int, ...], int, Split | None, float, bool]


def _node_of(flat: list[_Flat]) -> Node:
    """The node that was made flat."""
    made: list[Node] = []
    for counts, depth, split, gain, has_children in reversed(flat):
        children = (made.pop(), made.pop()) if has_children else ()
        made.append(Node(counts, depth, split, gain, children))
    return made.pop()


@dataclass(repr=False)
class Tree:
    """A decision tree, with the classes that its counts are about.

    >>> leaves = Node((4, 0), 1), Node((1, 3), 1)
    >>> tree = Tree(("C1", "C2"), Node((5, 3), 0, Split("T1", "J1", "category", "a"), 0.548795, leaves))
    >>> print(tree.to_text())
    T1.J1 = a? (8 joined rows; C1: 5, C2: 3)
    ├─ yes → C1 (4 joined rows; C1: 4)
    └─ no  → C2 (4 joined rows; C1: 1, C2: 3)
    >>> len(tree), tree.depth
    (3, 1)
    """

    classes: tuple[Any, ...]
    root: Node = field()

    def __len__(self) -> int:
        return sum(1 for _ in self.root.walk())

    @property
    def depth(self) -> int:
        """The largest number of splits on the way to a leaf."""
        return max(node.depth for node in self.root.walk())

    def leaves(self) -> list[Node]:
        """The nodes that nothing divides, from left to right."""
        return [node for node in self.root.walk() if node.is_leaf]

    def importances(self) -> dict[str, float]:
        """The share that each column has in all the information gained, by "table.column", largest first."""
        gained: dict[str, float] = {}
        for node in self.root.walk():
            if node.split is not None:
                gained[node.split.name] = gained.get(node.split.name, 0.0) + node.gain * (node.rows / self.root.rows)
        total = sum(gained.values())
        return {name: gain / total for name, gain in sorted(gained.items(), key=lambda one: (-one[1], one[0]))}

    def table_importances(self) -> dict[str, float]:
        """The same by table."""
        tables = {node.split.name: node.split.table for node in self.root.walk() if node.split is not None}
        shares: dict[str, float] = {}
        for name, share in self.importances().items():
            shares[tables[name]] = shares.get(tables[name], 0.0) + share
        return dict(sorted(shares.items(), key=lambda one: (-one[1], one[0])))

    def to_text(self, depth: int | None = None) -> str:
        """The tree in lines of text, a node each; nodes below *depth* splits are counted.

        Beyond 40 splits, lines are indented no further, and begin with the number of splits.
        """
        lines = []
        ahead = [(self.root, "", "", "")]
        while ahead:
            node, before, branch, below = ahead.pop()
            asks = told(self.classes[node.label]) if node.split is None else f"{node.split}?"
            cut = node.depth == depth and not node.is_leaf
            more = f" … {sum(1 for _ in node.walk()) - 1:,} nodes below" if cut else ""
            lines.append(f"{before}{branch}{asks} ({self._told(node)}){more}")
            if node.children and not cut:
                first, second = node.children
                ahead.append((second, below, *_branch(second, "└─", "no", below, "   ")))
                ahead.append((first, below, *_branch(first, "├─", "yes", below, "│  ")))
        return "\n".join(lines)

    def _told(self, node: Node) -> str:
        named = zip(self.classes, node.counts, strict=True)
        counts = ", ".join(f"{told(name)}: {count:,}" for name, count in named if count)
        return f"{node.rows:,} joined row{'s' * (node.rows != 1)}; {counts}"

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain values, for JSON and other programs; nodes are listed each before its children."""
        numbers = {id(node): number for number, node in enumerate(self.root.walk())}
        nodes = [
            {
                "counts": list(node.counts),
                "label": node.label,
                "split": None if node.split is None else vars(node.split),
                "gain": node.gain,
                "children": [numbers[id(child)] for child in node.children],
            }
            for node in self.root.walk()
        ]
        return {"classes": list(self.classes), "nodes": nodes}

    def __repr__(self) -> str:
        return f"<Tree: {len(self):,} nodes, depth {self.depth:,}, {self.root.rows:,} joined rows>"

    def _repr_html_(self) -> str:
        return card(self)


def _branch(child: Node, mark: str, answer: str, below: str, indent: str) -> tuple[str, str]:
    """What stands before a child in the text of a tree, and before what is below it."""
    said = f"{answer:<3} →" if child.is_leaf else f"{answer + ':':<4}"
    if child.depth > _DEEPEST:
        return f"{child.depth:,}. {said} ", below
    return f"{mark} {said} ", below + indent
