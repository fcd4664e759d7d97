"""What decides a split: gains in whole numbers, which tie exactly where the shares are the same."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset import _native
from veilset.joins import JoinClassifier, Node
from veilset.joins.growing import Stop
from veilset.joins.summaries import to_words
from veilset.testing import oracles_joins as oracle

COUNT = st.one_of(st.integers(0, 5), st.integers(0, 2**20), st.integers(0, 2**62), st.integers(0, 2**100))
PARTS = st.integers(1, 5).flatmap(lambda size: st.tuples(*[st.lists(COUNT, min_size=size, max_size=size)] * 2))


def gain(left, both):
    return _native.joins.gain(to_words(left, 2), to_words(both, 2))


@examples(5000)
@given(PARTS)
def test_gain_is_that_of_the_twin(parts):
    left, right = parts
    both = [one + other for one, other in zip(left, right, strict=True)]
    expected = oracle.gain(left, both) if any(both) else 0
    assert gain(left, both) == gain(right, both) == gain(left[::-1], both[::-1]) == expected


@examples(2000)
@given(st.lists(st.integers(0, 2**30), min_size=2, max_size=5), st.integers(1, 2**20), st.integers(1, 2**20))
def test_equal_shares_gain_nothing(shares, one, other):
    assert gain([one * share for share in shares], [(one + other) * share for share in shares]) == 0


def test_the_least_gain():
    """Of a large node, one joined row more or less in a child tells nothing."""
    half = 2**40
    assert gain([half, half + 1], [2 * half, 2 * half + 2]) == gain([half, half + 1], [2 * half, 2 * half + 1]) == 0
    assert gain([2**18, 2**18 + 2**9], [2**19, 2**19]) > oracle.LEAST_GAIN


def test_counts_that_do_not_fit():
    with pytest.raises(ValueError):
        gain([1], [1, 2])
    with pytest.raises(ValueError):
        _native.joins.gain(to_words([1], 1), to_words([1, 2], 2))


@pytest.mark.parametrize(
    ("counts", "depth", "stops"),
    [((3, 0), 0, True), ((3, 1), 0, False), ((3, 1), 2, True), ((3, 2), 1, False), ((2, 1), 0, True)],
)
def test_stop(counts, depth, stops):
    assert Stop(max_depth=2, min_leaf=2)(Node(counts, depth)) is stops


def test_ties_go_to_the_first_table_column_and_value():
    """The order of tables is that in which they are given."""
    one = pa.table({"k": [1, 2], "b": ["x", "y"], "a": [1, 2], "Class": ["n", "y"]})
    other = pa.table({"k": [1, 2], "c": ["p", "q"]})
    joins = ["A.k = B.k"]
    first = JoinClassifier().fit({"A": one, "B": other}, joins=joins, target="A.Class")
    second = JoinClassifier().fit({"B": other, "A": one}, joins=joins, target="A.Class")
    assert [str(fitted.unpruned_tree_.root.split) for fitted in (first, second)] == ["A.b = x", "B.c = p"]
