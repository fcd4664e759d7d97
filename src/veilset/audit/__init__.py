"""One auditor per promise. Auditors count for themselves and never look at how the data was made."""

from veilset.audit.auditors import AUDITORS, Auditor, audit
from veilset.audit.coherence import reach_of
from veilset.audit.edits import edits_account_for

__all__ = ["AUDITORS", "Auditor", "audit", "edits_account_for", "reach_of"]
