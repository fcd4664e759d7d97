"""Minimal moles, the items that occur in moles, and whether one more item brings a mole (thesis §4.3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.exact import exact_share
from veilset.limits import Limits
from veilset.transactions import Transactions

__all__ = ["Keeping", "Moles", "items_in_moles", "minimal_rare"]

_TASK, _ADVICE = "The search for moles", "ask for a smaller p."


@dataclass(frozen=True)
class Moles:
    """Minimal moles as arrays; iterates as (names, support, confidence, sensitive item)."""

    data: Transactions
    arrays: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]]

    @property
    def by_size(self) -> tuple[int, ...]:
        """How many there are of one item, of two items, and so on."""
        return tuple(len(support) for _, support, _, _ in self.arrays)

    def __len__(self) -> int:
        return sum(self.by_size)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int, Fraction, str | None]]:
        names = self.data.names
        for size, (items, support, sensitive, together) in enumerate(self.arrays, start=1):
            rows = items.reshape(-1, size).tolist()
            for row, sup, s, count in zip(rows, support.tolist(), sensitive.tolist(), together.tolist(), strict=True):
                yield tuple(names[i] for i in row), sup, Fraction(count, sup), names[s] if s >= 0 else None


def minimal_rare(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    limits: Limits | None = None,
) -> Moles:
    """All minimal moles: occurring public itemsets with support below *k*, or that give a sensitive item away with more
    than *h* certainty, all of whose proper subsets do neither.

    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]])
    >>> [names for names, *_ in minimal_rare(data, 2)]
    [('a', 'c'), ('b', 'c')]
    """
    limits = limits or Limits()
    with limits.guard(_TASK, _ADVICE):
        arrays = _native.minimal_moles(
            data.offsets, data.items, data.is_sensitive, **_question(k, h, max_size), **limits.for_kernel(_stage)
        )
    return Moles(data, arrays)


def items_in_moles(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    limits: Limits | None = None,
) -> tuple[str, ...]:
    """The public items that occur in any mole of up to *max_size* items, minimal or not, in vocabulary order."""
    limits = limits or Limits()
    with limits.guard(_TASK, _ADVICE):
        mask = _native.items_in_moles(
            data.offsets, data.items, data.is_sensitive, **_question(k, h, max_size), **limits.for_kernel(_stage)
        )
    return tuple(data.names[i] for i in np.flatnonzero(mask).tolist())


class Keeping:
    """A growing set of public items without moles: asks of one more item whether it would bring one."""

    def __init__(
        self,
        data: Transactions,
        k: int,
        *,
        h: float | str | Fraction = 1,
        max_size: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._data = data
        self._limits = limits or Limits()
        # The rows of every item, 4 bytes each, and a few numbers for every item.
        self._limits.require(4 * len(data.items) + 32 * len(data.names), _TASK, _ADVICE)
        self._memory_limit = self._limits.bytes_left()
        self._kept = _native.Keeping(data.offsets, data.items, data.is_sensitive, **_question(k, h, max_size))

    def keep(self, item: str) -> None:
        """Add an item to the set."""
        self._kept.keep(int(self._data.codes([item])[0]))

    def brings_mole(self, item: str) -> bool:
        """Whether *item* with up to ``max_size - 1`` kept items is a mole."""
        with self._limits.guard(_TASK, _ADVICE):
            return self._kept.brings_mole(
                int(self._data.codes([item])[0]),
                memory_limit=self._memory_limit,
                time_limit=self._limits.seconds_left(),
            )


class _Question(TypedDict):
    h_num: int
    h_den: int
    k: int
    p: int


def _question(k: int, h: float | str | Fraction, max_size: int | None) -> _Question:
    share = exact_share(h, "h")
    return {"h_num": share.numerator, "h_den": share.denominator, "k": k, "p": max_size or 0}


def _stage(_: int) -> str:
    return "Searching for moles"
