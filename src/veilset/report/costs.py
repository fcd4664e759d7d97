"""What a release cost, as a person reads it."""

from __future__ import annotations

from veilset.report.text import shares
from veilset.utility import Account, Metric

__all__ = ["cost_rows"]


def cost_rows(account: Account) -> list[tuple[Metric, str]]:
    """Each metric with its value, but for those that say nothing new where no item is deleted or renamed."""
    mixed = account.promise.edits == "buckets"
    told = (metric for metric in account.metrics if not (mixed and metric.about_deletion))
    return [(metric, _measured(account.values.get(metric.name), metric)) for metric in told]


def _measured(value: float | None, metric: Metric) -> str:
    if value is None:
        return "not counted: took too long or too much memory"
    if metric.highest == 1 or metric.relative:
        return shares(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
