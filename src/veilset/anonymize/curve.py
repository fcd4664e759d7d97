"""What other parameters would cost: what a custodian must see before choosing. A courtesy, within a minute."""

from __future__ import annotations

from collections.abc import Mapping

from veilset.anonymize.methods import METHODS, find_method
from veilset.errors import BudgetExceeded, Infeasible
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release

__all__ = ["largest_that_keep_half", "loss_by_p"]

_SECONDS = 60.0
_SHOWN = 4
_LARGEST_P_TRIED = 8
_FOR_THIS_PROMISE = {"chosen", "drop_empty", "allow_sensitive"}  # options that are not the method's, or not for others


def loss_by_p(release: Release, *, limits: Limits) -> Mapping[int | None, float]:
    """What the release's method loses at p = 1, 2, 3, 4, and at the release's own p (None: unlimited).

    What is not known within the limits is left out, and so is a p at which what must be kept cannot be.
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
            found[p] = release.loss if p == promise.p else _loss_at(release, promise.k, p, limits)
        except (BudgetExceeded, Infeasible):
            continue
    return {**found, promise.p: release.loss}


def largest_that_keep_half(
    release: Release, curve: Mapping[int | None, float], *, limits: Limits
) -> dict[str, int | None]:
    """The largest k (at the promise's p) and the largest p (at its k) at which half of the item occurrences survive.

    None: there is none, or it was not found within the limits; k = 1 is none, since it hides nobody.
    """
    promise = release.promise
    found: dict[str, int | None] = {"k": None, "p": None}
    if not isinstance(promise, Coherence) or release.method == "given":
        return found
    limits = limits.part(1, _SECONDS)
    try:
        highest = min(promise.p or _LARGEST_P_TRIED, _LARGEST_P_TRIED)
        for p in range(highest, 0, -1):
            if p != promise.p and (curve[p] if p in curve else _loss_at(release, promise.k, p, limits)) <= 0.5:
                found["p"] = p
                break
        low, high = 1, promise.k  # half survives at k=low (or low is 1), not at k=high
        while high - low > 1:
            middle = (low + high) // 2
            half = _loss_at(release, middle, promise.p, limits) <= 0.5
            low, high = (middle, high) if half else (low, middle)
        found["k"] = low if low > 1 else None
    except BudgetExceeded:
        pass  # a preview that takes too long is left incomplete: the answer says None
    return found


def _loss_at(release: Release, k: int, p: int | None, limits: Limits) -> float:
    """What the same method with the same options loses for another promise."""
    promise = release.promise
    assert isinstance(promise, Coherence)  # noqa: S101 - the callers see to it
    limits.step(f"Trying k={k}, p={'unlimited' if p is None else p}")
    other = Coherence(h=promise.h, k=k, p=p, sensitive_groups=promise.sensitive_groups)
    options = {name: value for name, value in release.options.items() if name not in _FOR_THIS_PROMISE}
    original = release.original
    data = original.without(set(original.sensitive).intersection(release.suppressed))
    lost = find_method(promise, release.method)(data, other, limits=limits, **options).loss
    return 1 - (1 - lost) * len(data.items) / max(1, len(original.items))
