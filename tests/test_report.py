"""What reports say, word for word, and what they must never say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

from veilset import api, report
from veilset.errors import WrongUsage
from veilset.models import Audit, Coherence
from veilset.release import Release
from veilset.report.histograms import length_histogram, support_histogram
from veilset.report.words import shares, shown
from veilset.transactions import Transactions, read

NASTY = "<script>alert('x')</script>\"&[red]\x1b[2J"


def audit_of(rows: list[list[str]], sensitive: tuple[str, ...] = (), **promise: object) -> Audit:
    return api.audit(Transactions.from_lists(rows, sensitive=sensitive), Coherence(**promise))  # type: ignore[arg-type]


def shop(name: str = "figs") -> Transactions:
    """Milk and beer are safe at k=2; *name* gives its only buyer away; insulin and statin are sensitive."""
    rows = [
        ["milk", "insulin"],
        ["milk", "statin"],
        ["milk"],
        ["milk", "beer"],
        ["milk", "beer"],
        ["milk", name],
        ["beer"],
    ]
    return Transactions.from_lists(rows, sensitive=["insulin", "statin"])


def shop_release(name: str = "figs") -> Release:
    return api.anonymize(shop(name), Coherence(h=0.4, k=2, p=2))


def public_page(release: Release) -> str:
    assert release.audit is not None
    return report.public_report(
        release.data.anonymous(), release.audit, loss_percent=8, version="veilset 0.1.0", merged=False
    )


def printed(show: object, *args: object, **options: object) -> str:
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        show(*args, console, **options)  # type: ignore[operator]
    text = capture.get()
    assert max(map(len, text.splitlines())) <= 80
    return " ".join(text.split())


# Whoever knows a is left with five people: two have s, two others t. So one: 40%, some: 80%.
FIVE = [["a", "s"], ["a", "s"], ["a", "t"], ["a", "t"], ["a"], [], [], [], [], []]


@pytest.mark.parametrize(
    ("ask", "merged", "sentence"),
    [
        pytest.param(
            lambda: audit_of(FIVE, ("s", "t"), h=0.4, k=5, p=4),
            True,
            "An attacker who knows up to 4 published public items of someone in this file is left "
            "with at least 5 people, and is at most 40% sure of any one particular sensitive item; of "
            "some sensitive item or other: up to 80%.",
            id="holds",
        ),
        pytest.param(
            lambda: audit_of(FIVE, ("s", "t"), h=0.4, k=5, p=4),
            False,
            "An attacker who knows up to 4 published public items of someone in this file is left "
            "with at least 5 people (one transaction taken as one person), and is at most 40% sure of "
            "any one particular sensitive item; of some sensitive item or other: up to 80%.",
            id="not merged",
        ),
        pytest.param(
            lambda: audit_of(FIVE, ("s", "t"), h="9/10", k=5, p=None),
            True,
            "An attacker who knows any number of published public items of someone in this file is "
            "left with at least 5 people, and is at most 90% sure of any one particular sensitive "
            "item (in this file 40%); of some sensitive item or other: up to 80%.",
            id="unlimited, far from the limit",
        ),
        pytest.param(
            lambda: audit_of(FIVE, ("s", "t"), h=1, k=5, p=1),
            True,
            "An attacker who knows one published public item of someone in this file is left with at "
            "least 5 people, and is up to 40% sure of one particular sensitive item (h=1 sets no "
            "limit); of some sensitive item or other: up to 80%.",
            id="h=1",
        ),
        pytest.param(
            lambda: audit_of([["a"], ["a"]], k=2, p=2),
            True,
            "An attacker who knows up to 2 published public items of someone in this file is left "
            "with at least 2 people.",
            id="no h",
        ),
        pytest.param(
            lambda: audit_of([["a"], ["a"]], h=0.4, k=1, p=2),
            True,
            "An attacker who knows up to 2 published public items of someone in this file is left "
            "with at least 1 person.",
            id="h, but nothing sensitive",
        ),
        pytest.param(
            lambda: audit_of([["a", "b"], ["a"], ["b"], ["c"]], k=2, p=2),
            True,
            "There are 2 ways to break this promise; the most severe: an attacker who knows 'c' of "
            "someone is left with 1 person, fewer than 2.",
            id="does not hold: identity",
        ),
        pytest.param(
            lambda: audit_of([["a", "b"], ["a"], ["b"]], k=2, p=2),
            False,
            "There is 1 way to break this promise; an attacker who knows 'a' and 'b' of someone is "
            "left with 1 person (one transaction taken as one person), fewer than 2.",
            id="one way, two items",
        ),
        pytest.param(
            lambda: audit_of([["a", "s"], ["a", "s"], ["a"], [], [], []], ("s",), h=0.5, k=2, p=2),
            True,
            "There is 1 way to break this promise; an attacker who knows 'a' of someone is left with "
            "3 people, of whom 2 (66.7%) have 's', more than 50%.",
            id="does not hold: sensitive",
        ),
        pytest.param(
            lambda: audit_of([["s"], ["s"], ["a"]], ("s",), h=0.5, k=2, p=2),
            True,
            "Someone who knows nothing already breaks this promise: the file has 3 people, of whom 2 "
            "(66.7%) have 's', more than 50%.",
            id="infeasible: sensitive",
        ),
        pytest.param(
            lambda: audit_of([["a"]], k=2, p=2),
            False,
            "Someone who knows nothing already breaks this promise: the file has 1 person (one "
            "transaction taken as one person), fewer than 2.",
            id="infeasible: too few",
        ),
        pytest.param(
            lambda: audit_of([], k=2, p=2),
            True,
            "Someone who knows nothing already breaks this promise: the file has 0 people, fewer than 2.",
            id="no data",
        ),
    ],
)
def test_verdict(ask: Callable[[], Audit], merged: bool, sentence: str) -> None:
    assert report.verdict(ask(), merged=merged) == sentence


def test_verdict_without_listed_witnesses() -> None:
    audit = api.audit(shop(), Coherence(h=0.4, k=2, p=2), witnesses=0)
    assert report.verdict(audit, merged=True) == "There is 1 way to break this promise."


def test_verdict_shortens_long_knowledge() -> None:
    row = [f"i{number}" for number in range(9)]
    others = [[item for item in row if item != left_out] for left_out in row]
    sentence = report.verdict(audit_of([row, *others, *others], k=2, p=None), merged=True)
    assert "who knows 'i0', 'i1', 'i2', 'i3', 'i4', 'i5' and 3 more of someone is left with 1 person" in sentence


def test_verdict_of_an_unknown_promise() -> None:
    class Other:
        name = "other"

    with pytest.raises(WrongUsage, match="no words for Other"):
        report.verdict(replace(audit_of(FIVE, k=1, p=1), promise=Other()), merged=True)  # type: ignore[arg-type]


def test_names_cannot_steer_a_terminal() -> None:
    assert shown("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\\n"
    assert shown("x" * 100) == "x" * 59 + "…"


def test_only_nothing_is_zero_percent() -> None:
    assert [shares(value) for value in (0, 1e-9, 0.5, 1 - 1e-9, 1)] == [
        "0%",
        "below 0.1%",
        "50%",
        "above 99.9%",
        "100%",
    ]


def test_audit_facts_survive_json() -> None:
    audit = audit_of([["a", "s"], ["a", "s"], ["a"], [], [], []], ("s",), h=0.5, k=2, p=None)
    facts = json.loads(json.dumps(report.audit_facts(audit, merged=False)))
    assert facts["parameters"] == {"h": "1/2", "k": 2, "p": None}
    assert (facts["holds"], facts["feasible"], facts["found"], facts["found_by_size"]) == (
        False,
        True,
        1,
        [1],
    )
    assert facts["witnesses"] == [
        {
            "itemset": ["a"],
            "support": 3,
            "sensitive": "s",
            "confidence": {"exact": "2/3", "value": 2 / 3},
            "reason": audit.witnesses[0].reason,
        }
    ]
    assert facts["margins"]["smallest_support"] == {
        "exact": "3",
        "value": 3,
        "itemset": ["a"],
        "sensitive": None,
    }
    assert facts["margins"]["largest_breach"]["exact"] == "2/3"
    assert facts["sentence"] == report.verdict(audit, merged=False)
    assert report.audit_facts(audit, merged=True)["sentence"] == report.verdict(audit, merged=True)


def test_release_facts_survive_json() -> None:
    release = shop_release(NASTY)
    facts = report.release_facts(replace(release, options={"restore": True, "items": ("a", 1), "limit": object}))
    assert json.loads(json.dumps(facts)) == facts
    assert facts["verdict"] == "GO"
    assert facts["suppressed"] == {"count": 1, "items": [NASTY]}
    assert facts["unavoidable"]["count"] == 1
    assert facts["loss"]["items_lost"]["value"] == pytest.approx(1 / 12)
    assert facts["options"] == {"restore": True, "items": ["a", 1], "limit": repr(object)}
    assert facts["audit"]["holds"] is True


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"audit": None}, "Nobody has audited this release."),
        (
            {"discrepancy": "Transaction 3 differs."},
            "The account of the edits is wrong: Transaction 3 differs.",
        ),
        ({"promise": Coherence(h=0.4, k=1, p=2)}, "The audit is about other data or another promise."),
    ],
)
def test_no_go_says_why(change: dict[str, object], why: str) -> None:
    check_no_go(replace(shop_release(), **change), why)  # type: ignore[arg-type]


def test_no_go_of_a_broken_promise() -> None:
    release = replace(shop_release(), audit=api.audit(shop(), Coherence(h=0.4, k=2, p=2)))
    check_no_go(release, "There is 1 way to break this promise; an attacker who knows 'figs'")


def test_no_go_of_a_method_that_did_not_ask_whether_it_can_be_done() -> None:
    """No method starts on such data; a stranger's might, and its report must still come out."""
    data = Transactions.from_lists([["a", "s"], ["s"], ["a"], ["figs"]], sensitive=["s"])
    promise = Coherence(h=0.4, k=2, p=1)
    release = Release(data, data.without(["figs"]), promise, "careless", {}, ("figs",))
    release = api.certify(release)
    check_no_go(release, "Someone who knows nothing already breaks this promise: the file has 4 people")
    assert report.release_facts(release)["unavoidable"] is None
    assert "items_lost_unavoidably" not in report.release_facts(release)["loss"]
    cannot = "the original cannot be made to keep this promise"
    assert f"Had to go whatever is suppressed, {cannot}" in printed(report.print_release, release)
    html = report.custodian_report(release, before=api.audit(data, promise))
    assert f"Whatever is suppressed, {cannot}." in html
    assert "INFEASIBLE" in html


def check_no_go(release: Release, why: str) -> None:
    assert report.release_facts(release)["verdict"] == "NO-GO"
    assert why in report.release_facts(release)["sentence"]
    text = printed(report.print_release, release)
    assert "NO-GO" in text
    assert why in text
    assert "NO-GO" in report.custodian_report(release, before=None)


def test_print_reading(tmp_path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("milk,insulin\n\n" + ",".join(f"item {number}" for number in range(12)) + "\nmilk\n")
    text = printed(report.print_reading, read(path, sensitive=["insulin"]))
    assert "baskets.csv: basket CSV (names, one transaction a line), delimiter ',', no header" in text
    assert "one line = one person" in text
    assert "1: insulin*, milk 2:" in text
    assert "… (12 items)" in text
    assert "14 different items, 1 of them sensitive (marked *)" in text


def test_print_reading_of_merged_lines(tmp_path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("id,item,who\n1,milk,ann\n2,beer,ann\n3,milk,bob\n")
    merged = read(path, long=("id", "item"), person="who")
    assert "lines of one person merged" in printed(report.print_reading, merged)
    by_id = read(path, long=("id", "item"))
    assert "one transaction = one person" in printed(report.print_reading, by_id)


def test_print_reading_without_a_file() -> None:
    text = printed(report.print_reading, Transactions.from_lists([[], ["[bold]"]]))
    assert "made in memory one transaction = one person 1: (empty) 2: [bold] 2 transactions" in text


def test_print_audit() -> None:
    promise = Coherence(h=0.4, k=20, p=2)
    rng = np.random.default_rng(7)
    rows = [[f"item {item}" for item in rng.choice(30, size=3, replace=False)] for _ in range(100)]
    data = Transactions.from_lists(rows)
    audit = api.audit(data, promise)
    text = printed(report.print_audit, audit, merged=False)
    assert f"DOES NOT HOLD There are {audit.found:,} ways" in text
    assert "What an attacker knows People left What they learn" in text
    assert f"… and {audit.found - 20:,} more ways." in text
    assert f"{audit.found_by_size[0]:,} of 1 item" in text
    assert f"{audit.checked:,} sets of items counted in 100 transactions." in text
    assert "at least 20" in text


def test_print_audit_states() -> None:
    release = shop_release()
    assert "HOLDS An attacker who knows" in printed(report.print_audit, release.audit, merged=False)
    infeasible = audit_of([["s"], ["s"], ["a"]], ("s",), h=0.5, k=2, p=2)
    text = printed(report.print_audit, infeasible, merged=False)
    assert "INFEASIBLE Someone who knows nothing" in text
    assert "(nothing) 3 s, 66.7% sure" in text


def test_print_release() -> None:
    release = shop_release(NASTY)
    before = api.audit(release.original, release.promise)
    text = printed(report.print_release, release, before=before)
    assert "At risk before There is 1 way to break this promise" in text
    assert "Had to go 1 item whatever the method (8.3% of all occurrences): <script>" in text
    assert "Changed 1 item suppressed: <script>alert('x')</script>\"&[red]\\x1b[2J (method auto" in text
    assert "Cost 8.3% of all item occurrences and 20% of the different items are gone" in text
    assert "GO An attacker who knows up to 2 published public items" in text
    assert "\x1b[2J" not in text
    assert "At risk before" not in printed(report.print_release, release)


def test_print_release_of_harmless_data() -> None:
    data = Transactions.from_lists([["a"], ["a"]])
    text = printed(report.print_release, api.anonymize(data, Coherence(k=2, p=1)))
    assert "Had to go nothing: no item gives anybody away by itself Changed nothing (method auto" in text
    assert "sensitive" not in text


def both_pages(release: Release) -> dict[str, str]:
    before = api.audit(release.original, release.promise)
    return {"public": public_page(release), "custodian": report.custodian_report(release, before=before)}


@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_self_contained(page: str) -> None:
    html = both_pages(shop_release())[page]
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "http" not in html.replace("http-equiv", "")
    for forbidden in ("<script", "<iframe", "<img", "javascript:", "url(", "@import"):
        assert forbidden not in html
    assert not re.search(r"<[^>]*\son\w+=", html)


@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_are_accessible(page: str) -> None:
    html = both_pages(shop_release())[page]
    levels = [int(level) for level in re.findall(r"<h([1-6])", html)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert html.count("<table") == html.count("<caption>")
    assert all("scope=" in cell for cell in re.findall(r"<th\b[^>]*>", html))
    assert html.count("<svg") == html.count('role="img" aria-label="') >= 2


@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_escape_names(page: str) -> None:
    rows = [["milk", NASTY], ["milk", NASTY], ["milk"], ["milk"], ["milk", NASTY + "2"]]
    data = Transactions.from_lists(rows, sensitive=[NASTY] if page == "public" else [])
    html = both_pages(api.anonymize(data, Coherence(h=0.5, k=2, p=2)))[page]
    assert "&lt;script&gt;alert(&#39;x&#39;)" in html
    assert "<script" not in html
    assert "\x1b" not in html


@pytest.mark.parametrize("page", ["public", "custodian"])
def test_pages_have_the_same_bytes_every_time(page: str) -> None:
    release = shop_release()
    assert both_pages(release)[page] == both_pages(release)[page]


def test_public_report_says_nothing_of_the_original() -> None:
    # The two originals differ in what was suppressed, and how much; what is released is the same.
    one = shop_release("unmistakable")
    rows = [[*row, "otherwise"] if number == 6 else list(row) for number, row in enumerate(shop("unmistakable"))]
    two = api.anonymize(Transactions.from_lists(rows, sensitive=["insulin", "statin"]), one.promise)
    assert one.suppressed == ("unmistakable",)
    assert two.suppressed == ("otherwise", "unmistakable")
    assert public_page(one) == public_page(two)
    assert "unmistakable" not in public_page(one)


def test_public_report_says_what_it_must() -> None:
    release = shop_release()
    assert release.audit is not None
    html = public_page(release)
    text = re.sub(r"<[^>]+>", "", html)
    assert text.index(report.verdict(release.audit, merged=False)) < text.index("What is promised")
    assert "about 8%" in text
    assert "Written by veilset 0.1.0." in text
    assert "insulin" in text
    assert all(sentence in text for sentence in release.promise.not_promised())
    assert "One transaction is taken as one person." in text
    assert "veilset verify public" in text
    assert "Every public item is held by at least 3 transactions." in text
    merged = report.public_report(release.data, release.audit, loss_percent=8, version="veilset 0.1.0", merged=True)
    assert "One transaction is taken as one person." not in merged


def test_public_report_without_items_or_sensitive_ones() -> None:
    data = Transactions.from_lists([[], []])
    html = report.public_report(
        data, api.audit(data, Coherence(k=2, p=None)), loss_percent=100, version="veilset 0.1.0", merged=True
    )
    assert "There are no items left in it." in html
    assert "No item of this file was declared sensitive" in html
    assert "unlimited" in html


def test_public_report_with_many_sensitive_items() -> None:
    names = [f"s{number}" for number in range(50)]
    data = Transactions.from_lists([[name] for name in names], sensitive=names)
    audit = api.audit(data, Coherence(h=1, k=2, p=1))
    html = report.public_report(data, audit, loss_percent=0, version="veilset 0.1.0", merged=True)
    assert "50 sensitive items occur" in html
    assert "<summary>Show all</summary>" in html
    assert "There is no limit to how sure an attacker may become." in html


def test_custodian_report_says_what_it_must() -> None:
    release = shop_release()
    before = api.audit(release.original, release.promise)
    html = report.custodian_report(release, before=before)
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert text.count("Do not share") >= 2
    assert "figs 1 breaks the promise alone" in text
    assert "share of all item occurrences that are gone 8.3% less" in text
    assert report.verdict(before, merged=False).replace("'", "&#39;") in text
    assert "figs 1 who it is 2.00×" in text
    assert "5 different items before, 4 after; 1 public item was held by fewer than 2 transactions." in text
    assert "not computed" in report.custodian_report(release, before=None)


def test_custodian_report_folds_many_items_and_shows_every_kind_of_change() -> None:
    rows = [["milk"]] * 3 + [[f"rare {number}"] for number in range(30)]
    release = api.anonymize(Transactions.from_lists(rows), Coherence(k=2, p=1), drop_empty=True)
    html = report.custodian_report(replace(release, generalized={"milk": "drinks"}), before=None)
    assert "<summary>All 30 suppressed items</summary>" in html
    assert html.count("rare 29") == 1
    assert "30 transactions withheld" in html
    assert "1 item given a coarser name" in html
    text = printed(report.print_release, replace(release, generalized={"milk": "drinks"}))
    assert "1 item given a coarser name; 30 transactions withheld" in text


def test_custodian_report_of_an_unchanged_file(tmp_path) -> None:
    path = tmp_path / "same.dat"
    path.write_text("1 2\n1 2\n")
    html = report.custodian_report(api.anonymize(read(path), Coherence(k=2, p=2)), before=None)
    assert "No item was suppressed." in html
    assert "<code>same.dat</code>: FIMI" in html


def test_support_bins_are_round_and_start_at_k() -> None:
    histogram = support_histogram({"all": np.array([3, 6, 7, 19, 1500])}, k=7)
    assert histogram is not None
    assert histogram.edges == (2, 5, 7, 10, 20, 50, 100, 200, 500, 1000, 2000)
    assert histogram.series["all"] == (1, 1, 1, 1, 0, 0, 0, 0, 0, 1)
    assert histogram.ranges[:3] == ["2–4", "5–6", "7–9"]
    assert histogram.starts[-2:] == ["500", "1k"]
    assert support_histogram({"all": np.array([], dtype=np.int64)}, k=7) is None


@pytest.mark.parametrize("highest", [1, 2, 9, 10, 20, 50, 99, 100, 10_000_000])
def test_every_value_is_in_a_bin(highest: int) -> None:
    values = np.array([1, highest])
    for histogram in (support_histogram({"all": values}, k=10), length_histogram({"all": values})):
        assert histogram is not None
        assert sum(histogram.series["all"]) == 2
        assert len(histogram.edges) < 50


def test_few_lengths_get_a_bar_each() -> None:
    histogram = length_histogram({"before": np.array([40, 43]), "after": np.array([41])})
    assert histogram is not None
    assert histogram.edges == (40, 41, 42, 43, 44)
    assert histogram.series == {"before": (1, 0, 0, 1), "after": (0, 1, 0, 0)}


def test_length_bins_have_one_width_but_for_the_empty_and_the_longest() -> None:
    lengths = np.concatenate([np.arange(100), [5000]])
    histogram = length_histogram({"all": lengths})
    assert histogram is not None
    assert histogram.ranges[:3] == ["0", "1–5", "6–10"]
    assert histogram.ranges[-2:] == ["96–100", "101–5,000"]
    assert histogram.series["all"] == (1, *[5] * 19, 4, 1)
    assert length_histogram({"all": np.array([], dtype=np.int64)}) is None
