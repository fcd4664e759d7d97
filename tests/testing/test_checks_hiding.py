"""The batteries for hidden patterns and hidden rules: what is right passes, and what is wrong is rejected."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.support.complaints import complaint
from veilset import HiddenPatterns, HiddenRules, Transactions, audit
from veilset.models import Leftover, Margin
from veilset.release import Release, Sanitization
from veilset.testing import check_anonymizer, check_audit, check_metrics, strategies
from veilset.testing.mutants_hiding import hiding_unbroken
from veilset.utility import Metric

PAIRS = HiddenPatterns([["a", "b"], ["b", "c"]], min_support=2)
ROWS = Transactions.from_lists([["a", "b"], ["a", "b", "s"], ["a", "b"], ["b", "c"], ["d"], []], sensitive=["s"])


def keeping(rows: list[str], **changed: object):
    """A method that leaves these rows of `ROWS`, items being letters."""

    def method(data, promise):
        there = [item in left for row, left in zip(data, rows, strict=True) for item in row]
        kept = np.array(there, dtype=np.bool_)
        left = data.thinned(kept)
        gone = data.in_order(set(data.names).difference(left.names))
        return replace(Release(data, left, promise, "by hand", {}, gone, kept=kept), **changed)

    return method


@given(strategies.transactions(max_rows=8), st.data())
def test_the_method_that_the_mutants_for_hiding_are_made_from_passes(data, draws):
    check_anonymizer(hiding_unbroken, data, draws.draw(strategies.hidden_patterns(data)))
    check_anonymizer(hiding_unbroken, data, draws.draw(strategies.hidden_rules(data)))


def test_no_occurrence_that_need_not_have_gone_is_gone(snapshot):
    check_anonymizer(keeping(["b", "as", "ab", "bc", "d", ""]), ROWS, PAIRS, maximal=True)
    for rows in (["b", "as", "ab", "bc", "", ""], ["b", "a", "ab", "bc", "d", ""], ["b", "as", "b", "bc", "d", ""]):
        check_anonymizer(keeping(rows), ROWS, PAIRS)
        assert complaint(check_anonymizer, keeping(rows), ROWS, PAIRS, maximal=True) == snapshot


def test_what_was_drawn_for_a_pattern_is_what_it_has_to_stay_below(snapshot):
    """Of {a, b} nothing may be left at a level of one half: then all three had to go."""
    rows = ["b", "as", "b", "bc", "d", ""]

    def at(level: Fraction):
        return Sanitization(csr_array((5, 5)), (), None, (level, Fraction(1)), 0, 3, 0)

    check_anonymizer(keeping(rows, sanitization=at(Fraction(1, 2))), ROWS, PAIRS, maximal=True)
    milder = keeping(rows, sanitization=at(Fraction(2, 3)))
    assert complaint(check_anonymizer, milder, ROWS, PAIRS, maximal=True) == snapshot


def test_a_rule_may_be_hidden_by_its_support_or_by_its_confidence(snapshot):
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b"], ["a"]])
    promise = HiddenRules([("a", "b")], min_support=2, min_confidence="3/4")
    check_anonymizer(keeping(["a", "ab", "ab", "a"]), data, promise, maximal=True)  # 2 of 4
    # 1 of 4, and 2 of 4 would do; 1 is below 2, but 2 of 3 would do
    for left in (["a", "a", "ab", "a"], ["b", "b", "ab", "a"]):
        assert complaint(check_anonymizer, keeping(left), data, promise, maximal=True) == snapshot
    half = HiddenRules([("a", "b")], min_support=2, min_confidence="1/2")
    check_anonymizer(keeping(["b", "ab", "b", "a"]), data, half, maximal=True)  # 1 is below 2, and 2 of 3 is not
    third = Sanitization(csr_array((2, 2)), (), None, (Fraction(1, 3),), 0, 3, 0)
    check_anonymizer(
        keeping(["a", "a", "a", "a"], sanitization=third), data, promise, maximal=True
    )  # 1 of 4 is 1/3 of it


def test_hiding_takes_occurrences_out_and_does_nothing_else(snapshot):
    def recoded(names: dict[str, str]):
        return lambda data, promise: Release(data, data.renamed(names), promise, "by hand", {}, (), names)

    assert complaint(check_anonymizer, recoded({"a": "A", "c": "C"}), ROWS, PAIRS) == snapshot
    seen_by_one = HiddenPatterns([["a", "d"]], min_support=2)
    assert complaint(check_anonymizer, recoded({"d": "D"}), ROWS, seen_by_one) == snapshot
    gone = ["b", "as", "ab", "bc", "", ""]
    check_anonymizer(keeping(gone), ROWS, PAIRS)
    assert complaint(check_anonymizer, keeping(gone, suppressed=()), ROWS, PAIRS) == snapshot


def test_wrong_answers_about_hidden_patterns_are_rejected(snapshot):
    answer = audit(ROWS, PAIRS)
    check_audit(ROWS, PAIRS, answer)
    (witness,), (first, second) = answer.witnesses, answer.leftovers
    check_audit(ROWS, PAIRS, replace(answer, leftovers=(first, replace(second, largest=(), complete=False))))
    assert second == Leftover(("b", "c"), 1, None, ((("b",), 4),))
    wrong = [
        {"holds": True},
        {"witnesses": ()},
        {"witnesses": (replace(witness, support=4),)},
        {"found": 2},
        {"found_by_size": (1,)},
        {"margins": {"largest_support": Margin(4, ("a", "b"))}},
        {"margins": {}},
        {"leftovers": (second, first)},
        {"leftovers": (first,)},
        {"leftovers": (first, replace(second, support=2))},
        {"leftovers": (first, replace(second, antecedent_support=4))},
        {"leftovers": (first, replace(second, largest=()))},
        {"leftovers": (first, replace(second, largest=((("b",), 3),)))},
        {"leftovers": (first, replace(second, largest=((("b",), 3),), complete=False))},
    ]
    assert [complaint(check_audit, ROWS, PAIRS, replace(answer, **one)) for one in wrong] == snapshot


def test_wrong_answers_about_hidden_rules_are_rejected(snapshot):
    promise = HiddenRules([("a", "b"), ("b", "a"), ("c", "b")], min_support=2, min_confidence="1/2")
    answer = audit(ROWS, promise)
    check_audit(ROWS, promise, answer)
    first, second = answer.witnesses
    wrong = [
        {"holds": True},
        {"witnesses": (second, first)},
        {"witnesses": (first, replace(second, confidence=Fraction(1, 2)))},
        {"witnesses": (first, replace(second, sensitive="c"))},
        {"margins": {"largest_support": Margin(3, ("a",), "b")}},
        {"leftovers": tuple(replace(one, antecedent_support=None) for one in answer.leftovers)},
    ]
    assert [complaint(check_audit, ROWS, promise, replace(answer, **one)) for one in wrong] == snapshot


def test_a_release_in_which_nothing_changed_is_one_that_kept_everything():
    """What a metric asks of the mask is answered for the data that goes with it."""
    lost = Metric("lost", "occurrences gone", None, "less", lambda r: len(r.original.items) - int(r.survivors().sum()))
    check_metrics([lost], [keeping(["b", "as", "ab", "bc", "d", ""])(ROWS, PAIRS)])
