"""What a release cost, measured once and told everywhere."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass

from veilset.errors import Infeasible
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy, Promise
from veilset.release import Release
from veilset.report.text import shares
from veilset.utility import METRICS, Metric, measure, nugget_support_of, unavoidable

__all__ = ["Cost", "cost"]


@dataclass(frozen=True)
class Cost:
    """What a release cost.

    Parameters
    ----------
    values : mapping
        Metrics by name.
    must_go : tuple of str or None
        The items that had to go whatever the method; None if no suppression could make the original keep the promise,
        and then the metrics about them are missing, too.
    nugget_support : int
        How many transactions hold a nugget, at least.
    promise : Promise
        What it was for.
    """

    values: Mapping[str, float]
    must_go: tuple[str, ...] | None
    nugget_support: int
    promise: Promise

    @property
    def metrics(self) -> list[tuple[Metric, float | None]]:
        """Each metric that there is a number for; None: it was not counted, since that takes too long."""
        return [
            (metric, self.values.get(metric.name))
            for metric in METRICS
            if metric.fits(self.promise) and not (metric.only_feasible and self.must_go is None)
        ]

    @property
    def rows(self) -> list[tuple[Metric, str]]:
        """Each metric with its value as a person reads it, but for those that cannot be anything else."""
        fixed = _FIXED if isinstance(self.promise, LDiverseAnatomy) else ()
        return [(metric, _measured(value, metric)) for metric, value in self.metrics if metric.name not in fixed]


_SECONDS_TO_COUNT = 20.0
_FIXED = frozenset(  # of anatomies, which neither delete nor rename an item: `items_lost` says so
    {
        "items_lost_after_preprocessing",
        "items_recoded",
        "average_loss",
        "items_lost_unavoidably",
        "kinds_lost",
        "public_lost",
        "sensitive_kept",
        "sensitive_kinds_kept",
        "top_rules_kept_or_coarser",
        "transactions_withheld",
        "length_after",
    }
)
_costs: dict[int, Cost] = {}  # by the id of a release that is still alive


def cost(release: Release, *, limits: Limits | None = None) -> Cost:
    """What a release cost, also where a method was let loose on data that cannot keep the promise.

    Measured once for each release: terminal, pages and JSON all ask, and counting may take 20 seconds.
    """
    if id(release) not in _costs:
        bounded = (limits or Limits()).part(1, _SECONDS_TO_COUNT)
        try:
            must_go = unavoidable(release)
        except Infeasible:
            must_go = None
        values = measure(release, limits=bounded)
        _costs[id(release)] = Cost(values, must_go, nugget_support_of(release), release.promise)
        weakref.finalize(release, _costs.pop, id(release)).atexit = False
    return _costs[id(release)]


def _measured(value: float | None, metric: Metric) -> str:
    if value is None:
        return "not counted: took too long or too much memory"
    if metric.highest == 1 or metric.relative:
        return shares(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
