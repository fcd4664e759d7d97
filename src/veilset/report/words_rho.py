"""What is said about ρ-uncertainty alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.exact import percent
from veilset.models import NONE_SENSITIVE, Audit, Margin, RhoUncertainty, Witness
from veilset.report.text import below, number, people, quoted, shown
from veilset.report.words import Words, inferred, told_by


@dataclass(frozen=True)
class RhoUncertaintyWords(Words):
    """See `veilset.report.words.Words`."""

    promise: RhoUncertainty

    title: ClassVar[str] = "ρ-uncertainty"
    reason: ClassVar[str] = "sensitive item"
    of_sensitive: ClassVar[str] = "rho"
    none_alone: ClassVar[str] = "no sensitive item is common enough to break the promise on its own"
    none_sensitive: ClassVar[str] = NONE_SENSITIVE

    def verdict(self, audit: Audit, taken: str) -> str:
        if audit.holds:
            surest = audit.margins.get("largest_confidence")
            if surest is None:
                return ""  # nothing is sensitive, which is said of every promise about sensitive items
            most = f"at most {self.met(surest)}" if surest.is_extreme else f"{self.met(surest)} or more was found"
            return (
                f"An attacker may know any part of someone's transaction in this file{taken}, including sensitive "
                "items. Their confidence in any other particular sensitive item is below "
                f"{percent(self.promise.rho)} ({most})."
            )
        found = f"{number(audit.found, 'sensitive item')} can be inferred"
        if not audit.witnesses:
            return f"{found}{taken}."
        worst = audit.witnesses[0]
        item, sure, holders = inferred(worst)
        known = quoted(worst.itemset) if worst.itemset else "nothing"
        return (
            f"{found}{':' if audit.found == 1 else '; for example,'} an attacker who knows {known} of someone{taken} "
            f"has {percent(sure)} confidence in {quoted([item])} ({holders:,} of {people(worst.support)})."
        )

    def learned(self, witness: Witness) -> str:
        item, sure, _ = inferred(witness)
        return f"{shown(item)}, with {percent(sure)} confidence"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times rho it is."""
        return inferred(witness)[1] / self.promise.rho

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        what = "Highest confidence in one particular sensitive item"
        return {"largest_confidence": (what, f"less than {percent(self.promise.rho)}")}

    def met(self, margin: Margin) -> str:
        return below(Fraction(margin.value), self.promise.rho)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        below = percent(self.promise.rho)
        means = (
            "For anything an attacker knows of a person, including sensitive items, their confidence in any other "
            f"particular sensitive item is below {below}."
        )
        return [("rho", below, means)]

    def why_alone(self, support: int, *, sensitive: bool) -> str:
        return "too many people have it: rho is exceeded without any further knowledge"

    def why_gone(self, item: str, witness: Witness) -> str:
        return told_by(item, witness, f"rho = {percent(self.promise.rho)}")
