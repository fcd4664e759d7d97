"""What is said about l-diverse anatomies alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from veilset.limits import Limits
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.report.anatomy import Cut, cut_of
from veilset.report.text import SHORT, braced, fraction, number, shares
from veilset.report.words import Words, for_example
from veilset.transactions import Transactions
from veilset.views import visible


@dataclass(frozen=True)
class LDiverseAnatomyWords(Words):
    """See `veilset.report.words.Words`."""

    promise: LDiverseAnatomy

    title: ClassVar[str] = "l-diverse anatomy"
    reason: ClassVar[str] = "group"
    violations: ClassVar[str] = ""
    counted: ClassVar[str] = "group of values"
    heads: ClassVar[tuple[str, ...]] = ("Bucket", "Column", "What is too probable", "Probability")
    extremes_known: ClassVar[bool] = True
    none_sensitive: ClassVar[str] = (
        "No item in this file is declared sensitive. The release does not say which items of different columns "
        "belong together."
    )
    recount: ClassVar[str] = (
        "It compares the files with their checksums, checks that both files agree, and recounts every bucket and "
        "column with independent code."
    )

    def verdict(self, audit: Audit, taken: str) -> str:
        if audit.holds:
            return self._holds(audit, taken)
        if published_whole(audit):
            whole = f"If these transactions are published as they are{taken}"
            return f"{whole}, anyone who knows some of a person's items may find the rest."
        if audit.witnesses and audit.witnesses[0].bucket is None:  # it is not a value that breaks it first
            broken = f"{number(audit.found, 'reason')} against it{taken}"
        else:
            groups = f"{audit.found:,} of {number(audit.checked, 'group')} of values (one for each bucket and column)"
            broken = f"In {groups} something is too probable{taken}"
        if not audit.witnesses:
            return f"{broken}."
        worst = audit.witnesses[0]
        value = f"{braced(worst.itemset)}: " if worst.itemset and not _stands_for_any(worst) else ""
        return f"{broken}{for_example(audit)} {value}{visible(worst.reason)}."

    def _holds(self, audit: Audit, taken: str) -> str:
        value, sensitive = (audit.margins.get(f"largest_{name}") for name in ("probability", "sensitive_share"))
        if value is None and sensitive is None:
            return "There are no transactions in this file."
        limit, told = fraction(1 / self.promise.l), []
        if value is not None:
            of_some = " of a person with items in the column" if self.promise.empty == "free" else ""
            told += [
                f"no value{' of a public column' * (sensitive is not None)}{of_some} has a probability above {limit}",
                f"The most probable has {self._met_in(value)}",
            ]
        if sensitive is not None:
            the = "The" if told else "the"
            told.append(f"{the} probability of having any sensitive item is at most {limit}")
            told.append(f"The highest is {self._met_in(sensitive)}")
            told.append("That a person has none may be certain")
        groups = f"{number(audit.checked, 'group')} of values (one for each bucket and column)"
        told[0] = f"In {groups}, {told[0]} if all arrangements without an empty transaction are equally likely{taken}"
        return ". ".join(told) + "."

    def _met_in(self, margin: Margin) -> str:
        return f"{self.met(margin)} (bucket {margin.bucket:,})"

    def measured(self, cost: float) -> str:
        """Smaller buckets tell more of which values belong together."""
        return f"{cost:,.1f} transactions in a bucket on average"

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """Where something is too probable, what it is, and its probability."""
        bucket = "all" if witness.bucket is None else f"{witness.bucket:,}"
        share = "–" if witness.confidence is None else fraction(witness.confidence)
        column = braced(witness.column) if witness.column else "all items"
        return bucket, column, _value(witness), share

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times the allowed probability it has; what is wrong without one has all of it."""
        return (Fraction(1) if witness.confidence is None else witness.confidence) * self.promise.l

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        limit = fraction(1 / self.promise.l)
        allowed, no_limit = f"at most {limit}", "no limit"
        return {
            "largest_probability": ("Highest probability of a value in a bucket", allowed),
            "largest_sensitive_share": ("Highest probability of having a sensitive item", allowed),
            "surest_guess": ("Highest confidence of a simulated attacker who knows other columns", allowed),
            "largest_item_share": (
                "Highest probability of a single public item in a bucket",
                f"{limit}, except for items that more of those with items in the column have"
                if self.promise.items
                else no_limit,
            ),
            "unlimited_items": ("Public items that are too common to limit by themselves", no_limit),
            "surest_within_column": (
                "Highest confidence in a sensitive item, given other items of its column",
                no_limit,
            ),
        }

    def met(self, margin: Margin) -> str:
        """A share; of a guess, which mixes many buckets, rounded. Or a number of items."""
        if isinstance(margin.value, int):
            return super().met(margin)
        share = Fraction(margin.value)
        return fraction(share) if margin.bucket or share.denominator <= SHORT else f"about {shares(float(share))}"

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        limit = fraction(1 / self.promise.l)
        even = ", even knowing that there are some" if self.promise.empty == "free" else ""
        means = (
            "An attacker who knows a person's bucket and items in some columns cannot guess those in another column "
            f"with a probability above {limit}{even}. This assumes that all arrangements of a bucket's values without "
            "an empty transaction are equally likely."
        )
        if sensitive:
            means += f" The probability that a person has any sensitive item is at most {limit}, too."
        empty = {
            "value": "Having no item in a column counts as a value and is protected like any other.",
            "free": "An attacker may learn that a person has no item in a column. Only actual items are protected.",
        }[self.promise.empty]
        if sensitive and self.promise.empty == "value":
            empty += " An attacker may learn that a person has no sensitive item."
        items = (
            f"Single public items are limited, too, unless more than {limit} of the people with items in the same "
            "column have them."
            if self.promise.items
            else "Only whole values are limited. A single public item may be in all values of a bucket's column."
        )
        return [
            ("l", str(self.promise.l), means),
            ("empty", self.promise.empty, empty),
            ("items", "yes" if self.promise.items else "no", items),
        ]

    def how_checked(self, audit: Audit) -> str:
        return (
            f"An auditor counted the values in {number(audit.checked, 'group')} (one for each bucket and column) and "
            "simulated an attacker who knows some of a person's columns and guesses another."
        )

    def where(self, margin: Margin) -> str:
        """Where a value was met, or how sure somebody gets of a sensitive item; or which items they are."""
        if isinstance(margin.value, int):
            return braced(margin.itemset)
        if (margin.column or margin.bucket) and (margin.sensitive is None or _stands_for_any(margin)):
            return value_in(_value(margin), margin.column, margin.bucket)
        return super().where(margin)

    def worth_listing(self, audit: Audit, most: int) -> tuple[Witness, ...]:
        """Where everybody is a reason, three are as good as all."""
        return super().worth_listing(audit, min(3, most) if published_whole(audit) else most)

    def more(self, audit: Audit, listed: int) -> str:
        """Where transactions are published whole, each is a reason."""
        if published_whole(audit) and audit.found > listed:
            return f"… and {number(audit.found - listed, 'more transaction')}."
        return super().more(audit, listed)

    def cut(self, data: Transactions, limits: Limits | None) -> Cut | None:
        return cut_of(data, self.promise, limits)


def published_whole(audit: Audit) -> bool:
    """Whether every transaction is a bucket of its own, and there are no columns."""
    largest = audit.margins.get("largest_probability")
    return largest is not None and not largest.column


def value_in(value: str, column: tuple[str, ...], bucket: int | None) -> str:
    """Where a value is met; without columns, each transaction is a bucket.

    >>> value_in("{b}", ("b", "e"), 17), value_in("nothing", ("b", "e"), None), value_in("{b}", (), 17)
    ('bucket 17: {b} of {b, e}', 'nothing of {b, e}', 'transaction 17: {b}')
    """
    if not column:
        return f"transaction {bucket:,}: {value}"
    return ("" if bucket is None else f"bucket {bucket:,}: ") + f"{value} of {braced(column)}"


def _stands_for_any(found: Witness | Margin) -> bool:
    """Whether a sensitive item stands for any of them."""
    return found.sensitive in found.itemset and bool(found.bucket or isinstance(found, Margin))


def _value(found: Witness | Margin) -> str:
    if _stands_for_any(found):
        return "any sensitive item"
    return braced(found.itemset) if found.itemset else "nothing"
