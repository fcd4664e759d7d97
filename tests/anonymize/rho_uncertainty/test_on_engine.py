"""Anonymizing what an engine holds: the items and names of the methods in memory, and the same rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.as_in_memory import same
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.spread import point_of_sale
from veilset import (
    BudgetExceeded,
    InvalidArgument,
    RhoUncertainty,
    Taxonomy,
    Transactions,
    anonymize,
)
from veilset.anonymize.rho_uncertainty import on_engine
from veilset.engines import Local, Piece
from veilset.limits import Limits
from veilset.testing import strategies

METHODS = [
    ("suppress", {}),
    ("suppress", {"exchange": False}),
    ("SuppressControl", {}),
    ("top-down", {}),
    ("top-down", {"exchange": False}),
    ("top-down", {"name_leaves_from": 2}),
    ("TDControl", {}),
    ("remove-sensitive", {}),
]


@st.composite
def questions(draw):
    data = draw(strategies.protected() | strategies.transactions(max_rows=14))
    assume(data.sensitive)
    return data, draw(strategies.rho_promises())


@examples(300)
@given(questions(), st.integers(1, 3), st.sampled_from(METHODS))
def test_what_the_methods_in_memory_suppress(asked, pieces, chosen):
    method, options = chosen
    same(*asked, pieces, method, **options)


@examples(200)
@given(questions(), st.sampled_from(["suppress", "top-down"]), st.data())
def test_weights_items_to_keep_and_trees(asked, method, draw):
    data, _ = asked
    items = st.sampled_from(data.names)
    options = {
        "weights": draw.draw(st.none() | st.just("equal") | st.dictionaries(items, st.sampled_from([0, 0.5, 1, 7]))),
        "sensitive_weight": draw.draw(st.sampled_from([1, 3])),
        "keep": draw.draw(st.lists(items, max_size=2)),
    }
    if method == "top-down":
        groups = st.lists(st.sampled_from(["G1", "G2", "G3"]), max_size=2)
        leaves = [*data.public, "absent", *data.sensitive[:1]]
        options["taxonomy"] = Taxonomy.from_paths({leaf: draw.draw(groups) for leaf in leaves})
    same(*asked, 2, method, **options)


@examples(100)
@given(questions(), st.sampled_from(["suppress", "top-down"]), st.randoms(use_true_random=False))
def test_the_order_of_the_data_plays_no_part(asked, method, random):
    data, promise = asked
    rows = data.to_lists()
    random.shuffle(rows)
    other = Transactions.from_lists(rows, sensitive=data.sensitive)
    one, two = (anonymize(rows, promise, method=method) for rows in (data, other))
    assert (one.suppressed, one.generalized) == (two.suppressed, two.generalized)


@pytest.mark.parametrize("method", ["suppress", "top-down", "remove-sensitive"])
def test_more_transactions(method):
    data = point_of_sale(1500)
    data = data.with_sensitive(data.names[::5])
    here, _ = same(data, RhoUncertainty(rho="1/3"), 3, method)
    assert here.suppressed
    if method != "remove-sensitive":
        same(data, RhoUncertainty(rho="1/3"), 2, method, chosen=here.options["chosen"])


def test_what_one_task_cannot_hold_is_refused_by_name(monkeypatch):
    """What counts are different transactions: equal ones are one."""
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]] * 5, sensitive=["s"])
    held, promise = Local(pieces=3).read(data), RhoUncertainty(rho="1/2")
    monkeypatch.setattr(on_engine, "MOST", 4)
    same(data, promise, 3, "suppress")
    monkeypatch.setattr(on_engine, "MOST", 3)
    with refused(BudgetExceeded, "4 items", "remove-sensitive"):
        anonymize(held, promise, method="suppress")
    same(data, promise, 3, "remove-sensitive")


def test_equal_rows_go_to_one_share():
    rows = [[0, 1], [2], [], [0, 1], [1, 2], [], [2]]
    offsets = np.append(0, np.cumsum([len(row) for row in rows]))
    piece = Piece(offsets, np.array([item for row in rows for item in row], dtype=np.int32))
    for shares in (1, 2, 7):
        ends, values = on_engine.dealt_by_row(piece, shares=shares)
        dealt = [values[begin:end].tolist() for begin, end in pairwise(ends)]
        assert [row[1:] for row in dealt] == rows
        assert all(0 <= row[0] < shares for row in dealt)
        assert len({tuple(row) for row in dealt}) == 4


def test_limits_of_time_hold_in_the_task():
    data = point_of_sale(1500)
    held = Local(pieces=2).read(data.with_sensitive(data.names[::5]))
    with refused(BudgetExceeded, "time"):
        anonymize(held, RhoUncertainty(rho="1/3"), method="TDControl", time_limit=1e-6)
    release = on_engine.suppress(held, RhoUncertainty(rho="1/3"), limits=Limits(time_limit=1e-6))
    assert [one.note for one in release.attempts] == ["stopped at the time limit"] * 2


HELD = Local().read(Transactions.from_lists([["a", "b", "x"], ["a", "b"], ["c"]], sensitive=["x"]))
NOTHING = Local().read(Transactions.from_lists([["a"]]))


@pytest.mark.parametrize(
    ("held", "options", "named"),
    [
        (HELD, {"partial": True}, ["partial=True", "vs.read"]),
        (HELD, {"truthful": False}, ["truthful"]),
        (HELD, {"method": "select-a-size"}, ["'select-a-size'", "'suppress'"]),
        (HELD, {"keep": ["zebra"]}, ["'zebra'"]),
        (HELD, {"sensitive_weight": 0}, ["sensitive_weight"]),
        (HELD, {"taxonomy": {"a": ["G"]}}, ["'b'", "'c'"]),
        (HELD, {"chosen": ["zebra"]}, ["'zebra'"]),
        (NOTHING, {}, ["No item is sensitive"]),
        (NOTHING, {"method": "suppress"}, ["No item is sensitive"]),
        (NOTHING, {"method": "remove-sensitive"}, ["No item is sensitive"]),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(held, options, named):
    with refused(InvalidArgument, *named):
        anonymize(held, RhoUncertainty(rho="1/2"), **options)
