"""Batteries: one contract each for promises, methods and metrics, ours or a stranger's.

Call them in a test. They raise `AssertionError` with what is wrong.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from veilset.api import audit, certify
from veilset.errors import Infeasible
from veilset.models import Audit, Coherence, Promise
from veilset.release import Release
from veilset.testing import oracles
from veilset.transactions import Transactions
from veilset.utility import Metric

__all__ = ["as_sets", "check_anonymizer", "check_audit", "check_metric", "check_model"]

_ORACLE_LIMIT = 200


def as_sets(data: Transactions) -> list[frozenset[str]]:
    """Rows as the oracles take them."""
    return [frozenset(row) for row in data]


def check_model(promise: Promise) -> None:
    """A promise is a frozen value that explains itself and survives being written down."""
    kind: Any = type(promise)
    assert hasattr(kind, "__dataclass_fields__"), f"{kind.__name__} is not a dataclass."
    assert (kind.__doc__ or "").startswith("Protects "), (
        f"The docstring of {kind.__name__} does not start with 'Protects'."
    )
    field = dataclasses.fields(kind)[0].name
    value = getattr(promise, field)
    with contextlib.suppress(dataclasses.FrozenInstanceError):
        setattr(promise, field, object())
    assert getattr(promise, field) is value, f"{kind.__name__} can be changed after it was made."
    assert kind(**promise.parameters()) == promise, f"{promise} is not what its parameters make."
    assert hash(kind(**promise.parameters())) == hash(promise), f"Equal {kind.__name__}s have different hashes."
    assert all(sentence.endswith(".") for sentence in promise.not_promised()), "not_promised() must be sentences."


def check_audit(data: Transactions, promise: Coherence, answer: Audit | None = None) -> None:
    """The auditor's answer is the brute-force one: verdict, moles, margins, order. For small data."""
    answer = audit(data, promise, witnesses=10**6) if answer is None else answer
    rows, h = as_sets(data), promise.share
    question = (data.sensitive, h, promise.k, promise.p)
    assert answer.holds == oracles.is_coherent(rows, *question), f"{answer}\nis wrong on {data.to_lists()}"
    assert answer.feasible != oracles.empty_set_breaks(rows, data.sensitive, h, promise.k), (
        f"{answer} on {data.to_lists()}"
    )
    if not answer.feasible:
        assert answer.witnesses, "A broken promise needs a witness."
        return
    expected = oracles.minimal_moles(rows, *question)
    assert {frozenset(w.itemset) for w in answer.witnesses} == expected, f"{answer.witnesses}\nis not {expected}"
    assert answer.found == len(expected)
    for size, count in enumerate(answer.found_by_size, start=1):
        assert count == sum(len(x) == size for x in expected)
    for witness in answer.witnesses:
        _check_witness(rows, promise, witness.itemset, witness.support, witness.sensitive, witness.confidence)
    excess = [_excess(promise, w.support, w.confidence) for w in answer.witnesses]
    assert excess == sorted(excess, reverse=True), "Witnesses are not in order of severity."
    if answer.holds:
        _check_margins(rows, data, promise, answer)


def _check_witness(
    rows: list[frozenset[str]],
    promise: Coherence,
    itemset: tuple[str, ...],
    support: int,
    sensitive: str | None,
    sure: Fraction | None,
) -> None:
    assert support == oracles.support(rows, itemset), f"{itemset}: support {support} is wrong."
    if sensitive is None:
        assert support < promise.k, f"{itemset} is held by {support} and is no mole."
    else:
        assert sure == Fraction(oracles.support(rows, {*itemset, sensitive}), support), (
            f"{itemset} → {sensitive}: {sure} is wrong."
        )
        assert sure > promise.share, f"{itemset} → {sensitive}: {sure} is allowed."


def _excess(promise: Coherence, support: int, confidence: Fraction | None) -> Fraction:
    return Fraction(promise.k, support) if confidence is None else confidence / promise.share


def _check_margins(rows: list[frozenset[str]], data: Transactions, promise: Coherence, answer: Audit) -> None:
    """Exact when the promise holds: over all itemsets an attacker may know, the empty one included."""
    known = oracles.occurring(rows, data.sensitive, promise.p)
    if known:
        margin = answer.margins["smallest_support"]
        assert margin.value == min(oracles.support(rows, x) for x in known) == oracles.support(rows, margin.itemset)
    if not data.sensitive:
        return
    cohorts = [[row for row in rows if x <= row] for x in {frozenset(), *known}]
    for name, groups in (
        ("largest_breach", [{s} for s in data.sensitive]),
        ("largest_any_breach", [set(data.sensitive)]),
    ):
        worst = max(
            Fraction(sum(not row.isdisjoint(group) for row in cohort), len(cohort))
            for cohort in cohorts
            for group in groups
        )
        if worst:
            assert answer.margins[name].value == worst, f"{name}: {answer.margins[name]} is not {worst}"


def check_anonymizer(
    method: Callable[[Transactions, Coherence], Release],
    data: Transactions,
    promise: Coherence,
    *,
    maximal: bool = False,
) -> None:
    """A method keeps the promise, accounts for what it did, leaves its input alone, and repeats itself.

    Parameters
    ----------
    method : callable
        From data and promise to `Release`.
    maximal : bool
        Whether nothing that was suppressed could return by itself.
    """
    before = data.to_lists()
    rows, question = as_sets(data), (data.sensitive, promise.share, promise.k, promise.p)
    try:
        release = method(data, promise)
    except Infeasible:
        assert oracles.empty_set_breaks(rows, data.sensitive, promise.share, promise.k), "Infeasible, but it is not."
        return
    assert not oracles.empty_set_breaks(rows, data.sensitive, promise.share, promise.k), "Feasible, but it is not."
    assert data.to_lists() == before, "The method changed its input."
    assert release.original == data
    assert release.promise == promise
    certified = certify(release)
    assert certified.certified, f"{certified.discrepancy or certified.audit}\non {before} for {promise}"
    if len(before) <= _ORACLE_LIMIT:
        assert oracles.is_coherent(as_sets(release.data), *question), (
            f"Not coherent by brute force: {release.data.to_lists()}"
        )
    assert release.data.sensitive == data.sensitive, "Sensitive items may not be touched."
    again = method(data, promise)
    assert (again.data, again.suppressed) == (release.data, release.suppressed), "Two runs give two results."
    if maximal:
        assert oracles.is_maximal_cohesion(rows, release.suppressed, *question), (
            f"{release.suppressed} need not all have gone."
        )


def check_metric(metric: Metric, releases: list[Release]) -> None:
    """A metric says what it means, stays in its range, and is at its best where nothing was changed."""
    assert metric.meaning and metric.name.isidentifier(), f"{metric} does not explain itself."
    for release in releases:
        if not metric.fits(release.promise):
            continue
        value = metric.of(release)
        assert value >= 0, f"{metric.name} is {value}."
        assert metric.highest is None or value <= metric.highest, f"{metric.name} is {value}, above {metric.highest}."
        same = dataclasses.replace(release, data=release.original, suppressed=(), generalized={}, withheld=())
        best = metric.of(same)
        if metric.better == "less":
            assert best == 0 <= value, f"{metric.name} is {best} where nothing was lost."
        elif metric.better == "more":
            assert best == metric.highest, f"{metric.name} is {best} where nothing was lost."
