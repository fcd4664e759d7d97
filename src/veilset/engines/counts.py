"""`HeldCounts`: what pages and certificates say of transactions that an engine holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.engines.engine import Held, Numbers, Piece
from veilset.transactions import Transactions


@dataclass(frozen=True)
class HeldCounts:
    """Counts of transactions, without a single row; `veilset.transactions.Counted` says what they are for.

    Parameters
    ----------
    vocabulary : Transactions
        One transaction with every item.
    transactions : int
        How many there are.
    supports : array of int64
        For each item, how many transactions hold it.
    length_counts : mapping
        How many transactions have how many items, shortest first.
    """

    vocabulary: Transactions
    transactions: int
    supports: npt.NDArray[np.int64]
    length_counts: Mapping[int, int]

    @classmethod
    def of(cls, held: Held) -> HeldCounts:
        """Counted where the transactions lie.

        >>> import veilset as vs
        >>> held = vs.engines.Local(pieces=2).read(vs.Transactions.from_lists([["a", "b"], ["a"], []]))
        >>> counts = HeldCounts.of(held)
        >>> len(counts), counts.supports.tolist(), counts.length_counts
        (3, [2, 1], {0: 1, 1: 1, 2: 1})
        """
        totals = held.totals(_counts)
        supports = np.zeros(len(held.vocabulary.names), dtype=np.int64)
        supports[: len(totals["supports"])] = totals["supports"]
        lengths = totals["lengths"]
        there = np.flatnonzero(lengths)
        by_length = dict(zip(there.tolist(), lengths[there].tolist(), strict=True))
        return cls(held.vocabulary, len(held), supports, by_length)

    @property
    def names(self) -> tuple[str, ...]:
        """All items."""
        return self.vocabulary.names

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive ones."""
        return self.vocabulary.sensitive

    @property
    def public(self) -> tuple[str, ...]:
        """The others."""
        return self.vocabulary.public

    @property
    def is_sensitive(self) -> npt.NDArray[np.uint8]:
        """For each item, whether it is sensitive."""
        return self.vocabulary.is_sensitive

    @property
    def anatomy(self) -> None:
        """There are no columns and buckets."""

    @property
    def occurrences(self) -> int:
        """How many items all transactions have together."""
        return int(self.supports.sum())

    def __len__(self) -> int:
        return self.transactions


def _counts(piece: Piece) -> dict[str, Numbers]:
    return {
        "supports": np.bincount(piece.items).astype(np.int64),
        "lengths": np.bincount(np.diff(piece.offsets)).astype(np.int64),
    }
