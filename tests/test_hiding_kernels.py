"""The kernels of pattern hiding: the product against its definition, limits, Ctrl-C, and arguments that cannot be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interrupting import interrupt
from tests.test_rho_kernels import csr
from veilset import _native

BOUNDS = {"threads": 2, "memory_limit": 2**30, "time_limit": 60.0, "progress": None}
GONE, STAYS, BY_CHANCE = 0, 1, 2


def sanitize(**changes) -> np.ndarray:
    """Rows 012, 01, 0; S_10 = -1 and S_20 = 1."""
    offsets, items = csr([[0, 1, 2], [0, 1], [0]])
    columns = {
        "column_offsets": np.array([0, 2, 2, 2], dtype=np.int64),
        "column_items": np.array([1, 2], dtype=np.int32),
        "column_values": np.array([-1, 1], dtype=np.int8),
    }
    return _native.sanitize(**{"offsets": offsets, "items": items, "vocabulary": 3} | columns | BOUNDS | changes)


def restored(**changes) -> np.ndarray:
    """Three occurrences in two rows, one of each state."""
    offsets, items = csr([[0, 1], [0]])
    question = {"offsets": offsets, "items": items, "vocabulary": 2, "odds": 2**52, "seed": 1}
    return _native.restored(**question | {"states": np.array([GONE, STAYS, BY_CHANCE], dtype=np.uint8)} | changes)


def hide(**changes) -> dict:
    """Rows 01, 01, 012; 01 may be in one row, 12 in none or in less than half of those with 1."""
    offsets, items = csr([[0, 1], [0, 1], [0, 1, 2]])
    patterns, antecedents, keep = csr([[0, 1], [1, 2]]), csr([[], [1]]), csr([[0], [0, 1]])
    question = {
        "offsets": offsets,
        "items": items,
        "vocabulary": 3,
        "states": np.ones(len(items), dtype=np.uint8),
        "pattern_offsets": patterns[0],
        "pattern_items": patterns[1],
        "antecedent_offsets": antecedents[0],
        "antecedent_items": antecedents[1],
        "most": np.array([1, 0], dtype=np.int64),
        "share_num": np.array([0, 1], dtype=np.int64),
        "share_den": np.array([1, 2], dtype=np.int64),
        "keep_offsets": keep[0],
        "keep_items": keep[1],
        "keep_spare": np.array([0, 2], dtype=np.int64),
        "odds": np.array([2**53, 0], dtype=np.uint64),
        "seed": 1,
        "most_ways": 1,
    }
    return _native.hide(**question | BOUNDS | changes)


@st.composite
def products(draw: st.DrawFn) -> tuple[list[set[int]], dict[tuple[int, int], int]]:
    """Rows over six items, and any entries off the diagonal."""
    items = range(6)
    rows = draw(st.lists(st.sets(st.sampled_from(items)), min_size=1, max_size=6))
    places = st.tuples(st.sampled_from(items), st.sampled_from(items)).filter(lambda place: place[0] != place[1])
    return rows, draw(st.dictionaries(places, st.sampled_from([-1, 1]), max_size=20))


@given(products(), st.integers(0, 300))
def test_the_product_is_its_definition(question, padding):
    """Columns shorter and longer than rows are met in two ways: items that no row holds make them longer."""
    rows, entries = question
    vocabulary = 6 + padding
    columns = [sorted(k for k, j in entries if j == column) for column in range(6)]
    longer = [[*column, *range(6, vocabulary)] for column in columns] + [[]] * padding
    values = [entries.get((k, j), 1) for j, column in enumerate(longer) for k in column]
    offsets, items = csr(rows)
    column_offsets, column_items = csr(longer)
    states = _native.sanitize(
        offsets, items, vocabulary, column_offsets, column_items, np.array(values, dtype=np.int8), **BOUNDS
    )
    expected = []
    for row in rows:
        for j in sorted(row):
            met = [entries.get((k, j), 0) for k in row]
            expected.append(GONE if 1 + sum(met) < 1 else BY_CHANCE if -1 in met else STAYS)
    assert states.tolist() == expected


def test_what_the_small_questions_give():
    assert sanitize().tolist() == [BY_CHANCE, STAYS, STAYS, GONE, STAYS, STAYS]
    assert restored(odds=0).tolist() == [0, 1, 0]
    assert restored(odds=2**53).tolist() == [0, 1, 1]
    answer = hide()
    assert (answer["step"], answer["victims"]) == (0, 3), "1 goes from two rows, and then 1 -> 2 is sure."
    kept = answer["kept"].tolist()
    assert [kept[at] for at in (0, 2, 4)] == [1, 1, 1], "0 is worth more than 1."
    assert sum(kept[at] for at in (1, 3, 5)) == 1, "As often as 01 may be found."
    assert kept[5:] != [1, 1], "Where 1 is in one row, all who have it have 2."


def test_odds_fall_until_chance_hides_what_it_can():
    """Each of a hundred rows restores item 0 by chance, and ten may: the odds end where it does, or at the last."""
    offsets, items = csr([[0, 1]] * 100)
    patterns, nothing = csr([[0, 1]]), csr([[]])
    states = np.tile(np.array([BY_CHANCE, STAYS], dtype=np.uint8), 100)
    odds = np.array([2**53 // 10 * step for step in range(9, -1, -1)], dtype=np.uint64)
    one = np.array([1], dtype=np.int64)
    question = {
        "offsets": offsets,
        "items": items,
        "vocabulary": 2,
        "states": states,
        "pattern_offsets": patterns[0],
        "pattern_items": patterns[1],
        "antecedent_offsets": nothing[0],
        "antecedent_items": nothing[1],
        "share_num": 0 * one,
        "share_den": one,
        "keep_offsets": nothing[0],
        "keep_items": nothing[1],
        "keep_spare": one,
        "odds": odds,
    }
    for most, seed in ((10, 1), (10, 2), (50, 3), (0, 4)):
        answer = hide(**question, most=most * one, seed=seed)
        left = [_native.restored(offsets, items, 2, states, odds=int(chance), seed=seed)[::2].sum() for chance in odds]
        assert answer["step"] == next(step for step, count in enumerate(left) if count <= most)
        assert answer["victims"] == 0
        assert answer["kept"][::2].sum() == most, "What need not have gone was put back."


def long_product() -> dict:
    """A matrix full of victims, and rows that hold every item."""
    many = 1200
    columns = csr([[k for k in range(many) if k != j] for j in range(many)])
    offsets, items = csr([range(many)] * 3000)
    return {
        "offsets": offsets,
        "items": items,
        "vocabulary": many,
        "column_offsets": columns[0],
        "column_items": columns[1],
        "column_values": np.full(len(columns[1]), -1, dtype=np.int8),
    }


def long_hiding() -> dict:
    """Rows that hold every one of many patterns to keep, which share nothing with hidden ones; no two are alike."""
    shared, bits = range(3, 19), range(19, 34)
    rows = [[0, 1, 2, *shared, *(bit for bit in bits if number >> bit - 19 & 1)] for number in range(2 ** len(bits))]
    keep = csr([*(pattern for size in (7, 8, 9) for pattern in combinations(shared, size)), *([bit] for bit in bits)])
    offsets, items = csr(rows)
    return {
        "offsets": offsets,
        "items": items,
        "vocabulary": 34,
        "states": np.ones(len(items), dtype=np.uint8),
        "keep_offsets": keep[0],
        "keep_items": keep[1],
        "keep_spare": np.ones(len(keep[0]) - 1, dtype=np.int64),
    }


LONG = {"sanitize": (sanitize, long_product), "hide": (hide, long_hiding)}


@pytest.mark.parametrize("kernel", LONG)
def test_limits_stop_a_kernel(kernel):
    run, question = LONG[kernel]
    asked = question()
    with pytest.raises(_native.OverBudget, match="time"):
        run(**asked, time_limit=0.3)
    with pytest.raises(_native.OverBudget, match="memory"):
        run(**asked, memory_limit=100_000)


@pytest.mark.parametrize("kernel", LONG)
def test_progress_is_told_and_its_exceptions_pass(kernel):
    run, question = LONG[kernel]
    told = []

    def stop(*step: int) -> None:
        told.append(step)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run(**question(), progress=stop)
    assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more time to prepare there")
@pytest.mark.parametrize("kernel", LONG)
def test_ctrl_c_is_answered(kernel):
    script = f"""
        import sys
        from tests.test_hiding_kernels import LONG
        run, question = LONG["{kernel}"]
        asked = question()
        print("go", flush=True)
        try:
            run(**asked, time_limit=600.0)
        except KeyboardInterrupt:
            sys.exit(42)
    """
    assert interrupt(script)[0] == 42


ROWS = [
    ({"offsets": np.array([0, 1], dtype=np.int64)}, "offsets do not frame"),
    ({"offsets": np.zeros(0, dtype=np.int64)}, "offsets do not frame"),
    ({"vocabulary": 1}, "item outside the vocabulary"),
    ({"vocabulary": -1}, "item outside the vocabulary"),
]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *ROWS,
        ({"vocabulary": 4}, "one column for each item"),
        ({"column_offsets": np.array([0, 2], dtype=np.int64)}, "one column for each item"),
        ({"column_offsets": np.array([0, 3, 2, 2], dtype=np.int64)}, "offsets decrease"),
        ({"column_items": np.array([1, 3], dtype=np.int32)}, "item outside the vocabulary"),
        ({"column_items": np.array([2, 1], dtype=np.int32)}, "not in order"),
        ({"column_items": np.array([1, 1], dtype=np.int32)}, "not in order"),
        ({"column_values": np.array([1], dtype=np.int8)}, "one value for each entry"),
    ],
)
def test_the_product_refuses_bad_arguments(wrong, words):
    with pytest.raises(ValueError, match=words):
        sanitize(**wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *ROWS,
        ({"states": np.zeros(2, dtype=np.uint8)}, "one state for each occurrence"),
        ({"states": np.array([0, 3, 1], dtype=np.uint8)}, "no such state"),
    ],
)
def test_restoring_refuses_bad_arguments(wrong, words):
    with pytest.raises(ValueError, match=words):
        restored(**wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *ROWS,
        ({"states": np.zeros(2, dtype=np.uint8)}, "one state for each occurrence"),
        ({"states": np.full(7, 3, dtype=np.uint8)}, "no such state"),
        ({"pattern_items": np.array([0, 1, 1, 3], dtype=np.int32)}, "item outside the vocabulary"),
        ({"pattern_offsets": np.array([0, 0, 4], dtype=np.int64)}, "an empty pattern"),
        ({"pattern_offsets": np.array([0, 4], dtype=np.int64)}, "limits and an antecedent for each pattern"),
        ({"antecedent_offsets": np.array([0, 1], dtype=np.int64)}, "limits and an antecedent for each pattern"),
        ({"antecedent_items": np.array([-1], dtype=np.int32)}, "item outside the vocabulary"),
        ({"most": np.array([1], dtype=np.int64)}, "limits and an antecedent for each pattern"),
        ({"most": np.array([1, -1], dtype=np.int64)}, "a limit below 0"),
        ({"share_num": np.array([0], dtype=np.int64)}, "limits and an antecedent for each pattern"),
        ({"share_num": np.array([0, -1], dtype=np.int64)}, "a limit below 0"),
        ({"share_den": np.array([1, 0], dtype=np.int64)}, "a limit below 0"),
        ({"keep_items": np.array([0, 0, 9], dtype=np.int32)}, "item outside the vocabulary"),
        ({"antecedent_items": np.array([0], dtype=np.int32)}, "an antecedent is a part of its pattern"),
        ({"pattern_items": np.array([0, 1, 2, 1], dtype=np.int32)}, "an antecedent is a part of its pattern"),
        ({"keep_spare": np.array([1], dtype=np.int64)}, "one number for each pattern to keep"),
        ({"odds": np.zeros(0, dtype=np.uint64)}, "no odds"),
        ({"most_ways": 0}, "no way"),
    ],
)
def test_hiding_refuses_bad_arguments(wrong, words):
    with pytest.raises(ValueError, match=words):
        hide(**wrong)
