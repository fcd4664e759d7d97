"""What a release costs. Each metric names its range and which way is better."""

from veilset.utility.floor import least_loss
from veilset.utility.generalization import ItemLoss, info_loss
from veilset.utility.generalized_rules import rule_bounds, support_bounds
from veilset.utility.hiding import SideEffect, side_effects
from veilset.utility.losses import METRICS, measure
from veilset.utility.metric import Metric
from veilset.utility.must_go import unavoidable
from veilset.utility.nuggets import nugget_support_of

__all__ = [
    "METRICS",
    "ItemLoss",
    "Metric",
    "SideEffect",
    "info_loss",
    "least_loss",
    "measure",
    "nugget_support_of",
    "rule_bounds",
    "side_effects",
    "support_bounds",
    "unavoidable",
]
