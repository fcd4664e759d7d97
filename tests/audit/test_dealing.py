"""Which rows go to which share: all that its branches need, nothing else, and equal ones once."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spread import point_of_sale
from veilset import Coherence, audit
from veilset.audit.dealing import costs_of_branches, dealt_overlaps, dealt_rows, dealt_whole, shares_of, survey
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


@given(ROWS, st.sampled_from([[0, 0, 0, 0], [0, 1, 1, 2], [0, 1, 2, 3]]))
def test_a_share_gets_the_items_from_its_first_one_on_and_the_sensitive_ones(rows, share):
    offsets, values = dealt_rows(piece(rows), rank=RANK, order=ORDER, kind=KIND, share=np.array(share, dtype=np.int32))
    found = [values[begin:end].tolist() for begin, end in pairwise(offsets)]
    wanted = []
    for row in rows:
        ranks = sorted(RANK[code] for code in row if RANK[code] >= 0)
        for one in sorted({share[rank] for rank in ranks}):
            first = min(rank for rank in ranks if share[rank] == one)
            wanted.append([one, *(ORDER[rank] for rank in ranks if rank >= first), *sorted(row & {1, 4})])
    assert found == wanted


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


@given(st.lists(st.integers(1, 100), max_size=30), st.integers(1, 4))
def test_shares_are_stretches_that_cost_about_the_same(costs, parallelism):
    share = shares_of(np.array(costs, dtype=np.int64), parallelism).tolist()
    assert share == sorted(share)
    assert set(share) == set(range(max(share, default=-1) + 1))
    room = max(1, -(-sum(costs) // (3 * parallelism)))
    for number in set(share):
        branches = [cost for cost, one in zip(costs, share, strict=True) if one == number]
        assert len(branches) == 1 or sum(branches) <= room


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
