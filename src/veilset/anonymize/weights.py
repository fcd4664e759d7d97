"""What suppressing an item costs, and what must stay: options that methods of several promises take."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, said
from veilset.transactions import Transactions

Weights: TypeAlias = Mapping[str, float] | Literal["equal"] | None
"""IL(v), what suppressing an item costs: None is its support, so that the fewest occurrences are lost; "equal" is 1, so
that the fewest kinds of items are; a mapping gives items weights of their own (others weigh 1)."""

HEAVIEST = 10**6
"""No item weighs more."""

_PARTS = 10**6  # weights are compared exactly, in millionths


def weights_of(data: Transactions, weights: Weights, *, only_public: bool) -> npt.NDArray[np.int64]:
    """The weight of each item of *data*, in units that are the same for all."""
    if weights is None:
        return data.supports.astype(np.int64)
    weighed = np.full(len(data.names), _PARTS, dtype=np.int64)
    if isinstance(weights, str):
        if weights != "equal":
            raise InvalidArgument(
                f"{said('weights')} is {weights!r}.",
                "Leave it out, use 'equal', or give weights for single items.",
            )
        return weighed
    _check_items(data, weights, "weights", only_public)
    for code, (item, weight) in zip(data.codes(weights), weights.items(), strict=True):
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= HEAVIEST:
            raise InvalidArgument(f"The weight of {item!r} is {weight!r}.", f"Give a number from 0 to {HEAVIEST:,}.")
        weighed[code] = math.ceil(Fraction(weight) * _PARTS)  # upwards: what weighs anything is never free
    return weighed


def named_items(data: Transactions, items: Iterable[str], option: str, *, only_public: bool) -> frozenset[str]:
    """The items that an option names, once it is known that they may be."""
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise InvalidArgument(f"{said(option)} is {items!r}.", "Give a list of items.")
    given = frozenset(items)
    _check_items(data, given, option, only_public)
    return given


def as_given(*, weights: Weights, **options: object) -> dict[str, object]:
    """The options that were given, as a recipe repeats them: neither None nor an empty set of names."""
    given: dict[str, object] = {"weights": dict(weights) if isinstance(weights, Mapping) else weights, **options}
    for name, value in given.items():
        if isinstance(value, frozenset):
            given[name] = tuple(sorted(value)) or None
    return {name: value for name, value in given.items() if value is not None}


def _check_items(data: Transactions, items: Collection[str], option: str, only_public: bool) -> None:
    data.codes(items)  # an unknown one is an error
    if only_public and (hidden := sorted(set(data.sensitive).intersection(items))):
        raise InvalidArgument(
            f"{hidden[0]!r} is sensitive, but {said(option)} applies to public items only.",
            "Remove it from the list: sensitive items are not suppressed.",
        )
