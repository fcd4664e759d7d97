"""Which rows go to which share: all that its branches need, nothing else, and equal ones once."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spread import point_of_sale
from veilset import Coherence, audit
from veilset.audit.dealing import (
    costs_of_branches,
    costs_of_pairs,
    dealt_overlaps,
    dealt_rows,
    dealt_whole,
    survey,
)
from veilset.audit.shares import Shares
from veilset.engines import Local, Piece
from veilset.engines.local import LocalDealt
from veilset.io.rows import ends_of

ROWS = st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=8)
KIND = np.array([-1, 0, -1, -1, 1, -1, -1], dtype=np.int32)  # 1 and 4 are sensitive
RANK = np.array([2, -1, 0, -1, -1, 1, 3], dtype=np.int32)  # 3 is too rare
ORDER = np.array([2, 5, 0, 6], dtype=np.int32)


def piece(rows):
    codes = [code for row in rows for code in sorted(row)]
    return Piece(ends_of([len(row) for row in rows]), np.array(codes, dtype=np.int32))


@given(ROWS)
def test_what_level_0_needs(rows):
    found = survey(piece(rows), kind=KIND, things=2)
    assert found["supports"].tolist() == [sum(code in row for row in rows) for code in range(7)]
    assert found["with"].tolist() == [sum(code in row for row in rows) for code in (1, 4)]
    assert found["with_any"].tolist() == [sum(bool(row & {1, 4}) for row in rows)]
    public = [len(row - {1, 4}) for row in rows]
    assert found["sizes"].tolist() == [public.count(size) for size in range(max(public) + 1)]


@given(ROWS)
def test_a_branch_costs_what_its_rows_have_from_its_item_on(rows):
    costs = [
        sum(sum(RANK[code] >= rank for code in row) for row in rows if ORDER[rank] in row) for rank in range(len(ORDER))
    ]
    assert costs_of_branches(piece(rows), rank=RANK)["costs"].tolist() == costs


@given(ROWS)
def test_a_pair_costs_what_its_rows_have_from_the_first_of_its_group_on(rows):
    found = costs_of_pairs(
        piece(rows), rank=RANK, cut=np.array([0, 1], np.int32), group=np.array([0, 0, 1, 2], np.int32)
    )
    wanted = []
    for branch in (0, 1):
        for group in ({0, 1}, {2}, {3}):
            costs = 0
            for row in rows:
                ranks = sorted(RANK[code] for code in row if RANK[code] >= 0)
                if branch in ranks and group.intersection(ranks):
                    costs += sum(rank >= min(group.intersection(ranks)) for rank in ranks)
            wanted.append(costs)
    assert found["costs"].tolist() == wanted


def shares(of_branch, cut=(), seconds=()):
    """Shares of four branches; of those that are cut, the ranges of second items come one after the other."""
    count, is_cut, left = of_branch[-1], np.isin(np.arange(4), cut), list(seconds)
    bounds = []
    for share in range(count):
        branches = [branch for branch in range(4) if of_branch[branch] == share] or [bounds[-1][0]]
        whole = (0, 4) if not is_cut[branches[0]] else (0, 0)
        bounds.append((branches[0], branches[-1] + 1, *(whole if share in of_branch else left.pop(0))))
    return Shares(np.array(of_branch, np.int32), is_cut, *np.array(bounds, np.int32).T)


@given(
    ROWS,
    st.sampled_from(
        [
            shares([0, 0, 0, 0, 1]),
            shares([0, 1, 1, 2, 3]),
            shares([0, 1, 2, 3, 4]),
            shares([0, 3, 3, 3, 4], [0], [(1, 2), (2, 4)]),
            shares([0, 1, 3, 5, 6], [1, 2], [(2, 4), (3, 4)]),
        ]
    ),
)
def test_a_share_gets_the_items_that_it_needs_and_the_sensitive_ones(rows, shares):
    offsets, values = dealt_rows(piece(rows), rank=RANK, order=ORDER, kind=KIND, shares=shares)
    found = [values[begin:end].tolist() for begin, end in pairwise(offsets)]
    wanted = []
    for row in rows:
        ranks = sorted(RANK[code] for code in row if RANK[code] >= 0)
        for share, (first, end, second, second_end) in enumerate(bounds_of(shares)):
            mine = [rank for rank in ranks if first <= rank < end]
            others = [rank for rank in ranks if second <= rank < second_end]
            if not mine or (second > first and not others):
                continue
            needed = [rank for rank in ranks if rank >= mine[0]]
            if shares.is_cut[first]:
                needed = [first, *(rank for rank in ranks if others and rank >= others[0])]
            wanted.append([share, *(ORDER[rank] for rank in needed), *sorted(row & {1, 4})])
    assert sorted(found) == sorted(wanted)


def bounds_of(shares):
    return zip(*(one.tolist() for one in (shares.first, shares.end, shares.second, shares.second_end)), strict=True)


@given(ROWS, st.sampled_from([[0, 0, 0, 0], [0, 1, 1, 2], [0, 1, 2, 3]]))
def test_a_row_without_its_rarer_items_comes_with_one_of_an_earlier_share(rows, share):
    offsets, values = dealt_whole(piece(rows), rank=RANK, order=ORDER, share=np.array(share, dtype=np.int32))
    found = [values[begin:end].tolist() for begin, end in pairwise(offsets)]
    wanted = []
    for row in rows:
        ranks = sorted(RANK[code] for code in row if RANK[code] >= 0)
        for one in sorted({share[rank] for rank in ranks}):
            first = min(rank for rank in ranks if share[rank] == one)
            earlier = [ORDER[share.index(one) - 1]] if first > ranks[0] else []
            wanted.append([one, *earlier, *(ORDER[rank] for rank in ranks if rank >= first)])
    assert found == wanted


@given(ROWS)
def test_of_each_row_what_it_holds_of_an_itemset_and_of_the_sensitive_items(rows):
    itemsets = [[0, 2], [5]]
    offsets, values = dealt_overlaps(piece(rows), itemsets=itemsets, kind=KIND)
    found = [values[begin:end].tolist() for begin, end in pairwise(offsets)]
    assert found == [
        [number, *sorted(row & {*itemset, 1, 4})] for number, itemset in enumerate(itemsets) for row in rows
    ]


def test_a_frequent_item_has_few_rows_to_read(monkeypatch):
    """The most frequent items are in most transactions; what their shares read does not grow with those."""
    data = point_of_sale(20_000)
    each, read = LocalDealt.each, {}

    def watched(dealt, work):
        def watch(share, rows):
            read[share] = len(rows.weights), int(rows.weights.sum())
            return work(share, rows)

        return each(dealt, watch)

    monkeypatch.setattr(LocalDealt, "each", watched)
    audit(Local(pieces=4).read(data), Coherence(h=1, k=10, p=2))
    rows, transactions = read[max(read)]
    assert transactions > len(data) / 2
    assert rows < 100
