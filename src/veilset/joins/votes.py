"""Predictions for rows of the target table: each takes the vote of its joined rows, which are never computed.

A row of the target table stands for all joined rows it is part of. They may reach different leaves, and each votes for
the class of its leaf. The rows are divided by the tree as in training, by split propagation, with one class only: then
a count at a leaf is how many joined rows of a target row reach it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.joins.answers import answers, splits_of
from veilset.joins.columns import Attribute, Codes, column_of
from veilset.joins.graph import JoinGraph
from veilset.joins.linked import LinkedTables, with_counts
from veilset.joins.propagation import propagate_classes, propagate_splits
from veilset.joins.site import ROOT, Criterion, Site, numbers_of
from veilset.joins.summaries import Words, from_words
from veilset.joins.tree import Node, Split
from veilset.limits import Limits

Votes = npt.NDArray[Any]
"""For each row of the target table and each class, the number of joined rows that vote for it."""


def count_votes(root: Node, linked: LinkedTables, target: str, limits: Limits) -> Votes:
    """The votes of all rows of the target table; a row without joined rows has none."""
    asked = {name: splits_of(root, name) for name in linked.tables}
    attributes = {
        name: [_attribute(linked.tables[name], splits) for splits in columns.values()]
        for name, columns in asked.items()
    }
    criteria = {
        split: Criterion(place, code)
        for columns in asked.values()
        for place, splits in enumerate(columns.values())
        for code, split in enumerate(splits)
    }

    def run(wide: bool) -> Votes:
        sites = linked.sites(attributes, 1, wide, limits)
        sites[target].start(np.zeros(sites[target].rows, np.int32))
        propagate_classes(sites, linked.graph, target)
        sites[target].counts(ROOT)  # can be counted, so sums of votes can, too
        votes = np.zeros((sites[target].rows, len(root.counts)), dtype=object if wide else np.uint64)
        for label, rows, counts in _leaves(root, sites, linked.graph, sites[target], criteria):
            votes[rows, label] += np.array(from_words(counts, 2), dtype=object) if wide else counts
        return votes

    return with_counts(run)


def winners(votes: Votes, otherwise: int) -> npt.NDArray[np.int64]:
    """The class that most joined rows of each target row vote for, the first of equals; *otherwise* without votes."""
    return np.where(votes.any(axis=1), votes.argmax(axis=1), otherwise)


def _leaves(
    root: Node, sites: Mapping[str, Site], graph: JoinGraph, target: Site, criteria: Mapping[Split, Criterion]
) -> Iterator[tuple[int, Codes, Words]]:
    """The label of each leaf with the target rows that reach it and their numbers of joined rows, level by level."""
    level, numbers = {ROOT: root}, count(ROOT + 1)
    while level:
        yield from ((node.label, *target.rows_at(number)) for number, node in level.items() if node.is_leaf)
        below: dict[int, Node] = {}
        for name, site in sites.items():
            chosen = {number: node for number, node in level.items() if node.split and node.split.table == name}
            if not chosen:
                continue
            site.criteria |= {number: criteria[node.split] for number, node in chosen.items() if node.split}
            children = {next(numbers): child for node in chosen.values() for child in node.children}
            nodes = numbers_of(chosen), numbers_of(children)
            site.split(*nodes)
            propagate_splits(sites, graph, name, *nodes)
            below |= children
        for site in sites.values():
            site.forget(numbers_of(level))
        level = below


def _attribute(table: pa.Table, splits: Sequence[Split]) -> Attribute:
    """A column as the tree sees it: the number of the first of these splits that a row satisfies."""
    codes = answers(column_of(table, splits[0].column), splits)
    return Attribute(splits[0].column, splits[0].kind, codes, pa.nulls(len(splits) + 1))


def leaves_reached(
    root: Node, tables: Mapping[str, pa.Table], rows: int
) -> Iterator[tuple[Node, npt.NDArray[np.int64]]]:
    """The leaves with the joined records that reach them; parts of a record have the same position in all tables."""
    reached = {
        split: (codes, place)
        for name, table in tables.items()
        for column, splits in splits_of(root, name).items()
        for codes in [answers(column_of(table, column), splits)]
        for place, split in enumerate(splits)
    }
    ahead = [(root, np.arange(rows))]
    while ahead:
        node, here = ahead.pop()
        if node.split is None:
            yield node, here
        else:
            codes, place = reached[node.split]
            first = codes[here] <= place if node.split.kind == "number" else codes[here] == place
            ahead += zip(node.children, (here[first], here[~first]), strict=True)
