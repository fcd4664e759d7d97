"""The auditor of ρ-uncertainty, by brute force: every part of every transaction is counted. For short transactions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

from veilset.exact import percent
from veilset.limits import Limits
from veilset.models import Audit, Margin, RhoUncertainty, Witness
from veilset.transactions import Transactions

__all__ = ["audit_rho_uncertainty"]


def audit_rho_uncertainty(data: Transactions, promise: RhoUncertainty, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is ρ-uncertain, with the surest inference of each sensitive item that can be inferred."""
    counted: Counter[tuple[int, ...]] = Counter()
    for start, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        limits.step("Counting what may be known")
        row = data.items[start:end].tolist()
        counted.update(part for size in range(len(row) + 1) for part in combinations(row, size))
    worst: dict[int, tuple[Fraction, int, tuple[int, ...]]] = {}
    for held, together in counted.items():
        for item in (code for code in held if data.is_sensitive[code]):
            known = tuple(code for code in held if code != item)
            rule = (Fraction(together, counted[known]), together, known)
            if item not in worst or _severity(*rule) < _severity(*worst[item]):
                worst[item] = rule
    order = sorted(worst, key=lambda item: (_severity(*worst[item]), item))
    broken = [item for item in order if worst[item][0] >= promise.rho]
    margins = {}
    if order:
        sure, _, known = worst[order[0]]
        margins["largest_confidence"] = Margin(sure, _names(data, known), data.names[order[0]])
    return Audit(
        promise=promise,
        holds=not broken,
        witnesses=tuple(_witness(data, item, *worst[item]) for item in broken[:witnesses]),
        found=len(broken),
        found_by_size=(),
        margins=margins,
        checked=len(counted),
        feasible=True,
        transactions=len(data),
    )


def _severity(sure: Fraction, together: int, known: tuple[int, ...]) -> tuple[object, ...]:
    return (-sure, -together, len(known), known)


def _names(data: Transactions, codes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(data.names[code] for code in codes)


def _witness(data: Transactions, item: int, sure: Fraction, together: int, known: tuple[int, ...]) -> Witness:
    support, name = int(together / sure), data.names[item]
    reason = f"{percent(sure)} of the {support:,} transactions that hold this hold {name!r} too"
    return Witness(_names(data, known), support, name, sure, reason)
