"""The auditors of hidden patterns and rules against the definition, and how their kernel behaves."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import golden
from tests.support.effort import examples, repeats
from tests.support.errors import refused
from tests.support.explosive import all_but_one, explosive_pattern, many_rows
from veilset import HiddenPatterns, HiddenRules, Transactions, _native
from veilset.audit import audit, hidden_patterns, pattern_parts
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Audit, Leftover, Margin
from veilset.testing import check_audit, check_model, oracles, strategies

FIGURE_4 = Transactions.from_lists(map(list, golden.FIGURE_4))


def asked(data: Transactions, promise: HiddenPatterns | HiddenRules, witnesses: int = 1000, **limits) -> Audit:
    return audit(data, promise, witnesses=witnesses, limits=Limits(**limits))


@examples(500)
@given(strategies.transactions(min_rows=0), st.data(), st.booleans())
def test_patterns_equal_the_oracle(data, draws, absent):
    promise = draws.draw(strategies.hidden_patterns(data, absent=absent))
    check_audit(data, promise)


@examples(500)
@given(strategies.transactions(min_rows=0), st.data(), st.booleans())
def test_rules_equal_the_oracle(data, draws, absent):
    promise = draws.draw(strategies.hidden_rules(data, absent=absent))
    check_audit(data, promise)


def test_equals_the_oracle_on_thousands():
    """Cheaper draws, more of them; the patterns are short and long for the kernel, which counts these in two ways."""
    draw = random.Random(2004)
    holding = 0
    for _ in range(repeats(1500)):
        names = "abcdefghi"[: draw.randint(2, 9)]
        density = draw.choice([0.3, 0.5, 0.7, 0.9])
        rows = [[name for name in names if draw.random() < density] for _ in range(draw.randint(1, 12))]
        data = Transactions.from_lists(rows * draw.choice([1, 1, 2]))
        sets = [draw.sample([*names, "z"], draw.randint(2, len(names))) for _ in range(draw.randint(1, 4))]
        support = draw.choice([1, 2, 3, 6, "1/3", 0.5])
        promise = HiddenPatterns(sets, min_support=support)
        if draw.random() < 0.5:
            rules = [(items[:cut], items[cut:]) for items in sets for cut in (draw.randint(1, len(items) - 1),)]
            promise = HiddenRules(rules, min_support=support, min_confidence=draw.choice(["1/3", "1/2", "2/3", 1]))
        answer = asked(data, promise)
        check_audit(data, promise, answer)
        holding += answer.holds
    assert repeats(300) < holding < repeats(1200), "The draws must show both verdicts."


def test_figure_4(snapshot):
    promise = HiddenPatterns([["4", "5"], ["1", "2", "5"], ["5", "7"]], min_support="30%")
    answer = asked(FIGURE_4, promise)
    assert [str(witness) for witness in answer.witnesses] == snapshot
    released = Transactions.from_lists(map(list, golden.HF_RELEASE))
    answer = asked(released, promise)
    assert (answer.holds, answer.found, answer.witnesses) == (True, 0, ())
    assert answer.margins == {"largest_support": Margin(0, ("4", "5"))}
    assert answer.leftovers == (
        Leftover(("4", "5"), 0, None, ((("5",), 5),)),
        Leftover(("1", "2", "5"), 0, None, ((("5",), 5),)),
        Leftover(("5", "7"), 0, None, ((("5",), 5),)),
    )
    assert answer.checked == 4  # three patterns, and 5


def test_rules_in_words_and_numbers(snapshot):
    rules = [("4", "5"), (["1", "2"], "5"), ("7", "2"), ("3", ["1", "5"])]
    answer = asked(FIGURE_4, HiddenRules(rules, min_support=2, min_confidence="2/3"))
    assert [str(witness) for witness in answer.witnesses] == snapshot
    assert answer.margins == {
        "largest_support": Margin(2, ("4",), "5"),
        "largest_confidence": Margin(Fraction(1), ("1", "2"), "5"),
    }
    assert [(one.support, one.antecedent_support) for one in answer.leftovers] == [(2, 3), (2, 2), (0, 0), (2, 2)]
    assert answer.checked == 9  # 45, 4; 125, 12; 27, 7; 135, 3; and 2, which is left of 27
    nothing_sure = asked(FIGURE_4, HiddenRules([("7", "2")], min_support=1, min_confidence="1/2"))
    assert (nothing_sure.holds, nothing_sure.margins) == (True, {})


def test_one_transaction_in_words(snapshot):
    data = Transactions.from_lists([["a", "b"], ["c"]])
    (witness,) = asked(data, HiddenPatterns([["a", "b"]], min_support=1)).witnesses
    assert witness.reason == snapshot
    (witness,) = asked(data, HiddenRules([("a", "b")], min_support=1, min_confidence=1)).witnesses
    assert witness.reason == snapshot


def test_the_most_severe_come_first_and_equals_in_the_promises_order():
    rows = [["a", "b"]] * 3 + [["c", "d"]] * 4 + [["e", "f"]] * 3
    data = Transactions.from_lists(rows)
    promise = HiddenPatterns([["e", "f"], ["a", "b"], ["c", "d"], ["a", "c"]], min_support=2)
    answer = asked(data, promise)
    assert [witness.itemset for witness in answer.witnesses] == [("c", "d"), ("e", "f"), ("a", "b")]
    few = asked(data, promise, witnesses=2)
    assert (few.witnesses, few.found) == (answer.witnesses[:2], 3)
    assert asked(data, promise, witnesses=0).found == 3
    rows += [["a"], ["c"], ["c"], ["e"]]
    rules = HiddenRules([("e", "f"), ("c", "d"), ("a", "b"), ("d", "c")], min_support=2, min_confidence="1/2")
    surest = [witness.itemset for witness in asked(Transactions.from_lists(rows), rules).witnesses]
    assert surest == [("d",), ("e",), ("a",), ("c",)]  # 1, 3/4, 3/4, 2/3


def test_thresholds_are_exact_and_shares_are_of_the_audited_data():
    data = Transactions.from_lists([["a", "b"]] * 2 + [["a"], ["c"], ["c"], ["c"]])
    for third in ("1/3", 1 / 3, Fraction(1, 3)):
        assert not asked(data, HiddenPatterns([["a", "b"]], min_support=third)).holds
    assert asked(data, HiddenPatterns([["a", "b"]], min_support="0.333334")).holds
    assert asked(Transactions.from_lists([*data, ["c"]]), HiddenPatterns([["a", "b"]], min_support="1/3")).holds
    for share, holds in (("2/3", False), (2 / 3, False), ("0.666667", True)):
        assert asked(data, HiddenRules([("a", "b")], min_support=2, min_confidence=share)).holds == holds
    assert asked(data, HiddenRules([("a", "b")], min_support=3, min_confidence="2/3")).holds


@pytest.mark.parametrize("rows", [[], [[]], [[], []], [["x"]]], ids=["no rows", "an empty row", "empty rows", "others"])
def test_nothing_is_found_where_there_is_nothing(rows):
    data = Transactions.from_lists(rows)
    for promise in (
        HiddenPatterns([["a"], ["a", "b"]], min_support=1),
        HiddenPatterns([["a"]], min_support="1/2"),
        HiddenRules([("a", "b")], min_support=1, min_confidence="1/2"),
    ):
        check_audit(data, promise)
        assert asked(data, promise).holds


def test_repeated_patterns_and_rules_both_ways():
    promise = HiddenPatterns([["5", "4"], ["4", "5"], ["4"]], min_support=2)
    answer = asked(FIGURE_4, promise)
    assert [one.itemset for one in answer.leftovers] == [("4", "5"), ("4",)]
    check_audit(FIGURE_4, promise, answer)
    both_ways = HiddenRules([("4", "5"), ("5", "4")], min_support=2, min_confidence="2/3")
    answer = asked(FIGURE_4, both_ways)
    assert [(one.itemset, one.antecedent_support) for one in answer.leftovers] == [(("4", "5"), 3), (("4", "5"), 5)]
    check_audit(FIGURE_4, both_ways, answer)


def test_long_patterns():
    names, data = all_but_one(100)
    answer = asked(data, HiddenPatterns([names], min_support=1))
    (left,) = answer.leftovers
    assert (answer.holds, left.support) == (True, 0)
    assert {part for part, support in left.largest if support == 1} == {tuple(row) for row in data}
    assert len(left.largest) == 100
    assert answer.checked == 101
    (left,) = asked(data, HiddenPatterns([names], min_support=99)).leftovers
    assert [*left.largest] == [((name,), 99) for name in names]
    everybody = Transactions.from_lists([*data, *([names] * 3)])
    (left,) = asked(everybody, HiddenPatterns([[*names, "absent"], names], min_support=3)).leftovers[1:]
    assert left.largest == ((tuple(names), 3),)
    rules = HiddenRules([(names[:70], names[70:])], min_support=2, min_confidence="1/11")
    (witness,) = asked(everybody, rules).witnesses
    assert (witness.support, witness.confidence) == (33, Fraction(3, 33))
    assert asked(everybody, rules).leftovers[0].support == 3


def test_long_patterns_equal_the_oracle():
    """Beyond one word of the kernel: the first and the last items of a hundred, seen by the oracle without the rest."""
    draw = random.Random(11)
    names = [f"i{number:03}" for number in range(100)]
    watched = [*names[:4], *names[62:66], *names[-2:]]
    for _ in range(repeats(60)):
        rows = [[name for name in watched if draw.random() < 0.6] for _ in range(30)]
        data = Transactions.from_lists(rows)
        least = draw.randint(2, 12)
        (left,) = asked(data, HiddenPatterns([names], min_support=least)).leftovers
        expected = oracles.largest_left([frozenset(row) for row in rows], watched, least)
        assert {frozenset(part): support for part, support in left.largest} == expected
        filled = Transactions.from_lists([[*row, *(name for name in names if name not in watched)] for row in rows])
        (left,) = asked(filled, HiddenPatterns([names], min_support=least)).leftovers
        rest = frozenset(names).difference(watched)
        assert {frozenset(part) - rest: support for part, support in left.largest} == expected
        assert all(rest <= set(part) for part, _ in left.largest)


@given(strategies.transactions(min_rows=0), st.data())
def test_largest_parts_are_in_order_and_what_was_counted_is_told(data, draws):
    promise = draws.draw(strategies.hidden_patterns(data) | strategies.hidden_rules(data))
    answer = asked(data, promise)
    counted = {frozenset(known) for known, _ in getattr(promise, "rules", ())}
    for one in answer.leftovers:
        places = [[one.itemset.index(item) for item in part] for part, _ in one.largest]
        assert all(part == sorted(part) for part in places)
        assert places == sorted(places, key=lambda part: (-len(part), part))
        counted |= {frozenset(one.itemset), *(frozenset(part) for part, _ in one.largest)}
    assert answer.checked == len(counted)


@given(strategies.transactions(), st.data())
def test_the_promises_pass_their_battery(data, draws):
    check_model(draws.draw(strategies.hidden_patterns(data) | strategies.hidden_rules(data)))


def test_any_number_of_threads_gives_the_same_answer():
    """Several blocks of rows, and patterns that are short and long for the kernel."""
    data = many_rows()
    patterns = [data.names[:3], data.names[4:14], data.names[2:5], data.names[30:]]
    for promise in (
        HiddenPatterns(patterns, min_support=300),
        HiddenRules([(names[:2], names[2:]) for names in patterns], min_support=300, min_confidence="1/4"),
    ):
        first = asked(data, promise, threads=1)
        assert all(asked(data, promise, threads=threads) == first for threads in (2, 3))
    rows = [frozenset(row) for row in data]
    assert [one.support for one in first.leftovers] == [oracles.support(rows, pattern) for pattern in patterns]


@given(strategies.transactions(max_rows=20), st.data(), st.integers(2, 3))
def test_any_number_of_threads_gives_the_same_answer_on_small_data(data, draws, threads):
    promise = draws.draw(strategies.hidden_patterns(data) | strategies.hidden_rules(data))
    assert asked(data, promise, threads=threads) == asked(data, promise, threads=1)


def test_very_many_largest_parts_do_not_keep_the_verdict_waiting():
    data, promise = explosive_pattern()
    rest = [["i000", "i001"], ["i000", "i002", "absent"]]
    promise = HiddenPatterns([*promise.patterns, *rest], min_support=3)
    answer = asked(data, promise)
    first, pair, absent = answer.leftovers
    assert not first.complete
    assert first.support == 0
    assert pair.complete
    assert pair.largest == ((("i000", "i001"), pair.support),)
    assert absent.complete
    assert [part for part, _ in absent.largest] == [("i000", "i002")]
    assert [witness.itemset for witness in answer.witnesses] == [("i000", "i001")]
    assert answer.margins == {"largest_support": Margin(pair.support, ("i000", "i001"))}
    assert asked(data, promise) == answer  # what is listed does not depend on the clock
    held = np.zeros((len(data), len(data.names)), dtype=bool)
    held[np.repeat(np.arange(len(data)), data.lengths), data.items] = True
    for part, support in random.Random(3).sample(first.largest, 30):
        rows = held[:, data.codes(part)].all(axis=1)
        more = held[rows].sum(axis=0)
        assert rows.sum() == support >= 3
        assert sorted(more)[-len(part) - 1] < 3, "It would reach min_support with one more item."


@pytest.mark.parametrize("work", [0, 60_000, 200_000, 1_000_000])
def test_little_work_changes_nothing_but_what_is_listed(monkeypatch, work):
    draw = random.Random(7)
    stopped = 0
    for _ in range(repeats(40)):
        names = "abcdefgh"
        data = Transactions.from_lists([[name for name in names if draw.random() < 0.6] for _ in range(30)])
        patterns = [draw.sample(names, draw.randint(1, 8)) for _ in range(3)]
        rules = [(items[:1], items[1:]) for items in (["a", "b", "c"], draw.sample(names, 7))]
        for promise in (
            HiddenPatterns(patterns, min_support=4),
            HiddenRules(rules, min_support=4, min_confidence="1/3"),
        ):
            whole = asked(data, promise)
            with monkeypatch.context() as patch:
                patch.setattr(hidden_patterns, "MOST_WORK", work)
                answer = asked(data, promise)
            check_audit(data, promise, answer)
            assert (answer.holds, answer.witnesses, answer.margins) == (whole.holds, whole.witnesses, whole.margins)
            assert all(one.complete for one in whole.leftovers)
            assert all(one.complete for one in answer.leftovers if one.support >= 4)
            stopped += sum(not one.complete for one in answer.leftovers)
    assert stopped


def test_what_is_found_counts_as_memory(monkeypatch):
    monkeypatch.setattr(pattern_parts, "_MANY", 5)
    promise = HiddenPatterns([FIGURE_4.names], min_support=2)
    (left,) = asked(FIGURE_4, promise).leftovers
    assert len(left.largest) == 4
    monkeypatch.setattr(pattern_parts, "_ROOM", 1 << 60)
    asked(FIGURE_4, promise)
    monkeypatch.setattr(pattern_parts, "_MANY", 4)
    with refused(BudgetExceeded, "memory limit"):
        asked(FIGURE_4, promise)


def test_exceptions_pass_where_no_kernel_is_at_work():
    def stop(what, done, total):
        if what.startswith("Checking what is left"):
            raise RuntimeError("enough")

    with refused(RuntimeError, "enough"):
        asked(FIGURE_4, HiddenPatterns([["4", "5"]], min_support=1), progress=stop)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"offsets": np.array([0, 1], dtype=np.int64)}, ("frame",)),
        ({"offsets": np.array([0, 3, 2, 3], dtype=np.int64)}, ("decrease",)),
        ({"items": np.array([0, 1, 5], dtype=np.int32)}, ("vocabulary",)),
        ({"asked_offsets": np.array([0, 1], dtype=np.int64)}, ("frame",)),
        ({"asked_items": np.array([0, 5], dtype=np.int32)}, ("vocabulary",)),
        ({"asked_items": np.array([1, 0], dtype=np.int32)}, ("ascend",)),
        ({"asked_items": np.array([1, 1], dtype=np.int32)}, ("ascend",)),
        ({"vocabulary": -1}, ("vocabulary", "negative")),
    ],
)
def test_the_kernel_refuses_bad_arguments(wrong, named):
    arguments = {
        "offsets": np.array([0, 2, 3], dtype=np.int64),
        "items": np.array([0, 1, 1], dtype=np.int32),
        "vocabulary": 2,
        "asked_offsets": np.array([0, 2, 2], dtype=np.int64),
        "asked_items": np.array([0, 1], dtype=np.int32),
        "threads": 1,
        "memory_limit": 2**30,
        "time_limit": 10.0,
        "progress": None,
    }
    first, begins, places, rows = (array.tolist() for array in _native.audit.patterns(**arguments))
    assert (first, begins, places, rows) == ([0, 2, 2], [0, 1, 3], [1, 0, 1], [1, 1])
    with refused(ValueError, *named):
        _native.audit.patterns(**{**arguments, **wrong})
    with pytest.raises(TypeError):
        _native.audit.patterns(**{**arguments, "asked_items": np.array([0.0, 1.0])})
