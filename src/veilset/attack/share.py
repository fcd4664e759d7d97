"""Shares of guesses that were right, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

_Z = 1.959964  # 95%


@dataclass(frozen=True)
class Share:
    """A share of guesses that were right, with its 95% interval."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, right: npt.NDArray[np.bool_], buckets: npt.NDArray[np.int64]) -> Share:
        """Wilson's interval, for as many guesses as are independent: those about one bucket are right together.

        >>> Share.of(np.array([True, True, False, False]), np.array([0, 0, 1, 1]))
        Share(estimate=0.5, low=0.094..., high=0.905...)
        """
        p, _, each = float(right.mean()), *np.unique(buckets, return_inverse=True)
        apart = float(np.sum(np.bincount(each, right - p) ** 2)) / len(right) ** 2
        trials = min(float(len(right)), p * (1 - p) / apart) if apart > 0 else float(each.max() + 1)
        middle, scale = p + _Z**2 / (2 * trials), 1 + _Z**2 / trials
        half = _Z * sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
        return cls(p, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))
