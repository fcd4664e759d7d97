"""The account of edits on an engine: what the one in memory says, and what only sums can miss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset import Transactions
from veilset.audit import edits_account_for, held_edits_account_for
from veilset.engines import Local
from veilset.testing import strategies


@examples(200)
@given(strategies.transactions(max_rows=8), strategies.transactions(max_rows=8), st.data())
def test_the_same_answer_as_in_memory_but_for_the_order(data, other, draw):
    gone = draw.draw(st.lists(st.sampled_from(data.names), unique=True)) if data.names else []
    edited = data.without(gone)
    released = draw.draw(st.sampled_from([edited, edited.take(np.arange(len(edited))[::-1].copy()), other]))
    here = edits_account_for(data.take(order_of(edited)), released.take(order_of(released)), **account(gone))
    there = held_edits_account_for(Local(pieces=2).read(data), Local(pieces=3).read(released), suppressed=gone)
    assert (here is None) == (there is None), (here, there)


def account(gone):
    return {"suppressed": gone, "generalized": {}, "withheld": ()}


def order_of(data):
    """The rows in the order of their lists."""
    return np.array(sorted(range(len(data)), key=data.__getitem__), dtype=np.int64)


@pytest.mark.parametrize(
    ("released", "named"),
    [
        ([["a"], ["b"], ["a", "b"]], None),
        ([["a"], ["b"]], "2 transactions"),
        ([["a"], ["b"], ["b"]], "'a'"),
        ([["a", "b"], ["a", "b"], []], "transactions of the release"),
        ([["a"], ["b"], ["a", "b", "d"]], "'d'"),
    ],
)
def test_what_differs_is_named(released, named):
    original = Local(pieces=2).read(Transactions.from_lists([["a", "c"], ["b"], ["b", "a"]]))
    found = held_edits_account_for(original, Local().read(Transactions.from_lists(released)), suppressed=["c"])
    assert found == named if named is None else named in found


def test_roles_and_unknown_items():
    data = Transactions.from_lists([["a", "b"], ["b"]], sensitive=["a"])
    held = Local().read(data)
    assert "roles" in held_edits_account_for(held, held.marked(["b"]), suppressed=[])
    assert "'z'" in held_edits_account_for(held, held, suppressed=["z"])
