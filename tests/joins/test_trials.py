"""Whether a difference between two predictions is more than chance would explain."""

import numpy as np
import pyarrow as pa
import pytest

from veilset.joins import JoinClassifier, evaluate
from veilset.joins.trials import exceeds_chance


@pytest.mark.parametrize(("more", "fewer", "better"), [(5, 0, True), (4, 0, False), (20, 8, True), (20, 12, False)])
def test_rows_that_differ_decide(more, fewer, better):
    """As McNemar's test has it: those that both predict right, or both wrong, say nothing."""
    tree = np.array([True] * more + [False] * fewer + [True] * 100)
    other = np.array([False] * more + [True] * fewer + [True] * 100)
    assert exceeds_chance(tree, other, np.arange(len(tree))) is better
    assert not exceeds_chance(other, tree, np.arange(len(tree)))
    assert not exceeds_chance(tree, tree, np.arange(len(tree)))


def test_rows_of_a_group_are_one_witness():
    tree, other = np.ones(100, bool), np.zeros(100, bool)
    assert exceeds_chance(tree, other, np.arange(100))
    assert not exceeds_chance(tree, other, np.zeros(100, np.int64))


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_better(seed):
    random = np.random.default_rng(seed)
    tables = {"t": pa.table({"x": random.normal(size=300), "y": random.choice(["a", "b"], 300)})}
    found = evaluate(JoinClassifier().fit(tables, target="t.y"), tables)
    assert not found.headline.better


def test_what_is_learned_is_better():
    values = np.arange(300) % 50
    tables = {"t": pa.table({"x": values, "y": np.where(values < 20, "a", "b")})}
    assert evaluate(JoinClassifier().fit(tables, target="t.y"), tables).headline.better
