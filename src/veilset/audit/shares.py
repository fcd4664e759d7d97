"""How branches are cut into shares that a task can hold; `coherence_spread` says what branches and shares are.

A share is a stretch of branches. A branch that is too large for one task is cut by the second items of its itemsets:
one share has its item alone, and the next ones have stretches of second items. Such a share needs the rows with the
item and one of these: the item, and what they have from the second one on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

MOST_IN_SHARE = 8_000_000
"""Item occurrences that a share is to hold, roughly: some hundred megabytes in its task."""
_SHARES_AT_ONCE = 3
"""Shares for each task that can run at once, so that none waits long for the last."""
_GROUPS = 256
"""Stretches of items whose pairs with a branch are counted together, before it is cut."""
_MOST_BITS = 40

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Shares:
    """What each share looks at, in the order of the itemsets.

    Parameters
    ----------
    of_branch : int32 array
        The share of each branch; of one that is cut, that of its item alone. At the end, the number of shares.
    is_cut : bool array
        Whether the branch is cut; the shares after its own, up to that of the next branch, have its pairs.
    first, end, second, second_end : int32 arrays
        Of each share, the branches and the second items.
    """

    of_branch: _Codes
    is_cut: npt.NDArray[np.bool_]
    first: _Codes
    end: _Codes
    second: _Codes
    second_end: _Codes

    def __len__(self) -> int:
        return len(self.first)

    def bounds(self, ranks: _Array, *, single: bool) -> list[tuple[int, int, int, int]]:
        """What each share looks at, as numbers of items that have these ranks; at *single* items, or at larger sets."""
        first, end, *seconds = (
            np.searchsorted(ranks, one) for one in (self.first, self.end, self.second, self.second_end)
        )
        has_pairs = self.second > self.first
        idle = has_pairs if single else self.is_cut[self.first] & ~has_pairs
        return list(zip(*(column.tolist() for column in (first, np.where(idle, first, end), *seconds)), strict=True))


def shares_of(
    costs: _Array, things: int, parallelism: int, costs_of_pairs: Callable[[_Codes, _Codes], _Array]
) -> Shares:
    """Shares that cost about the same.

    costs_of_pairs(cut, group) tells for each branch that is cut, and each group of second items, what its rows cost.
    """
    items, room = len(costs), max(1, -(-int(costs.sum()) // share_count(costs, parallelism)))
    cut, group = too_large(costs, things), stretches(costs, _GROUPS)
    pairs = dict(zip(cut.tolist(), costs_of_pairs(cut, group), strict=True)) if len(cut) else {}
    begins = np.flatnonzero(np.append(True, group[1:] != group[:-1])[:items])
    of_branch, found, filled = np.full(items + 1, -1, dtype=np.int32), list[tuple[int, int, int, int]](), 0
    for branch, cost in enumerate(costs.tolist()):
        if branch in pairs:
            of_branch[branch] = len(found)
            found.append((branch, branch + 1, 0, 0))
            behind = np.flatnonzero(np.append(begins[1:], items) > branch + 1)
            seconds = np.maximum(begins[behind], branch + 1)
            stretch = stretches(pairs[branch][behind], -(-int(pairs[branch][behind].sum()) // MOST_IN_SHARE))
            starts = seconds[np.append(True, stretch[1:] != stretch[:-1])[: len(stretch)]].tolist()
            found += [(branch, branch + 1, *one) for one in pairwise([*starts, items])]
            filled = room + 1  # nothing joins a share of pairs
            continue
        if not found or filled + cost > room:
            found.append((branch, branch, 0, items))
            filled = 0
        filled += cost
        found[-1] = (found[-1][0], branch + 1, 0, items)
        of_branch[branch] = len(found) - 1
    of_branch[items] = len(found)
    is_cut = np.zeros(items, dtype=bool)
    is_cut[cut] = True
    return Shares(of_branch, is_cut, *np.array(found, dtype=np.int32).reshape(-1, 4).T)


def share_count(costs: _Array, parallelism: int) -> int:
    """How many shares there are, about."""
    return max(_SHARES_AT_ONCE * parallelism, -(-int(costs.sum()) // MOST_IN_SHARE))


def too_large(costs: _Array, things: int) -> _Codes:
    """The branches that no task can hold.

    Equal rows are one, so there are no more of them than sets of the items that they may have: those from the branch
    on, and the sensitive ones.
    """
    length = np.arange(len(costs), 0, -1) + things
    most = length << np.minimum(length, _MOST_BITS)
    return np.flatnonzero(np.minimum(costs, most) > MOST_IN_SHARE).astype(np.int32)


def stretches(costs: _Array, count: int) -> _Codes:
    """Of each, the number of the stretch that it is in: about so many, which cost about the same."""
    room = max(1, -(-int(costs.sum()) // max(1, count)))
    stretch, filled, numbers = 0, 0, np.zeros(len(costs), dtype=np.int32)
    for place, cost in enumerate(costs.tolist()):
        if filled and filled + cost > room:
            stretch, filled = stretch + 1, 0
        filled += cost
        numbers[place] = stretch
    return numbers
