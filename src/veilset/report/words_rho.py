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
    of_sensitive: ClassVar[str] = "ρ"
    none_alone: ClassVar[str] = "no sensitive item is so common that anybody would be too sure of it"
    none_sensitive: ClassVar[str] = NONE_SENSITIVE

    def verdict(self, audit: Audit, taken: str) -> str:
        if audit.holds:
            surest = audit.margins.get("largest_confidence")
            if surest is None:
                return ""  # nothing is sensitive, which is said of every promise about sensitive items
            return (
                f"An attacker who knows any part of someone's transaction in this file{taken}, sensitive items "
                f"included, is less than {percent(self.promise.rho)} sure of any other particular sensitive item of "
                f"theirs (at most {self.met(surest)})."
            )
        found = f"{number(audit.found, 'sensitive item')} can be inferred"
        if not audit.witnesses:
            return f"{found}{taken}."
        worst = audit.witnesses[0]
        item, sure, holders = inferred(worst)
        known = quoted(worst.itemset) if worst.itemset else "nothing"
        return (
            f"{found}{':' if audit.found == 1 else '; for example,'} who knows {known} of someone{taken} is "
            f"{percent(sure)} ({holders:,} of {people(worst.support)}) sure of {quoted([item])}."
        )

    def learned(self, witness: Witness) -> str:
        item, sure, _ = inferred(witness)
        return f"{shown(item)}, {percent(sure)} sure"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times rho it is."""
        return inferred(witness)[1] / self.promise.rho

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        what = "How sure an attacker gets of one particular sensitive item"
        return {"largest_confidence": (what, f"less than {percent(self.promise.rho)}")}

    def met(self, margin: Margin) -> str:
        return below(Fraction(margin.value), self.promise.rho)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        below = percent(self.promise.rho)
        means = (
            "Whatever an attacker knows of a person, sensitive items included, they are less than "
            f"{below} sure of any other particular sensitive item."
        )
        return [("rho", below, means)]

    def why_alone(self, support: int, *, sensitive: bool) -> str:
        return "so many people have it that anybody would be too sure of it"

    def why_gone(self, item: str, witness: Witness) -> str:
        return told_by(item, witness, f"ρ = {percent(self.promise.rho)}")
