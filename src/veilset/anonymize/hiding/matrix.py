"""The sanitization matrix S (Lee, Chang, Chen 2004, §2.2 and §3).

S_ij = -1 takes item j, the **victim**, out of transactions that hold i and j; S_ij = 1 keeps it in them; the diagonal
is 1. Of a pair inside a hidden pattern the victim is the item that is in fewer patterns to keep. The text leaves ties
open; its figures take the item that comes first in the vocabulary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset.errors import said
from veilset.limits import Limits
from veilset.mining import Itemsets

_ADVICE = f"give shorter {said('keep_patterns')}, or hide from a higher {said('min_support')}."


def sanitization_matrix(hidden: Itemsets, keep: Itemsets, *, spare: bool, reinforce: bool, limits: Limits) -> csr_array:
    """S over the items of *hidden*, P_h, whose names *keep*, ~P_h, has too.

    Parameters
    ----------
    spare : bool
        Whether pairs that are also inside a pattern to keep get no victim (the rule as the text has it; Figure 4, of
        the hidden-first algorithm, does not).
    reinforce : bool
        Whether pairs that are inside patterns to keep only get a 1 (non-hidden-first).
    """
    width = len(hidden.names)
    inside, outside = _pairs(hidden, limits), _pairs(keep, limits)
    hit = np.setdiff1d(inside, outside, assume_unique=True) if spare else inside
    first, second = np.divmod(hit, width)
    often = np.bincount(keep.items, minlength=width)
    victim = np.where(often[second] < often[first], second, first)  # first < second: ties to the first
    rows, columns = [np.arange(width), first + second - victim], [np.arange(width), victim]
    values = [np.ones(width, dtype=np.int8), np.full(len(hit), -1, dtype=np.int8)]
    if reinforce:
        one, other = np.divmod(np.setdiff1d(outside, inside, assume_unique=True), width)
        rows += [one, other]
        columns += [other, one]
        values.append(np.ones(2 * len(one), dtype=np.int8))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(entries, shape=(width, width), dtype=np.int8)


def _pairs(itemsets: Itemsets, limits: Limits) -> npt.NDArray[np.int64]:
    """All pairs i < j of items that are together in an itemset, each as i * width + j, ascending."""
    width, sizes = len(itemsets.names), itemsets.sizes
    # Each pair as it is found, once more beside those found before, and both again while they are sorted.
    limits.require(int(4 * 8 * (sizes * (sizes - 1) // 2).sum()), "Building the matrix", _ADVICE)
    found = [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes[sizes > 1]).tolist():
        limits.check_time("Building the matrix", _ADVICE)
        members = itemsets.items[itemsets.offsets[:-1][sizes == size][:, None] + np.arange(size)].astype(np.int64)
        found += [np.unique(members[:, one, None] * width + members[:, one + 1 :]) for one in range(size - 1)]
    return np.unique(np.concatenate(found))
