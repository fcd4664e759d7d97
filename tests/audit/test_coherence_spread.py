"""The auditor for engines, in this process: the answer of the one that sees all transactions at once."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.memory import leaving
from tests.support.spread import longest, point_of_sale, skewed, takes_another_way, values, watched
from veilset import (
    BudgetExceeded,
    Coherence,
    InvalidArgument,
    LDiverseAnatomy,
    Transactions,
    _native,
    audit,
    generate,
)
from veilset.audit import shares
from veilset.engines import Local
from veilset.mining import count_frequent
from veilset.testing import strategies


@given(
    strategies.transactions(max_rows=20),
    strategies.coherence_promises(),
    st.booleans(),
    st.integers(1, 5),
    st.sampled_from([0, 2, 1000]),
)
def test_the_answer_of_the_local_auditor(data, promise, unlimited, pieces, witnesses):
    if unlimited:
        promise = Coherence(h=promise.h, k=promise.k, p=None)
    here = audit(data, promise, witnesses=witnesses)
    there = audit(Local(pieces=pieces).read(data), promise, witnesses=witnesses)
    if takes_another_way(data, promise):
        here, there = (replace(one, checked=0, margins=one.margins if one.holds else {}) for one in (here, there))
    assert here == there


@given(strategies.transactions(max_rows=20), strategies.coherence_promises(), st.sampled_from([1, 4, 12]))
def test_branches_that_are_too_large_for_a_share_are_cut(data, promise, most):
    """The same answer, but for the itemset that a margin names where several have the same value."""
    promise = Coherence(h=promise.h, k=promise.k, p=promise.p or longest(data))
    held = Local(pieces=2).read(data)
    whole = audit(held, promise, witnesses=1000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "MOST_IN_SHARE", most)
        cut = audit(held, promise, witnesses=1000)
    assert values(cut) == values(whole)
    assert replace(cut, margins={}) == replace(whole, margins={})


@pytest.mark.parametrize(("p", "sensitive"), [(2, False), (2, True), (3, True), (4, True)])
def test_a_task_gets_no_more_than_its_limit_of_skewed_data(p, sensitive, monkeypatch):
    """One item is in half of all transactions, and one transaction in a hundred is long."""
    data = skewed(3000)
    data = data if sensitive else data.with_sensitive([])
    read = watched(monkeypatch)
    promise, most = Coherence(h="1/3", k=8, p=p), 3000
    whole = audit(Local(pieces=3).read(data), promise, witnesses=50)
    largest = max(len(rows.items) for rows in read)
    read.clear()
    monkeypatch.setattr(shares, "MOST_IN_SHARE", most)
    cut = audit(Local(pieces=3).read(data), promise, witnesses=50)
    assert replace(cut, margins={}) == replace(whole, margins={})
    assert values(cut) == values(whole)
    assert max(len(rows.items) for rows in read) <= most < largest


@given(
    strategies.transactions(max_rows=20) | strategies.protected(),
    strategies.coherence_promises(),
    st.booleans(),
    st.sampled_from([-1, 0, 5]),
)
def test_whole_rows_decide_where_counting_takes_too_long(data, promise, unlimited, steps):
    """The verdict is the same, and what is found are minimal moles."""
    if unlimited:
        promise = Coherence(h=promise.h, k=promise.k, p=None)
    here = audit(data, promise, witnesses=1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["veilset.audit.coherence_spread"], "_WORK", steps)
        there = audit(Local(pieces=3).read(data), promise, witnesses=1000)
    assert here.holds == there.holds
    assert set(there.witnesses) <= set(here.witnesses)
    if there.complete:
        assert there.found == len(there.witnesses) == here.found
    else:
        assert 0 < there.found == len(there.witnesses) <= here.found


def test_long_rows_need_no_itemsets():
    """Thirty items in common have a billion parts."""
    common = [f"i{number:02}" for number in range(30)]
    rows = [[*common, "s"], [*common], [*common[:20]], [*common[:20]], [*common[10:]], [*common[10:]]]
    data = Transactions.from_lists(rows * 5, sensitive=["s"])
    held = Local(pieces=3).read(data)
    for promise in [Coherence(h="1/2", k=5, p=p) for p in (None, 25, 30)]:
        assert audit(held, promise).holds
        assert audit(held, promise).margins == audit(data, promise).margins
    broken = audit(held, Coherence(h=1, k=11, p=None))
    assert not broken.holds
    assert broken.witnesses == audit(data, Coherence(h=1, k=11, p=None)).witnesses


@pytest.mark.parametrize("kernel", ["whole_rows_share", "exposed_part", "moles_in"])
def test_the_kernels_of_whole_rows_refuse_what_does_not_fit_together(kernel):
    row = np.array([0, 1], np.int32)
    numbers = {
        "whole_rows_share": {"vocabulary": 2, "first": 0, "end": 2, "row_limit": 5, "threads": 1},
        "exposed_part": {"vocabulary": 2},
        "moles_in": {"kinds": 0, "h_num": 1, "h_den": 1},
    }
    between = {"whole_rows_share": [row, np.array([3, 3])], "exposed_part": [row], "moles_in": [row * 0 - 1, row]}
    limits = {"k": 4, "memory_limit": 1 << 30, "time_limit": 1e9, "progress": None}

    def asked(weights, *last):
        given = [np.array([0, 2]), row, np.array(weights), *between[kernel]]
        given[len(given) - len(last) :] = last
        return getattr(_native.audit, kernel)(*given, **numbers[kernel], **limits)

    assert asked([3])
    with refused(ValueError, "weight"):
        asked([3, 3])
    if kernel == "whole_rows_share":
        with refused(ValueError, "branches"):
            asked([3], np.array([3]))
    else:
        with refused(ValueError, "vocabulary"):
            asked([3], np.array([0, 2], np.int32))
    if kernel == "exposed_part":
        with refused(ValueError, "holders"):
            asked([4])


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_many_shares(p, pieces):
    data = point_of_sale(2000)
    promise = Coherence(h="1/3", k=8, p=p)
    answer = audit(Local(pieces=pieces).read(data), promise, witnesses=50)
    assert answer == audit(data, promise, witnesses=50)
    assert (answer.found > 50) == (p > 1)


def test_groups_are_one_thing():
    data = generate.grocery_pharmacy()
    promise = Coherence(h=0.4, k=5, p=2, sensitive_groups=[data.sensitive[:2]])
    assert audit(Local(pieces=3).read(data), promise) == audit(data, promise)


def test_what_an_engine_does_not_audit_is_refused_by_name():
    held = Local().read(Transactions.from_lists([["a", "b", "c"], ["a"]]))
    with refused(InvalidArgument, "LDiverseAnatomy", "only Coherence, RhoUncertainty"):
        audit(held, LDiverseAnatomy(l=2))
    with refused(InvalidArgument, "threads"):
        audit(held, Coherence(k=2, p=1), threads=2)
    with refused(InvalidArgument, "LocalHeld", "mined"):
        count_frequent(held, 2)


def test_a_time_limit_stops_between_the_levels():
    held = Local().read(generate.grocery_pharmacy())
    with refused(BudgetExceeded, "time limit"):
        audit(held, Coherence(h=0.4, k=10, p=3), time_limit=1e-9)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_safe_itemsets_keep_to_the_memory_of_the_driver():
    held = Local(pieces=3).read(point_of_sale(20_000))
    with refused(BudgetExceeded, "memory limit"):
        audit(held, Coherence(h=1, k=2, p=4), memory_limit=leaving(1000))


def test_progress_ends_once_and_goes_on():
    told = []
    audit(Local().read(point_of_sale(200)), Coherence(h=1, k=3, p=3), progress=lambda *step: told.append(step))
    done = [step / steps for _, step, steps in told]
    assert done == sorted(done)
    assert done.index(1) == len(done) - 1


def share(**changes):
    """A call of the kernel for one row, a and b, with some arguments changed."""
    given = {
        "offsets": np.array([0, 2]),
        "items": np.array([0, 1], np.int32),
        "weights": np.array([3]),
        "kind": np.array([-1, -1], np.int32),
        "order": np.array([0, 1], np.int32),
        "supports": np.array([5, 5]),
        "level_items": [],
        "level_supports": [],
        "level_children": [],
        "met": [0, 0, 1, 0, 1],
    }
    numbers = {"kinds": 0, "h_num": 1, "h_den": 1, "k": 2, "p": 2, "level": 2, "first": 0, "end": 2}
    numbers |= {"second": 0, "second_end": 2}
    limits = {
        "witness_limit": 5,
        "work_limit": 1 << 40,
        "threads": 1,
        "memory_limit": 1 << 30,
        "time_limit": 1e9,
        "progress": None,
    }
    return _native.audit.coherence_share(**{**given, **numbers, **limits, **changes})


def test_a_row_with_a_weight_stands_for_so_many():
    assert share()["checked"] == 1
    assert share(k=4)["identity"] == share(weights=np.array([1]))["identity"] == 1
    assert share()["identity"] == 0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weights": np.array([1, 1])}, "weight"),
        ({"order": np.array([0, 2], np.int32)}, "numbered"),
        ({"kind": np.array([0, -1], np.int32), "kinds": 1}, "numbered"),
        ({"kind": np.array([1, -1], np.int32), "kinds": 1}, "sensitive"),
        ({"supports": np.array([3])}, "branches"),
        ({"end": 3}, "branches"),
        ({"level": 3, "p": 3}, "level"),
        (
            {
                "level": 3,
                "p": 3,
                "level_items": [np.array([1], np.int32)],
                "level_supports": [np.array([3])],
                "level_children": [np.array([1], np.int32)],
            },
            "fit together",
        ),
    ],
)
def test_the_kernel_refuses_what_does_not_fit_together(changes, why):
    with refused(ValueError, why):
        share(**changes)
