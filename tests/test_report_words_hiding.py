"""What reports say about hidden patterns and rules: word for word, on a terminal, as JSON and on pages."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.shop import NASTY, printed
from veilset import api, report
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Audit, HiddenPatterns, HiddenRules, Promise, Sealed
from veilset.release import Attempt, Release, Sanitization
from veilset.report.hiding import how_it_was_hidden, ledger, matrix_figure, taken_out, taken_sentence
from veilset.report.words import limits_met, perhaps_worse, state, words_of
from veilset.transactions import Transactions

# The example of the paper.
ROWS = [list(row) for row in ("45", "24", "125", "135", "1235", "245")]
DATA = Transactions.from_lists(ROWS)
PAIR, TRIPLE = ["4", "5"], ["1", "2", "5"]
SECRET = Sealed(of="hidden-patterns", count=40, commitment="5e" * 32)


def asked(promise: Promise, **options: int) -> str:
    return report.verdict(api.audit(DATA, promise, **options), merged=False)


@pytest.mark.parametrize(
    ("patterns", "least", "options", "sentence"),
    [
        (
            [PAIR, TRIPLE],
            3,
            {},
            "None of the 2 listed patterns is in as many as 3 transactions of this file (at most 2).",
        ),
        ([PAIR], 3, {}, "The listed pattern is not in as many as 3 transactions of this file (2)."),
        ([["3", "4"]], 1, {}, "The listed pattern is not in as many as 1 transaction of this file (0)."),
        (
            [TRIPLE, PAIR, ["3", "4"]],
            "1/3",
            {},
            "2 of 3 listed patterns are found; for example '1', '2' and '5' in 2 transactions, and 2 make it found.",
        ),
        (
            [["3", "4"], ["1", "3"]],
            1,
            {},
            "1 of 2 listed patterns is found: '1' and '3' in 2 transactions, and 1 makes it found.",
        ),
        ([PAIR], 2, {}, "The listed pattern is found: '4' and '5' in 2 transactions, and 2 make it found."),
        ([PAIR, TRIPLE], 2, {"witnesses": 0}, "2 of 2 listed patterns are found."),
    ],
)
def test_verdicts_about_patterns(patterns, least, options, sentence):
    assert asked(HiddenPatterns(patterns, min_support=least), **options) == sentence


# 4 → 5: 2 of 3; 1, 2 → 5: 2 of 2; 2 → 1: 2 of 4.
@pytest.mark.parametrize(
    ("rules", "least", "sure", "options", "sentence"),
    [
        (
            [("4", "5"), ("2", "1")],
            3,
            "1/2",
            {},
            "None of the 2 listed rules is found in this file: all are in fewer than 3 transactions (at most 2).",
        ),
        (
            [("4", "5"), ("2", "1")],
            2,
            "3/4",
            {},
            "None of the 2 listed rules is found in this file: all are in 2 transactions or more but less than 75% "
            "sure (at most 66.7%).",
        ),
        (
            [("4", "5"), ("4", "2"), ("5", "1"), ("3", "4")],
            3,
            "4/5",
            {},
            "None of the 4 listed rules is found in this file: 3 are in fewer than 3 transactions (at most 2), 1 is in "
            "as many but less than 80% sure (at most 60%).",
        ),
        (
            [("5", "1")],
            3,
            "601/1000",
            {},
            "The listed rule is not found in this file: it is in 3 transactions or more but less than 60.1% sure (at "
            "most 60%).",
        ),
        (
            [("5", "1")],
            3,
            "600001/1000000",
            {},
            "The listed rule is not found in this file: it is in 3 transactions or more but less than 60.1% sure (at "
            "most 60%).",
        ),
        (
            [("4", "5")],
            2,
            "666667/1000000",
            {},
            "The listed rule is not found in this file: it is in 2 transactions or more but less than 66.7% sure (at "
            "most 2/3).",
        ),
        (
            [("4", "5"), (["1", "2"], "5"), ("3", "4")],
            2,
            "2/5",
            {},
            "2 of 3 listed rules are found; for example '1' and '2' → '5' in 2 transactions and 100% sure, and 2 and "
            "40% make it found.",
        ),
        (
            [("1", ["3", "5"])],
            1,
            "2/5",
            {},
            "The listed rule is found: '1' → '3 + 5' in 2 transactions and 66.7% sure, and 1 and 40% make it found.",
        ),
        ([("4", "5"), ("2", "1")], 2, "1/2", {"witnesses": 0}, "2 of 2 listed rules are found."),
    ],
)
def test_verdicts_about_rules(rules, least, sure, options, sentence):
    assert asked(HiddenRules(rules, min_support=least, min_confidence=sure), **options) == sentence


def sealed_answer(*, holds: bool = True, count: int = 40, of: str = "hidden-patterns") -> Audit:
    promise = Sealed(of=of, count=count, commitment=SECRET.commitment)
    return Audit(promise, holds, (), 0, (), {}, count, feasible=True, transactions=6)


def test_a_sealed_promise_says_only_how_many():
    answer = sealed_answer()
    assert report.verdict(answer, merged=False) == (
        "40 patterns that are kept secret are hidden in this file; only the custodian can check that."
    )
    assert state(answer) == "SEALED"
    assert state(sealed_answer(holds=False)) == "DOES NOT HOLD"
    assert report.verdict(sealed_answer(count=1, of="hidden-rules"), merged=True) == (
        "1 rule that is kept secret is hidden in this file; only the custodian can check that."
    )
    assert "not hidden" in report.verdict(sealed_answer(holds=False), merged=True)
    assert limits_met(answer) == []
    facts = report.audit_facts(answer, merged=False)
    assert json.loads(json.dumps(facts))["parameters"] == {**SECRET.parameters()}
    assert facts["leftovers"] == []
    assert "SEALED 40 patterns" in printed(report.print_audit, answer, merged=False)


def public(answer: Audit) -> str:
    page = report.public_report(DATA, answer, loss_percent=3, version="veilset 0.1.0", merged=False)
    return text_of(page)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_the_public_page_of_a_sealed_promise():
    text = public(sealed_answer())
    assert "What is hidden in this file ✓ SEALED 40 patterns that are kept secret" in text
    assert "count 40 40 patterns that the custodian has listed are found less often in this file" in text
    assert "commitment 5e5e5e5e5e5e… The custodian cannot exchange the listed patterns for others" in text
    assert "Nobody can repeat that without the list." in text
    assert "Whether the patterns are hidden it can tell only where the custodian's part of the release is" in text
    assert "it is patterns that are hidden, not items" in text
    for absent in ("taken as one person", "to protect people", "attacker", "How close", "make it found"):
        assert absent not in text


def release(promise: HiddenPatterns | HiddenRules | None = None, **options: object) -> Release:
    secret = promise or HiddenPatterns([PAIR, TRIPLE], min_support="30%")
    return api.anonymize(DATA, secret, random_state=5, **options)  # type: ignore[arg-type]


def by_hand(data: Transactions, gone: list[tuple[int, str]], promise: HiddenPatterns, how: Sanitization) -> Release:
    """A release without these items in these transactions."""
    kept = np.ones(len(data.items), dtype=bool)
    for row, item in gone:
        first, last = data.offsets[row : row + 2].tolist()
        kept[first + data.items[first:last].tolist().index(data.codes([item])[0])] = False
    made = data.thinned(kept)
    lost = tuple(name for name in data.names if name not in made.names)
    return api.certify(Release(data, made, promise, "by hand", {"p_r": "7/20"}, lost, kept=kept, sanitization=how))


def sanitization(size: int, entries: dict[tuple[int, int], int], **more: object) -> Sanitization:
    matrix = np.eye(size, dtype=np.int8)
    for place, value in entries.items():
        matrix[place] = value
    known: dict[str, object] = {"keep_patterns": (), "p_r": None, "levels": (), "by_matrix": 3, "by_victims": 2}
    return Sanitization(matrix=csr_array(matrix), **{**known, "put_back": 1, **more})  # type: ignore[arg-type]


PROMISE = HiddenPatterns([PAIR, TRIPLE], min_support=2)
# 54 and 21 as in the paper; 5 stays with 3.
HOW = sanitization(
    5, {(4, 3): -1, (1, 0): -1, (2, 4): 1, (4, 2): 1}, p_r=Fraction(7, 100), levels=(Fraction(3, 5), Fraction(9, 10))
)
MADE = by_hand(DATA, [(0, "4"), (2, "1"), (4, "1")], PROMISE, HOW)


def test_what_was_taken_out():
    assert MADE.certified
    assert taken_out(MADE) is not None
    assert taken_sentence(MADE) == (
        "3 occurrences of 2 items taken out of 3 transactions (matrix 3, victims 2, put back 1)"
    )
    assert taken_sentence(replace(MADE, sanitization=None)) == "3 occurrences of 2 items taken out of 3 transactions"
    assert taken_sentence(replace(MADE, kept=None)) == ""
    nothing = by_hand(DATA, [], HiddenPatterns([PAIR], min_support=3), HOW)
    assert taken_sentence(nothing).startswith("no occurrence of any item taken out (matrix 3")


def test_how_it_was_hidden():
    steps, restoration, levels = how_it_was_hidden(MADE)
    assert steps == (
        "The product of the transactions with the matrix took out 3 occurrences. What had to go besides, so that "
        "everything is hidden: 2. What need not be gone and was put back: 1."
    )
    assert "p_r was 0.07 in the end, 0.35 at first: so often" in restoration
    assert "a level of its own, drawn at random: from 60% to 90% of what makes it found" in levels
    same = replace(MADE, sanitization=replace(HOW, p_r=Fraction(7, 20), levels=()))
    assert "p_r was 0.35: so often" in how_it_was_hidden(same)[1]
    assert "which may leave patterns" in how_it_was_hidden(same)[2]
    assert len(how_it_was_hidden(replace(MADE, sanitization=replace(HOW, p_r=None)))) == 2
    assert how_it_was_hidden(replace(MADE, sanitization=None)) == []
    without = replace(MADE, sanitization=replace(HOW, by_matrix=0, put_back=0))
    assert "the matrix took out 0 occurrences. What had to go" in how_it_was_hidden(without)[0]
    assert "p_r was 0.07 in the end" in how_it_was_hidden(without)[1]


def test_whether_the_product_was_used_is_told_by_the_way_that_won():
    """Not by what it took out: that may be nothing."""
    without = replace(MADE, sanitization=replace(HOW, by_matrix=0, put_back=0))
    product, victims = Attempt("product", 0.1, 0.1), Attempt("victims", 0.1, 0.1)
    first = replace(without, attempts=(replace(product, won=True), victims))
    assert "the matrix took out 0 occurrences. What had to go" in how_it_was_hidden(first)[0]
    assert "p_r was 0.07 in the end" in how_it_was_hidden(first)[1]
    assert "p_r 0.07 in the end" in printed(report.print_release, first)
    second = replace(without, attempts=(product, replace(victims, won=True)))
    assert "the matrix was not used: the way that was taken does without it." in how_it_was_hidden(second)[0]
    assert len(how_it_was_hidden(second)) == 2
    assert "p_r 0.07" not in printed(report.print_release, second)


def test_the_terminal_tells_what_was_hidden():
    text = printed(report.print_release, MADE, before=api.audit(DATA, PROMISE))
    assert "At risk before 2 of 2 listed patterns are found; for example" in text
    assert "Changed 3 occurrences of 2 items taken out of 3 transactions (matrix 3," in text
    assert "p_r 0.07 in the end, 0.35 at first" in text
    assert "Had to go" not in text
    assert "of the patterns that were to stay are lost" in printed(report.print_release, release())
    assert "GO None of the 2 listed patterns is in as many as 2 transactions of this file (at most 1)." in text
    audited = printed(report.print_audit, api.audit(DATA, PROMISE), merged=False)
    assert "Pattern that is found Transactions Found from 4 + 5 2 2" in audited
    assert "more extreme" not in audited  # all listed patterns were counted
    assert "Most transactions that hold a listed pattern 2 below 2 4 + 5" in audited


def test_the_terminal_tells_rules():
    rules = HiddenRules([("4", "5"), (["1", "2"], "5")], min_support=2, min_confidence="40%")
    text = printed(report.print_audit, api.audit(DATA, rules), merged=False)
    assert "Rule that is found Transactions How sure it is 1 + 2 → 5 2 100% 4 → 5 2 66.7%" in text
    assert perhaps_worse(api.audit(DATA, rules)) == ""
    limits = {limit.what: (limit.met, limit.allowed, limit.where) for limit in limits_met(api.audit(DATA, rules))}
    assert limits == {
        "Most transactions with a listed rule that is 40% sure or more": ("2", "below 2", "4 → 5"),
        "How sure a listed rule is that 2 transactions or more hold": ("100%", "below 40%", "1 + 2 → 5"),
    }
    over = words_of(rules).over(api.audit(DATA, rules).witnesses[1], api.audit(DATA, rules))
    assert over == Fraction(2, 3) / Fraction(2, 5)


@pytest.mark.parametrize(
    ("promise", "rows"),
    [
        (HiddenPatterns([PAIR], min_support="1%"), [("patterns", "1"), ("min_support", "1% of the transactions")]),
        (
            HiddenRules([("4", "5")], min_support=1, min_confidence="2/5"),
            [("rules", "1"), ("min_support", "1 transaction"), ("min_confidence", "40%")],
        ),
    ],
)
def test_parameters(promise, rows):
    assert [(name, value) for name, value, _ in words_of(promise).parameters(sensitive=False)] == rows


def test_facts_are_json():
    facts = json.loads(json.dumps(report.release_facts(MADE, before=api.audit(DATA, PROMISE))))
    assert facts["sanitization"] == {
        "taken_out": {"occurrences": 3, "items": 2, "transactions": 3},
        "by_matrix": 3,
        "by_victims": 2,
        "put_back": 1,
        "p_r": {"exact": "7/100", "value": 0.07},
        "keep_patterns": 0,
        "matrix": {"negative": 2, "positive": 2},
    }
    assert facts["hidden"] == {"patterns": 2, "found_before": 2, "found": 0, "lost_patterns_to_keep": 0}
    assert (facts["verdict"], facts["sentence"]) == ("GO", "0 of 2 listed patterns found.")
    assert not {"parameters", "audit", "unavoidable", "levels"} & facts.keys()
    assert facts["suppressed"] == {"count": 0}
    assert report.release_facts(replace(MADE, kept=None))["sanitization"]["taken_out"] is None
    assert report.release_facts(replace(MADE, sanitization=None))["sanitization"] is None
    unknown = report.release_facts(replace(MADE, audit=None))
    assert (unknown["verdict"], unknown["sentence"]) == ("NO-GO", "Nobody has audited this release.")
    assert unknown["hidden"]["found"] is unknown["hidden"]["found_before"] is None
    (left, _) = report.audit_facts(MADE.audit, merged=False)["leftovers"]
    assert (left["itemset"], left["support"], left["antecedent_support"]) == (PAIR, 1, None)
    assert {"itemset": ["4"], "support": 2} in left["largest"]
    assert left["complete"] is True


# The custodian's page


def custodian(made: Release, **options: Limits) -> str:
    return report.custodian_report(made, before=api.audit(made.original, made.promise), **options)


def test_the_custodian_reads_what_became_of_each_pattern():
    how = replace(HOW, keep_patterns=(("2", "4"), ("1", "3")))
    made = replace(MADE, sanitization=how)
    told = ledger(made)
    assert told is not None
    assert told.says == "2 patterns hidden, 0 still found; of 2 patterns that were to stay, 1 did and 1 did not."
    assert told.hidden == [("4 + 5", 2, 1, "60%", "hidden"), ("1 + 2 + 5", 2, 0, "90%", "hidden")]
    assert told.lost == [("1 + 3", 2, 1)]
    text = text_of(custodian(made))
    assert f"{told.says} All of them" in text
    assert "Before After Level Now 4 + 5 2 1 60% hidden 1 + 2 + 5 2 0 90% hidden" in text
    assert "Lost Before After 1 + 3 2 1" in text
    assert "No item is gone from all transactions." in text
    assert "of 2 listed are still found 0 " in text
    assert "Pattern that is found Transactions Found from Over the limit 4 + 5 2 2 1.00×" in text
    for absent in ("attacker", "had to go whatever the method", "one person", "one transaction ="):
        assert absent not in text


def test_a_release_that_leaves_patterns_says_which():
    made = by_hand(DATA, [(0, "4")], PROMISE, replace(HOW, levels=()))
    told = ledger(made)
    assert told is not None
    assert told.says == "1 pattern hidden, 1 still found."
    assert told.hidden[0] == ("1 + 2 + 5", 2, 2, "–", "found")
    text = text_of(custodian(made))
    assert "NO-GO" in text
    assert "1 + 2 + 5 2 2 – STILL FOUND" in text


def test_an_item_that_is_gone_altogether():
    made = by_hand(DATA, [(row, "4") for row in (0, 1, 5)], HiddenPatterns([["4"]], min_support=1), HOW)
    assert made.suppressed == ("4",)
    text = text_of(custodian(made))
    assert "1 item is gone from all transactions." in text
    assert "4 3 " in text
    assert "Had to go 1 item whatever the method" in printed(report.print_release, made)


def test_the_ledger_of_rules():
    rules = HiddenRules([("4", "5"), (["1", "2"], "5")], min_support=2, min_confidence="40%")
    told = ledger(release(rules))
    assert told is not None
    assert [name for name, *_ in told.hidden] == ["4 → 5", "1 + 2 → 5"]
    assert told.says.startswith("2 rules hidden, 0 still found")


def test_a_ledger_that_takes_too_long_is_left_out(monkeypatch):
    def too_long(*args: object, **options: object) -> None:
        raise BudgetExceeded("Too long.")

    monkeypatch.setattr("veilset.report.hiding.side_effects", too_long)
    assert ledger(MADE) is None
    text = text_of(custodian(MADE))
    assert "This was not counted: it would have taken longer" in text


def test_the_matrix_as_a_picture():
    figure = matrix_figure(MADE)
    assert figure is not None
    assert figure.rows == [("2", "1", "−1: goes"), ("5", "4", "−1: goes")]
    assert "Not shown" not in figure.says
    svg = str(figure.draw())
    for label in (">1<", ">2<", ">4<", ">5<", ">−1: goes<", ">0<", ">1: stays<", ">item beside it<"):
        assert label in svg
    assert matrix_figure(replace(MADE, sanitization=None)) is None
    assert matrix_figure(replace(MADE, sanitization=sanitization(5, {(0, 1): 1}))) is None


def test_a_large_matrix_is_cut_to_the_items_that_lose_most():
    size = 50
    names = [f"item number {number:03} with a long name" for number in range(size)]
    data = Transactions.from_lists([names, names])
    # Each of the first forty is hit by the ten last; item 39 loses most.
    entries = {(row, column): -1 for column in range(40) for row in range(40, 50)}
    entries |= {(row, 39): 1 for row in range(35)}
    made = by_hand(data, [(0, names[39])], HiddenPatterns([names[:2]], min_support=3), sanitization(size, entries))
    figure = matrix_figure(made)
    assert figure is not None
    assert "Not shown: 10 columns and 15 rows." in figure.says
    assert figure.rows[0] == ("item number 040 with …", "item number 039 with …", "−1: goes")
    svg = str(figure.draw())
    assert svg.count(">item number 0") == 60
    assert "item number 029 with …" not in svg.split("item number 039", maxsplit=1)[0]


def test_names_that_look_alike_are_told_apart():
    long = "x" * 30
    data = Transactions.from_lists([["a", f"{long}1", f"{long}2"]] * 2)
    how = sanitization(3, {(0, 1): -1, (0, 2): -1})
    figure = matrix_figure(by_hand(data, [], HiddenPatterns([["a"]], min_support=3), how))
    assert figure is not None
    assert [row[1] for row in figure.rows] == ["x" * 21 + "…", "x" * 21 + "… (2)"]


def test_pages_escape_names_and_are_accessible():
    data = Transactions.from_lists([[NASTY, "milk"], [NASTY, "milk"], ["milk", "tea"], ["tea"]])
    made = api.anonymize(data, HiddenPatterns([[NASTY, "milk"]], min_support=2), random_state=1)
    page = custodian(made)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.count("<table") == page.count("<caption>")
    assert page.count("<svg") == page.count('role="img" aria-label="') >= 3
    assert custodian(made) == page


def test_without_room_to_draw_the_numbers_are_there():
    page = custodian(MADE, limits=Limits(memory_limit="100MB"))
    assert "<svg" not in page
    assert "−1: goes" in page
