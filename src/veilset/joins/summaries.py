"""What passes between sites: class summaries and split summaries (thesis Definitions 3 and 4), and nothing else.

Both speak of join values that two neighbours share, by their numbers, and of class counts: numbers of joined rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
"""Counts in a row: one word each, or two, the lower first."""


def to_words(counts: Sequence[int], width: int) -> Words:
    """Counts as words, *width* for each.

    >>> to_words([1, 2**64], 2).tolist()
    [1, 0, 0, 1]
    """
    parts = [count >> 64 * place & (1 << 64) - 1 for count in counts for place in range(width)]
    return np.array(parts, dtype=np.uint64)


def from_words(words: Words, width: int) -> list[int]:
    """The counts that words stand for.

    >>> from_words(np.array([1, 0, 0, 1], np.uint64), 2) == [1, 2**64]
    True
    """
    numbers = words.tolist()
    return numbers if width == 1 else [low | high << 64 for low, high in zip(numbers[::2], numbers[1::2], strict=True)]


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """CS(T_i → T_j): for each shared join value, the class counts of all rows of T_i that have it.

    Parameters
    ----------
    keys : array of int32
        The join values, in increasing order.
    counts : array of uint64
        Class counts of each, in words.
    classes, width : int
        How many counts a join value has, and of how many words each.
    """

    keys: npt.NDArray[np.int32]
    counts: Words
    classes: int
    width: int

    def entries(self) -> dict[int, tuple[int, ...]]:
        """Class counts by join value."""
        return dict(zip(self.keys.tolist(), _grouped(from_words(self.counts, self.width), self.classes), strict=True))


@dataclass(frozen=True, eq=False)
class SplitSummary:
    """SS(T_i → T_j) of some nodes: for each shared join value, the class counts of its rows in either child.

    Parameters
    ----------
    nodes, children : array of int64
        The nodes that are split, and their children, two each.
    offsets : array of int64
        Where the join values of each node begin in *keys*.
    keys : array of int32
        The join values, in increasing order within a node.
    counts : array of uint64
        For each join value the class counts in the first child, then in the second, in words.
    classes, width : int
        How many counts a join value has in a child, and of how many words each.
    """

    nodes: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int32]
    counts: Words
    classes: int
    width: int

    def entries(self) -> list[dict[int, tuple[tuple[int, ...], tuple[int, ...]]]]:
        """For each node, the class counts in both children by join value."""
        sides = list(_grouped(from_words(self.counts, self.width), self.classes))
        pairs = list(zip(self.keys.tolist(), zip(sides[::2], sides[1::2], strict=True), strict=True))
        bounds = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return [dict(pairs[first:last]) for first, last in bounds]


def _grouped(counts: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    return (tuple(counts[start : start + size]) for start in range(0, len(counts), size))
