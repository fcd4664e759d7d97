"""Levels of hidden patterns: no lower than independent items would have it, if min_support allows that."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from veilset.anonymize.hiding.levels import independent_supports, levels_for
from veilset.limits import Limits
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets
from veilset.transactions import Transactions


@given(strategies.transactions(max_public=6).filter(lambda data: len(data.names) > 1), st.data())
@examples(100)
def test_what_independence_would_give_by_brute_force(data, more):
    size = st.integers(2, min(4, len(data.names)))
    pattern = tuple(more.draw(st.permutations(data.names))[: more.draw(size)])
    rows = as_sets(data)
    expected = max(
        Fraction(oracles.support(rows, {one}) * oracles.support(rows, {*pattern} - {one}), len(rows)) for one in pattern
    )
    assert independent_supports(data, [pattern], Limits()) == [expected]


ROWS = [["ale", "bun"]] * 100 + [["ale"], ["bun"]] * 20 + [[]] * 860
"""Independent items would be together in 120 * 120 / 1000 = 14.4 of these transactions."""


@pytest.mark.parametrize(
    ("least", "lowest"),
    [
        (20, Fraction(72, 100)),
        (28, Fraction(144, 280)),
        (50, Fraction(1, 2)),
        (15, Fraction(15, 16)),
        (5, Fraction(15, 16)),
    ],
)
def test_a_level_is_drawn_from_independence_to_min_support(least, lowest):
    """From a half at the lowest; from 15/16 if independence is near min_support, or above it."""
    data, promise = Transactions.from_lists(ROWS), vs.HiddenPatterns([["ale", "bun"]], min_support=least)
    drawn = [levels_for(data, promise, None, seed, Limits())[0] for seed in range(300)]
    assert lowest < min(drawn) < max(drawn) <= 1
    assert min(drawn) < lowest + (1 - lowest) / 20, "All of the range is used."


def test_a_margin_that_is_given_holds_for_all_as_in_earlier_recipes():
    data, promise = Transactions.from_lists(ROWS), vs.HiddenPatterns([["ale", "bun"]], min_support=5)
    drawn = [levels_for(data, promise, Fraction(1, 2), seed, Limits())[0] for seed in range(300)]
    assert Fraction(1, 2) < min(drawn) < Fraction(53, 100)
    release = vs.anonymize(data, promise, margin="1/2", random_state=7)
    assert release.sanitization.levels == (drawn[7],)
    assert release.options["margin"] == "1/2"


def test_a_single_item_has_nothing_to_be_independent_of():
    data = Transactions.from_lists([["ale"]] * 10)
    drawn = [levels_for(data, vs.HiddenPatterns([["ale"]], 5), None, seed, Limits())[0] for seed in range(100)]
    assert Fraction(1, 2) < min(drawn) < Fraction(6, 10)
