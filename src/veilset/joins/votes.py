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
from veilset.joins.columns import Attribute, Codes, column_of, run_end_decoded
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
        sites[target].counts(ROOT)  # can be counted, so sums of votes can, too
        votes = np.zeros((sites[target].rows, len(root.counts)), dtype=object if wide else np.uint64)
        for node, rows, counts in _leaves(root, sites, linked, target, asked):
            votes[rows, node.label] += np.array(from_words(counts, 2), dtype=object) if wide else counts
        return votes

    votes: Votes = with_counts(run)
    return votes


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
    splits = [node.split for node in root.walk() if node.split is not None]
    columns = {(split.table, split.column): _comparable(tables[split.table], split.column) for split in splits}
    shares = np.empty((rows, len(root.counts)))
    ahead = [(root, np.arange(rows))]
    while ahead:
        node, here = ahead.pop()
        if node.split is None:
            shares[here] = node.shares
        else:
            first = _satisfied(columns[node.split.table, node.split.column].take(here), node.split)
            ahead += zip(node.children, (here[first], here[~first]), strict=True)
    return shares


def _satisfied(column: Any, split: Split) -> npt.NDArray[np.bool_]:
    """Which values of a column go to the first child. A value that was never seen goes with the rest."""
    if split.value is None:
        return np.asarray(pc.is_null(column, nan_is_null=True), dtype=bool)
    if split.kind == "number" and pa.types.is_integer(column.type) and isinstance(split.value, int):
        # Arrow has no common type for signed and unsigned numbers of 64 bits.
        smaller = (column.fill_null(0).to_numpy() <= split.value) & column.is_valid().to_numpy()
        return np.asarray(smaller, dtype=bool)
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


def _comparable(table: pa.Table, name: str) -> Any:
    """A column in a type that Arrow compares."""
    return _in_comparable_type(column_of(table, name))


def _in_comparable_type(column: Any) -> Any:
    of = column.type
    if pa.types.is_dictionary(of):
        parts = [(pa.chunked_array([chunk.dictionary]), chunk.indices) for chunk in column.chunks]
        chunks = [_in_comparable_type(values).take(indices).combine_chunks() for values, indices in parts]
        return pa.chunked_array(chunks) if chunks else pa.chunked_array([], of.value_type)
    if pa.types.is_run_end_encoded(of):
        return _in_comparable_type(run_end_decoded(column))
    if pa.types.is_string_view(of):
        return column.cast(pa.large_string())
    return column.cast(pa.float32()) if pa.types.is_float16(of) else column


def _answers(table: pa.Table, split: Split) -> Attribute:
    """A split as an attribute of its own: 0 for yes, 1 for no."""
    codes: Codes = (~_satisfied(_comparable(table, split.column), split)).astype(np.int32)
    return Attribute(split.column, "number", codes, pa.array([True, False]))
