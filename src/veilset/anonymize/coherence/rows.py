"""Many sets, and many inequalities over them, as sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Sets:
    """Sets of elements, set i being ``items[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of elements of each."""
        return np.diff(self.starts)

    def take(self, which: npt.NDArray[np.integer | np.bool_]) -> Sets:
        """Some of them."""
        starts = np.concatenate([[0], np.cumsum(self.sizes[which])]).astype(np.int64)
        return Sets(starts, self.items[self.places(which)])

    def places(self, which: npt.NDArray[np.integer | np.bool_]) -> npt.NDArray[np.int64]:
        """Where the elements of some of them stand in *items*."""
        sizes = self.sizes[which]
        ends = np.cumsum(sizes)
        places: npt.NDArray[np.int64] = np.arange(sizes.sum()) + np.repeat(
            self.starts[:-1][which] - (ends - sizes), sizes
        )
        return places

    def sums(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Of each set, the sum of what its elements have."""
        return np.add.reduceat(values[self.items], self.starts[:-1]) if len(self) else np.zeros(0)

    @staticmethod
    def joined(*several: Sets) -> Sets:
        """Those of all."""
        sizes = np.concatenate([sets.sizes for sets in several])
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Sets(starts, np.concatenate([sets.items for sets in several]))

    @staticmethod
    def of(sets: list[npt.NDArray[np.int32]]) -> Sets:
        """Those of a list."""
        starts = np.concatenate([[0], np.cumsum([len(items) for items in sets])]).astype(np.int64)
        return Sets(starts, np.concatenate(sets) if sets else np.zeros(0, dtype=np.int32))


@dataclass(frozen=True)
class Groups:
    """Sets that cost something, once, if any of their elements is chosen."""

    sets: Sets
    cost: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Inequalities Σ values·x ≥ low over the columns of a program."""

    sets: Sets
    values: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]

    def take(self, which: npt.NDArray[np.integer | np.bool_]) -> Rows:
        """Some of them."""
        at = self.sets.places(which)
        return Rows(self.sets.take(which), self.values[at], self.low[which])

    @staticmethod
    def joined(first: Rows, second: Rows) -> Rows:
        """Those of both."""
        return Rows(
            Sets.joined(first.sets, second.sets),
            np.concatenate([first.values, second.values]),
            np.concatenate([first.low, second.low]),
        )


def pair_sets(pairs: npt.NDArray[np.int32]) -> Sets:
    """Sets of two elements."""
    return Sets(np.arange(len(pairs) + 1, dtype=np.int64) * 2, np.ascontiguousarray(pairs).reshape(-1))


def set_rows(sets: Sets) -> Rows:
    """Of each set at least one element is chosen."""
    return Rows(sets, np.ones(len(sets.items), dtype=np.int64), np.ones(len(sets), dtype=np.int64))


def clique_rows(cliques: list[npt.NDArray[np.int32]]) -> Rows:
    """Of each clique at most one element is not chosen."""
    sets = Sets.of(cliques)
    return Rows(sets, np.ones(len(sets.items), dtype=np.int64), sets.sizes - 1)
