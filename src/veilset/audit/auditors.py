"""Which auditor answers for which promise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from veilset.audit.coherence import audit_coherence
from veilset.audit.coherence_spread import audit_coherence_spread
from veilset.audit.hidden_patterns import audit_hidden_patterns, audit_hidden_rules
from veilset.audit.l_diverse_anatomy import audit_l_diverse_anatomy
from veilset.audit.passes import PASSES
from veilset.audit.rho_spread import audit_rho_uncertainty_spread
from veilset.audit.rho_uncertainty import audit_rho_uncertainty
from veilset.engines import Held
from veilset.errors import InvalidArgument, said
from veilset.exact import is_whole
from veilset.limits import Limits
from veilset.models import (
    Audit,
    Coherence,
    HiddenPatterns,
    HiddenRules,
    LDiverseAnatomy,
    PerPromise,
    Promise,
    RhoUncertainty,
)
from veilset.transactions import Transactions


class Auditor(Protocol):
    """What an auditor is; its promise is always of its own kind."""

    def __call__(self, data: Transactions, promise: Any, *, witnesses: int, limits: Limits) -> Audit:
        """Whether *data* keeps *promise*, with up to so many *witnesses* if it does not."""


AUDITORS = PerPromise[Auditor]("auditor")
AUDITORS.add(Coherence, audit_coherence)
AUDITORS.add(RhoUncertainty, audit_rho_uncertainty)
AUDITORS.add(HiddenPatterns, audit_hidden_patterns)
AUDITORS.add(HiddenRules, audit_hidden_rules)
AUDITORS.add(LDiverseAnatomy, audit_l_diverse_anatomy)


class HeldAuditor(Protocol):
    """An auditor of transactions that an engine holds."""

    def __call__(self, data: Held, promise: Any, *, witnesses: int, limits: Limits) -> Audit:
        """The same as an `Auditor`."""


ON_ENGINES = PerPromise[HeldAuditor]("auditor on an engine")
ON_ENGINES.add(Coherence, audit_coherence_spread)
ON_ENGINES.add(RhoUncertainty, audit_rho_uncertainty_spread)
ON_ENGINES.add(HiddenPatterns, audit_hidden_patterns)
ON_ENGINES.add(HiddenRules, audit_hidden_rules)


def audit(data: Transactions | Held, promise: Promise, *, witnesses: int = 20, limits: Limits | None = None) -> Audit:
    """Whether *data* keeps *promise*; see `veilset.audit`, the public function, for the parameters."""
    known = data if isinstance(data, Transactions) else data.vocabulary
    promise.check_data(known)
    if not is_whole(witnesses, least=0, most=2**63 - 1):
        raise InvalidArgument(f"{said('witnesses')} is {witnesses}.", "Give 0 or more, such as 20.")
    limits = limits or Limits()
    if isinstance(data, Transactions):
        answer = AUDITORS.of(promise)(data, promise, witnesses=witnesses, limits=limits)
    else:
        answer = _on_engine(promise)(data, promise, witnesses=witnesses, limits=limits)
    if type(promise) not in PASSES:
        limits.step("Checking the promise", 1, 1)  # the others end with the last of their passes
    return replace(answer, vacuous=promise.excludes_nothing_in(known, transactions=len(data)) is not None)


def _on_engine(promise: Promise) -> HeldAuditor:
    kind = type(promise)
    if kind not in ON_ENGINES:
        raise InvalidArgument(
            f"{kind.__name__} is not audited on an engine yet, only {ON_ENGINES.listed}.",
            "Read the data into memory, with vs.read.",
        )
    return ON_ENGINES.of(promise)
