"""What is said about hidden patterns and rules, and about a promise to hide that is itself kept secret.

These promises count transactions. Persons play no part in them, and nobody is called an attacker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.exact import percent
from veilset.models import Audit, HiddenPatterns, HiddenRules, Leftover, Margin, Sealed, Witness
from veilset.report.text import knowledge, number, quoted, shown
from veilset.report.words import Words

__all__ = ["HiddenPatternsWords", "HiddenRulesWords", "SealedWords"]


class _HidingWords(Words):
    """What the three have in common; see `veilset.report.words.Words`."""

    reason: ClassVar[str] = "pattern"
    ways: ClassVar[str] = ""
    extremes_known: ClassVar[bool] = True
    none_sensitive: ClassVar[str] = (
        "No item of this file was declared sensitive: it is patterns that are hidden, not items."
    )
    recount: ClassVar[str] = (
        "It compares the files with their checksums and reads the data again. Whether the patterns are hidden it can "
        "tell only where the custodian's part of the release is, which has the list; run there, it counts them anew, "
        "with code that shares nothing with the code that changed the data."
    )

    def why_gone(self, method: str, *, sensitive: bool, alone: bool) -> str:
        """Why an item is gone from all transactions."""
        return "all its transactions held a pattern that is hidden"


@dataclass(frozen=True)
class HiddenPatternsWords(_HidingWords):
    """See `veilset.report.words.Words`."""

    promise: HiddenPatterns

    title: ClassVar[str] = "Hidden patterns"
    heads: ClassVar[tuple[str, ...]] = ("Pattern that is found", "Transactions", "Found from")

    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer."""
        least, listed = self._least(audit), len(self.promise.patterns)
        if audit.holds:
            most = audit.margins.get("largest_support")
            none = "The listed pattern is not" if listed == 1 else f"None of the {listed:,} listed patterns is"
            here = "" if most is None else f" ({'' if listed == 1 else 'at most '}{most.value:,})"
            return f"{none} in as many as {number(least, 'transaction')} of this file{here}."
        if not audit.witnesses:
            return f"{_found_of(audit, listed, 'pattern')}."
        worst = audit.witnesses[0]
        held = f"{quoted(worst.itemset)} in {number(worst.support, 'transaction')}"
        return (
            f"{_found_of(audit, listed, 'pattern')}{_example(audit)} {held}, and {least:,} "
            f"{'makes' if least == 1 else 'make'} it found."
        )

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """The pattern, its transactions, and how many make it found."""
        return knowledge(witness.itemset), f"{witness.support:,}", f"{self._least(audit):,}"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times min_support it has."""
        return Fraction(witness.support, self._least(audit))

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """What each margin is, and what is allowed."""
        return {"largest_support": ("Most transactions that hold a listed pattern", f"below {self._least(audit):,}")}

    def met(self, margin: Margin) -> str:
        """A number of transactions."""
        return f"{margin.value:,}"

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """What each parameter means."""
        listed = number(len(self.promise.patterns), "pattern")
        found = "A pattern counts as found if so many transactions hold all its items."
        return [
            ("patterns", f"{len(self.promise.patterns):,}", f"{listed} must not be found."),
            ("min_support", _support(self.promise.min_support), found),
        ]

    def _least(self, audit: Audit) -> int:
        return self.promise.least_support(audit.transactions)


@dataclass(frozen=True)
class HiddenRulesWords(_HidingWords):
    """See `veilset.report.words.Words`."""

    promise: HiddenRules

    title: ClassVar[str] = "Hidden rules"
    reason: ClassVar[str] = "rule"
    heads: ClassVar[tuple[str, ...]] = ("Rule that is found", "Transactions", "How sure it is")

    def verdict(self, audit: Audit, taken: str) -> str:
        """The auditor's answer."""
        least, listed, sure = self._least(audit), len(self.promise.rules), percent(self.promise.min_confidence)
        if audit.holds:
            none = "The listed rule is not" if listed == 1 else f"None of the {listed:,} listed rules is"
            return f"{none} found in this file: {self._why_not(audit.leftovers, least, listed)}."
        if not audit.witnesses:
            return f"{_found_of(audit, listed, 'rule')}."
        worst = audit.witnesses[0]
        both, confidence, consequent = _rule_of(worst)
        rule = f"{quoted(worst.itemset)} → '{shown(consequent)}'"
        return (
            f"{_found_of(audit, listed, 'rule')}{_example(audit)} {rule} in {number(both, 'transaction')} and "
            f"{percent(confidence)} sure, and {least:,} and {sure} make it found."
        )

    def _why_not(self, leftovers: tuple[Leftover, ...], least: int, listed: int) -> str:
        """How many are too rare, and how many not sure enough."""
        sure = percent(self.promise.min_confidence)
        rare = [left.support for left in leftovers if left.support < least]
        unsure = [Fraction(left.support, left.antecedent_support or 1) for left in leftovers if left.support >= least]
        told = []
        if rare or not unsure:
            told.append(f"{_are(rare, listed)} in fewer than {number(least, 'transaction')}{_at_most(rare)}")
        if unsure:
            most = f" (at most {_below(max(unsure), self.promise.min_confidence)})"
            as_many = "in as many but" if told else f"in {number(least, 'transaction')} or more but"
            told.append(f"{_are(unsure, listed)} {as_many} less than {sure} sure{most}")
        return ", ".join(told)

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """The rule, the transactions with both sides, and how sure it is."""
        both, confidence, consequent = _rule_of(witness)
        return f"{knowledge(witness.itemset)} → {shown(consequent)}", f"{both:,}", percent(confidence)

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times min_confidence it has."""
        return _rule_of(witness)[1] / self.promise.min_confidence

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """What each margin is, and what is allowed."""
        least, sure = self._least(audit), percent(self.promise.min_confidence)
        return {
            "largest_support": (
                f"Most transactions with a listed rule that is {sure} sure or more",
                f"below {least:,}",
            ),
            "largest_confidence": (
                f"How sure a listed rule is that {number(least, 'transaction')} or more hold",
                f"below {sure}",
            ),
        }

    def met(self, margin: Margin) -> str:
        """A number of transactions, or how sure a rule is."""
        if isinstance(margin.value, int):
            return f"{margin.value:,}"
        return _below(margin.value, self.promise.min_confidence)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """What each parameter means."""
        promise = self.promise
        return [
            ("rules", f"{len(promise.rules):,}", f"{number(len(promise.rules), 'rule')} must not be found."),
            (
                "min_support",
                _support(promise.min_support),
                "A rule counts as found if so many transactions hold both its sides,",
            ),
            (
                "min_confidence",
                percent(promise.min_confidence),
                "and if they are this share of the transactions with its antecedent.",
            ),
        ]

    def _least(self, audit: Audit) -> int:
        return self.promise.least_support(audit.transactions)


@dataclass(frozen=True)
class SealedWords(_HidingWords):
    """See `veilset.report.words.Words`: nothing here says what is hidden, or below what support."""

    promise: Sealed

    title: ClassVar[str] = "A promise that is kept secret"
    heads: ClassVar[tuple[str, ...]] = ("Pattern", "Transactions", "")

    def verdict(self, audit: Audit, taken: str) -> str:
        """What the custodian says; whoever has the public part alone cannot tell."""
        one = self.promise.count == 1
        secret = f"{self.promise.hidden} that {'is' if one else 'are'} kept secret {'is' if one else 'are'}"
        if audit.holds:
            return f"{secret} hidden in this file; only the custodian can check that."
        return f"{secret} not hidden in this file as promised."

    def state(self, audit: Audit) -> str:
        """That it is sealed: whether it holds cannot be told from here."""
        return "SEALED" if audit.holds else super().state(audit)

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """No pattern is named."""
        return "(kept secret)", "", ""

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """It is not told by how much."""
        return Fraction(1)

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        """None is told."""
        return {}

    def met(self, margin: Margin) -> str:
        """None is told."""
        return ""

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        """What each parameter means."""
        promise, kind = self.promise, self.promise.hidden.split()[1]
        fewer = "is found less often" if promise.count == 1 else "are found less often"
        return [
            (
                "count",
                f"{promise.count:,}",
                f"{promise.hidden} that the custodian has listed {fewer} in this file than the custodian allows.",
            ),
            (
                "commitment",
                f"{promise.commitment[:12]}…",
                f"The custodian cannot exchange the listed {kind} for others later: the certificate has this keyed "
                "hash of the list and its limits. It says nothing without the custodian's key.",
            ),
        ]

    def how_checked(self, audit: Audit) -> str:
        """What the auditor did."""
        return (
            f"An auditor counted the {self.promise.hidden} in this file for the custodian. Nobody can repeat that "
            "without the list."
        )


def _found_of(audit: Audit, listed: int, what: str) -> str:
    if listed == 1:
        return f"The listed {what} is found"
    return f"{audit.found:,} of {number(listed, f'listed {what}')} {'is' if audit.found == 1 else 'are'} found"


def _example(audit: Audit) -> str:
    return ":" if audit.found == 1 else "; for example"


def _rule_of(witness: Witness) -> tuple[int, Fraction, str]:
    """How many transactions hold both sides of a rule, how sure it is, and its consequent."""
    assert witness.sensitive is not None and witness.confidence is not None  # noqa: S101 - its auditor sees to it
    return int(witness.confidence * witness.support), witness.confidence, witness.sensitive


def _are(some: list[int] | list[Fraction], listed: int) -> str:
    if len(some) == listed:
        return "it is" if listed == 1 else "all are"
    return f"{len(some):,} {'is' if len(some) == 1 else 'are'}"


def _at_most(supports: list[int]) -> str:
    return f" (at most {max(supports):,})" if supports else ""


def _below(share: Fraction, limit: Fraction) -> str:
    """A share below a limit; told exactly where, rounded up, it would look like the limit."""
    return str(share) if share < limit and percent(share) == percent(limit) else percent(share)


def _support(min_support: int | Fraction) -> str:
    """A number of transactions, or a share of them.

    >>> _support(88), _support(Fraction(1, 100))
    ('88 transactions', '1% of the transactions')
    """
    if isinstance(min_support, int):
        return number(min_support, "transaction")
    return f"{percent(min_support)} of the transactions"
