"""Minimal moles, items in moles and the growing set, against brute force; over both kinds of covers."""

import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cube import random_cube
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.memory import leaving
from veilset import BudgetExceeded, InvalidArgument, Transactions, _native
from veilset.mining import Keeping, items_in_moles, minimal_rare, minimal_rare_chunks
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets
from veilset.testing.strategies import sparse_or_dense


@examples(400)
@given(sparse_or_dense(), strategies.coherence_promises(), st.booleans(), st.integers(1, 4))
def test_minimal_rare_equals_the_oracle(data, promise, include_absent, threads):
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    include_absent &= promise.k > 1 or len(data.names) < 20  # else 200 rare items, all safe, make 20,000 absent pairs
    limits = {"h": promise.share, "max_size": promise.p, "include_absent": include_absent, "threads": threads}
    found = list(minimal_rare(data, promise.k, **limits))
    expected = oracles.minimal_moles(rows, *question)
    if include_absent:
        # with k = 1 and h = 1 nothing that occurs is a mole, but what is absent is still minimal
        expected |= oracles.minimal_absent(rows, *question)
    assert len(found) == len(expected)
    assert {frozenset(mole.items) for mole in found} == expected
    for mole in found:
        assert mole.support == oracles.support(rows, mole.items)
        assert mole.breach == oracles.breach_probability(rows, mole.items, data.sensitive)
        assert mole.sensitive == first_behind(rows, mole, data)


def first_behind(rows, mole, data):
    """Of the sensitive items that reach the breach probability, the first in the vocabulary."""
    if mole.breach == 0:
        return None
    reached = (
        item
        for item in data.names
        if item in data.sensitive and oracles.breach_probability(rows, mole.items, [item]) == mole.breach
    )
    return next(reached)


@examples(400)
@given(sparse_or_dense(), strategies.coherence_promises())
def test_items_in_moles_equals_the_oracle(data, promise):
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    if oracles.empty_set_breaks(rows, *question[:3]):
        return
    in_moles = set().union(*oracles.moles(rows, *question))
    assert set(items_in_moles(data, promise.k, h=promise.share, max_size=promise.p)) == in_moles


@examples(400)
@given(strategies.transactions(min_rows=3), strategies.coherence_promises(), st.randoms(use_true_random=False))
def test_keeping_knows_which_item_brings_a_mole(data, promise, draw):
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    if oracles.empty_set_breaks(rows, *question[:3]):
        return
    kept: set[str] = set(data.sensitive)
    keeping = Keeping(data, promise.k, h=promise.share, max_size=promise.p)
    for item in draw.sample(data.public, len(data.public)):
        safe = oracles.is_coherent([row & {*kept, item} for row in rows], *question)
        assert keeping.brings_mole(item) == (not safe)
        if safe:
            kept.add(item)
            keeping.keep(item)
        if (public := sorted(kept.difference(data.sensitive))) and draw.random() < 0.3:
            gone = draw.choice(public)
            kept.remove(gone)
            keeping.drop(gone)


def test_by_size_and_length():
    moles = minimal_rare(Transactions.from_lists(map(list, ["ab", "ab", "ac", "bc", "abc", "d"])), 3)
    assert moles.by_size == (1, 2)
    assert len(moles) == 3
    assert {names for names, *_ in moles} == {("d",), ("a", "c"), ("b", "c")}


def test_memory_limit():
    with refused(BudgetExceeded, "memory limit"):
        minimal_rare(explosive(), 2, memory_limit=leaving(100_000_000))


@pytest.mark.no_sanitizer(reason="the sanitizer reserves terabytes of address space")
def test_under_an_address_space_limit_the_system_does_not_kill_us():
    """No limit is given, but the shell allows little more than the program itself takes (as ``ulimit -v`` would)."""
    script = """
        import os, resource, sys
        from tests.support.explosive import explosive
        from veilset import BudgetExceeded
        from veilset.mining import minimal_rare
        now = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + 400_000_000, now + 400_000_000))
        try:
            minimal_rare(explosive(), 2, threads=2)
        except BudgetExceeded as error:
            print(error)
            sys.exit(error.exit_code)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert "memory limit" in done.stdout


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=70))
def test_every_variant_of_the_bit_loops_counts_right(words):
    a = np.array([x for x, _ in words], dtype=np.uint64)
    b = np.array([y for _, y in words], dtype=np.uint64)
    expected = sum((x & y).bit_count() for x, y in words)
    variants = _native.mining.bit_variants()
    assert "portable" in variants
    assert {_native.mining.and_count_with(variant, a, b) for variant in variants} == {expected}


def test_kernels_take_no_other_types():
    data = Transactions.from_lists([["a", "b"]])
    with pytest.raises(TypeError):
        _native.mining.Keeping(data.offsets.astype(float), data.items, data.is_sensitive, h_num=1, h_den=1, k=1, p=0)


def test_pairs_answer_to_the_time_limit_too():
    """Two million pairs, each held against two thousand sensitive items."""
    draw = np.random.default_rng(5)
    rows = [[f"p{i}" for i in np.flatnonzero(draw.random(2000) < 0.5)] for _ in range(100)]
    rows = [row + [f"s{number * 20 + i}" for i in range(20)] for number, row in enumerate(rows)]
    data = Transactions.from_lists(rows, sensitive=[f"s{i}" for i in range(2000)])
    started = time.monotonic()
    with refused(BudgetExceeded, "time limit"):
        minimal_rare(data, 2, max_size=2, time_limit=0.3)
    assert time.monotonic() - started < 5  # a hang, not a measurement


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("k", "h", "max_size", "sensitive"), [(400, 1, None, 0), (40, 1, 4, 2), (200, "4/5", None, 3), (30, "7/8", 5, 1)]
)
def test_many_rows(seed, k, h, max_size, sensitive):
    """Long enough for bitmaps of many words and weights, and for rows that become equal on the way down."""
    cube = random_cube(seed, items=12)
    data = cube.with_sensitive(sensitive)
    found = minimal_rare(data, k, h=h, max_size=max_size, include_absent=True)
    expected = cube.minimal_rare(k, Fraction(h), max_size, sensitive=sensitive, absent=True)
    assert {mole.items: (mole.support, float(mole.breach)) for mole in found} == expected
    occurring = [mole for mole in found if mole.support > 0]
    assert list(minimal_rare(data, k, h=h, max_size=max_size)) == occurring


@pytest.mark.parametrize("density", [0.1, 0.4])
def test_more_items_than_a_word_has_bits(density):
    held = np.random.default_rng(4).random((400, 140)) < density
    k = int(400 * density**2 * 0.8)
    pairs = held.T.astype(int) @ held.astype(int)
    expected = {(i,): pairs[i, i] for i in range(140) if pairs[i, i] < k}
    expected |= {
        (i, j): pairs[i, j] for i, j in combinations(range(140), 2) if pairs[i, j] < k <= min(pairs[i, i], pairs[j, j])
    }
    for i, j in combinations(range(140), 2):
        if pairs[i, j] >= k:
            triples = held[held[:, i] & held[:, j]].sum(axis=0)
            third = np.flatnonzero((pairs[i] >= k) & (pairs[j] >= k) & (triples < k))
            expected |= {(i, j, t): triples[t] for t in third[third > j].tolist()}
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in held])
    found = minimal_rare(data, k, max_size=3, include_absent=True)
    assert {tuple(map(int, mole.items)): mole.support for mole in found} == expected
    assert found.by_size[2] > 1000


@pytest.mark.parametrize("sensitive", [0, 2])
def test_chunks_are_the_whole_in_pieces(sensitive):
    data = random_cube(2, rows=1000, items=14).with_sensitive(sensitive)
    whole = list(minimal_rare(data, 20))
    assert len(whole) > 50
    for size in (1, 7, 10_000):
        for threads in (1, 3):
            chunks = list(minimal_rare_chunks(data, 20, chunk_size=size, threads=threads))
            assert [len(chunk) for chunk in chunks[:-1]] == [size] * (len(chunks) - 1)
            assert [mole for chunk in chunks for mole in chunk] == whole


def test_chunks_need_no_memory_for_the_whole():
    """Two million rare pairs as arrays would not fit the limit that is enough to stream them."""
    draw = np.random.default_rng(1)
    data = Transactions.from_lists([np.unique(draw.integers(0, 3000, 40)).tolist() for _ in range(3000)])
    with pytest.raises(_native.core.OutOfMemory):
        _native_search(data, memory_limit=30_000_000).next(2**62)
    search = _native_search(data, memory_limit=30_000_000)
    total = 0
    while len(supports := search.next(10_000)[2]):
        total += len(supports)
    assert total == len(minimal_rare(data, 20, max_size=2))
    assert total > 1_500_000


def test_chunks_share_one_time_limit():
    """Each of them takes next to no time."""
    draw = np.random.default_rng(1)
    data = Transactions.from_lists([np.unique(draw.integers(0, 300, 20)).tolist() for _ in range(300)])
    chunks = minimal_rare_chunks(data, 20, max_size=2, chunk_size=1, time_limit=0.5)
    with refused(BudgetExceeded, "time limit"):
        for _ in chunks:
            time.sleep(0.01)


def test_no_more_threads_than_steps():
    """So many would not start, nor would a table of them fit memory."""
    data = Transactions.from_lists(map(list, ["ab", "ac", "bc", "abc"]))
    assert [mole.items for mole in minimal_rare(data, 2, threads=2**31 - 1)] == [("a", "b", "c")]


def test_numbers_beyond_all_bounds():
    data = Transactions.from_lists(map(list, ["ab", "ac", "bc", "abc"]))
    assert len(minimal_rare(data, 10**30)) == 0
    assert [mole.items for mole in minimal_rare(data, 2, max_size=10**30)] == [("a", "b", "c")]
    assert [len(chunk) for chunk in minimal_rare_chunks(data, 2, chunk_size=10**30)] == [1]


def test_one_mole_of_many():
    for sensitive in (0, 2):
        moles = minimal_rare(random_cube(2, rows=1000, items=14).with_sensitive(sensitive), 20)
        listed = list(moles)
        assert [moles[0], moles[7], moles[-1], moles[np.int64(3)]] == [listed[0], listed[7], listed[-1], listed[3]]
        with pytest.raises(IndexError):
            moles[len(listed)]


def _native_search(data, memory_limit):
    every_item = np.ones(len(data.names), np.uint8)
    question = {"h_num": 1, "h_den": 1, "k": 20, "p": 2, "absent": False, "mark": False}
    bounds = {"threads": 2, "memory_limit": memory_limit, "time_limit": 60.0, "progress": None}
    return _native.mining.MoleSearch(data.offsets, data.items, data.is_sensitive, every_item, **question, **bounds)


@pytest.mark.parametrize("sensitive", [0, 2])
def test_any_number_of_threads_gives_the_same_bytes(sensitive):
    data = random_cube(3, rows=3000, items=14).with_sensitive(sensitive)
    first, *others = (minimal_rare(data, 20, threads=threads) for threads in (1, 2, 3, 4))
    assert len(first) > 50
    for other in others:
        for a, b in ((first, other), (first.itemsets, other.itemsets)):
            arrays = [value for value in vars(a).values() if isinstance(value, np.ndarray)]
            others_arrays = [value for value in vars(b).values() if isinstance(value, np.ndarray)]
            assert [x.tobytes() for x in arrays] == [x.tobytes() for x in others_arrays]


def test_only_these_items():
    data = Transactions.from_lists(map(list, ["abc", "ab", "ac", "bc", "bd", "d"]))
    assert [mole.items for mole in minimal_rare(data, 2, items=["a", "b", "c"])] == [("a", "b", "c")]
    assert {mole.items for mole in minimal_rare(data, 2)} == {("a", "b", "c"), ("b", "d")}


def test_the_empty_itemset_is_a_subset_too():
    data = Transactions.from_lists([["a", "s"], ["a", "s"], ["b"]], sensitive=["s"])
    assert len(minimal_rare(data, 4)) == 0
    assert len(minimal_rare(data, 1, h="1/2")) == 0
    assert [mole.items for mole in minimal_rare(data, 1, h="2/3")] == [("a",)]


def test_moles_as_arrow_and_lists():
    data = Transactions.from_lists([["a", "s"], ["a"], ["b", "s"], ["b"], ["c"]], sensitive=["s"])
    moles = minimal_rare(data, 2, h="1/2")
    assert moles.to_lists() == [(["c"], 1, Fraction(2, 5), "s")]
    assert moles.to_arrow().to_pylist() == [{"items": ["c"], "support": 1, "breach": 0.4, "sensitive": "s"}]
    without = minimal_rare(data.without(["s"]), 2)
    assert without.to_lists() == [(["c"], 1, Fraction(0), None)]
    assert without.to_arrow().to_pylist() == [{"items": ["c"], "support": 1, "breach": 0.0, "sensitive": None}]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"k": 0}, ("k", 0)), ({"k": 2, "max_size": 0}, ("max_size", 0)), ({"k": 2, "h": 1.5}, ("h", "1.5"))],
)
def test_wrong_arguments(arguments, named):
    with refused(InvalidArgument, *named):
        minimal_rare(Transactions.from_lists([["a"]]), **arguments)


def test_a_chunk_size_below_one():
    with refused(InvalidArgument, "chunk_size", 0):
        minimal_rare_chunks(Transactions.from_lists([["a"]]), 2, chunk_size=0)
