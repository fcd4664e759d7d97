"""Losses of items and transactions: what a release lost, and what had to go whatever the method.

Loss of items is the thesis' (N - N')/N over all item occurrences (§4.5.1); an occurrence that was recoded is not lost,
but counts in the average loss (`veilset.utility.generalization`). Losses are measured against the original, before any
pre-processing: nothing that was removed along the way is forgotten. Only those that say "after preprocessing" are
against what is left of it once the items that break the promise by themselves are gone (Observation 2).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import numpy.typing as npt

from veilset.errors import BudgetExceeded, Infeasible
from veilset.exact import Support
from veilset.limits import Limits
from veilset.models import HiddenPatterns, HiddenRules, LDiverseAnatomy, RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.utility.anatomy_metrics import ANATOMY_METRICS, COUNTED, ln_possible_records, rules_found, support_errors
from veilset.utility.floor import floor
from veilset.utility.generalization import average_loss, recoded
from veilset.utility.hiding_metrics import HIDING_METRICS, hiding_measures
from veilset.utility.metric import Metric
from veilset.utility.must_go import unavoidable
from veilset.utility.nuggets import nugget_losses
from veilset.utility.rules import CONFIDENCE, rules_left, top_rules_kept

__all__ = ["METRICS", "measure"]


_COUNTED = (
    "nuggets_lost",
    "nuggets_lost_after_preprocessing",
    "top_rules_kept",
    "top_rules_kept_or_coarser",
    "floor",
    *(metric.name for metric in HIDING_METRICS),
    *COUNTED,
)
_SECONDS = 10.0


def measure(
    release: Release,
    *,
    nugget_support: Support | None = None,
    nugget_size: int | None = None,
    limits: Limits | None = None,
) -> dict[str, float]:
    """All metrics of a release, by name.

    Left out is what there is no number for because the original cannot be made to keep the promise, or because noise
    was added, and what took too long or too much memory to count. Without a time limit, nuggets, rules, the floor,
    hidden patterns and what an anatomy costs may take 10 seconds each; with one, each may take a part of what is left.

    Parameters
    ----------
    release : Release
    nugget_support, nugget_size : optional
        k' and p' of nuggets; rules are of the same k'. See `veilset.utility.nuggets`.
    limits : Limits, optional
    """
    limits = limits or Limits()
    try:
        must_go = unavoidable(release)
    except Infeasible:
        must_go = None
    found = {
        metric.name: metric.of(release)
        for metric in METRICS
        if metric.name not in _COUNTED
        and metric.fits(release.promise)
        and not (metric.only_feasible and must_go is None)
    }
    seconds = _SECONDS if limits.time_limit is None else None
    with suppress(BudgetExceeded):  # a number that is not known is not there, never guessed
        if isinstance(release.promise, RhoUncertainty):
            found["floor"] = floor(release, limits=limits.part(1 / 2, seconds))
        elif isinstance(release.promise, (HiddenPatterns, HiddenRules)):
            found |= hiding_measures(release, limits=limits.part(1 / 2, seconds))
    if isinstance(release.promise, LDiverseAnatomy):
        with suppress(BudgetExceeded):
            found["ln_possible_records"] = ln_possible_records(release, limits=limits.part(1 / 4, seconds))
        with suppress(BudgetExceeded):
            bounded = limits.part(1 / 3, seconds)
            found |= support_errors(release, nugget_support=nugget_support, size=nugget_size, limits=bounded)
        with suppress(BudgetExceeded):
            bounded = limits.part(1 / 2, seconds)
            found |= rules_found(release, nugget_support=nugget_support, limits=bounded).at(CONFIDENCE)
    with suppress(BudgetExceeded):
        # Half of the time, so that rules get a chance where nuggets have none. Noise makes nuggets that never were.
        bounded = limits.part(1 / 2, seconds)
        if release.noise is None and not isinstance(release.promise, LDiverseAnatomy):
            found |= nugget_losses(
                release, must_go, nugget_support=nugget_support, nugget_size=nugget_size, limits=bounded
            )
    with suppress(BudgetExceeded):
        bounded = limits.part(1, seconds)
        found |= rules_left(release, nugget_support=nugget_support, limits=bounded)
    return {metric.name: found[metric.name] for metric in METRICS if metric.name in found}


def _lost(after: float, before: float) -> float:
    return 1 - after / before if before else 0.0


def _kinds_lost(release: Release) -> float:
    released = set(release.data.names)
    there = sum(release.generalized.get(name, name) in released for name in release.original.names)
    return _lost(there, len(release.original.names))


def _unavoidably_lost(release: Release) -> float:
    gone = release.original.codes(unavoidable(release))
    return float(release.original.supports[gone].sum()) / max(1, len(release.original.items))


def _lost_after_preprocessing(release: Release) -> float:
    left = np.ones(len(release.original.names), dtype=bool)
    left[release.original.codes(unavoidable(release))] = False
    return _lost_of(release, left)


def _public_lost(release: Release) -> float:
    return _lost_of(release, release.original.is_sensitive == 0)


def _lost_of(release: Release, items: npt.NDArray[np.bool_]) -> float:
    return _lost(int(release.survivors()[items].sum()), int(release.original.supports[items].sum()))


def _nuggets_lost_after_preprocessing(release: Release) -> float:
    must_go = unavoidable(release)
    return nugget_losses(release, must_go)["nuggets_lost_after_preprocessing"]


def _sensitive_kept(release: Release) -> float:
    return 1 - _lost_of(release, release.original.is_sensitive == 1)


def _sensitive_kinds_kept(release: Release) -> float:
    return 1 - _lost(len(release.data.sensitive), len(release.original.sensitive))


def _emptied(release: Release) -> int:
    held_something = release.original.lengths > 0
    if release.withheld:
        held_something = np.delete(held_something, release.withheld)
    return int(np.count_nonzero(held_something & (release.data.lengths == 0)))


def _average_length(data: Transactions) -> float:
    return len(data.items) / len(data) if len(data) else 0.0


def _longest(data: Transactions) -> int:
    return int(data.lengths.max()) if len(data) else 0


METRICS: tuple[Metric, ...] = (
    Metric("items_lost", "share of all item occurrences that are gone", 1, "less", lambda r: r.loss),
    Metric(
        "items_lost_after_preprocessing",
        "the same, once items that break the promise by themselves are gone: share of the other occurrences",
        1,
        "less",
        _lost_after_preprocessing,
        only_feasible=True,
    ),
    Metric("public_lost", "share of the occurrences of public items that are gone", 1, "less", _public_lost),
    Metric(
        "items_recoded",
        "share of all item occurrences that have a coarser name now; none of them is counted as gone, even where "
        "several in one transaction have become one",
        1,
        "less",
        recoded,
    ),
    Metric(
        "average_loss",
        "average loss of an item occurrence: 1 if it is gone, 0 if it is there as it was, and the share of all public "
        "items that its name may mean if it has a coarser one",
        1,
        "less",
        average_loss,
    ),
    Metric(
        "items_lost_unavoidably",
        "share of all item occurrences that could not stay as they were whatever the method: items that break the "
        "promise by themselves",
        1,
        "neither",
        _unavoidably_lost,
        only_feasible=True,
    ),
    Metric(
        "kinds_lost",
        "share of the different items that are gone altogether",
        1,
        "less",
        _kinds_lost,
    ),
    Metric(
        "sensitive_kept",
        "share of the occurrences of sensitive items that are still there",
        1,
        "more",
        _sensitive_kept,
    ),
    Metric(
        "sensitive_kinds_kept",
        "share of the different sensitive items that are still there",
        1,
        "more",
        _sensitive_kinds_kept,
    ),
    Metric(
        "floor",
        "average loss that no method can avoid, as far as proven: of each set of sensitive items that tell each other "
        "too surely, one has to go. Removing all sensitive items loses no more than their share of all occurrences",
        1,
        "neither",
        floor,
        only_for=RhoUncertainty,
    ),
    Metric(
        "nuggets_lost",
        "share of the nuggets (itemsets that at least k and at least 1% of the transactions hold, unless another "
        "support was asked for) that are gone; one with an item that has a coarser name now counts as gone",
        1,
        "less",
        lambda r: nugget_losses(r)["nuggets_lost"],
        not_for=LDiverseAnatomy,
    ),
    Metric(
        "nuggets_lost_after_preprocessing",
        "the same, once items that break the promise by themselves are gone: share of the nuggets without them",
        1,
        "less",
        _nuggets_lost_after_preprocessing,
        only_feasible=True,
        not_for=LDiverseAnatomy,
    ),
    Metric(
        "top_rules_kept",
        "share of the (up to) 100 strongest rules of the original that are still there, under the same names: of at "
        "most three items, at least 50% sure, as frequent as a nugget, by lift",
        1,
        "more",
        top_rules_kept,
    ),
    Metric(
        "top_rules_kept_or_coarser",
        "the same, where a rule is still there also if some of its items have coarser names now",
        1,
        "more",
        lambda r: rules_left(r)["top_rules_kept_or_coarser"],
    ),
    Metric(
        "transactions_emptied",
        "transactions that had items and have none now",
        None,
        "less",
        _emptied,
        not_for=LDiverseAnatomy,
    ),
    Metric(
        "transactions_withheld",
        "transactions that are not released at all",
        None,
        "less",
        lambda r: len(r.withheld),
    ),
    Metric(
        "length_before",
        "items in a transaction of the original, on average",
        None,
        "neither",
        lambda r: _average_length(r.original),
    ),
    Metric(
        "length_after",
        "items in a released transaction, on average",
        None,
        "neither",
        lambda r: _average_length(r.data),
    ),
    Metric(
        "longest_before",
        "items in the longest transaction of the original",
        None,
        "neither",
        lambda r: _longest(r.original),
    ),
    Metric(
        "longest_after",
        "items in the longest released transaction",
        None,
        "neither",
        lambda r: _longest(r.data),
    ),
    *HIDING_METRICS,
    *ANATOMY_METRICS,
)
