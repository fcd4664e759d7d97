"""Trees that are tried: on the rows they were trained on, or fold by fold on rows they were not trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument
from veilset.joins.classes import class_numbers
from veilset.joins.classifier import JoinClassifier
from veilset.joins.folds import Folds, Numbers
from veilset.joins.linked import LinkedTables
from veilset.joins.votes import Votes, winners
from veilset.limits import Limits

Marks = npt.NDArray[np.bool_]

_ERRORS = 2.0  # standard errors


@dataclass(frozen=True)
class Accuracy:
    """The share of what is predicted right: of the rows of the target table, and of the joined rows."""

    target_rows: float
    joined_rows: float


@dataclass(frozen=True, eq=False)
class Trial:
    """Which target rows are predicted right, and how many joined rows of each."""

    right: Marks
    joined: Votes

    def accuracy(self, weights: Votes) -> Accuracy:
        """The shares; *weights* has the number of joined rows of each target row."""
        return Accuracy(float(self.right.mean()), int(self.joined.sum()) / int(weights.sum()))


def tried(
    classifier: JoinClassifier, linked: LinkedTables, limits: Limits, weights: Votes | None = None, votes: Any = None
) -> Trial:
    """What a tree predicts right. One of the target table alone has no joined rows: its rows have these *weights*."""
    table, column = classifier.target_
    votes = classifier.votes(linked, limits=limits) if votes is None else votes
    truth = class_numbers(linked.tables[table], column, classifier.tree_.classes)
    right: Marks = winners(votes, classifier.unmatched.label) == truth
    if weights is not None:
        return Trial(right, np.where(right, weights, 0))
    joined = np.zeros(len(votes), votes.dtype)
    known = np.flatnonzero(truth >= 0)
    joined[known] = votes[known, truth[known]]
    return Trial(right, joined)


def cross_validated(
    classifier: JoinClassifier, linked: LinkedTables, folds: Folds, weights: Votes, limits: Limits, what: str
) -> tuple[Trial, Trial]:
    """What trees predict right that were trained on the other folds: over the join, and over the target table alone."""
    table = classifier.target_[0]
    for name, content in linked.tables.items():  # once, and not in each fold
        asked = [column for column in content.column_names if f"{name}.{column}" in classifier.feature_types_]
        linked.attributes(name, asked, limits)
    over_join, over_table = (Trial(np.zeros(len(weights), bool), np.zeros_like(weights)) for _ in range(2))
    for fold in range(folds.count):
        limits.step(what, fold, folds.count)
        here = folds.fold_of == fold
        rest, left_out = linked.keeping(table, ~here), linked.keeping(table, here)
        try:
            tree = _trained(classifier, rest, limits)
            alone = _trained(classifier, rest.alone(table), limits)
        except InvalidArgument as error:
            raise error.within(
                f"Without fold {fold + 1} of {folds.count}: ", "Give fewer folds, or 0 for none."
            ) from None
        for whole, part in (
            (over_join, tried(tree, left_out, limits)),
            (over_table, tried(alone, left_out.alone(table), limits, weights[here])),
        ):
            whole.right[here], whole.joined[here] = part.right, part.joined
    return over_join, over_table


def _trained(classifier: JoinClassifier, linked: LinkedTables, limits: Limits) -> JoinClassifier:
    """The same classifier on these tables, within what is left of the limits; splits ask about the same columns."""
    left_out = [
        name
        for table, content in linked.tables.items()
        for column in content.column_names
        if (name := f"{table}.{column}") not in classifier.feature_types_
    ]
    again = JoinClassifier(**{**classifier.get_params(), "ignore": left_out})
    return again.fit(linked, target=".".join(classifier.target_), limits=replace(limits, progress=None))


def exceeds_chance(right: Marks, others: Marks, groups: Numbers) -> bool:
    """Whether more is right than by other means, by more than two standard errors.

    Rows of a group are counted together, since they may be right or wrong together.

    >>> ten, none = np.ones(10, bool), np.zeros(10, bool)
    >>> exceeds_chance(ten, none, np.arange(10)), exceeds_chance(ten, none, np.arange(10) // 5)
    (True, False)
    """
    differences = np.bincount(groups, right.astype(np.int64) - others)
    return bool(differences.sum() > _ERRORS * np.sqrt((differences**2).sum()))
