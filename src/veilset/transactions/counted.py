"""`Counted`: what can be said of transactions without looking at a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from veilset.transactions.anatomy import Anatomy


class Counted(Protocol):
    """Items and counts: `Transactions` have them, and so do counts of those that lie on an engine."""

    @property
    def names(self) -> tuple[str, ...]:
        """All items, in their order."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive ones."""

    @property
    def public(self) -> tuple[str, ...]:
        """The others."""

    @property
    def is_sensitive(self) -> npt.NDArray[np.uint8]:
        """For each item, whether it is sensitive."""

    @property
    def anatomy(self) -> Anatomy | None:
        """Columns and buckets, if there are any."""

    @property
    def supports(self) -> npt.NDArray[np.int64]:
        """For each item, how many transactions hold it."""

    @property
    def length_counts(self) -> Mapping[int, int]:
        """How many transactions have how many items."""

    def __len__(self) -> int:
        """How many transactions there are."""
