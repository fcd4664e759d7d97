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
from veilset.release import Attempt
from veilset.report.words import attempts_sentence, limits_met, too_dear_sentence
from veilset.transactions import Transactions


def rho_of(rows: list[list[str]], rho: str, **options: int) -> Audit:
    """What the auditor says of data in which s and t are sensitive, where they occur."""
    there = {item for row in rows for item in row}
    data = Transactions.from_lists(rows, sensitive=sorted(there.intersection("st")))
    return api.audit(data, RhoUncertainty(rho=rho), **options)


# Of four who have b, three have s; t is held by one of six.
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
            "No item of this file is declared sensitive: all were removed, or none was named.",
            id="nothing sensitive",
        ),
        pytest.param(
            lambda: rho_of(CERTAIN, "1/2"),
            True,
            "1 sensitive item can be inferred: who knows 'b' of someone is 75% (3 of 4 people) sure of 's'.",
            id="one can be inferred",
        ),
        pytest.param(
            lambda: rho_of(CERTAIN, "1/5"),
            False,
            "2 sensitive items can be inferred; for example, who knows 'b' of someone (one transaction taken as one "
            "person) is 75% (3 of 4 people) sure of 's'.",
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
            "No item of this file is declared sensitive: all were removed, or none was named.",
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
    assert facts["witnesses"][0]["itemset"] == ["b"]
    assert facts["witnesses"][0]["confidence"] == {"exact": "3/4", "value": 0.75}
    assert facts["sentence"] == report.verdict(audit, merged=False)


def test_ways_that_came_to_a_limit_are_told():
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]], sensitive=["s"])
    release = replace(
        api.anonymize(data, RhoUncertainty(rho="1/2")),
        attempts=(
            Attempt("slow", None, 1.0, "stopped at the time limit"),
            Attempt("half", 0.25, 1.0, "stopped at the time limit"),
            Attempt("quick", 0.2, 1.0, won=True),
        ),
        too_dear=("s",),
    )
    assert attempts_sentence(release) == (
        "quick 20% (taken), half 25% (stopped at the time limit), slow (stopped at the time limit)"
    )
    assert too_dear_sentence(release) == (
        "1 item went because to prove that it may stay would have taken too long; it is not known whether it had "
        "to: 's'"
    )


def test_where_weights_decide_it_is_said():
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]], sensitive=["s"])
    weighed = api.anonymize(data, RhoUncertainty(rho="1/2"), sensitive_weight=2)
    assert attempts_sentence(weighed).endswith("; weights decided")
    assert not attempts_sentence(api.anonymize(data, RhoUncertainty(rho="1/2"))).endswith("; weights decided")
