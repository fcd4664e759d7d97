"""Chance in methods: what seeds it, and how likely something is."""

from __future__ import annotations

import hashlib
import secrets
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from veilset.errors import InvalidArgument, said
from veilset.exact import exact_share

Share: TypeAlias = float | str | Fraction
"""From 0 to 1: a number such as 0.35, or text such as ``"1/3"``."""

_BITS = 53  # of a random number that decides


def probability(value: Share, name: str) -> Fraction:
    """A share of 0 to 1, exactly; nothing is promised about it, so that 0 is as good as any.

    >>> probability(0.35, "p_r"), probability("0.0%", "p_r")
    (Fraction(7, 20), Fraction(0, 1))
    """
    return exact_share(value, name, may_be_zero=True)


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
        raise InvalidArgument(
            f"{said('random_state')} is {random_state!r}.", f"Give a whole number from 0 to {2**64 - 1:,}."
        )
    return int(random_state)


def seed_from(text: str) -> int:
    """The seed that a secret text stands for; it tells nothing of the text, nor of what else is made from it.

    >>> seed_from("a secret") == seed_from("a secret") != seed_from("another")
    True
    """
    return int.from_bytes(hashlib.shake_256(b"veilset method\0" + text.encode()).digest(8)) >> 1
