"""Putting whole buckets of two together: which values of all columns belong to one person.

Nothing is known of either person. An arrangement says for each column who has which value, up to exchanging both
people. It is as likely as the exponential of its weights: the sum over the pairs of items that each person has then.
Arrangements that leave somebody without any item are impossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from veilset.attack.buckets import Attacked
from veilset.attack.share import Share

_COLUMNS = 10  # that differ: all 512 arrangements are weighed

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Linked:
    """How often the most likely arrangement of a bucket of two is the true one, in all columns.

    Parameters
    ----------
    right : Share
        Of all buckets of two people whose values differ in two to ten columns.
    confident : Share
        Of the fifth that is the most certain.
    baseline, confident_baseline : float
        What to expect of the same buckets, if all possible arrangements are equally likely.
    buckets : int
        How many there are.
    """

    right: Share
    confident: Share
    baseline: float
    confident_baseline: float
    buckets: int


def arrangement(bucket: Attacked) -> list[Floats]:
    """Is the most likely one right, how likely would that be by chance, how likely is it thought to be, which bucket.

    The bucket has two rows. Empty if there is nothing to arrange, or too much.
    """
    apart = bucket.published[0] - bucket.published[1]
    columns = np.unique(bucket.columns[apart != 0])
    if not 2 <= len(columns) <= _COLUMNS:
        return []
    values = apart * (bucket.columns == columns[:, None])  # of the first row, less those of the second
    sides = np.array([(1, *others) for others in product((1, -1), repeat=len(columns) - 1)])
    weights = np.einsum("ac,cd,ad->a", sides, values @ bucket.weights @ values.T, sides) / 4
    possible = _possible(bucket, values, sides)
    chances = np.where(possible, np.exp(weights - weights[possible].max()), 0)
    true = np.sign(values @ (bucket.known[0] - bucket.known[1]))
    right = np.array_equal(sides[chances.argmax()], true * true[0])
    return [np.array([[right, 1 / possible.sum(), chances.max() / chances.sum(), bucket.number]])]


def _possible(bucket: Attacked, values: Floats, sides: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Arrangements in which both have something: in a column that does not differ, or not nothing in all others."""
    shared = bucket.published.all(axis=0) & ~bucket.is_nothing
    nothing = np.abs(sides @ values[:, bucket.is_nothing].sum(axis=1))
    possible: npt.NDArray[np.bool_] = shared.any() | (nothing < len(values))
    return possible
