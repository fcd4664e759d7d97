"""Average precision against ir-measures, and intervals of means."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples, repeats
from veilset.search.precision import average_precision, mean_of
from veilset.testing import oracles_search


@examples(300)
@given(st.sets(st.integers(1, 50), min_size=1), st.integers(0, 3))
def test_average_precision_is_that_of_ir_measures(positions, unreturned):
    """Where judgements are restricted to what was returned: others would count as found nowhere."""
    run = [ir_measures.ScoredDoc("q", str(at), 51 - at) for at in range(1, 51)]
    judged = [ir_measures.Qrel("q", str(at), 1) for at in positions]
    assert ir_measures.calc_aggregate([ir_measures.AP], judged, run)[ir_measures.AP] == pytest.approx(
        average_precision(positions)
    )
    assert average_precision(positions) == pytest.approx(oracles_search.average_precision(sorted(positions)))
    more = [*judged, *(ir_measures.Qrel("q", f"not returned {at}", 1) for at in range(unreturned))]
    assert ir_measures.calc_aggregate([ir_measures.AP], more, run)[ir_measures.AP] == pytest.approx(
        average_precision(positions) * len(positions) / (len(positions) + unreturned)
    )


def test_nothing_relevant():
    assert average_precision([]) == 0


def test_intervals_hold_the_mean_most_of_the_time():
    """Of samples of a known mean; values of one query together are less to go by than as many queries."""
    draws = [[(7 * seed + 13 * at) % 101 / 100 for at in range(40)] for seed in range(repeats(1000))]
    hit = [one.low <= 0.5 <= one.high for one in (mean_of(values, random_state=3) for values in draws)]
    assert sum(hit) >= 0.8 * len(hit)
    values = [0.1, 0.9, 0.4, 0.6] * 8
    apart, together = mean_of(values), mean_of(values, [at // 8 for at in range(32)])
    assert (apart.value, together.value) == (0.5, 0.5)
    same = mean_of([0.1] * 8 + [0.9] * 8, [at // 8 for at in range(16)])
    assert (same.low, same.high) == (0.1, 0.9)


def test_differences():
    assert mean_of([0.1, 0.2, 0.3] * 5).is_certain
    assert not mean_of([0.1, -0.1] * 5).is_certain
    assert not mean_of([0.5, 0.5]).is_certain
    assert mean_of([]).count == 0
