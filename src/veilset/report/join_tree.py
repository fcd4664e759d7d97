"""A tree over a join as nested lists, for pages and notebooks: no script, readable for 5 nodes and for 5,000.

Branches with many joined rows are drawn first. What is drawn beyond the first nodes is folded, and what is beyond the
most a page has is counted. Lists are given as a flat sequence of steps, since a tree can be deeper than Python calls.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from veilset.joins import Node, Split, Tree
from veilset.joins.parties.secure_tree import PrivateSplit
from veilset.joins.tree import told
from veilset.report.mined import large
from veilset.report.text import shares, shown

MOST_NODES = 1_000
"""Nodes on a page."""

OTHERS = 6
"""The colour of all classes that have none of their own."""

_OPEN = 31  # nodes

DEEPEST = 60
"""Levels of splits that are drawn: browsers nest some hundred elements, three for each level."""


@dataclass(frozen=True)
class ClassShare:
    """A class at a node: its share, the shares before it in the bar, and the number of its colour."""

    name: str
    share: float
    start: float
    colour: int

    @property
    def told(self) -> str:
        """As text."""
        return f"{self.name} {shares(self.share)}"


@dataclass(frozen=True)
class Step:
    """A node in the order of drawing, and how many lists end after it.

    *branch* is yes or no; *hidden* says how many nodes below are left out; *table* is the number of the table's colour.
    Numbers are rounded in *asks*, but not in *exactly*.
    """

    branch: str
    asks: str
    exactly: str
    table_name: str
    table: int
    label: str
    rows: str
    bar: Sequence[ClassShare]
    has_children: bool
    is_open: bool
    hidden: int
    closes: int

    @property
    def told(self) -> str:
        """The shares of the classes as text, for those who cannot see the bar."""
        return ", ".join(part.told for part in self.bar)


@dataclass(frozen=True)
class Painted:
    """A tree to draw: its steps, the classes with colours, the tables that splits ask, and how many nodes are drawn."""

    steps: Sequence[Step]
    classes: Sequence[ClassShare]
    tables: Sequence[tuple[int, str, int]]
    nodes: int
    drawn: int


def paint(tree: Tree, tables: Sequence[str], most: int = MOST_NODES, unfolded: int = _OPEN) -> Painted:
    """Lay out a tree over these tables, with at most so many nodes, and so many to be seen at once."""
    order = _heaviest_first(tree.root)
    drawn, opened = {id(tree.root)}, set[int]()
    for node in order:
        if len(drawn) + 2 > most:
            break
        if len(drawn) + 2 <= unfolded:
            opened.add(id(node))
        drawn |= {id(child) for child in node.children}
    ranking = sorted(range(len(tree.classes)), key=lambda place: (-tree.root.counts[place], place))
    coloured = ranking if len(ranking) <= OTHERS else ranking[: OTHERS - 1]
    legend = _bar(tree, tree.root, coloured)
    asked = [(place, name, _asking(tree, name)) for place, name in enumerate(tables)]
    steps = list(_steps(tree, tables, coloured, drawn, opened))
    return Painted(steps, legend, [one for one in asked if one[2]], len(tree), len(drawn))


def _asking(tree: Tree, table: str) -> int:
    return sum(node.split is not None and node.split.table == table for node in tree.root.walk())


def _heaviest_first(root: Node) -> Iterator[Node]:
    """Nodes with children, those with the most joined rows first, each after its parent."""
    ahead = [(-root.rows, 0, root)]
    made = 1
    while ahead:
        _, _, node = heapq.heappop(ahead)
        if node.children and node.depth < DEEPEST:
            yield node
            for child in node.children:
                heapq.heappush(ahead, (-child.rows, made, child))
                made += 1


def _steps(
    tree: Tree, tables: Sequence[str], coloured: Sequence[int], drawn: set[int], opened: set[int]
) -> Iterator[Step]:
    sizes = _sizes(tree.root)
    ahead: list[tuple[Node, str, int]] = [(tree.root, "", 0)]
    while ahead:
        node, branch, closes = ahead.pop()
        inner = bool(node.children) and id(node.children[0]) in drawn
        split = node.split
        yield Step(
            branch=branch,
            asks="" if split is None else _asks(split),
            exactly="" if split is None else shown(str(split)),
            table_name="" if split is None else shown(split.table),
            table=0 if split is None else tables.index(split.table),
            label=shown(told(tree.classes[node.label])),
            rows=large(node.rows),
            bar=_bar(tree, node, coloured),
            has_children=inner,
            is_open=id(node) in opened,
            hidden=0 if inner else sizes[id(node)] - 1,
            closes=0 if inner else closes,
        )
        if inner:
            ahead += [(node.children[1], "no", closes + 1), (node.children[0], "yes", 0)]


def _sizes(root: Node) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for node in reversed(list(root.walk())):
        sizes[id(node)] = 1 + sum(sizes[id(child)] for child in node.children)
    return sizes


def _asks(split: Split) -> str:
    """The question without its table; a float has as many digits as a person reads."""
    if isinstance(split, PrivateSplit):
        return f"private split {split.number}"
    value = float(f"{split.value:.6g}") if isinstance(split.value, float) else split.value
    return shown(str(replace(split, value=value)).removeprefix(f"{split.table}."))


def _bar(tree: Tree, node: Node, coloured: Sequence[int]) -> list[ClassShare]:
    """The classes of a node that have a colour, in their order; then the others together."""
    parts, start, left = [], 0.0, node.rows
    for colour, place in enumerate(coloured):
        if count := node.counts[place]:
            parts.append(ClassShare(shown(told(tree.classes[place])), count / node.rows, start, colour))
            start, left = start + count / node.rows, left - count
    if left:
        parts.append(ClassShare("other classes", left / node.rows, start, OTHERS))
    return parts
