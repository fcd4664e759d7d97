"""Levels of hidden patterns: no lower than independent items would have it, if min_support allows that."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from veilset import mining
from veilset.anonymize.hiding.counts import InMemory
from veilset.anonymize.hiding.levels import independent_supports, levels_for, margins_for
from veilset.limits import Limits
from veilset.mining import standings
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
    assert independent_supports(InMemory(data, Limits()), [pattern]) == [expected]


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
    drawn = [levels_for(promise, margins_for(InMemory(data, Limits()), promise), seed)[0] for seed in range(300)]
    assert lowest < min(drawn) < max(drawn) <= 1
    assert min(drawn) < lowest + (1 - lowest) / 20, "All of the range is used."


def test_a_margin_that_is_given_holds_for_all_as_in_earlier_recipes():
    data, promise = Transactions.from_lists(ROWS), vs.HiddenPatterns([["ale", "bun"]], min_support=5)
    drawn = [levels_for(promise, [Fraction(1, 2)], seed)[0] for seed in range(300)]
    assert Fraction(1, 2) < min(drawn) < Fraction(53, 100)
    release = vs.anonymize(data, promise, margin="1/2", random_state=7)
    assert release.sanitization.levels == (drawn[7],)
    assert release.options["margin"] == "1/2"


@pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")
@pytest.mark.parametrize("seed", [1, 4])
def test_no_pair_stands_out_that_another_level_or_another_victim_would_hide(seed):
    """In these baskets nearly all items attract each other, so that independence alone is conspicuous.

    When levels were drawn once, three pairs of the first list and five of the other stood out for no need.
    """
    data = vs.generate.pos_like(
        transactions=20_000, average_length=6, maximum_length=60, items=500, random_state=1, threads=1
    )
    frequent = sorted(pair for pair, _ in mining.pairs(data, min_support=100))
    promise = vs.HiddenPatterns(random.Random(seed).sample(frequent, 40), min_support=100)
    release = vs.anonymize(data, promise, random_state=seed)
    assert release.certified
    found = [one for one in standings(release.custodian_data, promise.itemsets, Limits()) if one and one.stands_out]
    assert 0 < len(found) < 12
    assert min(one.clear_from for one in found) >= 100, "Only a higher min_support could help these."
    assert len(set(release.sanitization.levels)) > 35, "Levels still differ."


def test_a_single_item_has_nothing_to_be_independent_of():
    data = Transactions.from_lists([["ale"]] * 10)
    promise = vs.HiddenPatterns([["ale"]], 5)
    drawn = [levels_for(promise, margins_for(InMemory(data, Limits()), promise), seed)[0] for seed in range(100)]
    assert Fraction(1, 2) < min(drawn) < Fraction(6, 10)
