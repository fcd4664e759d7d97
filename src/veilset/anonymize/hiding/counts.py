"""What hiding has to count in the transactions: in memory, or where an engine holds them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from veilset.anonymize.hiding.kinds import ByProduct, Chosen, Matter
from veilset.engines import Held, Local
from veilset.engines.local import LookedUp
from veilset.limits import Limits
from veilset.mining import (
    Itemsets,
    Standing,
    frequent,
    standings,
    standings_held,
    supports,
    supports_held,
    supports_on_engine,
)
from veilset.transactions import Transactions

Edits = Chosen | ByProduct

_PIECE = 1 << 20  # item occurrences that are looked at together in memory


class Counts(Protocol):
    """What is asked of transactions."""

    limits: Limits

    @property
    def names(self) -> Transactions:
        """Transactions with the items there are: for their names and their order."""

    @property
    def held(self) -> Held:
        """The transactions in pieces."""

    @property
    def in_task(self) -> Limits | None:
        """The limits of work on a piece; None: those of a task."""

    @property
    def items(self) -> npt.NDArray[np.int64]:
        """How many transactions hold each item."""

    def of(self, itemsets: Itemsets) -> npt.NDArray[np.int64]:
        """How many transactions hold each itemset."""

    def maximal(self, least: int) -> Itemsets:
        """The maximal ones among the itemsets that *least* transactions hold."""

    def standings(self, edits: Chosen, patterns: Sequence[tuple[str, ...]]) -> list[Standing | None]:
        """How much patterns stand out after these edits."""


class InMemory:
    """Transactions in memory."""

    def __init__(self, data: Transactions, limits: Limits) -> None:
        self.names, self.limits, self.in_task = data, limits, limits
        self.held = Local(pieces=1 + len(data.items) // _PIECE).read(data)
        self._rows: tuple[Matter, LookedUp] | None = None
        self._kept: tuple[Edits, npt.NDArray[np.bool_]] | None = None

    @property
    def items(self) -> npt.NDArray[np.int64]:
        """How many transactions hold each item."""
        return self.names.supports

    def of(self, itemsets: Itemsets) -> npt.NDArray[np.int64]:
        """How many transactions hold each itemset."""
        return supports(self.names, itemsets, **self.limits.bounds())

    def maximal(self, least: int) -> Itemsets:
        """The maximal ones among the itemsets that *least* transactions hold."""
        return frequent(self.names, least, kind="maximal", **self.limits.bounds())

    def kept(self, edits: Edits) -> npt.NDArray[np.bool_]:
        """Which occurrences there are after these edits; others of the same rows take less time."""
        if self._rows is None or self._rows[0] is not edits.matter:
            self._rows = edits.matter, self.held.looked_up(partial(edits.mark, limits=self.limits))
        if self._kept is None or self._kept[0] is not edits:
            self._kept = edits, self.held.kept(self._rows[1], edits.thin)
        return self._kept[1]

    def standings(self, edits: Chosen, patterns: Sequence[tuple[str, ...]]) -> list[Standing | None]:
        """How much patterns stand out after these edits."""
        return standings(self.names.thinned(self.kept(edits)), patterns, self.limits)


class InPieces:
    """Transactions that an engine holds."""

    in_task = None

    def __init__(self, held: Held, limits: Limits) -> None:
        self.held, self.limits, self.names = held, limits, held.vocabulary

    @cached_property
    def items(self) -> npt.NDArray[np.int64]:
        """How many transactions hold each item."""
        return supports_on_engine(self.held)

    def of(self, itemsets: Itemsets) -> npt.NDArray[np.int64]:
        """How many transactions hold each itemset."""
        return supports_held(self.held, itemsets, self.limits)

    def maximal(self, least: int) -> Itemsets:
        """The maximal ones among the itemsets that *least* transactions hold."""
        return frequent(self.held, least, kind="maximal", **self.limits.bounds())

    def standings(self, edits: Chosen, patterns: Sequence[tuple[str, ...]]) -> list[Standing | None]:
        """How much patterns stand out after these edits."""
        return standings_held(self.held.thinned(edits.mark, edits.thin), patterns, self.limits)
