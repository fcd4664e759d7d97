"""Whole buckets of two, put together: against all arrangements by hand, with planted links, and without."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.attack import Linked, compare_buckets
from veilset.attack.buckets import Attacked
from veilset.attack.linking import arrangement
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.transactions import Transactions


def triples(rows: int, *, linked: float, seed: int = 3) -> Transactions:
    """Everybody has one of twenty items in each of three columns; a share of the people have the same number in all."""
    chance = np.random.default_rng(seed)
    numbers = chance.integers(20, size=(rows, 3))
    same = chance.random(rows) < linked
    numbers[same] = numbers[same][:, :1]
    return Transactions.from_lists([[f"{c}{n}" for c, n in zip("uvw", row, strict=True)] for row in numbers.tolist()])


def linked(data: Transactions, *, size: int = 1) -> Linked | None:
    columns = [[name for name in data.names if name[0] == letter] for letter in "uvw"]
    release = multi_anatomy(
        data, LDiverseAnatomy(2), columns=columns, bucket_size=size, random_state=5, limits=Limits(threads=1)
    )
    found = compare_buckets(release, limits=Limits())
    assert found is not None
    return found.linked


def test_linked_columns_are_put_together():
    """Each bucket has four arrangements, and nine people in ten have the same number in all columns."""
    found = linked(triples(1500, linked=0.9))
    assert found is not None
    assert found.baseline == pytest.approx(0.25, abs=0.01)
    assert found.right.low > 0.7
    assert found.confident.low > 0.85
    assert found.buckets >= 600


@examples(20)
@given(st.integers(0, 2**32))
def test_independent_columns_are_not(seed):
    """Five standard errors: one run in three million fails by chance."""
    found = linked(triples(400, linked=0, seed=seed))
    assert found is not None
    assert found.right.estimate - found.baseline < 5 * (found.right.high - found.right.low) / 2 / 1.96


def test_too_few_buckets_of_two():
    assert linked(triples(150, linked=0.9)) is None
    assert linked(triples(1500, linked=0.9), size=4) is None


# One row has a, x and nothing; the other b, nothing and k. Items: a b | x, nothing | k, nothing.
COLUMNS = np.array([0, 0, 1, 1, 2, 2])
NOTHING = np.array([False, False, False, True, False, True])
TRUE = np.array([[1.0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0]])


def bucket(rows: np.ndarray, known: np.ndarray, weights: np.ndarray) -> Attacked:
    return Attacked(7, COLUMNS, NOTHING, np.zeros(3, dtype=bool), weights, rows, known)


@examples(100)
@given(st.lists(st.integers(-30, 30), min_size=36, max_size=36), st.integers(0, 3))
def test_the_most_likely_arrangement(drawn, true):
    """Of four, by the sum of the weights of the items that each row has together."""
    weights = np.array(drawn).reshape(6, 6) / 10 * (COLUMNS[:, None] != COLUMNS)
    weights = weights + weights.T
    rows = [_exchanged(TRUE, sides) for sides in product((False, True), repeat=2)]
    likely = np.exp([sum(row @ weights @ row for row in one) / 2 for one in rows])
    [[[right, chance, belief, number]]] = arrangement(bucket(TRUE, rows[true], weights))
    assert (chance, number) == (0.25, 7)
    assert belief == pytest.approx(likely.max() / likely.sum())
    assert right == (likely[true] == likely.max()) or np.isclose(np.sort(likely)[-1], np.sort(likely)[-2])


def _exchanged(rows: np.ndarray, columns: tuple[bool, bool]) -> np.ndarray:
    """The same with the second and third columns exchanged or not."""
    return np.where(np.array([False, *columns])[COLUMNS], rows[::-1], rows)


def test_nobody_has_nothing():
    """Of {x, nothing} and {k, nothing}, and nothing in the third column, one arrangement is left."""
    rows = np.array([[1.0, 1, 0, 0, 1], [1, 0, 1, 1, 0]])  # nothing | x, nothing | k, nothing
    nothing = np.array([True, False, True, False, True])
    found = Attacked(0, np.array([0, 1, 1, 2, 2]), nothing, np.zeros(3, dtype=bool), np.zeros((5, 5)), rows, rows)
    assert arrangement(found)[0].tolist() == [[1, 1, 1, 0]]


def test_nothing_to_arrange():
    """Rows that are equal, or differ in one column only."""
    for rows in (TRUE[[0, 0]], np.where(COLUMNS == 1, TRUE, TRUE[0])):
        assert arrangement(bucket(rows, rows, np.zeros((6, 6)))) == []
