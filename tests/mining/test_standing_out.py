"""How much hidden patterns stand out: against brute force, and levels that make it less."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.runs import run_of
from veilset.engines import Local
from veilset.limits import Limits
from veilset.mining import Standing, standing_out, standings, standings_held
from veilset.release import Release
from veilset.report import release_facts
from veilset.report.hiding import ledger, standing_sentences
from veilset.testing import strategies
from veilset.transactions import Transactions
from veilset.utility import side_effects

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")


def by_hand(data: Transactions, pattern: tuple[str, ...]) -> Standing | None:
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    rows = [set(row) for row in data.to_lists()]
    expected = {pair: support[pair[0]] * support[pair[1]] / len(rows) for pair in combinations(data.names, 2)}
    held = {pair: sum(row.issuperset(pair) for row in rows) for pair, would in expected.items() if would >= 5}

    def measures(pair: tuple[str, str], more: int = 0) -> tuple[float, float]:
        """Lift, and standard deviations missing, if *more* transactions had it: one of its items is back in each."""
        would = expected[pair] + more * (max(support[item] for item in pair) / len(rows))
        return (held[pair] + more) / would, (held[pair] + more - would) / sqrt(would)

    def places(pair: tuple[str, str], more: int = 0) -> list[int]:
        others = zip(*(measures(other) for other in held if other != pair), strict=True)
        by = 1e-9 if more else 0  # so much more, or it is rounding
        return [
            1 + sum(other < own - by for other in theirs)
            for own, theirs in zip(measures(pair, more), others, strict=True)
        ]

    mine = [pair for pair in held if {*pair} <= {*pattern}]
    if not mine:
        return None
    if len(held) == 1:
        return Standing(1, 1, 1)
    by_lift, by_shortfall = map(min, zip(*map(places, mine), strict=True))
    if len(pattern) > 2 or min(by_lift, by_shortfall) > 1:
        return Standing(by_lift, by_shortfall, len(held))
    now = held[mine[0]]
    clear = next((count for count in range(now, len(rows)) if min(places(mine[0], count - now)) > 1), len(rows))
    return Standing(by_lift, by_shortfall, len(held), clear)


@given(strategies.transactions(max_public=6), st.data(), st.integers(4, 12))
@examples(200)
def test_ranks_by_brute_force(data, more, times):
    data = Transactions.from_lists(data.to_lists() * times)
    names = st.sampled_from([*data.names, "gone"])
    patterns = more.draw(st.lists(st.lists(names, min_size=1, max_size=3, unique=True).map(tuple), max_size=3))
    expected = [by_hand(data, pattern) for pattern in patterns]
    assert standings(data, patterns, Limits()) == expected
    assert standings_held(Local(pieces=3).read(data), patterns, Limits()) == expected


def test_only_so_many_items_are_compared(monkeypatch):
    monkeypatch.setattr(standing_out, "_MOST_ITEMS", 3)
    rows = [["a", "b", "c", "d"], ["a", "b", "c"], ["a", "b"], ["a", "y", "z"]] * 20
    (found,) = standings(Transactions.from_lists(rows), [("y", "z")], Limits())
    assert found.among == 10, "a, b, c, and the items of the pattern."


def test_one_pair_has_none_to_stand_out_from():
    (found,) = standings(Transactions.from_lists([["a"], ["b"]] * 20), [("a", "b")], Limits())
    assert (found, found.stands_out) == (Standing(1, 1, 1), False)


def test_pairs_that_chance_leaves_with_nothing_are_not_compared():
    """Rare items are hardly ever together: whoever compared them, too, would overlook what is hidden."""
    rare = [[f"rare {number}", f"rare {-number}"] for number in range(1, 20)]
    rows = [["a", "b"]] * 8 + [["a", "c"], ["b", "c"]] * 40 + rare
    (found,) = standings(Transactions.from_lists(rows), [("a", "b")], Limits())
    assert (found.by_lift, found.by_shortfall, found.among, found.stands_out) == (1, 1, 3, True)


@cache
def baskets() -> tuple[Transactions, list[tuple[str, str]]]:
    """83 items, each by chance; and three pairs that are together in about 210 of 5,000 transactions instead of 96."""
    draw = np.random.default_rng(1)
    there = draw.random((5000, 83)) < draw.uniform(0.1, 0.2, 83)
    for first in (0, 2, 4):
        there[:, [first, first + 1]] = draw.random((5000, 2)) < 0.11
        there[draw.random(5000) < 0.03, first : first + 2] = True
    names = np.array([f"item {number}" for number in range(83)])
    rows = [names[row].tolist() for row in there]
    return Transactions.from_lists(rows), [(f"item {at}", f"item {at + 1}") for at in (0, 2, 4)]


def hidden(least: int, seed: int, **options: object) -> Release:
    data, pairs = baskets()
    release = vs.anonymize(data, vs.HiddenPatterns(pairs, min_support=least), random_state=seed, **options)
    assert release.certified
    return release


def told(release: Release) -> list[Standing]:
    return [effect.standing for effect in side_effects(release) if effect.standing]


def test_the_lowest_lift_of_all_pairs_gave_hidden_ones_away_and_no_longer_does():
    """The attack: look at the pairs of lowest lift. Levels used to be drawn from a half to 1, as with this margin."""
    before = [told(hidden(70, seed, margin="1/2")) for seed in range(8)]
    after = [told(hidden(70, seed)) for seed in range(8)]
    assert [one.by_lift for one in before[6]] == [4, 1, 2]
    assert {one.among for one in before[6]} == {83 * 82 // 2}
    assert sum(min(one.by_lift for one in three) == 1 for three in before) >= 5
    assert sum(one.stands_out for three in before for one in three) >= 18
    assert not [one for three in after for one in three if one.stands_out]
    assert min(one.by_lift for three in after for one in three) > 80


def test_the_custodian_reads_which_stand_out_and_which_threshold_helps(snapshot):
    """Independent items would be together in 96 transactions: with fewer than 55, a pair stands out at any level."""
    run = run_of(hidden(55, 1))
    assert [row[-1] for row in ledger(run).hidden] == snapshot(name="rows")
    assert standing_sentences(run) == snapshot(name="sentences")
    assert release_facts(run)["hidden"]["stand_out"] == 3
    needed = [one.clear_from for one in told(run.release)]
    assert min(needed) >= 55
    assert all(one.stands_out for one in told(hidden(min(needed), 1)))
    assert not [one for one in told(hidden(max(needed) * 16 // 15 + 2, 1)) if one.stands_out]


def test_the_custodian_reads_whether_a_level_or_another_pattern_is_the_reason(snapshot, monkeypatch):
    run = run_of(hidden(70, 6, margin="1/2"))
    assert standing_sentences(run) == snapshot(name="level")
    first, *others = run.side_effects
    monkeypatch.setitem(vars(run), "side_effects", [replace(first, level=Fraction(1)), *others])
    assert standing_sentences(run) == snapshot(name="another pattern")
