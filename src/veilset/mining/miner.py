"""What methods for coherence ask of transactions, wherever these lie: in memory, or on an engine (`spread`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from veilset.engines import Piece
from veilset.engines.rows import changed
from veilset.limits import Bounds, Limits
from veilset.mining.counting import cover
from veilset.mining.itemsets import Itemsets
from veilset.mining.moles import Keeping, items_in_moles, minimal_rare, minimal_rare_chunks
from veilset.transactions import Transactions

_ROWS_AT_ONCE = 1 << 16


class Question(Bounds):
    """Which itemsets are moles, and the bounds of the search for them: keyword arguments of `minimal_rare`."""

    k: int
    h: Fraction
    max_size: int | None


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


class InMemory:
    """What methods ask of transactions in memory."""

    in_time = True

    def __init__(self, data: Transactions) -> None:
        self._data = data

    @property
    def supports(self) -> npt.NDArray[np.int64]:
        """For each item, the number of transactions that hold it."""
        return self._data.supports

    def longest(self, items: Collection[str]) -> int:
        """How many of these items a transaction has at most."""
        return int(self._data.only(items).lengths.max(initial=0))

    def beside(self, itemset: Sequence[str]) -> npt.NDArray[np.int64]:
        """For each item, how many of the transactions with all of *itemset* hold it."""
        if not itemset:
            return self.supports
        data, held = self._data.anonymous(), cover(self._data, itemset)
        counts = np.zeros(len(data.names), dtype=np.int64)
        for first in range(0, len(held), _ROWS_AT_ONCE):
            part = data.take(held[first : first + _ROWS_AT_ONCE])
            counts[data.codes(part.names)] += part.supports
        return counts

    def moles(self, question: Question, items: Collection[str] | None = None) -> Itemsets:
        """The minimal moles made of *items*."""
        return minimal_rare(self._data, **question, items=items).itemsets

    def few_moles(self, question: Question, most: int, items: Collection[str] | None = None) -> Itemsets | None:
        """The minimal moles made of *items* if there are no more than *most*; else None."""
        chunks = minimal_rare_chunks(self._data, **question, items=items, chunk_size=most)
        first = next(chunks, None)
        if next(chunks, None) is not None:
            return None
        return self.moles({**question, "max_size": 1}, items) if first is None else first.itemsets

    def first_mole(self, question: Question, items: Collection[str]) -> tuple[str, ...] | None:
        """The first minimal mole made of *items*; None: there is none."""
        first = next(minimal_rare_chunks(self._data, **question, items=items, chunk_size=1), None)
        return None if first is None else first[0].items

    def items_in_moles(self, question: Question, without: Collection[str]) -> tuple[str, ...]:
        """The public items in any mole, minimal or not, if those of *without* are left out."""
        return items_in_moles(self._data.without(without), **question)

    def returning(self, question: Question, kept: Collection[str], asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those of *kept*, which have no mole, and those that joined."""
        keeping = Keeping(self._data, **question)
        for item in kept:
            keeping.keep(item)

        def may_join(item: str) -> bool:
            if keeping.brings_mole(item):
                return False
            keeping.keep(item)
            return True

        return may_join

    def keeping(self, question: Question) -> Kept:
        """No items so far, and whether one more would bring a mole."""
        return Keeping(self._data, **question)

    def replaced(self, code: npt.NDArray[np.int32], vocabulary: Transactions, limits: Limits) -> Miner:
        """Who counts in the same transactions with other items."""
        data = self._data
        # Row numbers, items, both as one number, and these sorted.
        limits.require(48 * len(data.items) * code[:1].size, "Recoding", "give a taxonomy with fewer levels.")
        rows = changed(Piece(data.offsets, data.items), code, len(vocabulary.names))
        return InMemory(Transactions.from_codes(*rows, vocabulary.names, sensitive=vocabulary.sensitive))


def breach_of(miner: Miner, data: Transactions, itemset: Sequence[str]) -> Breach:
    """What an itemset tells; *data* has the names and roles of the items."""
    beside = miner.beside(itemset)
    with_it = np.where(data.is_sensitive == 1, beside, 0)
    thing, most = int(with_it.argmax()), int(with_it.max(initial=0))
    return Breach(int(beside[data.codes(itemset)[0]]), most, data.names[thing] if most else None)
