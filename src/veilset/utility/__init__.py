"""What a release costs. Each metric names its range and which way is better."""

from veilset.models import Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, RhoUncertainty
from veilset.utility.account import Account, metrics_of
from veilset.utility.anatomy_metrics import L_DIVERSE_ANATOMY
from veilset.utility.coherence import COHERENCE
from veilset.utility.fidelity import Fidelity, fidelity
from veilset.utility.generalization import ItemLoss, average_loss, info_loss
from veilset.utility.generalized_rules import rule_bounds, support_bounds
from veilset.utility.hiding import side_effects
from veilset.utility.hiding_metrics import HIDING
from veilset.utility.metric import Metric
from veilset.utility.rho_uncertainty import RHO_UNCERTAINTY, least_loss
from veilset.utility.utilities import UTILITIES, Count, SideEffect, Utility

__all__ = [
    "UTILITIES",
    "Account",
    "Count",
    "Fidelity",
    "ItemLoss",
    "Metric",
    "SideEffect",
    "Utility",
    "average_loss",
    "fidelity",
    "info_loss",
    "least_loss",
    "metrics_of",
    "rule_bounds",
    "side_effects",
    "support_bounds",
]

UTILITIES.add(Coherence, COHERENCE)
UTILITIES.add(RhoUncertainty, RHO_UNCERTAINTY)
UTILITIES.add(HiddenPatterns, HIDING)
UTILITIES.add(HiddenRules, HIDING)
UTILITIES.add(LDiverseAnatomy, L_DIVERSE_ANATOMY)
