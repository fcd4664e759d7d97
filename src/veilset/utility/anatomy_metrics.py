"""What an anatomy costs an analyst, and what an attacker faces.

No item is lost. What is lost is which values of different columns go together; so rules and frequent itemsets that
reach over several columns are weaker in the release. They can be looked for in its rows, as they are, or judged by
expected supports (`veilset.mining.expected_supports`): both are measured, side by side.

Transactions without columns and buckets count as published whole: one column, and a bucket for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veilset.exact import Support
from veilset.limits import Limits
from veilset.mining import Itemsets, Rules, column_values, expected_supports, frequent, rules, supports
from veilset.release import Release
from veilset.transactions import Anatomy, Transactions
from veilset.utility.metric import Metric
from veilset.utility.nuggets import nugget_support_of
from veilset.utility.rules import CONFIDENCE, SIZE
from veilset.utility.utilities import Count, Utility

if TYPE_CHECKING:
    from veilset.utility.account import Account

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RulesFound:
    """Rules of the original, with their supports in the release.

    Parameters
    ----------
    before, after : Rules
        Those of the original and of the released rows.
    both, left : array of int64
        Of each of the original, how many released rows hold both sides, and how many the left one.
    expected_both, expected_left : array of float64
        How many are expected to; what rounding may have cost is forgiven.
    least : int
        How many transactions hold a rule at least.
    """

    before: Rules
    after: Rules
    both: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    expected_both: npt.NDArray[np.float64]
    expected_left: npt.NDArray[np.float64]
    least: int

    def at(self, confidence: Fraction) -> dict[str, float]:
        """How many there are that are at least so sure, and the share of the original's that are still found (AR).

        One is found in the release if at least *least* of its rows hold both sides, and these are at least a share
        *confidence* of those that hold the left one; or if that is to be expected. 1 if the original has no rules.
        """
        asked = _sure(self.before.supports, self.before.antecedents.supports, confidence)
        there = (self.both >= self.least) & _sure(self.both, self.left, confidence)
        expected = (self.expected_both >= self.least) & _sure(self.expected_both, self.expected_left, confidence)
        after = _sure(self.after.supports, self.after.antecedents.supports, confidence)
        count = int(np.count_nonzero(asked))
        return {
            "rules_before": count,
            "rules_after": int(np.count_nonzero(after)),
            "accuracy_ratio": int(np.count_nonzero(there & asked)) / count if count else 1.0,
            "expected_accuracy_ratio": int(np.count_nonzero(expected & asked)) / count if count else 1.0,
        }


def rules_found(
    release: Release,
    *,
    nugget_support: Support | None = None,
    confidence: Fraction = CONFIDENCE,
    size: int = SIZE,
    limits: Limits | None = None,
) -> RulesFound:
    """The rules of the original, and what the release has of them.

    Parameters
    ----------
    release : Release
    nugget_support : int, float or str, optional
        How many transactions hold a rule at least: k', see `veilset.utility.nugget_support_of`.
    confidence : Fraction
        How sure it is at least.
    size : int
        How many items it has at most, both sides together.
    limits : Limits, optional
        `BudgetExceeded` is raised beyond them.
    """
    bounds = (limits or Limits()).bounds()
    least = nugget_support_of(release, nugget_support)
    before, after = (
        rules(data, least, confidence, max_size=size, **bounds) for data in (release.original, release.custodian_data)
    )
    sets = before.itemsets, before.antecedents
    both, left = (supports(release.custodian_data, itemsets, **bounds) for itemsets in sets)
    expected_both, expected_left = (_expected(release.custodian_data, itemsets, limits) for itemsets in sets)
    off = _rounding(release.custodian_data)
    return RulesFound(before, after, both, left, expected_both * (1 + off), expected_left * (1 - off), least)


def _sure(both: Numbers, left: Numbers, confidence: Fraction) -> npt.NDArray[np.bool_]:
    return np.asarray(both * confidence.denominator >= left * confidence.numerator)


def support_errors(
    release: Release,
    *,
    nugget_support: Support | None = None,
    size: int | None = None,
    limits: Limits | None = None,
) -> dict[str, float]:
    """The mean of abs(support in the release - support) / support over the nuggets of the original.

    Supports in the release are once those to be expected, and once those of its rows. Nuggets have at most *size*
    items; None: 3. There are more than can be listed otherwise. 0 if there are none.
    """
    bounds = (limits or Limits()).bounds()
    least = nugget_support_of(release, nugget_support)
    nuggets = frequent(release.original, least, max_size=SIZE if size is None else size, **bounds)
    if not len(nuggets):
        return {"expected_support_error": 0.0, "counted_support_error": 0.0}
    expected, counted = (
        _expected(release.custodian_data, nuggets, limits),
        supports(release.custodian_data, nuggets, **bounds),
    )
    return {
        "expected_support_error": float(np.mean(np.abs(expected - nuggets.supports) / nuggets.supports)),
        "counted_support_error": float(np.mean(np.abs(counted - nuggets.supports) / nuggets.supports)),
    }


def ln_records_by_bucket(data: Transactions, *, limits: Limits | None = None) -> npt.NDArray[np.float64]:
    """For each bucket, the logarithm of how many different records can be put together from it (Theorem 2).

    A record takes one value from each column; so it is the product over all columns of the number of different values.
    """
    limits = limits or Limits()
    anatomy = _anatomy(data)
    values, most = column_values(data, anatomy.column_of(data.names), len(anatomy.columns), limits=limits)
    logarithms = np.zeros(anatomy.count)
    for numbers, others in zip(values, most.tolist(), strict=True):
        kinds = np.unique(anatomy.buckets * (others + 1) + numbers) // (others + 1)
        logarithms += np.log(np.bincount(kinds, minlength=anatomy.count))
    return logarithms


def ln_possible_records(release: Release, *, limits: Limits | None = None) -> float:
    """The logarithm of how many records can be put together from all buckets, the true ones too.

    One that several buckets allow is counted in each. The largest bucket alone makes most of it.
    """
    logarithms = ln_records_by_bucket(release.custodian_data, limits=limits)
    return float(np.logaddexp.reduce(logarithms)) if len(logarithms) else 0.0


def _anatomy(data: Transactions) -> Anatomy:
    if data.anatomy is not None:
        return data.anatomy
    return Anatomy.of([data.names] if data.names else [], np.arange(len(data)))


def _expected(data: Transactions, itemsets: Itemsets, limits: Limits | None) -> npt.NDArray[np.float64]:
    """Expected supports; each itemset is counted once, however many rules have it."""
    longest = int(itemsets.sizes.max()) if len(itemsets) else 0
    table = np.full((len(itemsets), longest), -1, dtype=np.int32)
    table[np.arange(longest) < itemsets.sizes[:, None]] = itemsets.items
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    whole = data.anatomized(_anatomy(data))
    return expected_supports(whole, itemsets[first], **(limits or Limits()).bounds())[which.ravel()]


def _rounding(data: Transactions) -> float:
    """The relative error of an expected support, at most (see `expected_supports`): a rule is not lost by it."""
    anatomy = _anatomy(data)
    return (anatomy.count + 2 * len(anatomy.columns)) / 1e15


def _wished(release: Release) -> int:
    return len(_anatomy(release.custodian_data).columns) if release.partition is None else release.partition.wished


_RULES = "of at most three items, confidence at least 50%, as frequent as a nugget"

ANATOMY_METRICS: tuple[Metric, ...] = (
    Metric(
        "columns_requested",
        "columns requested or found, before any were merged",
        None,
        "neither",
        lambda account: _wished(account.release),
    ),
    Metric(
        "columns_reached",
        "columns the items are divided into",
        None,
        "neither",
        lambda account: len(_anatomy(account.release.custodian_data).columns),
    ),
    Metric(
        "buckets",
        "buckets the transactions are divided into",
        None,
        "neither",
        lambda account: _anatomy(account.release.custodian_data).count,
    ),
    Metric(
        "mean_bucket_size",
        "average number of transactions in a bucket; smaller buckets keep more of what goes together",
        None,
        "neither",
        lambda account: len(account.release.custodian_data) / max(1, _anatomy(account.release.custodian_data).count),
    ),
    Metric(
        "ln_possible_records",
        "logarithm of the number of different records that one value of each column in a bucket can form, true "
        "ones included, over all buckets",
        None,
        "neither",
    ),
    Metric("rules_before", f"rules of the original: {_RULES}", None, "neither"),
    Metric(
        "rules_after",
        "rules of the same kind in the released rows, whether or not the original has them",
        None,
        "neither",
    ),
    Metric("accuracy_ratio", "share of the original's rules that are also rules of the released rows", 1, "more"),
    Metric(
        "expected_accuracy_ratio",
        "share of the original's rules that are kept if rules are judged by expected supports, the mean over "
        "all arrangements of a bucket",
        1,
        "more",
    ),
    Metric(
        "expected_support_error",
        "average relative error of a frequent itemset's support if it is taken from expected supports (by "
        "default: up to three items)",
        None,
        "less",
        relative=True,
    ),
    Metric(
        "counted_support_error",
        "average relative error of a frequent itemset's support if it is counted in the released rows",
        None,
        "less",
        relative=True,
    ),
)


def _records(account: Account, limits: Limits) -> dict[str, float]:
    return {"ln_possible_records": ln_possible_records(account.release, limits=limits)}


def _errors(account: Account, limits: Limits) -> dict[str, float]:
    return support_errors(
        account.release, nugget_support=account.nugget_support, size=account.nugget_size, limits=limits
    )


def _rules(account: Account, limits: Limits) -> dict[str, float]:
    return rules_found(account.release, nugget_support=account.nugget_support, limits=limits).at(CONFIDENCE)


L_DIVERSE_ANATOMY = Utility(
    metrics=ANATOMY_METRICS,
    counts=(Count(1 / 4, _records), Count(1 / 3, _errors), Count(1 / 2, _rules)),
    decisive=("expected_support_error", "expected_accuracy_ratio", "columns_reached", "buckets", "mean_bucket_size"),
)
