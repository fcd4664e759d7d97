"""Frequent, closed and maximal itemsets and their number, against brute force."""

from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import dense, repeated
from tests.support.cube import random_cube
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.memory import leaving
from veilset import BudgetExceeded, InvalidArgument, Transactions, _native, generate, mining
from veilset.mining import count_frequent, frequent
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets

KINDS = ("all", "closed", "maximal")
ORACLES = {"all": oracles.frequent, "closed": oracles.closed, "maximal": oracles.maximal}


def quest(transactions: int) -> Transactions:
    return generate.quest(transactions=transactions, average_length=10, pattern_length=4, items=300, random_state=1)


def only_sizes(itemsets, least, most):
    return {x for x in itemsets if least <= len(x) and (most is None or len(x) <= most)}


@examples(400)
@given(
    st.one_of(strategies.transactions(), repeated()),
    st.integers(1, 40),
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(3, 6)),
    st.integers(1, 4),
    st.data(),
)
def test_frequent_equals_the_oracle(data, min_support, kind, least, most, threads, draw):
    items = draw.draw(st.one_of(st.none(), st.lists(st.sampled_from(data.names or ["-"]), unique=True)))
    items = None if not data.names else items
    rows = as_sets(data) if items is None else [row & set(items) for row in as_sets(data)]
    found = frequent(data, min_support, kind=kind, min_size=least, max_size=most, items=items, threads=threads)
    expected = only_sizes(ORACLES[kind](rows, min_support), least, most)
    assert len(found) == len(expected)
    assert {frozenset(names): support for names, support in found} == {
        itemset: oracles.support(rows, itemset) for itemset in expected
    }


@examples(400)
@given(
    st.one_of(strategies.transactions(), repeated()),
    st.integers(1, 40),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(3, 6)),
    st.integers(1, 4),
    st.data(),
)
def test_the_count_is_that_of_the_oracle(data, min_support, least, most, threads, draw):
    given_items = draw.draw(st.sets(st.sampled_from(data.names), max_size=3)) if data.names else set()
    count = count_frequent(data, min_support, containing=given_items, min_size=least, max_size=most, threads=threads)
    frequent_ones = only_sizes(oracles.frequent(as_sets(data), min_support), least, most)
    counted = [itemset for itemset in frequent_ones if given_items <= itemset]
    assert count.total == len(counted)
    assert count.per_item == {name: sum(name in itemset for itemset in counted) for name in data.names}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.6, 0.2, 0.01])
def test_many_rows(seed, share):
    """Long enough for bitmaps of many words and weights, and for rows that become equal on the way down."""
    cube = random_cube(seed)
    least = int(share * len(cube.rows))
    for kind in KINDS:
        found = dict(frequent(cube.data, least, kind=kind))
        assert found == cube.frequent(least, kind)
    everything = cube.frequent(least)
    count = count_frequent(cube.data, least)
    assert count.total == len(everything)
    assert count.per_item == {name: sum(name in x for x in everything) for name in cube.data.names}
    within = count_frequent(cube.data, least, containing=["c", "e"], min_size=3, max_size=6)
    assert within.total == sum({"c", "e"} <= set(x) and 3 <= len(x) <= 6 for x in everything)
    assert within.per_item["d"] == sum({"c", "d", "e"} <= set(x) and 3 <= len(x) <= 6 for x in everything)


@pytest.mark.parametrize("seed", range(6))
def test_long_rows(seed):
    """Rows of a hundred items: what is closed is what some of the rows share. Their number needs more than 64 bits."""
    draw = np.random.default_rng(seed)
    kinds = [frozenset(np.flatnonzero(draw.random(130) < 0.8).tolist()) for _ in range(7)]
    times = draw.integers(1, 9, len(kinds)).tolist()
    least = int(draw.integers(2, 15))
    data = Transactions.from_lists([row for row, count in zip(kinds, times, strict=True) for _ in range(count)])
    shared: dict[frozenset[int], int] = {}
    for size in range(1, len(kinds) + 1):
        for chosen in combinations(range(len(kinds)), size):
            common = frozenset.intersection(*(kinds[i] for i in chosen))
            shared[common] = sum(count for row, count in zip(kinds, times, strict=True) if common <= row)
    closed = {itemset: support for itemset, support in shared.items() if support >= least and itemset}
    maximal = [x for x in closed if not any(x < y for y in closed)]

    def as_numbers(found):
        return {frozenset(map(int, names)): support for names, support in found}

    assert as_numbers(frequent(data, least, kind="closed")) == closed
    assert set(as_numbers(frequent(data, least, kind="maximal"))) == set(maximal)
    # Frequent itemsets are the subsets of the maximal ones: inclusion and exclusion counts them.
    total = per_nine = triples = 0
    for size in range(1, len(maximal) + 1):
        for chosen in combinations(maximal, size):
            common = frozenset.intersection(*chosen)
            sign = 1 if size % 2 else -1
            total += sign * (2 ** len(common) - 1)
            per_nine += sign * (2 ** (len(common) - 1) if 9 in common else 0)
            triples += sign * comb(len(common), 3)
    count = count_frequent(data, least)
    assert count.total == total
    assert count.per_item["9"] == per_nine
    assert total > 2**64 or least > sum(times) // 2
    assert count_frequent(data, least, min_size=3, max_size=3).total == triples


def test_rows_that_no_other_row_holds_are_maximal():
    """At a support of 1, in long rows of many items, where a walk would not end."""
    held = np.random.default_rng(2).random((200, 2000)) < 0.5
    rows = [np.flatnonzero(row).tolist() for row in held]
    some = [row[::2] for row in rows[:50]]
    found = frequent(Transactions.from_lists([*rows, *some, *rows[:7]]), 1, kind="maximal")
    assert sorted((sorted(map(int, names)), support) for names, support in found) == sorted(
        (row, 2 if number < 7 else 1) for number, row in enumerate(rows)
    )


def test_many_items():
    """More columns than a word has bits, in sparse and in dense data."""
    draw = np.random.default_rng(3)
    for density, least in ((0.7, 100), (0.03, 3)):
        held = draw.random((300, 150)) < density
        rows = [np.flatnonzero(row).tolist() for row in held]
        data = Transactions.from_lists(rows)
        pairs = held.T.astype(int) @ held.astype(int)
        expected = {(str(i),): int(pairs[i, i]) for i in range(150) if pairs[i, i] >= least}
        expected |= {(str(i), str(j)): int(pairs[i, j]) for i, j in combinations(range(150), 2) if pairs[i, j] >= least}
        assert dict(frequent(data, least, max_size=2)) == expected
        for i, j, k in draw.integers(0, 150, (50, 3)).tolist():
            both = held[:, i] & held[:, j]
            if len({i, j, k}) == 3:
                expected[tuple(map(str, sorted((i, j, k))))] = int((both & held[:, k]).sum())
        found = dict(frequent(data, least, max_size=3))
        assert all(found.get(x) == (support if support >= least else None) for x, support in expected.items())


def equal_rows(items: int) -> Transactions:
    """Two equal rows: every item extends every itemset without changing its support."""
    codes = np.tile(np.arange(items, dtype=np.int32), 2)
    return Transactions.from_codes(np.arange(3) * items, codes, [str(i) for i in range(items)])


def test_a_smallest_size_spares_the_smaller_ones():
    """There are 2^300 itemsets; those that are asked for take no walk through the others."""
    data = equal_rows(300)
    assert [len(names) for names, _ in frequent(data, 2, min_size=300, time_limit=60)] == [300]
    found = frequent(data, 2, min_size=299, time_limit=60)
    assert len(found) == len(set(found)) == 301


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too, and its stack frames are larger")
def test_rows_longer_than_the_stack():
    """The first itemset of two million items is chosen item by item."""
    with refused(BudgetExceeded, "time limit"):
        frequent(equal_rows(2_000_000), 2, min_size=1_000_000, time_limit=2, threads=1)


def test_very_long_rows_are_counted():
    data = equal_rows(3000)
    count = count_frequent(data, 2, time_limit=60)
    assert count.total == 2**3000 - 1
    assert set(count.per_item.values()) == {2**2999}
    large = count_frequent(data, 2, min_size=3, containing=["5"])
    assert large.total == 2**2999 - 1 - 2999
    assert large.per_item["7"] == 2**2998 - 1
    assert count_frequent(data, 2, min_size=2, max_size=3).total == comb(3000, 2) + comb(3000, 3)
    assert count_frequent(data, 2, min_size=2999, max_size=3000).total == 3001
    assert count_frequent(data, 2, min_size=3001).total == 0


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_large_numbers_count_towards_the_memory_limit():
    """20,000 numbers of 20,000 bits are 50 MB, for each thread."""
    data = equal_rows(20_000)
    every_item, no_items = np.ones(len(data.names), np.uint8), np.zeros(0, np.int32)
    question = every_item, no_items, np.zeros(1, np.int64), no_items
    bounds = {"min_support": 2, "min_size": 1, "max_size": 0, "threads": 1}
    bounds |= {"memory_limit": 20_000_000, "time_limit": 60.0, "progress": None}
    with pytest.raises(_native.core.OutOfMemory):
        _native.mining.count_frequent(data.offsets, data.items, *question, **bounds)


def test_numbers_beyond_all_bounds():
    data = Transactions.from_lists([["a", "b"]] * 2)
    assert len(frequent(data, 2, threads=2**31 - 1)) == count_frequent(data, 2, threads=2**31 - 1).total == 3
    assert len(frequent(data, "9" * 5000)) == 0
    assert len(frequent(data, 10**30)) == count_frequent(data, 10**30).total == 0
    assert len(frequent(data, 1, max_size=10**30)) == count_frequent(data, 1, max_size=10**30).total == 3
    assert len(frequent(data, 1, min_size=10**30)) == count_frequent(data, 1, min_size=10**30).total == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("data", "share"), [(quest(3000), 0.01), (random_cube(1, rows=5000).data, 0.05)], ids=["sparse", "dense"]
)
def test_any_number_of_threads_gives_the_same_bytes(kind, data, share):
    first, *others = (frequent(data, share, kind=kind, threads=threads) for threads in (1, 2, 3, 4))
    assert len(first) > 20
    for other in others:
        assert other.offsets.tobytes() == first.offsets.tobytes()
        assert other.items.tobytes() == first.items.tobytes()
        assert other.supports.tobytes() == first.supports.tobytes()


def test_nothing_to_find():
    for data in (Transactions.from_lists([]), Transactions.from_lists([[], []]), Transactions.from_lists([["a"]])):
        assert len(frequent(data, 2)) == 0
        assert count_frequent(data, 2).total == 0
    assert frequent(Transactions.from_lists([["a"]]), 1).to_lists() == [(["a"], 1)]


def test_shares_are_exact():
    data = Transactions.from_lists([["a"]] * 3 + [["b"]] * 7)
    assert [names for names, _ in frequent(data, 0.3)] == [("a",), ("b",)]
    assert [names for names, _ in frequent(data, "31%")] == [("b",)]
    assert [names for names, _ in frequent(data, "7")] == [("b",)]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"min_support": 0}, ("min_support", 0)),
        ({"min_support": 1.5}, ("min_support", "1.5")),
        ({"min_support": 2, "kind": "close"}, ("'close'", "'closed'")),
        ({"min_support": 2, "min_size": 0}, ("min_size", 0)),
        ({"min_support": 2, "max_size": 1, "min_size": 2}, ("max_size", 1, "min_size", 2)),
        ({"min_support": 2, "items": ["x"]}, ("'x'",)),
        ({"min_support": 2, "items": "a"}, ("items",)),
    ],
)
def test_wrong_arguments(arguments, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        frequent(Transactions.from_lists([["a", "b"]]), **arguments)


def test_itemsets_are_sliced_and_chosen():
    found = frequent(Transactions.from_lists([["a", "b", "c"]] * 2), 2)
    listed = list(found)
    assert len(listed) == len(found) == 7
    assert listed[3] == found[3]
    assert listed[-1] == found[-1]
    assert list(found[2:5]) == listed[2:5]
    assert list(found[5:2]) == []
    assert list(found[::-2]) == listed[::-2]
    assert list(found[found.sizes == 2]) == [entry for entry in listed if len(entry[0]) == 2]
    assert list(found[np.array([4, 0])]) == [listed[4], listed[0]]
    assert found.by_size == (3, 3, 1)
    with pytest.raises(IndexError):
        found[7]


def test_itemsets_as_arrow():
    found = frequent(Transactions.from_lists([["a, b", "ü"]] * 2), 2)
    table = found.to_arrow()
    assert table.column_names == ["items", "support"]
    assert table["support"].type == pa.int64()
    assert [(row["items"], row["support"]) for row in table.to_pylist()] == found.to_lists()


@pytest.mark.no_sanitizer(reason="the sanitizer counts towards the memory limit")
def test_limits_are_kept():
    data = explosive()
    with refused(BudgetExceeded, "memory limit"):
        frequent(data, 2, memory_limit=leaving(100_000_000))
    with refused(BudgetExceeded, "time limit"):
        frequent(data, 2, time_limit=0.05)
    with refused(BudgetExceeded, "time limit"):
        count_frequent(dense()[0], 1, time_limit=0.3)


def test_progress_is_told():
    told = []
    with pytest.raises(BudgetExceeded):
        frequent(explosive(), 2, time_limit=0.5, progress=lambda *step: told.append(step))
    assert {what for what, *_ in told} == {"Searching for frequent itemsets"}
    assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_one_row_of_very_many_items():
    """Two to the power of all of them are frequent: to be counted, not listed, and nothing overflows on the way."""
    data = Transactions.from_lists([range(20_000)])
    assert count_frequent(data, 1).total == 2**20_000 - 1
    assert frequent(data, 1, kind="closed").by_size == frequent(data, 1, kind="maximal").by_size
    assert len(frequent(data, 1, max_size=1)) == 20_000
    with refused(BudgetExceeded, "memory limit"):
        frequent(data, 1, memory_limit=leaving(500_000_000))
    with refused(BudgetExceeded, "memory limit"):  # three gigabytes of digits
        count_frequent(Transactions.from_lists([range(100_000)]), 1, threads=1, memory_limit=leaving(1_500_000_000))


@pytest.mark.parametrize("wrong", [2.5, "2", True, [2]])
@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("max_size", lambda data, size: mining.frequent(data, 1, max_size=size)),
        ("min_size", lambda data, size: mining.frequent(data, 1, min_size=size)),
        ("max_size", lambda data, size: mining.count_frequent(data, 1, max_size=size)),
        ("max_size", lambda data, size: mining.rules(data, 1, 0.5, max_size=size)),
        ("min_size", lambda data, size: mining.rules(data, 1, 0.5, min_size=size)),
        ("max_size", lambda data, size: mining.minimal_rare(data, 1, max_size=size)),
        ("max_size", lambda data, size: mining.giveaways(data, 1, max_size=size)),
        ("max_size", lambda data, size: mining.items_in_moles(data, 1, max_size=size)),
        ("max_size", lambda data, size: mining.count_moles(data, 1, max_size=size)),
        ("k", mining.minimal_rare),
        ("k", mining.items_in_moles),
        ("k", mining.count_moles),
        ("chunk_size", lambda data, size: mining.minimal_rare_chunks(data, 1, chunk_size=size)),
        ("size", lambda data, size: mining.proxies(data, min_support=1, size=size)),
    ],
)
def test_what_is_no_whole_number_is_refused(name, mine, wrong):
    data = Transactions.from_lists([["a", "b", "s"], ["a", "b"]], sensitive=["s"])
    with refused(InvalidArgument, name):
        mine(data, wrong)
