"""How good a tree over a join is: in rows of the target table, as people think, and in joined rows, as it was grown.

A few rows of the target table can own most of the joined rows, and the tree serves those. So both accuracies are told,
with the share of the heaviest rows. Cross-validation cuts the target table only: all joined rows of a target row are in
one fold, or those of a group of target rows. The rows of other tables stay, as they would for new rows. If many target
rows share partners in a neighbouring table, a second cross-validation keeps those with the same partner together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veilset.joins.classes import class_codes
from veilset.joins.classifier import Given, JoinClassifier
from veilset.joins.columns import Codes
from veilset.joins.folds import Folds, Partners, folds_by_row, shared_partners
from veilset.joins.graph import resolved
from veilset.joins.linked import LinkedTables
from veilset.joins.trials import Accuracy, cross_validated, exceeds_chance, tried
from veilset.joins.votes import Votes
from veilset.limits import Limits


@dataclass(frozen=True)
class Heaviest:
    """The share of all joined rows that few rows of the target table own.

    *one_percent* and *ten_percent* are about the heaviest 1% and 10% of the rows, rounded up to whole rows.
    """

    one_row: float
    one_percent: float
    ten_percent: float


@dataclass(frozen=True)
class CrossValidation:
    """How good trees are on rows that they were not trained on.

    Parameters
    ----------
    tree : Accuracy
        Of trees over the join.
    baseline : Accuracy
        The same, on the same folds, of trees over the target table alone.
    better : bool
        Whether the trees over the join are right for more target rows than those over the target table and than the
        largest class, and by more than chance would explain (two standard errors).
    folds : int
        How many folds there were.
    """

    tree: Accuracy
    baseline: Accuracy
    better: bool
    folds: int


@dataclass(frozen=True)
class Sharing:
    """Target rows that have a partner in common, such as orders of one customer.

    A tree can recognize a partner that it was trained on. That helps for new rows of the same partner alone.

    Parameters
    ----------
    table : str
        The table of the partners, a neighbour of the target table.
    on : str
        The equal columns.
    share : float
        The share of target rows that have a partner in common with a row of another fold.
    keys : int
        How many different keys the target rows have.
    unseen : CrossValidation, optional
        Of folds by key: how good trees are for partners that they were not trained on. None: there are too few keys.
    """

    table: str
    on: str
    share: float
    keys: int
    unseen: CrossValidation | None


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
        What is right if the largest class of the target rows is always predicted.
    resubstitution : Accuracy
        Of the tree, on the rows that it was trained on. It is too good for other rows.
    by_row : CrossValidation, optional
        Of folds by target row, or by group. None: there was no cross-validation, or no time was left for it.
    sharing : Sharing, optional
        Partners that many target rows share across folds. None: few do, or *groups* says what belongs together.
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
    by_row: CrossValidation | None
    sharing: Sharing | None
    heaviest: Heaviest
    folds: int = 0
    groups: str | None = None
    random_state: int = 0

    @property
    def headline(self) -> CrossValidation | None:
        """The cross-validation to believe: for partners that were not trained on, if many rows share partners."""
        return self.sharing.unseen if self.sharing and self.sharing.unseen else self.by_row

    @property
    def cross_validated(self) -> Accuracy | None:
        """The accuracy to believe on rows that were not trained on."""
        return None if self.headline is None else self.headline.tree

    @property
    def baseline(self) -> Accuracy | None:
        """The same of trees over the target table alone."""
        return None if self.headline is None else self.headline.baseline


def evaluate(
    classifier: JoinClassifier,
    tables: Given,
    *,
    folds: int = 5,
    groups: str | None = None,
    random_state: int = 0,
    limits: Limits | None = None,
) -> Evaluation:
    """Evaluate a trained classifier on the tables that it was trained on.

    Parameters
    ----------
    classifier : JoinClassifier
        The classifier.
    tables : mapping
        The tables, as `JoinClassifier.predict` takes them, with classes.
    folds : int
        Folds of the cross-validation; 0: none.
    groups : str, optional
        A column of the target table, as "table.column". Rows with the same value are in the same fold. None: if many
        rows share partners in a neighbouring table, there is a second cross-validation by these partners.
    random_state : int
        Seed of the folds.
    limits : Limits, optional
        Those of a longer run; otherwise those of the classifier, for the whole evaluation.
    """
    limits = classifier.limits() if limits is None else limits
    linked = classifier.link(tables, limits=limits)
    table, column = classifier.target_
    linked = linked.keeping(table, class_codes(linked.tables[table], column)[0] >= 0)
    codes = class_codes(linked.tables[table], column)[0]
    by_row = folds_by_row(linked, table, folds, groups, random_state)
    votes = classifier.votes(linked, limits=limits)
    weights = votes.sum(axis=1)
    judge = _Judge(classifier, linked, codes, weights, limits)
    sharing = crossed = None
    if folds:
        before = limits.seconds_left()
        shared = None if groups else shared_partners(linked, table, by_row, codes)
        if shared is not None:
            sharing = judge.sharing(shared, shared.folds(folds, random_state))
        if 2 * limits.seconds_left() >= before:  # or another cross-validation would not end in time
            crossed = judge(by_row, "Cross-validating")
    return Evaluation(
        target_rows=len(weights),
        unmatched_rows=int(np.count_nonzero(weights == 0)),
        joined_rows=int(weights.sum()),
        majority=_majority(codes, weights),
        resubstitution=tried(classifier, linked, limits, votes=votes).accuracy(weights),
        by_row=crossed,
        sharing=sharing,
        heaviest=heaviest(weights),
        folds=folds,
        groups=groups,
        random_state=random_state,
    )


def check_folds(tables: LinkedTables, target: str, *, folds: int, groups: str | None, random_state: int) -> None:
    """Raise if *tables* cannot be divided into these folds: worth asking before a long training."""
    table, column = resolved(target, {name: one.column_names for name, one in tables.tables.items()})
    labelled = class_codes(tables.tables[table], column)[0] >= 0
    folds_by_row(tables.keeping(table, labelled), table, folds, groups, random_state)


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


@dataclass(frozen=True, eq=False)
class _Judge:
    """Cross-validates a classifier, by folds of any kind."""

    classifier: JoinClassifier
    linked: LinkedTables
    classes: Codes
    weights: Votes
    limits: Limits

    def __call__(self, folds: Folds, what: str) -> CrossValidation:
        tree, alone = cross_validated(self.classifier, self.linked, folds, self.weights, self.limits, what)
        always = self.classes == np.bincount(self.classes).argmax()
        others = [always, alone.right] if self.linked.graph.edges else [always]
        return CrossValidation(
            tree=tree.accuracy(self.weights),
            baseline=alone.accuracy(self.weights),
            better=all(exceeds_chance(tree.right, other, folds.groups) for other in others),
            folds=folds.count,
        )

    def sharing(self, partners: Partners, folds: Folds) -> Sharing:
        """Evaluate by key, if without any fold there is still something to train on."""
        possible = folds.count > 1 and all(self.weights[folds.fold_of != fold].any() for fold in range(folds.count))
        unseen = self(folds, f"Cross-validating by {partners.table}") if possible else None
        return Sharing(partners.table, partners.on, partners.share, partners.count, unseen)


def _majority(codes: Codes, weights: Votes) -> Accuracy:
    largest = codes == np.bincount(codes).argmax()
    return Accuracy(float(largest.mean()), int(weights[largest].sum()) / int(weights.sum()))
