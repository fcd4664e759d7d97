"""Values of transactions in columns of items: which of them are the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.limits import Limits
from veilset.transactions import Transactions

__all__ = ["column_values"]


def column_values(
    data: Transactions, column_of: npt.NDArray[np.int32], columns: int, *, limits: Limits
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """For each column the number of every transaction's value; and how many there are besides having nothing.

    A value is the set of a transaction's items in a column: 0 for none of them, the others 1, 2, … as they appear.

    Parameters
    ----------
    data : Transactions
    column_of : array of int32
        The column of each item.
    columns : int
        How many there are.
    limits : Limits

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "b", "c"]])
    >>> values, others = column_values(data, np.array([0, 0, 1], dtype=np.int32), 2, limits=Limits())
    >>> values.tolist(), others.tolist()
    ([[1, 2, 1], [0, 1, 1]], [2, 1])
    """
    with limits.guard("Telling values apart", "take fewer columns or transactions."):
        return _native.anatomy.column_values(
            data.offsets,
            data.items,
            column_of,
            columns,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Telling values apart"),
        )
