"""What the batteries have to know of (h,k,p)-coherence."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from veilset.models import Audit, Coherence, Witness
from veilset.release import Release
from veilset.run import certify
from veilset.testing import oracles
from veilset.testing.contract import Contract, as_named, as_sets
from veilset.transactions import Transactions


def _holds(data: Transactions, sensitive: Collection[str], promise: Coherence) -> bool:
    return oracles.is_coherent(as_sets(data), sensitive, promise.share, promise.k, promise.p)


def _possible(rows: Collection[frozenset[str]], sensitive: Collection[str], promise: Coherence) -> bool:
    return not oracles.empty_set_breaks(rows, sensitive, promise.share, promise.k)


def _check_findings(data: Transactions, promise: Coherence, answer: Audit) -> None:
    """All minimal moles, the most severe first; where even knowing nothing is too much, only some witness."""
    if not answer.feasible:
        assert answer.witnesses, "A broken promise needs a witness."
        return
    rows = as_sets(data)
    expected = oracles.minimal_moles(rows, data.sensitive, promise.share, promise.k, promise.p)
    assert {frozenset(w.itemset) for w in answer.witnesses} == expected, f"{answer.witnesses}\nis not {expected}"
    assert answer.found == len(expected), f"{answer.found} moles were found, not {len(expected)}."
    for size, count in enumerate(answer.found_by_size, start=1):
        assert count == sum(len(x) == size for x in expected), f"{count} is not the number of moles of size {size}."
    for witness in answer.witnesses:
        _check_witness(rows, promise, witness)
    excess = [_excess(promise, witness) for witness in answer.witnesses]
    assert excess == sorted(excess, reverse=True), "Witnesses are not in order of severity."
    if answer.holds:
        _check_margins(rows, data, promise, answer)


def _check_witness(rows: list[frozenset[str]], promise: Coherence, witness: Witness) -> None:
    itemset, support, sensitive, sure = witness.itemset, witness.support, witness.sensitive, witness.confidence
    assert support == oracles.support(rows, itemset), f"{itemset}: support {support} is wrong."
    if sensitive is None:
        assert support < promise.k, f"{itemset} is held by {support} and is no mole."
    else:
        assert sure == Fraction(oracles.support(rows, {*itemset, sensitive}), support), (
            f"{itemset} → {sensitive}: {sure} is wrong."
        )
        assert sure > promise.share, f"{itemset} → {sensitive}: {sure} is allowed."


def _excess(promise: Coherence, witness: Witness) -> Fraction:
    if witness.confidence is None:
        return Fraction(promise.k, witness.support)
    return witness.confidence / promise.share


def _check_margins(rows: list[frozenset[str]], data: Transactions, promise: Coherence, answer: Audit) -> None:
    """Exact when the promise holds: over all itemsets an attacker may know, the empty one included."""
    known = oracles.occurring(rows, data.sensitive, promise.p)
    if known:
        margin = answer.margins["smallest_support"]
        assert margin.value == min(oracles.support(rows, x) for x in known) == oracles.support(rows, margin.itemset)
    if not data.sensitive:
        return
    cohorts = [[row for row in rows if x <= row] for x in {frozenset(), *known}]
    for name, groups in (
        ("largest_breach", [{s} for s in data.sensitive]),
        ("largest_any_breach", [set(data.sensitive)]),
    ):
        worst = max(
            Fraction(sum(not row.isdisjoint(group) for row in cohort), len(cohort))
            for cohort in cohorts
            for group in groups
        )
        if worst:
            assert answer.margins[name].value == worst, f"{name}: {answer.margins[name]} is not {worst}"


def _check_release(release: Release, promise: Coherence) -> None:
    """Where single occurrences went: what the original says is counted, and true unless asked otherwise."""
    if release.kept is None:
        return
    answer = certify(release).in_original
    if answer is None:
        assert promise.share == 1 or not release.custodian_data.sensitive, "The original was not asked."
        return
    data, left = release.original, set(release.custodian_data.sensitive)
    before = [row - (set(data.sensitive) - left) for row in as_named(release)]
    broken = oracles.broken_in_original(before, as_sets(release.custodian_data), left, promise.share, promise.p)
    assert answer.broken == broken, f"{broken} itemsets are untrue, not {answer.broken}."
    assert release.options.get("truthful") is False or not broken, f"{broken} itemsets are untrue."


def _maximal(release: Release, promise: Coherence) -> bool:
    data = release.original
    if release.kept is not None:
        question = (data.sensitive, promise.share, promise.k, promise.p)
        before, after = as_named(release), as_sets(release.custodian_data)
        return not any(
            oracles.may_return(before, after, item, lambda rows: oracles.is_coherent(rows, *question))
            for item in {item for row in before for item in row}.difference(data.sensitive)
        )
    return oracles.is_maximal_cohesion(
        as_sets(data), release.suppressed, data.sensitive, promise.share, promise.k, promise.p
    )


COHERENCE = Contract(
    holds=_holds,
    possible=_possible,
    check_findings=_check_findings,
    sensitive_may_go=False,
    maximal=_maximal,
    check_release=_check_release,
)
