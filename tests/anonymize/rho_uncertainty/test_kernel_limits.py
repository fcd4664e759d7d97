"""The kernels behind suppress and top-down stop when they should, and refuse nonsense."""

import numpy as np
import pytest

from tests.support.arrays import csr, marks, named
from tests.support.errors import first_progress, refused
from tests.support.interrupting import ctrl_c_stops
from tests.support.rho_kernels import ALPHA, everything_public_kept, explosive, keeping, suppress
from veilset import _native


def small() -> dict:
    """Two rows; the second item is sensitive."""
    return {**named("", [[0, 1], [0]]), "weights": np.ones(2, dtype=np.int64), "sensitive": marks([1], 2)}


def test_a_time_limit_stops_the_search():
    with pytest.raises(_native.core.OutOfTime):
        suppress(explosive(), time_limit=0.3)


def test_a_time_limit_stops_the_enumeration():
    """Without a search everything is suspected: all that can be known with three items, with four, and so on."""
    with pytest.raises(_native.core.OutOfTime):
        suppress(explosive(), search_budget=0, time_limit=0.3)


def test_a_memory_limit_stops_it():
    with pytest.raises(_native.core.OutOfMemory):
        suppress(explosive(), memory_limit=100_000)
    with pytest.raises(_native.core.OutOfMemory):
        keeping(explosive(), memory_limit=100_000)
    rows = explosive()
    del rows["sensitive"]
    kernel = _native.rules.WeightedRows(**rows, vocabulary=ALPHA + 1)
    everything, names = np.arange(len(rows["weights"])), np.arange(ALPHA + 1, dtype=np.int32)
    with pytest.raises(_native.core.OutOfMemory):
        kernel.renamed(everything, names, vocabulary=ALPHA + 1, memory_limit=100_000)


def test_progress_is_told_and_its_exceptions_pass():
    told = []
    with pytest.raises(_native.core.OutOfTime):
        suppress(explosive(), time_limit=1.0, progress=lambda *step: told.append(step))
    assert told, "Where it is was never told."
    assert {stage for stage, _, _ in told} <= {1, 2, 3}, "Rules with three items known take longer than any limit."
    assert all(0 <= done <= total or total == 1 for _, done, total in told)
    assert first_progress(suppress, explosive())


def test_a_question_that_takes_long_is_stopped():
    kept = everything_public_kept()
    with pytest.raises(_native.core.OutOfTime):
        kept.brings_rule(ALPHA, work=2**60, time_limit=0.3)
    answer, rule, work = kept.brings_rule(ALPHA, work=10**5, time_limit=60.0)
    assert (answer, rule) == (2, [ALPHA])
    assert work > 10**5
    assert kept.brings_rule(0, work=10**8, time_limit=60.0)[:2] == (0, []), "What was asked for is not kept."


def test_after_a_stop_other_questions_are_answered_as_ever():
    """Ten of 25 who have x have beta; the other fifteen have alpha, which the search that was stopped had marked."""
    x, beta = ALPHA + 1, ALPHA + 2
    rows = explosive()
    more = csr([[x, beta]] * 10 + [[ALPHA, x]] * 15)
    rows["offsets"] = np.concatenate([rows["offsets"], rows["offsets"][-1] + more[0][1:]])
    rows["items"] = np.concatenate([rows["items"], more[1]])
    rows["weights"] = np.ones(len(rows["offsets"]) - 1, dtype=np.int64)
    rows["sensitive"] = marks([ALPHA, beta], beta + 1)
    kept = keeping(rows)
    for item in range(ALPHA):
        kept.keep(item)
    with pytest.raises(_native.core.OutOfTime):
        kept.brings_rule(ALPHA, work=2**60, time_limit=0.3)
    kept.keep(x)
    assert kept.brings_rule(beta, work=10**8, time_limit=60.0)[:2] == (0, [])


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more memory there")
@pytest.mark.parametrize(
    "work",
    ["suppress(explosive())", "everything_public_kept().brings_rule(ALPHA, work=2**60, time_limit=600.0)"],
    ids=["suppress_rules", "brings_rule"],
)
def test_ctrl_c_is_answered(work):
    before = "from tests.support.rho_kernels import ALPHA, everything_public_kept, explosive, suppress"
    assert ctrl_c_stops(work, before=before)


SHAPES = [
    ({"offsets": np.array([0, 1], dtype=np.int64)}, "frame"),
    ({"offsets": np.array([0, 2, 1, 3], dtype=np.int64)}, "decrease"),
    ({"items": np.array([0, 1, 2], dtype=np.int32)}, "vocabulary"),
    ({"items": np.array([0, 1, -1], dtype=np.int32)}, "vocabulary"),
    ({"weights": np.ones(1, dtype=np.int64)}, "weight"),
    ({"weights": np.array([1, 0], dtype=np.int64)}, "below 1"),
    ({"rho_num": 0}, "rho"),
    ({"rho_num": 3}, "rho"),
    ({"rho_den": -2}, "rho"),
]


@pytest.mark.parametrize(("wrong", "what"), SHAPES)
def test_keeping_refuses_bad_arguments(wrong, what):
    assert keeping(small()).brings_rule(0, work=100, time_limit=1.0)[0] == 0
    with refused(ValueError, what):
        keeping(small(), **wrong)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        *SHAPES,
        ({"sensitive": marks([], 1)}, "mark"),
        ({"fixed": marks([], 3)}, "mark"),
        ({"required": marks([], 1)}, "mark"),
        ({"required": marks([1], 2)}, "required"),
        ({"cost": np.array([1, -1], dtype=np.int64)}, "below 0"),
    ],
)
def test_suppressing_refuses_bad_arguments(wrong, what):
    assert suppress(small())["chosen"].tolist() == [1]  # half of all
    with refused(ValueError, what):
        suppress(small(), **wrong)


@pytest.mark.parametrize("item", [-1, 2, 2**31 - 1])
def test_keeping_knows_its_items(item):
    kept = keeping(small())
    for ask in (kept.keep, kept.drop, lambda item: kept.brings_rule(item, work=100, time_limit=1.0)):
        with pytest.raises(IndexError):
            ask(item)


def weighted(**changes) -> _native.rules.WeightedRows:
    rows = small()
    del rows["sensitive"]
    return _native.rules.WeightedRows(**{**rows, "vocabulary": 2, **changes})


@pytest.mark.parametrize(("wrong", "what"), SHAPES[:5])
def test_rows_refuse_bad_arguments(wrong, what):
    with refused(ValueError, what):
        weighted(**wrong)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"rows": np.array([2], dtype=np.int64)}, "row"),
        ({"rows": np.array([-1], dtype=np.int64)}, "row"),
        ({"names": np.arange(3, dtype=np.int32)}, "name"),
        ({"names": np.array([0, 2], dtype=np.int32)}, "vocabulary"),
        ({"names": np.array([0, -2], dtype=np.int32)}, "vocabulary"),
    ],
)
def test_renaming_refuses_bad_arguments(wrong, what):
    question = {"rows": np.arange(2), "names": np.arange(2, dtype=np.int32), "vocabulary": 2, "memory_limit": 2**20}
    assert weighted().renamed(**question)[2].tolist() == [1, 1]
    with refused(ValueError, what):
        weighted().renamed(**question | wrong)
    with refused(ValueError, "weight", "below 1"):
        weighted(weights=np.array([1, 0], dtype=np.int64)).renamed(**question)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"rows": np.array([2], dtype=np.int64)}, "row"),
        ({"rows": np.array([-1], dtype=np.int64)}, "row"),
        ({"wanted": marks([1], 3)}, "mark"),
    ],
)
def test_looking_for_rows_refuses_bad_arguments(wrong, what):
    question = {"rows": np.arange(2), "wanted": marks([1], 2)}
    assert weighted().holding(**question).tolist() == [0]
    with refused(ValueError, what):
        weighted().holding(**question | wrong)
