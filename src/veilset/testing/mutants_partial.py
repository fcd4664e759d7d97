"""Broken on purpose: methods that remove single occurrences, each with a mistake that their auditors must notice."""

from __future__ import annotations

import dataclasses

from veilset.anonymize.coherence.partial import partial
from veilset.anonymize.rho_uncertainty.partial import partial as partial_for_rho
from veilset.limits import Limits
from veilset.models import Coherence, RhoUncertainty
from veilset.release import Release
from veilset.testing.mutants import Mutant
from veilset.transactions import Transactions


def partial_unbroken(data: Transactions, promise: Coherence) -> Release:
    """The method that these mutants are made from."""
    return partial(data, promise, limits=Limits())


def _puts_back_too_few(data: Transactions, promise: Coherence) -> Release:
    """Puts an item back into k - 1 rows."""
    weaker = Coherence(h=promise.h, k=promise.k - 1, p=promise.p)
    return dataclasses.replace(partial_unbroken(data, weaker), promise=promise)


def _looks_at_fewer(data: Transactions, promise: Coherence) -> Release:
    """Looks at itemsets of p - 1 items when it puts an item back."""
    assert promise.p is not None
    weaker = Coherence(h=promise.h, k=promise.k, p=promise.p - 1)
    return dataclasses.replace(partial_unbroken(data, weaker), promise=promise)


def _forgets_the_original(data: Transactions, promise: Coherence) -> Release:
    """Keeps the promise in the release, and says nothing of what the original gives away."""
    release = partial(data, promise, truthful=False, limits=Limits())
    return dataclasses.replace(release, options={})


def _declares_all_kept(data: Transactions, promise: Coherence) -> Release:
    """Keeps the promise, but tells the custodian that an item went from all transactions, when it went from some."""
    release = partial_unbroken(data, promise)
    return dataclasses.replace(release, kept=None, suppressed=("figs",))


def rho_partial_unbroken(data: Transactions, promise: RhoUncertainty) -> Release:
    """The method that the mutants for ρ-uncertainty are made from."""
    return partial_for_rho(data, promise, limits=Limits())


def _puts_back_too_many(data: Transactions, promise: RhoUncertainty) -> Release:
    """Puts a sensitive item back until a certainty of three times rho."""
    return dataclasses.replace(rho_partial_unbroken(data, RhoUncertainty(rho=3 * promise.rho)), promise=promise)


def _forgets_the_rules_of_the_original(data: Transactions, promise: RhoUncertainty) -> Release:
    """Keeps every rule of the release below rho, and says nothing of what the original gives away."""
    release = partial_for_rho(data, promise, truthful=False, limits=Limits())
    return dataclasses.replace(release, options={})


_BASKETS = Transactions.from_lists(
    [*([["bread", "milk"]] * 3), *([["bread", "figs"]] * 3), *([["milk", "figs", "tea"]] * 2), ["tea"], ["tea"]]
)
_PROMISE = Coherence(k=3, p=2)

PARTIAL_MUTANTS: tuple[Mutant, ...] = (
    Mutant("puts back k - 1 rows", _puts_back_too_few, _BASKETS, _PROMISE),
    Mutant("looks at p - 1 items", _looks_at_fewer, _BASKETS, _PROMISE),
    Mutant(
        "forgets the original's confidences",
        _forgets_the_original,
        Transactions.from_lists([["bread", "cure"]] * 3 + [["bread"], *[["milk"]] * 3], sensitive=["cure"]),
        Coherence(h="1/2", k=1, p=1),
        "original",
    ),
    Mutant("declares an item gone that is thinned", _declares_all_kept, _BASKETS, _PROMISE, "account"),
)

_PATIENTS = Transactions.from_lists([["bread", "cure"]] * 3 + [["bread"], *[["milk"]] * 6], sensitive=["cure"])
_THIRD = RhoUncertainty(rho="1/3")

RHO_PARTIAL_MUTANTS: tuple[Mutant, ...] = (
    Mutant("puts sensitive items back too often", _puts_back_too_many, _PATIENTS, _THIRD),
    Mutant("forgets the original's rules", _forgets_the_rules_of_the_original, _PATIENTS, _THIRD, "original"),
)
