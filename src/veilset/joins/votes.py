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
import pyarrow.compute as pc

from veilset.errors import InvalidArgument
from veilset.joins.columns import Attribute, Codes, column_of, run_end_decoded
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
    asked = {name: _asked(root, name) for name in linked.tables}
    attributes = {
        name: [_answers(linked.tables[name], splits) for splits in columns.values()] for name, columns in asked.items()
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


def _asked(root: Node, table: str) -> dict[str, list[Split]]:
    """What a tree asks about each column of a table, each question once; of numbers, by size."""
    found: dict[str, dict[Split, None]] = {}
    for node in root.walk():
        if node.split is not None and node.split.table == table:
            found.setdefault(node.split.column, {})[node.split] = None
    return {
        column: sorted(splits, key=lambda split: split.value) if next(iter(splits)).kind == "number" else list(splits)
        for column, splits in found.items()
    }


def _answers(table: pa.Table, splits: Sequence[Split]) -> Attribute:
    """A column as the tree sees it: the number of the first of these splits that a row satisfies."""
    column = _comparable(table, splits[0].column)
    codes = np.full(table.num_rows, len(splits), np.int32)
    column = _comparable(table, splits[0].column)
    for place in reversed(range(len(splits))):
        codes[_satisfied(column, splits[place])] = place
    return Attribute(splits[0].column, splits[0].kind, codes, pa.nulls(len(splits) + 1))


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
        return pa.chunked_array(chunks) if chunks else _in_comparable_type(pa.chunked_array([], of.value_type))
    if pa.types.is_run_end_encoded(of):
        return _in_comparable_type(run_end_decoded(column))
    if pa.types.is_string_view(of):
        return column.cast(pa.large_string())
    return column.cast(pa.float32()) if pa.types.is_float16(of) else column
