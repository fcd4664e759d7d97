"""What is said about hidden patterns and rules, and about a promise to hide that is itself kept secret.

These promises count transactions. Persons play no part in them, and nobody is called an attacker.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.exact import percent
from veilset.models import Audit, HiddenPatterns, HiddenRules, Margin, Sealed, Witness
from veilset.report.text import below, in_quotes, knowledge, number, quoted, shown
from veilset.report.words import Words, for_example, inferred


class _HidingWords(Words):
    """What the three have in common; see `veilset.report.words.Words`."""

    reason: ClassVar[str] = "pattern"
    violations: ClassVar[str] = ""
    extremes_known: ClassVar[bool] = True
    none_sensitive: ClassVar[str] = "No item in this file was declared sensitive: patterns are hidden, not items."
    recount: ClassVar[str] = (
        "It checks the files against their checksums and reads the data. Checking that the patterns are hidden needs "
        "the "
        "custodian's part of the release, which has the list. Run there, it counts them from scratch, with code that "
        "is "
        "independent of the code that changed the data."
    )

    none_explained: ClassVar[str] = "all its transactions contained a hidden pattern"


class _ListedWords(_HidingWords):
    """What is said where the list of patterns or rules is known."""

    def verdict(self, audit: Audit, taken: str) -> str:
        listed, what = self.promise.secrets, f"listed {self.reason}"
        if audit.holds:
            none = f"The {what} is not" if listed == 1 else f"None of the {listed:,} {what}s is"
            return f"{none} discoverable in this file: {self._hidden(audit)}."
        found = f"{audit.found:,} of {number(listed, what)} {'is' if audit.found == 1 else 'are'} discoverable"
        if listed == 1:
            found = f"The {what} is discoverable"
        return f"{found}{for_example(audit)} {self._found(audit)}." if audit.witnesses else f"{found}."

    @abstractmethod
    def _hidden(self, audit: Audit) -> str:
        """How rare all of them are, where none is found."""

    @abstractmethod
    def _found(self, audit: Audit) -> str:
        """The worst of those that are found, and what makes it found."""

    def _least(self, audit: Audit) -> int:
        asked = self.promise.min_support  # as it is, even if it is more than all transactions
        return asked if isinstance(asked, int) else self.promise.least_support(audit.transactions)


@dataclass(frozen=True)
class HiddenPatternsWords(_ListedWords):
    """See `veilset.report.words.Words`."""

    promise: HiddenPatterns

    title: ClassVar[str] = "Hidden patterns"
    heads: ClassVar[tuple[str, ...]] = ("Discoverable pattern", "Transactions", "Discoverable from")

    def _hidden(self, audit: Audit) -> str:
        most, one = audit.margins.get("largest_support"), self.promise.secrets == 1
        here = "" if most is None else f" ({'' if one else 'at most '}{most.value:,})"
        return f"{'it' if one else 'each'} is in fewer than {number(self._least(audit), 'transaction')}{here}"

    def _found(self, audit: Audit) -> str:
        worst, least = audit.witnesses[0], self._least(audit)
        held = f"{quoted(worst.itemset)} in {number(worst.support, 'transaction')}"
        return f"{held}, discoverable from {least:,}"

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """The pattern, its transactions, and how many make it found."""
        return knowledge(witness.itemset), f"{witness.support:,}", f"{self._least(audit):,}"

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times min_support it has."""
        return Fraction(witness.support, self._least(audit))

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        return {"largest_support": ("Highest support of a listed pattern", f"below {self._least(audit):,}")}

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        promise = self.promise
        found = "A pattern counts as discoverable if at least this many transactions contain all its items."
        return [
            ("patterns", f"{promise.secrets:,}", f"{number(promise.secrets, 'pattern')} must not be discoverable."),
            ("min_support", _support(promise.min_support), found),
        ]


@dataclass(frozen=True)
class HiddenRulesWords(_ListedWords):
    """See `veilset.report.words.Words`."""

    promise: HiddenRules

    title: ClassVar[str] = "Hidden rules"
    reason: ClassVar[str] = "rule"
    heads: ClassVar[tuple[str, ...]] = ("Discoverable rule", "Transactions", "Confidence")

    def _found(self, audit: Audit) -> str:
        worst, least, sure = audit.witnesses[0], self._least(audit), percent(self.promise.min_confidence)
        consequent, confidence, both = inferred(worst)
        rule = f"{quoted(worst.itemset)} → {in_quotes(consequent)} in {number(both, 'transaction')}"
        return f"{rule} with {percent(confidence)} confidence, discoverable from {least:,} with {sure}"

    def _hidden(self, audit: Audit) -> str:
        """How many are too rare, and how many not sure enough."""
        least, listed, sure = self._least(audit), self.promise.secrets, percent(self.promise.min_confidence)
        rare = [left.support for left in audit.leftovers if left.support < least]
        frequent = [left for left in audit.leftovers if left.support >= least]
        unsure = [Fraction(left.support, left.antecedent_support or 1) for left in frequent]
        told = []
        if rare or not unsure:
            most = f" (at most {max(rare):,})" if rare else ""
            told.append(f"{_are(rare, listed)} in fewer than {number(least, 'transaction')}{most}")
        if unsure:
            most = f" (at most {below(max(unsure), self.promise.min_confidence)})"
            as_many = "in as many but" if told else f"in {number(least, 'transaction')} or more but"
            told.append(f"{_are(unsure, listed)} {as_many} with less than {sure} confidence{most}")
        return ", ".join(told)

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """The rule, the transactions with both sides, and how sure it is."""
        consequent, confidence, both = inferred(witness)
        return f"{knowledge(witness.itemset)} → {shown(consequent)}", f"{both:,}", percent(confidence)

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times min_confidence it has."""
        return inferred(witness)[1] / self.promise.min_confidence

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        least, sure = self._least(audit), percent(self.promise.min_confidence)
        held = number(least, "transaction")
        return {
            "largest_support": (
                f"Highest support of a listed rule with at least {sure} confidence",
                f"below {least:,}",
            ),
            "largest_confidence": (f"Highest confidence of a listed rule in {held} or more", f"below {sure}"),
        }

    def met(self, margin: Margin) -> str:
        """A number of transactions, or how sure a rule is."""
        if isinstance(margin.value, int):
            return super().met(margin)
        return below(margin.value, self.promise.min_confidence)

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        promise = self.promise
        found = "A rule counts as discoverable if at least this many transactions contain both its sides,"
        sure = "and these are at least this share of the transactions with its antecedent."
        return [
            ("rules", f"{promise.secrets:,}", f"{number(promise.secrets, 'rule')} must not be discoverable."),
            ("min_support", _support(promise.min_support), found),
            ("min_confidence", percent(promise.min_confidence), sure),
        ]


@dataclass(frozen=True)
class SealedWords(_HidingWords):
    """See `veilset.report.words.Words`: nothing here says what is hidden, or below what support."""

    promise: Sealed

    title: ClassVar[str] = "Secret promise"
    heads: ClassVar[tuple[str, ...]] = ("Pattern", "Transactions", "")

    def verdict(self, audit: Audit, taken: str) -> str:
        """What the custodian says; whoever has the public part alone cannot tell."""
        count, kind = self.promise.hidden.split()
        secret = f"{count} secret {kind} {'is' if self.promise.count == 1 else 'are'}"
        if audit.holds:
            return f"{secret} hidden in this file. Only the custodian can check that."
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

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        promise, kind = self.promise, self.promise.hidden.split()[1]
        stay = "stays" if promise.count == 1 else "stay"
        return [
            (
                "count",
                f"{promise.count:,}",
                f"In this file, {promise.hidden} listed by the custodian {stay} below the custodian's limits.",
            ),
            (
                "commitment",
                f"{promise.commitment[:12]}…",
                f"The custodian cannot replace the listed {kind} later: the certificate has this keyed "
                "hash of the list and its limits. It reveals nothing without the custodian's key.",
            ),
        ]

    def how_checked(self, audit: Audit) -> str:
        return (
            f"An auditor counted the {self.promise.hidden} in this file for the custodian. Nobody can repeat that "
            "without the list."
        )


def _are(some: list[int] | list[Fraction], listed: int) -> str:
    if len(some) == listed:
        return "it is" if listed == 1 else "all are"
    return f"{len(some):,} {'is' if len(some) == 1 else 'are'}"


def _support(min_support: int | Fraction) -> str:
    """A number of transactions, or a share of them.

    >>> _support(88), _support(Fraction(1, 100))
    ('88 transactions', '1% of the transactions')
    """
    if isinstance(min_support, int):
        return number(min_support, "transaction")
    return f"{percent(min_support)} of the transactions"
