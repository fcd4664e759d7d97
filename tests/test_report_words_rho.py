"""What reports say about ρ-uncertainty, word for word, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.test_report_words import FIVE
from veilset import api, report
from veilset.models import Audit, Margin, RhoUncertainty
from veilset.report.words import limits_met
from veilset.transactions import Transactions


def rho_of(rows: list[list[str]], rho: str, **options: int) -> Audit:
    """What the auditor says of data in which s and t are sensitive, where they occur."""
    there = {item for row in rows for item in row}
    data = Transactions.from_lists(rows, sensitive=sorted(there.intersection("st")))
    return api.audit(data, RhoUncertainty(rho=rho), **options)


# Of three who have a and b, all have s; t is held by one of six.
CERTAIN = [["a", "b", "s"], ["a", "b", "s"], ["a", "b", "s"], ["a", "t"], ["a"], ["b"]]


@pytest.mark.parametrize(
    ("ask", "merged", "sentence"),
    [
        pytest.param(
            lambda: rho_of(FIVE, "1/2"),
            True,
            "An attacker who knows any part of someone's transaction in this file, sensitive items included, is less "
            "than 50% sure of any other particular sensitive item of theirs (at most 40%).",
            id="holds",
        ),
        pytest.param(
            lambda: rho_of(FIVE, "2/3"),
            False,
            "An attacker who knows any part of someone's transaction in this file (one transaction taken as one "
            "person), sensitive items included, is less than 66.7% sure of any other particular sensitive item of "
            "theirs (at most 40%).",
            id="not merged",
        ),
        pytest.param(
            lambda: rho_of(FIVE, "401/1000"),
            True,
            "An attacker who knows any part of someone's transaction in this file, sensitive items included, is less "
            "than 40.1% sure of any other particular sensitive item of theirs (at most 40%).",
            id="close to the limit",
        ),
        pytest.param(
            lambda: rho_of(FIVE, "400001/1000000"),
            True,
            "An attacker who knows any part of someone's transaction in this file, sensitive items included, is less "
            "than 40.1% sure of any other particular sensitive item of theirs (at most 40%).",
            id="the limit is rounded up",
        ),
        pytest.param(
            lambda: rho_of([["a"], ["b"]], "1/2"),
            False,
            "No item of this file is declared sensitive: there is none to be inferred.",
            id="nothing sensitive",
        ),
        pytest.param(
            lambda: rho_of(CERTAIN, "1/2"),
            True,
            "1 sensitive item can be inferred: who knows 'a' and 'b' of someone is 100% (3 of 3 people) sure of 's'.",
            id="one can be inferred",
        ),
        pytest.param(
            lambda: rho_of(CERTAIN, "1/5"),
            False,
            "2 sensitive items can be inferred; the most certain: who knows 'a' and 'b' of someone (one transaction "
            "taken as one person) is 100% (3 of 3 people) sure of 's'.",
            id="several can be inferred",
        ),
        pytest.param(
            lambda: rho_of([["s"], ["s"], ["a"]], "2/3"),
            True,
            "1 sensitive item can be inferred: who knows nothing of someone is 66.7% (2 of 3 people) sure of 's'.",
            id="from nothing",
        ),
        pytest.param(
            lambda: rho_of([["a", "s"], ["b"]], "1"),
            True,
            "1 sensitive item can be inferred: who knows 'a' of someone is 100% (1 of 1 person) sure of 's'.",
            id="of one person",
        ),
        pytest.param(
            lambda: rho_of(CERTAIN, "1/5", witnesses=0), True, "2 sensitive items can be inferred.", id="not listed"
        ),
        pytest.param(
            lambda: rho_of([], "1/2"),
            True,
            "No item of this file is declared sensitive: there is none to be inferred.",
            id="no data",
        ),
    ],
)
def test_verdict_of_rho_uncertainty(ask: Callable[[], Audit], merged: bool, sentence: str) -> None:
    assert report.verdict(ask(), merged=merged) == sentence


def test_a_certainty_that_looks_like_the_limit_is_told_exactly() -> None:
    audit = replace(rho_of(FIVE, "1/2"), margins={"largest_confidence": Margin(Fraction(4999, 10000), ("a",), "s")})
    assert "less than 50% sure" in report.verdict(audit, merged=True)
    assert "(at most 4999/10000)" in report.verdict(audit, merged=True)
    (limit,) = limits_met(audit)
    assert (limit.met, limit.allowed, limit.where) == ("4999/10000", "less than 50%", "a → s")
    (limit,) = limits_met(rho_of(FIVE, "1/2"))
    assert (limit.met, limit.allowed) == ("40%", "less than 50%")


def test_rho_facts_survive_json() -> None:
    audit = rho_of(CERTAIN, "1/2")
    facts = json.loads(json.dumps(report.audit_facts(audit, merged=False)))
    assert (facts["promise"], facts["parameters"]) == ("rho-uncertainty", {"rho": "1/2"})
    assert (facts["state"], facts["found"], facts["found_by_size"], facts["reach"]) == ("DOES NOT HOLD", 1, [], None)
    assert facts["witnesses"][0]["itemset"] == ["a", "b"]
    assert facts["witnesses"][0]["confidence"] == {"exact": "1", "value": 1.0}
    assert facts["sentence"] == report.verdict(audit, merged=False)
