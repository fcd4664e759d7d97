"""Transactions in classes, by what they have of some items: these grow one by one while each class is large enough."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.limits import Limits
from veilset.transactions import Transactions


class Classes:
    """At first, all transactions are in one class. Each item that may split them tells its holders from the others.

    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a"], ["a"], ["a", "b", "c"], ["a", "b", "c"]])
    >>> classes = Classes(data, 2, Fraction(1), Limits())
    >>> [classes.may_split(item) for item in "abc"]
    [True, True, True]
    >>> classes = Classes(data, 3, Fraction(1), Limits())
    >>> [classes.may_split(item) for item in "abc"]
    [True, False, False]
    """

    def __init__(self, data: Transactions, k: int, h: Fraction, limits: Limits) -> None:
        # Row numbers, their order and sorted rows, and two numbers for each row.
        needed = 8 * (4 * len(data.items) + 2 * len(data))
        limits.require(needed, "Comparing transactions", "use a machine with more of it.")
        self._data, self._k, self._h, self._limits = data, k, h, limits
        order = np.argsort(data.items, kind="stable")
        rows_by_item = np.repeat(np.arange(len(data)), data.lengths)[order]
        first = np.searchsorted(data.items[order], np.arange(len(data.names) + 1))
        self._rows_of = [rows_by_item[first[code] : first[code + 1]] for code in range(len(data.names))]
        self._sensitive = [self._rows_of[code] for code in np.flatnonzero(data.is_sensitive).tolist()]
        self._class_of = np.zeros(len(data), dtype=np.int64)  # equal numbers: equal so far
        self._sizes = np.array([len(data)])

    def may_split(self, item: str) -> bool:
        """Whether each class stays large enough, and safe; then the item has split them."""
        self._limits.check_time("Comparing transactions", "choose another method.")
        class_of, sizes = self._split(self._rows_of[int(self._data.codes([item])[0])])
        if not self._safe(class_of, sizes):
            return False
        self._class_of, self._sizes = class_of, sizes
        return True

    def _split(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The classes when these rows are told apart from the others."""
        class_of, sizes = self._class_of, self._sizes
        with_item = np.bincount(class_of[rows], minlength=len(sizes))
        divided = (with_item > 0) & (with_item < sizes)
        moved = np.full(len(sizes), -1)
        moved[divided] = len(sizes) + np.arange(np.count_nonzero(divided))
        finer = class_of.copy()
        leaving = rows[divided[class_of[rows]]]
        finer[leaving] = moved[class_of[leaving]]
        return finer, np.concatenate([np.where(divided, sizes - with_item, sizes), with_item[divided]])

    def _safe(self, class_of: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> bool:
        if sizes.min() < self._k:
            return False
        return all(
            (np.bincount(class_of[rows], minlength=len(sizes)) * self._h.denominator <= sizes * self._h.numerator).all()
            for rows in self._sensitive
        )
