"""One file per algorithm. Each takes data and a promise and gives a `Release`; none knows the auditor."""

from veilset.anonymize.methods import METHODS, Method, find_method
from veilset.anonymize.restore import restore

__all__ = ["METHODS", "Method", "find_method", "restore"]
