"""What is held on disk: the same rows as in memory, however they are cut into blocks."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.testing.strategies import transactions
from veilset.transactions import Transactions
from veilset.utility import coherence

GATHER = sys.modules["veilset.io.gather"]  # the package has a function of that name


def on_disk(array: np.ndarray) -> np.ndarray:
    column = GATHER._Column(array.dtype, on_disk=True)
    column.append(array)
    return column.array()


@given(data=transactions(), block=st.integers(1, 9), parts=st.integers(1, 4), choose=st.data())
def test_rows_in_any_order(data, block, parts, choose):
    """Also rows that are taken twice, and rows without items."""
    rows = choose.draw(st.lists(st.integers(0, len(data) - 1)) if len(data) else st.just([]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GATHER, "_BLOCK", block)
        patch.setattr(GATHER, "_MOST_PARTS", parts)
        where = np.array(rows, dtype=np.int64)
        ends, items = GATHER.taken_rows(on_disk(data.offsets), on_disk(data.items), where)
    taken = [items[begin:end].tolist() for begin, end in pairwise(ends)]
    assert taken == [data.items[data.offsets[row] : data.offsets[row + 1]].tolist() for row in rows]


@given(data=transactions(), block=st.integers(1, 9))
def test_how_many_hold_one_sensitive_item(data, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coherence, "_BLOCK", block)
        most, which = coherence.most_with_one(data)
    rows = list(map(set, data))
    expected = [
        max((sum({name, sensitive} <= row for row in rows) for sensitive in data.sensitive), default=0)
        for name in data.names
    ]
    assert most.tolist() == expected
    for name, count, code in zip(data.names, expected, which.tolist(), strict=True):
        assert not count or sum({name, data.names[code]} <= row for row in rows) == count
        assert not count or data.names[code] in data.sensitive


def test_nothing_to_do_makes_no_copy():
    data = Transactions.from_lists([["ale"], ["bun"]])
    assert data.without([]) is data
    assert data.only(["ale", "bun"]) is data
    assert data.renamed({"ale": "ale"}) is data


def test_taken_rows_that_hold_every_item_keep_their_codes_and_roles():
    data = Transactions.from_lists([["ale"], ["bun", "cure"], ["ale"]], sensitive=["cure"])
    assert data.take(np.array([1, 0])) == Transactions.from_lists([["bun", "cure"], ["ale"]], sensitive=["cure"])
    assert data.take(np.array([0])) == Transactions.from_lists([["ale"]])
