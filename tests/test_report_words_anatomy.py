"""What reports say about l-diverse anatomies: word for word, on a terminal, as JSON and on pages."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shop import NASTY, printed
from veilset import report
from veilset.limits import Limits
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.release import ColumnMerge, Partition, Release
from veilset.report.anatomy import ColumnFacts, column_facts, cut_of, cut_sentence, how_it_was_cut
from veilset.report.costs import cost
from veilset.report.mined import Asked, Mined, found_sentence, notes
from veilset.report.words import limits_met, perhaps_worse, state, words_of
from veilset.transactions import Anatomy, Transactions

# Table I(A) of the paper, and the columns and buckets of its Table I(D).
ROWS = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
DATA = Transactions.from_lists(map(list, ROWS))
ANATOMY = Anatomy.of(["defh", "abcg"], [0] * 5 + [1] * 5)
CUT = DATA.anatomized(ANATOMY)
TWO = LDiverseAnatomy(2)
COLUMN = ("b", "e", "g")


def holding(promise: LDiverseAnatomy = TWO, **margins: Margin) -> Audit:
    met = margins or {"largest_share": Margin(Fraction(2, 5), ("f", "h"), None, 1, ("d", "e", "f", "h"))}
    return Audit(promise, True, (), 0, (), met, 4, True, 10)


def broken(*witnesses: Witness, found: int = 2, checked: int = 6) -> Audit:
    largest = Margin(Fraction(3, 5), ("b",), None, 1, COLUMN)
    return Audit(TWO, False, witnesses, found, (), {"largest_share": largest}, checked, True, 10)


def too_common(*value: str, count: int = 3, share: Fraction = Fraction(3, 5)) -> Witness:
    return Witness(value, count, None, share, "as the auditor says", 1, COLUMN)


def whole(promise: LDiverseAnatomy = TWO) -> Audit:
    """What an auditor says of transactions without columns and buckets."""
    rows = tuple(Witness(("a", "b"), 1, None, Fraction(1), f"is bucket {at}", at) for at in range(1, 10))
    largest = Margin(Fraction(1), ("a", "b"), None, 1)
    return Audit(promise, False, rows, 10, (), {"largest_share": largest}, 10, True, 10)


def release(data: Transactions = CUT, **more: object) -> Release:
    how = Partition(np.arange(10), 3, ("h", "a"), (MERGE,), 1, 0)
    given = {"audit": holding(), "partition": how, "options": {"columns": 3, "random_state": 98765}, **more}
    return Release(original=DATA, data=data, promise=TWO, method="multi-anatomy", suppressed=(), **given)  # type: ignore[arg-type]


MERGE = ColumnMerge(("a", "b"), ("c", "g"), Fraction(3, 5), Fraction(3, 10))


@pytest.mark.parametrize(
    ("audit", "merged", "sentence"),
    [
        pytest.param(
            holding(),
            True,
            "In every bucket and column (4 groups of values) no value belongs to more than 1 in 2 of the transactions; "
            "the commonest has 2/5, in bucket 1.",
            id="holds",
        ),
        pytest.param(
            replace(holding(), has_sensitive=True),
            True,
            "In every bucket and column (4 groups of values) no value belongs to more than 1 in 2 of the transactions, "
            "or in columns of sensitive items of those that have one; the commonest has 2/5, in bucket 1.",
            id="holds, also for sensitive items",
        ),
        pytest.param(
            holding(LDiverseAnatomy("5/2", empty="free")),
            False,
            "In every bucket and column (4 groups of values) no value belongs to more than 2 in 5 of the "
            "transactions that have one (one transaction taken as one person); the commonest has 2/5, in bucket 1.",
            id="not merged, free",
        ),
        pytest.param(
            holding(LDiverseAnatomy(1)),
            True,
            "l is 1, which limits nothing: a value may belong to all transactions of a bucket.",
            id="nothing is promised",
        ),
        pytest.param(
            Audit(TWO, True, (), 0, (), {}, 0, True, 0), True, "There are no transactions in this file.", id="no rows"
        ),
        pytest.param(
            whole(),
            True,
            "These transactions are published whole: whoever knows some items of a person may find all the others.",
            id="no anatomy",
        ),
        pytest.param(
            broken(too_common("b")),
            True,
            "In 2 of 6 groups of values (one for each bucket and column) a value is too common; for example {b} is 3 "
            "of the 5 values of the column {b, e, g} in bucket 1.",
            id="a value is too common",
        ),
        pytest.param(
            broken(too_common(), found=1),
            False,
            "In 1 of 6 groups of values (one for each bucket and column) a value is too common (one transaction taken "
            "as one person): 3 of the 5 transactions of bucket 1 have nothing of the column {b, e, g}.",
            id="too many have nothing",
        ),
        pytest.param(
            broken(Witness(("s",), 4, "s", None, "its column {b, s} has public items, too", column=("b", "s"))),
            True,
            "2 reasons against it; for example {s}: its column {b, s} has public items, too.",
            id="a reason of another kind",
        ),
        pytest.param(
            broken(),
            True,
            "In 2 of 6 groups of values (one for each bucket and column) a value is too common.",
            id="nothing listed",
        ),
    ],
)
def test_verdicts(audit: Audit, merged: bool, sentence: str) -> None:
    assert report.verdict(audit, merged=merged) == sentence
    assert state(audit) == ("HOLDS" if audit.holds else "DOES NOT HOLD")


def test_rows_of_tables() -> None:
    words, audit = words_of(TWO), broken()
    assert words.heads == ("Bucket", "Column", "Value that is too common", "Share")
    assert words.row(too_common("b"), audit) == ("1", "{b, e, g}", "{b}", "3/5")
    assert words.row(too_common(), audit) == ("1", "{b, e, g}", "nothing", "3/5")
    assert words.over(too_common("b"), audit) == Fraction(6, 5)
    mixed = Witness(("s",), 4, "s", None, "mixed", column=("b", "s"))
    assert words.row(mixed, audit) == ("all", "{b, s}", "{s}", "–")
    assert words.over(mixed, audit) == 2


def test_how_close_it_comes() -> None:
    met = limits_met(
        holding(
            largest_share=Margin(Fraction(1, 2), (), None, 17, COLUMN),
            surest_guess=Margin(Fraction(44_080, 88_161), ("b",), None, None, COLUMN),
            surest_within_column=Margin(Fraction(1), ("s",), "t", None, ("s", "t")),
        )
    )
    assert [(limit.met, limit.allowed, limit.where) for limit in met] == [
        ("1/2", "at most 1/2", "bucket 17: nothing of {b, e, g}"),
        ("about 50%", "at most 1/2", "{b} of {b, e, g}"),
        ("100%", "any: not promised", "s → t"),
    ]
    assert perhaps_worse(broken()) == ""  # every group is counted, whether or not it holds


def test_parameters_say_what_is_free() -> None:
    (_, at_least, means), (_, empty, of_nothing) = words_of(TWO).parameters(sensitive=False)
    assert (at_least, empty) == ("2", "value")
    assert "at most 1/2" in means
    assert "sensitive" not in of_nothing
    assert "In columns of sensitive items it may be known." in words_of(TWO).parameters(sensitive=True)[1][2]
    assert "may be known" in words_of(LDiverseAnatomy(2, empty="free")).parameters(sensitive=True)[1][2]


def test_facts_survive_json() -> None:
    facts = json.loads(json.dumps(report.audit_facts(broken(too_common("b")), merged=True)))
    (witness,) = facts["witnesses"]
    assert (witness["bucket"], witness["column"], witness["itemset"]) == (1, {"first": "b", "items": 3}, ["b"])
    assert facts["margins"]["largest_share"]["bucket"] == 1
    assert facts["margins"]["largest_share"]["column"] == {"first": "b", "items": 3}
    facts = report.audit_facts(whole(), merged=True)
    assert not any("column" in found for found in [*facts["witnesses"], *facts["margins"].values()])


def test_where_everybody_is_at_risk_three_are_shown() -> None:
    assert limits_met(whole())[0].where == "transaction 1: {a, b}"
    text = printed(lambda console: report.print_audit(whole(), console, merged=True))
    assert text.count("all items") == 3
    assert "… and 7 more transactions." in text
    html = report.custodian_report(release(), before=whole())
    assert html.count("all items</td>") == 3
    assert "… and 7 more transactions." in html
    few = replace(whole(), witnesses=whole().witnesses[:2], found=2)
    assert printed(lambda console: report.print_audit(few, console, merged=True)).count("all items") == 2


def test_facts_of_a_release() -> None:
    facts = report.release_facts(release())
    assert "98765" not in json.dumps(facts)  # the seed would undo the shuffling
    assert facts["options"] == {"columns": 3}
    assert facts["anatomy"] == {
        "columns_wished": 3,
        "columns": [["d", "e", "f", "h"], ["a", "b", "c", "g"]],
        "merges": [
            {
                "column": ["a", "b"],
                "other": ["c", "g"],
                "share": {"exact": "3/5", "value": 0.6},
                "reached": {"exact": "3/10", "value": 0.3},
            }
        ],
        "buckets": 2,
        "bucket_sizes": {"smallest": 5, "median": 5.0, "largest": 5},
        "left_over": 1,
        "joined": 0,
    }


def test_the_terminal_tells_what_was_cut() -> None:
    text = " ".join(printed(lambda console: report.print_release(release(), console, before=whole())).split())
    assert (
        "At risk before These transactions are published whole (one transaction taken as one person): whoever" in text
    )
    assert "Changed nothing was deleted; 10 transactions in 2 buckets of 5; 3 columns wished, 2 reached (method" in text
    assert "Cost no item is gone; lost is which values of different columns belong together inside a bucket; of" in text
    # Nothing is permuted in these rows, so that all are found.
    assert (
        " rules of the original (of at most 3 items, at least 50% sure, held by 1 transaction or more) 100% are" in text
    )
    assert "Columns merged {a, b} with {c, g}: a value had 60%, now 30%" in text
    assert "GO In every bucket and column" in text
    assert "Had to go" not in text


def test_the_terminal_tells_an_audit() -> None:
    text = printed(lambda console: report.print_audit(broken(too_common("b"), found=9), console, merged=True))
    assert "{b, e, g}" in text
    assert "6 groups of values counted in 10 transactions." in text
    assert "… and 8 more groups." in text


def test_the_terminal_tells_how_lines_were_read() -> None:
    text = printed(lambda console: report.print_reading(CUT, console))
    assert "a line mixes values of different people of one bucket" in text
    assert "2 columns, 2 buckets of 5" in text
    assert "one transaction = one person" not in text


def test_sentences_about_a_cut() -> None:
    assert cut_sentence(replace(release(), partition=None)) == ""
    uneven = DATA.anatomized(Anatomy.of(ANATOMY.columns, [0] * 2 + [1] * 3 + [2] * 5))
    how = Partition(np.arange(10), 2, (), (), 12, 3)
    made = release(uneven, partition=how)
    assert cut_sentence(made) == (
        "nothing was deleted; 10 transactions in 3 buckets of 2 to 5 (median 3); 2 columns, as wished"
    )
    assert how_it_was_cut(made)[1:] == [
        "12 transactions were left when no bucket could be closed any more and went into buckets that could take them; "
        "3 buckets had to become one for that."
    ]
    assert "Columns were made around 'h' and 'a':" in " ".join(how_it_was_cut(release()))


def test_what_columns_hold() -> None:
    first, second = column_facts(CUT, TWO)
    assert first == ColumnFacts(1, ("d", "e", "f", "h"), False, 6, Fraction(0), Fraction(2, 5), False)
    assert second == ColumnFacts(2, ("a", "b", "c", "g"), False, 7, Fraction(1, 10), Fraction(3, 10), False)
    free = column_facts(CUT.with_sensitive(["a", "b", "c", "g"]), TWO)[1]
    assert (free.commonest, free.empty_is_free, free.sensitive) == (Fraction(3, 9), True, True)
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
        assert facts.commonest == Fraction(max(values.count(value) for value in set(values) - {""}), len(values))


def test_the_custodian_sees_why_columns_were_merged() -> None:
    html = report.custodian_report(release(), before=whole())
    assert '<td data-label="Merged with">{c, g}</td>' in html
    assert "2 of 3" in html
    assert "columns.csv" in html
    assert "No item was suppressed." not in html
    assert "How large buckets are" in html
    assert "What is common in each column" in html
    assert "random_state=98765" in html
    assert "No columns had to become one." in report.custodian_report(
        release(partition=Partition(np.arange(10), 2, (), (), 0, 0)), before=None
    )


def test_what_it_cost_leaves_out_what_an_anatomy_cannot_change() -> None:
    html = report.custodian_report(release(), before=None)
    assert "share of all item occurrences that are gone" in html
    for never in ("coarser", "different items that are gone", "items in a released transaction, on average"):
        assert never not in html.partition("What it cost")[2]
    paid = cost(release())
    half = replace(paid, values={**paid.values, "expected_support_error": 0.0626, "counted_support_error": 1.5})
    told = {metric.name: value for metric, value in half.rows}
    assert (told["expected_support_error"], told["counted_support_error"]) == ("6.3%", "150%")


def test_having_none_is_drawn_where_it_is_limited() -> None:
    def chart(data: Transactions, promise: LDiverseAnatomy) -> tuple[str, str]:
        cut = cut_of(data, promise)
        assert cut is not None
        assert cut.shares is not None
        assert cut.shares.head[3] == "Commonest other value"
        return cut.shares.says, str(cut.shares.draw())

    says, drawn = chart(CUT, TWO)
    assert "free" not in says
    assert "none of its items" in drawn
    says, drawn = chart(CUT, LDiverseAnatomy(2, empty="free"))
    assert "Where having none is free it has no limit and is not drawn" in says
    assert "none of its items" not in drawn


def test_one_group_is_not_several() -> None:
    assert "(1 group of values checked)" in str(replace(holding(), checked=1, counted="groups of values"))
    assert "(4 groups of values checked)" in str(replace(holding(), counted="groups of values"))
    assert "(1 itemset checked)" in str(replace(holding(), checked=1))


def test_the_public_page_is_made_of_released_data() -> None:
    html = public(CUT)
    assert html == public(CUT.anonymous())
    assert "Merged with" not in html
    assert "A single line need not be anybody:" in html
    assert "veilset.mining.expected_supports" in html
    assert "of all item occurrences removed" not in html
    assert "except the share that was removed" not in html
    assert "How long transactions are" not in html
    assert "How large buckets are" in html
    levels = [int(level[0]) for level in html.split("<h")[1:] if level[0].isdigit()]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert html.count("<table") == html.count("<caption>")


def public(data: Transactions) -> str:
    return report.public_report(data, holding(), loss_percent=0, version="veilset 1", merged=False)


def test_pages_escape_names() -> None:
    named = Transactions.from_lists([["milk", NASTY], ["rye"], ["milk"], [NASTY]])
    data = named.anatomized(Anatomy.of([[NASTY], ["milk", "rye"]], [0] * 4))
    merged = ColumnMerge((NASTY,), ("milk",), Fraction(1), Fraction(1, 2))
    how = Partition(np.arange(4), 3, (NASTY,), (merged,), 0, 0)
    for html in (
        public(data),
        report.custodian_report(replace(release(data), original=named, partition=how), before=None),
    ):
        assert "<script" not in html
        assert "\x1b" not in html
        assert "&lt;script&gt;" in html


def test_many_columns_are_drawn_in_part() -> None:
    names = [f"i{number:03}" for number in range(45)]
    data = Transactions.from_lists([names[:30], names[30:], names])
    data = data.anatomized(Anatomy.of([[name] for name in names], [0, 0, 0]))
    cut = cut_of(data, LDiverseAnatomy(1))
    assert cut is not None
    assert cut.shares is not None
    assert "Not drawn: 15 columns." in cut.shares.says
    assert len(cut.shares.rows) == len(cut.rows) == 45
    assert "All 45 columns" in public(data)


def test_mined_lines_come_with_a_warning() -> None:
    first = [{"items": ["a", "h"], "support": 5, "expected": 4.25}]
    mined = Mined(CUT, Asked("all"), 1, (0, 1), first)
    assert "Expected is the mean over all draws" in notes(mined)[0]
    assert found_sentence(mined) == (
        "In these rows, one arrangement of many: 1 itemset: it is held by at least 1 of 10 transactions (10%); "
        "go by `expected`."
    )
    assert found_sentence(Mined(CUT, Asked("rules", min_support=2), 0)).startswith(
        "In these rows, one arrangement of many: no rule A → B: at least 2 of 10"
    )
    assert "4.2" in printed(lambda console: report.print_mined(mined, console))
    assert report.mined_facts(mined)["itemsets"] == [{**first[0], "share": 0.5}]
    (warned,) = notes(Mined(CUT, Asked("rare", k=2), 0))
    assert "Expected" not in warned
    assert notes(Mined(DATA, Asked("all"), 0)) == []


def test_what_takes_too_much_is_not_counted() -> None:
    cut = cut_of(CUT, TWO, Limits(memory_limit=1))
    assert cut is not None
    assert (cut.rows, cut.shares) == ([], None)
    assert cut.says.endswith(
        "What each column holds was not counted: it takes longer, or more memory, than was allowed."
    )
    assert "was not counted" in report.custodian_report(release(), before=None, limits=Limits(memory_limit=1))
