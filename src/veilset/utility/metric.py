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
        Its meaning, in plain words.
    highest : float or None
        The largest value it can take; None: no bound. The smallest is 0.
    better : {"less", "more", "neither"}
        Which direction is better.
    quick : callable, optional
        From an account to the number, if that takes no time. None: it is counted together with others, as far as the
        limits allow (`veilset.utility.utilities.Count`).
    only_feasible : bool
        Whether it exists only if the original can be made to keep the promise.
    compares_rows : bool
        Whether it compares transactions before and after; it does not exist if buckets mix them.
    about_deletion : bool
        Whether it is only about what was deleted or renamed.
    relative : bool
        Whether it is a share, although it may exceed 1.
    hides : bool
        Whether it is about what is hidden, and so best if nothing is left; others are about loss, and best if nothing
        was changed.
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
