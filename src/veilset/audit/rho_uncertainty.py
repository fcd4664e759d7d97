"""The auditor of ρ-uncertainty.

Decides for every sensitive item whether something an attacker may know of a transaction, other sensitive items and
nothing at all included, makes it certain to a degree of rho or more (Definition 3.1). The counting is in
``native/audit/rho*``. It does not go through the subsets of transactions, so these may be of any length.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from veilset import _native
from veilset.audit.findings import item_names, sure_of, witness_rows
from veilset.audit.passes import finished, kernel_limits, rho_passes
from veilset.limits import KernelLimits, Limits
from veilset.models import Audit, Margin, RhoUncertainty, Witness
from veilset.transactions import Transactions

if TYPE_CHECKING:
    from veilset.audit.returning import Returned

_RULES = 100  # of which the shortest explains best
_ANY_WORK = 1 << 62  # steps: as good as no limit


def audit_rho_uncertainty(data: Transactions, promise: RhoUncertainty, *, witnesses: int, limits: Limits) -> Audit:
    """Whether *data* is ρ-uncertain, with one rule for each sensitive item that is given away.

    Such a rule is short, but not always the surest one. The most certain come first, then those with the most
    transactions. If the promise holds, the margin is the largest certainty that anything known gives.
    """
    passes = rho_passes(data, promise)
    found = rules_found(data, promise.rho, witnesses, kernel_limits(limits, passes), limits)
    finished(limits, passes)
    return audit_of(data, promise, found, transactions=len(data))


def audit_of(
    data: Transactions, promise: RhoUncertainty, found: _native.audit._RhoResult, *, transactions: int
) -> Audit:
    """The answer, from what the kernel found; of *data*, only the names and roles of items are asked."""
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
        transactions=transactions,
        has_sensitive=bool(data.sensitive),
    )


def rule_with(returned: Returned, promise: RhoUncertainty, *, limits: Limits) -> Witness | None:
    """A short rule that an item makes too sure if it returns: one that infers it, or one in which it is known.

    A rule with the item on its left side is as sure as the rest of it is among the holders of the item.
    """
    item = returned.item
    found: list[Witness] = []
    if item in set(returned.original.sensitive):
        data = returned.data.with_sensitive([item])
        found += _rules(data, promise, limits)
    if not found or found[0].itemset:
        holders = returned.holders
        for rule in _rules(holders, promise, limits):
            known = tuple(sorted({*rule.itemset, item}))
            found.append(_witness(known, rule.support, rule.sensitive or "", rule.confidence or Fraction(0)))
    return min(found, key=lambda rule: len(rule.itemset), default=None)


def _rules(data: Transactions, promise: RhoUncertainty, limits: Limits) -> tuple[Witness, ...]:
    bounds = kernel_limits(limits, rho_passes(data, promise))
    return _witnesses(data, rules_found(data, promise.rho, _RULES, bounds, limits))


def rules_found(
    data: Transactions,
    rho: Fraction,
    witnesses: int,
    bounds: KernelLimits,
    limits: Limits,
    *,
    work_limit: int = _ANY_WORK,
) -> _native.audit._RhoResult:
    """The rules with a certainty of rho or more, as the kernel finds them.

    It raises `OutOfWork` after *work_limit* steps, on any machine and with any number of threads.
    """
    with limits.guard("The audit", "declare fewer items sensitive."):
        return _native.audit.rho(
            data.offsets,
            data.items,
            data.is_sensitive,
            rho_num=rho.numerator,
            rho_den=rho.denominator,
            witness_limit=witnesses,
            batch_limit=0,
            work_limit=work_limit,
            threads=limits.thread_count,
            **bounds,
        )


def surest(data: Transactions, found: _native.audit._RhoResult) -> Margin | None:
    """The largest certainty; None: some item is given away, and it was not looked for."""
    if found["largest"] is None:
        return None
    together, support, sensitive, codes = found["largest"]
    return Margin(
        Fraction(together, support), item_names(data, codes), data.names[sensitive], is_extreme=found["exact"]
    )


def _witnesses(data: Transactions, found: _native.audit._RhoResult) -> tuple[Witness, ...]:
    listed = []
    for itemset, support, sensitive, together in witness_rows(data, found):
        listed.append(_witness(itemset, support, data.names[sensitive], Fraction(together, support)))
    return tuple(listed)


def _witness(itemset: tuple[str, ...], support: int, name: str, confidence: Fraction) -> Witness:
    return Witness(itemset, support, name, confidence, sure_of(name, itemset, support, confidence))
