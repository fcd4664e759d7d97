"""How data is cut into columns and buckets, as the auditor's kernels take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.models.l_diverse_anatomy import Rule
from veilset.transactions import Transactions

_RULES: dict[Rule, int] = {rule: number for number, rule in enumerate(get_args(Rule))}
VALUE, FREE, SENSITIVE = _RULES.values()
"""What limits a column's values, as the kernels number it."""


@dataclass(frozen=True)
class Cut:
    """Columns and buckets.

    Data without them, or with a single column, is published *whole*: as one column of all items, in which each
    transaction is a bucket of its own.
    """

    columns: tuple[tuple[str, ...], ...]
    starts: npt.NDArray[np.int64]
    """Where each bucket begins, and where the last one ends."""
    column_of: npt.NDArray[np.int32]
    """The number of the column of each item."""
    rules: npt.NDArray[np.uint8]
    """What limits the values of each column."""
    whole: bool

    @classmethod
    def of(cls, data: Transactions, promise: LDiverseAnatomy) -> Cut:
        """Of *data*, as *promise* sees it."""
        if data.anatomy is None or len(data.anatomy.columns) < 2:
            columns = tuple(filter(None, (data.names,)))
            starts, column_of = np.arange(len(data) + 1), np.zeros(len(data.names), dtype=np.int32)
            rules = np.full(len(columns), _RULES[promise.rule(sensitive=False)], dtype=np.uint8)
            return cls(columns, starts, column_of, rules, whole=True)
        anatomy, secret = data.anatomy, set(data.sensitive)
        numbers = [_RULES[promise.rule(sensitive=secret.issuperset(column))] for column in anatomy.columns]
        rules = np.array(numbers, dtype=np.uint8)
        return cls(anatomy.columns, anatomy.starts, anatomy.column_of(data.names), rules, whole=False)

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return len(self.starts) - 1


@dataclass(frozen=True)
class Profiles:
    """In how many transactions of a bucket each column has something. Many buckets share a profile.

    A bucket is *anchored* if in some column every transaction has something: it has none. A profile lists the columns
    where somebody has something: those of profile p are ``columns[offsets[p]:offsets[p + 1]]``.
    """

    of: npt.NDArray[np.int64]
    """The profile of each bucket; -1 if it is anchored."""
    sizes: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    holders: npt.NDArray[np.int64]
    """In how many transactions each of *columns* has something."""
    totals: npt.NDArray[np.int64]
    """The same of each column of the data, over all buckets."""

    @classmethod
    def counted(cls, data: Transactions, cut: Cut, limits: Limits) -> Profiles:
        """Those of all buckets."""
        with limits.guard("The audit", "look at fewer transactions."):
            return cls(
                *_native.audit.anatomy_profiles(
                    data.offsets,
                    data.items,
                    cut.starts,
                    cut.column_of,
                    columns=len(cut.columns),
                    threads=limits.thread_count,
                    **limits.for_kernel(lambda _: "Counting values in buckets"),
                )
            )

    def empty(self, profile: int) -> dict[int, int]:
        """In how many transactions each column of a profile has nothing."""
        first, end = self.offsets[profile : profile + 2].tolist()
        columns, holders = self.columns[first:end].tolist(), self.holders[first:end].tolist()
        size = int(self.sizes[profile])
        return {column: size - some for column, some in zip(columns, holders, strict=True)}
