"""Quality against exposure by judgements: the same as ranking each query at each position."""

from collections.abc import Mapping

import pytest

from tests.support.errors import refused
from tests.support.interests import RESULTS, thesis_profile
from veilset import InvalidArgument, UnreadableInput
from veilset.search import rerank
from veilset.search.evaluation import evaluate
from veilset.search.precision import average_precision

SHUFFLED = [4, 0, 5, 2, 1, 3]


def judgement(query, relevant) -> Mapping[str, object]:
    """Judged in another order than the engine's; *relevant* are ranks."""
    results = [RESULTS[at] for at in SHUFFLED]
    return {
        "query": query,
        "results": [[one.title, one.snippet, one.address, one.rank] for one in results],
        "relevant": [at for at, one in enumerate(results) if one.rank in relevant],
    }


ENTRIES = [judgement("a", {6}), judgement("a", {2, 5}), judgement("b", {4}), judgement("c", set())]


@pytest.mark.parametrize("hidden", [(), ("research",)])
@pytest.mark.parametrize(("alpha", "scoring"), [("0.6", "thesis"), ("1", "interest"), (0, "thesis")])
def test_every_point_is_what_ranking_would_give(alpha, scoring, hidden):
    profile = thesis_profile()
    found = evaluate(ENTRIES, profile, alpha=alpha, scoring=scoring, hidden=hidden)
    assert (found.queries, found.dropped) == (2, 1)
    assert found.engine.value == pytest.approx((average_precision([2, 5]) + average_precision([4])) / 2)
    for point in found.points:
        exposure = profile.expose(min_detail=point.setting.min_detail, hidden=hidden)
        ranked = rerank(RESULTS, exposure, alpha=alpha, scoring=scoring)
        expected = [
            average_precision([one.position for one in ranked if one.result.rank in ranks]) for ranks in ({2, 5}, {4})
        ]
        assert point.precision.value == pytest.approx(sum(expected) / 2)
        assert point.gain.value == pytest.approx(point.precision.value - found.engine.value, abs=2e-6)
    assert found.points[0].gain.value == 0
    ratios = [point.setting.ratio for point in found.points]
    assert ratios == sorted(ratios)


def test_thesis_values():
    """r2 and r5 at positions 1 and 3: the golden .8333."""
    found = evaluate(ENTRIES[1:2], thesis_profile(), alpha="0.6", scoring="thesis")
    at = next(point for point in found.points if point.setting.terms == 3)
    assert round(at.precision.value, 4) == 0.8333
    assert found.best.precision.value == max(point.precision.value for point in found.points)
    told = found.to_json()
    assert told["points"][0]["terms"] == 0
    assert told["queries"] == 1


def test_nothing_to_go_by():
    assert evaluate([], thesis_profile(), alpha="0.6") is None
    assert evaluate(ENTRIES[3:], thesis_profile(), alpha="0.6") is None


@pytest.mark.parametrize(
    "entry", [{}, {"query": "a", "results": [["x"]], "relevant": []}, {"query": "a", "results": 3, "relevant": []}]
)
def test_judgements_that_cannot_be_read(entry):
    with refused(UnreadableInput, "judgement"):
        evaluate([entry], thesis_profile(), alpha="0.6")
    with refused(InvalidArgument, "alpha", "3"):
        evaluate(ENTRIES, thesis_profile(), alpha=3)


def test_automatic_weights_leave_long_queries_alone():
    short, long = judgement("soccer", {4}), judgement("the rules of soccer matches among schools", {4})
    found = evaluate([short, long], thesis_profile(), alpha="auto")
    alone = evaluate([long], thesis_profile(), alpha="auto")
    assert found.best.gain.value > 0
    assert {point.gain.value for point in alone.points} == {0}
