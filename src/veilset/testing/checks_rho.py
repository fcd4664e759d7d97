"""What the batteries have to know of ρ-uncertainty."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from veilset.models import Audit, RhoUncertainty, Witness
from veilset.release import Release
from veilset.run import certify
from veilset.testing import oracles
from veilset.testing.contract import Contract, as_named, as_sets
from veilset.transactions import Transactions


def _holds(data: Transactions, sensitive: Collection[str], promise: RhoUncertainty) -> bool:
    return oracles.is_rho_uncertain(as_sets(data), sensitive, promise.rho)


def _check_findings(data: Transactions, promise: RhoUncertainty, answer: Audit) -> None:
    """One violating rule for each sensitive item that has any, the most severe first."""
    rules = oracles.sensitive_rules(as_sets(data), data.sensitive)
    broken = oracles.rho_violations(as_sets(data), data.sensitive, promise.rho)
    inferred = {s for _, s in broken}
    named = [w.sensitive for w in answer.witnesses]
    assert set(named) == inferred, f"{answer.witnesses}\ndo not tell of {inferred}"
    assert answer.found == len(named) == len(inferred), f"{answer.found} is not the number of {inferred}"
    for witness in answer.witnesses:
        _check_witness(data, broken, witness)
    severity = [_severity(data, witness) for witness in answer.witnesses]
    assert severity == sorted(severity), "Witnesses are not in order of severity."
    if broken or not rules:
        assert answer.margins == {}, f"There are no margins, not {answer.margins}"
    else:
        margin, worst = answer.margins["largest_confidence"], max(Fraction(*count) for count in rules.values())
        assert margin.value == worst, f"largest_confidence: {margin} is not {worst}"
        there = rules.get((frozenset(margin.itemset), margin.sensitive or ""))
        assert there is not None and worst == Fraction(*there), f"{margin} is not where that is met."
    assert (answer.found_by_size, answer.reach) == ((), None), "Sizes and reach say nothing here."


def _check_witness(
    data: Transactions, broken: dict[tuple[frozenset[str], str], tuple[int, int]], witness: Witness
) -> None:
    """It is a violating rule with the right numbers, and nobody has to know as much as all of it."""
    known, sensitive = frozenset(witness.itemset), witness.sensitive or ""
    assert (known, sensitive) in broken, f"{witness} is allowed."
    together, held = broken[known, sensitive]
    assert witness.support == held, f"{witness}: support {witness.support} is wrong."
    assert witness.confidence == Fraction(together, held), f"{witness}: {witness.confidence} is wrong."
    assert witness.itemset == data.in_order(known), f"{witness} is not in the order of the vocabulary."
    shorter = [(known - {item}, sensitive) for item in known if len(known) > 1]
    assert not any(rule in broken for rule in shorter), f"{witness} holds more than is needed."


def _severity(data: Transactions, witness: Witness) -> tuple[Fraction, Fraction, int, list[int]]:
    """Surer first, then more often, then by less, then in the order of the vocabulary."""
    sure = witness.confidence or Fraction(0)
    return -sure, -sure * witness.support, len(witness.itemset), data.codes(witness.itemset).tolist()


def _check_release(release: Release, promise: RhoUncertainty) -> None:
    """Where single occurrences went: what the original says is counted, and true unless asked otherwise."""
    if release.kept is None or not release.custodian_data.sensitive:
        return
    answer = certify(release).in_original
    assert answer is not None, "The original was not asked."
    before, after = as_named(release), as_sets(release.custodian_data)
    broken = oracles.rules_broken_in_original(before, after, release.original.sensitive, promise.rho)
    assert answer.broken == broken, f"{broken} rules are untrue, not {answer.broken}."
    assert release.options.get("truthful") is False or not broken, f"{broken} rules are untrue."


def _maximal(release: Release, promise: RhoUncertainty) -> bool:
    """Under its own name, next to what is released; not where a group stands for it, or its proof was too dear."""
    grouped = {item for items in release.stands_for.values() for item in items}
    gone, withheld = frozenset(release.suppressed), set(release.withheld)
    rows = [row for number, row in enumerate(as_sets(release.original)) if number not in withheld]

    def holds_with(item: str) -> bool:
        kept = ([i for i in row if i == item or i not in gone] for row in rows)
        released = [frozenset(release.generalized.get(i, i) for i in row) for row in kept]
        return oracles.is_rho_uncertain(released, release.original.sensitive, promise.rho)

    return not any(holds_with(item) for item in gone.difference(grouped, release.undecided))


RHO_UNCERTAINTY = Contract(
    holds=_holds,
    check_findings=_check_findings,
    sensitive_may_go=True,
    maximal=_maximal,
    check_release=_check_release,
)
