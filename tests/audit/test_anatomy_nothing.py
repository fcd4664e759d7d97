"""How sure it is that somebody has nothing in a column: brute force, upper bounds, large buckets, rounding."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.audit import anatomy_nothing
from veilset.audit.anatomy_cut import Cut, Profiles
from veilset.audit.anatomy_nothing import nothing_at_most
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.testing import oracles_anatomy as brute

HALF = Fraction(1, 2)


def profiles(*buckets: tuple[int, list[int]]) -> tuple[Profiles, Cut]:
    """Of buckets of a size, with so many rows that have nothing in each column."""
    empty = [count for _, counts in buckets for count in counts]
    lengths = [len(counts) for _, counts in buckets]
    sizes = np.array([size for size, _ in buckets])
    columns = np.concatenate([np.arange(length) for length in lengths]).astype(np.int32)
    holders = np.repeat(sizes, lengths) - np.array(empty)
    offsets = np.cumsum([0, *lengths])
    rules = np.zeros(max(lengths), dtype=np.uint8)
    cut = Cut(tuple((str(n),) for n in range(len(rules))), np.array([0]), np.zeros(0, np.int32), rules, whole=False)
    return Profiles(np.arange(len(sizes)), sizes, offsets, columns, holders, np.zeros(0, np.int64)), cut


def asked(*buckets: tuple[int, list[int]], bound: Fraction = HALF, limits: Limits | None = None) -> list[Fraction]:
    found = nothing_at_most(*profiles(*buckets), bound, limits or Limits())
    return [Fraction(*pair) for pair in zip(*map(np.ndarray.tolist, found), strict=True)]


def emptiness() -> st.SearchStrategy[tuple[int, list[int]]]:
    """A bucket in which everybody may have something, and nobody has everything."""
    sizes = st.integers(2, 9)
    return sizes.flatmap(
        lambda size: st.tuples(st.just(size), st.lists(st.integers(1, size - 1), min_size=1, max_size=4))
    )


@examples(500)
@given(st.lists(emptiness(), min_size=1, max_size=4), st.sampled_from([Fraction(1, 3), HALF, Fraction(1)]))
def test_it_is_exact_where_it_matters_and_never_too_much(buckets, bound):
    """By counting, over all that may be known of others."""
    told = asked(*buckets, bound=bound)
    sure = [brute._surest_of_nothing(size, empty, column) for size, empty in buckets for column in range(len(empty))]
    shares = [Fraction(count, size) for size, empty in buckets for count in empty]
    for mine, exact, share in zip(told, sure, shares, strict=True):
        assert mine == exact or (mine == share <= exact <= bound)
    assert max(told) == max(sure)


@given(emptiness())
def test_bounds_are_above_what_they_bound(bucket):
    size, empty = bucket
    lengths = np.array([len(empty)])
    bounds = anatomy_nothing._upper_bounds(lengths, np.full(len(empty), size), np.array(empty))
    for column, bound in enumerate(bounds.tolist()):
        assert brute._surest_of_nothing(size, empty, column) <= Fraction(bound) <= 1
    if len(empty) == 2 and sum(empty) <= size:
        for bound, here, there in zip(bounds.tolist(), empty, reversed(empty), strict=True):
            assert bound == pytest.approx(here / (size - there))


def test_two_columns_by_hand():
    """Three of six have nothing here, two there: none of those three is among these two."""
    assert asked((6, [3, 2])) == [Fraction(3, 4), Fraction(2, 3)]
    assert asked((2, [1, 1])) == [1, 1]


def test_profiles_without_columns_are_not_asked():
    """Nobody of the first bucket has anything."""
    assert asked((1, []), (2, [1, 1])) == [1, 1]
    none, cut = profiles((3, []), (4, []))
    assert [found.tolist() for found in nothing_at_most(none, cut, HALF, Limits())] == [[], []]


def test_columns_of_other_rules_are_not_asked():
    seen, cut = profiles((6, [3, 2]))
    cut.rules[0] = 2
    above, below = nothing_at_most(seen, cut, HALF, Limits())
    assert [Fraction(*pair) for pair in zip(above.tolist(), below.tolist(), strict=True)] == [HALF, Fraction(2, 3)]


def test_in_large_buckets_an_upper_bound_is_enough_where_it_decides(monkeypatch):
    large = (30_000, [9_000, 8_000, 7_000])

    def never(*_):
        raise AssertionError

    with monkeypatch.context() as changed:
        changed.setattr(anatomy_nothing, "_nothing", never)
        (most, *_) = asked(large)
        assert 0.3 < most < 0.33
        (most, *_) = asked((30_000, [18_000, 8_000, 7_000]))
        assert 0.6 < most < 0.66
    # 14,950 of 30,000 is less than half, but the bound is more: that takes long integers, and time
    near = (30_000, [14_950, 3_000, 3_000])
    with refused(BudgetExceeded, "time limit"):
        asked(near, limits=Limits(time_limit=1e-3))


def test_what_needs_more_than_a_machine_word_stays_on_its_side_of_the_bound():
    size = 300
    (exact, _, _) = (brute._surest_of_nothing(size, [140, 90, 80], column) for column in range(3))
    assert exact.denominator > 2**62
    for bound in (exact, exact - Fraction(1, 2**80), exact + Fraction(1, 2**80)):
        (told, *_) = asked((size, [140, 90, 80]), bound=bound)
        assert (told > bound) == (exact > bound)
        assert abs(told - exact) < Fraction(1, 2**61)
