"""Why a suppressed item cannot return: what would break the promise if it, and nothing else, came back.

The auditor looks at the release with that one item put back, and names the smallest thing it finds: an itemset with too
few people, or one that gives a sensitive item away. What has no search of its own is audited as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from veilset.audit.auditors import AUDITORS
from veilset.audit.coherence import coherence_with
from veilset.audit.rho_uncertainty import rule_with
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Coherence, PerPromise, Promise, RhoUncertainty, Witness
from veilset.transactions import Transactions, row_blocks

_BLOCK = 1 << 18  # occurrences that are looked at at once
_WITNESSES = 100


@dataclass(frozen=True)
class Returned:
    """A release with one of its suppressed items put back.

    Parameters
    ----------
    original : Transactions
    item : str
        What returns.
    rows : array of int
        The transactions of the original that hold it.
    gone : frozenset of str
        What stays suppressed.
    generalized : mapping
        Items to the names they have in the release.
    withheld : array of bool
        Which transactions are not in the release; those with the item return with it.
    """

    original: Transactions
    item: str
    rows: npt.NDArray[np.int64]
    gone: frozenset[str]
    generalized: Mapping[str, str]
    withheld: npt.NDArray[np.bool_]

    @cached_property
    def holders(self) -> Transactions:
        """The transactions that hold the item, without it: what else is released of them."""
        return self._released(self.original.take(self.rows), {*self.gone, self.item})

    @cached_property
    def data(self) -> Transactions:
        """All transactions, with the item."""
        if not self.withheld.any():
            return self._released(self.original, self.gone)
        there = ~self.withheld
        there[self.rows] = True
        return self._released(self.original.take(np.flatnonzero(there)), self.gone)

    def _released(self, data: Transactions, gone: Collection[str]) -> Transactions:
        left = data.without(set(data.names).intersection(gone))
        present = set(left.names)
        return left.renamed({old: new for old, new in self.generalized.items() if old in present})


class Search(Protocol):
    """What finds out why an item cannot return; its promise is always of its own kind."""

    def __call__(self, returned: Returned, promise: Any, *, limits: Limits) -> Witness | None:
        """The smallest reason that was found; None: there is none."""


SEARCHES = PerPromise[Search]("search for why an item cannot return")
SEARCHES.add(Coherence, coherence_with)
SEARCHES.add(RhoUncertainty, rule_with)


def why_not_back(
    original: Transactions,
    promise: Promise,
    items: Iterable[str],
    *,
    suppressed: Collection[str],
    generalized: Mapping[str, str] | None = None,
    withheld: Collection[int] = (),
    limits: Limits,
) -> dict[str, Witness | None]:
    """For each of these suppressed items what breaks the promise if it returns alone; None: nothing does.

    Items that come after the limits are reached are left out.

    >>> data = Transactions.from_lists([["tea", "figs"], ["tea"], ["tea"], ["figs"], ["milk"]])
    >>> gone = ["figs", "milk"]
    >>> for item, why in why_not_back(data, Coherence(k=2, p=2), gone, suppressed=gone, limits=Limits()).items():
    ...     print(item, why)
    figs {figs, tea}: only 1 matching transaction
    milk {milk}: only 1 matching transaction
    """
    search = SEARCHES.of(promise) if type(promise) in SEARCHES else _by_audit
    left_out = np.zeros(len(original), dtype=bool)
    left_out[list(withheld)] = True
    found: dict[str, Witness | None] = {}
    wanted = list(items)
    rows = _holders(original, wanted)
    for number, item in enumerate(wanted):
        limits.step("Finding out why items cannot return", number, len(wanted))
        if limits.seconds_left() <= 0:
            break
        returned = Returned(original, item, rows[item], frozenset(suppressed) - {item}, generalized or {}, left_out)
        try:
            found[item] = search(returned, promise, limits=limits)
        except BudgetExceeded:
            break
    return found


def _holders(original: Transactions, items: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """For each of these items the transactions that hold it."""
    offsets, codes = original.offsets, original.codes(items)
    wanted = np.zeros(len(original.names), dtype=bool)
    wanted[codes] = True
    places = [np.zeros(0, dtype=np.int64)]
    for first, last in row_blocks(offsets, _BLOCK):
        start = int(offsets[first])
        places.append(np.flatnonzero(wanted[original.items[start : offsets[last]]]) + start)
    at = np.concatenate(places)
    rows, held = np.searchsorted(offsets, at, side="right") - 1, original.items[at]
    return {item: rows[held == code] for item, code in zip(items, codes.tolist(), strict=True)}


def _by_audit(returned: Returned, promise: Promise, *, limits: Limits) -> Witness | None:
    answer = AUDITORS.of(promise)(returned.data, promise, witnesses=_WITNESSES, limits=limits)
    about = [one for one in answer.witnesses if returned.item in (*one.itemset, one.sensitive)]
    return min(about, key=lambda one: len(one.itemset), default=None)
