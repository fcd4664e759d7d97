"""What is said about (h,k,p)-coherence alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.audit import reach_of
from veilset.errors import said
from veilset.exact import percent
from veilset.models import NONE_SENSITIVE, Audit, Coherence, Margin, Reach, Witness
from veilset.report.text import number, people, quoted, rounded_up, shares, shown
from veilset.report.words import Words, at_least, partners, told_by
from veilset.transactions import Transactions

_USUAL_P = 4


@dataclass(frozen=True)
class CoherenceWords(Words):
    """See `veilset.report.words.Words`."""

    promise: Coherence

    title: ClassVar[str] = "(h,k,p)-coherence"
    may_be_recoded: ClassVar[bool] = True
    of_sensitive: ClassVar[str] = "h"
    none_alone: ClassVar[str] = "no item breaks the promise on its own"
    none_sensitive: ClassVar[str] = NONE_SENSITIVE

    def verdict(self, audit: Audit, taken: str) -> str:
        promise = self.promise
        if audit.holds:
            known = {None: "any number of published public items", 1: "one published public item"}.get(
                promise.p, f"up to {promise.p} published public items"
            )
            left = f"An attacker who knows {known} of someone in this file is left with at least {people(promise.k)}"
            return f"{left}{taken}.{self._sureness(audit)}"
        if not audit.feasible:
            why = self._breaks(audit.witnesses[0], taken)
            return f"Even an attacker who knows nothing breaks this promise: the file has {why}."
        violations = f"This promise can be broken in {at_least(audit)}{number(audit.found, 'way')}"
        if not audit.witnesses:
            return f"{violations}{taken}."
        worst = audit.witnesses[0]
        most_severe = "" if audit.found == 1 else " the most severe:"
        known, left = quoted(worst.itemset), self._breaks(worst, taken)
        return f"{violations};{most_severe} an attacker who knows that someone has {known} is left with {left}."

    def _sureness(self, audit: Audit) -> str:
        """How sure an attacker can become of sensitive items: what is promised of one, what was measured of any.

        The auditor starts from an attacker who knows nothing: without a margin, no sensitive item occurs.
        """
        promise = self.promise
        one, some = audit.margins.get("largest_breach"), audit.margins.get("largest_any_breach")
        if promise.h is None or one is None or some is None:
            return ""
        reached = f"{percent(Fraction(some.value))}{_or_more(some)}"
        of_some = f"Their confidence that the person has at least one reaches {reached}."
        here = f"{percent(Fraction(one.value))}{_or_more(one)}"
        if promise.h == 1:
            return f" Their confidence in one particular sensitive item reaches {here} (h=1 sets no limit). {of_some}"
        measured = f" ({here} in this file{rounded_up(Fraction(one.value))})"
        one_item = "any one particular sensitive item" + (" or group of them" if promise.sensitive_groups else "")
        return f" Their confidence in {one_item} is at most {percent(promise.h)}{measured}. {of_some}"

    def _breaks(self, witness: Witness, taken: str) -> str:
        left = f"{people(witness.support)}{taken}"
        if witness.sensitive is None or witness.confidence is None:
            return f"{left}, fewer than {self.promise.k:,}"
        holders = int(witness.confidence * witness.support)
        return (
            f"{left}, of whom {holders:,} ({percent(witness.confidence)}) {'has' if holders == 1 else 'have'} "
            f"{quoted([witness.sensitive])}, more than {percent(self.promise.share)}"
        )

    def learned(self, witness: Witness) -> str:
        if witness.sensitive is not None and witness.confidence is not None:
            return f"{shown(witness.sensitive)}, with {percent(witness.confidence)} confidence"
        if witness.support == 1:
            return "the person's identity"
        return f"that it is one of {witness.support:,} people, fewer than {self.promise.k:,}"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """k / Sup(X), or Pr(s|X) / h, as the auditor orders them."""
        if witness.confidence:
            return witness.confidence / self.promise.share
        return Fraction(self.promise.k, max(1, witness.support))

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        share = self.promise.share
        return {
            "smallest_support": ("Fewest people who match what an attacker knows", f"at least {self.promise.k:,}"),
            "largest_breach": (
                "Highest confidence in one particular sensitive item",
                "no limit" if share == 1 else f"at most {percent(share)}",
            ),
            "largest_any_breach": ("Highest confidence in at least one sensitive item", "no limit"),
        }

    def reach(self, reach: Reach) -> str:
        return reach_sentence(reach, self.promise.p)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        promise = self.promise
        known = "any number of public items" if promise.p is None else f"up to {number(promise.p, 'public item')}"
        rows = [
            (
                "p",
                "unlimited" if promise.p is None else f"{promise.p:,}",
                f"An attacker may know {known} of a person.",
            ),
            (
                "k",
                f"{promise.k:,}",
                f"If anyone in this file has all the items known, at least {promise.k:,} people do.",
            ),
        ]
        if promise.h is not None and sensitive:
            most = percent(promise.h)
            means = f"Of those people, at most {most} have any one particular sensitive item."
            none = "The attacker's confidence is not limited."
            rows.append(("h", most, means if promise.h < 1 else none))
        return rows

    def how_checked(self, audit: Audit) -> str:
        return f"An auditor counted {number(audit.checked, 'set')} of public items in this file to make sure."

    def rare(self, original: Transactions) -> str:
        """How many items fewer than k transactions hold."""
        k = self.promise.k
        rare = int((original.supports[original.is_sensitive == 0] < k).sum())
        return f"{rare:,} public {'item was' if rare == 1 else 'items were'} in fewer than {k:,} transactions"

    def why_alone(self, support: int, *, sensitive: bool) -> str:
        if sensitive or support >= self.promise.k:
            return super().why_alone(support, sensitive=sensitive)
        return f"on its own: {people(support)}, k = {self.promise.k:,}"

    def why_gone(self, item: str, witness: Witness) -> str:
        if witness.sensitive is None:
            return f"{partners(item, witness)}: {people(witness.support)}, k = {self.promise.k:,}"
        return told_by(item, witness, f"h = {percent(self.promise.share)}")

    @classmethod
    def suggestion(cls, missing: str, data: Transactions) -> str:
        """Which p the lengths of the transactions suggest."""
        reach = reach_of(data, _USUAL_P) if missing == "p" else None
        return "" if reach is None else f"Try {said('p', _USUAL_P)}. {reach_sentence(reach, _USUAL_P)}"


def reach_sentence(reach: Reach, p: int | None) -> str:
    """What the choice of p means for the people in the data, and which other p would mean more."""
    if reach.covered == 1:
        within = "p has no limit" if p is None else f"no transaction has more than p={p:,} public items"
        return f"Any knowledge of public items is covered: {within}."
    covered = shares(float(reach.covered))
    more = (
        [f"p={reach.p_for_90_percent:,} would cover 90%"]
        if p is not None and p < reach.p_for_90_percent < reach.p_for_all
        else []
    )
    more.append(f"p={reach.p_for_all:,} would cover all" if not more else f"p={reach.p_for_all:,} all")
    return (
        f"p={p:,} covers any knowledge of public items for {covered} of the transactions: those with at most "
        f"{number(p or 0, 'public item')}. {', '.join(more)}."
    )


def _or_more(margin: Margin) -> str:
    """What follows a share that may not be the largest."""
    return "" if margin.is_extreme else " or more"
