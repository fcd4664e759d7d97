"""Predictions for the rows of the target table, as a table to write."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.errors import InvalidArgument, said
from veilset.io.columns import is_number
from veilset.joins.classes import class_values
from veilset.joins.classifier import Given, JoinClassifier
from veilset.joins.columns import column_of
from veilset.joins.votes import Votes, winners
from veilset.limits import Limits

COLUMNS = ("row", "prediction", "share", "joined_rows")


def prediction_table(
    classifier: JoinClassifier, tables: Given, identifier: str | None = None, *, limits: Limits | None = None
) -> pa.Table:
    """For each row of the target table its number, from 1, its class, the share of votes for it, and its joined rows.

    A row that matches nothing has 0 joined rows, and the class that most target rows had in training, with its share.
    *identifier* is a column of the target table to write beside the numbers; *limits* are those of a longer run.

    >>> people = pa.table({"id": [1, 2], "kind": ["a", "b"], "rich": ["yes", "no"]})
    >>> classifier = JoinClassifier(prune=None).fit({"people": people}, target="people.rich")
    >>> prediction_table(classifier, {"people": people}, "id").to_pylist()[1]
    {'row': 2, 'id': 2, 'prediction': 'no', 'share': 1.0, 'joined_rows': 1}
    """
    limits = limits or classifier.limits()
    linked = classifier.link(tables, limits=limits)
    votes = classifier.votes(linked, limits=limits)
    weights, chosen = votes.sum(axis=1), winners(votes, classifier.unmatched.label)
    shares = np.full(len(votes), max(classifier.unmatched.shares))
    matched = weights > 0
    shares[matched] = (votes[np.arange(len(votes)), chosen][matched] / weights[matched]).astype(np.float64)
    named: dict[str, Any] = {} if identifier is None else {identifier: _named(classifier, linked.tables, identifier)}
    return pa.table(
        {
            "row": np.arange(1, len(votes) + 1),
            **named,
            "prediction": _plain(class_values(classifier.tree_.classes).take(pa.array(chosen))),
            "share": shares,
            "joined_rows": _counts(weights),
        }
    )


def _named(classifier: JoinClassifier, tables: Any, identifier: str) -> Any:
    if identifier in COLUMNS:
        raise InvalidArgument(
            f"{said('id')} is {identifier!r}, which is a column of the predictions.", "Rename it, or leave it out."
        )
    return _plain(column_of(tables[classifier.target_[0]], identifier))


def _plain(column: Any) -> Any:
    """A column as files have it: numbers and booleans as they are, all else as text."""
    of = column.type
    return column if is_number(of) or pa.types.is_boolean(of) else column.cast(pa.string())


def _counts(weights: Votes) -> Any:
    """Counts of joined rows; those that need more than 64 bits are decimal numbers, of 38 digits if these suffice."""
    if weights.dtype != object:
        return pa.array(weights)
    counts = [Decimal(int(weight)) for weight in weights]
    wide = max(counts, default=Decimal(0)) >= 10**38
    return pa.array(counts, pa.decimal256(39, 0) if wide else pa.decimal128(38, 0))
