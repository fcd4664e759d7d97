"""What the batteries have to know of hidden patterns and hidden rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from veilset.models import Audit, HiddenPatterns, HiddenRules, Margin, Witness
from veilset.release import Release
from veilset.testing import oracles
from veilset.testing.contract import Contract, as_sets
from veilset.transactions import Transactions

_Rows = Collection[frozenset[str]]


def _patterns_hold(data: Transactions, sensitive: Collection[str], promise: HiddenPatterns) -> bool:
    return oracles.hidden_patterns_hold(as_sets(data), promise.patterns, promise.least_support(len(data)))


def _rules_hold(data: Transactions, sensitive: Collection[str], promise: HiddenRules) -> bool:
    least = promise.least_support(len(data))
    return oracles.hidden_rules_hold(as_sets(data), promise.rules, least, promise.min_confidence)


def _check_patterns(data: Transactions, promise: HiddenPatterns, answer: Audit) -> None:
    """All patterns that are found, the most frequent first, and what is left of each."""
    rows, least = as_sets(data), promise.least_support(len(data))
    supports = {pattern: oracles.support(rows, pattern) for pattern in promise.patterns}
    found = sorted((pattern for pattern in supports if supports[pattern] >= least), key=lambda x: -supports[x])
    _check_witnesses([(pattern, supports[pattern], None, None) for pattern in found], answer)
    most = max(promise.patterns, key=lambda pattern: supports[pattern])
    _check_margins({"largest_support": Margin(supports[most], most)}, answer)
    _check_leftovers(rows, promise, [None] * len(promise.patterns), answer)


def _check_rules(data: Transactions, promise: HiddenRules, answer: Audit) -> None:
    """All rules that are found, the surest first and then the most frequent, and what is left of each."""
    rows, least = as_sets(data), promise.least_support(len(data))
    frequent, sure, found = [], [], []
    for known, inferred in promise.rules:
        together, held = oracles.support(rows, {*known, *inferred}), oracles.support(rows, known)
        confidence = Fraction(together, held) if held else Fraction(0)
        told = (known, " + ".join(inferred), together, held, confidence)
        frequent += [told] if together >= least else []
        sure += [told] if confidence >= promise.min_confidence else []
        found += [told] if together >= least and confidence >= promise.min_confidence else []
    found.sort(key=lambda rule: (-rule[4], -rule[2]))
    _check_witnesses([(known, held, name, confidence) for known, name, _, held, confidence in found], answer)
    margins = {}
    if sure:
        known, name, together, _, _ = max(sure, key=lambda rule: rule[2])
        margins["largest_support"] = Margin(together, known, name)
    if frequent:
        known, name, _, _, confidence = max(frequent, key=lambda rule: rule[4])
        margins["largest_confidence"] = Margin(confidence, known, name)
    _check_margins(margins, answer)
    _check_leftovers(rows, promise, [known for known, _ in promise.rules], answer)


_Told = tuple[tuple[str, ...], int, str | None, Fraction | None]


def _check_witnesses(expected: list[_Told], answer: Audit) -> None:
    def told(witness: Witness) -> _Told:
        return witness.itemset, witness.support, witness.sensitive, witness.confidence

    assert [told(witness) for witness in answer.witnesses] == expected, f"{answer.witnesses}\nare not {expected}"
    assert answer.found == len(expected), f"{answer.found} are found, not {len(expected)}."
    assert (answer.found_by_size, answer.reach) == ((), None), "Sizes and reach say nothing here."


def _check_margins(expected: dict[str, Margin], answer: Audit) -> None:
    assert answer.margins == expected, f"{answer.margins} are not the margins {expected}"


def _check_leftovers(
    rows: list[frozenset[str]],
    promise: HiddenPatterns | HiddenRules,
    antecedents: list[tuple[str, ...]] | list[None],
    answer: Audit,
) -> None:
    least = promise.least_support(len(rows))
    assert [one.itemset for one in answer.leftovers] == [*promise.itemsets], "Leftovers are not in the promise's order."
    for one, known in zip(answer.leftovers, antecedents, strict=True):
        assert one.support == oracles.support(rows, one.itemset), f"{one}: support {one.support} is wrong."
        held = None if known is None else oracles.support(rows, known)
        assert one.antecedent_support == held, f"{one}: the antecedent is held by {held}."
        largest = oracles.largest_left(rows, one.itemset, least)
        listed = {frozenset(part): count for part, count in one.largest}
        right = listed == largest if one.complete else listed.items() <= largest.items()
        assert right, f"{one}: largest is not {largest}"


def _check_release(release: Release, promise: HiddenPatterns | HiddenRules) -> None:
    """Occurrences go, and nothing else happens: so nothing is found that was not found before."""
    before, after = as_sets(release.original), as_sets(release.custodian_data)
    least = promise.least_support(len(before))
    new = oracles.frequent(after, least) - oracles.frequent(before, least)
    assert not new, f"{new} were not found before."
    assert all(now <= row for row, now in _pairs(release)), "A transaction holds what it did not hold."
    gone = set(release.original.names).difference(release.custodian_data.names)
    assert set(release.suppressed) == gone, f"{release.suppressed} are not the items that are gone, {gone}."


def _maximal(holds: Callable[[_Rows, Release, Any], bool]) -> Callable[[Release, Any], bool]:
    """No occurrence could return by itself; where levels were drawn for patterns or rules, below these."""
    return lambda release, promise: not any(holds(rows, release, promise) for rows in _with_one_back(release))


def _pairs(release: Release) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Each released transaction as it was, and as it is."""
    withheld = set(release.withheld)
    before = [row for number, row in enumerate(as_sets(release.original)) if number not in withheld]
    return list(zip(before, as_sets(release.custodian_data), strict=True))


def _with_one_back(release: Release) -> Iterator[list[frozenset[str]]]:
    after = as_sets(release.custodian_data)
    for number, (row, now) in enumerate(_pairs(release)):
        for item in row - now:
            yield [*after[:number], now | {item}, *after[number + 1 :]]


def _levels(release: Release, count: int) -> tuple[Fraction, ...]:
    drawn = release.sanitization.levels if release.sanitization else ()
    return drawn or (Fraction(1),) * count


def _below_levels(rows: _Rows, release: Release, promise: HiddenPatterns) -> bool:
    least = promise.least_support(len(rows))
    listed = zip(promise.patterns, _levels(release, len(promise.patterns)), strict=True)
    return all(oracles.support(rows, pattern) < level * least for pattern, level in listed)


def _rules_below_levels(rows: _Rows, release: Release, promise: HiddenRules) -> bool:
    least = promise.least_support(len(rows))
    for (known, inferred), level in zip(promise.rules, _levels(release, len(promise.rules)), strict=True):
        together, held = oracles.support(rows, {*known, *inferred}), oracles.support(rows, known)
        if together >= level * least and together >= level * promise.min_confidence * held:
            return False
    return True


HIDDEN_PATTERNS = Contract(
    holds=_patterns_hold,
    check_findings=_check_patterns,
    sensitive_may_go=True,
    maximal=_maximal(_below_levels),
    check_release=_check_release,
)

HIDDEN_RULES = replace(
    HIDDEN_PATTERNS, holds=_rules_hold, check_findings=_check_rules, maximal=_maximal(_rules_below_levels)
)
