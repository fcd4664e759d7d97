"""Which auditor answers for which promise."""

from __future__ import annotations

from veilset.audit.coherence import audit_coherence
from veilset.errors import WrongUsage
from veilset.limits import Limits
from veilset.models import Audit, Coherence, Promise
from veilset.transactions import Transactions

__all__ = ["audit"]


def audit(data: Transactions, promise: Promise, *, witnesses: int = 20, limits: Limits | None = None) -> Audit:
    """Whether *data* keeps *promise*; see `veilset.audit`, the public function, for the parameters."""
    promise.check_data(data)
    if not 0 <= witnesses < 2**63:
        raise WrongUsage(f"witnesses is {witnesses}.", "Give 0 or more, such as 20.")
    if isinstance(promise, Coherence):
        return audit_coherence(data, promise, witnesses=witnesses, limits=limits or Limits())
    raise WrongUsage(f"There is no auditor for {type(promise).__name__}.", "Available: Coherence.")
