"""The report that stays at home: what was at risk, what was changed and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from veilset.limits import Limits
from veilset.models import Audit, Promise, Witness
from veilset.release import Release
from veilset.report.pages import Figure, curve_figure, length_figure, render, support_figure, ways_figure
from veilset.report.words import (
    Curve,
    bound_sentence,
    coherence,
    cost,
    decide,
    knowledge,
    learned,
    more_ways,
    number,
    one_person,
    state,
    verdict,
    ways_by_size,
)

__all__ = ["custodian_report"]

_MOST_RISKS = 10
_MOST_SUPPRESSED = 20  # more are folded away
_MOST_FOLDED = 500  # more are left to edits.csv, which opens faster than such a page


def custodian_report(
    release: Release, *, before: Audit | None, curve: Curve | None = None, limits: Limits | None = None
) -> str:
    """A self-contained HTML page about a release, for the custodian only.

    Parameters
    ----------
    release : Release
    before : Audit or None
        The auditor's answer about the original; None: it was not asked.
    curve : mapping, optional
        p to what is lost at that p.
    limits : Limits, optional
        For what has to be counted; where they leave too little memory, the page has no charts.
    """
    promise = coherence(release.promise)
    original = release.original
    paid = cost(release, limits=limits)
    must_go = set(paid.must_go or ())
    support = dict(zip(original.names, original.supports.tolist(), strict=True))
    suppressed = sorted(release.suppressed, key=lambda name: (-support[name], name))
    return render(
        "custodian.html",
        limits,
        release=release,
        decision=decide(release),
        person=one_person(original),
        options=", ".join(f"{name}={_option(value)}" for name, value in release.options.items() if name != "chosen"),
        bound="" if release.bound is None else bound_sentence(release.bound),
        curve=curve_figure(curve) if curve else None,
        suppressed=[(name, support[name], name in must_go) for name in suppressed],
        most_rows=_MOST_SUPPRESSED,
        most_folded=_MOST_FOLDED,
        cost=paid,
        supports=_supports(release, promise.k),
        lengths=_lengths(release),
        before=before,
        risks=None if before is None else _risks(before, merged=original.persons is not None),
    )


def _option(value: object) -> str:
    if isinstance(value, Mapping):
        return f"for {number(len(value), 'item')}"
    return number(len(value), "item") if isinstance(value, tuple) else str(value)


def _supports(release: Release, k: int) -> Figure | None:
    before, after = release.original, release.data
    rare = int((before.supports[before.is_sensitive == 0] < k).sum())
    says = (
        f"{number(len(before.names), 'different item')} before, {len(after.names):,} after; "
        f"{rare:,} public {'item was' if rare == 1 else 'items were'} held by fewer than {k:,} transactions."
    )
    return support_figure({"before": before.supports, "after": after.supports}, ["before", "main"], k=k, says=says)


def _lengths(release: Release) -> Figure | None:
    before, after = release.original.lengths, release.data.lengths
    if not len(before):
        return None
    says = f"{len(release.original.items) / len(before):.1f} items on average before"
    if len(after):
        says += f", {len(release.data.items) / len(after):.1f} after"
    return length_figure({"before": before, "after": after}, ["before", "main"], says=f"{says}.")


def _risks(before: Audit, *, merged: bool) -> dict[str, object]:
    listed = before.witnesses[:_MOST_RISKS]
    return {
        "state": state(before),
        "verdict": verdict(before, merged=merged),
        "rows": [
            (
                knowledge(risk.itemset),
                f"{risk.support:,}",
                learned(risk, before.promise),
                _over(risk, before.promise),
            )
            for risk in listed
        ],
        "more": more_ways(before, len(listed)),
        "by_size": ways_figure(before.found_by_size, says=ways_by_size(before)) if before.found_by_size else None,
    }


def _over(risk: Witness, promise: Promise) -> str:
    """How many times a limit is exceeded: k / Sup(X), or Pr(s|X) / h, as the auditor orders them."""
    limit = coherence(promise)
    times = float(risk.confidence / limit.share if risk.confidence else Fraction(limit.k, max(1, risk.support)))
    return f"{times:,.2f}×" if times < 10 else f"{times:,.0f}×"
