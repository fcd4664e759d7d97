"""The kernels of pattern hiding: the product against its definition, limits, Ctrl-C, and arguments that cannot be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.arrays import csr, named
from tests.support.errors import first_progress, refused
from tests.support.hiding_kernels import BOUNDS, LONG, hide, sanitize
from tests.support.interrupting import ctrl_c_stops
from veilset import _native

GONE, STAYS, BY_CHANCE = 0, 1, 2


def restored(**changes) -> np.ndarray:
    """Three occurrences in two rows, one of each state."""
    states = np.array([GONE, STAYS, BY_CHANCE], dtype=np.uint8)
    question = {**named("", [[0, 1], [0]]), "vocabulary": 2, "states": states, "odds": 2**52, "seed": 1}
    rows = len(changes.get("offsets", question["offsets"])) - 1
    changes.setdefault("copies", np.arange(max(0, rows)))
    return _native.hiding.restored(**question | changes)


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
    states = np.tile(np.array([BY_CHANCE, STAYS], dtype=np.uint8), 100)
    rows = {**named("", [[0, 1]] * 100), "vocabulary": 2, "states": states}
    odds = np.array([2**53 // 10 * step for step in range(9, -1, -1)], dtype=np.uint64)
    one = np.array([1], dtype=np.int64)
    patterns = named("pattern_", [[0, 1]]) | named("antecedent_", [[]]) | named("keep_", [[]])
    limits = {"share_num": 0 * one, "share_den": one, "keep_spare": one, "odds": odds}
    for most, seed in ((10, 1), (10, 2), (50, 3), (0, 4)):
        answer = hide(**rows, **patterns, **limits, most=most * one, seed=seed)
        left = [restored(**rows, odds=int(chance), seed=seed)[::2].sum() for chance in odds]
        assert answer["step"] == next(step for step, count in enumerate(left) if count <= most)
        assert answer["victims"] == 0
        assert answer["kept"][::2].sum() == most, "What need not have gone was put back."


def test_rows_without_hidden_patterns_may_be_missing():
    """What they hold is told instead: it counts for what is independent, and for how sure a rule is."""
    held = [[0, 1], [0, 1], [0, 1, 2], [1, 2]] * 5
    others = [[0], [1], [1], [2], []] * 6
    for seed in range(5):
        asked = {"states": np.ones(45, dtype=np.uint8), "most": np.array([8, 1]), "seed": seed, "most_strategies": 5}
        support = {"support": np.bincount([item for row in held + others for item in row])}
        told = {"rows": len(held + others), "elsewhere": np.array([0, 12]), **support}
        answer = hide(**named("", held), **asked, **told)["kept"]
        asked["states"] = np.ones(45 + 24, dtype=np.uint8)
        whole = hide(**named("", held + others), **asked)["kept"]
        assert whole[45:].all()
        assert whole[:45].tolist() == answer.tolist()
        assert (
            hide(**named("", held), **asked | {"states": np.ones(45, dtype=np.uint8)})["kept"].tolist()
            != answer.tolist()
        )


def test_a_hidden_pair_does_not_fall_with_another_one():
    """Hiding 01 from 241 of 300 rows is cheapest by 1, as 3 needs 0; but then 12 would be in 10 rows instead of 110."""
    rows = [[0, 1, 3]] * 200 + [[0, 1, 2, 3]] * 100 + [[1, 2]] * 10 + [[0, 3], [1], [2]] * 100 + [[]] * 1390
    question = {**named("", rows), "vocabulary": 4, "states": np.ones(sum(map(len, rows)), dtype=np.uint8)}
    patterns = named("pattern_", [[0, 1], [1, 2]]) | named("antecedent_", [[], []]) | named("keep_", [[0, 3]])
    both = np.ones(2, dtype=np.int64)
    limits = {"most": 59 * both, "share_num": 0 * both, "share_den": both, "keep_spare": np.array([340])}
    kept = iter(hide(**question, **patterns, **limits)["kept"].tolist())
    left = [{item for item in row if next(kept)} for row in rows]
    one, two, together = (sum(row >= part for row in left) for part in ({1}, {2}, {1, 2}))
    assert sum(row >= {0, 1} for row in left) == 59
    assert one * two / len(rows) <= together <= 59, "As often as independent items would be, or more."


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
    (_, done, total) = first_progress(run, **question())
    assert 0 <= done <= total


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more time to prepare there")
@pytest.mark.parametrize("kernel", LONG)
def test_ctrl_c_is_answered(kernel):
    before = f"""
        from tests.support.hiding_kernels import LONG
        run, question = LONG["{kernel}"]
        asked = question()
    """
    assert ctrl_c_stops("run(**asked, time_limit=600.0)", before=before)


ROWS = [
    ({"offsets": np.array([0, 1], dtype=np.int64)}, "frame"),
    ({"offsets": np.zeros(0, dtype=np.int64)}, "frame"),
    ({"vocabulary": 1}, "vocabulary"),
    ({"vocabulary": -1}, "vocabulary"),
]


@pytest.mark.parametrize(
    ("kernel", "wrong", "what"),
    [
        *((kernel, *case) for kernel in (sanitize, restored, hide) for case in ROWS),
        (sanitize, {"vocabulary": 4}, "column"),
        (sanitize, {"column_offsets": np.array([0, 2], dtype=np.int64)}, "column"),
        (sanitize, {"column_offsets": np.array([0, 3, 2, 2], dtype=np.int64)}, "decrease"),
        (sanitize, {"column_items": np.array([1, 3], dtype=np.int32)}, "vocabulary"),
        (sanitize, {"column_items": np.array([2, 1], dtype=np.int32)}, "order"),
        (sanitize, {"column_items": np.array([1, 1], dtype=np.int32)}, "order"),
        (sanitize, {"column_values": np.array([1], dtype=np.int8)}, "value"),
        (restored, {"states": np.zeros(2, dtype=np.uint8)}, "state"),
        (restored, {"states": np.array([0, 3, 1], dtype=np.uint8)}, "state"),
        (hide, {"states": np.zeros(2, dtype=np.uint8)}, "state"),
        (hide, {"states": np.full(7, 3, dtype=np.uint8)}, "state"),
        (hide, {"pattern_items": np.array([0, 1, 1, 3], dtype=np.int32)}, "vocabulary"),
        (hide, {"pattern_offsets": np.array([0, 0, 4], dtype=np.int64)}, "empty"),
        (hide, {"pattern_offsets": np.array([0, 4], dtype=np.int64)}, "limits"),
        (hide, {"antecedent_offsets": np.array([0, 1], dtype=np.int64)}, "limits"),
        (hide, {"antecedent_items": np.array([-1], dtype=np.int32)}, "vocabulary"),
        (hide, {"most": np.array([1], dtype=np.int64)}, "limits"),
        (hide, {"most": np.array([1, -1], dtype=np.int64)}, "below 0"),
        (hide, {"share_num": np.array([0], dtype=np.int64)}, "limits"),
        (hide, {"share_num": np.array([0, -1], dtype=np.int64)}, "below 0"),
        (hide, {"share_den": np.array([1, 0], dtype=np.int64)}, "below 0"),
        (hide, {"keep_items": np.array([0, 0, 9], dtype=np.int32)}, "vocabulary"),
        (hide, {"antecedent_items": np.array([0], dtype=np.int32)}, "part"),
        (hide, {"pattern_items": np.array([0, 1, 2, 1], dtype=np.int32)}, "part"),
        (hide, {"keep_spare": np.array([1], dtype=np.int64)}, "keep"),
        (hide, {"odds": np.zeros(0, dtype=np.uint64)}, "odds"),
        (hide, {"most_strategies": 0}, "strategy"),
        (restored, {"copies": np.zeros(1, dtype=np.int64)}, "copy"),
        (hide, {"copies": np.zeros(2, dtype=np.int64)}, "copy"),
        (hide, {"rows": 2}, "rows"),
        (hide, {"elsewhere": np.zeros(1, dtype=np.int64)}, "elsewhere"),
    ],
)
def test_bad_arguments_are_refused(kernel, wrong, what):
    with refused(ValueError, what):
        kernel(**wrong)
