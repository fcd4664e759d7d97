"""The oracle of trees over joins, by means that are simpler still."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import Study, studies
from veilset.testing import oracles_joins as oracle


@examples(1000)
@given(st.one_of(st.integers(1, 2**12), st.integers(1, 2**63 - 1), st.integers(0, 62).map(lambda power: 2**power)))
def test_logarithms(x):
    """Less than two units of the last place off, and exact for powers of two."""
    with localcontext(prec=50):
        exact = Decimal(x).ln() / Decimal(2).ln() * 2**oracle.FRACTION_BITS
        assert abs(oracle.fixed_log2(x) - exact) < 2
    if x & (x - 1) == 0:
        assert oracle.fixed_log2(x) == (x.bit_length() - 1) << oracle.FRACTION_BITS


@examples(300)
@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=4))
def test_gains(counts):
    left, right = [one for one, _ in counts], [other for _, other in counts]
    both = [one + other for one, other in counts]
    if not any(both):
        return

    def entropy(node):
        shares = np.array(node)[np.array(node) > 0] / max(1, sum(node))
        return -float(np.sum(shares * np.log2(shares)))

    expected = entropy(both) - (sum(left) * entropy(left) + sum(right) * entropy(right)) / sum(both)
    assert oracle.gain(left, both) / 2**48 == pytest.approx(expected, abs=1e-11)


@examples(100)
@given(studies(most_tables=3, most_rows=4))
def test_nested_loops(study: Study):
    """All combinations of rows, of which those stay that satisfy each predicate."""
    names = list(study.tables)

    def satisfies(rows):
        at = dict(zip(names, rows, strict=True))
        sides = [
            (study.tables[one[0]][at[one[0]]][one[1]], study.tables[other[0]][at[other[0]]][other[1]])
            for one, other in study.predicates
        ]
        return all(left is not None and left == right for left, right in sides)

    every = product(*(range(len(study.tables[name])) for name in names))
    assert oracle.nested_loop_join(study.tables, study.predicates) == [rows for rows in every if satisfies(rows)]


def test_a_tree_by_hand():
    """Two values of x, of which one is pure; below it y separates the rest, but for max_depth and min_leaf."""
    x, y = oracle.ranked([1, 1, 1, 2, 2]), oracle.ranked(["p", "q", "q", None, None])
    columns = [oracle.Column("T", "x", "number", *x), oracle.Column("U", "y", "category", *y)]
    classes = np.array([0, 1, 1, 0, 0])
    splits = [node["split"] for node in oracle.walk(oracle.join_then_build(columns, classes, 2))]
    assert splits == [("U", "y", "category", "q"), None, None]
    alone = oracle.join_then_build(columns[:1], classes, 2)
    assert [node["counts"] for node in oracle.walk(alone)] == [(3, 2), (1, 2), (2, 0)]
    for stop in ({"max_depth": 0}, {"min_leaf": 3}):
        assert oracle.join_then_build(columns, classes, 2, **stop)["split"] is None
