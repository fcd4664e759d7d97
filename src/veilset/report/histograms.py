"""Counting into bins that suit long-tailed data; a chart gets a few dozen numbers, never the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, pairwise

import numpy as np
import numpy.typing as npt

_MOST_BINS = 24


@dataclass(frozen=True)
class Histogram:
    """Counts of several series over common bins.

    Parameters
    ----------
    edges : tuple of int
        Bin i holds the values from ``edges[i]`` to just below ``edges[i + 1]``.
    series : mapping
        Name to the count in each bin.
    """

    edges: tuple[int, ...]
    series: Mapping[str, tuple[int, ...]]

    @property
    def starts(self) -> list[str]:
        """Where each bin starts, shortened: "2k"."""
        return [_short(edge) for edge in self.edges[:-1]]

    @property
    def ranges(self) -> list[str]:
        """Each bin as a range: "20–49"."""
        return [f"{low:,}" if above == low + 1 else f"{low:,}–{above - 1:,}" for low, above in pairwise(self.edges)]


def support_histogram(series: Mapping[str, npt.NDArray[np.int64]], k: int) -> Histogram | None:
    """How many items are held by how many transactions, in steps of 1, 2, 5, 10, …; one bin starts at *k*.

    None if there is no item at all.
    """
    return _histogram({name: (values, None) for name, values in series.items()}, _rounded(), also=(k,))


def length_histogram(series: Mapping[str, Mapping[int, int]]) -> Histogram | None:
    """How many transactions have how many items, in bins of one width: wider ones would stand out for nothing.

    Each of the *series* says how often each length occurs. Empty transactions have a bin to themselves, and so has the
    longest hundredth. None if there is no transaction.
    """
    together = Counter[int]()
    for counts in series.values():
        together.update(counts)
    if not together:
        return None
    lengths = np.array(sorted(together))
    shortest, longest = int(lengths[0]), int(lengths[-1])
    up_to = np.cumsum([together[length] for length in lengths.tolist()])
    quantile = np.searchsorted(up_to, -(-99 * (up_to[-1] - 1) // 100), side="right")  # of 99%, from above
    common = int(lengths[quantile])
    span = common - shortest + 1
    width = next(width for width in _rounded() if span <= _MOST_BINS * width)
    first = 1 if width > 1 else shortest
    weighted = {
        name: (np.array([*counts], np.int64), np.array([*counts.values()], np.int64)) for name, counts in series.items()
    }
    return _histogram(weighted, chain([0], range(first, common + width + 1, width), [longest + 1]))


def _rounded() -> Iterator[int]:
    return (step * 10**power for power in count() for step in (1, 2, 5))


def _histogram(
    series: Mapping[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64] | None]],
    steps: Iterable[int],
    also: Collection[int] = (),
) -> Histogram | None:
    """Values, each as often as its weight says (None: once), in bins between these *steps*."""
    parts = [values for values, _ in series.values() if len(values)]
    if not parts:
        return None
    lowest, highest = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
    edges: list[int] = []
    for step in steps:
        edges.append(step)
        if step > highest:
            break
    edges = sorted({*edges, *(edge for edge in also if edge <= highest)})
    first = max(index for index, edge in enumerate(edges) if edge <= lowest)
    edges = edges[first:]
    counted = {name: np.histogram(values, bins=edges, weights=times)[0] for name, (values, times) in series.items()}
    return Histogram(tuple(edges), {name: tuple(counts.tolist()) for name, counts in counted.items()})


def _short(edge: int) -> str:
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if edge and edge % unit == 0:
            return f"{edge // unit:,}{letter}"
    return f"{edge:,}"
