"""One file per algorithm. Each takes data and a promise and gives a `Release`; none knows the auditor."""

from veilset.anonymize.anatomy.methods import L_DIVERSE_ANATOMY
from veilset.anonymize.binding import Binding, Limit, Value, time_for, what_binds
from veilset.anonymize.chance import seed_from
from veilset.anonymize.coherence.methods import COHERENCE
from veilset.anonymize.hiding.methods import HIDING
from veilset.anonymize.methods import (
    METHODS,
    Method,
    Methods,
    check_options,
    described,
    find_held_method,
    find_method,
    methods_of,
    reject_anatomized,
    resolve,
)
from veilset.anonymize.restore import restore
from veilset.anonymize.rho_uncertainty.methods import RHO_UNCERTAINTY
from veilset.models import Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, RhoUncertainty

__all__ = [
    "METHODS",
    "Binding",
    "Limit",
    "Method",
    "Methods",
    "Value",
    "check_options",
    "described",
    "find_held_method",
    "find_method",
    "methods_of",
    "reject_anatomized",
    "resolve",
    "restore",
    "seed_from",
    "time_for",
    "what_binds",
]

METHODS.add(Coherence, COHERENCE)
METHODS.add(RhoUncertainty, RHO_UNCERTAINTY)
METHODS.add(HiddenPatterns, HIDING)
METHODS.add(HiddenRules, HIDING)
METHODS.add(LDiverseAnatomy, L_DIVERSE_ANATOMY)
