"""Rows of codes as bytes, and back."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from veilset.engines import Local, Piece
from veilset.engines.rows import (
    added,
    changed,
    different,
    grouped,
    in_runs,
    numbered,
    only,
    packed,
    united,
    unpacked,
)
from veilset.engines.spark import tasks
from veilset.io.rows import ends_of
from veilset.transactions import Transactions

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


@given(ROWS, st.lists(st.integers(0, 7), max_size=5))
def test_some_rows(rows, wanted):
    wanted = sorted({number for number in wanted if number < len(rows)})
    assert lists(*only(Piece(*arrays(rows)), np.array(wanted, dtype=np.int64))) == [rows[number] for number in wanted]


@given(st.lists(st.tuples(st.lists(st.integers(0, 300), max_size=1), st.lists(st.integers(0, 300), max_size=2))))
def test_rows_are_numbered_inside_their_kinds(pairs):
    """By their bytes: 256 comes before 1."""
    kinds, rows = ([pair[which] for pair in pairs] for which in (0, 1))
    numbers = numbered(packed(*arrays(kinds)), packed(*arrays(rows)))
    of_kind = {}
    for number, kind, row in zip(numbers.tolist(), kinds, rows, strict=True):
        of_kind.setdefault(tuple(kind), []).append((number, np.array(row, dtype="<i4").tobytes()))
    for found in of_kind.values():
        assert [number for number, _ in sorted(found)] == list(range(len(found)))
        assert [row for _, row in sorted(found)] == sorted(row for _, row in found)


@given(st.lists(st.integers(0, 2)))
def test_equal_values_beside_each_other_are_counted(values):
    counts = [
        next(back for back in range(at + 1) if back == at or values[at - back - 1] != one)
        for at, one in enumerate(values)
    ]
    assert in_runs(pa.array(values, pa.int64())).tolist() == counts


def odd_rows(piece):
    """Those with an odd first item; this is their kind."""
    starts = piece.items[piece.offsets[:-1][np.diff(piece.offsets) > 0]]
    rows = np.flatnonzero(np.diff(piece.offsets) > 0)[starts % 2 == 1]
    return rows, Piece(np.arange(len(rows) + 1), piece.items[piece.offsets[rows]])


def without_last_of_second(piece, numbers):
    """Of the second of each kind, the last item goes."""
    kept = np.ones(len(piece.items), dtype=bool)
    kept[piece.offsets[1:][numbers == 1] - 1] = False
    return kept


def by_definition(rows):
    """The rows afterwards, sorted."""
    odd = sorted((row for row in rows if row and row[0] % 2), key=lambda row: (row[0], np.array(row, "<i4").tobytes()))
    second = [at for at, row in enumerate(odd) if [one[0] for one in odd[:at]].count(row[0]) == 1]
    return sorted(
        [row for row in rows if not row or row[0] % 2 == 0]
        + [row[: len(row) - (at in second)] for at, row in enumerate(odd)]
    )


SORTED_ROWS = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True).map(sorted), min_size=1, max_size=12)


@given(SORTED_ROWS, st.integers(1, 4))
def test_occurrences_go_by_the_numbers_of_rows_in_their_kind(rows, pieces):
    rows = [[0, 1, 2, 3, 4, 5], *rows]  # all items occur
    data = Transactions.from_codes(*arrays(rows), tuple("abcdef"))
    found = Local(pieces=pieces).read(data).thinned(odd_rows, without_last_of_second).to_transactions()
    assert sorted(lists(found.offsets, found.items)) == by_definition(rows)


@given(SORTED_ROWS, st.integers(1, 4))
def test_tasks_number_rows_across_batches(rows, size):
    """As Spark would do it: rows sorted by kind and bytes, cut anywhere."""
    coded = pa.table({"row": packed(*arrays(rows)).cast(pa.binary())})
    others = pa.Table.from_batches(
        tasks.unmarked(iter(coded.to_batches(max_chunksize=size)), mark=odd_rows), coded.schema
    )
    marked = pa.Table.from_batches(tasks.marked(iter(coded.to_batches(max_chunksize=size)), mark=odd_rows))
    batches = (
        marked.sort_by([("kind", "ascending"), ("row", "ascending")]).combine_chunks().to_batches(max_chunksize=size)
    )
    found = list(tasks.thinned(iter(batches), thin=without_last_of_second))
    mine = [row for batch in found for row in lists(*unpacked(batch.column(0)))]
    assert sorted(
        [row for batch in others.to_batches() for row in lists(*unpacked(batch.column(0)))] + mine
    ) == by_definition(rows)
