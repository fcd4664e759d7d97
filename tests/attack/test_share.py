"""Shares with intervals."""

import numpy as np
import pytest

from veilset.attack import Share


def test_intervals_count_buckets_not_guesses():
    """Four guesses about a bucket that are right or wrong together are one."""
    right, buckets = np.repeat([True, False], 50), np.arange(100)
    apart, together = Share.of(right, buckets), Share.of(np.repeat(right, 4), np.repeat(buckets, 4))
    assert (apart.estimate, together.estimate) == (0.5, 0.5)
    assert together.low == pytest.approx(apart.low) and together.high == pytest.approx(apart.high)
    assert apart.low == pytest.approx(0.4038, abs=1e-4)  # Wilson's, for 50 of 100
    sure = Share.of(np.ones(4, dtype=bool), np.array([1, 1, 2, 2]))
    assert (sure.estimate, sure.high) == (1, 1)
    assert sure.low == pytest.approx(2 / (2 + 1.959964**2))
