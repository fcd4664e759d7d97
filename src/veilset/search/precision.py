"""How good an order of results is: average precision as the thesis defines it (§5.3.1), and intervals of means.

Judgements are restricted to what was returned: a relevant page that the engine did not find counts neither for nor
against an order of what it found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
_LEVEL, _LEAST = 0.95, 10


def average_precision(positions: Iterable[int]) -> float:
    """The average precision of an order, given the final positions of the relevant results; 0 without any.

    The mean of i over the position of the i-th relevant result.

    >>> average_precision([1, 3])
    0.8333333333333333
    """
    found = sorted(positions)
    return math.fsum(number / position for number, position in enumerate(found, 1)) / len(found) if found else 0.0


@dataclass(frozen=True)
class Mean:
    """A mean over queries, with its 95% interval.

    Parameters
    ----------
    value, low, high : float
        The mean and its interval, by resampling queries.
    count : int
        How many queries there were.
    """

    value: float
    low: float
    high: float
    count: int

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves zero out, for differences. Of a few values, resampling cannot tell."""
        return self.count >= _LEAST and (self.low > 0 or self.high < 0)


def mean_of(values: Sequence[float], groups: Sequence[object] | None = None, *, random_state: int = 0) -> Mean:
    """The mean of some values and its interval by the bootstrap; values of one group are drawn together.

    Values of the same query, asked by several people, are no independent observations: give the query as the group.

    >>> mean_of([0.0, 0.2, 0.4, 0.6], random_state=1)
    Mean(value=0.3, low=0.1, high=0.5, count=4)
    """
    held: dict[object, list[float]] = {}
    for group, value in zip(range(len(values)) if groups is None else groups, values, strict=True):
        held.setdefault(group, []).append(value)
    if not held:
        return Mean(0.0, 0.0, 0.0, 0)
    sums, sizes = np.array([math.fsum(one) for one in held.values()]), np.array([len(one) for one in held.values()])
    drawn = np.random.default_rng(random_state).integers(len(held), size=(RESAMPLES, len(held)))
    means = np.sort(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    cut = round((1 - _LEVEL) / 2 * RESAMPLES)
    shown = [round(float(value), 6) for value in (math.fsum(values) / len(values), means[cut], means[-1 - cut])]
    return Mean(shown[0], shown[1], shown[2], len(values))
