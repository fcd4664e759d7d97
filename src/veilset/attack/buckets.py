"""The buckets of an anatomy as an attacker compares them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from veilset.transactions import Anatomy, Transactions

OCCURRENCES = 5_000_000
"""The most in the buckets that are compared."""

TASK, ADVICE = "Comparing buckets", "release fewer transactions."
"""What is told while it runs, and if it exceeds a limit."""

_TARGETS = 2_000
_ITEMS = 3_000  # different ones in the buckets of targets: pairs of them are counted
_LARGEST = 1_000  # rows of a bucket whose members are targets

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Buckets:
    """The buckets that are compared: all, or as many as can be.

    *rows* are the positions of their rows in the release. *cells* says which of them have which items, having nothing
    in a column being one; *counts*, how many rows of a bucket do; *totals*, how many of all. *column_of* is of items,
    and so is *is_nothing*. *is_sensitive* is of columns.
    """

    rows: Ints
    starts: Ints
    cells: csr_array
    counts: csr_array
    totals: Floats
    column_of: Ints
    is_nothing: npt.NDArray[np.bool_]
    is_sensitive: npt.NDArray[np.bool_]

    @classmethod
    def drawn(cls, public: Transactions, anatomy: Anatomy, chance: np.random.Generator) -> Buckets:
        """Buckets of a release."""
        lengths = np.diff(public.offsets[anatomy.starts])
        order = chance.permutation(anatomy.count)
        drawn = np.zeros(anatomy.count, dtype=bool)
        drawn[order[: max(2, np.searchsorted(np.cumsum(lengths[order]), OCCURRENCES, side="right"))]] = True
        rows = np.flatnonzero(drawn[anatomy.buckets])
        starts = np.append(0, np.cumsum(anatomy.sizes[drawn]))
        cells = cells_of(public, rows, public, anatomy)
        member = csr_array((np.ones(len(rows)), np.arange(len(rows)), starts), shape=(len(starts) - 1, len(rows)))
        parts = len(anatomy.columns)
        columns = np.append(anatomy.column_of(public.names).astype(np.int64), np.arange(parts))
        counts = (member @ cells).tocsr()
        counts.sort_indices()
        nothing = np.arange(len(columns)) >= len(public.names)
        sensitive = np.array([not set(public.sensitive).isdisjoint(column) for column in anatomy.columns])
        return cls(rows, starts, cells, counts, counts.sum(axis=0), columns, nothing, sensitive)

    @property
    def sizes(self) -> Ints:
        """The number of rows of each bucket."""
        return np.diff(self.starts)

    @property
    def bucket_of(self) -> Ints:
        """The bucket of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def never_both(self) -> npt.NDArray[np.bool_]:
        """Items of which no row has two: if there are two columns, nobody has nothing in both."""
        return self.is_nothing & (len(self.is_sensitive) == 2)

    def part(self, which: Ints) -> Buckets:
        """Some of the buckets, in their order; the totals stay those of all."""
        drawn = np.zeros(len(self.sizes), dtype=bool)
        drawn[which] = True
        rows = drawn[self.bucket_of]
        starts = np.append(0, np.cumsum(self.sizes[drawn]))
        return replace(
            self, rows=self.rows[rows], starts=starts, cells=self.cells[rows], counts=self.counts[np.flatnonzero(drawn)]
        )

    def targets(self, chance: np.random.Generator) -> tuple[Ints, Ints]:
        """Buckets whose members are attacked, and the items in them."""
        order = chance.permutation(len(self.sizes))
        order = order[(self.sizes[order] > 1) & (self.sizes[order] <= _LARGEST)]
        drawn = self.counts[order]
        items, first = np.unique(drawn.indices, return_index=True)
        met = np.searchsorted(np.sort(first), drawn.indptr[1:])  # how many, up to each bucket
        taken = np.count_nonzero((np.cumsum(self.sizes[order]) <= _TARGETS) & (met <= _ITEMS))
        return order[:taken], items[first < drawn.indptr[taken]]

    def attacked(self, bucket: int, people: csr_array, weigh: Callable[[int, Ints], Floats]) -> Attacked:
        """A bucket, with the rows of its members, and weights for each two items that it holds."""
        held, rows = self.counts[[bucket]].indices, slice(self.starts[bucket], self.starts[bucket + 1])
        published, known = (cells[rows][:, held].toarray() for cells in (self.cells, people))
        columns, nothing = self.column_of[held], self.is_nothing[held]
        return Attacked(bucket, columns, nothing, self.is_sensitive, weigh(bucket, held), published, known)


@dataclass(frozen=True, eq=False)
class Attacked:
    """A bucket that is attacked.

    *columns* and *is_nothing* are of the items that it holds, *weights* of each two of them, *is_sensitive* of columns.
    *published* and *known* are its rows and its members' true ones, of zeros and ones.
    """

    number: int
    columns: Ints
    is_nothing: npt.NDArray[np.bool_]
    is_sensitive: npt.NDArray[np.bool_]
    weights: Floats
    published: Floats
    known: Floats


def cells_of(data: Transactions, rows: Ints, public: Transactions, anatomy: Anatomy) -> csr_array:
    """Which of these rows of some data have which items of the release, and which columns they have nothing in."""
    taken = data.take(rows)
    code_of = {name: code for code, name in enumerate(public.names)}
    codes = np.array([code_of.get(name, -1) for name in taken.names], dtype=np.int64)[taken.items]
    row = np.repeat(np.arange(len(rows)), np.diff(taken.offsets))[codes >= 0]
    codes = codes[codes >= 0]
    empty = np.ones((len(rows), len(anatomy.columns)), dtype=bool)
    empty[row, anatomy.column_of(public.names)[codes]] = False
    without, column = np.nonzero(empty)
    places = np.append(row, without), np.append(codes, column + len(public.names))
    return csr_array((np.ones(len(places[0])), places), shape=(len(rows), len(public.names) + len(anatomy.columns)))
