"""Expected supports in anatomized data: against their definition, and against the mean over all arrangements."""

import time
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import (
    anatomized,
    by_definition,
    data_and_itemsets,
    from_matrix,
    full_in_buckets,
    many_questions,
    matrix,
)
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.memory import leaving
from veilset import Anatomy, BudgetExceeded, InvalidArgument, Transactions, _native
from veilset.mining import expected_supports, frequent, rules, supports
from veilset.testing.strategies import sparse_or_dense, transactions


def close(data):
    """What rounding may change, as the docstring has it."""
    return (data.anatomy.count + 2 * len(data.anatomy.columns)) / 1e15


@examples(600)
@given(data_and_itemsets(sparse_or_dense().flatmap(anatomized)))
def test_they_equal_their_definition(given_):
    data, itemsets = given_
    found = expected_supports(data, itemsets)
    assert found.dtype == np.float64
    for value, itemset in zip(found.tolist(), itemsets, strict=True):
        exact = by_definition(data, itemset)
        assert abs(Fraction(value) - exact) <= exact * Fraction(close(data))


@examples(400)
@given(data_and_itemsets(sparse_or_dense().flatmap(anatomized)))
def test_inside_one_column_they_are_the_supports(given_):
    data, itemsets = given_
    inside = [itemset for itemset in itemsets if len(set(data.anatomy.column_of(itemset).tolist())) <= 1]
    inside += [[name] for name in data.names]
    assert expected_supports(data, inside).tolist() == supports(data, inside).tolist()


@given(st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=4), st.data())
def test_they_are_the_mean_over_all_arrangements(rows, draw):
    """Each column's values in every order inside every bucket, the first column's left as they are."""
    data = draw.draw(anatomized(Transactions.from_lists(map(sorted, rows)), most=3))
    buckets = [rows[first:last] for first, last in pairwise(data.anatomy.starts.tolist())]
    for itemset, _ in frequent(data, 1):
        mean = Fraction(0)
        for bucket in buckets:  # arrangements of different buckets have nothing to do with each other
            counts = [
                sum(set(itemset) <= set().union(*parts) for parts in zip(*arranged, strict=True))
                for arranged in product(*(_orders(bucket, *column) for column in enumerate(data.anatomy.columns)))
            ]
            mean += Fraction(sum(counts), len(counts))
        assert expected_supports(data, [itemset])[0] == pytest.approx(float(mean), rel=close(data), abs=0)


def _orders(bucket, number, column):
    values = [row.intersection(column) for row in bucket]
    return [values] if number == 0 else list(permutations(values))


@examples(400)
@given(sparse_or_dense(), transactions(), st.data())
def test_itemsets_of_another_vocabulary_are_matched_by_name(plain, other, draw):
    data, mined = draw.draw(anatomized(plain)), frequent(other, 1)
    there = set(data.names)
    exact = [by_definition(data, names) if there.issuperset(names) else 0 for names, _ in mined]
    assert expected_supports(data, mined).tolist() == pytest.approx([float(x) for x in exact], rel=close(data), abs=0)


def test_an_example_by_hand():
    """In bucket 1, two of three hold a and two of three hold c; in bucket 2 all hold a and one of two c."""
    rows = [["a", "b", "c"], ["a"], ["c"], ["a", "c"], ["a"]]
    data = Transactions.from_lists(rows).anatomized(Anatomy.of([["a", "b"], ["c"]], [0, 0, 0, 1, 1]))
    found = expected_supports(data, [["a", "c"], ["c", "b", "a"], ["a"], []])
    assert found.tolist() == pytest.approx([4 / 3 + 1, 2 / 3, 4, 5])


def larger():
    """Long and short lists and bitmaps, in buckets of 1 to 199 rows and in 40 columns."""
    held = matrix(6000, 400, seed=7)
    data, draw = from_matrix(held), np.random.default_rng(12)
    cuts = np.zeros(6000, dtype=np.int64)
    cuts[np.cumsum(draw.integers(1, 200, 100))[:50]] = 1
    cuts[5000:] = draw.integers(0, 2, 1000)
    columns = [list(data.names[at::40]) for at in range(40)]
    data = data.anatomized(Anatomy.of(columns, np.cumsum(cuts)))
    asked = [
        [data.names[int(len(data.names) * u**3)] for u in draw.random(n)] for n in (1, 2, 3, 4) for _ in range(300)
    ]
    return data, held[:, [int(name) for name in data.names]], asked


def test_long_and_short_lists_and_bitmaps_together():
    data, held, asked = larger()
    starts, column = data.anatomy.starts[:-1], data.anatomy.column_of(data.names)
    expected = []
    for itemset in asked:
        codes = data.codes(itemset)
        shares = [
            np.add.reduceat(held[:, codes[column[codes] == at]].all(axis=1).astype(float), starts) / data.anatomy.sizes
            for at in set(column[codes].tolist())
        ]
        expected.append(float((np.prod(shares, axis=0) * data.anatomy.sizes).sum()))
    assert len({round(value, 6) for value in expected}) > 300
    assert expected_supports(data, asked).tolist() == pytest.approx(expected, rel=2 * close(data), abs=1e-12)


def test_any_number_of_threads_and_any_order_give_the_same_bytes():
    """What is left over of the itemset before must not show."""
    data, _, asked = larger()
    found = expected_supports(data, asked, threads=1)
    assert all(expected_supports(data, asked, threads=threads).tobytes() == found.tobytes() for threads in (2, 3, 4))
    order = np.random.default_rng(13).permutation(len(asked))
    assert expected_supports(data, [asked[at] for at in order]).tobytes() == found[order].tobytes()


@pytest.mark.parametrize("rows", [[], [[]], [["a"]], [["a"], [], ["a", "b"]]], ids=["none", "empty", "one", "three"])
def test_corners(rows):
    data = Transactions.from_lists(rows)
    data = data.anatomized(Anatomy.of([[name] for name in data.names], list(range(len(rows)))))
    assert expected_supports(data, []).tolist() == []
    # a bucket of one row has one arrangement
    assert expected_supports(data, [[], [*data.names]]).tolist() == supports(data, [[], [*data.names]]).tolist()
    absent = frequent(Transactions.from_lists([["x", "y"]]), 1)
    assert expected_supports(data, absent).tolist() == [0, 0, 0]


def test_both_sides_of_rules():
    data = Transactions.from_lists([["b", "a"], ["a", "b", "c"], ["c", "a"], ["c"]])
    found = rules(data, 1, "1/3")
    assert found.itemsets.supports.tolist() == found.supports.tolist() == supports(data, found.itemsets).tolist()
    for rule, (both, _) in zip(found, found.itemsets, strict=True):
        assert both == tuple(sorted((*rule.antecedent, rule.consequent)))
    assert len(rules(data, 4, 1).itemsets) == 0


SMALL = Transactions.from_lists([["beer", "milk"], ["milk"]])
CUT = SMALL.anatomized(Anatomy.of([["beer"], ["milk"]], [0, 0]))


def test_what_has_no_buckets_is_an_error():
    with refused(InvalidArgument, "buckets", "supports"):
        expected_supports(SMALL, [["beer"]])
    with refused(InvalidArgument, "buckets"):  # what changes the rows loses them
        expected_supports(CUT.without(["beer"]), [["milk"]])


def test_wrong_arguments():
    with refused(InvalidArgument, "'bear'", "'beer'"):
        expected_supports(CUT, [["milk"], ["bear"]])
    with refused(InvalidArgument, "Itemset 2", "'milk'"):
        expected_supports(CUT, [["milk"], "milk"])
    with refused(InvalidArgument, "itemsets", 48):
        expected_supports(CUT, 48)
    with refused(InvalidArgument, "threads", 0):
        expected_supports(CUT, [["milk"]], threads=0)


def test_limits_are_kept():
    data, asked = full_in_buckets(200_000, 50), many_questions(50, 1_000_000)
    started = time.monotonic()
    told = []
    with refused(BudgetExceeded, "time limit", "0.5"):
        expected_supports(data, asked, time_limit=0.5, progress=lambda *step: told.append(step))
    assert time.monotonic() - started < 20  # a hang, not a measurement
    assert {what for what, *_ in told} == {"Counting itemsets"}
    assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_memory_limit_stops_the_counting():
    data, asked = full_in_buckets(200_000, 50), many_questions(50, 1000)
    with refused(BudgetExceeded, "memory limit"):
        expected_supports(data, asked, memory_limit=leaving(2_000_000))


def test_the_kernel_takes_no_other_types_and_nothing_out_of_range():
    bounds = {"threads": 1, "memory_limit": 10**9, "time_limit": 1e9, "progress": None}
    columns, starts = np.array([0, 1], np.int32), np.array([0, 2])
    asked = np.array([0, 1]), np.array([0], np.int32)
    data = CUT.offsets, CUT.items, 2
    assert _native.mining.expected_supports(*data, columns, starts, *asked, **bounds).tolist() == [1]
    with pytest.raises(TypeError):
        _native.mining.expected_supports(*data, columns.astype(float), starts, *asked, **bounds)
    with pytest.raises(TypeError):
        _native.mining.expected_supports(*data, columns, starts.astype(np.int32), *asked, **bounds)
    with refused(ValueError, "vocabulary"):
        _native.mining.expected_supports(*data, columns, starts, np.array([0, 1]), np.array([2], np.int32), **bounds)
    with refused(ValueError, "column"):
        _native.mining.expected_supports(*data, columns[:1], starts, *asked, **bounds)
    for outside in (2, -1):
        with refused(ValueError, "columns"):
            _native.mining.expected_supports(*data, np.array([0, outside], np.int32), starts, *asked, **bounds)
    for wrong, named in (
        ([0, 1], "frame"),
        ([1, 2], "frame"),
        ([], "frame"),
        ([0, 2, 2], "without"),
        ([0, 3, 2], "without"),
    ):
        with refused(ValueError, named):
            _native.mining.expected_supports(*data, columns, np.array(wrong, np.int64), *asked, **bounds)
