"""`Release`: what a method made of the data, and the account of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from veilset.models import Audit, Promise
from veilset.transactions import Transactions

__all__ = ["Release"]


@dataclass(frozen=True)
class Release:
    """Changed transactions with everything that was done to them.

    Parameters
    ----------
    original, data : Transactions
        Before and after.
    promise : Promise
        What the change was for.
    method : str
        Which method made it.
    options : mapping
        What the method was told besides the promise.
    suppressed : tuple of str
        Items deleted from all transactions.
    generalized : mapping
        Items to the names they were recoded to.
    withheld : tuple of int
        Positions of original transactions that are not in *data*.
    seconds : float
        How long the method took.
    audit : Audit or None
        The auditor's answer about *data*; None: nobody asked.
    discrepancy : str or None
        Where *data* is not the original with the declared edits; None: nowhere.
    """

    original: Transactions = field(repr=False)
    data: Transactions
    promise: Promise
    method: str
    options: Mapping[str, object]
    suppressed: tuple[str, ...]
    generalized: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[int, ...] = ()
    seconds: float = 0.0
    audit: Audit | None = field(default=None, repr=False)
    discrepancy: str | None = None

    @property
    def loss(self) -> float:
        """The share of all item occurrences of the original that are gone (0 is best, 1 is worst)."""
        before = len(self.original.items)
        return 1 - len(self.data.items) / before if before else 0.0

    @property
    def certified(self) -> bool:
        """Whether an auditor found that this data keeps this promise, and the account of the edits is complete."""
        return (
            self.audit is not None
            and self.audit.holds
            and self.audit.promise == self.promise
            and self.audit.transactions == len(self.data)
            and self.discrepancy is None
        )
