"""Every value is in a bin, and bins are round."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from veilset.report.histograms import length_histogram, support_histogram


def test_support_bins_are_round_and_start_at_k() -> None:
    histogram = support_histogram({"all": np.array([3, 6, 7, 19, 1500])}, k=7)
    assert histogram.edges == (2, 5, 7, 10, 20, 50, 100, 200, 500, 1000, 2000)
    assert histogram.series["all"] == (1, 1, 1, 1, 0, 0, 0, 0, 0, 1)
    assert histogram.ranges[:3] == ["2–4", "5–6", "7–9"]
    assert histogram.starts[-2:] == ["500", "1k"]
    assert support_histogram({"all": np.array([], dtype=np.int64)}, k=7) is None


@pytest.mark.parametrize("highest", [1, 2, 9, 10, 20, 50, 99, 100, 10_000_000])
def test_every_value_is_in_a_bin(highest: int) -> None:
    values = np.array([1, highest])
    for histogram in (support_histogram({"all": values}, k=10), length_histogram({"all": Counter(values.tolist())})):
        assert sum(histogram.series["all"]) == 2
        assert len(histogram.edges) < 50


def test_few_lengths_get_a_bar_each() -> None:
    histogram = length_histogram({"before": {40: 1, 43: 1}, "after": {41: 1}})
    assert histogram.edges == (40, 41, 42, 43, 44)
    assert histogram.series == {"before": (1, 0, 0, 1), "after": (0, 1, 0, 0)}


def test_length_bins_have_one_width_but_for_the_empty_and_the_longest() -> None:
    histogram = length_histogram({"all": dict.fromkeys([*range(100), 5000], 1)})
    assert histogram.ranges[:3] == ["0", "1–5", "6–10"]
    assert histogram.ranges[-2:] == ["96–100", "101–5,000"]
    assert histogram.series["all"] == (1, *[5] * 19, 4, 1)
    assert length_histogram({"all": {}}) is None
