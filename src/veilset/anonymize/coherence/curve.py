"""What other k and p would cost: what a custodian must see before choosing.

The minimal moles of p hold those of every smaller p. So one list of them, made for the largest p that is shown, answers
for all: those of up to p items are the moles of p. It may take as long as the method itself has taken, or two seconds;
a p that is not known then is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from veilset.anonymize.coherence.auto import all_moles, best_of_all
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.coherence.tree import suppressed_by_tree
from veilset.anonymize.methods import Curve, run_again
from veilset.errors import BudgetExceeded, Infeasible
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release

_SHOWN = 4  # p = 1, 2, 3, 4
_LEAST = 2.0  # seconds


def loss_by_p(release: Release, limits: Limits) -> Curve:
    """What the release's method loses at p = 1, 2, 3, 4, and at the release's own p (None: unlimited).

    Left out is a p at which what must be kept cannot be. Changes that are given are the same for every p; a choice that
    is only repeated, and somebody else's method, are not asked again.
    """
    promise = _promise(release)
    others = [p for p in range(1, _SHOWN + 1) if p != promise.p]
    found: dict[int | None, float] = {}
    limits = limits.part(0.5, max(_LEAST, release.seconds))
    if release.method in _FROM_LIST and not _repeated(release):
        found = _from_one_list(release, others, limits)
    elif release.method in _AGAIN and not _repeated(release):
        for p in others:
            try:
                lost = loss_at(release, promise.k, p, limits)
            except (BudgetExceeded, Infeasible):
                continue
            if limits.seconds_left() > 0:  # else it may be no more than the first that came to mind
                found[p] = lost
    found[promise.p] = release.loss
    return {p: found[p] for p in sorted(found, key=lambda p: (p is None or p > _SHOWN, p or 0))}


_FROM_LIST = {"auto", "tree"}
_AGAIN = {"border", "optimal", "generalize", "remove-all", "k-anonymity"}


def _repeated(release: Release) -> bool:
    """Whether a recipe has told the method what to choose."""
    return "chosen" in release.options and not release.attempts and release.bound is None


def _from_one_list(release: Release, others: list[int], limits: Limits) -> dict[int | None, float]:
    """The loss for each of these p, as far as one list of moles tells it within the limits.

    The list is for the largest of them at which what must be kept can be. Where that is more than the method had to
    look at, and too much, it is for the release's own p, which tells of smaller ones.
    """
    own = _promise(release).p
    found: dict[int | None, float] = {}
    for shown, part in ((others, limits.part(0.5)), ([p for p in others if own is not None and p < own], limits)):
        left = list(shown)
        while left and not found:
            try:
                found = _told_by_list(release, left, part)
                break
            except Infeasible:
                left.pop()
    return found


def _told_by_list(release: Release, others: list[int], limits: Limits) -> dict[int | None, float]:
    """The loss for each of these p; what takes too long is left out. `Infeasible`: not all of *keep* can be kept."""
    original = release.original
    data = original.without(set(original.sensitive).intersection(release.suppressed))
    options: dict[str, Any] = {name: release.options.get(name) for name in ("weights", "keep")}
    most = max(others)
    largest = replace(_promise(release), p=most)
    found: dict[int | None, float] = {}
    try:
        task = Task.of(data, largest, weights=options["weights"], keep=options["keep"] or (), limits=limits)
        moles, why_not = all_moles(task)
        if moles is None:
            raise BudgetExceeded(why_not)
        for p in reversed(others):
            part = task.within(limits.part(1 / (len(others) - len(found))), promise=replace(largest, p=p))
            moles = moles[moles.itemsets.sizes <= p] if p < most else moles
            if release.method == "tree":
                gone = suppressed_by_tree(part, moles, restore=bool(release.options.get("restore", True)))
            else:
                gone, attempts = best_of_all(part, moles)
                if any(attempt.loss is None for attempt in attempts):
                    continue  # not all ways came to an end: there may be a better one
            left = len(data.items) - int(data.supports[data.codes(gone)].sum())
            found[p] = 1 - left / max(1, len(original.items))
    except BudgetExceeded:
        pass
    return found


def loss_at(release: Release, k: int, p: int | None, limits: Limits) -> float:
    """What the same method loses for another k and p, besides the sensitive items that had to go before."""
    original = release.original
    data = original.without(set(original.sensitive).intersection(release.suppressed))
    lost = run_again(release, replace(_promise(release), k=k, p=p), data, limits).loss
    return 1 - (1 - lost) * len(data.items) / max(1, len(original.items))


def _promise(release: Release) -> Coherence:
    assert isinstance(release.promise, Coherence)  # noqa: S101 - these are its methods
    return release.promise
