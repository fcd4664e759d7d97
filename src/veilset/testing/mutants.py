"""Broken on purpose: anonymizers that every auditor must reject.

Each is a mistake somebody has made. `data` and `promise` are what it goes wrong on: a mutant that happens to do no harm
proves nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from veilset.anonymize.coherence.auto import auto
from veilset.limits import Limits
from veilset.mining import minimal_rare
from veilset.models import Coherence, Promise, RhoUncertainty
from veilset.release import Release
from veilset.testing import oracles
from veilset.transactions import Transactions


@dataclass(frozen=True)
class Mutant:
    """A broken method, data on which it matters, and who notices: the auditor, the account, or the original.

    The account is that of the edits; the original is compared where single occurrences are gone.
    """

    name: str
    method: Callable[[Transactions, Any], Release]
    data: Transactions
    promise: Promise
    noticed_by: Literal["auditor", "account", "original"] = "auditor"


def unbroken(data: Transactions, promise: Coherence) -> Release:
    """The method the mutants are made from."""
    return auto(data, promise, limits=Limits())


def _forgets_single_items(data: Transactions, promise: Coherence) -> Release:
    """Says that the size-1 moles were suppressed, but leaves them in the file it writes."""
    release = unbroken(data, promise)
    alone = {mole.items[0] for mole in minimal_rare(data, promise.k, h=promise.share, max_size=1)}
    return dataclasses.replace(release, custodian_data=data.without(set(release.suppressed) - alone))


def _drops_last_transaction(data: Transactions, promise: Coherence) -> Release:
    release = unbroken(data, promise)
    return dataclasses.replace(release, custodian_data=release.custodian_data.take(np.arange(len(data) - 1)))


def _off_by_one_at_k(data: Transactions, promise: Coherence) -> Release:
    weaker = Coherence(h=promise.h, k=promise.k - 1, p=promise.p)
    return dataclasses.replace(unbroken(data, weaker), promise=promise)


def _ignores_the_empty_set(data: Transactions, promise: Coherence) -> Release:
    """Deletes all public items and believes that nothing can be wrong then."""
    return Release(data, data.only(data.sensitive), promise, "mutant", {}, data.public)


def _looks_at_two_items(data: Transactions, promise: Coherence) -> Release:
    """Believes that nobody knows three items of a person."""
    weaker = Coherence(h=promise.h, k=promise.k, p=2)
    return dataclasses.replace(unbroken(data, weaker), promise=promise)


_BASKETS = Transactions.from_lists(
    [*([["bread", "milk"]] * 4), *([["bread", "milk", "tea"]] * 2), ["bread", "figs"], ["milk", "cure"]],
    sensitive=["cure"],
)
_PROMISE = Coherence(h="1/2", k=3, p=2)

MUTANTS: tuple[Mutant, ...] = (
    Mutant("forgets size-1 moles in the written file", _forgets_single_items, _BASKETS, _PROMISE),
    Mutant("drops the last transaction", _drops_last_transaction, _BASKETS, _PROMISE, "account"),
    Mutant("off by one at k", _off_by_one_at_k, _BASKETS, _PROMISE),
    Mutant(
        "ignores the empty set",
        _ignores_the_empty_set,
        Transactions.from_lists([["bread", "cure"], ["bread", "cure"], ["bread"]], sensitive=["cure"]),
        Coherence(h="1/2", k=2, p=2),
    ),
    Mutant(
        "looks at two items where any number is known",
        _looks_at_two_items,
        Transactions.from_lists(
            [["bread", "milk", "tea"], *[["bread", "milk"], ["bread", "tea"], ["milk", "tea"]] * 2]
        ),
        Coherence(k=2, p=None),
    ),
    Mutant(
        "looks at what two items give away where any number is known",
        _looks_at_two_items,
        Transactions.from_lists(
            [["bread", "milk", "tea", "cure"], *[["bread", "milk"], ["bread", "tea"], ["milk", "tea"]] * 2, ["milk"]],
            sensitive=["cure"],
        ),
        Coherence(h="1/2", k=1, p=None),
    ),
)


def rho_unbroken(
    data: Transactions,
    promise: RhoUncertainty,
    overlooks: Callable[[frozenset[str], Fraction, Transactions], bool] = lambda known, sure, data: False,
) -> Release:
    """The method that the mutants for ρ-uncertainty are made from: they overlook some of the rules X → s.

    Sensitive items are suppressed until no rule is left that is taken for a violation.
    """
    gone: set[str] = set()
    while True:
        rows = [frozenset(row) - gone for row in data]
        rules = oracles.rho_violations(rows, [item for item in data.sensitive if item not in gone], promise.rho)
        inferred = {s for (known, s), count in rules.items() if not overlooks(known, Fraction(*count), data)}
        if not inferred:
            return Release(data, data.without(gone), promise, "mutant", {}, data.in_order(gone))
        gone.add(min(inferred))


_EVENS = RhoUncertainty(rho="1/2")

RHO_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "forgets the empty set",
        partial(rho_unbroken, overlooks=lambda known, sure, data: not known),
        Transactions.from_lists([["cure"]] * 4 + [["bread", "cure"], ["bread"], ["bread"]], sensitive=["cure"]),
        _EVENS,
    ),
    Mutant(
        "allows a certainty of exactly rho",
        partial(rho_unbroken, overlooks=lambda known, sure, data: sure == _EVENS.rho),
        Transactions.from_lists([["bread", "cure"], ["bread"], ["milk"], ["milk"]], sensitive=["cure"]),
        _EVENS,
    ),
    Mutant(
        "ignores sensitive items that are known",
        partial(rho_unbroken, overlooks=lambda known, sure, data: not known.isdisjoint(data.sensitive)),
        Transactions.from_lists([["cure", "test"], ["milk"], ["milk"], ["milk"]], sensitive=["cure", "test"]),
        _EVENS,
    ),
    Mutant(
        "looks at two known items at most",
        partial(rho_unbroken, overlooks=lambda known, sure, data: len(known) > 2),
        Transactions.from_lists(
            [["bread", "milk", "tea", "cure"], *[["bread", "milk"], ["bread", "tea"], ["milk", "tea"]] * 2],
            sensitive=["cure"],
        ),
        _EVENS,
    ),
)
