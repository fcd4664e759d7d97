"""Losses of items and transactions: what a release lost, and what had to go whatever the method.

Loss of items is the thesis' (N - N')/N over all item occurrences (§4.5.1); an occurrence that was recoded is not lost,
but counts in the average loss (`veilset.utility.generalization`). Losses are measured against the original, before any
pre-processing: nothing that was removed along the way is forgotten. Only those that say "after preprocessing" are
against what is left of it once the items that break the promise by themselves are gone (Observation 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veilset.limits import Limits
from veilset.transactions import Transactions
from veilset.utility.generalization import average_loss
from veilset.utility.metric import Metric
from veilset.utility.nuggets import nugget_losses
from veilset.utility.rules import rules_left
from veilset.utility.utilities import Count

if TYPE_CHECKING:
    from veilset.utility.account import Account


def _lost(after: float, before: float) -> float:
    return 1 - after / before if before else 0.0


def _kinds_lost(account: Account) -> float:
    release = account.release
    released = set(release.custodian_data.names)
    there = sum(release.generalized.get(name, name) in released for name in release.original.names)
    return _lost(there, len(release.original.names))


def _unavoidably_lost(account: Account) -> float:
    original = account.release.original
    return float(original.supports[original.codes(account.unavoidable or ())].sum()) / max(1, len(original.items))


def _lost_after_preprocessing(account: Account) -> float:
    original = account.release.original
    left = np.ones(len(original.names), dtype=bool)
    left[original.codes(account.unavoidable or ())] = False
    return _lost_of(account, left)


def _public_lost(account: Account) -> float:
    return _lost_of(account, account.release.original.is_sensitive == 0)


def _lost_of(account: Account, items: npt.NDArray[np.bool_]) -> float:
    return _lost(int(account.survivors[items].sum()), int(account.release.original.supports[items].sum()))


def _sensitive_kept(account: Account) -> float:
    return 1 - _lost_of(account, account.release.original.is_sensitive == 1)


def _sensitive_kinds_kept(account: Account) -> float:
    return 1 - _lost(len(account.release.custodian_data.sensitive), len(account.release.original.sensitive))


def _emptied(account: Account) -> int:
    release = account.release
    held_something = release.original.lengths > 0
    if release.withheld:
        held_something = np.delete(held_something, release.withheld)
    return int(np.count_nonzero(held_something & (release.custodian_data.lengths == 0)))


def _average_length(data: Transactions) -> float:
    return len(data.items) / len(data) if len(data) else 0.0


def _longest(data: Transactions) -> int:
    return int(data.lengths.max()) if len(data) else 0


COMMON_METRICS: tuple[Metric, ...] = (
    Metric(
        "items_lost", "share of all item occurrences that were removed", 1, "less", lambda account: account.release.loss
    ),
    Metric(
        "items_lost_after_preprocessing",
        "share of item occurrences that were removed, leaving aside items that break the promise on their own",
        1,
        "less",
        _lost_after_preprocessing,
        only_feasible=True,
        about_deletion=True,
    ),
    Metric(
        "public_lost",
        "share of the occurrences of public items that were removed",
        1,
        "less",
        _public_lost,
        about_deletion=True,
    ),
    Metric(
        "items_recoded",
        "share of all item occurrences that now have a coarser name; they do not count as removed, even if "
        "several in one transaction became one",
        1,
        "less",
        lambda account: account.release.recoded,
        about_deletion=True,
    ),
    Metric(
        "average_loss",
        "average loss per item occurrence: 1 if removed, 0 if unchanged; a coarser name costs the share of all "
        "public items it may stand for",
        1,
        "less",
        lambda account: average_loss(account.release),
        about_deletion=True,
    ),
    Metric(
        "items_lost_unavoidably",
        "share of all item occurrences that every method has to remove or recode: items that break the promise "
        "on their own",
        1,
        "neither",
        _unavoidably_lost,
        only_feasible=True,
        about_deletion=True,
    ),
    Metric(
        "kinds_lost",
        "share of the different items that were removed altogether",
        1,
        "less",
        _kinds_lost,
        about_deletion=True,
    ),
    Metric(
        "sensitive_kept",
        "share of the occurrences of sensitive items that were kept",
        1,
        "more",
        _sensitive_kept,
        about_deletion=True,
    ),
    Metric(
        "sensitive_kinds_kept",
        "share of the different sensitive items that were kept",
        1,
        "more",
        _sensitive_kinds_kept,
        about_deletion=True,
    ),
    Metric(
        "nuggets_lost",
        "share of frequent itemsets lost; recoded ones count as lost (threshold: above the table)",
        1,
        "less",
        compares_rows=True,
    ),
    Metric(
        "nuggets_lost_after_preprocessing",
        "share of the frequent itemsets that were lost, leaving aside those with an item that breaks the "
        "promise on its own",
        1,
        "less",
        only_feasible=True,
        compares_rows=True,
    ),
    Metric(
        "nuggets_kept_or_coarser",
        "share of the frequent itemsets of the original that are frequent in the release under the same or coarser "
        "names; items of one itemset may have become one name",
        1,
        "more",
        compares_rows=True,
        about_deletion=True,
    ),
    Metric(
        "top_rules_kept",
        "share of the (up to) 100 strongest rules of the original that were kept under the same names: at most "
        "three items, confidence at least 50%, ranked by lift",
        1,
        "more",
    ),
    Metric(
        "top_rules_kept_or_coarser",
        "share of the (up to) 100 strongest rules of the original that were kept under the same or coarser names",
        1,
        "more",
        about_deletion=True,
    ),
    Metric(
        "transactions_emptied",
        "transactions that lost all their items",
        None,
        "less",
        _emptied,
        compares_rows=True,
    ),
    Metric(
        "transactions_withheld",
        "transactions that were left out of the release",
        None,
        "less",
        lambda account: len(account.release.withheld),
        about_deletion=True,
    ),
    Metric(
        "length_before",
        "average number of items in an original transaction",
        None,
        "neither",
        lambda account: _average_length(account.release.original),
    ),
    Metric(
        "length_after",
        "average number of items in a released transaction",
        None,
        "neither",
        lambda account: _average_length(account.release.custodian_data),
        about_deletion=True,
    ),
    Metric(
        "longest_before",
        "items in the longest original transaction",
        None,
        "neither",
        lambda account: _longest(account.release.original),
    ),
    Metric(
        "longest_after",
        "items in the longest released transaction",
        None,
        "neither",
        lambda account: _longest(account.release.custodian_data),
    ),
)


def _nuggets(account: Account, limits: Limits) -> dict[str, float]:
    if account.promise.edits == "buckets" or account.release.own_loss is not None:
        return {}  # rows that mix people, or noise, make nuggets that never were
    return nugget_losses(
        account.release,
        account.unavoidable,
        nugget_support=account.nugget_support,
        nugget_size=account.nugget_size,
        limits=limits,
    )


def _rules(account: Account, limits: Limits) -> dict[str, float]:
    return rules_left(account.release, nugget_support=account.nugget_support, limits=limits)


COUNTS = (Count(1 / 2, _nuggets), Count(1, _rules))
"""Nuggets get half of the time, so that rules get a chance where nuggets have none."""
