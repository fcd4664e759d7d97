"""What reports say, word for word, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.errors import names, refused
from tests.support.releases import FIVE
from tests.support.runs import run_of
from tests.support.shop import NASTY, audit_of, printed, shop, shop_release
from tests.support.texts import screen_text
from veilset import api, report
from veilset.errors import InvalidArgument
from veilset.models import Audit, Coherence
from veilset.release import Release
from veilset.report.reading import reading_notes
from veilset.report.text import braced, in_quotes, knowledge, quoted, shares, shown
from veilset.run import certify
from veilset.transactions import Transactions


def five(**promise: object) -> Audit:
    return audit_of(FIVE, ("s", "t"), **promise)


@pytest.mark.parametrize(
    ("ask", "merged", "values"),
    [
        pytest.param(lambda: five(h=0.4, k=5, p=4), True, (4, 5, "40%", "40% in this file", "80%"), id="holds"),
        pytest.param(lambda: five(h=0.4, k=5, p=4), False, (4, 5, "40%", "80%"), id="not merged"),
        pytest.param(lambda: five(h="9/10", k=5, p=None), True, (5, "90%", "40%", "80%"), id="unlimited, far from it"),
        pytest.param(
            lambda: audit_of([["a", "s"], ["a"], ["a"]], ("s",), h="2/5", k=2, p=1),
            True,
            ("40%", "33.4%", "rounded up"),
            id="rounded up",
        ),
        pytest.param(lambda: five(h=1, k=5, p=1), True, (5, "40%", "80%"), id="h=1"),
        pytest.param(lambda: audit_of([["a"], ["a"]], k=2, p=2), True, (2,), id="no h"),
        pytest.param(lambda: audit_of([["a"], ["a"]], h=0.4, k=1, p=2), True, (2, 1), id="h, but nothing sensitive"),
        pytest.param(
            lambda: audit_of([["a", "b"], ["a"], ["b"], ["c"]], k=2, p=2), True, (2, "'c'", 1), id="broken: identity"
        ),
        pytest.param(
            lambda: audit_of([["a", "b"], ["a"], ["b"]], k=2, p=2), False, (1, "'a'", "'b'", 2), id="one way, two items"
        ),
        pytest.param(
            lambda: audit_of([["a", "s"], ["a", "s"], ["a"], [], [], []], ("s",), h=0.5, k=2, p=2),
            True,
            (1, "'a'", 3, 2, "66.7%", "'s'", "50%"),
            id="broken: sensitive",
        ),
        pytest.param(
            lambda: audit_of([["s"], ["s"], ["a"]], ("s",), h=0.5, k=2, p=2),
            True,
            (3, 2, "66.7%", "'s'", "50%"),
            id="infeasible: sensitive",
        ),
        pytest.param(lambda: audit_of([["a"]], k=2, p=2), False, (1, 2), id="infeasible: too few"),
        pytest.param(lambda: audit_of([], k=2, p=2), True, (0, 2), id="no data"),
    ],
)
def test_verdict(ask: Callable[[], Audit], merged: bool, values: tuple[object, ...], snapshot: object) -> None:
    sentence = report.verdict(ask(), merged=merged)
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot


def test_verdict_without_listed_witnesses(snapshot: object) -> None:
    audit = api.audit(shop(), Coherence(h=0.4, k=2, p=2), witnesses=0)
    assert report.verdict(audit, merged=True) == snapshot


def test_verdict_shortens_long_knowledge() -> None:
    row = [f"i{number}" for number in range(9)]
    others = [[item for item in row if item != left_out] for left_out in row]
    sentence = report.verdict(audit_of([row, *others, *others], k=2, p=None), merged=True)
    assert [names(sentence, f"'i{number}'") for number in range(9)] == [True] * 6 + [False] * 3
    assert names(sentence, "3 more")


def test_verdict_of_an_unknown_promise() -> None:
    class Other:
        name = "other"

    with refused(InvalidArgument, "Other"):
        report.verdict(replace(audit_of(FIVE, k=1, p=1), promise=Other()), merged=True)  # type: ignore[arg-type]


def test_names_cannot_steer_a_terminal() -> None:
    assert shown("a\x1b[2J\u202eb\n") == "'a\\x1b[2J\\u202eb\\n'"
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
    assert (facts["holds"], facts["feasible"], facts["found"], facts["found_by_size"]) == (False, True, 1, [1])
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
        "is_extreme": True,
    }
    assert facts["margins"]["largest_breach"]["exact"] == "2/3"
    assert facts["sentence"] == report.verdict(audit, merged=False)
    assert report.audit_facts(audit, merged=True)["sentence"] == report.verdict(audit, merged=True)


def test_release_facts_survive_json() -> None:
    release = shop_release(NASTY)
    facts = report.release_facts(
        run_of(replace(release, options={"restore": True, "items": ("a", 1), "limit": object}))
    )
    assert json.loads(json.dumps(facts)) == facts
    assert facts["verdict"] == "GO"
    assert (facts["suppressed"]["count"], facts["suppressed"]["items"]) == (1, [NASTY])
    assert facts["suppressed"]["reasons"][NASTY]["support"] == 1
    assert facts["unavoidable"]["count"] == 1
    assert facts["loss"]["items_lost"]["value"] == pytest.approx(1 / 12)
    assert facts["options"] == {"restore": True, "items": ["a", 1], "limit": repr(object)}
    assert facts["audit"]["holds"] is True


@pytest.mark.parametrize(
    "change",
    [
        {"audit": None},
        {"discrepancy": "Transaction 3 differs."},
        {"promise": Coherence(h=0.4, k=1, p=2)},
        {"audit": api.audit(shop(), Coherence(h=0.4, k=2, p=2))},
    ],
    ids=["not audited", "wrong account", "another promise", "broken"],
)
def test_no_go_says_why(change: dict[str, object], snapshot: object) -> None:
    why = why_no_go(replace(shop_release(), **change))  # type: ignore[arg-type]
    assert str(change.get("discrepancy", "")) in why
    assert why == snapshot


def test_no_go_of_a_method_that_did_not_ask_whether_it_can_be_done(snapshot: object) -> None:
    """No method starts on such data; a stranger's might, and its report must still come out."""
    data = Transactions.from_lists([["a", "s"], ["s"], ["a"], ["figs"]], sensitive=["s"])
    promise = Coherence(h=0.4, k=2, p=1)
    release = Release(data, data.without(["figs"]), promise, "careless", {}, ("figs",))
    release = certify(release)
    assert why_no_go(release) == snapshot
    assert report.release_facts(run_of(release))["unavoidable"] is None
    assert "items_lost_unavoidably" not in report.release_facts(run_of(release))["loss"]
    assert screen_text(report.print_release, run_of(release)) == snapshot(name="on a terminal")
    assert "INFEASIBLE" in report.custodian_report(run_of(release, before=api.audit(data, promise)))


def why_no_go(release: Release) -> str:
    """What is said everywhere of a release that is none."""
    facts = report.release_facts(run_of(release))
    assert facts["verdict"] == "NO-GO"
    text = printed(report.print_release, run_of(release))
    assert "NO-GO" in text
    assert facts["sentence"] in text
    assert "NO-GO" in report.custodian_report(run_of(release, before=None))
    return facts["sentence"]


@pytest.mark.parametrize(
    ("name", "as_shown"),
    [
        ("B20.3", "B20.3"),
        ("Ben's", "Ben's"),
        (" B20.3", "' B20.3'"),
        ("B20.3\t", "'B20.3\\t'"),
        ("B20\u00a03", "'B20\\xa03'"),
        ("B20\u200b", "'B20\\u200b'"),
        ("\u200fB20", "'\\u200fB20'"),
        ("B  20", "'B \\x2020'"),  # a page would show one blank
    ],
)
def test_odd_blanks_are_seen(name, as_shown) -> None:
    """A name is in quotes wherever its blanks could be overlooked, in lists, sets, tables and sentences."""
    in_sentence = as_shown if as_shown.startswith("'") else f"'{as_shown}'"
    assert (shown(name), in_quotes(name), quoted([name])) == (as_shown, in_sentence, in_sentence)
    assert (braced([name]), knowledge([name])) == (f"{{{as_shown}}}", as_shown)
    data = Transactions.from_lists([[name, "milk"]] * 3 + [["milk", "salt"]])
    assert f"1: {as_shown}" in repr(data) or f", {as_shown}" in repr(data)
    release = api.anonymize(data, Coherence(k=4, p=1))
    assert as_shown in screen_text(report.print_release, run_of(release))
    assert f"{{{as_shown}}}" in str(api.audit(data, Coherence(k=4, p=1)))


def test_twins_are_told_with_what_to_do(snapshot) -> None:
    names = [f"{letter}.{number}" for letter in "hH" for number in range(6)]
    rows = [["h1", "h2", "h3", "h4", "h5", "h0"], *([name, "milk"] for name in names), ["H.4"]]
    data = Transactions.from_lists(rows, sensitive=[f"h{number}" for number in range(6)])
    assert reading_notes(data) == snapshot
    assert reading_notes(data.with_sensitive([])) == []
