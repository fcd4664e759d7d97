"""Columns and buckets: what became of the transactions, what each column holds, and pictures of both.

All but what was wished and merged is computed from the released transactions alone, so that both pages can have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from veilset.limits import Limits
from veilset.mining import column_values
from veilset.models import LDiverseAnatomy
from veilset.models.l_diverse_anatomy import Rule
from veilset.release import ColumnMerge, Release
from veilset.report.drawing import limit_chart
from veilset.report.pages import Figure, bucket_figure
from veilset.report.text import braced, fraction, number, quoted, shares
from veilset.transactions import Anatomy, Transactions

_FEW = 3  # names of a column in a sentence
_MOST_DRAWN = 30  # columns in the picture; all are in its table
_EMPTY, _COMMONEST = "none of its items", "its most common other value"
_COLOURS = {_COMMONEST: "main", _EMPTY: "before"}


@dataclass(frozen=True)
class ColumnFacts:
    """What a column holds, over all transactions.

    Parameters
    ----------
    number : int
        From 1.
    items : tuple of str
    sensitive : bool
        Whether they are sensitive.
    values : int
        How many different sets of them somebody has, the empty one included.
    empty : Fraction
        The share of the transactions with none of them.
    limited : Fraction
        The share of the most common other set; among those that have any, where it may be known who has none. Of
        sensitive items, the share of the transactions with any of them.
    rule : {"value", "free", "sensitive"}
        What limits the sets.
    """

    number: int
    items: tuple[str, ...]
    sensitive: bool
    values: int
    empty: Fraction
    limited: Fraction
    rule: Rule

    @property
    def limited_told(self) -> str:
        """The share that is limited; of sensitive items, it is that of any."""
        return f"{shares(float(self.limited))}{' (any)' * (self.rule == 'sensitive')}"

    @property
    def label(self) -> str:
        """Its number, and how much is in it."""
        return f"{self.number}: {number(len(self.items), 'item')}, {number(self.values, 'value')}"


def column_facts(data: Transactions, promise: LDiverseAnatomy, limits: Limits | None = None) -> list[ColumnFacts]:
    """What each column holds; none where the transactions are not cut.

    `BudgetExceeded` is raised beyond the limits: a public page that left it out could not be computed again elsewhere.
    """
    anatomy, limits = data.anatomy, limits or Limits()
    if anatomy is None or not len(data):
        return []
    values, different = column_values(data, anatomy.column_of(data.names), len(anatomy.columns), limits=limits)
    return [
        _told(data, place, np.bincount(numbers, minlength=others + 1), promise)
        for place, (numbers, others) in enumerate(zip(values, different.tolist(), strict=True))
    ]


def _told(data: Transactions, place: int, counts: npt.NDArray[np.int64], promise: LDiverseAnatomy) -> ColumnFacts:
    """The same of one column, whose values are had so often: first none of its items, then the others."""
    assert data.anatomy is not None  # noqa: S101 - column_facts sees to it
    items, empty, most = data.anatomy.columns[place], int(counts[0]), int(counts[1:].max())
    sensitive = not set(data.sensitive).isdisjoint(items)
    rule = promise.rule(sensitive=sensitive)
    limited = {
        "value": Fraction(most, len(data)),
        "free": Fraction(most, len(data) - empty),
        "sensitive": Fraction(len(data) - empty, len(data)),
    }[rule]
    different = int(np.count_nonzero(counts))
    return ColumnFacts(place + 1, items, sensitive, different, Fraction(empty, len(data)), limited, rule)


@dataclass(frozen=True)
class Cut:
    """Columns and buckets of released transactions, for a page."""

    says: str
    buckets: Figure | None
    shares: Figure | None
    rows: Sequence[tuple[str, ...]]


def cut_of(data: Transactions, promise: LDiverseAnatomy, limits: Limits | None = None) -> Cut | None:
    """All that both pages show; None where the transactions are not cut."""
    if data.anatomy is None:
        return None
    columns = column_facts(data, promise, limits)
    return Cut(
        f"{_there(data.anatomy)}, {number(len(data.anatomy.columns), 'column')}.",
        bucket_figure(data.anatomy.sizes, says=f"{_there(data.anatomy)}."),
        _share_figure(columns, promise) if columns else None,
        [
            (
                f"{column.number}{' (sensitive)' if column.sensitive else ''}",
                f"{len(column.items):,}",
                f"{column.values:,}",
                shares(float(column.empty)),
                column.limited_told,
                braced(column.items)[1:-1],
            )
            for column in columns
        ],
    )


def _there(anatomy: Anatomy) -> str:
    return f"{number(len(anatomy.buckets), 'transaction')} in {_sizes(anatomy)}"


def _sizes(anatomy: Anatomy) -> str:
    buckets, sizes = number(anatomy.count, "bucket"), anatomy.sizes
    if not len(sizes):
        return buckets
    smallest, largest = int(sizes.min()), int(sizes.max())
    if smallest == largest:
        return f"{buckets} of {smallest:,}"
    return f"{buckets} of {smallest:,} to {largest:,} (median {np.median(sizes):,g})"


def _share_figure(columns: Sequence[ColumnFacts], promise: LDiverseAnatomy) -> Figure:
    limit, drawn = 1 / promise.l, columns[:_MOST_DRAWN]
    line = f"The line is at {fraction(limit)}: above it, no buckets could keep the promise"
    says = f"The share of transactions with none of a column's items, and with its most common other value. {line}."
    if any(column.rule == "free" for column in columns):
        says += (
            " Having none has no limit and is not drawn. The other value's share is among the transactions with any "
            "item of the column."
        )
    if any(column.rule == "sensitive" for column in columns):
        says += " Of sensitive items, it is the share of transactions with any of them."
    if len(columns) > len(drawn):
        says += f" Not shown: {number(len(columns) - len(drawn), 'column')}."
    bars = [
        (column.label, name, float(share))
        for column in drawn
        for name, share in ((_COMMONEST, column.limited), (_EMPTY, column.empty))
        if name == _COMMONEST or column.rule == "value"
    ]
    colours = {name: colour for name, colour in _COLOURS.items() if any(name == series for _, series, _ in bars)}
    return Figure(
        title="Most common values of each column",
        says=says,
        chart=partial(limit_chart, bars, colours, limit=float(limit), across="share of transactions"),
        head=("Column", "Items", "Different values", "Most common other value", "None of its items"),
        rows=[
            (
                f"{column.number}",
                f"{len(column.items):,}",
                f"{column.values:,}",
                column.limited_told,
                f"{shares(float(column.empty))}{'' if column.rule == 'value' else ' (no limit)'}",
            )
            for column in columns
        ],
    )


def bucket_sentence(data: Transactions) -> str:
    """How many columns and buckets there are; empty if the transactions are not cut."""
    if data.anatomy is None:
        return ""
    return f"{number(len(data.anatomy.columns), 'column')}, {_sizes(data.anatomy)}"


def cut_sentence(release: Release) -> str:
    """What was done to the transactions; empty if they were not cut."""
    how, anatomy = release.partition, release.custodian_data.anatomy
    if how is None or anatomy is None:
        return ""
    done = "no item" if release.withheld else "nothing"
    return f"{done} was deleted; {_there(anatomy)}; {_reached(how.wished, len(anatomy.columns))}"


def _reached(wished: int, reached: int) -> str:
    return (
        f"{number(reached, 'column')}, as requested"
        if wished == reached
        else f"{number(wished, 'column')} requested, {reached:,} made"
    )


def how_it_was_cut(release: Release) -> list[str]:
    """Sentences about the steps of the method."""
    how = release.partition
    if how is None:
        return []
    told = [
        "No item was deleted. Inside a bucket, each column's values are shuffled separately: which values belong "
        "together is lost. The order is as secret as the seed."
    ]
    if how.medoids:
        told.append(f"Columns were built around {quoted(how.medoids)}: items that occur together share a column.")
    if how.left_over:
        joined = f"; {number(how.joined, 'bucket')} had to be merged for that" if how.joined else ""
        one = how.left_over == 1
        told.append(
            f"{number(how.left_over, 'transaction')} {'was' if one else 'were'} left when no more buckets could be "
            f"completed, and went into existing buckets{joined}."
        )
    return told


def merge_sentence(merge: ColumnMerge) -> str:
    """Why two columns became one.

    >>> merge_sentence(ColumnMerge(("a",), ("b", "c"), Fraction(3, 5), Fraction(2, 5)))
    '{a} with {b, c}: highest probability of a value 60%, now 40%'
    """
    before, after = shares(float(merge.probability)), shares(float(merge.reached))
    columns = f"{braced(merge.column, _FEW)} with {braced(merge.other, _FEW)}"
    return f"{columns}: highest probability of a value {before}, now {after}"
