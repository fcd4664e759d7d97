"""What reports say about ρ-uncertainty, word for word, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.errors import names
from tests.support.releases import FIVE
from veilset import api, report
from veilset.models import Audit, Margin, RhoUncertainty
from veilset.release import Attempt
from veilset.report.items import attempts_sentence
from veilset.report.words import limits_met, undecided_sentence
from veilset.transactions import Transactions


def rho_of(rows: list[list[str]], rho: str, **options: int) -> Audit:
    """What the auditor says of data in which s and t are sensitive, where they occur."""
    there = {item for row in rows for item in row}
    data = Transactions.from_lists(rows, sensitive=sorted(there.intersection("st")))
    return api.audit(data, RhoUncertainty(rho=rho), **options)


WEIGHED = {"sensitive_weight": 2}
# Of four who have b, three have s; t is held by one of six.
CERTAIN = [["a", "b", "s"], ["a", "b", "s"], ["a", "b", "s"], ["a", "t"], ["a"], ["b"]]


@pytest.mark.parametrize(
    ("ask", "merged", "values"),
    [
        pytest.param(lambda: rho_of(FIVE, "1/2"), True, ("50%", "40%"), id="holds"),
        pytest.param(lambda: rho_of(FIVE, "2/3"), False, ("66.7%", "40%"), id="not merged"),
        pytest.param(lambda: rho_of(FIVE, "401/1000"), True, ("40.1%", "40%"), id="close to the limit"),
        pytest.param(lambda: rho_of(FIVE, "400001/1000000"), True, ("40.1%", "40%"), id="the limit is rounded up"),
        pytest.param(lambda: rho_of([["a"], ["b"]], "1/2"), False, (), id="nothing sensitive"),
        pytest.param(lambda: rho_of(CERTAIN, "1/2"), True, (1, "'b'", "75%", 3, 4, "'s'"), id="one can be inferred"),
        pytest.param(lambda: rho_of(CERTAIN, "1/5"), False, (2, "'b'", "75%", 3, 4, "'s'"), id="several can be"),
        pytest.param(lambda: rho_of([["s"], ["s"], ["a"]], "2/3"), True, ("66.7%", 2, 3, "'s'"), id="from nothing"),
        pytest.param(lambda: rho_of([["a", "s"], ["b"]], "1"), True, ("'a'", "100%", 1, "'s'"), id="of one person"),
        pytest.param(lambda: rho_of(CERTAIN, "1/5", witnesses=0), True, (2,), id="not listed"),
        pytest.param(lambda: rho_of([], "1/2"), True, (), id="no data"),
    ],
)
def test_verdict_of_rho_uncertainty(
    ask: Callable[[], Audit], merged: bool, values: tuple[object, ...], snapshot: object
) -> None:
    sentence = report.verdict(ask(), merged=merged)
    assert [value for value in values if not names(sentence, value)] == []
    assert sentence == snapshot


def test_a_certainty_that_looks_like_the_limit_is_told_exactly() -> None:
    audit = replace(rho_of(FIVE, "1/2"), margins={"largest_confidence": Margin(Fraction(4999, 10000), ("a",), "s")})
    assert names(report.verdict(audit, merged=True), "50%")
    assert names(report.verdict(audit, merged=True), "4999/10000")
    (limit,) = limits_met(audit)
    assert (limit.met, limit.where) == ("4999/10000", "a → s")
    assert "50%" in limit.allowed
    (limit,) = limits_met(rho_of(FIVE, "1/2"))
    assert limit.met == "40%"


def test_rho_facts_survive_json() -> None:
    audit = rho_of(CERTAIN, "1/2")
    facts = json.loads(json.dumps(report.audit_facts(audit, merged=False)))
    assert (facts["promise"], facts["parameters"]) == ("rho-uncertainty", {"rho": "1/2"})
    assert (facts["state"], facts["found"], facts["found_by_size"], facts["reach"]) == ("DOES NOT HOLD", 1, [], None)
    assert facts["witnesses"][0]["itemset"] == ["b"]
    assert facts["witnesses"][0]["confidence"] == {"exact": "3/4", "value": 0.75}
    assert facts["sentence"] == report.verdict(audit, merged=False)


def test_ways_that_came_to_a_limit_are_told(snapshot):
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]], sensitive=["s"])
    release = replace(
        api.anonymize(data, RhoUncertainty(rho="1/2")),
        attempts=(
            Attempt("slow", None, 1.0, "stopped at the time limit", "not finished"),
            Attempt("half", 0.25, 1.0, "stopped at the time limit", "not finished"),
            Attempt("worse", 0.3, 1.0),
            Attempt("quick", 0.2, 1.0, state="chosen"),
        ),
        undecided=("s",),
    )
    assert attempts_sentence(release) == snapshot
    assert names(undecided_sentence(release), "'s'")
    assert undecided_sentence(release) == snapshot


def test_where_weights_decide_it_is_said(snapshot):
    data = Transactions.from_lists([["a", "s"], ["a"], ["a"], ["b"]], sensitive=["s"])
    ways = [attempts_sentence(api.anonymize(data, RhoUncertainty(rho="1/2"), **more)) for more in ({}, WEIGHED)]
    assert ways == snapshot
