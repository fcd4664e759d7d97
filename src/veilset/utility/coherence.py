"""What coherence makes unavoidable: public items that are moles by themselves (thesis Observation 2).

They are counted block by block, since the original may be larger than memory: what is held is a number for each item,
and one for each pair of an item and a sensitive item that occur together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions, row_blocks
from veilset.utility.utilities import Utility

_BLOCK = 1 << 18  # occurrences that are looked at at once


def _moles_alone(release: Release, promise: Coherence) -> tuple[str, ...]:
    """The public items that are moles; sensitive items that the release has suppressed give nobody away any more."""
    hidden = set(release.original.sensitive).intersection(release.suppressed)
    data = release.original.without(hidden) if hidden else release.original
    promise.check_feasible(data)
    seen = promise.as_seen_by_attacker(data)
    rare = seen.supports < promise.k
    h = promise.share
    telling = most_with_one(seen).astype(object) * h.denominator > seen.supports.astype(object) * h.numerator
    breaks = (rare | telling.astype(bool)) & (seen.is_sensitive == 0)
    return tuple(seen.names[code] for code in np.flatnonzero(breaks).tolist())


def most_with_one(data: Transactions) -> npt.NDArray[np.int64]:
    """For each item, how many of its transactions hold the sensitive item that most of them hold.

    >>> data = Transactions.from_lists([["a", "x"], ["a", "b", "x", "y"], ["a", "y"], ["a", "y"]], sensitive=["x", "y"])
    >>> most_with_one(data).tolist()
    [3, 1, 2, 3]
    """
    sensitive, width = data.is_sensitive.astype(bool), len(data.names)
    pairs, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for first, last in row_blocks(data.offsets, _BLOCK) if sensitive.any() else ():
        starts = data.offsets[first : last + 1] - data.offsets[first]
        items = data.items[data.offsets[first] : data.offsets[last]]
        carried = np.flatnonzero(sensitive[items])
        row = np.searchsorted(starts, carried, side="right") - 1
        lengths = starts[row + 1] - starts[row]
        ends = np.cumsum(lengths)
        # All items of the row of each sensitive occurrence.
        places = np.arange(int(lengths.sum())) + np.repeat(starts[row] - (ends - lengths), lengths)
        together = np.repeat(items[carried].astype(np.int64), lengths) * width + items[places]
        here, times = np.unique(together, return_counts=True)
        pairs, where = np.unique(np.concatenate([pairs, here]), return_inverse=True)
        counts = np.bincount(where, weights=np.concatenate([counts, times]), minlength=len(pairs)).astype(np.int64)
    most = np.zeros(width, dtype=np.int64)
    np.maximum.at(most, pairs % max(1, width), counts)
    return most


COHERENCE = Utility(unavoidable=_moles_alone)
