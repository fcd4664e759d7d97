"""How data is cut into columns and buckets, as the auditor's kernels take it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.models import LDiverseAnatomy
from veilset.transactions import Transactions


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
    free: npt.NDArray[np.uint8]
    """Whether having no item of a column is free."""
    whole: bool

    @classmethod
    def of(cls, data: Transactions, promise: LDiverseAnatomy) -> Cut:
        """Of *data*, as *promise* sees it."""
        whole = data.anatomy is None or len(data.anatomy.columns) < 2
        if data.anatomy is None or whole:
            columns = tuple(filter(None, (data.names,)))
            starts, column_of = np.arange(len(data) + 1), np.zeros(len(data.names), dtype=np.int32)
        else:
            columns = data.anatomy.columns
            starts, column_of = data.anatomy.starts, data.anatomy.column_of(data.names)
        secret = set(data.sensitive)
        free = [promise.empty_is_free(sensitive=secret.issuperset(column)) for column in columns]
        return cls(columns, starts, column_of, np.array(free, dtype=np.uint8), whole)

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return len(self.starts) - 1
