"""Mining what an engine holds: the itemsets, rules and moles of memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting import repeated
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.spread import point_of_sale
from veilset import BudgetExceeded, InvalidArgument, Transactions, _native, mining
from veilset.engines import Local
from veilset.mining import frequent_spread
from veilset.testing import strategies

KINDS = ("all", "closed", "maximal")


def sorted_as_there(itemsets):
    """The fewest items first, then the order of the vocabulary."""
    code = {name: number for number, name in enumerate(itemsets.names)}
    return sorted(itemsets, key=lambda one: (len(one[0]), [code[name] for name in one[0]]))


@examples(200)
@given(
    st.one_of(strategies.transactions(), repeated()),
    st.integers(1, 40),
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(3, 6)),
    st.integers(1, 4),
    st.data(),
)
def test_the_itemsets_of_memory(data, min_support, kind, least, most, pieces, draw):
    items = draw.draw(st.none() | st.lists(st.sampled_from(data.names), unique=True)) if data.names else None
    asked = {"kind": kind, "min_size": least, "max_size": most, "items": items}
    here = mining.frequent(data, min_support, **asked)
    there = mining.frequent(Local(pieces=pieces).read(data), min_support, **asked)
    assert list(there) == sorted_as_there(here)


@pytest.mark.parametrize("kind", KINDS)
def test_more_transactions_and_items(kind):
    for data, min_support in ((point_of_sale(1000), "1%"), (explosive(items=13, rows=30), 5)):
        here = mining.frequent(data, min_support, kind=kind)
        there = mining.frequent(Local(pieces=3).read(data), min_support, kind=kind)
        assert list(there) == sorted_as_there(here)
        assert len(here) > 13


@examples(200)
@given(repeated(), st.integers(1, 10), st.sampled_from(["1/3", "1/2", 1]), st.integers(2, 3))
def test_the_rules_of_memory(data, min_support, confidence, least):
    held = Local(pieces=3).read(data)
    here, there = (mining.rules(one, min_support, confidence, min_size=least) for one in (data, held))
    assert sorted(here) == sorted(there)
    assert sorted(here.lifts) == pytest.approx(sorted(there.lifts))


@examples(200)
@given(repeated(), st.integers(1, 10), st.none() | st.integers(1, 4), st.data())
def test_the_moles_of_memory_in_their_order(data, k, size, draw):
    data = data.with_sensitive([])
    items = draw.draw(st.none() | st.lists(st.sampled_from(data.names), unique=True)) if data.names else None
    here, there = (
        mining.minimal_rare(one, k, max_size=size, items=items) for one in (data, Local(pieces=3).read(data))
    )
    assert list(here) == list(there)
    assert here.to_arrow().equals(there.to_arrow())


def test_lists_that_are_too_long_are_refused(monkeypatch):
    held = Local(pieces=3).read(point_of_sale(500))
    found = len(mining.frequent(held, 5))
    monkeypatch.setattr(frequent_spread, "MOST_ITEMSETS", found)
    assert len(mining.frequent(held, 5)) == found
    for most in (found - 1, 1):
        monkeypatch.setattr(frequent_spread, "MOST_ITEMSETS", most)
        with refused(BudgetExceeded, f"{most:,}"):
            mining.frequent(held, 5)


HELD = Local().read(Transactions.from_lists([["a", "b"], ["a", "x"]], sensitive=["x"]))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mining.frequent(HELD, 1, threads=2), "threads=2"),
        (lambda: mining.minimal_rare(HELD, 2, threads=2), "threads=2"),
        (lambda: mining.minimal_rare(HELD, 2), "sensitive"),
        (lambda: mining.minimal_rare(HELD, 2, include_absent=True), "include_absent=True"),
        (lambda: mining.count_frequent(HELD, 2), "LocalHeld"),
    ],
)
def test_what_is_not_mined_on_an_engine_is_refused_by_name(call, named):
    with refused(InvalidArgument, named):
        call()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weights": np.array([1, 1])}, "weight"),
        ({"supports": np.array([1])}, "support"),
        ({"end": 4}, "steps"),
        ({"order": np.array([0, 2], np.int32)}, "vocabulary"),
        ({"transactions": 1 << 31}, "transactions"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit_together(changes, why):
    row = np.array([0, 1], np.int32)
    given = {"offsets": np.array([0, 2]), "items": row, "weights": np.array([5]), "order": row}
    given |= {"supports": np.array([5, 6]), "vocabulary": 2, "transactions": 7, "min_support": 2, "kind": "all"}
    given |= {"min_size": 1, "max_size": 0, "first": 1, "end": 3, "most": 9}
    given |= {"memory_limit": 1 << 30, "time_limit": 1e9, "progress": None}
    offsets, items, supports = _native.mining.frequent_share(**given)
    assert np.split(items, offsets[1:-1])[1].tolist() == [0, 1]
    assert supports.tolist() == [5, 5, 6]
    with refused(ValueError, why):
        _native.mining.frequent_share(**{**given, **changes})
