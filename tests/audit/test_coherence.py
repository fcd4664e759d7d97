"""The auditor against the definition, and how it behaves as a kernel."""

import random
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from tests.support.effort import examples, repeats
from tests.support.errors import refused
from tests.support.memory import leaving
from veilset import Coherence, Transactions, audit
from veilset.errors import Infeasible, InvalidArgument
from veilset.testing import check_audit, check_model, oracles, strategies

SHARES = [Fraction(n, d) for d in (1, 2, 3) for n in range(1, d + 1)]


@examples(1000)
@given(strategies.transactions(), strategies.coherence_promises())
def test_equals_the_oracle(data, promise):
    check_audit(data, promise)


def test_equals_the_oracle_on_thousands():
    """Cheaper draws, more of them: verdict and moles on 3,000 random sets over a grid of (h, k, p)."""
    draw = random.Random(20081215)
    holding = 0
    for _ in range(repeats(3000)):
        names = "abcde"[: draw.randint(1, 5)] + "XY"[: draw.randint(0, 2)]
        density = draw.choice([0.2, 0.5, 0.8, 1.0])
        rows = [[name for name in names if draw.random() < density] for _ in range(draw.randint(1, 9))]
        rows *= draw.choice([1, 1, 2, 3])
        data = Transactions.from_lists(rows, sensitive={name for row in rows for name in row if name.isupper()})
        promise = Coherence(h=draw.choice(SHARES), k=draw.randint(1, 4), p=draw.choice([1, 2, 3, None]))
        answer = audit(data, promise, witnesses=1000)
        check_audit(data, promise, answer)
        holding += answer.holds
    assert repeats(500) < holding < repeats(2500), "The draws must show both verdicts."


@pytest.mark.parametrize(
    ("rows", "sensitive"),
    [
        ([["a", "b"]] * 3, []),
        ([["s", "t"]] * 2 + [["s"], []], ["s", "t"]),
        ([[], []], []),
        ([["a"]], []),
        ([["s"]], ["s"]),
    ],
    ids=["no sensitive", "all sensitive", "empty rows", "one row", "one sensitive row"],
)
@pytest.mark.parametrize(
    "promise", [Coherence(h=h, k=k, p=p) for h in ("1/3", 1) for k in (1, 2) for p in (1, None)], ids=str
)
def test_corners(rows, sensitive, promise):
    check_audit(Transactions.from_lists(rows, sensitive=sensitive), promise)


def test_no_transactions_at_all():
    answer = audit(Transactions.from_lists([]), Coherence(k=1, p=1))
    assert not answer.holds
    assert not answer.feasible


@given(strategies.transactions(max_rows=20), strategies.coherence_promises())
def test_any_number_of_threads_gives_the_same_answer(data, promise):
    answers = {str(audit(data, promise, threads=threads, witnesses=3)) for threads in (1, 2, 3, 4)}
    margins = [dict(audit(data, promise, threads=threads).margins) for threads in (1, 2, 3, 4)]
    assert len(answers) == 1
    assert all(margin == margins[0] for margin in margins)


def test_the_most_severe_witnesses_are_the_ones_listed():
    draw = random.Random(1)
    data = Transactions.from_lists([[i for i in range(30) if draw.random() < 0.2] for _ in range(80)])
    everything = audit(data, Coherence(k=4, p=3), witnesses=10**6)
    few = audit(data, Coherence(k=4, p=3), witnesses=7)
    assert len(everything.witnesses) == everything.found == few.found > 100
    assert few.witnesses == everything.witnesses[:7]
    assert audit(data, Coherence(k=4, p=3), witnesses=0).found == everything.found


def test_thresholds_are_exact():
    """A share of exactly 2/3 is allowed at h = 2/3, given as text or as the float that comes closest."""
    rows = [["a", "s"]] * 2 + [["a"]]
    data = Transactions.from_lists(rows, sensitive=["s"])
    for h in ("2/3", 2 / 3, Fraction(2, 3)):
        assert audit(data, Coherence(h=h, k=3, p=1)).holds
    assert not audit(data, Coherence(h="0.666666", k=3, p=1)).holds


def test_h_is_needed_where_there_is_something_sensitive():
    data = Transactions.from_lists([["a", "s"]], sensitive=["s"])
    with refused(InvalidArgument, "h", "'s'"):
        audit(data, Coherence(k=1, p=1))


@pytest.mark.parametrize(
    "wrong", [{"k": 0, "p": 1}, {"k": 2, "p": 0}, {"k": 2.5, "p": 1}, {"k": True, "p": 1}, {"k": 1, "p": "4"}]
)
def test_wrong_k_and_p(wrong):
    with refused(InvalidArgument):
        Coherence(**wrong)


@pytest.mark.parametrize(
    "h", [0, -0.1, 1.01, "x", "", "1/0", float("nan"), float("inf"), True, [0.4], 0.9999999999, "0.3333333"]
)
def test_wrong_h(h):
    with refused(InvalidArgument, "h"):
        Coherence(h=h, k=2, p=2)


def test_infeasible_names_the_items_and_the_h_that_would_do():
    rows = [["a", "s"], ["a", "s"], ["b", "s", "t"], ["b"]]
    data = Transactions.from_lists(rows, sensitive=["s", "t"])
    promise = Coherence(h=0.5, k=2, p=2)
    with refused(Infeasible, "'s'", "75%", "3/4"):
        promise.check_feasible(data)
    Coherence(h="3/4", k=2, p=2).check_feasible(data)
    answer = audit(data, promise)
    assert (answer.holds, answer.feasible) == (False, False)
    assert [(w.itemset, w.sensitive, w.confidence) for w in answer.witnesses] == [((), "s", Fraction(3, 4))]
    with refused(Infeasible, "4 transactions", 5):
        Coherence(h=1, k=5, p=2).check_feasible(data)


def test_the_h_that_would_do_does_with_more_than_a_million_transactions():
    offsets = np.minimum(np.arange(1_000_004), 500_010)
    data = Transactions.from_codes(offsets, np.zeros(500_010, dtype=np.int32), ["s"], sensitive=["s"])
    with refused(Infeasible) as caught:
        Coherence(h=0.5, k=2, p=2).check_feasible(data)
    (would_do,) = re.findall(r"\d+/\d+", caught.value.next_step)
    Coherence(h=would_do, k=2, p=2).check_feasible(data)


@given(strategies.coherence_promises())
def test_the_promise_passes_its_battery(promise):
    check_model(promise)


def test_promise_without_h_passes_its_battery():
    check_model(Coherence(k=2, p=None))


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_witnesses_count_as_memory():
    draw = random.Random(3)
    data = Transactions.from_lists([draw.sample(range(1000), 30) for _ in range(1000)])
    promise = Coherence(k=8, p=2)
    assert audit(data, promise, witnesses=1, memory_limit=leaving(20_000_000)).found > 200_000
    answer = audit(data, promise, witnesses=10**6, memory_limit=leaving(15_000_000))  # of 80 bytes or more each
    assert not answer.holds
    assert not answer.complete
    assert 0 < len(answer.witnesses) == answer.found < 200_000


def test_oracle_agrees_with_a_count_by_hand():
    rows = [frozenset("ab"), frozenset("a"), frozenset("as")]
    assert oracles.support(rows, "a") == 3
    assert oracles.breach_probability(rows, "a", ["s"]) == Fraction(1, 3)
    assert oracles.minimal_moles(rows, ["s"], Fraction(1, 2), 2, 2) == {frozenset("b")}


def test_unlimited_is_said_as_on_the_command_line():
    promise = Coherence(k=2, p="unlimited")
    assert promise == Coherence(k=2, p=None)
    assert promise.p is None
    with refused(InvalidArgument, "'Unlimited'", "p=None"):
        Coherence(k=2, p="Unlimited")
