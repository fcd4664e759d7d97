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
    heads: ClassVar[tuple[str, ...]] = ("Bucket", "Column", "Value that is too common", "Share")
    extremes_known: ClassVar[bool] = True
    none_sensitive: ClassVar[str] = (
        "No item in this file is declared sensitive: what is protected is which items of different columns go together."
    )
    recount: ClassVar[str] = (
        "It compares the files with their checksums, makes sure that both tell the same, and counts the values of "
        "every bucket and column anew, with code that shares nothing with the code that made the buckets."
    )

    def verdict(self, audit: Audit, taken: str) -> str:
        if audit.holds:
            return self._holds(audit, taken)
        if published_whole(audit):
            whole = f"These transactions are published whole{taken}"
            return f"{whole}: whoever knows some items of a person may find all the others."
        if audit.witnesses and audit.witnesses[0].bucket is None:  # it is not a value that breaks it first
            worst = audit.witnesses[0]
            found = f"{number(audit.found, 'reason')} against it{taken}{for_example(audit)}"
            return f"{found} {braced(worst.itemset)}: {visible(worst.reason)}."
        too_common = (
            f"In {audit.found:,} of {number(audit.checked, 'group')} of values (one for each bucket and column) a "
            f"value is too common{taken}"
        )
        if not audit.witnesses:
            return f"{too_common}."
        worst = audit.witnesses[0]
        return f"{too_common}{for_example(audit)} {_in_words(worst)}."

    def _holds(self, audit: Audit, taken: str) -> str:
        largest = audit.margins.get("largest_share")
        if largest is None:
            return "There are no transactions in this file."
        return (
            f"In every bucket and column ({number(audit.checked, 'group')} of values) no value belongs to more than "
            f"{self._one_in(sensitive=audit.has_sensitive)}{taken}; the commonest has {self.met(largest)}, in bucket "
            f"{largest.bucket:,}."
        )

    def _one_in(self, *, sensitive: bool) -> str:
        """Where having nothing is no value, only those count who have one."""
        share = 1 / self.promise.l
        who = " that have one" if self.promise.empty == "free" else ""
        but = ", or in columns of sensitive items of those that have one" if sensitive and not who else ""
        return f"{share.numerator:,} in {share.denominator:,} of the transactions{who}{but}"

    def measured(self, cost: float) -> str:
        """Smaller buckets tell more of which values belong together."""
        return f"{cost:,.1f} transactions in a bucket on average"

    def row(self, witness: Witness, audit: Audit) -> tuple[str, ...]:
        """Where a value is too common, the value, and its share."""
        bucket = "all" if witness.bucket is None else f"{witness.bucket:,}"
        share = "–" if witness.confidence is None else fraction(witness.confidence)
        column = braced(witness.column) if witness.column else "all items"
        return bucket, column, _value(witness.itemset), share

    def over(self, witness: Witness, audit: Audit) -> Fraction:
        """How many times the allowed share it has; a column that mixes what must be apart has all of it."""
        return (Fraction(1) if witness.confidence is None else witness.confidence) * self.promise.l

    def limits(self, audit: Audit) -> Mapping[str, tuple[str, str]]:
        allowed = f"at most {fraction(1 / self.promise.l)}"
        return {
            "largest_share": ("Largest share of one value in a column of a bucket", allowed),
            "surest_guess": ("Surest guess of a simulated attacker who knows values of other columns", allowed),
            "surest_within_column": (
                "How sure one gets of a sensitive item from other items of the same column",
                "any: not promised",
            ),
        }

    def met(self, margin: Margin) -> str:
        """A share; of a guess, which mixes many buckets, rounded."""
        share = Fraction(margin.value)
        return fraction(share) if margin.bucket or share.denominator <= SHORT else f"about {shares(float(share))}"

    def parameters(self, *, sensitive: bool) -> list[tuple[str, str, str]]:
        surely = fraction(1 / self.promise.l)
        means = (
            f"In each bucket and column no value belongs to more than {self._one_in(sensitive=sensitive)}: who knows a "
            "person's items in other columns, and finds the bucket, guesses those of this column with a probability of "
            f"at most {surely}."
        )
        empty = {
            "value": "To have no item of a column is a value like others: it cannot be guessed more surely, either.",
            "free": "That a person has no item of a column may be known; what is protected is which the others have.",
        }[self.promise.empty]
        if sensitive and self.promise.empty == "value":
            empty += " In columns of sensitive items it may be known."
        return [("l", str(self.promise.l), means), ("empty", self.promise.empty, empty)]

    def how_checked(self, audit: Audit) -> str:
        return (
            f"An auditor counted the values in {number(audit.checked, 'group')} (one for each bucket and column) to "
            "make sure, and simulated an attacker who knows some columns of a person and guesses another."
        )

    def where(self, margin: Margin) -> str:
        """Where a value was met, or how sure somebody gets of a sensitive item."""
        if (margin.column or margin.bucket) and margin.sensitive is None:
            return value_in(margin.itemset, margin.column, margin.bucket)
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
    largest = audit.margins.get("largest_share")
    return largest is not None and not largest.column


def _in_words(witness: Witness) -> str:
    """A value that is too common, as a part of a sentence."""
    assert witness.confidence is not None  # noqa: S101 - its auditor sees to it
    size = witness.support / witness.confidence
    if not witness.itemset:
        of_bucket = f"{witness.support:,} of the {number(int(size), 'transaction')} of bucket {witness.bucket:,}"
        return f"{of_bucket} have nothing of the column {braced(witness.column)}"
    return (
        f"{braced(witness.itemset)} is {witness.support:,} of the {number(int(size), 'value')} of the column "
        f"{braced(witness.column)} in bucket {witness.bucket:,}"
    )


def value_in(itemset: tuple[str, ...], column: tuple[str, ...], bucket: int | None) -> str:
    """Where a value is met; without columns, each transaction is a bucket.

    >>> value_in(("b",), ("b", "e"), 17), value_in((), ("b", "e"), None), value_in(("b",), (), 17)
    ('bucket 17: {b} of {b, e}', 'nothing of {b, e}', 'transaction 17: {b}')
    """
    if not column:
        return f"transaction {bucket:,}: {_value(itemset)}"
    return ("" if bucket is None else f"bucket {bucket:,}: ") + f"{_value(itemset)} of {braced(column)}"


def _value(itemset: tuple[str, ...]) -> str:
    return braced(itemset) if itemset else "nothing"
