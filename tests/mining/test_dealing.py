"""What a search on an engine counts in one piece, and which rows it sends to which share."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.engines import Piece
from veilset.io.rows import ends_of
from veilset.mining.dealing import (
    branch_costs,
    counted,
    counted_around,
    counted_beside,
    dealt_alone,
    dealt_places,
    pair_costs,
)
from veilset.mining.shares import Shares

ROWS = st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=8)
PLACE = np.array([2, 4, 0, -1, 5, 1, 3], dtype=np.int32)  # 1 and 4 are sensitive, 3 is left out
PUBLICS = 4


def piece(rows):
    codes = [code for row in rows for code in sorted(row)]
    return Piece(ends_of([len(row) for row in rows]), np.array(codes, dtype=np.int32))


def supports(rows):
    return [sum(code in row for row in rows) for code in range(7)]


@given(ROWS)
def test_supports_and_sizes(rows):
    found = counted(piece(rows), among=PLACE < PUBLICS)
    sizes = [sum(bool(PLACE[code] < PUBLICS) for code in row) for row in rows]
    assert found["supports"].tolist() == supports(rows)
    assert found["sizes"].tolist() == [sizes.count(size) for size in range(max(sizes) + 1)]


@given(ROWS, st.sets(st.integers(0, 6), max_size=3))
def test_what_is_beside_an_itemset(rows, itemset):
    found = counted_beside(piece(rows), itemset=np.array(sorted(itemset), dtype=np.int32), items=7)
    assert found["supports"].tolist() == supports([row for row in rows if row >= itemset])


@given(ROWS, st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), max_size=4))
def test_what_is_around_any_of_some_itemsets(rows, itemsets):
    asked = piece(itemsets)
    found = counted_around(piece(rows), offsets=asked.offsets, itemsets=asked.items, items=7)
    assert found["supports"].tolist() == supports([row for row in rows if any(row >= one for one in itemsets)])


@given(ROWS)
def test_a_branch_costs_what_its_rows_have_from_its_item_on(rows):
    places = [sorted(PLACE[code] for code in row if PLACE[code] >= 0) for row in rows]
    costs = [sum(len([other for other in row if other >= rank]) for row in places if rank in row) for rank in range(4)]
    assert branch_costs(piece(rows), place=PLACE, publics=PUBLICS)["costs"].tolist() == costs


@given(ROWS)
def test_a_pair_costs_what_its_rows_have_from_the_first_of_its_group_on(rows):
    found = pair_costs(piece(rows), place=PLACE, large=np.array([0, 2], np.int32), group=np.array([0, 1, 1, 2]))
    wanted = []
    for branch in (0, 2):
        for group in ({0}, {1, 2}, {3}):
            costs = 0
            for row in rows:
                places = sorted(PLACE[code] for code in row if PLACE[code] >= 0)
                if branch in places and group.intersection(places):
                    costs += sum(place >= min(group.intersection(places)) for place in places)
            wanted.append(costs)
    assert found["costs"].tolist() == wanted


def shares(of_branch, parts, *bounds):
    return Shares(np.array(of_branch, np.int32), np.array(parts, np.int32), np.array(bounds, np.int32))


@given(
    ROWS,
    st.sampled_from(
        [
            shares([0, 0, 0, 0], [1] * 5, (0, 4, 0, 4)),
            shares([0, 1, 1, 2], [3] * 5, (0, 1, 0, 4), (1, 3, 0, 4), (3, 4, 0, 4)),
            shares([-1, 0, 0, 0], [1, 3, 3, 3, 3], (1, 4, 0, 4), (0, 1, 1, 2), (0, 1, 2, 4)),
            shares(
                [0, -1, -1, 1], [2, 2, 4, 5, 5], (0, 1, 0, 4), (3, 4, 0, 4), (1, 2, 2, 3), (1, 2, 3, 4), (2, 3, 3, 4)
            ),
        ]
    ),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.booleans(),
)
def test_a_share_gets_the_places_that_it_needs_if_a_fresh_one_is_among_them(rows, shares, fresh, whole):
    whole = whole and (shares.of_branch >= 0).all()
    offsets, values = dealt_places(
        piece(rows), place=PLACE, shares=shares, fresh=np.array(fresh, np.uint8), whole=whole
    )
    wanted = []
    for row in rows:
        places = sorted(PLACE[code] for code in row if PLACE[code] >= 0)
        for share, (first, end, second, second_end) in enumerate(shares.bounds.tolist()):
            mine = [place for place in places if first <= place < end]
            others = [place for place in places if second <= place < second_end]
            if not mine or not others:
                continue
            rest = [place for place in places if place >= mine[0]]
            if second > 0:
                rest = [first, *(place for place in places if place >= others[0])]
            if any(place < PUBLICS and fresh[place] for place in rest):
                wanted.append([share, *(places if whole else rest)])
    assert sorted(values[begin:end].tolist() for begin, end in pairwise(offsets)) == sorted(wanted)


@given(ROWS)
def test_single_items_need_the_sensitive_ones_alone(rows):
    offsets, values = dealt_alone(piece(rows), place=PLACE, shares=shares([0, 0, 1, 2], [3] * 5))
    wanted = []
    for row in rows:
        places = sorted(PLACE[code] for code in row if PLACE[code] >= 0)
        things = [place for place in places if place >= PUBLICS]
        wanted += [[(0, 0, 1, 2)[place], place, *things] for place in places if place < PUBLICS]
    assert [values[begin:end].tolist() for begin, end in pairwise(offsets)] == wanted
