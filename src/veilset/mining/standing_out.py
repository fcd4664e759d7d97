"""How much hidden patterns stand out in what is released: who has the file alone may look for pairs that are too rare.

Such an attacker takes the pairs that independent items would have in at least five transactions (of rarer ones, chance
alone leaves many with none), compares the support of each with what independence would give, by lift or by how many
standard deviations it falls short, and looks at the lowest. Nothing secret is needed for that. So every pair of a
hidden pattern has two ranks, and the pattern those of the pair that stands out most.

Levels cannot always help: the lift of a hidden pair is below min_support / expected. If independent items would be
together far more often than min_support, any level leaves it among the lowest. So a pair that stands out is told with
the support from which on it would not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from veilset.engines import Held
from veilset.limits import Limits
from veilset.mining.counting import pairs
from veilset.mining.frequent_spread import supports_on_engine
from veilset.mining.spread_itemsets import Pairs, pairs_held
from veilset.transactions import Transactions

_MOST_ITEMS = 1000  # that are compared: the most frequent ones, and those of hidden patterns
_SAME = 1e-9  # what lies closer together is equal but for rounding
_LEAST_EXPECTED = 5  # transactions: the usual limit of chi-squared tests


@dataclass(frozen=True)
class Standing:
    """How much a hidden pattern stands out in the release, by the pair of its items that does most.

    Parameters
    ----------
    by_lift : int
        The place of that pair among all pairs that were compared, the lowest lift first, counted from 1.
    by_shortfall : int
        Likewise by how many standard deviations its support falls short of what independent items would have.
    among : int
        How many pairs were compared.
    clear_from : int or None
        The support from which on it would no longer stand out, other pairs being as they are. None: it does not stand
        out, or has more than two items.
    """

    by_lift: int
    by_shortfall: int
    among: int
    clear_from: int | None = None

    @property
    def first(self) -> int:
        """How many pairs an attacker looks at: a hundredth of them, or one."""
        return max(1, self.among // 100)

    @property
    def stands_out(self) -> bool:
        """Whether the pair is among these by lift or by shortfall; a single pair has none to stand out from."""
        return self.among > 1 and min(self.by_lift, self.by_shortfall) <= self.first


def standings(data: Transactions, patterns: Sequence[tuple[str, ...]], limits: Limits) -> list[Standing | None]:
    """How much each pattern stands out in released *data*; None: no two of its items would be compared.

    >>> rows = [["ale", "bun"]] * 8 + [["ale", "fig"]] * 7 + [["bun", "fig"]] * 4 + [["ale"], ["bun"], ["fig"]]
    >>> standings(Transactions.from_lists(rows), [("bun", "fig"), ("fig",)], Limits())
    [Standing(by_lift=1, by_shortfall=1, among=3, clear_from=8), None]
    """
    items = _compared(data, data.supports, patterns)
    found = pairs(data, items=items, **limits.bounds())
    ends = np.sort(found.items.reshape(-1, 2), axis=1).astype(np.int64)
    codes = data.codes(items)
    return _standings(
        items, codes, data.supports[codes], len(data), Pairs(ends[:, 0], ends[:, 1], found.supports), patterns
    )


def standings_held(data: Held, patterns: Sequence[tuple[str, ...]], limits: Limits) -> list[Standing | None]:
    """The same for released data that an engine holds."""
    names, supports = data.vocabulary, supports_on_engine(data)
    items = _compared(names, supports, patterns)
    codes = names.codes(items)
    return _standings(items, codes, supports[codes], len(data), pairs_held(data, codes, limits), patterns)


def _standings(
    items: tuple[str, ...],
    codes: npt.NDArray[np.int64],
    supports: npt.NDArray[np.int64],
    rows: int,
    found: Pairs,
    patterns: Sequence[tuple[str, ...]],
) -> list[Standing | None]:
    """Standings from supports of the *items* that are compared, and of their pairs."""
    place = {name: at for at, name in enumerate(items)}
    together = np.zeros((len(items), len(items)))
    together[np.searchsorted(codes, found.first), np.searchsorted(codes, found.second)] = found.supports
    support = supports.astype(np.float64)
    independent = np.triu(np.outer(support, support), 1) / max(1, rows)
    first, second = np.nonzero(independent >= _LEAST_EXPECTED)
    counted, expected = together[first, second], independent[first, second]
    number = np.full(together.shape, -1)
    number[first, second] = np.arange(len(first))
    measures = [counted / expected, (counted - expected) / np.sqrt(expected)]
    ranks = [1 + np.searchsorted(np.sort(values), values) for values in measures]  # equal ones share the first place

    def standing(pattern: tuple[str, ...]) -> Standing | None:
        there = sorted(place[item] for item in pattern if item in place)
        numbers = [int(number[pair]) for pair in combinations(there, 2) if number[pair] >= 0]
        if not numbers:
            return None
        by_lift, by_shortfall = (min(int(rank[pair]) for pair in numbers) for rank in ranks)
        told = Standing(by_lift, by_shortfall, len(first))
        if not told.stands_out or len(pattern) > 2:  # of more items, a pair may be in other transactions, too
            return told
        return replace(told, clear_from=clear_from(numbers[0], told.first))

    def clear_from(pair: int, lowest: int) -> int:
        """The least support with which it would not be among the *lowest*, other pairs being as they are.

        Each transaction more has an item back, at worst the one whose return makes independence give most.
        """
        lift, short = (np.partition(np.delete(values, pair), lowest - 1)[lowest - 1] for values in measures)
        each = max(support[first[pair]], support[second[pair]]) / rows

        def clear(held: int) -> bool:
            would = expected[pair] + (held - counted[pair]) * each
            return bool(held / would > lift + _SAME and (held - would) / np.sqrt(would) > short + _SAME)

        now = int(counted[pair])
        return now + bisect_left(range(now, rows), True, key=clear)

    return [standing(pattern) for pattern in patterns]


def _compared(
    names: Transactions, supports: npt.NDArray[np.int64], patterns: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    most = np.argsort(-supports, kind="stable")[:_MOST_ITEMS]
    listed = {item for pattern in patterns for item in pattern}.intersection(names.names)
    return names.in_order({*(names.names[code] for code in most.tolist()), *listed})
