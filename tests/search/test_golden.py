"""The thesis' example to the digit (Figures 30 to 36, with the corrected ratio), and the rules that it leaves open."""

from fractions import Fraction

import pytest

from tests.support.interests import RESULTS, thesis_profile
from veilset.search import Profile, rerank
from veilset.search.precision import average_precision
from veilset.testing import oracles_search


def shape(node):
    """Name, support and others of a node, and of all below it."""
    return (node.name, str(node.support), str(node.others), [shape(child) for child in node.children])


def order(exposure, alpha="0.6"):
    return [f"r{one.result.rank}" for one in rerank(RESULTS, exposure, alpha=alpha)]


def by_engine(exposure, of, alpha="0.6"):
    return [
        round(float(of(one)), 4)
        for one in sorted(rerank(RESULTS, exposure, alpha=alpha), key=lambda one: one.result.rank)
    ]


def test_profile():
    research = ("research", "5", "0", [("personalized/search", "3", "0", []), ("AI", "2", "0", [])])
    sports = ("sports", "7/2", "3/2", [("soccer", "2", "0", [])])
    assert shape(thesis_profile().root) == ("", "10", "0", [research, sports, ("sex", "3/2", "0", [])])


def test_documents_behind_a_term():
    profile = thesis_profile()
    assert profile.because("search") == profile.because("personalized/search") == [5, 7, 9]
    assert (profile.because("personalized"), profile.sharing("personalized")) == ([5, 9], [7])
    assert (profile.because("research"), profile.sharing("research")) == ([4, 5, 8, 9], [7])
    assert profile.because("weather") == []


@pytest.mark.parametrize(
    ("min_detail", "percent", "terms"),
    [
        ("0", 100.0, ["research", "sports", "personalized/search", "AI", "soccer", "sex"]),
        ("0.15", 100.0, ["research", "sports", "personalized/search", "AI", "soccer", "sex"]),
        ("0.2", 100.0, ["research", "sports", "personalized/search", "AI", "soccer"]),
        ("0.3", 84.82, ["research", "sports", "personalized/search"]),
        ("0.35", 63.44, ["research", "sports"]),
        ("0.5", 44.03, ["research"]),
        ("0.51", 0.0, []),
    ],
)
def test_exposure(min_detail, percent, terms):
    exposure = thesis_profile().expose(min_detail=min_detail)
    assert (round(100 * exposure.ratio, 2), list(exposure.terms)) == (percent, terms)


def test_entropies_and_weights():
    profile = thesis_profile()
    assert round(profile.expose(min_detail=0).entropy, 4) == 0.6836
    exposure = profile.expose(min_detail="0.3")
    assert round(exposure.entropy, 4) == 0.5798
    assert [(term, round(weight, 3)) for term, weight in exposure.pairs] == [
        ("research", 0.301),
        ("sports", 0.456),
        ("personalized/search", 0.523),
    ]
    assert {term: str(weight) for term, weight in exposure.rounded().items()} == {
        "research": "0.3",
        "sports": "0.5",
        "personalized/search": "0.5",
    }


def test_dial():
    """Of settings with the same ratio the dial takes the largest min_detail: 0.2, not 0."""
    profile = thesis_profile()
    settings = profile.expose(terms=0).settings()
    assert [round(100 * one.ratio, 2) for one in settings] == [0, 44.03, 63.44, 84.82, 100, 100]
    assert [one.terms for one in settings] == [0, 1, 2, 3, 5, 6]
    assert profile.expose(ratio=1).min_detail == Fraction(1, 5)
    assert profile.expose(ratio="84.8%").min_detail == profile.expose(ratio="0.99").min_detail == Fraction(3, 10)
    assert profile.expose(terms=4).min_detail == Fraction(3, 10)
    assert profile.expose(terms=100).min_detail == Fraction(3, 20)
    assert profile.expose(ratio=0).terms == profile.expose(terms=0).terms == {}


def test_ranking():
    exposure = thesis_profile().expose(min_detail="0.3")
    assert by_engine(exposure, lambda one: one.up_score) == [1.0458, 1.4260, 0.4559, 0, 1.9576, 0]
    assert by_engine(exposure, lambda one: one.up_rank) == [3, 2, 4, 5.5, 1, 5.5]
    assert by_engine(exposure, lambda one: one.pp_rank) == [2.2, 2.0, 3.6, 4.9, 2.6, 5.7]
    assert order(exposure) == ["r2", "r1", "r5", "r3", "r4", "r6"]
    assert rerank(RESULTS, exposure)[0].reasons == {"research": 3, "search": 1}


def test_ties_go_to_the_engine():
    exposure = thesis_profile().expose(min_detail="0.3")
    assert by_engine(exposure, lambda one: one.pp_rank, "0.5")[:2] == [2.0, 2.0]
    assert order(exposure, "0.5")[0] == "r1"


def test_everything_and_nothing():
    assert order(thesis_profile().expose(min_detail=0)) == ["r4", "r2", "r1", "r5", "r3", "r6"]
    assert order(thesis_profile().expose(min_detail="0.51")) == ["r1", "r2", "r3", "r4", "r5", "r6"]


def test_hidden_branches():
    profile = thesis_profile()
    without_research = profile.expose(min_detail="0.3", hidden=["research"])
    assert (round(100 * without_research.ratio, 2), list(without_research.terms)) == (41.13, ["sports"])
    assert order(without_research) == ["r3", "r5", "r1", "r2", "r4", "r6"]
    without_sports = profile.expose(min_detail="0.3", hidden=["sports"])
    assert round(100 * without_sports.ratio, 2) == 65.41
    assert by_engine(without_sports, lambda one: one.up_rank)[::4] == [2.5, 2.5]


def test_the_ratio_is_blind_to_names():
    exposure = thesis_profile().expose(min_detail="0.15", hidden=["sex"])
    assert (exposure.ratio, "sex" in exposure.terms) == (1.0, False)


def test_average_precision():
    """r2 and r5 are relevant, r9 was not returned: judgements are restricted to what was."""
    ranked = rerank(RESULTS, thesis_profile().expose(min_detail="0.3"))
    positions = [one.position for one in ranked if one.result.rank in {2, 5, 9}]
    assert round(average_precision(positions), 4) == 0.8333
    assert average_precision(positions) == oracles_search.average_precision(positions)


def test_a_merged_label_has_the_documents_of_all_its_terms():
    profile = Profile.build([["d"], [], ["a", "b", "d"], ["a", "b", "d"], ["b", "d"]], min_support=2)
    assert shape(profile.root) == ("", "5", "1", [("b/d", "4", "2", [("a", "2", "0", [])])])


def test_the_first_match_decides():
    """Where the definition of S(t) has all matches: there a and b would have 2.5 each."""
    profile = Profile.build([["a", "d"], ["b", "d"], ["a"], ["b"], ["a", "b", "d"]], min_support=2)
    assert [shape(child)[:2] for child in profile.root.children] == [("a", "3"), ("b", "2")]
