"""Batteries: one contract each for promises, auditors, methods and metrics, ours or a stranger's.

Call them in a test. They raise `AssertionError` with what is wrong. `check_audit` and `check_anonymizer` serve auditors
and methods of any promise; what differs from promise to promise stands in `checks_coherence`, `checks_rho`,
`checks_hiding` and `checks_anatomy`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from veilset.audit import audit
from veilset.engines import Engine
from veilset.errors import Infeasible
from veilset.models import (
    Audit,
    Coherence,
    HiddenPatterns,
    HiddenRules,
    LDiverseAnatomy,
    PerPromise,
    Promise,
    RhoUncertainty,
)
from veilset.release import Release
from veilset.run import certify
from veilset.testing.checks_anatomy import L_DIVERSE_ANATOMY
from veilset.testing.checks_coherence import COHERENCE
from veilset.testing.checks_hiding import HIDDEN_PATTERNS, HIDDEN_RULES
from veilset.testing.checks_rho import RHO_UNCERTAINTY
from veilset.testing.contract import Contract, as_sets
from veilset.testing.on_engines import through
from veilset.transactions import Transactions
from veilset.utility import Account, Metric, metrics_of

__all__ = ["CONTRACTS", "Contract", "as_sets", "check_anonymizer", "check_audit", "check_metrics", "check_model"]

CONTRACTS = PerPromise[Contract]("contract to compare with")
CONTRACTS.add(Coherence, COHERENCE)
CONTRACTS.add(RhoUncertainty, RHO_UNCERTAINTY)
CONTRACTS.add(HiddenPatterns, HIDDEN_PATTERNS)
CONTRACTS.add(HiddenRules, HIDDEN_RULES)
CONTRACTS.add(LDiverseAnatomy, L_DIVERSE_ANATOMY)
_ORACLE_LIMIT = 200


def check_model(promise: Promise) -> None:
    """Check that a promise is a frozen value that explains itself and can be written down and read back."""
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


def check_audit(data: Transactions, promise: Promise, answer: Audit | None = None) -> None:
    """Check an audit against brute force: verdict, witnesses, margins, order. For small data.

    Parameters
    ----------
    data : Transactions
    promise : Promise
    answer : Audit, optional
        The answer of another auditor, with all witnesses; None: that of our own.
    """
    contract = CONTRACTS.of(promise)
    answer = audit(data, promise, witnesses=10**6) if answer is None else answer
    assert answer.holds == contract.holds(data, data.sensitive, promise), f"{answer}\nis wrong on {data.to_lists()}"
    possible = contract.possible(as_sets(data), data.sensitive, promise)
    assert answer.feasible == possible, f"{answer} on {data.to_lists()}"
    assert answer.transactions == len(data), f"{answer.transactions} transactions were looked at, not {len(data)}."
    contract.check_findings(data, promise, answer)


def check_anonymizer(
    method: Callable[[Any, Any], Any],
    data: Transactions,
    promise: Promise,
    *,
    maximal: bool = False,
    engine: Engine | None = None,
) -> None:
    """Check that a method keeps the promise, declares every change, does not modify its input, and is repeatable.

    So a method that falsifies data at random is rejected, even if it keeps the promise.

    Parameters
    ----------
    method : callable
        From data and promise to `Release`; with an engine, from what it holds to `HeldRelease`.
    data : Transactions
        For `RhoUncertainty`, it must have a sensitive item: without one, methods may refuse. For `HiddenPatterns` and
        `HiddenRules`, it must have all items that they name. For `LDiverseAnatomy`, it must have no buckets yet.
    promise : Promise
    maximal : bool
        Whether no removed item could return alone, except those that the release calls `undecided`.
    engine : Engine, optional
        Where the transactions are to lie, such as ``veilset.engines.Local(pieces=3)``. It reads them from Parquet. Its
        auditor has to agree, and the rows that it holds have to be those that the declared edits make.
    """
    if engine is not None:
        method = through(engine, method)
    contract = CONTRACTS.of(promise)
    before = data.to_lists()
    possible = contract.possible(as_sets(data), data.sensitive, promise)
    try:
        release = method(data, promise)
    except Infeasible:
        assert not possible or contract.may_give_up(data, promise), "Infeasible, but it is not."
        return
    assert possible, "Feasible, but it is not."
    assert data.to_lists() == before, "The method changed its input."
    assert release.original == data, "The release is one of other data."
    assert release.promise == promise, f"The release is for {release.promise}."
    certified = certify(release)
    assert certified.certified, f"{certified.discrepancy or certified.audit}\non {before} for {promise}"
    if len(before) <= _ORACLE_LIMIT:
        # What was sensitive in the original, and released names: what a release says of itself is not believed.
        assert contract.holds(release.custodian_data, data.sensitive, promise), (
            f"Broken by brute force: {release.custodian_data.to_lists()}"
        )
        contract.check_release(release, promise)
    may_go = set(release.suppressed) if contract.sensitive_may_go else set()
    left = {item for number, row in enumerate(before) if number not in release.withheld for item in row} - may_go
    assert release.custodian_data.sensitive == tuple(item for item in data.sensitive if item in left), (
        f"Sensitive items may {'only be suppressed' if contract.sensitive_may_go else 'not be touched'}."
    )
    again = method(data, promise)
    assert (again.custodian_data, again.suppressed, again.generalized) == (
        release.custodian_data,
        release.suppressed,
        release.generalized,
    ), "Two runs give two results."
    if maximal:
        what = f"{release.suppressed}" if release.kept is None else "What was taken out"
        assert contract.maximal(release, promise), f"{what} need not all have gone."


def check_metrics(metrics: Iterable[Metric], releases: Iterable[Release]) -> None:
    """Check that metrics have a meaning, stay in their range, and are best for unchanged data.

    One that is about what is hidden is best if nothing is left.
    """
    metrics = list(metrics)
    for metric in metrics:
        assert metric.meaning and metric.name.isidentifier(), f"{metric} does not explain itself."
    for release in releases:
        account = Account(release)
        best_of = {hides: Account(_extreme(release, gone=hides)) for hides in {metric.hides for metric in metrics}}
        for metric in set(metrics).intersection(metrics_of(release.promise)):
            value, best = metric.of(account), metric.of(best_of[metric.hides])
            assert value >= 0, f"{metric.name} is {value}."
            assert metric.highest is None or value <= metric.highest, (
                f"{metric.name} is {value}, above {metric.highest}."
            )
            where = "nothing is left" if metric.hides else "nothing was lost"
            if metric.better == "less":
                assert best == 0 <= value, f"{metric.name} is {best} where {where}."
            elif metric.better == "more":
                assert best == metric.highest, f"{metric.name} is {best} where {where}."


def _extreme(release: Release, *, gone: bool) -> Release:
    """The release of the data as it was, or of nothing at all."""
    names = release.original.names if gone else ()
    return dataclasses.replace(
        release,
        custodian_data=release.original.without(names),
        suppressed=names,
        generalized={},
        withheld=(),
        kept=None,
    )
