"""Re-ranking: against the definition, and what is counted as an occurrence."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interests import RESULTS, thesis_profile
from veilset import InvalidArgument
from veilset.search import Result, rerank
from veilset.search.ranking import SHORT_ALPHA, alpha_for
from veilset.testing import oracles_search


def found(*texts):
    return [Result(text, "", f"https://{rank}.example", rank) for rank, text in enumerate(texts, 1)]


@examples(300)
@given(
    st.lists(st.lists(st.sampled_from(["tea", "jazz", "chess"]), max_size=4), max_size=8),
    st.fractions(0, 1, max_denominator=10),
)
def test_as_defined(texts, alpha):
    weights = {"tea": Fraction(1, 10), "jazz/chess": Fraction(3, 10)}
    ranked = rerank(
        found(*map(" ".join, texts)), {term: float(weight) for term, weight in weights.items()}, alpha=alpha
    )
    scores = [
        weights["tea"] * row.count("tea") + weights["jazz/chess"] * (row.count("jazz") + row.count("chess"))
        for row in texts
    ]
    assert [one.result.rank - 1 for one in ranked] == oracles_search.order(scores, alpha)
    assert [one.position for one in ranked] == list(range(1, len(texts) + 1))


def test_nothing_exposed_leaves_the_order_alone():
    for alpha in (0, "0.6", 1):
        assert [one.result.rank for one in rerank(RESULTS, {}, alpha=alpha)] == [1, 2, 3, 4, 5, 6]


def test_alpha_zero_leaves_the_order_alone():
    assert [one.result.rank for one in rerank(RESULTS, {"soccer": 9.0}, alpha=0)] == [1, 2, 3, 4, 5, 6]


def test_inflected_words_and_hosts_and_phrases():
    results = found(
        "Searching and searches", "Read nytimes.com or www.nytimes.com", "The neural networks; a neural pathway", "x"
    )
    weights = {"search": 1.0, "nytimes.com": 1.0, "neural network": 1.0}
    reasons = {one.result.rank: one.reasons for one in rerank(results, weights, languages=["en"])}
    assert reasons == {1: {"search": 2}, 2: {"nytimes.com": 2}, 3: {"neural network": 1}, 4: {}}


def test_weights_count_as_they_are_written():
    """Three times 0.1 is 0.3, though not in floating point."""
    for kind in (float, Decimal):
        tied = rerank(found("a1", "a3 a3 a3"), {"a1": kind("0.3"), "a3": kind("0.1")})
        assert [one.up_rank for one in tied] == [Fraction(3, 2)] * 2


def test_pages_count_if_all_are_there():
    with_page = [replace(result, page="soccer" if result.rank == 6 else "") for result in RESULTS]
    assert rerank(with_page, {"soccer": 1.0}, alpha=1)[0].result.rank == 6
    assert rerank([*with_page[:5], RESULTS[5]], {"soccer": 1.0}, alpha=1)[0].result.rank == 4


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), True, "much"])
def test_strange_weights(weight):
    with refused(InvalidArgument, repr(weight)):
        rerank(RESULTS, {"soccer": weight})


def test_interest_prefers_what_a_person_is_most_interested_in():
    """P · idf · tf over the length: 0.5 · log(3 / 1.5) · 1 / 1 for research, 0.2 · log(3 / 1.5) · 2 / 2 for soccer."""
    results = found("soccer soccer", "research")
    exposure = thesis_profile().expose(min_detail=0)
    assert rerank(results, exposure, alpha=1)[0].result.title == "soccer soccer"
    by_interest = rerank(results, exposure, alpha=1, scoring="interest")
    assert [(one.result.title, one.up_score) for one in by_interest] == [
        ("research", pytest.approx(0.5 * math.log(2))),
        ("soccer soccer", pytest.approx(0.2 * math.log(2))),
    ]
    with refused(InvalidArgument, "'best'", "'thesis'"):
        rerank(results, exposure, scoring="best")


def test_automatic_weights():
    assert alpha_for("jaguar", "auto") == alpha_for("the speed of a jaguar", "auto", ["en"]) == Fraction(SHORT_ALPHA)
    assert alpha_for("speed of the jaguar compared with a lion", "auto") == 0
    with refused(InvalidArgument, "alpha", "much"):
        alpha_for("jaguar", "much")
