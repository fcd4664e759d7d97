"""The supports of all subsets of a few items at once, by numpy: an oracle that takes data of any length.

A row is a number whose bits are its items. Adding up over supersets, bit by bit, gives the support of every itemset.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from veilset import Transactions


class Cube:
    """All itemsets of a table of up to about 16 items."""

    def __init__(self, rows: npt.NDArray[np.int64], items: int) -> None:
        self.rows, self.items = rows, items
        self.supports = np.bincount(rows, minlength=1 << items).astype(np.int64)
        for bit in range(items):
            halves = self.supports.reshape(-1, 2, 1 << bit)
            halves[:, 0] += halves[:, 1]
        self.masks = np.arange(1 << items)
        self.sizes = sum((self.masks >> bit) & 1 for bit in range(items))

    @cached_property
    def data(self) -> Transactions:
        """The same as transactions; item i is called by its letter."""
        return self.with_sensitive(0)

    def with_sensitive(self, count: int) -> Transactions:
        """The same, the last items being sensitive."""
        rows = [self.names(row) for row in self.rows.tolist()]
        return Transactions.from_lists(rows, sensitive=self.names((1 << self.items) - 1)[self.items - count :])

    def names(self, mask: int) -> tuple[str, ...]:
        """The items of a mask."""
        return tuple(chr(ord("a") + bit) for bit in range(self.items) if mask >> bit & 1)

    def frequent(self, min_support: int, kind: str = "all") -> dict[tuple[str, ...], int]:
        """The frequent itemsets with their supports."""
        found = (self.supports >= min_support) & (self.masks > 0)
        for bit in range(self.items):
            larger = self.supports[self.masks | 1 << bit]
            lacks = (self.masks >> bit & 1) == 0
            if kind == "closed":
                found &= ~(lacks & (larger == self.supports))
            if kind == "maximal":
                found &= ~(lacks & (larger >= min_support))
        return {self.names(mask): int(self.supports[mask]) for mask in np.flatnonzero(found).tolist()}

    def minimal_rare(
        self, k: int, h: Fraction, max_size: int | None, *, sensitive: int, absent: bool
    ) -> dict[tuple[str, ...], tuple[int, float]]:
        """Minimal moles with support and breach probability, the last *sensitive* items being the sensitive ones."""
        public = self.items - sensitive
        masks, supports = self.masks[: 1 << public], self.supports[: 1 << public]
        together = np.array([self.supports[masks | 1 << s] for s in range(public, self.items)] or [masks * 0])
        breach = (together / np.maximum(supports, 1)).max(axis=0)
        unsafe = (supports < k) | (h.denominator * together > h.numerator * supports).any(axis=0)
        minimal = unsafe & (absent | (supports > 0)) & (self.sizes[: 1 << public] <= (max_size or public))
        for bit in range(public):
            halves, below = breach.reshape(-1, 2, 1 << bit), unsafe.reshape(-1, 2, 1 << bit)
            np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
            minimal.reshape(-1, 2, 1 << bit)[:, 1] &= ~below[:, 0]
            below[:, 1] |= below[:, 0]  # a superset of what is unsafe is no minimal mole either
        minimal[0] = False
        return {self.names(m): (int(supports[m]), float(breach[m])) for m in np.flatnonzero(minimal).tolist()}


def random_cube(seed: int, *, rows: int = 40_000, items: int = 14) -> Cube:
    """Rows of a few kinds of people: some items nearly everybody has, some few, some always together."""
    draw = np.random.default_rng(seed)
    kinds = draw.random((6, items)) ** 0.8
    kinds[:, 0] = 1 - 1e-4 * (seed % 2)  # in every row, or nearly
    held = draw.random((rows, items)) < kinds[draw.integers(0, 6, rows)]
    held[:, 2] = held[:, 1]
    return Cube(held @ (1 << np.arange(items)), items)
