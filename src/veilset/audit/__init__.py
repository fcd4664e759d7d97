"""One auditor per promise. Auditors count for themselves and never look at how the data was made."""

from veilset.audit.auditors import AUDITORS, Auditor, audit
from veilset.audit.coherence import reach_of
from veilset.audit.edits import edits_account_for
from veilset.audit.held_edits import held_edits_account_for
from veilset.audit.in_original import IN_ORIGINAL, in_original
from veilset.audit.passes import PASSES, work_ahead
from veilset.audit.returning import SEARCHES, why_not_back

__all__ = [
    "AUDITORS",
    "IN_ORIGINAL",
    "PASSES",
    "SEARCHES",
    "Auditor",
    "audit",
    "edits_account_for",
    "held_edits_account_for",
    "in_original",
    "reach_of",
    "why_not_back",
    "work_ahead",
]
