"""The kernels behind suppress and top-down stop when they should, and refuse nonsense."""

import random

import numpy as np
import pytest

from tests.interrupting import interrupt
from tests.test_rho_kernels import csr, marks
from veilset import _native

ALPHA = 80


def explosive() -> dict:
    """Safe, but nearly everything that two of 1,000 rows have in common must be looked at to see it."""
    draw = random.Random(7)
    rows = [[*(i for i in range(ALPHA) if draw.random() < 0.7), ALPHA] for _ in range(1000)]
    rows += [[i for i in range(ALPHA) if draw.random() < 0.75] for _ in range(20_000)]
    rows += [range(ALPHA), range(ALPHA)]
    offsets, items = csr(rows)
    weights = np.ones(len(rows), dtype=np.int64)
    return {"offsets": offsets, "items": items, "weights": weights, "sensitive": marks([ALPHA], ALPHA + 1)}


def small() -> dict:
    """Two rows; the second item is sensitive."""
    offsets, items = csr([[0, 1], [0]])
    return {"offsets": offsets, "items": items, "weights": np.ones(2, dtype=np.int64), "sensitive": marks([1], 2)}


def suppress(rows: dict, **changes):
    many = len(rows["sensitive"])
    question = {
        "worth": np.ones(many, dtype=np.int64),
        "fixed": marks([], many),
        "required": np.zeros(0, dtype=np.uint8),
        "rho_num": 1,
        "rho_den": 2,
        "population": len(rows["weights"]),
        "worth_limit": 2**62,
        "search_budget": 2**62,
        "rules_budget": 2**62,
        "threads": 2,
        "memory_limit": 2**30,
        "time_limit": 60.0,
        "progress": None,
    }
    return _native.suppress_rules(**rows | question | changes)


def keeping(rows: dict, **changes) -> _native.RuleKeeping:
    question = {"rho_num": 1, "rho_den": 2, "population": len(rows["weights"]), "memory_limit": 2**30}
    return _native.RuleKeeping(**rows | question | changes)


def everything_public_kept() -> _native.RuleKeeping:
    kept = keeping(explosive())
    for item in range(ALPHA):
        kept.keep(item)
    return kept


def test_a_time_limit_stops_the_search():
    with pytest.raises(_native.OverBudget, match="time"):
        suppress(explosive(), time_limit=0.3)


def test_a_time_limit_stops_the_enumeration():
    """Without a search everything is suspected: all that can be known with three items, with four, and so on."""
    with pytest.raises(_native.OverBudget, match="time"):
        suppress(explosive(), search_budget=0, time_limit=0.3)


def test_a_memory_limit_stops_it():
    with pytest.raises(_native.OverBudget, match="memory"):
        suppress(explosive(), memory_limit=100_000)
    with pytest.raises(_native.OverBudget, match="memory"):
        keeping(explosive(), memory_limit=100_000)
    rows = explosive()
    names = np.arange(ALPHA + 1, dtype=np.int32)
    with pytest.raises(_native.OverBudget, match="memory"):
        _native.merge_rows(
            rows["offsets"],
            rows["items"],
            rows["weights"],
            np.arange(len(rows["weights"])),
            names,
            vocabulary=ALPHA + 1,
            memory_limit=100_000,
        )


def test_progress_is_told_and_its_exceptions_pass():
    told = []
    with pytest.raises(_native.OverBudget, match="time"):
        suppress(explosive(), time_limit=1.0, progress=lambda *step: told.append(step))
    assert told[-1][0] == 3, "The search is for rules with three items known or more."
    assert all(0 <= done <= total or total == 1 for _, done, total in told)

    def stop(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        suppress(explosive(), progress=stop)


def test_a_question_that_takes_long_is_stopped_and_leaves_no_trace():
    kept = everything_public_kept()
    with pytest.raises(_native.OverBudget, match="time"):
        kept.brings_rule(ALPHA, work=2**60, time_limit=0.3)
    answer, rule, work = kept.brings_rule(ALPHA, work=10**5, time_limit=60.0)
    assert (answer, rule) == (2, [ALPHA])
    assert work > 10**5
    assert kept.brings_rule(0, work=10**8, time_limit=60.0)[:2] == (0, []), "What was asked for is not kept."


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more memory there")
@pytest.mark.parametrize(
    "work",
    ["suppress(explosive())", "everything_public_kept().brings_rule(ALPHA, work=2**60, time_limit=600.0)"],
    ids=["suppress_rules", "brings_rule"],
)
def test_ctrl_c_is_answered(work):
    script = f"""
        import sys
        from tests.test_rho_kernel_limits import ALPHA, everything_public_kept, explosive, suppress
        print("go", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            sys.exit(42)
    """
    assert interrupt(script)[0] == 42


SHAPES = [
    ({"offsets": np.array([0, 1], dtype=np.int64)}, "offsets do not frame"),
    ({"offsets": np.array([0, 2, 1, 3], dtype=np.int64)}, "offsets decrease"),
    ({"items": np.array([0, 1, 2], dtype=np.int32)}, "item outside the vocabulary"),
    ({"items": np.array([0, 1, -1], dtype=np.int32)}, "item outside the vocabulary"),
    ({"weights": np.ones(1, dtype=np.int64)}, "one weight for each transaction"),
    ({"weights": np.array([1, 0], dtype=np.int64)}, "a weight below 1"),
    ({"rho_num": 0}, "rho is outside"),
    ({"rho_num": 3}, "rho is outside"),
    ({"rho_den": -2}, "rho is outside"),
]


@pytest.mark.parametrize(("wrong", "words"), SHAPES)
def test_keeping_refuses_bad_arguments(wrong, words):
    assert keeping(small()).brings_rule(0, work=100, time_limit=1.0)[0] == 0
    with pytest.raises(ValueError, match=words):
        keeping(small(), **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *SHAPES,
        ({"sensitive": marks([], 1)}, "one mark for each item"),
        ({"fixed": marks([], 3)}, "one mark for each item"),
        ({"required": marks([], 1)}, "one mark for each item"),
        ({"required": marks([1], 2)}, "a required item is sensitive"),
        ({"worth": np.array([1, -1], dtype=np.int64)}, "a worth below 0"),
    ],
)
def test_suppressing_refuses_bad_arguments(wrong, words):
    assert suppress(small())["chosen"].tolist() == [1]  # half of all
    with pytest.raises(ValueError, match=words):
        suppress(small(), **wrong)


@pytest.mark.parametrize("item", [-1, 2, 2**31 - 1])
def test_keeping_knows_its_items(item):
    kept = keeping(small())
    for ask in (kept.keep, kept.drop, lambda item: kept.brings_rule(item, work=100, time_limit=1.0)):
        with pytest.raises(IndexError):
            ask(item)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *SHAPES[:6],
        ({"rows": np.array([2], dtype=np.int64)}, "no such row"),
        ({"rows": np.array([-1], dtype=np.int64)}, "no such row"),
        ({"names": np.array([0, 2], dtype=np.int32)}, "a name outside the vocabulary"),
        ({"names": np.array([0, -2], dtype=np.int32)}, "a name outside the vocabulary"),
    ],
)
def test_merging_refuses_bad_arguments(wrong, words):
    rows = small()
    del rows["sensitive"]
    question = {"rows": np.arange(2), "names": np.arange(2, dtype=np.int32), "vocabulary": 2, "memory_limit": 2**20}
    assert _native.merge_rows(**rows | question)[2].tolist() == [1, 1]
    with pytest.raises(ValueError, match=words):
        _native.merge_rows(**rows | question | wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *SHAPES[:4],
        ({"rows": np.array([2], dtype=np.int64)}, "no such row"),
        ({"rows": np.array([-1], dtype=np.int64)}, "no such row"),
    ],
)
def test_looking_for_rows_refuses_bad_arguments(wrong, words):
    rows = small()
    question = {"offsets": rows["offsets"], "items": rows["items"], "rows": np.arange(2), "wanted": marks([1], 2)}
    assert _native.rows_holding(**question).tolist() == [0]
    with pytest.raises(ValueError, match=words):
        _native.rows_holding(**question | wrong)
