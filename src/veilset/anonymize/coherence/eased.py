"""How the limits of (h,k,p)-coherence could be eased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from veilset.anonymize.binding import MOST_ITEMS, Eased, in_tenths
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining import minimal_rare
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions

_CHARTED = 4  # p = 1, 2, 3, 4
_PAIRS = 2


def eased_coherence(release: Release, limits: Limits) -> Iterator[Eased]:
    """p by one, h by tenths, k along 1, 2, 5, 10, 20, 50 and so on; and the sensitive items that h costs most for."""
    promise = release.promise
    assert isinstance(promise, Coherence)  # noqa: S101 - these are its limits
    p = promise.p or _CHARTED + 1
    yield Eased(
        "p",
        promise.p,
        steps=[(fewer, replace(promise, p=fewer)) for fewer in range(p - 1, 0, -1)],
        stricter=[(more, replace(promise, p=more)) for more in range(p + 1, _CHARTED + 1)],
        charted=True,
    )
    protects = promise.share < 1 and bool(release.original.sensitive)
    if protects:
        yield Eased(
            "h",
            promise.h,
            steps=[(h, replace(promise, h=h)) for h in in_tenths(promise.share) if h < 1],
            without=replace(promise, h=Fraction(1)),
        )
    if promise.k > 1:
        nobody = replace(promise, k=1) if protects else Coherence(k=1, p=promise.p)
        yield Eased("k", promise.k, steps=[(k, replace(promise, k=k)) for k in _rounder(promise.k)], without=nobody)
    if protects:
        data = release.original.without(set(release.original.sensitive).intersection(release.suppressed))
        for items in _most_protected(data, promise, limits)[:MOST_ITEMS]:
            rest = promise.restricted_to(data.without(items))
            yield Eased("sensitive", None, without=rest, items=items, left_out=True)


def _rounder(k: int) -> list[int]:
    """The round numbers below k, the largest first; 1 is none, since it hides nobody.

    >>> _rounder(20), _rounder(30), _rounder(2)
    ([10, 5, 2], [20, 10, 5, 2], [])
    """
    rounds = [digit * 10**zeros for zeros in range(len(str(k))) for digit in (1, 2, 5)]
    return [number for number in reversed(rounds) if 1 < number < k]


def _most_protected(data: Transactions, promise: Coherence, limits: Limits) -> list[tuple[str, ...]]:
    """The sensitive items, or groups of them, that one or two known items tell most often, first; then frequent ones.

    That only decides for which of them the loss is measured.
    """
    if not data.sensitive:
        return []
    seen = promise.as_seen_by_attacker(data)
    told: Counter[str] = Counter()
    try:
        moles = minimal_rare(
            seen,
            k=promise.k,
            h=promise.share,
            max_size=min(promise.p or _PAIRS, _PAIRS),
            **limits.part(0.2).bounds(),
        )
        by_h = moles.itemsets.supports >= promise.k
        told.update(seen.names[code] for code in moles.sensitive[by_h].tolist())
    except BudgetExceeded:
        pass  # then the most frequent ones are asked about
    support = dict(zip(seen.names, seen.supports.tolist(), strict=True))
    ranked = sorted(seen.sensitive, key=lambda name: (-told[name], -support[name], name))
    members: dict[str, tuple[str, ...]] = {name: (name,) for name in seen.sensitive}
    for item, group in promise.group_names(data).items():
        members[group] = (*(one for one in members[group] if one != group), item)
    return [members[name] for name in ranked]
