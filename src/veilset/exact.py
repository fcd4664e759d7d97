"""Exact shares: every threshold is a fraction and is compared as integers, never as a float."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from veilset.errors import InvalidArgument, said

Support: TypeAlias = int | float | str | Fraction
"""How many transactions, at least: a whole number is a count of them, anything else a share of all."""

_LARGEST_DENOMINATOR = 10**6
_HUGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4,}")  # \d: Fraction takes the digits of all scripts


def is_whole(value: object, least: int = 1, most: float = math.inf) -> bool:
    """Whether a value is a whole number from *least* to *most*, and says so: 5.0 and True do not.

    >>> is_whole(5), is_whole(5.0), is_whole(True), is_whole(0), is_whole(0, least=0)
    (True, False, False, False, True)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= int(value) <= most


def check_whole(value: object, name: str, next_step: str, *, least: int = 1, may_be_none: bool = False) -> None:
    """Raise unless a value is a whole number of at least *least*; or None, where that means no limit."""
    if not (may_be_none and value is None) and not is_whole(value, least):
        raise InvalidArgument(f"{said(name)} is {value!r}.", next_step)


def exact_share(value: float | str | Fraction, name: str, *, may_be_zero: bool = False) -> Fraction:
    """The share in (0, 1] that *value* stands for: a number, or text like ``"2/3"``, ``"0.4"`` or ``"40%"``.

    A float means the simplest fraction it can stand for, with a denominator of at most one million. What lies between
    those fractions is never rounded up: the promise would be weaker than the one asked for.

    >>> exact_share(0.4, "h"), exact_share("2/3", "h"), exact_share("40%", "h")
    (Fraction(2, 5), Fraction(2, 3), Fraction(2, 5))
    """
    try:
        asked = _fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InvalidArgument(
            f"{said(name)} is {value!r}, which is not a share.",
            f"Give a number such as {said(name, 0.4)} or {said(name, '2/3')}.",
        ) from None
    share = asked.limit_denominator(_LARGEST_DENOMINATOR)
    # Floats that are equal stand for the same share.
    if asked > 0 and (share == 0 or (asked < share and float(asked) < float(share))):
        raise _too_fine(value, name, "1/3")
    if not (0 < share <= 1 or (may_be_zero and share == 0)):
        allowed = "from 0 to 1" if may_be_zero else "above 0 and up to 1"
        raise InvalidArgument(
            f"{said(name)} is {value}, outside the range {allowed}.", f"Try for example {said(name, 0.4)}."
        )
    return share


def exact_factor(value: float | str | Fraction, name: str) -> Fraction:
    """The number of at least 1 that *value* stands for, exactly; text may be like ``"5/2"`` or ``"2.5"``.

    As for `exact_share`, but what cannot be said is never rounded down: the promise would be weaker.

    >>> exact_factor(2, "l"), exact_factor(2.5, "l"), exact_factor("10/3", "l")
    (Fraction(2, 1), Fraction(5, 2), Fraction(10, 3))
    """
    try:
        if isinstance(value, str) and value.strip().endswith("%"):
            raise ValueError
        asked = _fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InvalidArgument(
            f"{said(name)} is {value!r}, which is not a number.",
            f"Give one such as {said(name, 2)} or {said(name, '5/2')}.",
        ) from None
    factor = asked.limit_denominator(_LARGEST_DENOMINATOR)
    if not 1 <= factor <= _LARGEST_DENOMINATOR or asked < 1:
        raise InvalidArgument(
            f"{said(name)} is {value}, outside the range 1 to a million.", f"Try for example {said(name, 2)}."
        )
    if asked > factor and float(asked) > float(factor):
        raise _too_fine(value, name, "10/3")
    return factor


def _too_fine(value: object, name: str, example: str) -> InvalidArgument:
    return InvalidArgument(
        f"{said(name)} is {value}, which needs a denominator above a million.",
        f"Give at most six decimals, or a fraction such as {said(name, example)}.",
    )


def _fraction(value: float | str | Fraction) -> Fraction:
    if isinstance(value, str):
        text = value.strip()
        if _HUGE_EXPONENT.search(text):
            raise ValueError  # it may come from a stranger's certificate, and would take gigabytes to write out
        return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    if isinstance(value, bool):
        raise TypeError  # True is an int to Python, not to a reader
    return Fraction(value)


def exact_support(min_support: Support, name: str = "min_support") -> int | Fraction:
    """The number of transactions, or the exact share of them, that *min_support* stands for.

    >>> exact_support(3), exact_support("12"), exact_support(0.01), exact_support("1.2%")
    (3, 12, Fraction(1, 100), Fraction(3, 250))
    """
    if isinstance(min_support, str) and min_support.strip().isdecimal():
        min_support = int(min_support.strip().lstrip("0")[:20] or 0)
    if isinstance(min_support, (int, np.integer)) and not isinstance(min_support, bool):
        if min_support < 1:
            raise InvalidArgument(
                f"{said(name)} is {min_support}.", "Give at least 1, or a share of the transactions such as 0.01."
            )
        return int(min_support)
    return exact_share(min_support, name)


def support_of(min_support: Support, transactions: int, name: str = "min_support") -> int:
    """The number of transactions that *min_support* stands for: a count, or a share rounded up.

    A count beyond all transactions is as good as one more than there are. *name* is what an error calls it.

    >>> support_of(3, 200), support_of(0.01, 200), support_of("1.2%", 200), support_of(10**30, 200)
    (3, 2, 3, 201)
    """
    exact = exact_support(min_support, name)
    return min(exact, transactions + 1) if isinstance(exact, int) else max(1, -(-exact * transactions // 1))


def at_least(share: Fraction) -> Fraction:
    """The share itself, or the next one above it that `exact_share` takes.

    >>> at_least(Fraction(2, 3)), at_least(Fraction(1, 3_000_000))
    (Fraction(2, 3), Fraction(1, 1000000))
    """
    if share.denominator <= _LARGEST_DENOMINATOR:
        return share
    return Fraction(-(-share * _LARGEST_DENOMINATOR // 1), _LARGEST_DENOMINATOR)


def percent(share: Fraction) -> str:
    """A share as a person reads it; rounded up in the last digit, so that it never promises too much.

    >>> percent(Fraction(2, 5)), percent(Fraction(2, 3)), percent(Fraction(1))
    ('40%', '66.7%', '100%')
    """
    tenths = -(-share * 1000 // 1)
    return f"{tenths // 10}%" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}%"
