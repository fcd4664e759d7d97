"""What every promise can say about itself, and what every auditor answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Field

from veilset.errors import InvalidArgument, said
from veilset.transactions import Counted, Transactions
from veilset.views import MOST_ROWS, Count, Shown, Summary, legible

EXCLUDES_NOTHING = "This promise excludes nothing: any such file keeps it."
"""What is said of such a promise instead of a verdict, and first of all that is not promised."""

NO_INFERENCE = "nothing is promised about what known items reveal about a person"
"""What follows if no item is sensitive, for promises that limit what can be inferred of sensitive items."""
NONE_SENSITIVE = f"No item in this file is declared sensitive: {NO_INFERENCE}."
"""The same of a released file, whatever became of sensitive items before."""
COMPARED = (
    "Comparing this file with another release of the same or overlapping data can reveal a person who is in only one "
    "of them, or whose items differ."
)
"""What no promise about people covers."""
TAKEN_AS_ONE = (
    "Each transaction counts as one person. Someone with several transactions in this file is protected in each of "
    "them, but not against an attacker who can link them."
)
"""What is not promised if transactions were not merged."""
UNKNOWN_APART = (
    "Transactions of unknown people were not merged: each counts as one person. An unknown person may have several in "
    "this file, and is not protected against an attacker who can link them."
)
"""What is not promised if transactions were merged, except those of unknown people."""


THINNED = (
    "Items were removed from single transactions. Every count in this file is a lower bound of the true one, and a "
    "confidence may be higher than in the original data."
)
"""What a release does not tell if items left only some of the transactions that had them."""


TRUTHFUL = (
    "The limits on sensitive items also hold as counted in the original data, for everything that can be known from "
    "this file. The custodian has checked that; whoever receives the file cannot."
)
"""What is said of such a release if its limits are true of the original."""


def truth_sentence(broken: int | None, promise: type[Promise] | Promise) -> str:
    """What is said of such a release about the original, in which *broken* exceed a limit; None: there is no limit."""
    if broken is None:
        return ""
    if not broken:
        return TRUTHFUL
    many = Count(broken)
    return (
        f"In the original data, {many:,} of this file's {promise.infers_by} {many:exceeds|exceed} a limit on sensitive "
        "items: the limits hold in this file only, because items were removed from single transactions. The custodian "
        "has counted that; whoever receives the file cannot."
    )


def listed_sentence(listed_from: int) -> str:
    """What a list of items under coarser names tells: all of a taxonomy (0), or those in so many transactions."""
    if not listed_from:
        return (
            "A coarser name is listed with all items of the taxonomy that it may stand for. If the taxonomy was made "
            "from the data, each of them occurs in the original."
        )
    return (
        "An item that is listed under a coarser name can be expected to occur in the original. Items in fewer than "
        f"{listed_from:,} transactions need not be listed."
    )


Names: TypeAlias = Annotated[tuple[str, ...], Field(fail_fast=True)]
"""Names as they are read from a file; the first wrong one ends that, as errors take far more memory than names."""

Parameter: TypeAlias = (
    str
    | int
    | bool
    | Names
    | Annotated[tuple[Names, ...], Field(fail_fast=True)]
    | Annotated[tuple[tuple[Names, Names], ...], Field(fail_fast=True)]
    | None
)
"""What a parameter may be, as a certificate and a recipe write it."""


Edit: TypeAlias = Literal["items", "occurrences", "buckets"]
"""What a method changes: items in all transactions; single occurrences; or which values of a bucket belong together."""


@dataclass(frozen=True)
class Vacuous:
    """Why a promise excludes nothing, in a sentence, and its parameters with values to choose instead."""

    why: str
    instead: Mapping[str, object]


class Promise(ABC):
    """A privacy promise: a frozen dataclass whose docstring starts "Protects …".

    What differs from promise to promise is declared here and asked by all other code, which never asks for the type.
    The keyword arguments that make a promise carry an `veilset.options.Option` each.
    """

    name: ClassVar[str]
    """What recipes, certificates and the command line call it."""
    secret: ClassVar[bool] = False
    """Whether the promise itself is the secret: then nothing about it is public but a seal (`Sealed`)."""
    listed: ClassVar[str] = ""
    """What a secret promise lists, in the plural."""
    edits: ClassVar[Edit] = "items"
    """What its methods change."""
    about_people: ClassVar[bool] = True
    """Whether it is people that are protected."""
    about_sensitive: ClassVar[bool] = False
    """Whether it limits what can be inferred of sensitive items."""
    infers_by: ClassVar[str] = "itemsets"
    """What exceeds such a limit, in the plural."""
    may_lack_items: ClassVar[bool] = False
    """Whether data that lacks an item named in the promise can be audited: what is not there is hidden."""

    @property
    def in_short(self) -> str:
        """The promise in a line that may end up in a log: of a secret one only how much it lists."""
        return f"{type(self).__name__}({self.secrets:,} listed)" if self.secret else repr(self)

    @abstractmethod
    def parameters(self) -> dict[str, Parameter]:
        """The parameters as a certificate or a recipe writes them; ``type(self)(**parameters)`` gives it back."""

    @abstractmethod
    def not_promised(self) -> tuple[str, ...]:
        """What the promise does not cover, in plain sentences."""

    @property
    def excludes_nothing(self) -> Mapping[str, object]:
        """The parameters because of which any data keeps it, each with a value to choose instead; empty: none does."""
        return {}

    def excludes_nothing_in(self, data: Transactions, *, transactions: int | None = None) -> Vacuous | None:
        """Why any data such as this keeps it; None: it excludes something there.

        If *transactions* is given, that is how many there are, and *data* only tells their items.
        """
        return self._vacuous()

    def _vacuous(self) -> Vacuous | None:
        if not (instead := self.excludes_nothing):
            return None
        asked = " and ".join(said(name, value) for name, value in self.parameters().items() if name in instead)
        return Vacuous(f"With {asked} the promise excludes nothing: any file keeps it.", instead)

    def check_excludes(self, data: Transactions | None = None) -> None:
        """Raise `InvalidArgument` if any data, or any such as *data*, keeps the promise.

        Whoever publishes that has to say so.
        """
        if vacuous := self._vacuous() if data is None else self.excludes_nothing_in(data):
            better = " or ".join(said(name, value) for name, value in vacuous.instead.items())
            raise InvalidArgument(
                vacuous.why,
                f"Choose for example {better}; to publish it anyway, use {said('allow_empty_promise', True)}.",
            )

    def open_ends(
        self,
        *,
        sensitive: bool,
        merged: bool,
        unknown: bool = False,
        empty: bool = False,
        coarser: bool = False,
        listed_from: int = 0,
        thinned: bool = False,
        broken_in_original: int | None = None,
    ) -> tuple[str, ...]:
        """What `not_promised` says and what is common to all promises, about one file; what matters most first.

        Parameters
        ----------
        sensitive : bool
            Whether the file has sensitive items.
        merged : bool
            Whether the transactions of one person were merged.
        unknown : bool
            Whether those of unknown people were not.
        empty : bool
            Whether the promise excludes nothing in this file, though it might in another.
        coarser : bool
            Whether it is said what coarser names stand for.
        listed_from : int
            And how many transactions must have an item for that; 0: all items of the taxonomy are listed.
        thinned : bool
            Whether items were removed from single transactions.
        broken_in_original : int, optional
            And how much of what can be known from the file exceeds a limit in the original; None: there is no limit.
        """
        first = [EXCLUDES_NOTHING] if empty or self.excludes_nothing else []
        if self.about_sensitive and not sensitive:
            first.append(NONE_SENSITIVE)
        truth = truth_sentence(broken_in_original, self) if thinned else ""
        if broken_in_original:
            first.append(truth)
        last = [THINNED, *([truth] if truth == TRUTHFUL else [])] if thinned else []
        if coarser or listed_from:
            last.append(listed_sentence(listed_from))
        if self.about_people:
            last += [*([UNKNOWN_APART] if unknown else [] if merged else [TAKEN_AS_ONE]), COMPARED]
        return (*first, *self.not_promised(), *last)

    def limits_inference(self, data: Transactions) -> bool:
        """Whether it limits how sure somebody can be of something in *data*.

        Then deleting single occurrences can make data keep it of which, in truth, it is not true.
        """
        return False

    @property
    def support_floor(self) -> int:
        """Minimum support of any public itemset in a release."""
        return 1

    @property
    def secrets(self) -> int:
        """How many things a secret promise lists."""
        return 0

    def check_data(self, data: Transactions) -> None:  # noqa: B027 - nothing to refuse
        """Raise `InvalidArgument` if the promise, as it stands, cannot be asked of this data."""

    def check_items(self, data: Transactions) -> None:  # noqa: B027 - it names no items
        """Raise `InvalidArgument` if the promise names items that the data, not yet changed, does not have."""

    def check_feasible(self, data: Transactions) -> None:
        """Raise `Infeasible`, with the items to blame, if no change of public items can make *data* keep it.

        A run, its method and its account may all ask: it is worked out once, and kept with the data.
        """
        if self not in data.feasible_for:
            self.refuse_infeasible(data)
            data.feasible_for.add(self)

    def refuse_infeasible(self, data: Transactions) -> None:  # noqa: B027 - it can always be kept
        """What `check_feasible` works out; a promise overrides this."""

    def check_meaningful(self, data: Transactions) -> None:  # noqa: B027 - it always is
        """Raise `InvalidArgument` if the promise says nothing about such data, so that asking for it is a slip."""

    def check_drop_empty(self) -> None:  # noqa: B027 - nothing to refuse
        """Raise `InvalidArgument` if dropping empty transactions would make it another promise."""

    def restricted_to(self, data: Counted) -> Self:
        """The same promise about *data*, in which only its items are named: what a release may say in public."""
        return self

    def too_common(self, data: Transactions) -> tuple[str, ...]:
        """The sensitive items that have to go first, where the custodian allows it: with them it cannot be kept."""
        raise InvalidArgument(
            f"{said('allow_sensitive')} does not apply to {self.name}: its methods need no such permission.",
            "Leave it out.",
        )

    def too_common_among(self, data: Transactions) -> tuple[str, ...]:
        """The sensitive items that have to go once *data* has lost its empty transactions."""
        return ()

    def empty_needed(self, data: Transactions) -> int:
        """How many empty transactions have to stay with *data*, which has none, so that it keeps the promise."""
        return 0 if len(data) else 1  # nothing can be said of nobody


@dataclass(frozen=True)
class Witness:
    """One violation of a promise.

    Parameters
    ----------
    itemset : tuple of str
        The items an attacker knows; empty: none.
    support : int
        Number of transactions that contain them all.
    sensitive : str or None
        The sensitive item that can be inferred; None if the person can be found.
    confidence : Fraction or None
        The attacker's confidence in it.
    reason : str
        The same in words.
    bucket : int or None
        For data in columns and buckets: the bucket, counted from 1, in which the itemset is a value.
    column : tuple of str
        All items of its column; empty if transactions are published whole, each as a bucket of its own.
    """

    itemset: tuple[str, ...]
    support: int
    sensitive: str | None
    confidence: Fraction | None
    reason: str
    bucket: int | None = field(default=None, repr=False)
    column: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{_braced(self.itemset)}: {self.reason}"


@dataclass(frozen=True)
class Margin:
    """The most extreme value in the data, and where it occurs.

    If *is_extreme* is False, there may be more extreme ones, but none beyond the limit: finding them would take longer
    than proving that did.
    """

    value: Fraction | int
    itemset: tuple[str, ...]
    sensitive: str | None = None
    bucket: int | None = field(default=None, repr=False)
    column: tuple[str, ...] = field(default=(), repr=False)
    is_extreme: bool = field(default=True, repr=False)


@dataclass(frozen=True)
class Leftover:
    """What an auditor counted of one listed pattern, or of both sides of one listed rule.

    Parameters
    ----------
    itemset : tuple of str
        All its items, in vocabulary order.
    support : int
        The number of transactions that hold all of them.
    antecedent_support : int or None
        For a rule, how many hold its antecedent.
    largest : tuple of (tuple of str, int)
        The largest sub-patterns that still reach min_support, with their supports; the pattern itself, if it does.
        Every other sub-pattern that reaches it is part of one of these, if they are complete.
    complete : bool
        False: to find all largest ones would take too long; there may be more than those listed.
    """

    itemset: tuple[str, ...]
    support: int
    antecedent_support: int | None = None
    largest: tuple[tuple[tuple[str, ...], int], ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class Reach:
    """How far a limit *p* on what an attacker knows reaches, by the number of public items of transactions.

    Whoever has no more than p of them is protected against an attacker who knows everything about them; the others
    are if nobody knows more than p of their items (thesis §4.1.1).

    Parameters
    ----------
    covered : Fraction
        The share of the transactions that have no more than p public items.
    p_for_90_percent : int
        The p at which nine transactions in ten are covered.
    p_for_all : int
        The p at which all are.
    """

    covered: Fraction
    p_for_90_percent: int
    p_for_all: int


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """The result of auditing one set of transactions for one promise.

    Parameters
    ----------
    promise : Promise
        The promise that was checked.
    holds : bool
        Whether the data keeps it.
    witnesses : tuple of Witness
        Violations, the most severe first, up to the requested number.
    found : int
        Number of all violations, listed or not; at least so many, unless *complete*.
    found_by_size : tuple of int
        The same by the number of known items: first those of one item.
    margins : mapping
        Name to `Margin`: how close the data comes to each limit; exact if the promise holds.
    checked : int
        Number of itemsets, or groups of values, that were counted.
    feasible : bool
        False if even an attacker who knows nothing breaks the promise.
    transactions : int
        Number of transactions.
    reach : Reach or None
        What each p means for this data; None if the promise has no p, or there are no transactions.
    leftovers : tuple of Leftover
        What is left of each listed pattern or rule, in the promise's order; empty if it lists none.
    counted : str
        What `checked` counts, in the plural.
    has_sensitive : bool
        Whether items are sensitive, for promises that treat those differently.
    vacuous : bool
        Whether any data like this keeps the promise, although other data may break it.
    complete : bool
        Whether all violations were counted; False: there are at least so many, and counting all would take too long, or
        a limit came first.
    """

    promise: Promise
    holds: bool
    witnesses: tuple[Witness, ...]
    found: int
    found_by_size: tuple[int, ...]
    margins: Mapping[str, Margin]
    checked: int
    feasible: bool
    transactions: int
    reach: Reach | None = None
    leftovers: tuple[Leftover, ...] = ()
    counted: str = "itemsets"
    has_sensitive: bool = False
    vacuous: bool = False
    complete: bool = True

    @property
    def excludes_nothing(self) -> bool:
        """Whether any data, or any such as this, keeps the promise."""
        return self.vacuous or bool(self.promise.excludes_nothing)

    def _summary(self) -> Summary:
        promise, rows = self.promise, [(_braced(witness.itemset), witness.reason) for witness in self.witnesses]
        notes = [f"{self._counted()} checked."]
        if not self.complete:
            notes.append("There may be more violations than those counted.")
        if promise.secret:  # what a notebook shows is saved with it
            rows, notes = [], [*notes, f"{self.found:,} of {promise.secrets:,} listed are still discoverable."]
        return Summary(
            "Audit",
            f"{promise.in_short} {'holds' if self.holds else 'does not hold'} on {self._rows()}",
            self.holds,
            notes=notes,
            head=("known", "what it gives away"),
            rows=rows[:MOST_ROWS],
            count=self.found if rows else None,
        )

    def __str__(self) -> str:
        verdict, checked = "holds" if self.holds else "does not hold", f"{self._counted()} checked"
        lines = [f"{self.promise} {verdict} on {self._rows()} ({checked})."]
        lines += [f"  {witness}" for witness in self.witnesses[:5]]
        if self.found > len(lines) - 1:
            lines.append(f"  … and {'' if self.complete else 'at least '}{self.found - len(lines) + 1:,} more")
        return "\n".join(lines)

    def _rows(self) -> str:
        rows = Count(self.transactions)
        return f"{rows:,} {rows:transaction|transactions}"

    def _counted(self) -> str:
        first, *rest = self.counted.split(" ")
        return " ".join([f"{self.checked:,}", first.removesuffix("s") if self.checked == 1 else first, *rest])


def _braced(itemset: tuple[str, ...]) -> str:
    return f"{{{', '.join(map(legible, itemset))}}}"
