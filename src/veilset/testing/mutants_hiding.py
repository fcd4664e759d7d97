"""Broken on purpose, like `mutants`: methods for hidden patterns and rules.

The auditor must reject what they make, or the account of their edits must.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable

import numpy as np

from veilset.models import HiddenPatterns, HiddenRules
from veilset.release import Release
from veilset.testing.mutants import Mutant
from veilset.transactions import Transactions


class _Hiding:
    """Takes occurrences out one by one."""

    def __init__(self, data: Transactions, promise: HiddenPatterns | HiddenRules) -> None:
        self.data, self.promise = data, promise
        self.least = promise.least_support(len(data))
        self.rows = [set(row) for row in data]
        self.taken: list[tuple[int, str]] = []

    def support(self, itemset: Collection[str]) -> int:
        return sum(row.issuperset(itemset) for row in self.rows)

    def take_one(self, itemset: Collection[str], victim: str) -> None:
        """Take the victim out of the first transaction that holds the whole itemset."""
        row = next(number for number, items in enumerate(self.rows) if items.issuperset(itemset))
        self.rows[row].discard(victim)
        self.taken.append((row, victim))

    def hide_rule(self, known: tuple[str, ...], inferred: tuple[str, ...]) -> bool:
        """Take the rule's first consequent out until it is not found; whether there was anything to do."""
        assert isinstance(self.promise, HiddenRules)
        both, before = (*known, *inferred), len(self.taken)
        while (together := self.support(both)) >= self.least and (
            together >= self.promise.min_confidence * self.support(known)
        ):
            self.take_one(both, inferred[0])
        return len(self.taken) > before

    def release(self) -> Release:
        there = [item in left for row, left in zip(self.data, self.rows, strict=True) for item in row]
        kept = np.array(there, dtype=np.bool_)
        left = self.data.thinned(kept)
        gone = set(self.data.names).difference(left.names)
        return Release(self.data, left, self.promise, "mutant", {}, self.data.in_order(gone), kept=kept)


def hiding_unbroken(data: Transactions, promise: HiddenPatterns | HiddenRules) -> Release:
    """The method that the mutants for hiding are made from."""
    if isinstance(promise, HiddenPatterns):
        return _hide(data, promise, promise.patterns, lambda hiding, pattern: hiding.support(pattern) >= hiding.least)
    hiding = _Hiding(data, promise)
    while any(hiding.hide_rule(*rule) for rule in promise.rules):
        pass  # what one rule takes out may bring another back
    return hiding.release()


def _hide(
    data: Transactions,
    promise: HiddenPatterns,
    patterns: Iterable[tuple[str, ...]],
    is_found: Callable[[_Hiding, tuple[str, ...]], bool],
) -> Release:
    """Take the first item of each pattern out of one transaction after the other."""
    hiding = _Hiding(data, promise)
    for pattern in patterns:
        while is_found(hiding, pattern):
            hiding.take_one(pattern, pattern[0])
    return hiding.release()


def _reaches_min_support(data: Transactions, promise: HiddenPatterns) -> Release:
    return _hide(data, promise, promise.patterns, lambda hiding, pattern: hiding.support(pattern) > hiding.least)


def _hides_the_first(data: Transactions, promise: HiddenPatterns) -> Release:
    only = promise.patterns[:1]
    return _hide(data, promise, only, lambda hiding, pattern: hiding.support(pattern) >= hiding.least)


def _counts_on_the_original(data: Transactions, promise: HiddenPatterns) -> Release:
    """Subtracts what it took out of transactions that once held the pattern, twice where that was two items of it."""
    before = [set(row) for row in data]

    def is_found(hiding: _Hiding, pattern: tuple[str, ...]) -> bool:
        held = sum(row.issuperset(pattern) for row in before)
        less = sum(item in pattern and before[row].issuperset(pattern) for row, item in hiding.taken)
        return held - less >= hiding.least

    return _hide(data, promise, promise.patterns, is_found)


def _never_looks_back(data: Transactions, promise: HiddenRules) -> Release:
    """Leaves a rule when it is no longer sure, and does not see that what goes later makes it sure again."""
    hiding = _Hiding(data, promise)
    for rule in promise.rules:
        hiding.hide_rule(*rule)
    return hiding.release()


def _adds_elsewhere(data: Transactions, promise: HiddenPatterns) -> Release:
    """Moves what it takes out to transactions where it does no harm, so that no item gets rarer."""
    release = hiding_unbroken(data, promise)
    rows = [set(row) for row in release.custodian_data]
    for item in data.names:
        missing = int(data.supports[data.codes([item])[0]]) - sum(item in row for row in rows)
        for row in rows:
            if missing and item not in row and not any(row | {item} >= set(p) for p in promise.patterns):
                row.add(item)
                missing -= 1
    return dataclasses.replace(release, custodian_data=Transactions.from_lists(rows, sensitive=data.sensitive))


_DRINKS = Transactions.from_lists(
    [*([["ale", "nuts"]] * 3), *([["ale", "bun", "nuts", "oil"]] * 3), *([["ale", "bun"]] * 2), ["tea"], ["oil"]]
)
_TWO = HiddenPatterns([["ale", "nuts"], ["bun", "oil"], ["ale", "bun"]], min_support=2)

HIDING_MUTANTS: tuple[Mutant, ...] = (
    Mutant("reaches exactly min_support", _reaches_min_support, _DRINKS, _TWO),
    Mutant("hides only the first pattern", _hides_the_first, _DRINKS, _TWO),
    Mutant("counts support on the original", _counts_on_the_original, _DRINKS, _TWO),
    Mutant(
        "checks a rule's confidence only when it deletes",
        _never_looks_back,
        # fig → oil: 2 of 5 at first, and 2 of 3 once figs have gone from transactions with tea, for the second rule
        Transactions.from_lists([["fig", "oil"], ["fig", "oil"], *([["fig", "tea"]] * 3)]),
        HiddenRules([("fig", "oil"), ("tea", "fig")], min_support=2, min_confidence="1/2"),
    ),
    Mutant("adds items elsewhere", _adds_elsewhere, _DRINKS, _TWO, "account"),
)
