"""Minimal moles, items in moles and the growing set, against brute force; over both kinds of covers."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_audit_coherence import explosive
from veilset import BudgetExceeded, Transactions, _native
from veilset.mining import Keeping, items_in_moles, minimal_rare
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets


@st.composite
def sparse_or_dense(draw: st.DrawFn) -> Transactions:
    """Small sets are dense; hundreds of items that occur once, in rows of their own, make them sparse."""
    data = draw(strategies.transactions())
    if draw(st.booleans()):
        return data
    rows = [*data.to_lists(), *([f"z{i}"] for i in range(200))]
    return Transactions.from_lists(rows, sensitive=data.sensitive)


@settings(max_examples=max(400, settings().max_examples))
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
        assert (mole.sensitive is None) == (mole.breach == 0)


@settings(max_examples=max(400, settings().max_examples))
@given(sparse_or_dense(), strategies.coherence_promises())
def test_items_in_moles_equals_the_oracle(data, promise):
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    if oracles.empty_set_breaks(rows, *question[:3]):
        return
    in_moles = set().union(*oracles.moles(rows, *question))
    assert set(items_in_moles(data, promise.k, h=promise.share, max_size=promise.p)) == in_moles


@settings(max_examples=max(400, settings().max_examples))
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


def test_by_size_and_length():
    moles = minimal_rare(Transactions.from_lists(map(list, ["ab", "ab", "ac", "bc", "abc", "d"])), 3)
    assert moles.by_size == (1, 2)
    assert len(moles) == 3
    assert {names for names, *_ in moles} == {("d",), ("a", "c"), ("b", "c")}


def test_memory_limit():
    with pytest.raises(BudgetExceeded, match=r"search for moles stopped at the memory limit"):
        minimal_rare(explosive(), 2, memory_limit=300_000_000)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=70))
def test_every_variant_of_the_bit_loops_counts_right(words):
    a = np.array([x for x, _ in words], dtype=np.uint64)
    b = np.array([y for _, y in words], dtype=np.uint64)
    expected = sum((x & y).bit_count() for x, y in words)
    variants = _native.bit_variants()
    assert "portable" in variants
    assert {_native.and_count_with(variant, a, b) for variant in variants} == {expected}


def test_kernels_take_no_other_types():
    data = Transactions.from_lists([["a", "b"]])
    with pytest.raises(TypeError):
        _native.Keeping(data.offsets.astype(float), data.items, data.is_sensitive, h_num=1, h_den=1, k=1, p=0)


def test_pairs_answer_to_the_time_limit_too():
    """Two million pairs, each held against two thousand sensitive items."""
    draw = np.random.default_rng(5)
    rows = [[f"p{i}" for i in np.flatnonzero(draw.random(2000) < 0.5)] for _ in range(100)]
    rows = [row + [f"s{number * 20 + i}" for i in range(20)] for number, row in enumerate(rows)]
    data = Transactions.from_lists(rows, sensitive=[f"s{i}" for i in range(2000)])
    started = time.monotonic()
    with pytest.raises(BudgetExceeded, match="time limit"):
        minimal_rare(data, 2, max_size=2, time_limit=0.3)
    assert time.monotonic() - started < 5  # a hang, not a measurement
