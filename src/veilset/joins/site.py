"""A site: a table at home, with what only its owner knows.

A site has its columns and, for each node of the tree, its rows that reach the node, with their class counts. It answers
with summaries of join values and with the gain of its best split. Its values, its rows and its criteria stay at home.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.joins.columns import Attribute, Codes
from veilset.joins.summaries import ClassSummary, SplitSummary, Words, from_words, to_words
from veilset.joins.tree import Split
from veilset.limits import KernelLimits, Limits

ROOT = 0
_ADVICE = "use a smaller depth or fewer columns."
_STAGES = ("Finding splits", "Splitting tables", "Summing up join values")

Numbers = npt.NDArray[np.int64]
"""Nodes, by number."""


def numbers_of(nodes: Iterable[int]) -> Numbers:
    """Numbers of nodes as kernels take them."""
    return np.fromiter(nodes, np.int64)


@dataclass(frozen=True)
class Criterion:
    """An attribute of a site, and the rank of the value that it is compared with."""

    attribute: int
    code: int


@dataclass
class Site:
    """A table at its owner's.

    Parameters
    ----------
    table : str
        Its name.
    rows : int
        How many rows it has.
    attributes : sequence of Attribute
        What splits may ask about.
    keys : mapping
        For each edge at this table, the number of each row's join value (-1: it matches nothing), and how many there
        are.
    classes : int
        How many classes there are.
    wide : bool
        Whether counts of joined rows may need more than 64 bits.
    limits : Limits
        How long it may take, on how many threads.
    criteria : dict
        The split list: what this site splits, by the number of the node.
    """

    table: str
    rows: int
    attributes: Sequence[Attribute]
    keys: Mapping[int, tuple[Codes, int]]
    classes: int
    wide: bool
    limits: Limits
    criteria: dict[int, Criterion] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._edges = list(self.keys)
        self._kernel = (_native.joins.WideSite if self.wide else _native.joins.Site)(
            rows=self.rows,
            classes=self.classes,
            codes=[attribute.codes for attribute in self.attributes],
            distinct=[len(attribute.values) for attribute in self.attributes],
            ordered=[attribute.kind == "number" for attribute in self.attributes],
            keys=[ids for ids, _ in self.keys.values()],
            key_counts=[count for _, count in self.keys.values()],
        )

    @property
    def width(self) -> int:
        """How many words a count has."""
        return 2 if self.wide else 1

    def start(self, classes: Codes) -> None:
        """Begin at the target table, where each row counts once, for its class (-1: it has none and is left out)."""
        self._run(_native.joins.start, classes)

    def class_summary(self, edge: int) -> ClassSummary:
        """CS(this → the neighbour on this edge)."""
        keys, counts = self._run(_native.joins.class_summary, self._edges.index(edge))
        return ClassSummary(keys, counts, self.classes, self.width)

    def receive(self, edge: int, summary: ClassSummary) -> None:
        """Set the class counts of all rows by formula (1) at the first visit, or rescale them by formula (2)."""
        self._run(_native.joins.receive_classes, self._edges.index(edge), summary.keys, summary.counts)

    def best_splits(self, nodes: Numbers, min_leaf: int) -> list[int]:
        """Info(this) for each node: the gain of the best split here, in units of 2^-48 bits; 0 if there is none.

        The criterion behind it is noted, and not told.
        """
        least = to_words([min_leaf], self.width)
        found = self._run(_native.joins.best_splits, nodes, min_leaf=least, threads=self.limits.thread_count)
        gains, attributes, codes = (array.tolist() for array in found)
        chosen = zip(nodes.tolist(), gains, attributes, codes, strict=True)
        self.criteria.update((node, Criterion(at, code)) for node, gain, at, code in chosen if gain)
        return list(gains)

    def split(self, nodes: Numbers, children: Numbers) -> list[tuple[int, ...]]:
        """Split nodes by the criteria noted for them; the class counts of all children."""
        chosen = [self.criteria[node] for node in nodes.tolist()]
        attributes = np.array([criterion.attribute for criterion in chosen], np.int32)
        codes = np.array([criterion.code for criterion in chosen], np.int32)
        words = self._run(_native.joins.split, nodes, children, attributes, codes, threads=self.limits.thread_count)
        counts = from_words(words, self.width)
        return [tuple(counts[at : at + self.classes]) for at in range(0, len(counts), self.classes)]

    def split_summary(self, edge: int, nodes: Numbers, children: Numbers) -> SplitSummary:
        """SS(this → the neighbour on this edge) of nodes that are split here."""
        offsets, keys, counts = self._run(
            _native.joins.split_summary, self._edges.index(edge), children, threads=self.limits.thread_count
        )
        return SplitSummary(nodes, children, offsets, keys, counts, self.classes, self.width)

    def follow(self, edge: int, summary: SplitSummary) -> None:
        """Split nodes as a neighbour has split them, by formulas (3) and (4)."""
        self._run(
            _native.joins.follow,
            self._edges.index(edge),
            summary.nodes,
            summary.children,
            summary.offsets,
            summary.keys,
            summary.counts,
            threads=self.limits.thread_count,
        )

    def forget(self, nodes: Numbers) -> None:
        """Drop the rows of nodes that are done with."""
        _native.joins.forget(self._kernel, nodes)

    def counts(self, node: int) -> tuple[int, ...]:
        """The class counts of a node."""
        return tuple(from_words(_native.joins.counts_at(self._kernel, node), self.width))

    def rows_at(self, node: int) -> tuple[Codes, Words]:
        """The rows that reach a node, and their class counts in words."""
        return _native.joins.rows_at(self._kernel, node)

    def size(self, nodes: Numbers) -> int:
        """How many rows reach these nodes, a row that reaches several counted in each."""
        return _native.joins.size(self._kernel, nodes)

    def criterion(self, node: int) -> Split:
        """What this site asks at a node that it splits."""
        chosen = self.criteria[node]
        attribute = self.attributes[chosen.attribute]
        return Split(self.table, attribute.name, attribute.kind, attribute.values[chosen.code].as_py())

    def _run(self, kernel: Any, *arguments: Any, **options: Any) -> Any:
        bounds: KernelLimits = self.limits.for_kernel(lambda stage: f"{_STAGES[stage]} of {self.table}")
        with self.limits.guard("Growing the tree", _ADVICE):
            return kernel(self._kernel, *arguments, **options, **bounds)
