"""What methods for coherence ask of transactions: in memory (`in_memory`), or on an engine (`spread`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from veilset.limits import Bounds, Limits
from veilset.mining.itemsets import Itemsets
from veilset.transactions import Transactions


class Question(Bounds):
    """Which itemsets are moles, and the bounds of the search for them: keyword arguments of `minimal_rare`."""

    k: int
    h: Fraction
    max_size: int | None


def limits_of(question: Question) -> Limits:
    """The bounds of the search."""
    bounds = {name: value for name, value in question.items() if name not in ("k", "h", "max_size")}
    return Limits(**bounds)  # type: ignore[arg-type]


class Breach(NamedTuple):
    """What an itemset tells: how many transactions hold it, and how many of these the most frequent sensitive item."""

    support: int
    with_it: int
    sensitive: str | None


class Kept(Protocol):
    """A set of public items, which says whether one more would add a mole."""

    def keep(self, item: str) -> None:
        """Add an item to the set."""

    def drop(self, item: str) -> None:
        """Remove an item from the set."""

    def brings_mole(self, item: str) -> bool:
        """Whether *item* and kept items are a mole, or contain one; kept items alone have none."""


class Miner(Protocol):
    """Counts, and answers about minimal moles."""

    @property
    def in_time(self) -> bool:
        """Whether a search that takes some seconds is worth giving up: elsewhere only the number of moles decides."""

    @property
    def supports(self) -> npt.NDArray[np.int64]:
        """For each item, the number of transactions that hold it."""

    def longest(self, items: Collection[str]) -> int:
        """How many of these items a transaction has at most."""

    def beside(self, itemset: Sequence[str]) -> npt.NDArray[np.int64]:
        """For each item, how many of the transactions with all of *itemset* hold it."""

    def moles(self, question: Question, items: Collection[str] | None = None) -> Itemsets:
        """The minimal moles made of *items* (None: of all public ones)."""

    def few_moles(self, question: Question, most: int, items: Collection[str] | None = None) -> Itemsets | None:
        """The same if there are no more than *most*; else None."""

    def first_mole(self, question: Question, items: Collection[str]) -> tuple[str, ...] | None:
        """The first minimal mole made of *items*; None: there is none."""

    def items_in_moles(self, question: Question, without: Collection[str]) -> tuple[str, ...]:
        """The public items in any mole, minimal or not, if those of *without* are left out."""

    def returning(self, question: Question, kept: Collection[str], asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those of *kept*, which have no mole, and those that joined; asked in this order."""

    def keeping(self, question: Question) -> Kept:
        """No items so far, and whether one more would bring a mole; asked in any order."""

    def replaced(self, code: npt.NDArray[np.int32], vocabulary: Transactions, limits: Limits) -> Miner:
        """Who counts in the same transactions with other items, as `veilset.engines.Held.changed` has them."""

    def splitting(self, question: Question, asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those that joined; asked in this order, from none on.

        It may if transactions with the same of these are k at least, and too many of them hold no sensitive item.
        """


def breach_of(miner: Miner, data: Transactions, itemset: Sequence[str]) -> Breach:
    """What an itemset tells; *data* has the names and roles of the items."""
    beside = miner.beside(itemset)
    with_it = np.where(data.is_sensitive == 1, beside, 0)
    thing, most = int(with_it.argmax()), int(with_it.max(initial=0))
    return Breach(int(beside[data.codes(itemset)[0]]), most, data.names[thing] if most else None)
