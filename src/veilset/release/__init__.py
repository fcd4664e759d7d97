"""What a method made of the data, and the account of it: of transactions in memory, or of those an engine holds."""

from veilset.release.held import HeldRelease
from veilset.release.release import (
    OCCURRENCES,
    Attempt,
    Bound,
    ColumnMerge,
    Partition,
    Release,
    Sanitization,
    by_support,
    check_release,
)

__all__ = [
    "OCCURRENCES",
    "Attempt",
    "Bound",
    "ColumnMerge",
    "HeldRelease",
    "Partition",
    "Release",
    "Sanitization",
    "by_support",
    "check_release",
]
