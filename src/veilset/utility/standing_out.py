"""How much hidden patterns stand out in what is released: who has the file alone may look for pairs that are too rare.

Such an attacker compares the support of each pair of frequent items with what independent items would have, by lift or
by how many standard deviations it falls short, and looks at the lowest. So every pair of a hidden pattern has two
ranks, and the pattern those of the pair that stands out most. No rank can be high if min_support itself is below what
independent items would have: whatever is below it then falls short.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from veilset.limits import Limits
from veilset.mining import pairs
from veilset.transactions import Transactions
from veilset.utility.utilities import Standing

_MOST_ITEMS = 1000  # that are compared: the most frequent ones, and those of hidden patterns


def standings(
    data: Transactions, patterns: Sequence[tuple[str, ...]], least: int, limits: Limits
) -> list[Standing | None]:
    """How much each pattern stands out in released *data*; None: no two of its items are there.

    Compared are the pairs of items that *least* transactions hold, and of those in patterns.

    >>> rows = [["ale", "bun"]] * 5 + [["ale", "fig"]] * 4 + [["bun", "fig"]] * 2 + [["ale"], ["bun"], ["fig"], []]
    >>> standings(Transactions.from_lists(rows), [("bun", "fig"), ("fig",)], 5, Limits())
    [Standing(by_lift=1, by_shortfall=1, among=3, unavoidable=False), None]
    """
    items = _compared(data, {item for pattern in patterns for item in pattern}, least)
    place = {name: at for at, name in enumerate(items)}
    codes = data.codes(items)
    together = np.zeros((len(items), len(items)))
    found = pairs(data, items=items, **limits.bounds())
    ends = np.searchsorted(codes, found.items.reshape(-1, 2))
    together[ends.min(axis=1), ends.max(axis=1)] = found.supports
    support = data.supports[codes].astype(np.float64)
    first, second = np.triu_indices(len(items), 1)
    counted, expected = together[first, second], support[first] * support[second] / max(1, len(data))
    ranks = [_ranks(counted / expected), _ranks((counted - expected) / np.sqrt(expected))]
    begins = np.searchsorted(first, np.arange(len(items)))  # where the pairs of each item with later ones begin

    def standing(pattern: tuple[str, ...]) -> Standing | None:
        there = sorted(place[item] for item in pattern if item in place)
        numbers = [int(begins[one]) + other - one - 1 for one, other in combinations(there, 2)]
        if not numbers:
            return None
        by_lift, by_shortfall = (min(int(rank[number]) for number in numbers) for rank in ranks)
        worst = min(numbers, key=lambda number: ranks[1][number])
        return Standing(by_lift, by_shortfall, len(first), bool(expected[worst] >= least))

    return [standing(pattern) for pattern in patterns]


def _compared(data: Transactions, listed: set[str], least: int) -> tuple[str, ...]:
    frequent = np.flatnonzero(data.supports >= least)
    most = frequent[np.argsort(-data.supports[frequent], kind="stable")[:_MOST_ITEMS]]
    return data.in_order({*(data.names[code] for code in most.tolist()), *listed.intersection(data.names)})


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The place of each value, counted from 1 for the lowest; equal ones share the first."""
    return 1 + np.searchsorted(np.sort(values), values)
