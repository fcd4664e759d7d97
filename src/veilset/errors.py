"""What can go wrong, in one form: what failed, the value received, what to do next.

Every error carries the exit code the command line answers with.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "BudgetExceeded",
    "Infeasible",
    "NotCertified",
    "UnreadableInput",
    "VeilsetError",
    "WrongUsage",
    "lookalikes",
    "near_misses",
    "unknown",
]


class VeilsetError(Exception):
    """Base of all errors of Veilset.

    Parameters
    ----------
    what : str
        What failed, with the value received.
    next_step : str
        What to do about it.
    """

    exit_code = 2

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what, next_step)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}".strip()


class WrongUsage(VeilsetError, ValueError):
    """An argument that cannot be meant: an unknown name, a value out of range, a combination that makes no sense."""


class UnreadableInput(VeilsetError):
    """A file or a table that is missing, damaged, or not what it was said to be."""


class NotCertified(VeilsetError):
    """A release that was not proven to keep its promise, and therefore is not published."""

    exit_code = 1


class Infeasible(VeilsetError):
    """A promise that cannot be kept on this data, or not with what must stay."""

    exit_code = 3


class BudgetExceeded(VeilsetError):
    """A run that stopped at its memory or time limit: the question is not decided."""

    exit_code = 4


def lookalikes(name: str, known: Iterable[str]) -> list[str]:
    """Up to three names that come close to this one, the closest first.

    >>> lookalikes("bear", ["beer", "milk"])
    ['beer']
    """
    by_lower = {other.lower().strip(): other for other in known}
    return [by_lower[other] for other in get_close_matches(name.lower().strip(), by_lower, n=3, cutoff=0.6)]


def near_misses(wrong: str, known: Iterable[str]) -> str:
    """A sentence that names what exists and comes close to *wrong*; empty if nothing does.

    >>> near_misses("bear", ["beer", "milk"])
    "Did you mean 'beer'?"
    """
    close = lookalikes(wrong, known)
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else ""


def unknown(kind: str, wrong: str, known: Iterable[str], otherwise: str = "Check its spelling.") -> WrongUsage:
    """The error for a name that does not exist: it names what exists, and what comes close.

    >>> str(unknown("column", "prise", ["price", "item"]))
    "There is no column 'prise'. Available: 'price', 'item'. Did you mean 'price'?"
    """
    available = list(known)
    listed = ", ".join(map(repr, available))
    return WrongUsage(f"There is no {kind} {wrong!r}. Available: {listed}.", near_misses(wrong, available) or otherwise)
