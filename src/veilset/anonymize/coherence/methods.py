"""The methods for (h,k,p)-coherence, and what other k and p would cost."""

from __future__ import annotations

from collections.abc import Iterator

from veilset.anonymize.coherence.auto import auto
from veilset.anonymize.coherence.border import border
from veilset.anonymize.coherence.curve import loss_at, loss_by_p
from veilset.anonymize.coherence.generalize import generalize
from veilset.anonymize.coherence.k_anonymity import k_anonymity
from veilset.anonymize.coherence.optimal import optimal
from veilset.anonymize.coherence.remove_all import remove_all
from veilset.anonymize.coherence.tree import tree
from veilset.anonymize.methods import Methods, Milder
from veilset.models import Coherence

_LARGEST_P_TRIED = 8


def _smaller_k_or_p(milder: Milder, promise: Coherence) -> Iterator[tuple[str, int]]:
    """The largest p at the promise's k, and the largest k at its p (k = 1 is none, since it hides nobody)."""
    low, high = 1, promise.k  # half survives at k=low (or low is 1), not at k=high
    highest = min(promise.p or _LARGEST_P_TRIED, _LARGEST_P_TRIED)
    for p in range(highest, 0, -1):
        if p == promise.p:
            continue
        known = milder.curve.get(p)
        if (loss_at(milder.release, promise.k, p, milder.limits) if known is None else known) <= 0.5:
            yield "p", p
            break
    while high - low > 1:
        middle = (low + high) // 2
        half = loss_at(milder.release, middle, promise.p, milder.limits) <= 0.5
        low, high = (middle, high) if half else (low, middle)
    if low > 1:
        yield "k", low


COHERENCE = Methods(
    {
        "auto": auto,
        "tree": tree,
        "border": border,
        "optimal": optimal,
        "generalize": generalize,
        "remove-all": remove_all,
        "k-anonymity": k_anonymity,
    },
    milder="smaller k or p",
    find_milder=_smaller_k_or_p,
    curve=loss_by_p,
)
