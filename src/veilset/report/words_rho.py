"""What is said about ρ-uncertainty alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.exact import percent
from veilset.models import Audit, Margin, RhoUncertainty, Witness
from veilset.report.text import number, people, quoted, shown
from veilset.report.words import Words

__all__ = ["RhoUncertaintyWords"]


@dataclass(frozen=True)
class RhoUncertaintyWords(Words):
    """See `veilset.report.words.Words`."""

    promise: RhoUncertainty

    title: ClassVar[str] = "ρ-uncertainty"
    reason: ClassVar[str] = "sensitive item"
    none_alone: ClassVar[str] = "no sensitive item is so common that anybody would be too sure of it"
    none_sensitive: ClassVar[str] = "No item of this file is declared sensitive: all were removed, or none was named."

    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer."""
        if audit.holds:
            surest = audit.margins.get("largest_confidence")
            if surest is None:
                return self.none_sensitive
            return (
                f"An attacker who knows any part of someone's transaction in this file{taken}, sensitive items "
                f"included, is less than {percent(self.promise.rho)} sure of any other particular sensitive item of "
                f"theirs (at most {self.met(surest)})."
            )
        inferred = f"{number(audit.found, 'sensitive item')} can be inferred"
        if not audit.witnesses:
            return f"{inferred}{taken}."
        worst = audit.witnesses[0]
        item, sure = _inferred(worst)
        known = quoted(worst.itemset) if worst.itemset else "nothing"
        holders = f"{int(sure * worst.support):,} of {people(worst.support)}"
        return (
            f"{inferred}{':' if audit.found == 1 else '; for example,'} who knows {known} of someone{taken} is "
            f"{percent(sure)} ({holders}) sure of {quoted([item])}."
        )

    def learned(self, witness: Witness) -> str:
        """What an attacker learns."""
        item, sure = _inferred(witness)
        return f"{shown(item)}, {percent(sure)} sure"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times rho it is."""
        return _inferred(witness)[1] / self.promise.rho

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """What each margin is, and what is allowed."""
        what = "How sure an attacker gets of one particular sensitive item"
        return {"largest_confidence": (what, f"less than {percent(self.promise.rho)}")}

    def met(self, margin: Margin) -> str:
        """A certainty that, rounded up, would look like the limit is told exactly."""
        sure = Fraction(margin.value)
        alike = sure < self.promise.rho and percent(sure) == percent(self.promise.rho)
        return str(sure) if alike else percent(sure)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """What each parameter means."""
        below = percent(self.promise.rho)
        means = (
            "Whatever an attacker knows of a person, sensitive items included, they are less than "
            f"{below} sure of any other particular sensitive item."
        )
        return [("rho", below, means)]

    def why_gone(self, method: str, *, sensitive: bool, alone: bool) -> str:
        """Why an item was suppressed."""
        if alone:
            return "so many people have it that anybody would be too sure of it"
        if sensitive and method == "remove-sensitive":
            return "sensitive: the method removes all that is"
        return super().why_gone(method, sensitive=sensitive, alone=alone)


def _inferred(witness: Witness) -> tuple[str, Fraction]:
    """Which sensitive item an attacker infers, and how surely."""
    assert witness.sensitive is not None and witness.confidence is not None  # noqa: S101 - its auditor sees to it
    return witness.sensitive, witness.confidence
