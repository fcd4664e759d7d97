"""Which items can be kept together, asked of a list of minimal moles that grows: `Keeping` where no data is at hand.

The list is of moles made of the items *looked at*, which are those that were kept or asked about so far and the most
frequent of the others. So it stays short where a search never comes to the rare ones, which most moles are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from veilset.errors import BudgetExceeded
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions

FIRST_BLOCK = 256
"""Items that are looked at together at first; twice as many each time, as long as the moles can be listed."""

_Codes: TypeAlias = npt.NDArray[np.int64]

Find: TypeAlias = Callable[[_Codes, _Codes, Itemsets, int], Itemsets | None]
"""The minimal moles of the first codes and the second, with one of the second, if those without one are known; None if
there are more than that."""


class Listed:
    """A set of public items, which says whether one more would add a mole.

    Parameters
    ----------
    data : Transactions
        Names of the items.
    order : array
        The items that are no moles, in the order in which to look at them.
    find : callable
        Who looks at more items.
    most : int
        How long the list may become.
    """

    def __init__(self, data: Transactions, order: _Codes, find: Find, most: int) -> None:
        self._data, self._order, self._find, self._most = data, order, find, most
        self._block = FIRST_BLOCK
        self._looked_at = np.zeros(len(data.names), dtype=bool)
        self._kept = np.zeros(len(data.names), dtype=bool)
        self._is_mole = np.ones(len(data.names), dtype=bool)
        self._is_mole[order] = False
        self._listed(Itemsets(data.names, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64)))

    def keep(self, item: str) -> None:
        """Add an item to the set."""
        code = self._code(item)
        if not self._kept[code]:
            self._kept[code] = True
            self._missing[self._with(code)] -= 1

    def drop(self, item: str) -> None:
        """Remove an item from the set."""
        code = self._code(item)
        if self._kept[code]:
            self._kept[code] = False
            self._missing[self._with(code)] += 1

    def clear(self) -> None:
        """Remove all items from the set."""
        self._kept[:] = False
        self._missing = self._moles.sizes.astype(np.int32)

    def brings_mole(self, item: str) -> bool:
        """Whether *item* and kept items are a mole, or contain one; kept items alone have none."""
        code = self._code(item)
        if self._is_mole[code]:
            return True
        self._look_at(code)
        return bool((self._missing[self._with(code)] == (0 if self._kept[code] else 1)).any())

    def _look_at(self, code: int) -> None:
        """Have all moles of this item and kept ones in the list."""
        needed = self._kept.copy()
        needed[code] = True
        needed &= ~self._looked_at
        while needed.any():
            others = self._order[~(self._looked_at | needed)[self._order]][: self._block]
            fresh = np.concatenate([np.flatnonzero(needed), others])
            found = self._find(np.flatnonzero(self._looked_at), fresh, self._moles, self._most - len(self._moles))
            if found is not None:
                self._looked_at[fresh] = True
                self._listed(Itemsets.joined(self._moles, found))
                self._block = 2 * max(1, self._block)
                return
            if not len(others):
                raise BudgetExceeded(
                    f"More than {self._most:,} sets of items break the promise: too many to list on an engine.",
                    "Use the method auto, or choose a smaller p or k.",
                )
            self._block = len(others) // 2

    def _listed(self, moles: Itemsets) -> None:
        self._moles = moles
        number = np.repeat(np.arange(len(moles), dtype=np.int32), moles.sizes)
        kept = np.bincount(number[self._kept[moles.items]], minlength=len(moles))
        self._missing = (moles.sizes - kept).astype(np.int32)  # of each mole: how many of its items are not kept
        by_item = np.argsort(moles.items, kind="stable")
        self._of_item = number[by_item]
        self._ends = np.searchsorted(moles.items[by_item], np.arange(len(self._kept) + 1))

    def _code(self, item: str) -> int:
        return int(self._data.codes([item])[0])

    def _with(self, code: int) -> npt.NDArray[np.int32]:
        return self._of_item[self._ends[code] : self._ends[code + 1]]
