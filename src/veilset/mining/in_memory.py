"""What methods ask of transactions in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from veilset.engines import Piece
from veilset.engines.rows import changed
from veilset.limits import Limits
from veilset.mining.classes import Classes
from veilset.mining.counting import cover
from veilset.mining.itemsets import Itemsets
from veilset.mining.miner import Kept, Miner, Question, limits_of
from veilset.mining.moles import Keeping, items_in_moles, minimal_rare, minimal_rare_chunks
from veilset.transactions import Transactions

_ROWS_AT_ONCE = 1 << 16


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

    def splitting(self, question: Question, asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those that joined if equal transactions of these are k at least."""
        return Classes(self._data, question["k"], question["h"], limits_of(question)).may_split

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
