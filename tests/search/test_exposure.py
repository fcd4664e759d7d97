"""What is exposed: against the definition, and what must hold at every position of the dial."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interests import documents, thesis_profile
from veilset import InvalidArgument
from veilset.search import Profile
from veilset.testing import oracles_search

DETAILS = st.fractions(0, 1, max_denominator=24)
HIDDEN = st.sets(st.sampled_from("abcdefg"), max_size=2)


@examples(1000)
@given(documents(), st.integers(1, 3), DETAILS, HIDDEN)
def test_as_defined(rows, min_support, min_detail, hidden):
    profile = Profile.build(rows, min_support=min_support)
    exposure = profile.expose(min_detail=min_detail, hidden=sorted(hidden))
    tree = oracles_search.profile(rows, min_support, profile.delta)
    terms, ratio = oracles_search.exposed(tree, min_detail, hidden)
    assert exposure.terms == pytest.approx(terms)
    assert exposure.ratio == pytest.approx(ratio)


@examples(500)
@given(documents(), st.integers(1, 3), HIDDEN)
def test_at_every_position_of_the_dial(rows, min_support, hidden):
    """The exposed tree is connected; ratio and number of terms grow from 0, and the ratio to 1 at most."""
    profile = Profile.build(rows, min_support=min_support)
    settings = profile.expose(terms=0, hidden=hidden).settings()
    assert settings[0][1:] == (0, 0)
    for setting, next_one in pairwise(settings):
        assert setting.min_detail > next_one.min_detail
        assert setting.ratio <= next_one.ratio
        assert setting.terms <= next_one.terms
    for setting in settings:
        exposure = profile.expose(min_detail=setting.min_detail, hidden=hidden)
        assert 0 <= exposure.ratio <= 1
        assert (exposure.ratio, len(exposure.terms)) == (setting.ratio, setting.terms)
        paths = {node.path for node in exposure.nodes}
        assert all(len(path) == 1 or path[:-1] in paths for path in paths)
        assert not any(set(path) & hidden for path in paths)
    if not hidden:
        assert profile.expose(min_detail=0).ratio == (1 if settings[1:] and settings[-1].ratio else 0)


@examples(200)
@given(documents(), st.integers(1, 3), st.fractions(0, 1, max_denominator=50), st.integers(0, 8))
def test_dials_expose_no_more_than_asked_and_as_little_as_does_it(rows, min_support, ratio, terms):
    profile = Profile.build(rows, min_support=min_support)
    by_terms, by_ratio = profile.expose(terms=terms), profile.expose(ratio=ratio)
    settings = by_terms.settings()
    assert len(by_terms.terms) == max(one.terms for one in settings if one.terms <= terms)
    assert by_ratio.ratio <= float(ratio) + 0.0005
    for exposure, of in ((by_terms, 2), (by_ratio, 1)):
        same = [
            one.min_detail
            for one in settings
            if one[of] == next(s[of] for s in settings if s[0] == exposure.min_detail)
        ]
        assert exposure.min_detail == max(same)


def test_positions_come_back_exactly():
    """Also those with large denominators, and the one that exposes nothing although everything has one term."""
    rows = [["a", *(term for term in "bcdefghijkl" if term != absent)] for absent in "bcdefghijkl"] * 9
    profile = Profile.build(rows, min_support=1, delta="0.95")
    for setting in profile.expose(terms=0).settings():
        assert len(profile.expose(min_detail=setting.min_detail).terms) == setting.terms
    assert profile.expose(min_detail=1).terms == {"a": 0}


def test_a_word_of_several_interests_is_sent_once_and_hidden_everywhere():
    rows = [["tea", "shop"]] * 4 + [["tea"]] * 6 + [["jazz", "shop"]] * 6 + [["jazz"]] * 6 + [["chess", "shop"]] * 5
    profile = Profile.build(rows + [["chess"]] * 8, min_support=2, delta="0.9")
    places = profile.find("shop")
    assert len(places) > 1
    exposure = profile.expose(min_detail=0)
    largest = max(node.probability for node in places)
    assert [term for term in exposure.terms if "shop" in term] == ["shop"]
    assert exposure.terms["shop"] == pytest.approx(-math.log10(largest))
    assert not any("shop" in term for term in profile.expose(min_detail=0, hidden=["shop"]).terms)


def test_names_that_hide():
    """A label, a word of one, or another word with its stem; a name that the profile does not have is told."""
    texts = ["search libraries"] * 5 + ["searching jazz"] * 5
    profile = Profile.build(texts, min_support=2, languages=["en"])
    for name in ("searches", "Search", "search/unheard"):
        assert not any("search" in term for term in profile.expose(min_detail=0, hidden=[name]).terms)
    exposure = profile.expose(min_detail=0, hidden=["search", "weather"])
    assert (exposure.hidden, exposure.absent) == (("search", "weather"), ("weather",))


def test_one_dial_at_a_time():
    profile = thesis_profile()
    for dials in ({}, {"ratio": 1, "terms": 3}, {"ratio": 1, "min_detail": 0}):
        with refused(InvalidArgument, "min_detail", "ratio", "terms"):
            profile.expose(**dials)
    with refused(InvalidArgument, "terms", "-1"):
        profile.expose(terms=-1)
    with refused(InvalidArgument, "ratio", "2"):
        profile.expose(ratio=2)
    with refused(InvalidArgument, "min_detail", "3"):
        profile.expose(min_detail=Fraction(3))


@examples(300)
@given(documents(), st.integers(1, 3), st.sampled_from(["a", "b c", "z", ""]), HIDDEN)
def test_a_query_takes_only_related_terms_along(rows, min_support, query, hidden):
    """One of its words, or a term that is twice as frequent with one of them; and never more than without a query."""
    profile = Profile.build(rows, min_support=min_support)
    whole = profile.expose(min_detail=0, hidden=hidden)
    exposure = profile.expose(min_detail=0, hidden=hidden, query=query)
    assert set(exposure.nodes) <= set(whole.nodes)
    assert 0 <= exposure.ratio <= whole.ratio + 1e-12
    for node in exposure.nodes:
        assert any(_related(term, word, rows) for term in node.stems for word in query.split())
    assert exposure.settings()[-1].terms == len(exposure.terms)
    assert [node for node in whole.nodes if set(node.stems) & set(query.split())] == [
        node for node in exposure.nodes if set(node.stems) & set(query.split())
    ]


def _related(term, word, rows):
    with_word = [row for row in rows if word in row]
    return term == word or (
        sum(term in row for row in with_word) * len(rows) >= 2 * sum(term in row for row in rows) * len(with_word) > 0
    )


def test_a_query_of_unknown_words_takes_nothing_along():
    exposure = thesis_profile().expose(ratio=1, query="weather")
    assert (exposure.terms, exposure.ratio) == ({}, 0)
    assert list(thesis_profile().expose(min_detail=0, query="Researching Soccer").terms) == [
        "research",
        "sports",
        "personalized/search",
        "AI",
        "soccer",
    ]
