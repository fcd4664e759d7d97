"""Predictions for rows of the target table: each takes the vote of its joined rows, which are never computed.

A row of the target table stands for all joined rows it is part of. They may reach different leaves, and each votes for
the class of its leaf. The rows are divided by the tree as in training, by split propagation, with one class only: then
a count at a leaf is how many joined rows of a target row reach it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument
from veilset.joins.columns import Attribute, Codes, column_of
from veilset.joins.linked import LinkedTables, with_counts
from veilset.joins.propagation import propagate_classes, propagate_splits
from veilset.joins.site import ROOT, Criterion, Site
from veilset.joins.summaries import from_words
from veilset.joins.tree import Node, Split
from veilset.limits import Limits

Votes = npt.NDArray[Any]
"""For each row of the target table and each class, the number of joined rows that vote for it."""


def count_votes(root: Node, linked: LinkedTables, target: str, limits: Limits) -> Votes:
    """The votes of all rows of the target table; a row without joined rows has none."""
    splits = {node.split for node in root.walk() if node.split is not None}
    asked = {name: [split for split in splits if split.table == name] for name in linked.tables}
    attributes = {name: [_answers(table, split) for split in asked[name]] for name, table in linked.tables.items()}

    def run(wide: bool) -> Votes:
        sites = linked.sites(attributes, 1, wide, limits)
        sites[target].start(np.zeros(sites[target].rows, np.int32))
        propagate_classes(sites, linked.graph, target)
        votes = np.zeros((sites[target].rows, len(root.counts)), dtype=object if wide else np.uint64)
        for node, rows, counts in _leaves(root, sites, linked, target, asked):
            votes[rows, node.label] += np.array(from_words(counts, 2), dtype=object) if wide else counts
        return votes

    votes: Votes = with_counts(run)
    return votes


def winners(votes: Votes, otherwise: int) -> npt.NDArray[np.int64]:
    """The class that most joined rows of each target row vote for, the first of equals; *otherwise* without votes."""
    return np.where(votes.any(axis=1), votes.argmax(axis=1), otherwise)


def _leaves(
    root: Node, sites: Mapping[str, Site], linked: LinkedTables, target: str, asked: Mapping[str, Sequence[Split]]
) -> Any:
    """The leaves with the target rows that reach them, level by level."""
    level, made = {ROOT: root}, 1
    while level:
        for number, node in level.items():
            if node.is_leaf:
                yield node, *sites[target].rows_at(number)
        below: dict[int, Node] = {}
        for table, site in sites.items():
            nodes = [number for number, node in level.items() if node.split is not None and node.split.table == table]
            if not nodes:
                continue
            children = np.arange(made, made + 2 * len(nodes), dtype=np.int64)
            made += len(children)
            site.criteria |= {number: Criterion(asked[table].index(level[number].split), 0) for number in nodes}
            numbers = np.array(nodes, np.int64)
            site.split(numbers, children)
            propagate_splits(sites, linked.graph, table, numbers, children)
            below |= dict(
                zip(children.tolist(), (child for number in nodes for child in level[number].children), strict=True)
            )
        for site in sites.values():
            site.forget(np.array(list(level), np.int64))
        level = below


def leaf_shares(root: Node, tables: Mapping[str, pa.Table], rows: int) -> npt.NDArray[np.float64]:
    """For each joined record, whose parts have the same position in all tables, the class shares of its leaf."""
    shares = np.empty((rows, len(root.counts)))
    ahead = [(root, np.arange(rows))]
    while ahead:
        node, here = ahead.pop()
        if node.split is None:
            shares[here] = node.shares
        else:
            first = satisfied(tables[node.split.table].take(here), node.split)
            ahead += zip(node.children, (here[first], here[~first]), strict=True)
    return shares


def satisfied(table: pa.Table, split: Split) -> npt.NDArray[np.bool_]:
    """Which rows of a table go to the first child. A value that was never seen goes with the rest."""
    column = column_of(table, split.column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if split.value is None:
        return np.asarray(pc.is_null(column, nan_is_null=True), dtype=bool)
    try:
        compare = pc.less_equal if split.kind == "number" else pc.equal
        answers = compare(column, pa.scalar(split.value))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InvalidArgument(
            f"The column {split.name} is of type {column.type}, and cannot be compared with {split.value!r}, as the "
            "tree does.",
            "Give it the type that it had in training.",
        ) from None
    return np.asarray(answers.fill_null(False), dtype=bool)


def _answers(table: pa.Table, split: Split) -> Attribute:
    """A split as an attribute of its own: 0 for yes, 1 for no."""
    codes: Codes = (~satisfied(table, split)).astype(np.int32)
    return Attribute(split.column, "number", codes, pa.array([True, False]))
