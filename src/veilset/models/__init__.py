"""The promises, and the form in which an auditor answers whether one is kept."""

from veilset.models.coherence import Coherence
from veilset.models.hidden_patterns import HiddenPatterns, HiddenRules
from veilset.models.in_original import InOriginal
from veilset.models.l_diverse_anatomy import Empty, LDiverseAnatomy
from veilset.models.promise import (
    COMPARED,
    EXCLUDES_NOTHING,
    NO_INFERENCE,
    NONE_SENSITIVE,
    THINNED,
    Audit,
    Edit,
    Leftover,
    Margin,
    Names,
    Parameter,
    Promise,
    Reach,
    Witness,
    truth_sentence,
)
from veilset.models.registry import PROMISES, PerPromise, check_promise, known_promise, register
from veilset.models.rho_uncertainty import RhoUncertainty
from veilset.models.sealed import Sealed

__all__ = [
    "COMPARED",
    "EXCLUDES_NOTHING",
    "NONE_SENSITIVE",
    "NO_INFERENCE",
    "PROMISES",
    "THINNED",
    "Audit",
    "Coherence",
    "Edit",
    "Empty",
    "HiddenPatterns",
    "HiddenRules",
    "InOriginal",
    "LDiverseAnatomy",
    "Leftover",
    "Margin",
    "Names",
    "Parameter",
    "PerPromise",
    "Promise",
    "Reach",
    "RhoUncertainty",
    "Sealed",
    "Witness",
    "check_promise",
    "known_promise",
    "register",
    "truth_sentence",
]

for _kind in (Coherence, RhoUncertainty, HiddenPatterns, HiddenRules, LDiverseAnatomy):
    register(_kind)
