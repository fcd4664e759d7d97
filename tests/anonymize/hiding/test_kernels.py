"""The kernels of pattern hiding: the product against its definition, limits, Ctrl-C, and arguments that cannot be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.arrays import csr
from tests.support.errors import refused
from tests.support.hiding_kernels import BOUNDS, LONG, hide, sanitize
from tests.support.interrupting import interrupt
from veilset import _native

GONE, STAYS, BY_CHANCE = 0, 1, 2


def restored(**changes) -> np.ndarray:
    """Three occurrences in two rows, one of each state."""
    offsets, items = csr([[0, 1], [0]])
    question = {"offsets": offsets, "items": items, "vocabulary": 2, "odds": 2**52, "seed": 1}
    return _native.hiding.restored(
        **question | {"states": np.array([GONE, STAYS, BY_CHANCE], dtype=np.uint8)} | changes
    )


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
    states = _native.hiding.sanitize(
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
        left = [
            _native.hiding.restored(offsets, items, 2, states, odds=int(chance), seed=seed)[::2].sum()
            for chance in odds
        ]
        assert answer["step"] == next(step for step, count in enumerate(left) if count <= most)
        assert answer["victims"] == 0
        assert answer["kept"][::2].sum() == most, "What need not have gone was put back."


@pytest.mark.parametrize("kernel", LONG)
def test_limits_stop_a_kernel(kernel):
    run, question = LONG[kernel]
    asked = question()
    with pytest.raises(_native.core.OutOfTime):
        run(**asked, time_limit=0.3)
    with pytest.raises(_native.core.OutOfMemory):
        run(**asked, memory_limit=100_000)


@pytest.mark.parametrize("kernel", LONG)
def test_progress_is_told_and_its_exceptions_pass(kernel):
    run, question = LONG[kernel]
    told = []

    def stop(*step: int) -> None:
        told.append(step)
        raise RuntimeError("enough")

    with refused(RuntimeError, "enough"):
        run(**question(), progress=stop)
    assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more time to prepare there")
@pytest.mark.parametrize("kernel", LONG)
def test_ctrl_c_is_answered(kernel):
    script = f"""
        import sys
        from tests.support.hiding_kernels import LONG
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
    ({"offsets": np.array([0, 1], dtype=np.int64)}, "frame"),
    ({"offsets": np.zeros(0, dtype=np.int64)}, "frame"),
    ({"vocabulary": 1}, "vocabulary"),
    ({"vocabulary": -1}, "vocabulary"),
]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        *ROWS,
        ({"vocabulary": 4}, "column"),
        ({"column_offsets": np.array([0, 2], dtype=np.int64)}, "column"),
        ({"column_offsets": np.array([0, 3, 2, 2], dtype=np.int64)}, "decrease"),
        ({"column_items": np.array([1, 3], dtype=np.int32)}, "vocabulary"),
        ({"column_items": np.array([2, 1], dtype=np.int32)}, "order"),
        ({"column_items": np.array([1, 1], dtype=np.int32)}, "order"),
        ({"column_values": np.array([1], dtype=np.int8)}, "value"),
    ],
)
def test_the_product_refuses_bad_arguments(wrong, named):
    with refused(ValueError, named):
        sanitize(**wrong)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        *ROWS,
        ({"states": np.zeros(2, dtype=np.uint8)}, "state"),
        ({"states": np.array([0, 3, 1], dtype=np.uint8)}, "state"),
    ],
)
def test_restoring_refuses_bad_arguments(wrong, named):
    with refused(ValueError, named):
        restored(**wrong)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        *ROWS,
        ({"states": np.zeros(2, dtype=np.uint8)}, "state"),
        ({"states": np.full(7, 3, dtype=np.uint8)}, "state"),
        ({"pattern_items": np.array([0, 1, 1, 3], dtype=np.int32)}, "vocabulary"),
        ({"pattern_offsets": np.array([0, 0, 4], dtype=np.int64)}, "empty"),
        ({"pattern_offsets": np.array([0, 4], dtype=np.int64)}, "limits"),
        ({"antecedent_offsets": np.array([0, 1], dtype=np.int64)}, "limits"),
        ({"antecedent_items": np.array([-1], dtype=np.int32)}, "vocabulary"),
        ({"most": np.array([1], dtype=np.int64)}, "limits"),
        ({"most": np.array([1, -1], dtype=np.int64)}, "below 0"),
        ({"share_num": np.array([0], dtype=np.int64)}, "limits"),
        ({"share_num": np.array([0, -1], dtype=np.int64)}, "below 0"),
        ({"share_den": np.array([1, 0], dtype=np.int64)}, "below 0"),
        ({"keep_items": np.array([0, 0, 9], dtype=np.int32)}, "vocabulary"),
        ({"antecedent_items": np.array([0], dtype=np.int32)}, "part"),
        ({"pattern_items": np.array([0, 1, 2, 1], dtype=np.int32)}, "part"),
        ({"keep_spare": np.array([1], dtype=np.int64)}, "keep"),
        ({"odds": np.zeros(0, dtype=np.uint64)}, "odds"),
        ({"most_ways": 0}, "way"),
    ],
)
def test_hiding_refuses_bad_arguments(wrong, named):
    with refused(ValueError, named):
        hide(**wrong)
