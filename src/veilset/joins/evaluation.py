"""How good a tree over a join is: in rows of the target table, as people think, and in joined rows, as it was grown.

A few rows of the target table can own most of the joined rows, and the tree serves those. So both accuracies are told,
with the share of the heaviest rows. Cross-validation cuts the target table only: all joined rows of a target row are in
one fold, or those of a group of target rows. The rows of other tables stay, as they would for new rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, said
from veilset.exact import is_whole
from veilset.joins.classes import class_codes, class_numbers
from veilset.joins.classifier import Given, JoinClassifier
from veilset.joins.columns import Codes, column_of, ranked
from veilset.joins.graph import resolved
from veilset.joins.linked import LinkedTables
from veilset.joins.votes import Votes, winners
from veilset.limits import Limits


@dataclass(frozen=True)
class Accuracy:
    """The share of what is predicted right: of the rows of the target table, and of the joined rows."""

    target_rows: float
    joined_rows: float


@dataclass(frozen=True)
class Heaviest:
    """The share of all joined rows that few rows of the target table own.

    *one_percent* and *ten_percent* are about the heaviest 1% and 10% of the rows, rounded up to whole rows.
    """

    one_row: float
    one_percent: float
    ten_percent: float


@dataclass(frozen=True)
class Evaluation:
    """How good a tree is, beside what needs no join.

    Parameters
    ----------
    target_rows : int
        Rows of the target table that have a class. All shares are about these.
    unmatched_rows : int
        Those of them that are in no joined row. They are predicted as the root of the tree.
    joined_rows : int
        Rows of the join.
    majority : Accuracy
        The share of the largest class: what is right if it is always predicted.
    resubstitution : Accuracy
        Of the tree, on the rows that it was trained on. It is too good for other rows.
    cross_validated : Accuracy, optional
        Of trees that were trained without the rows they are tried on. None: there was no cross-validation.
    baseline : Accuracy, optional
        The same, on the same folds, of trees over the target table alone.
    heaviest : Heaviest
        The share of the joined rows that few target rows own.
    folds : int
        How many folds there were; 0: none.
    groups : str, optional
        The column whose values were kept together in one fold, as "table.column".
    random_state : int
        The seed of the folds.
    """

    target_rows: int
    unmatched_rows: int
    joined_rows: int
    majority: Accuracy
    resubstitution: Accuracy
    cross_validated: Accuracy | None
    baseline: Accuracy | None
    heaviest: Heaviest
    folds: int = 0
    groups: str | None = None
    random_state: int = 0


def evaluate(
    classifier: JoinClassifier, tables: Given, *, folds: int = 5, groups: str | None = None, random_state: int = 0
) -> Evaluation:
    """Evaluate a trained classifier on the tables that it was trained on.

    Parameters
    ----------
    classifier : JoinClassifier
        The classifier. Its limits hold for the whole evaluation.
    tables : mapping
        The tables, as `JoinClassifier.predict` takes them, with classes.
    folds : int
        Folds of the cross-validation; 0: none.
    groups : str, optional
        A column of the target table, as "table.column". Rows with the same value are in the same fold.
    random_state : int
        Seed of the folds.
    """
    limits = Limits(classifier.threads, classifier.memory_limit, classifier.time_limit, classifier.progress)
    linked = classifier.link(tables)
    table, column = classifier.target_
    linked = linked.keeping(table, class_codes(linked.tables[table], column)[0] >= 0)
    fold_of = _folds(linked, table, folds, groups, random_state)
    votes = classifier.votes(linked)
    weights = votes.sum(axis=1)
    everything = _Right(len(weights), int(weights.sum()))
    crossed = baseline = None
    if folds:
        trials = list(_cross_validated(classifier, linked, fold_of, weights, limits))
        crossed = sum((tree for tree, _ in trials), _Right()) / everything
        baseline = sum((alone for _, alone in trials), _Right()) / everything
    return Evaluation(
        target_rows=everything.target_rows,
        unmatched_rows=int(np.count_nonzero(weights == 0)),
        joined_rows=everything.joined_rows,
        majority=_majority(class_codes(linked.tables[table], column)[0], weights),
        resubstitution=_right(classifier, linked, votes) / everything,
        cross_validated=crossed,
        baseline=baseline,
        heaviest=heaviest(weights),
        folds=folds,
        groups=groups,
        random_state=random_state,
    )


def check_folds(tables: LinkedTables, target: str, *, folds: int, groups: str | None, random_state: int) -> None:
    """Raise if *tables* cannot be divided into these folds: worth asking before a long training."""
    table, column = resolved(target, {name: one.column_names for name, one in tables.tables.items()})
    labelled = class_codes(tables.tables[table], column)[0] >= 0
    _folds(tables.keeping(table, labelled), table, folds, groups, random_state)


def heaviest(weights: Votes) -> Heaviest:
    """The share that the heaviest rows have in all joined rows; *weights* has the joined rows of each.

    >>> heaviest(np.array([70, 10, 10, 10, 0, 0, 0, 0, 0, 0, 0]))
    Heaviest(one_row=0.7, one_percent=0.7, ten_percent=0.8)
    """
    ordered = sorted(map(int, weights), reverse=True)
    total = sum(ordered)
    one, percent, tenth = (
        sum(ordered[:count]) / total for count in (1, math.ceil(len(ordered) / 100), math.ceil(len(ordered) / 10))
    )
    return Heaviest(one, percent, tenth)


@dataclass(frozen=True)
class _Right:
    """How many rows are predicted right."""

    target_rows: int = 0
    joined_rows: int = 0

    def __add__(self, other: _Right) -> _Right:
        return _Right(self.target_rows + other.target_rows, self.joined_rows + other.joined_rows)

    def __truediv__(self, all_rows: _Right) -> Accuracy:
        return Accuracy(self.target_rows / all_rows.target_rows, self.joined_rows / all_rows.joined_rows)


def _right(classifier: JoinClassifier, linked: LinkedTables, votes: Votes, weights: Votes | None = None) -> _Right:
    """What a tree predicts right. One of the target table alone has no joined rows: its rows have these *weights*."""
    table, column = classifier.target_
    truth = class_numbers(linked.tables[table], column, classifier.tree_.classes)
    right = winners(votes, classifier.tree_.root.label) == truth
    known = np.flatnonzero(truth >= 0)
    joined = votes[known, truth[known]] if weights is None else weights[right]
    return _Right(int(np.count_nonzero(right)), int(joined.sum()))


def _majority(codes: Codes, weights: Votes) -> Accuracy:
    counts = np.bincount(codes)
    joined = [int(weights[codes == code].sum()) for code in range(len(counts))]
    return Accuracy(int(counts.max()) / len(codes), max(joined) / sum(joined))


def _folds(
    linked: LinkedTables, table: str, folds: int, groups: str | None, random_state: int
) -> npt.NDArray[np.int64]:
    """The fold of each row of the target table: its groups, or its rows, are dealt out in random order."""
    if not is_whole(folds, least=0) or folds == 1:
        raise InvalidArgument(f"{said('folds')} is {folds!r}.", "Give a whole number from 2, or 0 for none.")
    if not is_whole(random_state, least=0):
        raise InvalidArgument(f"{said('random_state')} is {random_state!r}.", "Give a whole number from 0.")
    codes: npt.NDArray[Any] = np.arange(linked.tables[table].num_rows)
    if groups is not None:
        where, column = resolved(groups, {name: one.column_names for name, one in linked.tables.items()})
        if where != table:
            raise InvalidArgument(
                f"{said('groups')} is {groups!r}, a column of {where!r}.",
                f"Name a column of the target table {table!r}.",
            )
        codes = ranked(column_of(linked.tables[table], column))[0] + 1  # rows without a value are a group too
    found, codes = np.unique(codes, return_inverse=True)
    if len(found) < folds:
        what = "rows with a class" if groups is None else f"different values of {groups}"
        raise InvalidArgument(
            f"{said('folds')} is {folds:,}, but there are only {len(found):,} {what}.",
            "Give fewer folds, or 0 for none.",
        )
    dealt = np.empty(len(found), np.int64)
    dealt[np.random.default_rng(random_state).permutation(len(found))] = np.arange(len(found)) % max(1, folds)
    fold_of: npt.NDArray[np.int64] = dealt[codes]
    return fold_of


def _cross_validated(
    classifier: JoinClassifier, linked: LinkedTables, fold_of: npt.NDArray[np.int64], weights: Votes, limits: Limits
) -> Iterator[tuple[_Right, _Right]]:
    """What trees predict right in each fold: over the join, and over the target table alone."""
    table = classifier.target_[0]
    folds = int(fold_of.max()) + 1
    for fold in range(folds):
        limits.step("Cross-validating", fold, folds)
        here = fold_of == fold
        rest, tried = linked.keeping(table, ~here), linked.keeping(table, here)
        try:
            tree = _trained(classifier, rest, limits)
            alone = _trained(classifier, rest.alone(table), limits)
        except InvalidArgument as error:
            raise error.within(f"Without fold {fold + 1} of {folds}: ", "Give fewer folds, or 0 for none.") from None
        by_itself = tried.alone(table)
        yield (
            _right(tree, tried, tree.votes(tried)),
            _right(alone, by_itself, alone.votes(by_itself), weights[here]),
        )


def _trained(classifier: JoinClassifier, linked: LinkedTables, limits: Limits) -> JoinClassifier:
    """The same classifier on these tables, within what is left of the limits; splits ask about the same columns."""
    left_out = [
        name
        for table, content in linked.tables.items()
        for column in content.column_names
        if (name := f"{table}.{column}") not in classifier.feature_types_
    ]
    seconds = None if limits.time_limit is None else max(1e-9, limits.seconds_left())
    changed = {"ignore": left_out, "time_limit": seconds, "progress": None}
    return JoinClassifier(**{**classifier.get_params(), **changed}).fit(linked, target=".".join(classifier.target_))
