"""The auditor of ρ-uncertainty for transactions that an engine holds, with the answer of `audit_rho_uncertainty`.

Sensitive items are decided in shares (`inferences_spread`, which says why the answers are the same). So verdict,
witnesses, margin and `checked` are the same.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from veilset.audit.inferences_spread import TASK, Finding, Inferences, Threshold
from veilset.audit.rho_dealing import supports_of
from veilset.audit.rho_uncertainty import audit_of
from veilset.engines import Held
from veilset.limits import Limits
from veilset.models import Audit, RhoUncertainty

_PASSES = ("Comparing transactions", "Checking inferences from any knowledge", "Searching for the highest confidence")


def audit_rho_uncertainty_spread(data: Held, promise: RhoUncertainty, *, witnesses: int, limits: Limits) -> Audit:
    """Whether transactions that an engine holds are ρ-uncertain, with one rule for each item that is given away."""
    found = _found(data, promise, witnesses, limits)
    limits.step(_PASSES[-1], len(_PASSES), len(_PASSES))
    return audit_of(data.vocabulary, promise, found, transactions=len(data))


def _found(data: Held, promise: RhoUncertainty, witnesses: int, limits: Limits) -> Any:
    """The same as the kernel of the local auditor finds."""
    _begin(0, limits)
    known = data.vocabulary
    if not known.sensitive or not len(data):
        return _answer([], 0, True, witnesses)
    supports = data.totals(partial(supports_of, items=len(known.names)))["supports"]
    order = np.argsort(supports, kind="stable")[::-1]
    asked = order[(known.is_sensitive[order] == 1) & (supports[order] > 0)].astype(np.int32)
    if not len(asked):
        return _answer([], 0, True, witnesses)
    everything_is_known = np.full(len(known.names), -1, dtype=np.int32)
    inferences = Inferences(data, asked, supports, everything_is_known, limits)
    exact = True
    try:
        _begin(1, limits)
        inferences.decide(Threshold(promise.rho, strict=False))
        if inferences.all_hold:
            _begin(2, limits)
            exact = inferences.find_surest()
    finally:
        inferences.close()
    return _answer(inferences.findings, inferences.checked, exact, witnesses)


def _begin(number: int, limits: Limits) -> None:
    limits.check_time(TASK, "declare fewer items sensitive.")
    limits.step(_PASSES[number], number, len(_PASSES))


def _answer(findings: list[Finding], checked: int, exact: bool, witnesses: int) -> Any:
    broken = [finding for finding in findings if finding.broken]
    listed = sorted(broken, key=lambda finding: finding.severity)[:witnesses]
    most = None if broken or not findings else max(findings, key=lambda finding: finding.confidence)
    return {
        "found": len(broken),
        "checked": checked,
        "exact": exact,
        "witness_offsets": np.append(0, np.cumsum([len(one.items) for one in listed], dtype=np.int64)),
        "witness_items": np.array([code for one in listed for code in one.items], dtype=np.int32),
        "witness_support": np.array([one.support for one in listed], dtype=np.int64),
        "witness_sensitive": np.array([one.sensitive for one in listed], dtype=np.int32),
        "witness_with": np.array([one.together for one in listed], dtype=np.int64),
        "largest": most and (most.together, most.support, most.sensitive, most.items),
    }
