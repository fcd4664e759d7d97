"""The form of a metric: one number about a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from veilset.utility.account import Account


@dataclass(frozen=True)
class Metric:
    """One number about a release.

    Parameters
    ----------
    name : str
        The key in `measure`.
    meaning : str
        What it says, in plain words.
    highest : float or None
        The largest value it can take; None: no bound. The smallest is 0.
    better : {"less", "more", "neither"}
        Which way is better.
    quick : callable, optional
        From an account to the number, where that takes no time. None: it is counted, together with others, as far as
        the limits allow (`veilset.utility.utilities.Count`).
    only_feasible : bool
        Whether there is such a number only if the original can be made to keep the promise.
    compares_rows : bool
        Whether it compares transactions before and after: there is no such number where buckets mix them.
    about_deletion : bool
        Whether it says only what is deleted or renamed, and so nothing new where nothing is.
    relative : bool
        Whether it is a share of something although it may be above 1.
    hides : bool
        Whether it says what is hidden, and is at its best where nothing is left; others say what is lost, and are at
        their best where nothing was changed.
    """

    name: str
    meaning: str
    highest: float | None
    better: Literal["less", "more", "neither"]
    quick: Callable[[Account], float] | None = None
    only_feasible: bool = False
    compares_rows: bool = False
    about_deletion: bool = False
    relative: bool = False
    hides: bool = False

    def of(self, account: Account) -> float:
        """The number; `KeyError` if it could not be counted within the limits."""
        return account.values[self.name] if self.quick is None else self.quick(account)
