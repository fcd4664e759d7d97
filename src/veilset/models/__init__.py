"""The promises, and the form in which an auditor answers whether one is kept."""

from veilset.models.coherence import Coherence
from veilset.models.hidden_patterns import HiddenPatterns, HiddenRules
from veilset.models.l_diverse_anatomy import Empty, LDiverseAnatomy
from veilset.models.promise import Audit, Leftover, Margin, Parameter, Promise, Reach, Witness
from veilset.models.rho_uncertainty import RhoUncertainty
from veilset.models.sealed import Sealed

__all__ = [
    "Audit",
    "Coherence",
    "Empty",
    "HiddenPatterns",
    "HiddenRules",
    "LDiverseAnatomy",
    "Leftover",
    "Margin",
    "Parameter",
    "Promise",
    "Reach",
    "RhoUncertainty",
    "Sealed",
    "Witness",
]
