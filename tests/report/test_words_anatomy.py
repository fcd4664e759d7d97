"""What reports say about l-diverse anatomies: word for word, on a terminal, as JSON and on pages."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import names, refused
from tests.support.runs import run_of
from tests.support.shop import NASTY
from tests.support.texts import check_accessible, check_escaped, page_text, screen_text
from veilset import report
from veilset.anonymize.anatomy.multi_anatomy import multi_anatomy
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.release import ColumnMerge, Partition, Release
from veilset.report.anatomy import ColumnFacts, column_facts, cut_of, cut_sentence, how_it_was_cut
from veilset.report.custodian import cost_rows
from veilset.report.mined import Asked, Mined, found_sentence, notes
from veilset.report.words import limits_met, perhaps_worse, words_of
from veilset.transactions import Anatomy, Transactions
from veilset.utility import Account

# Table I(A) of the paper, and the columns and buckets of its Table I(D).
ROWS = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
DATA = Transactions.from_lists(map(list, ROWS))
ANATOMY = Anatomy.of(["defh", "abcg"], [0] * 5 + [1] * 5)
CUT = DATA.anatomized(ANATOMY)
TWO = LDiverseAnatomy(2)
COLUMN = ("b", "e", "g")


def holding(promise: LDiverseAnatomy = TWO, **margins: Margin) -> Audit:
    met = margins or {"largest_probability": Margin(Fraction(2, 5), ("f", "h"), None, 1, ("d", "e", "f", "h"))}
    return Audit(promise, True, (), 0, (), met, 4, True, 10)


def broken(*witnesses: Witness, found: int = 2, checked: int = 6) -> Audit:
    largest = Margin(Fraction(3, 5), ("b",), None, 1, COLUMN)
    return Audit(TWO, False, witnesses, found, (), {"largest_probability": largest}, checked, True, 10)


def too_common(*value: str, count: int = 3, share: Fraction = Fraction(3, 5)) -> Witness:
    which = "exactly this" if value else "none"
    return Witness(value, count, None, share, f"{count} of the 5 transactions of bucket 1 have {which}", 1, COLUMN)


def whole(promise: LDiverseAnatomy = TWO) -> Audit:
    """What an auditor says of transactions without columns and buckets."""
    rows = tuple(Witness(("a", "b"), 1, None, Fraction(1), f"is bucket {at}", at) for at in range(1, 10))
    largest = Margin(Fraction(1), ("a", "b"), None, 1)
    return Audit(promise, False, rows, 10, (), {"largest_probability": largest}, 10, True, 10)


def release(data: Transactions = CUT, **more: object) -> Release:
    how = Partition(np.arange(10), 3, ("h", "a"), (MERGE,), 1, 0)
    given = {"audit": holding(), "partition": how, "options": {"columns": 3, "random_state": 98765}, **more}
    return Release(original=DATA, custodian_data=data, promise=TWO, method="multi-anatomy", suppressed=(), **given)  # type: ignore[arg-type]


MERGE = ColumnMerge(("a", "b"), ("c", "g"), Fraction(3, 5), Fraction(3, 10))


CARRIERS = Witness(("s",), 2, "s", Fraction(2, 3), "2 sensitive values are among 3 transactions", 1, ("s", "t"))
EMPTY = Witness((), 2, None, None, "2 transactions are empty, and an anatomy must have none")
SECRET = Margin(Fraction(1, 3), ("s",), "s", 2, ("s", "t"))
MIXED = Witness(("s",), 4, "s", None, "its column {b, s} has public items, too", column=("b", "s"))


@pytest.mark.parametrize(
    ("audit", "merged", "values"),
    [
        pytest.param(holding(), True, (4, "1/2", "2/5", "bucket 1"), id="holds"),
        pytest.param(
            holding(**holding().margins, largest_sensitive_share=SECRET),
            True,
            (4, "1/2", "2/5", "1/3", "bucket 2"),
            id="also for sensitive items",
        ),
        pytest.param(
            holding(largest_sensitive_share=SECRET), True, (4, "1/3", "bucket 2"), id="all items are sensitive"
        ),
        pytest.param(holding(LDiverseAnatomy("5/2", empty="free")), False, (4, "2/5"), id="not merged, free"),
        pytest.param(holding(LDiverseAnatomy(1)), True, (), id="nothing is promised"),
        pytest.param(Audit(TWO, True, (), 0, (), {}, 0, True, 0), True, (), id="no rows"),
        pytest.param(whole(), True, (), id="no anatomy"),
        pytest.param(broken(too_common("b")), True, (2, 6, "{b}", 3, 5, "bucket 1"), id="a value is too probable"),
        pytest.param(broken(too_common(), found=1), False, (1, 6, 3, 5, "bucket 1"), id="too many have nothing"),
        pytest.param(broken(CARRIERS), True, (2, 6, CARRIERS.reason), id="too many have sensitive items"),
        pytest.param(broken(EMPTY), True, (2, EMPTY.reason), id="empty transactions"),
        pytest.param(broken(MIXED), True, (2, "{s}", MIXED.reason), id="a reason of another kind"),
        pytest.param(broken(), True, (2, 6), id="nothing listed"),
    ],
)
def test_verdicts(audit: Audit, merged: bool, values: tuple[object, ...], snapshot: object) -> None:
    sentence = report.verdict(audit, merged=merged)
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot
    kept = "EXCLUDES NOTHING" if audit.promise.l == 1 else "HOLDS"
    assert words_of(audit.promise).state(audit) == (kept if audit.holds else "DOES NOT HOLD")


def test_rows_of_tables(snapshot: object) -> None:
    words, audit = words_of(TWO), broken()
    assert words.heads == snapshot
    assert words.row(too_common("b"), audit) == ("1", "{b, e, g}", "{b}", "3/5")
    assert words.row(too_common(), audit)[:2] == ("1", "{b, e, g}")
    assert words.over(too_common("b"), audit) == Fraction(6, 5)
    assert words.row(CARRIERS, audit) == ("1", "{s, t}", "any sensitive item", "2/3")
    assert words.row(EMPTY, audit) == ("all", "all items", "nothing", "–")
    assert words.row(MIXED, audit)[1:] == ("{b, s}", "{s}", "–")
    assert words.over(MIXED, audit) == 2


def test_how_close_it_comes(snapshot: object) -> None:
    met = limits_met(
        holding(
            largest_probability=Margin(Fraction(1, 2), (), None, 17, COLUMN),
            surest_guess=Margin(Fraction(44_080, 88_161), ("b",), None, None, COLUMN),
            largest_item_share=Margin(Fraction(1), ("b",), None, 3, COLUMN),
            largest_sensitive_share=SECRET,
            surest_within_column=Margin(Fraction(1), ("s",), "t", None, ("s", "t")),
            unlimited_items=Margin(1200, tuple(map(str, range(1200)))),
        )
    )
    guessed = holding(
        LDiverseAnatomy(2, items=True), surest_guess=replace(SECRET, bucket=None), largest_item_share=SECRET
    )
    assert [limit.where for limit in limits_met(guessed)][:1] == ["any sensitive item of {s, t}"]
    assert names(limits_met(guessed)[1].allowed, "1/2")
    assert [(limit.what, limit.met, limit.allowed, limit.where) for limit in met] == snapshot
    assert perhaps_worse(broken()) == ""  # every group is counted, whether or not it holds


def test_parameters_say_what_is_free(snapshot: object) -> None:
    told = {
        "public": words_of(TWO).parameters(sensitive=False),
        "sensitive": words_of(TWO).parameters(sensitive=True),
        "free": words_of(LDiverseAnatomy(2, empty="free", items=True)).parameters(sensitive=True),
    }
    (_, at_least, means), (_, empty, of_nothing), (_, items, _) = told["public"]
    assert (at_least, empty, items) == ("2", "value", "no")
    assert names(means, "1/2")
    assert "sensitive" not in of_nothing
    assert told == snapshot


def test_facts_survive_json() -> None:
    facts = json.loads(json.dumps(report.audit_facts(broken(too_common("b")), merged=True)))
    (witness,) = facts["witnesses"]
    assert (witness["bucket"], witness["column"], witness["itemset"]) == (1, {"first": "b", "items": 3}, ["b"])
    assert facts["margins"]["largest_probability"]["bucket"] == 1
    assert facts["margins"]["largest_probability"]["column"] == {"first": "b", "items": 3}
    facts = report.audit_facts(whole(), merged=True)
    assert not any("column" in found for found in [*facts["witnesses"], *facts["margins"].values()])


def test_where_everybody_is_at_risk_three_are_shown(snapshot: object) -> None:
    assert names(limits_met(whole())[0].where, "transaction 1")
    text = screen_text(report.print_audit, whole(), merged=True)
    assert names(text, "7 more")
    assert text == snapshot(name="many")
    page = page_text(report.custodian_report(run_of(release(), before=whole())))
    assert page.count("| {a, b} |") == 3
    assert names(page, "7 more")
    few = replace(whole(), witnesses=whole().witnesses[:2], found=2)
    assert screen_text(report.print_audit, few, merged=True) == snapshot(name="few")


def test_facts_of_a_release() -> None:
    facts = report.release_facts(run_of(release()))
    assert "98765" not in json.dumps(facts)  # the seed would undo the shuffling
    assert facts["options"] == {"columns": 3}
    assert facts["anatomy"] == {
        "columns_requested": 3,
        "columns": [["d", "e", "f", "h"], ["a", "b", "c", "g"]],
        "merges": [
            {
                "column": ["a", "b"],
                "other": ["c", "g"],
                "probability": {"exact": "3/5", "value": 0.6},
                "reached": {"exact": "3/10", "value": 0.3},
            }
        ],
        "buckets": 2,
        "bucket_sizes": {"smallest": 5, "median": 5.0, "largest": 5},
        "left_over": 1,
        "joined": 0,
    }


def test_the_terminal_tells_what_was_cut(snapshot: object) -> None:
    """Nothing is permuted in these rows, so that all rules are found."""
    assert screen_text(report.print_release, run_of(release(), before=whole())) == snapshot


def test_the_terminal_tells_an_audit(snapshot: object) -> None:
    assert screen_text(report.print_audit, broken(too_common("b"), found=9), merged=True) == snapshot


def test_the_terminal_tells_how_lines_were_read(snapshot: object) -> None:
    text = screen_text(report.print_reading, CUT)
    assert "one transaction = one person" not in text
    assert text == snapshot


def test_sentences_about_a_cut(snapshot: object) -> None:
    assert cut_sentence(replace(release(), partition=None)) == ""
    uneven = DATA.anatomized(Anatomy.of(ANATOMY.columns, [0] * 2 + [1] * 3 + [2] * 5))
    how = Partition(np.arange(10), 2, (), (), 12, 3)
    made = release(uneven, partition=how)
    for value in (10, 3, 2, 5):
        assert names(cut_sentence(made), value)
    assert cut_sentence(made) == snapshot(name="cut")
    assert how_it_was_cut(made) == snapshot(name="how")
    assert how_it_was_cut(release()) == snapshot(name="how, around items")
    fewer = replace(made, withheld=(3, 5))
    assert cut_sentence(fewer) == snapshot(name="withheld")


def test_what_columns_hold() -> None:
    first, second = column_facts(CUT, TWO)
    assert first == ColumnFacts(1, ("d", "e", "f", "h"), False, 6, Fraction(0), Fraction(2, 5), "value")
    assert second == ColumnFacts(2, ("a", "b", "c", "g"), False, 7, Fraction(1, 10), Fraction(3, 10), "value")
    secret = column_facts(CUT.with_sensitive(["a", "b", "c", "g"]), TWO)[1]
    assert (secret.limited, secret.rule, secret.sensitive) == (Fraction(9, 10), "sensitive", True)
    assert secret.limited_told == "90% (any)"
    free = column_facts(CUT, LDiverseAnatomy(2, empty="free"))[1]
    assert (free.limited, free.rule) == (Fraction(3, 9), "free")
    assert column_facts(DATA, TWO) == []
    assert cut_of(DATA, TWO) is None


@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=12), st.integers(1, 4))
def test_what_columns_hold_by_counting(rows: list[set[str]], split: int) -> None:
    data = Transactions.from_lists([*map(sorted, rows), list("abcde")])
    columns = ["abcde"[:split], "abcde"[split:]]
    told = column_facts(data.anatomized(Anatomy.of(columns, [0] * len(data))), LDiverseAnatomy(2))
    for column, facts in zip(columns, told, strict=True):
        values = ["".join(sorted(set(column).intersection(row))) for row in data]
        assert facts.values == len(set(values))
        assert facts.empty == Fraction(values.count(""), len(values))
        assert facts.limited == Fraction(max(values.count(value) for value in set(values) - {""}), len(values))


def test_the_custodian_sees_why_columns_were_merged(snapshot: object) -> None:
    page = page_text(report.custodian_report(run_of(release(), before=whole())))
    assert "98765" in page
    assert "columns.csv" in page
    assert page == snapshot


def test_no_columns_had_to_become_one() -> None:
    as_wished = release(partition=Partition(np.arange(10), 2, (), (), 0, 0))
    assert "{c, g}" in page_text(report.custodian_report(run_of(release(), before=None)))
    assert "{c, g}" not in page_text(report.custodian_report(run_of(as_wished, before=None)))


def test_what_it_cost_leaves_out_what_an_anatomy_cannot_change(snapshot: object) -> None:
    account = Account(release())
    assert {metric.name for metric, _ in cost_rows(account)} == snapshot
    account.values.update(expected_support_error=0.0626, counted_support_error=1.5)
    told = {metric.name: value for metric, value in cost_rows(account)}
    assert (told["expected_support_error"], told["counted_support_error"]) == ("6.3%", "150%")


def test_having_none_is_drawn_where_it_is_limited(real_charts: None, snapshot: object) -> None:
    def chart(data: Transactions, promise: LDiverseAnatomy) -> tuple[str, str]:
        cut = cut_of(data, promise)
        return cut.shares.says, str(cut.shares.draw())

    limited, drawn = chart(CUT, TWO)
    free, drawn_free = chart(CUT, LDiverseAnatomy(2, empty="free"))
    secret, drawn_secret = chart(CUT.with_sensitive(["a", "b", "c", "g"]), TWO)
    bars = [svg.count("<path") for svg in (drawn, drawn_secret, drawn_free)]
    assert bars[0] > bars[1] > bars[2]
    assert [limited, free, secret] == snapshot


def test_one_group_is_not_several(snapshot: object) -> None:
    one, four = (replace(holding(), checked=checked, counted="groups of values") for checked in (1, 4))
    assert [str(audit) for audit in (one, four, replace(holding(), checked=1))] == snapshot


def test_the_public_page_is_made_of_released_data(snapshot: object) -> None:
    html = public(CUT)
    assert html == public(CUT.anonymous())
    check_accessible(html)
    assert page_text(html) == snapshot


def public(data: Transactions) -> str:
    return report.public_report(data, holding(), loss_percent=0, version="veilset 1", merged=False)


def test_pages_escape_names() -> None:
    named = Transactions.from_lists([["milk", NASTY], ["rye"], ["milk"], [NASTY]])
    data = named.anatomized(Anatomy.of([[NASTY], ["milk", "rye"]], [0] * 4))
    merged = ColumnMerge((NASTY,), ("milk",), Fraction(1), Fraction(1, 2))
    how = Partition(np.arange(4), 3, (NASTY,), (merged,), 0, 0)
    for html in (
        public(data),
        report.custodian_report(run_of(replace(release(data), original=named, partition=how), before=None)),
    ):
        check_escaped(html)


def test_many_columns_are_drawn_in_part() -> None:
    items = [f"i{number:03}" for number in range(45)]
    data = Transactions.from_lists([items[:30], items[30:], items])
    data = data.anatomized(Anatomy.of([[item] for item in items], [0, 0, 0]))
    cut = cut_of(data, LDiverseAnatomy(1))
    assert names(cut.shares.says, "15 columns")
    assert len(cut.shares.rows) == len(cut.rows) == 45
    assert names(page_text(public(data)), "45 columns")


def test_mined_lines_come_with_a_warning(snapshot: object) -> None:
    first = [{"items": ["a", "h"], "support": 5, "expected": 4.25}]
    mined = Mined(CUT, Asked("all"), 1, (0, 1), first)
    assert screen_text(report.print_mined, mined) == snapshot(name="screen")
    no_rules = Mined(CUT, Asked("rules", min_support=2), 0)
    assert [found_sentence(found) for found in (mined, no_rules)] == snapshot(name="sentences")
    rare = Mined(CUT, Asked("rare", k=2), 0)
    assert [notes(found) for found in (mined, rare)] == snapshot(name="notes")
    assert report.mined_facts(mined)["itemsets"] == [{**first[0], "share": 0.5}]
    assert notes(Mined(DATA, Asked("all"), 0)) == []


def test_what_takes_too_much_is_not_left_out() -> None:
    """Pages that depend on limits could not be computed again by `verify`."""
    for limits in (Limits(memory_limit=1), Limits(time_limit=1e-9)):
        with refused(BudgetExceeded, "limit", "fewer columns"):
            cut_of(CUT, TWO, limits)


def test_the_page_says_what_was_withheld_once() -> None:
    """The tile counts the items of a line that has sensitive items only, and a note says why it was left out."""
    data = Transactions.from_lists([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5 + [["s"]], sensitive=["s"])
    made = multi_anatomy(data, LDiverseAnatomy(2), random_state=1, limits=Limits())
    page = page_text(report.custodian_report(run_of(made)))
    assert made.withheld == (20,)
    assert "2.4%" in page.split("of all item occurrences removed")[1].split("requested columns")[0]  # 1 of 41
    assert page.split("Before and after")[0].count("withheld") == 1
