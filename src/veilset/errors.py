"""What can go wrong, in one form: what failed, the value received, what to do next.

Every error carries the exit code the command line answers with. A message names an option by `said`, so that a Python
user reads ``header=True`` where a user of the command line reads ``--header``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

_NAME_ONLY = "\x00"
_SAID = re.compile("\x02([^\x02\x03]*)\x03")


def said(name: str, value: object = _NAME_ONLY) -> str:
    """An option in a message, with its value if one is given; it is spelled when the message is read.

    >>> str(InvalidArgument("Line 1 has names.", f"Use {said('header', True)}, or leave {said('format')} out."))
    'Line 1 has names. Use header=True, or leave format out.'
    """
    return f"\x02{json.dumps([name] if value is _NAME_ONLY else [name, value], default=str)}\x03"


def in_python(name: str, *value: object) -> str:
    """How an option is spelled in Python."""
    return f"{name}={tuple(value[0]) if isinstance(value[0], list) else value[0]!r}" if value else name


def spelled(text: str, spell: Callable[..., str] = in_python) -> str:
    """A text in which each option that was `said` is written by *spell*."""

    def one(found: re.Match[str]) -> str:
        try:
            return spell(*json.loads(found[1]))
        except (TypeError, ValueError):
            return found[0]  # not ours: a name of the user's may hold anything

    return _SAID.sub(one, text)


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

    @property
    def what(self) -> str:
        """What failed, as a Python user reads it."""
        return self.spelled(in_python)[0]

    @property
    def next_step(self) -> str:
        """What to do about it, likewise."""
        return self.spelled(in_python)[1]

    def spelled(self, spell: Callable[..., str]) -> tuple[str, str]:
        """What failed and what to do, with each option as *spell* writes its name and its value, if it has one."""
        what, next_step = self.args
        return spelled(what, spell), spelled(next_step, spell)

    def within(self, where: str, next_step: str | None = None) -> Any:
        """The same error, met in some place: *where* stands before it."""
        return type(self)(f"{where}{self.args[0]}", self.args[1] if next_step is None else next_step)

    def calling(self, **names: str) -> Any:
        """The same error, for a place that has other names for these options."""

        def renamed(name: str, *value: object) -> str:
            return said(names.get(name, name), *value)

        return type(self)(*self.spelled(renamed))

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}".strip()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.what!r}, {self.next_step!r})"


class InvalidArgument(VeilsetError, ValueError):
    """An invalid argument: an unknown name, a value out of range, or a combination that makes no sense."""


class UnreadableInput(VeilsetError):
    """A file or table that is missing, damaged, or not in the stated format."""


class CannotWrite(VeilsetError):
    """A place that cannot be written to: a missing folder, no permission, no space."""


class NotCertified(VeilsetError):
    """A release that was not proven to keep its promise, and is therefore not published."""

    exit_code = 1


class Infeasible(VeilsetError):
    """A promise that cannot be kept on this data, or not with the items that must be kept."""

    exit_code = 3


class BudgetExceeded(VeilsetError):
    """A run that stopped at its memory or time limit, without a result."""

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


def unknown(kind: str, wrong: str, known: Iterable[str], otherwise: str = "Use one of these.") -> InvalidArgument:
    """The error for a name that does not exist: it names what exists, and what comes close.

    >>> str(unknown("column", "prise", ["price", "item"]))
    "There is no column 'prise'. Available: 'price', 'item'. Did you mean 'price'?"
    """
    available = list(known)
    listed = ", ".join(map(repr, available))
    return InvalidArgument(
        f"There is no {kind} {wrong!r}. Available: {listed}.", near_misses(wrong, available) or otherwise
    )
