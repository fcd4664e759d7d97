"""How a search on an engine is cut into shares: every itemset in one of them, and none larger than a task can hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.mining import shares
from veilset.mining.shares import shares_of

COSTS = st.lists(st.integers(0, 100), max_size=30)


def evenly(large, group):
    return np.full((len(large), int(group.max()) + 1), 7)


@given(COSTS, st.integers(1, 4), st.sampled_from([5, 50, 8_000_000]))
def test_every_itemset_is_in_one_share(costs, parallelism, most):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "SHARE", most)
        found = shares_of(np.array(costs, dtype=np.int64), 60, parallelism, evenly)
    walked = [
        (one, two)
        for first, end, second, second_end in found.bounds.tolist()
        for one in range(first, end)
        for two in range(max(one + 1, second), second_end)
    ]
    assert sorted(walked) == sorted((one, two) for two in range(len(costs)) for one in range(two))
    assert (found.of_branch < 0).tolist() == [cost > most for cost in costs]


@given(COSTS, st.integers(1, 4), st.sampled_from([None, evenly]))
def test_shares_are_stretches_that_cost_about_the_same(costs, parallelism, pairs):
    found = shares_of(np.array(costs, dtype=np.int64), 0, parallelism, pairs)
    share = found.of_branch.tolist()
    assert share == sorted(share)
    assert set(share) == set(range(max(share, default=-1) + 1))
    room = sum(costs) / (3 * parallelism)
    for number in set(share):
        branches = [cost for cost, one in zip(costs, share, strict=True) if one == number]
        assert sum(branches) <= room + max(branches)


def test_a_branch_with_few_possible_rows_is_in_one_share():
    """An item in half of a billion transactions, with ten others behind it."""
    costs = np.full(11, 10**9)
    assert (shares_of(costs, 0, 1, evenly).of_branch >= 0).all()
    assert (shares_of(costs, 40, 1, evenly).of_branch < 0).all()
    assert (shares_of(costs, 40, 1, None).of_branch >= 0).all()
