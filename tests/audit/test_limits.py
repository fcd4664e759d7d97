"""Auditors that are asked what takes too long: they tell where they are, and stop at limits, exceptions and Ctrl-C."""

import re
import time

import pytest

from tests.support.errors import first_progress, refused
from tests.support.explosive import LONG_AUDITS
from tests.support.interrupting import ctrl_c_stops
from tests.support.memory import leaving
from veilset import BudgetExceeded, audit
from veilset.audit import hidden_patterns


@pytest.fixture(autouse=True)
def unbounded(monkeypatch):
    """As much work as there is: only limits end the search for parts of patterns."""
    monkeypatch.setattr(hidden_patterns, "MOST_WORK", 1 << 80)


@pytest.mark.parametrize("question", LONG_AUDITS)
def test_time_limit_stops_the_audit(question):
    asked = LONG_AUDITS[question]()
    started = time.monotonic()
    with refused(BudgetExceeded, "time limit", "0.3"):
        audit(*asked, time_limit=0.3)
    assert time.monotonic() - started < 5  # a hang, not a measurement


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("rho-uncertainty", 2_000_000),
        ("a pattern with many parts", 1_000_000),  # not enough for the kernel
        ("a pattern with many parts", 12_000_000),  # not enough for the search
    ],
)
def test_memory_limit_stops_the_audit(question, more):
    asked = LONG_AUDITS[question]()
    with refused(BudgetExceeded, "memory limit", "GB"):
        audit(*asked, memory_limit=leaving(more), time_limit=60)


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("coherence", "Checking itemsets of .*|Searching for a few items that are enough"),
        ("rho-uncertainty", "Checking inferences from any knowledge|Searching for the highest confidence"),
        ("many patterns", "Counting the patterns in transactions"),
    ],
)
def test_progress_is_told_and_its_exceptions_pass(question, last):
    asked, told = LONG_AUDITS[question](), []
    with pytest.raises(BudgetExceeded):
        audit(*asked, time_limit=1, progress=lambda *step: told.append(step))
    assert all(0 <= done <= total for _, done, total in told)
    assert re.fullmatch(last, told[-1][0])
    assert question != "many patterns" or len({what for what, _, _ in told}) == 1
    assert first_progress(audit, *asked, time_limit=20)


@pytest.mark.no_sanitizer(reason="interrupts a child whose work takes far more memory there")
@pytest.mark.parametrize("question", LONG_AUDITS)
def test_ctrl_c_is_answered(question):
    before = f"""
        from tests.support.explosive import LONG_AUDITS
        from veilset import audit
        asked = LONG_AUDITS["{question}"]()
    """
    assert ctrl_c_stops("audit(*asked)", before=before)
