"""The kernels that tell values of columns apart: against their definition, limits, and arguments that cannot be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.arrays import csr
from tests.support.errors import first_progress, refused
from veilset import _native

LIMITS = {"memory_limit": 2**30, "time_limit": 60.0, "progress": None}


def int32(values) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def column_values(**changes) -> tuple[np.ndarray, np.ndarray]:
    """Rows 012, 02, 1, none, 12; items 0 and 2 in the first column, 1 in the second."""
    offsets, items = csr([[0, 1, 2], [0, 2], [1], [], [1, 2]])
    question = {"offsets": offsets, "items": items, "column_of": int32([0, 1, 0]), "columns": 2, "threads": 2}
    return _native.anatomy.column_values(**question | LIMITS | changes)


def merged_values(**changes) -> tuple[np.ndarray, np.ndarray]:
    question = {"one": int32([1, 1, 0, 0, 2]), "other": int32([1, 0, 1, 0, 1])}
    return _native.anatomy.merged_values(**question | LIMITS | changes)


def numbered(values: list) -> list[int]:
    """0 for what is empty, else 1, 2, … by first appearance."""
    met: dict = {}
    return [met.setdefault(value, len(met) + 1) if value else 0 for value in values]


def test_what_the_small_questions_give():
    values, distinct = column_values()
    assert values.tolist() == [[1, 1, 0, 0, 2], [1, 0, 1, 0, 1]]
    assert distinct.tolist() == [2, 1]
    values, counts = merged_values()
    assert values.tolist() == [1, 2, 3, 0, 4]
    assert counts.tolist() == [1, 1, 1, 1, 1]


@given(
    st.lists(st.sets(st.integers(0, 7)), max_size=30),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
    st.integers(1, 5),
)
def test_values_and_merged_values_are_their_definitions(rows, column_of, threads):
    offsets, items = csr(rows)
    column_of = int32(column_of)
    values, distinct = column_values(offsets=offsets, items=items, column_of=column_of, columns=4, threads=threads)
    assert values.shape == (4, len(rows))
    parts = [[frozenset(i for i in row if column_of[i] == c) for row in rows] for c in range(4)]
    assert values.tolist() == [numbered(part) for part in parts]
    assert distinct.tolist() == [len(set(part) - {frozenset()}) for part in parts]
    together, counts = merged_values(one=values[1], other=values[3])
    assert together.tolist() == numbered([one | other for one, other in zip(parts[1], parts[3], strict=True)])
    assert counts.tolist() == np.bincount(together, minlength=1).tolist()


def test_equal_hashes_do_not_make_equal_values():
    """Among so many values some share the 32 bits by which they are looked up: about ten pairs of them."""
    one, other = (half.ravel() for half in np.meshgrid(np.arange(550), np.arange(550, 1100), indexing="ij"))
    items = np.stack([one, other], axis=1).ravel().astype(np.int32)
    offsets = np.arange(0, len(items) + 1, 2)
    _, distinct = column_values(offsets=offsets, items=items, column_of=int32([0] * 1100), columns=1)
    assert distinct.tolist() == [550 * 550]
    values, _ = merged_values(one=one.astype(np.int32), other=other.astype(np.int32))
    assert np.array_equal(values, np.arange(1, 550 * 550 + 1))


MANY = 4_000_000


def long_values(**changes) -> object:
    """A random item a row."""
    items = np.random.default_rng(1).integers(0, MANY, MANY).astype(np.int32)
    question = {"offsets": np.arange(MANY + 1), "items": items, "column_of": int32([0] * MANY), "columns": 1}
    return column_values(**question | changes)


def long_merge(**changes) -> object:
    one, other = np.random.default_rng(1).integers(0, MANY, (2, MANY)).astype(np.int32)
    return merged_values(**{"one": one, "other": other} | changes)


@pytest.mark.parametrize("run", [long_values, long_merge])
def test_limits_stop_a_kernel(run):
    with pytest.raises(_native.core.OutOfTime):
        run(time_limit=1e-9)
    with pytest.raises(_native.core.OutOfMemory):
        run(memory_limit=1_000_000)
    with pytest.raises(_native.core.OutOfMemory):
        run(memory_limit=20_000_000)  # enough for the numbers, but not for the values


@pytest.mark.parametrize("run", [long_values, long_merge])
def test_progress_is_told_and_its_exceptions_pass(run):
    (_, done, total) = first_progress(run)
    assert 0 <= done <= total


@pytest.mark.parametrize(
    ("run", "wrong", "named"),
    [
        (column_values, {"column_of": int32([0, 1])}, "vocabulary"),
        (column_values, {"column_of": int32([0, 2, 0])}, "column"),
        (column_values, {"column_of": int32([0, -1, 0])}, "column"),
        (column_values, {"columns": -1}, "negative"),
        (column_values, {"offsets": np.array([0, 3, 2, 8])}, "decrease"),
        (column_values, {"offsets": np.array([0, 3])}, "frame"),
        (merged_values, {"one": int32([1])}, "lengths"),
    ],
)
def test_arguments_that_cannot_be(run, wrong, named):
    with refused(ValueError, named):
        run(**wrong)


@pytest.mark.parametrize("run", [column_values, merged_values])
def test_arrays_of_another_type_are_refused(run):
    name = "column_of" if run is column_values else "one"
    with pytest.raises(TypeError):
        run(**{name: np.array([0, 1, 0], dtype=np.int64)})


def test_more_columns_than_memory_could_hold_are_over_the_limit():
    with pytest.raises(_native.core.OutOfMemory):
        column_values(columns=2**31 - 1)


def test_no_rows_and_no_columns():
    none = np.array([], dtype=np.int32)
    values, distinct = column_values(offsets=np.array([0]), items=none)
    assert values.shape == (2, 0)
    assert distinct.tolist() == [0, 0]
    values, distinct = column_values(offsets=np.array([0, 0]), items=none, column_of=none, columns=0)
    assert values.shape == (0, 1)
    assert [array.tolist() for array in merged_values(one=none, other=none)] == [[], [0]]
