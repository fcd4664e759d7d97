"""Which rows go to which share of the sensitive items: all that these need, nothing else, and equal ones once."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.audit import rho_dealing
from veilset.audit.rho_dealing import company, costs_of_items, dealt_rows, shares_of, supports_of
from veilset.audit.shares import stretches
from veilset.engines import Piece
from veilset.io.rows import ends_of

ROWS = st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=8)
PLACE = np.array([-1, 0, -1, -1, 1, -1, -1, -1, -1, 2], dtype=np.int32)  # 1, 4 and 9 are asked about
SUPPORTS = np.array([7, 2, 5, 5, 1, 9, 0, 3, 3, 8])
RANK = np.array([7, 2, 5, 6, 1, 9, 0, 3, 4, 8], dtype=np.int32)


def piece(rows):
    codes = [code for row in rows for code in sorted(row)]
    return Piece(ends_of([len(row) for row in rows]), np.array(codes, dtype=np.int32))


def bits(items):
    return np.packbits([code in items for code in range(10)])


@given(ROWS)
def test_supports(rows):
    assert supports_of(piece(rows), items=10)["supports"].tolist() == [
        sum(code in row for row in rows) for code in range(10)
    ]


@given(ROWS)
def test_an_item_costs_its_rows_and_the_holders_of_the_rarest_item_beside_it(rows):
    wanted = [0, 0, 0]
    for row in rows:
        for code in row & {1, 4, 9}:
            others = sorted(RANK[other] for other in row if other != code)
            rarest = SUPPORTS[RANK.tolist().index(others[0])] if len(others) > 1 else 0
            wanted[PLACE[code]] += len(row) + rarest
    found = costs_of_items(piece(rows), place=PLACE, rank=RANK, supports=SUPPORTS)["costs"]
    assert found.tolist() == wanted


@given(ROWS, st.integers(1, 3))
def test_company_is_what_shares_a_row(rows, slots):
    group = np.array([-1, 0, -1, -1, 0, -1, -1, -1, -1, 1], dtype=np.int32)
    offsets, values = company(piece(rows), group=group, slots=slots)
    found = [tuple(values[begin:end].tolist()) for begin, end in pairwise(offsets)]
    wanted = {
        (number % slots, number, code)
        for number, items in enumerate([{1, 4}, {9}])
        for row in rows
        if row & items
        for code in row
    }
    assert len(found) == len(set(found))
    assert set(found) == wanted


@given(ROWS, st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=3))
def test_a_share_gets_the_items_that_it_wants(rows, wanted):
    offsets, values = dealt_rows(piece(rows), wanted=[bits(items) for items in wanted])
    found = [values[begin:end].tolist() for begin, end in pairwise(offsets)]
    assert found == [[share, *sorted(row & items)] for share, items in enumerate(wanted) for row in rows if row & items]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30), st.integers(1, 4))
def test_stretches_cost_about_the_same(costs, count):
    stretch = stretches(np.array(costs, dtype=np.int64), count).tolist()
    assert stretch == sorted(stretch)
    room = max(1, -(-sum(costs) // count))
    for number in set(stretch):
        mine = [cost for cost, one in zip(costs, stretch, strict=True) if one == number]
        assert len([cost for cost in mine if cost]) <= 1 or sum(mine) <= room


def test_shares_are_as_many_as_can_be_worked_on_at_once():
    everything = np.stack([bits(range(10))] * 6)
    shares = shares_of(everything, np.array([10, 10, 10, 10, 10, 10]), SUPPORTS, 2)
    assert shares.tolist() == [0, 0, 0, 1, 1, 1]


def test_more_shares_where_one_would_be_too_large(monkeypatch):
    monkeypatch.setattr(rho_dealing, "MOST_IN_SHARE", 15)
    company = np.stack([bits({5, 9, 0}), bits({5, 9}), bits({2, 3}), bits({7, 8}), bits({1, 7}), bits({4})])
    # 24 occurrences are more than 15: what adds no more than a quarter joins them; 10 + 6 are too many; 6 + 2 + 1 not.
    shares = shares_of(company, np.ones(6, dtype=np.int64), SUPPORTS, 1)
    assert shares.tolist() == [0, 0, 1, 2, 2, 2]
