"""Rows of codes as bytes, and back."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from veilset.engines import Piece
from veilset.engines.rows import added, changed, different, grouped, packed, united, unpacked
from veilset.io.rows import ends_of

ROWS = st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=8)


def arrays(rows):
    return ends_of([len(row) for row in rows]), np.array([code for row in rows for code in row], dtype=np.int32)


def lists(offsets, values):
    return [values[begin:end].tolist() for begin, end in pairwise(offsets)]


@given(ROWS, st.integers(0, 3))
def test_packed_rows_come_back(rows, skipped):
    assert lists(*unpacked(packed(*arrays(rows)).slice(skipped))) == rows[skipped:]
    assert lists(*unpacked(packed(*arrays(rows)).cast(pa.binary()))) == rows


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 2), max_size=2)), max_size=12))
def test_equal_rows_of_a_share_are_counted(rows):
    shares, bare, counts = grouped(*arrays([[share, *row] for share, row in rows]))
    found = list(zip(shares.tolist(), map(tuple, lists(*unpacked(bare))), strict=True))
    wanted = [(share, tuple(row)) for share, row in rows]
    assert sorted(zip(found, counts.to_pylist(), strict=True)) == sorted((one, wanted.count(one)) for one in {*wanted})


@given(st.lists(ROWS, max_size=3))
def test_parts_of_a_share_are_added_up_in_one_order(parts):
    tables = [pa.table({"row": packed(*arrays(rows)), "weight": np.full(len(rows), 2)}) for rows in parts]
    work = united(tables)
    everything = [tuple(row) for rows in parts for row in rows]
    assert dict(zip(map(tuple, lists(work.offsets, work.items)), work.weights.tolist(), strict=True)) == {
        row: 2 * everything.count(row) for row in everything
    }
    other = united(tables[::-1])
    assert all(np.array_equal(one, two) for one, two in zip(work, other, strict=True))


def test_a_shorter_array_counts_as_filled_up():
    sums = {}
    for numbers in ([1, 2], [1], [0, 0, 5]):
        added(sums, {"n": np.array(numbers)})
    assert sums["n"].tolist() == [2, 2, 5]


@given(ROWS)
def test_different_rows_are_those_of_a_share(rows):
    offsets, items = arrays(rows)
    whole = united([pa.table({"row": packed(offsets, items), "weight": np.ones(len(rows), dtype=np.int64)})])
    assert all(np.array_equal(one, two) for one, two in zip(different(Piece(offsets, items)), whole, strict=True))
    assert sum(different(Piece(offsets, items)).weights.tolist()) == len(rows)


@given(ROWS, st.lists(st.lists(st.integers(-1, 3), min_size=2, max_size=2), min_size=6, max_size=6))
def test_items_become_several(rows, code):
    found = lists(*changed(Piece(*arrays(rows)), np.array(code, dtype=np.int32), 4))
    assert found == [sorted({new for item in row for new in code[item]} - {-1}) for row in rows]


@given(ROWS, st.lists(st.integers(-1, 3), min_size=6, max_size=6))
def test_items_get_other_codes_or_go(rows, code):
    found = lists(*changed(Piece(*arrays(rows)), np.array(code, dtype=np.int32), 4))
    assert found == [sorted({code[item] for item in row} - {-1}) for row in rows]


def test_all_items_may_go():
    offsets, items = changed(Piece(*arrays([[0], [], [0]])), np.array([-1], dtype=np.int32), 0)
    assert offsets.tolist() == [0, 0, 0, 0]
    assert not len(items)
