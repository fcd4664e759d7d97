"""Anonymizing what an engine holds: the suppressed items of the methods in memory, and the same rows."""

import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.as_in_memory import same
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import explosive
from tests.support.spread import point_of_sale
from veilset import (
    BudgetExceeded,
    Coherence,
    InvalidArgument,
    RhoUncertainty,
    Taxonomy,
    Transactions,
    anonymize,
    generate,
    measure,
    publish,
)
from veilset.engines import Local
from veilset.mining import spread
from veilset.testing import strategies

METHODS = [
    ("auto", {}),
    ("tree", {}),
    ("Tree-Cohesion", {}),
    ("tree", {"largest_listed": 1}),
    ("tree", {"largest_listed": 2, "restore": False}),
    ("remove-all", {}),
    ("remove-all", {"restore": True}),
    ("k-anonymity", {}),
]


@st.composite
def questions(draw):
    data = draw(strategies.transactions(max_rows=14))
    promise = draw(strategies.coherence_promises())
    return data, promise


@examples(400)
@given(questions(), st.integers(1, 3), st.sampled_from(METHODS))
def test_what_the_methods_in_memory_suppress(asked, pieces, chosen):
    method, options = chosen
    same(*asked, pieces, method, **options)


@examples(300)
@given(questions(), st.sampled_from(["auto", "tree"]), st.data())
def test_weights_and_items_to_keep(asked, method, draw):
    data, promise = asked
    assume(data.public)
    items = st.sampled_from(data.public)
    weights = draw.draw(st.none() | st.just("equal") | st.dictionaries(items, st.sampled_from([0, 0.5, 1, 7])))
    keep = draw.draw(st.lists(items, max_size=2))
    same(data, promise, 2, method, weights=weights, keep=keep)


@examples(300)
@given(questions(), st.sampled_from(["auto", "tree", "remove-all"]))
def test_groups_are_one_thing(asked, method):
    data, promise = asked
    assume(len(data.sensitive) > 1)
    promise = Coherence(h=promise.h, k=promise.k, p=promise.p, sensitive_groups=[data.sensitive[:2]])
    same(data, promise, 3, method)


@st.composite
def trees(draw, data):
    """Trees of up to three levels over the public items, with leaves that do not occur or are sensitive."""
    leaves = [*data.public, "absent", *data.sensitive[:1]]
    groups = st.lists(st.sampled_from(["G1", "G2", "G3"]), max_size=2)
    return Taxonomy.from_paths({leaf: draw(groups) for leaf in leaves})


@examples(300)
@given(questions(), st.integers(1, 3), st.data())
def test_the_names_that_generalize_gives(asked, pieces, draw):
    data, promise = asked
    assume(data.public)
    items = st.sampled_from(data.public)
    options = {
        "taxonomy": draw.draw(trees(data)),
        "name_leaves_from": draw.draw(st.sampled_from([None, 0, 2])),
        "keep": draw.draw(st.lists(items, max_size=1)),
    }
    if len(data.sensitive) > 1 and draw.draw(st.booleans()):
        promise = Coherence(h=promise.h, k=promise.k, p=promise.p, sensitive_groups=[data.sensitive[:2]])
    same(data, promise, pieces, "generalize", **options)


def test_names_among_more_transactions(tmp_path):
    data = point_of_sale(2000)
    tree = Taxonomy.by_fan_out(data, 4)
    promise = Coherence(h="1/2", k=10, p=2)
    here, there = same(data, promise, 3, "generalize", taxonomy=tree)
    assert here.suppressed
    assert here.generalized
    assert "have a coarser name" in repr(there)
    same(data, promise, 3, "generalize", taxonomy=tree, chosen=here.options["chosen"])
    with refused(InvalidArgument, "coarser names"):
        publish(there, tmp_path / "release")


def test_a_search_for_names_needs_a_list_of_moles(monkeypatch):
    monkeypatch.setattr(spread, "MOST_MOLES", 100)
    data = point_of_sale(1000).with_sensitive([])
    held, tree = Local(pieces=2).read(data), Taxonomy.by_fan_out(data, 4)
    with refused(BudgetExceeded, "More than 100 sets"):
        anonymize(held, Coherence(k=10, p=3), method="generalize", taxonomy=tree)


@pytest.mark.parametrize("method", ["auto", "tree", "remove-all"])
def test_a_group_among_more_transactions(method):
    data = generate.grocery_pharmacy()
    here, _ = same(data, Coherence(h=0.4, k=5, p=2, sensitive_groups=[data.sensitive[:2]]), 3, method)
    assert here.suppressed


def test_the_name_of_a_group_may_change_the_order_of_items():
    """Numbers are in the order of numbers, but not beside the name of a group."""
    data = point_of_sale(500)
    here, _ = same(data, Coherence(h="1/2", k=10, p=2, sensitive_groups=[data.sensitive]), 2, "auto")
    assert list(here.suppressed) != sorted(here.suppressed, key=int)


@examples(200)
@given(questions(), st.sampled_from([1, 2, 256]))
def test_auto_without_a_list_of_all_moles(asked, block):
    """The list is too long here and there; items return by blocks."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules["veilset.anonymize.coherence.auto"], "_MOST_MOLES", 1)
        patched.setattr(spread, "FIRST_BLOCK", block)
        same(*asked, 2, "auto")


@pytest.mark.parametrize("method", ["auto", "tree", "remove-all", "k-anonymity"])
@pytest.mark.parametrize(("k", "p", "h"), [(60, 1, "1/3"), (10, 2, 1), (8, 3, "1/2"), (5, None, "1/4")])
def test_more_transactions(k, p, h, method):
    here, _ = same(point_of_sale(2000), Coherence(h=h, k=k, p=p), 3, method)
    assert here.suppressed


def test_lists_that_do_not_fit_the_driver(monkeypatch):
    """A block of items is halved until the moles in it can be listed; what needs all of them is refused by name."""
    monkeypatch.setattr(sys.modules["veilset.anonymize.coherence.auto"], "_MOST_MOLES", 100)
    monkeypatch.setattr(spread, "MOST_MOLES", 100)
    data, promise = point_of_sale(1000).with_sensitive([]), Coherence(k=10, p=3)
    held = Local(pieces=2).read(data)
    there = anonymize(held, promise)
    states = {one.name: one.state for one in there.attempts}
    assert states["tree"] == "not finished"
    assert states["staged"] == "not finished", "its lists are too long as well"
    here = {one.name: one.loss for one in anonymize(data, promise).attempts}
    assert {one.name: one.loss for one in there.attempts if one.loss is not None} == {
        name: here[name] for name in ("insertion", "core")
    }
    for method in ("tree", "remove-all"):
        with refused(BudgetExceeded, "More than 100 sets"):
            anonymize(held, promise, method=method)


def test_auto_where_larger_sets_take_too_many_steps(monkeypatch):
    """What keeps classes large enough is an answer at once."""
    monkeypatch.setattr(spread, "_STEPS", 100)
    monkeypatch.setattr(spread, "_STEPS_EACH", 0)
    data, promise = explosive(items=12, rows=18), Coherence(k=3, p=None)
    held = Local(pieces=2).read(data)
    release = anonymize(held, promise)
    assert release.certified
    assert release.suppressed == anonymize(data, promise, method="k-anonymity").suppressed
    assert {one.name: one.state for one in release.attempts}["core"] == "not finished"
    for method in ("tree", "remove-all"):
        with refused(BudgetExceeded, "too many steps"):
            anonymize(held, promise, method=method)


def test_what_was_chosen_is_not_chosen_again():
    data, promise = point_of_sale(500), Coherence(h="1/2", k=8, p=2)
    _, there = same(data, promise, 2, "auto")
    same(data, promise, 2, "auto", chosen=there.suppressed)


def test_a_choice_that_is_not_enough_is_not_certified():
    held = Local().read(Transactions.from_lists([["a"], ["a"], ["b"]]))
    release = anonymize(held, Coherence(k=2, p=1), chosen=[])
    assert not release.certified
    assert not release.audit.holds
    assert "not certified" in repr(release)


def test_a_release_says_what_it_is():
    held = Local().read(Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"]]))
    shown = repr(anonymize(held, Coherence(k=2, p=2)))
    assert "certified: Coherence(k=2, p=2)" in shown
    assert "2 items of 3" in shown
    assert "7 occurrences of 9 kept" in shown
    assert "suppressed: c" in shown


HELD = Local().read(Transactions.from_lists([["a", "b", "x"], ["a", "b"], ["c"]], sensitive=["x"]))


@pytest.mark.parametrize(
    ("promise", "options", "named"),
    [
        (Coherence(h=1, k=2, p=2), {"method": "optimal"}, ["'optimal'", "'auto'", "'remove-all'"]),
        (Coherence(h=1, k=2, p=2), {"method": "replay", "generalized": {"a": "b"}}, ["recode", "vs.read"]),
        (RhoUncertainty(rho=0.5), {"method": "partial"}, ["'partial'", "rho-uncertainty", "vs.read"]),
        (Coherence(h=1, k=2, p=2), {"method": "generalize", "partial": True, "taxonomy": {}}, ["partial=True"]),
        (Coherence(h=1, k=2, p=2), {"method": "generalize"}, ["taxonomy"]),
        (Coherence(h=1, k=2, p=2), {"threads": 2}, ["threads=2"]),
        (Coherence(h=1, k=2, p=2), {"drop_empty": True}, ["drop_empty=True"]),
        (Coherence(h=1, k=2, p=2), {"allow_sensitive": True}, ["allow_sensitive=True"]),
        (Coherence(h=1, k=2, p=2), {"largest_listed": 2}, ["largest_listed"]),
        (Coherence(h=1, k=2, p=2), {"keep": ["x"]}, ["'x'"]),
        (Coherence(h=1, k=2, p=2), {"keep": ["zebra"]}, ["'zebra'"]),
        (Coherence(k=2, p=2), {}, ["h"]),
    ],
)
def test_what_an_engine_cannot_do_is_refused_by_name(promise, options, named):
    with refused(InvalidArgument, *named):
        anonymize(HELD, promise, **options)


def test_a_release_on_an_engine_is_not_measured():
    with refused(InvalidArgument, "engine"):
        measure(HELD.to_transactions(), anonymize(HELD, Coherence(h=1, k=1, p=1)))
