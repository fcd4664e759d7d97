"""Covers, supports of many itemsets and pairs, against brute force; over lists of rows and bitmaps."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import data_and_itemsets, from_matrix, full, many_questions, matrix
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.memory import leaving
from veilset import BudgetExceeded, InvalidArgument, Transactions, _native
from veilset.mining import cover, frequent, pairs, support, supports
from veilset.testing import oracles
from veilset.testing.checks import as_sets
from veilset.testing.strategies import sparse_or_dense, transactions


@examples(600)
@given(data_and_itemsets(sparse_or_dense()))
def test_cover_and_support_equal_the_oracle(given_):
    data, itemsets = given_
    rows = as_sets(data)
    for itemset in itemsets:
        expected = [number for number, row in enumerate(rows) if row.issuperset(itemset)]
        found = cover(data, itemset)
        assert found.tolist() == expected
        assert found.dtype == np.int64
        assert support(data, itemset) == oracles.support(rows, itemset) == len(expected)


@examples(600)
@given(data_and_itemsets(sparse_or_dense()), st.integers(1, 4))
def test_supports_equal_the_oracle(given_, threads):
    data, itemsets = given_
    found = supports(data, itemsets, threads=threads)
    assert found.tolist() == [oracles.support(as_sets(data), itemset) for itemset in itemsets]
    assert found.dtype == np.int64


@examples(400)
@given(sparse_or_dense(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_supports_of_mined_itemsets_in_any_order(data, threads, draw):
    mined = frequent(data, 1)
    order = np.array(draw.sample(range(len(mined)), len(mined)), dtype=np.int64)
    assert supports(data, mined, threads=threads).tolist() == mined.supports.tolist()
    assert supports(data, mined[order]).tolist() == mined.supports[order].tolist()


@examples(400)
@given(sparse_or_dense(), transactions())
def test_itemsets_of_another_vocabulary_are_matched_by_name(data, other):
    mined = frequent(other, 1)
    expected = [oracles.support(as_sets(data), names) for names, _ in mined]
    assert supports(data, mined).tolist() == expected


def test_an_item_that_is_gone_is_held_by_nobody():
    data = Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["c"], []])
    mined = frequent(data, 1)
    of = dict(zip((names for names, _ in mined), supports(data.without(["a"]), mined).tolist(), strict=True))
    assert of == {("a",): 0, ("b",): 2, ("c",): 2, ("a", "b"): 0, ("a", "c"): 0, ("b", "c"): 1, ("a", "b", "c"): 0}
    assert supports(Transactions.from_lists([]), mined).tolist() == [0] * 7


@examples(600)
@given(
    sparse_or_dense(), st.integers(1, 6), st.one_of(st.none(), st.sets(st.sampled_from("abcdefg"))), st.integers(1, 4)
)
def test_pairs_equal_the_oracle(data, min_support, only, threads):
    items = None if only is None else [name for name in data.names if name in only]
    rows = [row if items is None else row.intersection(items) for row in as_sets(data)]
    found = pairs(data, min_support=min_support, items=items, threads=threads)
    assert {frozenset(names): count for names, count in found} == oracles.pairs(rows, min_support)
    codes = found.items.reshape(-1, 2).tolist()
    assert codes == sorted(codes)
    assert all(first < second for first, second in codes)
    assert found.offsets.tolist() == list(range(0, 2 * len(found) + 1, 2))
    assert (found.offsets.dtype, found.items.dtype, found.supports.dtype) == (np.int64, np.int32, np.int64)


def test_pairs_take_shares():
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["c"]])
    for half in (0.5, "50%", "1/2", Fraction(1, 2), 2, "2"):
        assert pairs(data, min_support=half).to_lists() == [(["a", "b"], 2)]
    assert pairs(data, min_support="26%").to_lists() == [(["a", "b"], 2)]
    assert len(pairs(data, min_support="25%")) == 2
    assert len(pairs(data, min_support=5)) == len(pairs(data, min_support=10**30)) == 0


def test_long_and_short_lists_and_bitmaps_together():
    """Some lists are many times as long as others, and some items have bitmaps; each combination is counted."""
    held = matrix(6000, 400, seed=7)
    data = from_matrix(held)
    draw = np.random.default_rng(8)
    columns = {name: held[:, int(name)] for name in data.names}
    names = [
        [data.names[int(len(data.names) * u**3)] for u in draw.random(size)]
        for size in (1, 2, 2, 3, 4)
        for _ in range(400)
    ]
    expected = [int(np.all([columns[name] for name in itemset], axis=0).sum()) for itemset in names]
    assert len(set(expected)) > 100
    assert supports(data, names).tolist() == expected
    for itemset, count in zip(names[::50], expected[::50], strict=True):
        assert support(data, itemset) == count


def test_many_pairs():
    held = matrix(3000, 4000, seed=9)
    data = from_matrix(held)
    held = held[:, [int(name) for name in data.names]].astype(np.float32)
    together = (held.T @ held).astype(np.int64)
    for min_support in (1, 2, 30):
        first, second = np.nonzero(np.triu(together >= min_support, 1))
        found = pairs(data, min_support=min_support)
        assert np.array_equal(found.items.reshape(-1, 2), np.stack([first, second], axis=1))
        assert np.array_equal(found.supports, together[first, second])
        assert np.array_equal(supports(data, found), found.supports)


def test_equal_rows_count_each():
    rows = [["a", "b", "c"]] * 1000 + [["a", "b"]] * 500 + [[]] * 300 + [["c"]]
    data = Transactions.from_lists(rows)
    assert pairs(data).to_lists() == [(["a", "b"], 1500), (["a", "c"], 1000), (["b", "c"], 1000)]
    assert supports(data, [["c"], ["b", "c"], ["a", "b"], []]).tolist() == [1001, 1000, 1500, 1801]
    assert cover(data, ["c"]).tolist() == [*range(1000), 1800]


@pytest.mark.parametrize(
    "rows", [[], [[]], [[], []], [["a"]], [["a"]] * 3 + [[]]], ids=["none", "one empty", "two empty", "one", "one item"]
)
def test_corners(rows):
    data = Transactions.from_lists(rows)
    assert len(pairs(data)) == 0
    assert supports(data, []).tolist() == []
    assert supports(data, [[], [*data.names]]).tolist() == [len(rows), support(data, data.names)]
    assert cover(data, []).tolist() == list(range(len(rows)))


def test_any_number_of_threads_gives_the_same_bytes():
    data = from_matrix(matrix(2000, 3000, seed=10))
    found = [pairs(data, threads=threads) for threads in (1, 2, 3, 4)]
    assert len(found[0]) > 10_000
    assert len({(p.items.tobytes(), p.supports.tobytes()) for p in found}) == 1
    counted = {supports(data, found[0], threads=threads).tobytes() for threads in (1, 2, 3, 4)}
    assert counted == {found[0].supports.tobytes()}


def test_an_unknown_name_is_an_error():
    data = Transactions.from_lists([["beer", "milk"]])
    for ask in (
        lambda: cover(data, ["bear"]),
        lambda: support(data, ["milk", "bear"]),
        lambda: supports(data, [["beer"], ["bear"]]),
        lambda: pairs(data, items=["beer", "bear"]),
    ):
        with refused(InvalidArgument, "'bear'", "'beer'"):
            ask()


def test_one_text_is_not_a_list():
    data = Transactions.from_lists([["4", "8"]])
    with refused(InvalidArgument, "'48'"):
        cover(data, "48")
    with refused(InvalidArgument, "Itemset 2", "'48'"):
        supports(data, [["4"], "48"])
    with refused(InvalidArgument, "Itemset 1", 4):
        supports(data, [4])
    for wrong in ("48", 48):
        with refused(InvalidArgument, "itemsets", 48):
            supports(data, wrong)
    with refused(InvalidArgument, "list"):
        pairs(data, items="48")


@pytest.mark.parametrize("wrong", [0, -1, 0.0, 1.5, "many", True, None])
def test_wrong_min_support(wrong):
    with refused(InvalidArgument, "min_support"):
        pairs(Transactions.from_lists([["a", "b"]]), min_support=wrong)


def test_wrong_bounds():
    data = Transactions.from_lists([["a", "b"]])
    with refused(InvalidArgument, "threads", 0):
        pairs(data, threads=0)
    with refused(InvalidArgument, "time_limit", "-1"):
        supports(data, [["a"]], time_limit=-1)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_memory_limit_stops_the_counting():
    wide = full(2, 4000)  # eight million pairs, of 12 bytes or more each
    assert len(pairs(wide, items=wide.names[:100], memory_limit=leaving(30_000_000))) == 4950
    with refused(BudgetExceeded, "memory limit", "min_support"):
        pairs(wide, memory_limit=leaving(30_000_000))
    long = full(200_000, 50)  # fifty bitmaps of 25 kB
    asked = many_questions(50, 1000)
    with refused(BudgetExceeded, "memory limit"):
        _ = supports(long, asked, memory_limit=leaving(500_000))


def test_time_limit_stops_the_counting():
    started = time.monotonic()
    with refused(BudgetExceeded, "time limit", "0.05"):
        pairs(full(3000, 1500), time_limit=0.05)
    with refused(BudgetExceeded, "time limit", "0.05"):
        supports(full(200_000, 50), many_questions(50, 1_000_000), time_limit=0.05)
    assert time.monotonic() - started < 20  # a hang, not a measurement


def test_progress_is_told():
    told = []
    with pytest.raises(BudgetExceeded):
        pairs(full(3000, 1500), time_limit=0.3, progress=lambda *step: told.append(step))
    assert {what for what, *_ in told} == {"Counting pairs"}
    assert all(0 <= done <= total for _, done, total in told)


def test_kernels_take_no_other_types_and_nothing_out_of_range():
    data = Transactions.from_lists([["a", "b"]])
    bounds = {"threads": 1, "memory_limit": 10**9, "time_limit": 1e9, "progress": None}
    one = np.array([0, 1])
    with pytest.raises(TypeError):
        _native.mining.supports(data.offsets, data.items, 2, one.astype(float), np.array([0], np.int32), **bounds)
    with pytest.raises(TypeError):
        _native.mining.cover(data.offsets, data.items, 2, one)
    with pytest.raises(TypeError):
        _native.mining.pairs(data.offsets.astype(float), data.items, data.is_sensitive, min_support=1, **bounds)
    for outside in (2, -1):
        with refused(ValueError, "vocabulary"):
            _native.mining.supports(data.offsets, data.items, 2, one, np.array([outside], np.int32), **bounds)


def test_oracles_agree_with_a_count_by_hand():
    rows = [frozenset("ab"), frozenset("abc"), frozenset("ab"), frozenset("c")]
    assert oracles.pairs(rows, 1) == {frozenset("ab"): 3, frozenset("ac"): 1, frozenset("bc"): 1}
    assert oracles.pairs(rows, 2) == {frozenset("ab"): 3}
    assert oracles.closed(rows, 1) == {frozenset("ab"), frozenset("abc"), frozenset("c")}
    assert oracles.closed(rows, 2) == {frozenset("ab"), frozenset("c")}
    assert oracles.maximal(rows, 1) == {frozenset("abc")}
    assert oracles.maximal(rows, 2) == {frozenset("ab"), frozenset("c")}
    assert [oracles.maximal([], 1), oracles.closed([], 1), oracles.pairs([], 1)] == [set(), set(), {}]
