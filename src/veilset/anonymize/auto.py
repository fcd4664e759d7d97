"""``auto``, the default: the method that keeps most of the data among those there are.

Today that is `remove_all` followed by the restore pass: everything that is in a mole goes, and comes back item by item,
the most frequent first, while no mole appears.
"""

from __future__ import annotations

from dataclasses import replace

from veilset.anonymize.remove_all import remove_all
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["auto"]


def auto(data: Transactions, promise: Coherence, /, *, limits: Limits) -> Release:
    """The release that loses the fewest item occurrences."""
    return replace(remove_all(data, promise, restore=True, limits=limits), method="auto", options={})
