"""`Anatomy`: how transactions are cut into columns of items and buckets of transactions.

What is published of a bucket is, for each column, the values (sets of items, perhaps empty) that its transactions have
there, and not which of them go together: inside a bucket, each column's values are in an order of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The columns and buckets of some transactions; made by `of`.

    Parameters
    ----------
    columns : tuple of tuples of str
        The items of each column; every item of the transactions is in exactly one.
    buckets : array of int64
        The bucket of each transaction: 0, 1, 2, …, ascending, none left out.

    Examples
    --------
    >>> anatomy = Anatomy.of([["a", "b"], ["c"]], [0, 0, 1, 1, 1])
    >>> anatomy
    <Anatomy: 2 columns, 2 buckets of 5 transactions>
    >>> Anatomy.of([["a"]], [0])
    <Anatomy: 1 column, 1 bucket of 1 transaction>
    >>> anatomy.starts.tolist()
    [0, 2, 5]
    >>> anatomy.column_of(["c", "a"]).tolist()
    [1, 0]
    """

    columns: tuple[tuple[str, ...], ...]
    buckets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, columns: Iterable[Iterable[str]], buckets: npt.ArrayLike) -> Anatomy:
        """Columns and buckets that are as they should be; else an error."""
        parts = tuple(tuple(column) for column in columns)
        if not all(parts):
            raise InvalidArgument(f"Column {parts.index(()) + 1} has no items.", "Leave it out.")
        seen: set[str] = set()
        for item in (item for part in parts for item in part):
            if item in seen:
                raise InvalidArgument(f"{item!r} is in two columns, or twice in one.", "Give every item one column.")
            seen.add(item)
        given = np.asarray(buckets)
        if given.size and given.dtype.kind not in "iu":
            raise InvalidArgument(f"Buckets are {given.dtype}, not whole numbers.", "Number them 0, 1, 2, …")
        numbers = given.astype(np.int64)
        if numbers.ndim != 1 or (numbers.size and (numbers[0] != 0 or not np.isin(np.diff(numbers), (0, 1)).all())):
            raise InvalidArgument(
                "Buckets are not numbered 0, 1, 2, … one after the other.", "Sort the rows by bucket."
            )
        numbers.setflags(write=False)
        return cls(parts, numbers)

    @property
    def count(self) -> int:
        """The number of buckets."""
        return int(self.buckets[-1]) + 1 if len(self.buckets) else 0

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each bucket begins, and where the last one ends."""
        return np.searchsorted(self.buckets, np.arange(self.count + 1))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of transactions of each bucket."""
        return np.diff(self.starts)

    def column_of(self, items: Sequence[str]) -> npt.NDArray[np.int32]:
        """The number of the column of each of these items."""
        place = {item: number for number, column in enumerate(self.columns) for item in column}
        return np.array([place[item] for item in items], dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Anatomy):
            return NotImplemented
        return self.columns == other.columns and np.array_equal(self.buckets, other.buckets)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = {"column": len(self.columns), "bucket": self.count, "transaction": len(self.buckets)}
        columns, buckets, rows = (f"{count:,} {what}{'s' * (count != 1)}" for what, count in counts.items())
        return f"<Anatomy: {columns}, {buckets} of {rows}>"
