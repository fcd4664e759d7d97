"""What a release costs. Each metric names its range and which way is better."""

from veilset.utility.losses import METRICS, Metric, measure
from veilset.utility.must_go import unavoidable
from veilset.utility.nuggets import nugget_support_of

__all__ = ["METRICS", "Metric", "measure", "nugget_support_of", "unavoidable"]
