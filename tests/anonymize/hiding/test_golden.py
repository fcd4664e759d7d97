"""The example of the pattern hiding paper (Figures 4 and 5), on its literal versions and on the methods."""

from collections.abc import Sequence
from fractions import Fraction

import pytest

import veilset as vs
from tests.support import golden
from tests.support.hiding_questions import by_name, run
from tests.support.hiding_questions import sets as rows_of
from tests.support.hiding_twins import (
    Matrix,
    Row,
    accuracy,
    hidden_first,
    matrix,
    maximal_keep,
    non_hidden_first,
    overlap,
    product,
    wrongness,
)
from veilset.transactions import Transactions

ITEMS = list("12345")
HIDDEN, KEEP = golden.FIGURE_4_HIDDEN, golden.FIGURE_4_KEEP
LEAST = 2  # 30% of six


def sets(rows: Sequence[str]) -> list[Row]:
    return list(map(frozenset, rows))


ROWS = sets(golden.FIGURE_4)


def entries(victims: Sequence[str], kept: Sequence[str] = ()) -> Matrix:
    """A matrix as the figures show it, from the places of its -1 and 1."""
    diagonal = [i + i for i in ITEMS]
    return dict.fromkeys(map(tuple, victims), -1) | dict.fromkeys(map(tuple, [*kept, *diagonal]), 1)


MATRICES = {
    "hidden-first": entries(golden.HF_VICTIMS),
    "sparing": entries(golden.NHF_VICTIMS),
    "non-hidden-first": entries(golden.NHF_VICTIMS, golden.NHF_KEPT),
}


def test_the_twins_give_the_figures():
    assert matrix(ITEMS, HIDDEN, KEEP, "hf") == MATRICES["hidden-first"]
    assert matrix(ITEMS, HIDDEN, KEEP, "hf", spare_shared_pairs=True) == MATRICES["sparing"]
    assert matrix(ITEMS, HIDDEN, KEEP, "nhf") == MATRICES["non-hidden-first"]
    assert hidden_first(ROWS, ITEMS, HIDDEN, KEEP) == sets(golden.HF_RELEASE)
    assert hidden_first(ROWS, ITEMS, HIDDEN, KEEP, spare=True) == sets(golden.SPARING_RELEASE)
    assert non_hidden_first(ROWS, ITEMS, HIDDEN, KEEP) == sets(golden.NHF_RELEASE)


def test_restoring_all_is_nhf_and_nothing_is_sparing_hf():
    """Asked about 1 in t5, 2 and 4 in t6; in t4 nothing endangers 1, although it is a victim elsewhere."""
    s, asked = matrix(ITEMS, HIDDEN, KEEP, "nhf"), []

    def never(t: int, item: str) -> bool:
        asked.append((t + 1, item))
        return False

    assert product(ROWS, s, lambda t, j: True) == sets(golden.NHF_RELEASE)
    assert product(ROWS, s, never) == sets(golden.SPARING_RELEASE)
    assert sorted(asked) == [(5, "1"), (6, "2"), (6, "4")]


def test_metrics_of_the_example():
    assert overlap(HIDDEN, KEEP) == Fraction(4, 5)
    for release, wrong in ((golden.HF_RELEASE, 1), (golden.NHF_RELEASE, 0), (golden.SPARING_RELEASE, 1)):
        assert accuracy(sets(release), HIDDEN, KEEP, LEAST) == 1
        assert wrongness(sets(release), KEEP, LEAST) == wrong
    assert accuracy(ROWS, HIDDEN, KEEP, LEAST) == 0


def test_a_part_that_is_found_counts_unless_a_kept_pattern_has_it():
    """15 is left in two rows and part of 135; without that pattern, 125 would count as found by it."""
    left = sets(golden.NHF_RELEASE)
    assert accuracy(left, HIDDEN, ["24", "35"], LEAST) == Fraction(1, 2)
    assert accuracy(left, HIDDEN, ["24", "35"], 3) == 1, "5 alone is found, and part of 35."
    assert accuracy(left, HIDDEN, ["24"], 3) == 0


def test_kept_patterns_where_none_are_given():
    """24 and 135 as in the figures, and two parts of 125, which is frequent but hidden."""
    assert maximal_keep(ROWS, HIDDEN, LEAST) == set(sets(["12", "24", "25", "135"]))


@pytest.mark.parametrize(("order", "victim"), [("12", "21"), ("21", "12")])
def test_equal_numbers_of_kept_patterns_go_by_the_order(order, victim):
    assert matrix(order, ["12"], [], "hf") == {("1", "1"): 1, ("2", "2"): 1, tuple(victim): -1}


def test_the_victim_is_in_fewer_kept_patterns_which_count_once():
    once = matrix("123", ["12"], ["13", "31", "23"], "nhf")
    assert once["2", "1"] == -1, "One each: 13 and 31 are one pattern."
    assert ("1", "2") not in once
    assert matrix("123", ["12"], ["13", "1"], "nhf")["1", "2"] == -1


DATA = Transactions.from_lists(map(list, golden.FIGURE_4))
PROMISE = vs.HiddenPatterns(map(list, HIDDEN), min_support=golden.FIGURE_4_SUPPORT)
METHODS = [
    ("hidden-first", {}, "hidden-first", golden.HF_RELEASE),
    ("hidden-first", {"spare_shared_pairs": True}, "sparing", golden.SPARING_RELEASE),
    ("non-hidden-first", {}, "non-hidden-first", golden.NHF_RELEASE),
    ("hpcme", {"p_r": 1}, "non-hidden-first", golden.NHF_RELEASE),
    ("hpcme", {"p_r": 0}, "non-hidden-first", golden.SPARING_RELEASE),
]


@pytest.mark.parametrize(("method", "options", "matrix_of", "released"), METHODS)
def test_the_methods_give_the_figures(method, options, matrix_of, released):
    for keep in (list(map(list, KEEP)), list(map(list, reversed(KEEP)))):
        release = run(DATA, PROMISE, method, keep_patterns=keep, certify=False, **options)
        assert by_name(release.matrix, DATA.names) == MATRICES[matrix_of]
        assert rows_of(release.custodian_data) == sets(released)


def test_chance_lies_between_the_figures():
    """The three occurrences that are asked about stay or go each by itself: all eight releases happen."""
    asked = {"keep_patterns": list(map(list, KEEP)), "certify": False, "p_r": "1/2"}
    releases = {tuple(rows_of(run(DATA, PROMISE, "hpcme", random_state=s, **asked).custodian_data)) for s in range(60)}
    assert len(releases) == 8
    for release in releases:
        for few, some, most in zip(sets(golden.SPARING_RELEASE), release, sets(golden.NHF_RELEASE), strict=True):
            assert few <= some <= most


@pytest.mark.parametrize("method", ["hpcme", "hidden-first", "non-hidden-first"])
def test_certified_hiding_loses_two_occurrences_of_the_figures(method):
    """45 and 125 are in two rows each, and must be in one: two occurrences, where the figures lose up to nine."""
    release = run(DATA, PROMISE, method, margin=0, keep_patterns=list(map(list, KEEP)))
    assert [sum(set(pattern) <= row for row in rows_of(release.custodian_data)) for pattern in HIDDEN] == [1, 1]
    assert len(release.custodian_data.items) == len(DATA.items) - 2
    assert wrongness(rows_of(release.custodian_data), KEEP, LEAST) == 0
