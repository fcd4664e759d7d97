"""An attacker who compares buckets: what he finds out, what he cannot, and what he may use up."""

import dataclasses
from functools import partialmethod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.anatomies import anatomized_release, pairs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.runs import run_of
from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.attack import ComparingBuckets, compare_buckets
from veilset.attack.co_occurrence import CoOccurrence
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.release import Release
from veilset.transactions import Transactions

COLUMNS = ("abc", "xyz")


def attacked(release: Release, **bounds) -> ComparingBuckets:
    found = compare_buckets(release, limits=Limits(**bounds))
    assert found is not None
    return found


def by_hand(*rows: str) -> Release:
    """Whatever the rows are, this is published: {a, b} with {x, y}, {a, c} with {x, z}, {b, c} with {y, z}."""
    released = ["ay", "bx", "az", "cx", "bz", "cy"]
    return anatomized_release(rows, released, COLUMNS, size=2)


def test_three_buckets_by_hand():
    """a is met in two buckets, and x in the same two: n = 1/2 for {a, x}, 0 for {a, y}; e = 1/4 for both."""
    found = attacked(by_hand("ax", "by", "ax", "cz", "by", "cz"))
    assert (found.main.estimate, found.confident.estimate) == (1, 1)
    assert (found.guesses, found.buckets) == (12, 3)
    assert found.baseline.estimate == 0.5
    assert found.control.estimate == 0  # the released rows are the other arrangement


def test_the_truth_is_only_looked_at_afterwards():
    """From the same public buckets he draws the same conclusions, even if they are all wrong."""
    found = attacked(by_hand("ay", "bx", "az", "cx", "bz", "cy"))
    assert (found.main.estimate, found.confident.estimate) == (0, 0)


def made(data: Transactions, *, l: int = 2, size: int = 1) -> Release:  # noqa: E741 - the paper's letter
    columns = [[name for name in data.names if name[0] == letter] for letter in "vw"]
    return multi_anatomy(
        data, LDiverseAnatomy(l), columns=columns, bucket_size=size, random_state=5, limits=Limits(threads=1)
    )


def test_correlated_columns_are_linked_in_small_buckets():
    """Nine in ten have the same number in both columns: he must do better than 1/2, by more than chance explains."""
    found = attacked(made(pairs(1000, linked=0.9)))
    assert found.main.low > 0.8
    assert found.baseline.low <= 0.5
    assert found.confident.estimate >= found.main.estimate
    assert found.control.low <= found.baseline.high


def test_rounds_find_more_than_one(monkeypatch):
    """With weak links and few rows, one round is far from what the buckets tell."""
    release = made(pairs(1000, linked=0.5))
    several = attacked(release)
    monkeypatch.setattr(CoOccurrence, "weights", partialmethod(CoOccurrence.first_weights, deviations=3))
    once = attacked(release)
    assert several.main.estimate > once.main.estimate
    assert several.control.low <= several.baseline.high


def test_larger_buckets_lower_the_share():
    data = pairs(1000, linked=0.7)
    found = [attacked(made(data, size=size)).main for size in (2, 8, 32)]
    assert found[0].low > found[1].high and found[1].low > found[2].high


def test_a_larger_l_lowers_the_share():
    data = pairs(1000, linked=0.7)
    assert attacked(made(data, l=2)).main.low > attacked(made(data, l=6)).main.high


@examples(40)
@given(st.integers(0, 2**32))
def test_independent_columns_cannot_be_linked(seed):
    """Five standard errors of a difference of two shares: one run in three million fails by chance."""
    found = attacked(made(pairs(200, linked=0, seed=seed)))
    gained, width = found.main.estimate - found.baseline.estimate, found.main.high - found.main.low
    assert gained < 5 * (width / 2 / 1.96) * 2**0.5


def test_the_answer_repeats_itself():
    release = made(pairs(500, linked=0.5))
    assert attacked(release) == attacked(release)
    assert attacked(release) == attacked(release, threads=1)


def test_samples_of_large_releases(monkeypatch):
    """Fewer buckets are compared, and fewer attacked; the share stays about the same."""
    release = made(pairs(1000, linked=0.9))
    whole = attacked(release)
    monkeypatch.setattr("veilset.attack.buckets.OCCURRENCES", 1000)
    monkeypatch.setattr("veilset.attack.buckets._TARGETS", 200)
    part = attacked(release)
    assert part.guesses <= 400 < whole.guesses
    assert part.main.low > part.baseline.high


@pytest.mark.parametrize("bounds", [{"memory_limit": 1000}, {"time_limit": 1e-9}])
def test_limits_are_respected(bounds):
    release = made(pairs(200, linked=0.5))
    with refused(BudgetExceeded):
        compare_buckets(release, limits=Limits(**bounds))
    run = run_of(release, limits=Limits(**bounds))
    assert run.compared is None


def test_nothing_to_compare():
    """One bucket, one column, or no buckets at all."""
    release = made(pairs(200, linked=0.5))
    assert compare_buckets(made(pairs(20, linked=0.5), size=20), limits=Limits()) is None
    assert compare_buckets(dataclasses.replace(release, partition=None), limits=Limits()) is None
    assert run_of(dataclasses.replace(release, partition=None)).compared is None


def test_items_that_were_removed_beforehand_play_no_part():
    release = by_hand("ax", "by", "ax", "cz", "by", "cz")
    rows = [[*row, "s"] for row in release.original]
    with_more = dataclasses.replace(release, original=Transactions.from_lists(rows), suppressed=("s",))
    assert attacked(with_more) == attacked(release)


def with_sensitive(rows: int, *, linked: float, seed: int = 3) -> Transactions:
    """A tenth of the people have s; a share of them have v0 and w0 for that reason."""
    chance = np.random.default_rng(seed)
    numbers, carries = chance.integers(20, size=(rows, 2)), chance.random(rows) < 0.1
    numbers[carries & (chance.random(rows) < linked)] = 0
    rest = zip(numbers.tolist(), carries, strict=True)
    return Transactions.from_lists([[f"v{v}", f"w{w}", *"s" * int(s)] for (v, w), s in rest], sensitive=["s"])


def test_carriers_of_sensitive_items_are_told_by_their_other_items():
    """The promise is kept: half of each bucket at most has s. But most who have it also have v0 and w0."""
    found = attacked(made(with_sensitive(2000, linked=0.9))).carriers
    assert found is not None
    assert found.prior == found.people / 2000 == 0.121
    assert found.baseline <= 0.5
    assert found.right.low > 0.8


@pytest.mark.parametrize("size", [1, 8])
def test_carriers_whose_other_items_tell_nothing_stay_unknown(size):
    found = attacked(made(with_sensitive(2000, linked=0), size=size)).carriers
    assert found is not None
    assert found.right.low <= found.baseline <= 0.5


def test_nobody_to_tell():
    assert attacked(made(pairs(200, linked=0.5))).carriers is None
