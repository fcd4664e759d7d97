"""Promises of somebody else's: all that a third party writes, in one file, to add one.

`NoRareItems` protects whoever has an item that hardly anybody has: every item of the release, sensitive or not, is held
by at least *k* transactions. `HiddenItems` is secret itself: nobody may learn which items were taken out. Import this
module, and every room knows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np

from veilset.anonymize import METHODS, Methods
from veilset.audit import AUDITORS
from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.models import Audit, Edit, Margin, Parameter, Promise, Witness, register
from veilset.options import Option
from veilset.release import Release
from veilset.report import WORDS, Words
from veilset.testing.checks import CONTRACTS, Contract
from veilset.transactions import Transactions
from veilset.utility import UTILITIES, Utility


@dataclass(frozen=True, init=False)
class NoRareItems(Promise):
    """Protects whoever has an item that fewer than *k* people have: no released item is so rare."""

    name: ClassVar[str] = "no-rare-items"

    k: int

    def __init__(
        self, *, k: Annotated[int, Option("whole", "Minimum number of people who have an item.", "5")]
    ) -> None:
        if k < 1:
            raise InvalidArgument(f"k is {k}.", "Give at least 1.")
        object.__setattr__(self, "k", k)

    def parameters(self) -> dict[str, Parameter]:
        return {"k": self.k}

    def not_promised(self) -> tuple[str, ...]:
        return ("Nothing is promised against somebody who knows two items.",)

    @property
    def support_floor(self) -> int:
        return self.k

    def rare(self, data: Transactions) -> tuple[str, ...]:
        codes = np.flatnonzero(data.supports < self.k).tolist()
        return tuple(data.names[code] for code in codes)


def audit_no_rare_items(data: Transactions, promise: NoRareItems, *, witnesses: int, limits: Limits) -> Audit:
    held = sorted((int(count), name) for name, count in zip(data.names, data.supports, strict=True))
    rare = [Witness((name,), count, None, None, "too few") for count, name in held if count < promise.k]
    margins = {"smallest_support": Margin(held[0][0], (held[0][1],))} if held else {}
    return Audit(
        promise, not rare, tuple(rare[:witnesses]), len(rare), (len(rare),), margins, len(held), True, len(data)
    )


def drop_rare(data: Transactions, promise: NoRareItems, /, *, limits: Limits) -> Release:
    rare = promise.rare(data)
    return Release(data, data.without(rare), promise, "drop-rare", {}, rare)


@dataclass(frozen=True)
class NoRareItemsWords(Words):
    promise: NoRareItems

    title: ClassVar[str] = "No rare items"

    def verdict(self, audit: Audit, taken: str) -> str:
        if audit.holds:
            return f"Every item of this file belongs to at least {self.promise.k} people{taken}."
        return f"{audit.found} items belong to fewer than {self.promise.k} people{taken}."


def _holds(data: Transactions, sensitive: Collection[str], promise: NoRareItems) -> bool:
    return all(sum(item in row for row in data) >= promise.k for item in {item for row in data for item in row})


def _check_findings(data: Transactions, promise: NoRareItems, answer: Audit) -> None:
    for witness in answer.witnesses:
        held = sum(witness.itemset[0] in row for row in data)
        assert held == witness.support < promise.k
    assert answer.found == len(answer.witnesses)


def _maximal(release: Release, promise: Any) -> bool:
    return all(Fraction(sum(item in row for row in release.original)) < promise.k for item in release.suppressed)


@dataclass(frozen=True, init=False)
class HiddenItems(Promise):
    """Protects a list of items that is secret itself: no transaction of the release holds one of them."""

    name: ClassVar[str] = "hidden-items"
    secret: ClassVar[bool] = True
    listed: ClassVar[str] = "items"
    edits: ClassVar[Edit] = "occurrences"
    about_people: ClassVar[bool] = False
    may_lack_items: ClassVar[bool] = True

    items: tuple[str, ...]

    def __init__(
        self, *, items: Annotated[Iterable[str], Option("items", "File with the items.", flag="hide")]
    ) -> None:
        object.__setattr__(self, "items", tuple(items))

    @property
    def secrets(self) -> int:
        return len(self.items)

    def parameters(self) -> dict[str, Parameter]:
        return {"items": self.items}

    def not_promised(self) -> tuple[str, ...]:
        return ("What goes with the items is not hidden.",)


def audit_hidden_items(data: Transactions, promise: HiddenItems, *, witnesses: int, limits: Limits) -> Audit:
    there = [item for item in promise.items if item in data.names]
    found = tuple(Witness((item,), 1, None, None, "is there") for item in there[:witnesses])
    return Audit(promise, not there, found, len(there), (len(there),), {}, len(promise.items), True, len(data))


def take_out(data: Transactions, promise: HiddenItems, /, *, limits: Limits) -> Release:
    kept = ~np.isin(data.items, data.codes([item for item in promise.items if item in data.names]))
    changed = data.thinned(kept)
    gone = data.in_order(set(data.names).difference(changed.names))
    return Release(data, changed, promise, "take-out", {}, gone, kept=kept)


@dataclass(frozen=True)
class HiddenItemsWords(Words):
    promise: HiddenItems

    title: ClassVar[str] = "Hidden items"

    def verdict(self, audit: Audit, taken: str) -> str:
        return f"{audit.found} of {len(self.promise.items)} listed items are in this file."


register(HiddenItems)
AUDITORS.add(HiddenItems, audit_hidden_items)
METHODS.add(HiddenItems, Methods({"take-out": take_out}))
UTILITIES.add(HiddenItems, Utility(unavoidable=lambda release, promise: promise.items))
WORDS.add(HiddenItems, HiddenItemsWords)
CONTRACTS.add(
    HiddenItems,
    Contract(
        holds=lambda data, sensitive, promise: not any(item in row for row in data for item in promise.items),
        check_findings=lambda data, promise, answer: None,
        sensitive_may_go=True,
    ),
)
register(NoRareItems)
AUDITORS.add(NoRareItems, audit_no_rare_items)
METHODS.add(NoRareItems, Methods({"drop-rare": drop_rare}, milder="smaller k"))
UTILITIES.add(NoRareItems, Utility(unavoidable=lambda release, promise: promise.rare(release.original)))
WORDS.add(NoRareItems, NoRareItemsWords)
CONTRACTS.add(
    NoRareItems,
    Contract(
        holds=_holds,
        check_findings=_check_findings,
        sensitive_may_go=True,
        maximal=_maximal,
    ),
)
