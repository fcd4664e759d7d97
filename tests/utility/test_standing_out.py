"""How much hidden patterns stand out: against brute force, and levels that make it less."""

import random
from fractions import Fraction
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.runs import run_of
from veilset.limits import Limits
from veilset.mining import pairs
from veilset.report.hiding import ledger, standing_sentences
from veilset.testing import strategies
from veilset.transactions import Transactions
from veilset.utility import Standing, side_effects, standing_out
from veilset.utility.standing_out import standings

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")


def by_hand(data: Transactions, pattern: tuple[str, ...], listed: set[str], least: int) -> Standing | None:
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    compared = [item for item in data.names if support[item] >= least or item in listed]
    rows = [set(row) for row in data.to_lists()]
    lift, short, expected = {}, {}, {}
    for pair in combinations(compared, 2):
        counted = sum(row.issuperset(pair) for row in rows)
        expected[pair] = support[pair[0]] * support[pair[1]] / len(rows)
        lift[pair] = counted / expected[pair]
        short[pair] = (counted - expected[pair]) / sqrt(expected[pair])
    mine = [pair for pair in lift if {*pair} <= {*pattern}]
    if not mine:
        return None
    places = [1 + min(sum(other < of[pair] for other in of.values()) for pair in mine) for of in (lift, short)]
    worst = min(mine, key=lambda pair: sum(other < short[pair] for other in short.values()))
    return Standing(*places, len(lift), expected[worst] >= least)


@given(strategies.transactions(max_public=6), st.data(), st.integers(1, 4))
@examples(200)
def test_ranks_by_brute_force(data, more, least):
    names = st.sampled_from([*data.names, "gone"])
    patterns = more.draw(st.lists(st.lists(names, min_size=1, max_size=3, unique=True).map(tuple), max_size=3))
    listed = {item for pattern in patterns for item in pattern}
    expected = [by_hand(data, pattern, listed, least) for pattern in patterns]
    assert standings(data, patterns, least, Limits()) == expected


def test_only_so_many_items_are_compared(monkeypatch):
    monkeypatch.setattr(standing_out, "_MOST_ITEMS", 3)
    rows = [["a", "b", "c", "d"], ["a", "b", "c"], ["a", "b"], ["a", "y", "z"]]
    (found,) = standings(Transactions.from_lists(rows), [("y", "z")], 1, Limits())
    assert found.among == 10, "a, b, c, and the items of the pattern."


def shop() -> tuple[Transactions, list[tuple[str, ...]]]:
    """Random baskets, and 40 of their frequent pairs."""
    data = vs.generate.pos_like(
        transactions=20_000, average_length=6, maximum_length=60, items=500, random_state=1, threads=1
    )
    frequent = [tuple(items) for items, _ in pairs(data, min_support=LEAST)]
    return data, random.Random(1).sample(sorted(frequent), 40)


LEAST = 100


def ranks(data: Transactions, hidden: list[tuple[str, ...]], **options: object) -> list[Standing]:
    release = vs.anonymize(data, vs.HiddenPatterns(hidden, min_support=LEAST), random_state=1, **options)
    assert release.certified
    assert all(effect.after < LEAST for effect in side_effects(release) if effect.kind == "hidden")
    return [effect.standing for effect in side_effects(release) if effect.standing]


def test_patterns_stand_out_less_than_with_levels_from_one_range():
    """The attack: of all pairs of frequent items, look at those that fall furthest short of independence."""
    data, hidden = shop()
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    before, after = ranks(data, hidden, margin="1/2"), ranks(data, hidden)
    avoidable = [Fraction(support[one] * support[other], len(data)) < LEAST for one, other in hidden]
    assert sum(standing.stands_out for standing in before) >= 6
    assert sum(standing.stands_out for standing in after) <= 3
    assert sum(avoidable) == 34
    assert not [standing for standing, could in zip(after, avoidable, strict=True) if could and standing.stands_out]
    assert sorted(one.by_shortfall for one in after)[20] > sorted(one.by_shortfall for one in before)[20]
    assert sorted(one.by_lift for one in after)[20] > sorted(one.by_lift for one in before)[20]


def test_the_custodian_reads_which_stand_out_and_why_nothing_helps(snapshot):
    """Nine independent items, each of half of the people: two of them are together in a quarter, above min_support."""
    rows = [[f"item {bit}" for bit in range(9) if n >> bit & 1] for n in range(512)]
    promise = vs.HiddenPatterns([["item 0", "item 1"]], min_support=64)
    release = vs.anonymize(Transactions.from_lists(rows), promise, random_state=1)
    run = run_of(release)
    (row,) = ledger(run).hidden
    assert row[-1] == "stands out: rank 1 of 36"
    assert standing_sentences(run) == snapshot
