"""One file per algorithm. Each takes data and a promise and gives a `Release`; none knows the auditor."""

from veilset.anonymize.chance import seed_from
from veilset.anonymize.coherence.sensitive import check_allowed, too_common
from veilset.anonymize.curve import loss_by_p, milder_that_keep_half
from veilset.anonymize.methods import METHODS, Method, check_original, find_method
from veilset.anonymize.restore import restore

__all__ = [
    "METHODS",
    "Method",
    "check_allowed",
    "check_original",
    "find_method",
    "loss_by_p",
    "milder_that_keep_half",
    "restore",
    "seed_from",
    "too_common",
]
