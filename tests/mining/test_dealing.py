"""What a search on an engine counts in one piece, and which rows it sends to which share."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.engines import Piece
from veilset.io.rows import ends_of
from veilset.mining.dealing import branch_costs, counted, counted_around, counted_beside, dealt_places, shares_of

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


@given(
    ROWS,
    st.sampled_from([[0, 0, 0, 0], [0, 1, 1, 2], [0, 1, 2, 3]]),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.booleans(),
)
def test_a_share_gets_the_places_from_its_first_one_on_if_a_fresh_one_follows(rows, share, fresh, whole):
    offsets, values = dealt_places(
        piece(rows), place=PLACE, share=np.array(share, np.int32), fresh=np.array(fresh, np.uint8), whole=whole
    )
    wanted = []
    for row in rows:
        places = sorted(PLACE[code] for code in row if PLACE[code] >= 0)
        for one in sorted({share[place] for place in places if place < PUBLICS}):
            first = min(place for place in places if place < PUBLICS and share[place] == one)
            rest = [place for place in places if place >= first]
            if any(place < PUBLICS and fresh[place] for place in rest):
                wanted.append([one, *(places if whole else rest)])
    assert [values[begin:end].tolist() for begin, end in pairwise(offsets)] == wanted


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(1, 4))
def test_shares_are_stretches_that_cost_about_the_same(costs, parallelism):
    share = shares_of(np.array(costs, dtype=np.int64), parallelism).tolist()
    assert share == sorted(share)
    assert set(share) == set(range(max(share, default=-1) + 1))
    room = sum(costs) / (3 * parallelism)
    for number in set(share):
        branches = [cost for cost, one in zip(costs, share, strict=True) if one == number]
        assert sum(branches) <= room + max(branches)
