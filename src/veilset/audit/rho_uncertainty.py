"""The auditor of ρ-uncertainty.

Decides for every sensitive item whether something an attacker may know of a transaction, other sensitive items and
nothing at all included, makes it certain to a degree of rho or more (Definition 3.1). The counting is in
``native/audit/rho*``. It does not go through the subsets of transactions, so these may be of any length.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from veilset import _native
from veilset.audit.findings import item_names, sure_of, witness_rows
from veilset.limits import Limits
from veilset.models import Audit, Margin, RhoUncertainty, Witness
from veilset.transactions import Transactions

_STAGES = {
    1: "Checking what single items give away",
    2: "Checking what all that is known gives away",
    3: "Looking for the largest certainty",
}


def audit_rho_uncertainty(data: Transactions, promise: RhoUncertainty, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is ρ-uncertain, with one rule for each sensitive item that is given away.

    Such a rule is short, but not always the surest one. The most certain come first, then those with the most
    transactions. If the promise holds, the margin is the largest certainty that anything known gives.
    """
    found = rules_found(data, promise.rho, witnesses, _STAGES.__getitem__, limits)
    largest = surest(data, found)
    return Audit(
        promise=promise,
        holds=found["found"] == 0,
        witnesses=_witnesses(data, found),
        found=found["found"],
        found_by_size=(),
        margins={} if largest is None else {"largest_confidence": largest},
        checked=found["checked"],
        feasible=True,
        transactions=len(data),
    )


def rules_found(
    data: Transactions, rho: Fraction, witnesses: int, stage: Callable[[int], str], limits: Limits
) -> _native.audit._RhoResult:
    """The rules with a certainty of rho or more, as the kernel finds them."""
    with limits.guard("The audit", "ask about fewer sensitive items."):
        return _native.audit.rho(
            data.offsets,
            data.items,
            data.is_sensitive,
            rho_num=rho.numerator,
            rho_den=rho.denominator,
            witness_limit=witnesses,
            threads=limits.thread_count,
            **limits.for_kernel(stage),
        )


def surest(data: Transactions, found: _native.audit._RhoResult) -> Margin | None:
    """The largest certainty; None: some item is given away, and it was not looked for."""
    if found["largest"] is None:
        return None
    together, support, sensitive, codes = found["largest"]
    return Margin(Fraction(together, support), item_names(data, codes), data.names[sensitive])


def _witnesses(data: Transactions, found: _native.audit._RhoResult) -> tuple[Witness, ...]:
    listed = []
    for itemset, support, sensitive, together in witness_rows(data, found):
        name, confidence = data.names[sensitive], Fraction(together, support)
        listed.append(Witness(itemset, support, name, confidence, _reason(itemset, support, name, confidence)))
    return tuple(listed)


def _reason(itemset: tuple[str, ...], support: int, name: str, confidence: Fraction) -> str:
    if itemset and support == 1:
        return f"the only transaction that holds this holds {name!r} too"
    return sure_of(name, itemset, support, confidence)
