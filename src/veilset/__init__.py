"""Share transaction data without giving people away, and prove it on the bytes that are released.

>>> import veilset as vs
>>> data = vs.generate.grocery_pharmacy()
>>> promise = vs.Coherence(h=0.4, k=10, p=2)
>>> release = vs.anonymize(data, promise)
>>> release.certified
True
"""

from veilset_start import guard_module as _guard_module

_guard_module()
from importlib.metadata import version as _version

from veilset import joins, mining, search
from veilset.api import anonymize, apply, audit, measure, publish, verify
from veilset.errors import (
    BudgetExceeded,
    CannotWrite,
    Infeasible,
    InvalidArgument,
    NotCertified,
    UnreadableInput,
    VeilsetError,
)
from veilset.models import (
    Audit,
    Coherence,
    HiddenPatterns,
    HiddenRules,
    LDiverseAnatomy,
    Margin,
    RhoUncertainty,
    Witness,
)
from veilset.publish import Bundle, Verification
from veilset.release import Release
from veilset.transactions import Anatomy, Taxonomy, Transactions, generate, matching_items, read

__all__ = [
    "Anatomy",
    "Audit",
    "BudgetExceeded",
    "Bundle",
    "CannotWrite",
    "Coherence",
    "HiddenPatterns",
    "HiddenRules",
    "Infeasible",
    "InvalidArgument",
    "LDiverseAnatomy",
    "Margin",
    "NotCertified",
    "Release",
    "RhoUncertainty",
    "Taxonomy",
    "Transactions",
    "UnreadableInput",
    "VeilsetError",
    "Verification",
    "Witness",
    "anonymize",
    "apply",
    "audit",
    "generate",
    "joins",
    "matching_items",
    "measure",
    "mining",
    "publish",
    "read",
    "search",
    "verify",
]

__version__ = _version("veilset")
