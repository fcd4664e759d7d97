"""What reports say about hidden patterns and rules: word for word, on a terminal, as JSON and on pages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.support.errors import names
from tests.support.golden import FIGURE_4
from tests.support.runs import run_of
from tests.support.shop import NASTY
from tests.support.texts import check_accessible, check_escaped, page_text, screen_text
from veilset import api, report
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Audit, HiddenPatterns, HiddenRules, Promise, Sealed
from veilset.release import Attempt, Release, Sanitization
from veilset.report.hiding import how_it_was_hidden, ledger, matrix_figure, taken_out, taken_sentence
from veilset.report.words import limits_met, perhaps_worse, words_of
from veilset.run import certify
from veilset.transactions import Transactions

DATA = Transactions.from_lists(map(list, FIGURE_4))
PAIR, TRIPLE = ["4", "5"], ["1", "2", "5"]
SECRET = Sealed(of="hidden-patterns", count=40, commitment="5e" * 32)


def asked(promise: Promise, **options: int) -> str:
    return report.verdict(api.audit(DATA, promise, **options), merged=False)


@pytest.mark.parametrize(
    ("patterns", "least", "options", "values"),
    [
        ([PAIR, TRIPLE], 3, {}, (2, 3)),
        ([PAIR], 3, {}, (3, 2)),
        ([["3", "4"]], 1, {}, (1, 0)),
        ([TRIPLE, PAIR, ["3", "4"]], "1/3", {}, (2, 3, "'1'", "'2'", "'5'")),
        ([["3", "4"], ["1", "3"]], 1, {}, (1, 2, "'1'", "'3'")),
        ([PAIR], 2, {}, ("'4'", "'5'", 2)),
        ([PAIR, TRIPLE], 2, {"witnesses": 0}, (2,)),
    ],
    ids=["two hidden", "one hidden", "absent", "two found", "one of two found", "one found", "not listed"],
)
def test_verdicts_about_patterns(patterns, least, options, values, snapshot):
    sentence = asked(HiddenPatterns(patterns, min_support=least), **options)
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot


# 4 → 5: 2 of 3; 1, 2 → 5: 2 of 2; 2 → 1: 2 of 4.
@pytest.mark.parametrize(
    ("rules", "least", "sure", "values"),
    [
        pytest.param([("4", "5"), ("2", "1")], 3, "1/2", (2, 3), id="all too rare"),
        pytest.param([("4", "5"), ("2", "1")], 2, "3/4", (2, "75%", "66.7%"), id="all too unsure"),
        pytest.param([("4", "5"), ("4", "2"), ("5", "1"), ("3", "4")], 3, "4/5", (4, 3, 2, 1, "80%", "60%"), id="both"),
        pytest.param([("5", "1")], 3, "601/1000", (3, "60.1%", "60%"), id="close to the limit"),
        pytest.param([("5", "1")], 3, "600001/1000000", (3, "60.1%", "60%"), id="the limit is rounded up"),
        pytest.param([("4", "5")], 2, "666667/1000000", (2, "66.7%", "2/3"), id="looks like the limit"),
        pytest.param(
            [("4", "5"), (["1", "2"], "5"), ("3", "4")], 2, "2/5", (2, 3, "'1'", "'5'", "100%", "40%"), id="two found"
        ),
        pytest.param([("1", ["3", "5"])], 1, "2/5", (2, "66.7%", 1, "40%"), id="one found"),
    ],
)
def test_verdicts_about_rules(rules, least, sure, values, snapshot):
    sentence = asked(HiddenRules(rules, min_support=least, min_confidence=sure))
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot


def test_verdict_about_rules_that_are_not_listed(snapshot):
    rules = HiddenRules([("4", "5"), ("2", "1")], min_support=2, min_confidence="1/2")
    assert asked(rules, witnesses=0) == snapshot


def sealed_answer(*, holds: bool = True, count: int = 40, of: str = "hidden-patterns") -> Audit:
    promise = Sealed(of=of, count=count, commitment=SECRET.commitment)
    return Audit(promise, holds, (), 0, (), {}, count, feasible=True, transactions=6)


def test_a_sealed_promise_says_only_how_many(snapshot):
    answer, one, broken = sealed_answer(), sealed_answer(count=1, of="hidden-rules"), sealed_answer(holds=False)
    assert tuple(words_of(one.promise).state(one) for one in (answer, broken)) == ("SEALED", "DOES NOT HOLD")
    assert [report.verdict(said, merged=False) for said in (answer, one, broken)] == snapshot(name="verdicts")
    assert limits_met(answer) == []
    facts = report.audit_facts(answer, merged=False)
    assert json.loads(json.dumps(facts))["parameters"] == {**SECRET.parameters()}
    assert facts["leftovers"] == []
    assert screen_text(report.print_audit, answer, merged=False) == snapshot(name="terminal")


def test_the_public_page_of_a_sealed_promise(snapshot):
    page = report.public_report(DATA, sealed_answer(), loss_percent=3, version="veilset 0.1.0", merged=False)
    text = page_text(page)
    for absent in ("one person", "attacker", "minimum support"):
        assert absent not in text
    assert text == snapshot


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
    return certify(Release(data, made, promise, "by hand", {"p_r": "7/20"}, lost, kept=kept, sanitization=how))


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


def test_what_was_taken_out(snapshot):
    assert MADE.certified
    assert taken_out(MADE) is not None
    assert taken_sentence(replace(MADE, kept=None)) == ""
    nothing = by_hand(DATA, [], HiddenPatterns([PAIR], min_support=3), HOW)
    assert [taken_sentence(made) for made in (MADE, replace(MADE, sanitization=None), nothing)] == snapshot


def test_how_it_was_hidden(snapshot):
    ways = {
        "with levels": HOW,
        "without levels": replace(HOW, p_r=Fraction(7, 20), levels=()),
        "without p_r": replace(HOW, p_r=None),
        "by a product that took out nothing": replace(HOW, by_matrix=0, put_back=0),
    }
    assert {way: how_it_was_hidden(replace(MADE, sanitization=how)) for way, how in ways.items()} == snapshot
    assert how_it_was_hidden(replace(MADE, sanitization=None)) == []


def test_whether_the_product_was_used_is_told_by_the_way_that_won(snapshot):
    """Not by what it took out: that may be nothing."""
    without = replace(MADE, sanitization=replace(HOW, by_matrix=0, put_back=0))
    product, victims = Attempt("product", 0.1, 0.1), Attempt("victims", 0.1, 0.1)
    first = replace(without, attempts=(replace(product, state="chosen"), victims))
    second = replace(without, attempts=(product, replace(victims, state="chosen")))
    for made, used in ((first, True), (second, False)):
        text = screen_text(report.print_release, run_of(made))
        assert names(text, "0.07") == used
        assert any(names(told, "0.07") for told in how_it_was_hidden(made)) == used
        assert how_it_was_hidden(made) == snapshot
        assert text == snapshot


def test_the_terminal_tells_what_was_hidden(snapshot):
    text = screen_text(report.print_release, run_of(MADE, before=api.audit(DATA, PROMISE)))
    assert names(text, "0.07")
    assert text == snapshot(name="release")
    assert screen_text(report.print_release, run_of(release())) == snapshot(name="release with patterns to keep")
    assert screen_text(report.print_audit, api.audit(DATA, PROMISE), merged=False) == snapshot(name="audit")
    assert perhaps_worse(api.audit(DATA, PROMISE)) == "", "All listed patterns were counted."


def test_the_terminal_tells_rules(snapshot):
    rules = HiddenRules([("4", "5"), (["1", "2"], "5")], min_support=2, min_confidence="40%")
    assert screen_text(report.print_audit, api.audit(DATA, rules), merged=False) == snapshot
    assert perhaps_worse(api.audit(DATA, rules)) == ""
    limits = [(limit.met, limit.where) for limit in limits_met(api.audit(DATA, rules))]
    assert limits == [("2", "4 → 5"), ("100%", "1 + 2 → 5")]
    over = words_of(rules).over(api.audit(DATA, rules).witnesses[1], api.audit(DATA, rules))
    assert over == Fraction(2, 3) / Fraction(2, 5)


@pytest.mark.parametrize(
    ("promise", "rows"),
    [
        (HiddenPatterns([PAIR], min_support="1%"), {"patterns": 1, "min_support": "1%"}),
        (
            HiddenRules([("4", "5")], min_support=1, min_confidence="2/5"),
            {"rules": 1, "min_support": 1, "min_confidence": "40%"},
        ),
    ],
    ids=["patterns", "rules"],
)
def test_parameters(promise, rows, snapshot):
    told = words_of(promise).parameters(sensitive=False)
    assert [name for name, _, _ in told] == list(rows)
    assert all(names(value, rows[name]) for name, value, _ in told)
    assert told == snapshot


def test_facts_are_json(snapshot):
    facts = json.loads(json.dumps(report.release_facts(run_of(MADE, before=api.audit(DATA, PROMISE)))))
    assert facts["sanitization"] == {
        "taken_out": {"occurrences": 3, "items": 2, "transactions": 3},
        "by_matrix": 3,
        "by_victims": 2,
        "put_back": 1,
        "p_r": {"exact": "7/100", "value": 0.07},
        "keep_patterns": 0,
        "matrix": {"negative": 2, "positive": 2},
    }
    assert facts["hidden"] == {
        "patterns": 2,
        "found_before": 2,
        "found": 0,
        "lost_patterns_to_keep": 0,
        "stand_out": 0,
    }
    assert facts["verdict"] == "GO"
    assert facts["sentence"] == snapshot(name="sentence")
    assert not {"parameters", "audit", "unavoidable", "levels"} & facts.keys()
    assert facts["suppressed"] == {"count": 0}
    assert report.release_facts(run_of(replace(MADE, kept=None)))["sanitization"]["taken_out"] is None
    assert report.release_facts(run_of(replace(MADE, sanitization=None)))["sanitization"] is None
    unknown = report.release_facts(run_of(replace(MADE, audit=None)))
    assert unknown["verdict"] == "NO-GO"
    assert unknown["sentence"] == snapshot(name="not audited")
    assert unknown["hidden"]["found"] is unknown["hidden"]["found_before"] is None
    (left, _) = report.audit_facts(MADE.audit, merged=False)["leftovers"]
    assert (left["itemset"], left["support"], left["antecedent_support"]) == (PAIR, 1, None)
    assert {"itemset": ["4"], "support": 2} in left["largest"]
    assert left["complete"] is True


# The custodian's page


def custodian(made: Release, **options: Limits) -> str:
    return report.custodian_report(run_of(made, before=api.audit(made.original, made.promise), **options))


def test_the_custodian_reads_what_became_of_each_pattern(snapshot):
    how = replace(HOW, keep_patterns=(("2", "4"), ("1", "3")))
    made = replace(MADE, sanitization=how)
    told = ledger(run_of(made))
    assert told.hidden == [
        ("4 + 5", 2, 1, "60%", "hidden", "–"),
        ("1 + 2 + 5", 2, 0, "90%", "hidden", "–"),
    ]
    assert told.lost == [("1 + 3", 2, 1)]
    text = page_text(custodian(made))
    assert told.says in text
    for absent in ("attacker", "one person"):
        assert absent not in text
    assert text == snapshot


def test_a_release_that_leaves_patterns_says_which(snapshot):
    made = by_hand(DATA, [(0, "4")], PROMISE, replace(HOW, levels=()))
    told = ledger(run_of(made))
    assert told.says == snapshot
    assert told.hidden[0] == ("1 + 2 + 5", 2, 2, "–", "STILL FOUND", "–")
    text = page_text(custodian(made))
    assert "NO-GO" in text
    assert "1 + 2 + 5 | 2 | 2 | – |" in text


def test_an_item_that_is_gone_altogether(snapshot):
    made = by_hand(DATA, [(row, "4") for row in (0, 1, 5)], HiddenPatterns([["4"]], min_support=1), HOW)
    assert made.suppressed == ("4",)
    assert "\n4 | 3 | " in page_text(custodian(made))
    assert screen_text(report.print_release, run_of(made)) == snapshot


def test_the_ledger_of_rules(snapshot):
    rules = HiddenRules([("4", "5"), (["1", "2"], "5")], min_support=2, min_confidence="40%")
    told = ledger(run_of(release(rules)))
    assert [name for name, *_ in told.hidden] == ["4 → 5", "1 + 2 → 5"]
    assert told.says == snapshot


def test_a_ledger_that_takes_too_long_is_left_out(monkeypatch):
    def too_long(*args: object, **options: object) -> None:
        raise BudgetExceeded("Too long.")

    assert "4 + 5 | 2 | 1" in page_text(custodian(MADE))
    monkeypatch.setattr("veilset.utility.hiding_metrics.side_effects", too_long)
    assert ledger(run_of(MADE)) is None
    assert "4 + 5 | 2 | 1" not in page_text(custodian(MADE))


def test_the_matrix_as_a_picture(real_charts, snapshot):
    figure = matrix_figure(MADE)
    assert [row[:2] for row in figure.rows] == [("2", "1"), ("5", "4")]
    labels = re.findall(r"<text[^>]*>([^<]+)", str(figure.draw()))
    assert {"1", "2", "4", "5"} < set(labels)
    assert [figure.title, figure.says, figure.rows, labels] == snapshot
    assert matrix_figure(replace(MADE, sanitization=None)) is None
    assert matrix_figure(replace(MADE, sanitization=sanitization(5, {(0, 1): 1}))) is None


def test_a_large_matrix_is_cut_to_the_items_that_lose_most(real_charts):
    size = 50
    items = [f"item number {number:03} with a long name" for number in range(size)]
    data = Transactions.from_lists([items, items])
    # Each of the first forty is hit by the ten last; item 39 loses most.
    entries = {(row, column): -1 for column in range(40) for row in range(40, 50)}
    entries |= {(row, 39): 1 for row in range(35)}
    made = by_hand(data, [(0, items[39])], HiddenPatterns([items[:2]], min_support=3), sanitization(size, entries))
    figure = matrix_figure(made)
    assert names(figure.says, "10 columns")
    assert names(figure.says, "15 rows")
    assert figure.rows[0][:2] == ("item number 040 with …", "item number 039 with …")
    svg = str(figure.draw())
    assert svg.count(">item number 0") == 60
    assert "item number 029 with …" not in svg.split("item number 039", maxsplit=1)[0]


def test_names_that_look_alike_are_told_apart():
    long = "x" * 30
    data = Transactions.from_lists([["a", f"{long}1", f"{long}2"]] * 2)
    how = sanitization(3, {(0, 1): -1, (0, 2): -1})
    figure = matrix_figure(by_hand(data, [], HiddenPatterns([["a"]], min_support=3), how))
    assert [row[1] for row in figure.rows] == ["x" * 21 + "…", "x" * 21 + "… (2)"]


def test_pages_escape_names_and_are_accessible():
    data = Transactions.from_lists([[NASTY, "milk"], [NASTY, "milk"], ["milk", "tea"], ["tea"]])
    made = api.anonymize(data, HiddenPatterns([[NASTY, "milk"]], min_support=2), random_state=1)
    page = custodian(made)
    check_escaped(page)
    check_accessible(page, charts=3)
    assert custodian(made) == page


def test_without_room_to_draw_the_numbers_are_there():
    page = custodian(MADE, limits=Limits(memory_limit="100MB"))
    assert "<svg" not in page
    assert "\n2 | 1 | " in page_text(page)
    assert "\n5 | 4 | " in page_text(page)
