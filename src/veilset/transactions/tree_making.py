"""Trees where there is none: equal groups in the order of names, or groups of items that occur together.

Both give each item's groups, the most general last, as `Taxonomy` takes them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import said
from veilset.limits import Limits
from veilset.transactions.transactions import Transactions

_PAIRS_AT_ONCE = 1 << 16
_BYTES_A_PAIR = 100  # codes, counts, likeness, two orders, and what sorting takes
_ADVICE = f"use a higher {said('min_support')}."


def groups_by_fan_out(leaves: Sequence[str], n: int, unnamed: Collection[str] = ()) -> dict[str, list[str]]:
    """Groups of n members in the order given; the last of a level may have fewer.

    A group is named after its first and last leaf; of those that must not be named, the number stands there.
    """
    ends = _numbered(leaves, unnamed)
    paths: dict[str, list[str]] = {leaf: [] for leaf in leaves}
    width = 1
    while width * n < len(leaves):
        width *= n
        for first in range(0, len(leaves), width):
            group = leaves[first : first + width]
            # No more than one member of the level below: it moves up as it is.
            if len(group) > width // n:
                name = f"{ends[first]}..{ends[first + len(group) - 1]}"
                for leaf in group:
                    paths[leaf].append(name)
    return paths


def groups_by_co_occurrence(
    data: Transactions, leaves: Sequence[str], n: int, *, min_support: int, limits: Limits
) -> dict[str, list[str]]:
    """Groups of up to n members that occur together, from the bottom up, ties by the order of *leaves*.

    A group is the sum of its members' columns. On each level the two most alike groups, by the cosine of these sums,
    are put together as long as they have n members at most, until no two that occur together fit. A group is named
    after the first of its leaves that *min_support* transactions hold.
    """
    rare = {leaf for leaf, times in zip(leaves, data.supports[data.codes(leaves)], strict=True) if times < min_support}
    titles = _numbered(leaves, rare)
    level = _pairs(data, leaves, min_support, limits)
    paths: dict[str, list[str]] = {leaf: [] for leaf in leaves}
    held = [[leaf] for leaf in range(len(leaves))]  # the leaves of each member of this level, the first one first
    while len(held) > n:
        groups = _most_alike_together(level, n, limits)
        group_of = np.empty(len(held), dtype=np.int64)
        for number, members in enumerate(groups):
            group_of[members] = number
        held = [sorted(leaf for member in members for leaf in held[member]) for members in groups]
        for members, below in zip(groups, held, strict=True):
            if len(members) > 1:  # else it moves up as it is
                # Groups named after the same item lie in each other, so that the number makes the name unique.
                title = next((leaf for leaf in below if leaves[leaf] not in rare), below[0])
                name = f"{titles[title]} + {len(below) - 1} more"
                for leaf in below:
                    paths[leaves[leaf]].append(name)
        level = level.summed(group_of, len(groups))
    return paths


def _numbered(leaves: Sequence[str], unnamed: Collection[str]) -> list[str]:
    """What each leaf is called in the name of a group: its name, or its number, counted from 1."""
    return [f"#{number}" if leaf in unnamed else leaf for number, leaf in enumerate(leaves, start=1)]


@dataclass(frozen=True)
class _Level:
    """Inner products of the columns of one level: of each with itself, and of those pairs that have any."""

    own: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    times: npt.NDArray[np.int64]

    def summed(self, group_of: npt.NDArray[np.int64], groups: int) -> _Level:
        """The same of the sums of columns; the pairs in order."""
        own = np.zeros(groups, dtype=np.int64)
        np.add.at(own, group_of, self.own)
        first, second = group_of[self.first], group_of[self.second]
        inside = first == second
        np.add.at(own, first[inside], 2 * self.times[inside])
        key = (np.minimum(first, second) * groups + np.maximum(first, second))[~inside]
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        times = np.add.reduceat(self.times[~inside][order], begins) if len(begins) else self.times[:0]
        return _Level(own, key[begins] // groups, key[begins] % groups, times)


def _pairs(data: Transactions, leaves: Sequence[str], min_support: int, limits: Limits) -> _Level:
    with limits.guard("Counting pairs", _ADVICE):
        _, found, times = _native.mining.pairs(
            data.offsets,
            data.items,
            1 - data.is_sensitive,
            min_support=min_support,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Counting pairs"),
        )
    limits.require(_BYTES_A_PAIR * len(times), "Grouping items", _ADVICE)
    place = np.full(len(data.names), -1, dtype=np.int64)
    codes = data.codes(leaves)
    place[codes] = np.arange(len(leaves))
    as_counted = _Level(data.supports[codes], place[found[::2]], place[found[1::2]], times)
    return as_counted.summed(np.arange(len(leaves)), len(leaves))  # in the order of the leaves


def _most_alike_together(level: _Level, n: int, limits: Limits) -> list[list[int]]:
    """The members of each group, in the order of their first ones."""
    own = level.own.astype(np.float64)
    alike = level.times.astype(np.float64) ** 2 / (own[level.first] * own[level.second])
    order = np.argsort(-alike, kind="stable")
    members = {member: [member] for member in range(len(own))}
    group_of = np.arange(len(own))
    size = np.ones(len(own), dtype=np.int64)
    for begin in range(0, len(order), _PAIRS_AT_ONCE):
        limits.check_time("Grouping items", _ADVICE)
        limits.step("Grouping items", begin, len(order))
        pairs = order[begin : begin + _PAIRS_AT_ONCE]
        a, b = group_of[level.first[pairs]], group_of[level.second[pairs]]
        fitting = pairs[(a != b) & (size[a] + size[b] <= n)]  # groups only grow: no other pair here can fit later
        for one, other in zip(level.first[fitting].tolist(), level.second[fitting].tolist(), strict=True):
            into, gone = sorted((int(group_of[one]), int(group_of[other])))
            if into != gone and size[into] + size[gone] <= n:
                group_of[members[gone]] = into
                size[into] += size[gone]
                members[into] += members.pop(gone)
    # What is left alone is put together in its order, or a level of strangers would never become smaller.
    alone = [group for group, inside in members.items() if len(inside) == 1]
    for begin in range(0, len(alone), n):
        first, *others = alone[begin : begin + n]
        for other in others:
            members[first] += members.pop(other)
    return [sorted(members[group]) for group in sorted(members)]
