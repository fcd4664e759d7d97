"""Pessimistic pruning: the formula, and what it makes of trees."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset.joins import Node, Split
from veilset.joins.pruning import expected_errors, pruned
from veilset.testing import oracles_joins as oracle

SPLIT = Split("T", "x", "number", 1)


@examples(1000)
@given(st.one_of(st.integers(1, 50), st.integers(1, 10**30)), st.data(), st.floats(0.01, 0.99))
def test_expected_errors_are_those_of_the_twin(rows, data, confidence):
    errors = data.draw(st.integers(0, rows))
    expected = oracle.expected_errors(rows, errors, confidence)
    assert expected_errors(rows, errors, confidence) == pytest.approx(float(expected), rel=1e-9)


@given(st.integers(1, 1000), st.floats(0.01, 0.5))
def test_a_leaf_is_expected_to_err_more_than_it_did_and_never_more_than_always(rows, confidence):
    expected = [expected_errors(rows, errors, confidence) for errors in range(rows + 1)]
    assert all(errors <= one <= rows for errors, one in enumerate(expected))
    assert expected == sorted(expected)


def test_the_tree_that_is_given_stays_as_it_is():
    leaves = Node((50, 1), 1), Node((48, 2), 1)
    tree = Node((98, 3), 0, SPLIT, 0.01, leaves)
    before = copy.deepcopy(tree)
    assert pruned(tree, 0.25) == Node((98, 3))
    assert tree == before


def test_what_is_kept_is_pruned_below():
    useless = Node((50, 1), 1, SPLIT, 0.01, (Node((25, 1), 2), Node((25, 0), 2)))
    tree = Node((50, 51), 0, SPLIT, 0.9, (useless, Node((0, 50), 1)))
    assert pruned(tree, 0.25) == Node((50, 51), 0, SPLIT, 0.9, (Node((50, 1), 1), Node((0, 50), 1)))


def test_a_tree_that_is_deeper_than_python_recurses():
    node = Node((1000, 0), 5000)
    for depth in reversed(range(5000)):
        other = Node((0, 1000) if depth % 2 else (1000, 0), depth + 1)
        counts = node.counts[0] + other.counts[0], node.counts[1] + other.counts[1]
        node = Node(counts, depth, SPLIT, 0.1, (node, other))
    assert not pruned(node, 0.25).is_leaf
