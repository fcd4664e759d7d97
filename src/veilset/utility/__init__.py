"""What a release costs. Each metric names its range and which way is better."""

from veilset.utility.losses import METRICS, Metric, measure, unavoidable

__all__ = ["METRICS", "Metric", "measure", "unavoidable"]
