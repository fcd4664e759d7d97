"""Chance in methods: what seeds it, and how likely something is."""

from __future__ import annotations

import re
import secrets
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from veilset.errors import WrongUsage
from veilset.exact import exact_share

__all__ = ["Share", "odds_of", "probability", "seed_of"]

Share: TypeAlias = float | str | Fraction
"""From 0 to 1: a number such as 0.35, or text such as ``"1/3"``."""

_NOTHING = re.compile(r"0+(\.0*)?%?")
_BITS = 53  # of a random number that decides


def probability(value: Share, name: str) -> Fraction:
    """A share of 0 to 1, exactly; nothing is promised about it, so that 0 is as good as any.

    >>> probability(0.35, "p_r"), probability("0.0%", "p_r")
    (Fraction(7, 20), Fraction(0, 1))
    """
    if isinstance(value, str):
        nothing = _NOTHING.fullmatch(value.strip()) is not None
    else:
        nothing = not isinstance(value, bool) and value == 0
    return Fraction(0) if nothing else exact_share(value, name)


def odds_of(share: Fraction) -> int:
    """The share in units of what a random number of a kernel can say."""
    return int(share * 2**_BITS)


def seed_of(random_state: int | None) -> int:
    """The seed, or one that nobody can guess."""
    if random_state is None:
        return secrets.randbits(63)
    if (
        isinstance(random_state, bool)
        or not isinstance(random_state, (int, np.integer))
        or not 0 <= random_state < 2**64
    ):
        raise WrongUsage(f"random_state is {random_state!r}.", f"Give a whole number from 0 to {2**64 - 1:,}.")
    return int(random_state)
