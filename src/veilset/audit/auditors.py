"""Which auditor answers for which promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from veilset.audit.coherence import audit_coherence
from veilset.audit.hidden_patterns import audit_hidden_patterns, audit_hidden_rules
from veilset.audit.l_diverse_anatomy import audit_l_diverse_anatomy
from veilset.audit.rho_uncertainty import audit_rho_uncertainty
from veilset.errors import WrongUsage
from veilset.limits import Limits
from veilset.models import Audit, Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, Promise, RhoUncertainty
from veilset.transactions import Transactions

__all__ = ["audit"]


class _Auditor(Protocol):
    """What an auditor is; its promise is always of its own kind."""

    def __call__(self, data: Transactions, promise: Any, *, witnesses: int, limits: Limits) -> Audit: ...


_AUDITORS: Mapping[type[Promise], _Auditor] = {
    Coherence: audit_coherence,
    RhoUncertainty: audit_rho_uncertainty,
    HiddenPatterns: audit_hidden_patterns,
    HiddenRules: audit_hidden_rules,
    LDiverseAnatomy: audit_l_diverse_anatomy,
}


def audit(data: Transactions, promise: Promise, *, witnesses: int = 20, limits: Limits | None = None) -> Audit:
    """Whether *data* keeps *promise*; see `veilset.audit`, the public function, for the parameters."""
    promise.check_data(data)
    if not 0 <= witnesses < 2**63:
        raise WrongUsage(f"witnesses is {witnesses}.", "Give 0 or more, such as 20.")
    auditor = _AUDITORS.get(type(promise))
    if auditor is None:
        known = ", ".join(kind.__name__ for kind in _AUDITORS)
        raise WrongUsage(f"There is no auditor for {type(promise).__name__}.", f"Available: {known}.")
    return auditor(data, promise, witnesses=witnesses, limits=limits or Limits())
