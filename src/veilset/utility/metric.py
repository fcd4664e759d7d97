"""The form of a metric: one number about a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from veilset.models import Promise
from veilset.release import Release

__all__ = ["Metric"]


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
    of : callable
        From a release to the number.
    only_feasible : bool
        Whether there is such a number only if the original can be made to keep the promise.
    only_for : type, tuple of types, or None
        The promises it is about; None: any.
    not_for : type, tuple of types, or None
        Those it is not about, as they change rows in a way that it does not know.
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
    of: Callable[[Release], float]
    only_feasible: bool = False
    only_for: type | tuple[type, ...] | None = None
    not_for: type | tuple[type, ...] | None = None
    relative: bool = False
    hides: bool = False

    def fits(self, promise: Promise) -> bool:
        """Whether there is such a number for releases under this promise."""
        if self.not_for is not None and isinstance(promise, self.not_for):
            return False
        return self.only_for is None or isinstance(promise, self.only_for)
