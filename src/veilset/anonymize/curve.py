"""What other parameters would cost: what a custodian must see before choosing. A courtesy, within a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from veilset.anonymize.methods import METHODS, find_method
from veilset.errors import BudgetExceeded, Infeasible
from veilset.limits import Limits
from veilset.models import Coherence, HiddenPatterns, HiddenRules, LDiverseAnatomy, Promise, RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions

__all__ = ["Milder", "loss_by_p", "milder_that_keep_half"]

_SECONDS = 60.0
_SHOWN = 4
_LARGEST_P_TRIED = 8
_FOR_THIS_PROMISE = {"chosen", "drop_empty", "allow_sensitive"}  # options that are not the method's, or not for others


def loss_by_p(release: Release, *, limits: Limits) -> Mapping[int | None, float]:
    """What the release's method loses at p = 1, 2, 3, 4, and at the release's own p (None: unlimited).

    What is not known within the limits is left out, and so is a p at which what must be kept cannot be. Empty if the
    promise has no p.
    """
    promise = release.promise
    if not isinstance(promise, Coherence):
        return {}
    # Somebody else's method cannot be asked again, and changes that are given are the same for every p.
    if release.method not in METHODS[Coherence] or release.method == "given":
        return {promise.p: release.loss}
    limits = limits.part(0.5, _SECONDS)
    found: dict[int | None, float] = {}
    for p in range(1, _SHOWN + 1):
        try:
            found[p] = release.loss if p == promise.p else _coherence_loss(release, promise, promise.k, p, limits)
        except (BudgetExceeded, Infeasible):
            continue
    return {**found, promise.p: release.loss}


@dataclass
class Milder:
    """What a milder promise of the same kind would ask for, where half of the item occurrences survive it.

    Parameters
    ----------
    way : str
        In which way it is milder, such as "smaller k or p".
    found : mapping
        Parameter to the value at which half survives; empty: there is none, or none was found within the limits.
    """

    way: str
    found: dict[str, int | Fraction] = field(default_factory=dict)


def milder_that_keep_half(release: Release, curve: Mapping[int | None, float], *, limits: Limits) -> Milder:
    """The least that has to be given up of a promise, one parameter at a time, for half of the occurrences to survive.

    For coherence the largest k (at the promise's p; k = 1 is none, since it hides nobody) and the largest p (at its k);
    for ρ-uncertainty the smallest rho, in tenths; for hidden patterns and rules the smallest min_support, in doublings.
    For l-diverse anatomy nothing: all occurrences survive.
    """
    way, find = _WAYS[type(release.promise)]
    milder = Milder(way)
    if release.method == "given":
        return milder
    try:
        for letter, value in find(release, release.promise, curve, limits.part(1, _SECONDS)):
            milder.found[letter] = value
    except BudgetExceeded:
        pass  # a preview that takes too long is left incomplete
    return milder


def _milder_coherence(
    release: Release, promise: Coherence, curve: Mapping[int | None, float], limits: Limits
) -> Iterator[tuple[str, int]]:
    low, high = 1, promise.k  # half survives at k=low (or low is 1), not at k=high
    highest = min(promise.p or _LARGEST_P_TRIED, _LARGEST_P_TRIED)
    for p in range(highest, 0, -1):
        if p == promise.p:
            continue
        if (curve[p] if p in curve else _coherence_loss(release, promise, promise.k, p, limits)) <= 0.5:
            yield "p", p
            break
    while high - low > 1:
        middle = (low + high) // 2
        half = _coherence_loss(release, promise, middle, promise.p, limits) <= 0.5
        low, high = (middle, high) if half else (low, middle)
    if low > 1:
        yield "k", low


def _milder_rho(
    release: Release, promise: RhoUncertainty, _: Mapping[int | None, float], limits: Limits
) -> Iterator[tuple[str, Fraction]]:
    for rho in (Fraction(tenths, 10) for tenths in range(1, 11)):
        if rho > promise.rho and _loss(release, release.original, RhoUncertainty(rho=rho), limits) <= 0.5:
            yield "rho", rho
            break


def _milder_hiding(
    release: Release, promise: HiddenPatterns | HiddenRules, _: Mapping[int | None, float], limits: Limits
) -> Iterator[tuple[str, int | Fraction]]:
    most = len(release.original) if isinstance(promise.min_support, int) else 1  # beyond, nothing is ever found
    larger = promise.min_support * 2
    while larger <= most:
        if _loss(release, release.original, replace(promise, min_support=larger), limits) <= 0.5:
            yield "min_support", larger
            break
        larger *= 2


def _nothing_milder(
    release: Release, promise: LDiverseAnatomy, _: Mapping[int | None, float], limits: Limits
) -> Iterator[tuple[str, Fraction]]:
    return iter(())


_WAYS: Mapping[
    type[Promise], tuple[str, Callable[[Release, Any, Mapping[int | None, float], Limits], Iterator[Any]]]
] = {
    Coherence: ("smaller k or p", _milder_coherence),
    RhoUncertainty: ("larger rho", _milder_rho),
    HiddenPatterns: ("larger min_support", _milder_hiding),
    HiddenRules: ("larger min_support", _milder_hiding),
    LDiverseAnatomy: ("smaller l", _nothing_milder),
}


def _coherence_loss(release: Release, promise: Coherence, k: int, p: int | None, limits: Limits) -> float:
    """What the same method loses for another k and p, besides the sensitive items that had to go before."""
    original = release.original
    data = original.without(set(original.sensitive).intersection(release.suppressed))
    other = Coherence(h=promise.h, k=k, p=p, sensitive_groups=promise.sensitive_groups)
    lost = _loss(release, data, other, limits)
    return 1 - (1 - lost) * len(data.items) / max(1, len(original.items))


def _loss(release: Release, data: Transactions, promise: Promise, limits: Limits) -> float:
    """What the same method with the same options loses for another promise."""
    limits.step(f"Trying {promise}")
    options = {name: value for name, value in release.options.items() if name not in _FOR_THIS_PROMISE}
    return find_method(promise, release.method)(data, promise, limits=limits, **options).loss
