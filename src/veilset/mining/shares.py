"""How a search on an engine is cut into shares; `spread_search` says what branches and shares are.

The auditors have code of their own for this.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SHARE = 8_000_000
"""Item occurrences that a share is to hold, roughly: some hundred megabytes in its task."""
_SHARES_AT_ONCE = 3
"""Shares for each task that can run at once, so that none waits long for the last."""
_GROUPS = 256
"""Stretches of second items, whose rows are counted together before a branch is cut."""

_Numbers = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]


class Shares(NamedTuple):
    """First stretches of branches, then parts of branches that are too large: stretches of second items.

    Parameters
    ----------
    of_branch : int32 array
        The share of each branch; -1 if it is in parts.
    parts : int32 array
        For each branch the first share that is a part of it; those up to the number of the next branch are its parts.
    bounds : int32 array
        Of each share a row: the first branch and the end, the first second item and the end.
    """

    of_branch: _Codes
    parts: _Codes
    bounds: _Codes


def shares_of(
    costs: _Numbers, things: int, parallelism: int, pair_costs: Callable[[_Codes, _Numbers], _Numbers] | None
) -> Shares:
    """Shares that cost about the same.

    pair_costs(branches, group) tells what each group of second items costs. None: no branch is large.
    """
    publics = len(costs)
    is_large = _held_at_most(costs, things) > (SHARE if pair_costs else np.inf)
    large = np.flatnonzero(is_large).astype(np.int32)
    whole = np.setdiff1d(np.arange(publics), large)
    count = max(_SHARES_AT_ONCE * parallelism, -(-int(costs.sum()) // SHARE))
    # A stretch ends at a branch that is in parts: nothing else may look at that one.
    stretch = _stretches(costs[whole], count) + np.searchsorted(large, whole) * count
    of_branch = np.full(publics, -1, dtype=np.int32)
    of_branch[whole] = np.unique(stretch, return_inverse=True)[1]
    begins = _begins(stretch)
    ends = whole[np.append(begins[1:], len(whole)) - 1] + 1 if len(whole) else begins
    bounds = [(first, end, 0, publics) for first, end in zip(whole[begins], ends, strict=True)]

    group, parts = _stretches(costs, _GROUPS), np.zeros(publics + 1, dtype=np.int32)
    of_groups = pair_costs(large, group) if pair_costs and len(large) else np.zeros((0, 0), np.int64)
    for branch, found in zip(large.tolist(), of_groups, strict=True):
        seconds = np.arange(branch + 1, publics)
        part = _stretches(found, -(-int(found.sum()) // SHARE))[group[seconds]]
        begins = _begins(part)
        bounds += [(branch, branch + 1, *one) for one in pairwise([*seconds[begins], publics])]
        parts[branch + 1] = len(begins)
    parts = np.cumsum(parts, dtype=np.int32) + (len(bounds) - parts.sum())
    return Shares(of_branch, parts.astype(np.int32), np.array(bounds, dtype=np.int32).reshape(-1, 4))


def _held_at_most(costs: _Numbers, things: int) -> _Numbers:
    """What a task holds of each branch: equal rows are one, and there are not more than sets of what may be in them."""
    bits = np.arange(len(costs) - 1, -1, -1) + things
    return np.asarray(np.minimum(costs, (bits + 1) << np.minimum(bits, 40)), dtype=np.int64)


def _stretches(costs: _Numbers, count: int) -> _Numbers:
    """For each, the stretch in which its middle falls, of so many that cost the same; some may be empty."""
    middles = 2 * np.cumsum(costs) - costs
    return np.asarray(middles * count // max(1, 2 * int(costs.sum())), dtype=np.int64)


def _begins(numbers: _Numbers) -> _Numbers:
    return np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
