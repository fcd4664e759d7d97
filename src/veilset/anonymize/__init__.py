"""One file per algorithm. Each takes data and a promise and gives a `Release`; none knows the auditor."""

from veilset.anonymize.coherence.sensitive import too_common
from veilset.anonymize.curve import largest_that_keep_half, loss_by_p
from veilset.anonymize.methods import METHODS, Method, find_method
from veilset.anonymize.restore import restore

__all__ = ["METHODS", "Method", "find_method", "largest_that_keep_half", "loss_by_p", "restore", "too_common"]
