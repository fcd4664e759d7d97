"""The search for minimal moles on an engine: the list of `minimal_rare` in its order, and what else methods ask."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.spread import point_of_sale, skewed, watched
from veilset import BudgetExceeded, Coherence, Transactions, _native
from veilset.engines import Local
from veilset.mining import InMemory, Keeping, OnEngine, breach_of, minimal_rare, shares, spread
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets


@st.composite
def questions(draw):
    """Transactions, what methods ask of them here and on an engine, and a question."""
    data = draw(strategies.sparse_or_dense())
    promise = draw(strategies.coherence_promises())
    question = {"k": promise.k, "h": promise.share, "max_size": promise.p}
    return data, InMemory(data), OnEngine(Local(pieces=draw(st.integers(1, 3))).read(data)), question


def same(one, other):
    """Equal arrays, so in the same order."""
    assert one.names == other.names
    for part in ("offsets", "items", "supports"):
        assert getattr(one, part).tolist() == getattr(other, part).tolist()


@examples(600)
@given(questions(), st.data())
def test_the_list_of_minimal_rare_in_its_order(asked, draw):
    data, here, there, question = asked
    items = draw.draw(st.none() | st.lists(st.sampled_from(data.public), unique=True) if data.public else st.none())
    same(there.moles(question, items), here.moles(question, items))


@examples(600)
@given(questions(), st.data(), st.sampled_from([1, 4, 12]))
def test_branches_that_are_too_large_for_a_share_are_in_parts(asked, draw, most):
    data, here, there, question = asked
    items = draw.draw(st.none() | st.lists(st.sampled_from(data.public), unique=True) if data.public else st.none())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "SHARE", most)
        same(there.moles(question, items), here.moles(question, items))


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("p", [2, 4])
def test_a_task_gets_no_more_than_its_limit_of_skewed_data(p, sensitive, monkeypatch):
    """One item is in half of all transactions, and one transaction in a hundred is long."""
    data = skewed(3000)
    data = data if sensitive else data.with_sensitive([])
    read = watched(monkeypatch)
    question = {"k": 8, "h": Coherence(h="1/3", k=8, p=p).share, "max_size": p}
    wanted, most = minimal_rare(data, **question).itemsets, 3000
    same(OnEngine(Local(pieces=3).read(data)).moles(question), wanted)
    largest = max(len(rows.items) for rows in read)
    read.clear()
    monkeypatch.setattr(shares, "SHARE", most)
    same(OnEngine(Local(pieces=3).read(data)).moles(question), wanted)
    assert max(len(rows.items) for rows in read) <= most < largest


@examples(300)
@given(questions())
def test_what_else_methods_ask(asked):
    data, here, there, question = asked
    assert there.supports.tolist() == here.supports.tolist()
    assert there.longest(data.public) == here.longest(data.public)
    some = data.names[:2]
    assert there.beside(some).tolist() == here.beside(some).tolist()
    assert there.beside([]).tolist() == here.beside([]).tolist()
    assert there.first_mole(question, data.public) == here.first_mole(question, data.public)
    alone = [data.names[code] for code in here.moles({**question, "max_size": 1}).items]
    for without in ((), alone):
        assert there.items_in_moles(question, without) == here.items_in_moles(question, without)


@examples(300)
@given(questions(), st.integers(0, 40))
def test_a_short_list_or_none(asked, most):
    _, here, there, question = asked
    found, wanted = there.few_moles(question, most), here.moles(question)
    assert (found is None) == (len(wanted) > most)
    if found is not None:
        same(found, wanted)


@examples(400)
@given(
    questions(),
    st.sampled_from([1, 2, 256]),
    st.sampled_from([0, 3, 5_000_000]),
    st.sampled_from([2, 8_000_000]),
    st.randoms(),
)
def test_items_join_as_if_asked_one_by_one(asked, block, most, share, random):
    data, here, there, question = asked
    assume(not oracles.empty_set_breaks(as_sets(data), data.sensitive, question["h"], question["k"]))
    alone = {data.names[code] for code in here.moles({**question, "max_size": 1}).items}
    left = [item for item in data.public if item not in alone]
    kept, order = left[:1], random.sample(left[1:], len(left[1:]))
    assume(order)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spread, "FIRST_BLOCK", block)
        patched.setattr(spread, "MOST_MOLES", most)
        patched.setattr(shares, "SHARE", share)
        may_join = there.returning(question, kept, order)
        answers = [may_join(item) for item in order]
    one_by_one = here.returning(question, kept, order)
    assert answers == [one_by_one(item) for item in order]


def test_what_a_mole_tells():
    data = Transactions.from_lists([["a", "x"], ["a", "y"], ["a", "x"], ["b"]], sensitive=["x", "y"])
    for miner in (InMemory(data), OnEngine(Local().read(data))):
        assert breach_of(miner, data, ["a"]) == (3, 2, "x")
        assert breach_of(miner, data, ["b"]) == (1, 0, None)


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("p", [2, 3, 5])
def test_many_shares(p, sensitive):
    data = point_of_sale(2000)
    data = data if sensitive else data.with_sensitive([])
    question = {"k": 8, "h": Coherence(h="1/3", k=8, p=p).share, "max_size": p}
    found = OnEngine(Local(pieces=7).read(data)).moles(question)
    same(found, minimal_rare(data, **question).itemsets)
    assert len(found.by_size) >= min(p, 4)


def test_the_order_of_transactions_does_not_matter():
    """A local search goes through moles in their order, so a list that depends on that of the rows is not enough."""
    data = point_of_sale(2000).with_sensitive([])
    turned = data.take(np.arange(len(data))[::-1].copy())
    same(minimal_rare(turned, 8, max_size=4).itemsets, minimal_rare(data, 8, max_size=4).itemsets)


def test_a_list_that_is_too_long_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(spread, "MOST_MOLES", 10)
    data = point_of_sale(500)
    with refused(BudgetExceeded, "More than 10 sets"):
        OnEngine(Local().read(data)).moles({"k": 20, "h": Coherence(k=20, p=3).share, "max_size": 3})


def test_a_time_limit_stops_between_the_sizes():
    miner = OnEngine(Local().read(point_of_sale(500)))
    with refused(BudgetExceeded, "time limit"):
        miner.moles({"k": 20, "h": Coherence(k=20, p=3).share, "max_size": 3, "time_limit": 1e-9})


def test_what_is_kept_and_what_joins_has_no_mole():
    data = point_of_sale(2000)
    question = {"k": 8, "h": Coherence(h="1/3", k=8, p=3).share, "max_size": 3}
    alone = {data.names[code] for code in minimal_rare(data, **{**question, "max_size": 1}).itemsets.items}
    order = [item for item in reversed(data.public) if item not in alone]
    may_join = OnEngine(Local(pieces=2).read(data)).returning(question, [], order)
    joined = [item for item in order if may_join(item)]
    keeping = Keeping(data, **question)
    for item in joined:
        keeping.keep(item)
    assert not minimal_rare(data, **question, items=joined)
    assert all(keeping.brings_mole(item) for item in set(order).difference(joined))


def share(**changes):
    """A call of the kernel for three times a, b and once a, with some arguments changed."""
    given = {
        "offsets": np.array([0, 2, 3]),
        "items": np.array([0, 1, 0], np.int32),
        "weights": np.array([3, 1]),
        "fresh": np.array([1, 1], np.uint8),
        "known_offsets": np.array([0]),
        "known_items": np.array([], np.int32),
    }
    numbers = {"things": 0, "h_num": 1, "h_den": 1, "k": 4, "size": 2, "first": 0, "end": 2, "most": 9, "work": 99}
    numbers |= {"second": 0, "second_end": len(changes.get("fresh", given["fresh"]))}
    limits = {"memory_limit": 1 << 30, "time_limit": 1e9, "progress": None}
    items, supports, grows, steps = _native.mining.mole_share(**{**given, **numbers, **limits, **changes})
    assert steps <= 99
    return items.tolist(), supports.tolist(), grows


def test_a_row_with_a_weight_stands_for_so_many():
    assert share() == ([0, 1], [3], False)
    assert share(k=3) == ([], [], True)
    assert share(first=1) == ([], [], False)
    assert share(most=0) == ([0, 1], [3], False)


def test_a_search_takes_no_more_steps_than_it_may():
    data = explosive(items=12, rows=18)
    held, question = Local(pieces=2).read(data), {"k": 3, "h": Fraction(1), "max_size": None}
    found = OnEngine(held, any_number=True).moles(question)
    same(found, InMemory(data).moles(question))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spread, "_STEPS", 100)
        patched.setattr(spread, "_STEPS_EACH", 0)
        stopped = OnEngine(held, any_number=True)
        with refused(BudgetExceeded, "too many steps"):
            stopped.moles(question)
        with refused(BudgetExceeded, "too many steps"):
            stopped.returning(question, data.public[:-1], data.public[-1:])(data.public[-1])
        same(OnEngine(held).moles(question), found)


def test_only_itemsets_with_a_fresh_item_are_asked_for():
    assert share(fresh=np.array([0, 0], np.uint8)) == ([], [], True)
    assert share(fresh=np.array([0, 1], np.uint8)) == ([0, 1], [3], False)


def test_what_holds_a_known_mole_is_not_minimal():
    rows = {
        "offsets": np.array([0, 3, 5, 7, 9]),
        "items": np.array([0, 1, 2, 0, 1, 0, 2, 1, 2], np.int32),
        "weights": np.array([1, 3, 3, 3]),
        "fresh": np.ones(3, np.uint8),
        "things": 1,
        "size": 3,
        "k": 2,
    }
    assert share(**rows) == ([0, 1, 2], [1], False)
    for pair in ([0, 1], [0, 2], [1, 2]):
        known = {"known_offsets": np.array([0, 2]), "known_items": np.array(pair, np.int32)}
        assert share(**rows, **known) == ([], [], False)
    assert share(**rows | {"k": 1}) == ([], [], True)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weights": np.array([1])}, "weight"),
        ({"end": 3}, "branches"),
        ({"first": -1}, "branches"),
        ({"size": 0}, "needs an item"),
        ({"items": np.array([0, 2, 0], np.int32)}, "vocabulary"),
        ({"known_offsets": np.array([0, 1]), "known_items": np.array([2], np.int32)}, "vocabulary"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit_together(changes, why):
    with refused(ValueError, why):
        share(**changes)
