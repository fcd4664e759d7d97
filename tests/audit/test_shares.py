"""How branches are cut into shares: every itemset in one of them, and none larger than a task can hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.audit import shares
from veilset.audit.shares import shares_of

COSTS = st.lists(st.integers(1, 100), min_size=1, max_size=30)


def evenly(cut, group):
    return np.full((len(cut), int(group.max()) + 1), 7)


@given(COSTS, st.integers(1, 4), st.sampled_from([5, 50, 8_000_000]))
def test_every_itemset_is_in_one_share(costs, parallelism, most):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "MOST_IN_SHARE", most)
        found = shares_of(np.array(costs, dtype=np.int64), 60, parallelism, evenly)
    assert found.of_branch[-1] == len(found)
    looked_at = []
    for single in (True, False):
        for first, end, second, second_end in found.bounds(np.arange(len(costs)), single=single):
            for branch in range(first, end):
                looked_at += (
                    [(branch,)] if single else [(branch, two) for two in range(second, second_end) if two > branch]
                )
    items = range(len(costs))
    assert sorted(looked_at) == sorted(
        [*((one,) for one in items), *((one, two) for two in items for one in range(two))]
    )
    assert {branch for branch, cost in enumerate(costs) if cost > most} == set(np.flatnonzero(found.is_cut).tolist())


@given(COSTS, st.integers(1, 4))
def test_shares_are_stretches_that_cost_about_the_same(costs, parallelism):
    found = shares_of(np.array(costs, dtype=np.int64), 0, parallelism, evenly)
    room = max(1, -(-sum(costs) // (3 * parallelism)))
    for first, end, _, _ in found.bounds(np.arange(len(costs)), single=False):
        assert end - first == 1 or sum(costs[first:end]) <= room


def test_numbers_of_items_that_are_left(monkeypatch):
    """Ranks 0 and 2 are left out, and two items are in front that no share has."""
    monkeypatch.setattr(shares, "MOST_IN_SHARE", 20)
    found = shares_of(np.array([30, 5, 5, 5], dtype=np.int64), 60, 1, evenly)
    ranks = np.array([-2, -1, 1, 3])
    assert [one for one in found.bounds(ranks, single=False) if one[0] < one[1]] == [(2, 4, 2, 4)]
    assert found.is_cut.tolist() == [True, False, False, False]


def test_a_branch_with_few_possible_rows_is_not_cut():
    """An item in half of a billion transactions, with ten others behind it."""
    costs = np.full(11, 10**9)
    assert not shares_of(costs, 0, 1, evenly).is_cut.any()
    assert shares_of(costs, 40, 1, evenly).is_cut.all()
