"""Parts of patterns on engines, in this process: the answers of the auditors that see all transactions at once."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.explosive import all_but_one, explosive_pattern, many_rows
from veilset import BudgetExceeded, HiddenPatterns, HiddenRules, Transactions, audit
from veilset.audit import pattern_counts
from veilset.engines import Local, Piece
from veilset.limits import Limits
from veilset.testing import check_audit, strategies
from veilset.testing.mutants_hiding import HIDING_MUTANTS, hiding_unbroken


@examples(400)
@given(strategies.transactions(min_rows=0), st.data(), st.booleans(), st.integers(1, 3), st.sampled_from([0, 1, 1000]))
def test_the_answers_of_the_local_auditors(data, draws, absent, pieces, witnesses):
    hidden = draws.draw(st.sampled_from([strategies.hidden_patterns, strategies.hidden_rules]))
    promise = draws.draw(hidden(data, absent=absent))
    answer = audit(Local(pieces=pieces).read(data), promise, witnesses=witnesses)
    assert answer == audit(data, promise, witnesses=witnesses)
    if witnesses == 1000:
        check_audit(data, promise, answer)


@pytest.mark.parametrize("pieces", [1, 5])
def test_many_rows_and_patterns_of_any_length(pieces):
    data = many_rows()
    patterns = [data.names[:3], data.names[4:14], data.names[2:5], data.names[30:], *([[one] for one in data.names])]
    rules = [(names[:2], names[2:]) for names in patterns[:4]]
    for promise in (
        HiddenPatterns(patterns, min_support="1%"),
        HiddenRules(rules, min_support=300, min_confidence="1/4"),
    ):
        assert audit(Local(pieces=pieces).read(data), promise) == audit(data, promise)


def test_long_patterns():
    names, data = all_but_one(100)
    for promise in (
        HiddenPatterns([names, [*names, "absent"]], min_support=1),
        HiddenPatterns([names], min_support=99),
    ):
        assert audit(Local(pieces=3).read(data), promise) == audit(data, promise)


def test_largest_parts_beyond_number_are_listed_as_in_memory():
    data, promise = explosive_pattern()
    answer = audit(data, promise)
    assert not answer.leftovers[0].complete
    assert audit(Local(pieces=3).read(data), promise) == answer


def test_a_support_that_no_pattern_can_have_is_that_of_all_pieces():
    data = Transactions.from_lists([["a", "b"]] * 5)
    for support, vacuous in ((5, False), (6, True)):
        for asked in (data, Local(pieces=2).read(data)):
            assert audit(asked, HiddenPatterns([["a", "b"]], min_support=support)).vacuous == vacuous


def same(counted):
    """The parts of each pattern, in no order."""
    first, begins, places, rows = (numbers.tolist() for numbers in counted)
    parts = [(tuple(places[begins[i] : begins[i + 1]]), rows[i]) for i in range(len(rows))]
    return [sorted(parts[one:last]) for one, last in pairwise(first)]


@given(strategies.transactions(), st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=9), st.data())
def test_parts_are_counted_as_in_memory(data, patterns, draws):
    codes = [sorted(code for code in pattern if code < len(data.names)) for pattern in patterns]
    offsets = np.cumsum([0, *map(len, codes)], dtype=np.int64)
    asked = np.array([code for pattern in codes for code in pattern], dtype=np.int32)
    promised = pattern_counts.Patterns(offsets, asked, len(data.names))
    here = pattern_counts.counted(Piece(data.offsets, data.items), promised, Limits())
    held = Local(pieces=draws.draw(st.integers(1, 4))).read(data)
    assert same(pattern_counts.counted_on_engine(held, promised, Limits())) == same(here)


@pytest.mark.parametrize("mutant", HIDING_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_judged_as_in_memory(mutant):
    for method in (mutant.method, hiding_unbroken):
        data = method(mutant.data, mutant.promise).custodian_data
        assert audit(Local(pieces=2).read(data), mutant.promise) == audit(data, mutant.promise)


def test_different_parts_keep_to_the_memory_of_the_driver(monkeypatch):
    draw = random.Random(2)
    data = Transactions.from_lists([[name for name in range(30) if draw.random() < 0.5] for _ in range(500)])
    monkeypatch.setattr(Limits, "bytes_left", lambda limits: 50_000 if limits.memory_limit else 1 << 30)
    with refused(BudgetExceeded, "memory limit"):
        audit(Local(pieces=3).read(data), HiddenPatterns([data.names], min_support=2), memory_limit="1GB")


def test_a_time_limit_stops_before_the_transactions_are_read():
    held = Local().read(Transactions.from_lists([["a", "b"]]))
    with refused(BudgetExceeded, "time limit"):
        audit(held, HiddenPatterns([["a", "b"]], min_support=1), time_limit=1e-9)


def test_progress_comes_to_its_end():
    told = []
    held = Local(pieces=2).read(Transactions.from_lists([["a", "b"]] * 5))
    audit(held, HiddenPatterns([["a"], ["b"]], min_support=2), progress=lambda *step: told.append(step))
    assert told[-1][1:] == (1, 1)
