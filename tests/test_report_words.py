"""What reports say, word for word, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.shop import NASTY, audit_of, printed, shop, shop_release
from veilset import api, report
from veilset.errors import WrongUsage
from veilset.models import Audit, Coherence
from veilset.release import Release
from veilset.report.text import shares, shown
from veilset.transactions import Transactions

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
