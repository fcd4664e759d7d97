"""Items into columns: as many as wished where l-diversity allows it, fewer where it does not.

The wish is a number of columns (`clustering`), a partition, or a level of a taxonomy (`partitions`). Sensitive items
have a column of their own. Columns in which a value is too common become one with others (`merging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veilset.anonymize.anatomy.clustering import clusters
from veilset.anonymize.anatomy.merging import (
    Column,
    emptiest,
    merge_once,
    merge_until_feasible,
    number_values,
    smaller_task,
)
from veilset.anonymize.anatomy.partitions import codes_of, groups_at, partition_of
from veilset.errors import Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.release import ColumnMerge
from veilset.transactions import TaxonomyLike, Transactions, read_partition

ColumnsLike = int | Sequence[Sequence[str]] | str | Path
"""How many columns, the items of each, or a file with the header ``item,column``."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns, and every transaction's values in them. What became of a wish is told as in `Partition`."""

    items: tuple[tuple[str, ...], ...]
    """The items of each column in vocabulary order; public columns first, in the order of their first items."""
    values: npt.NDArray[np.int32] = field(repr=False)
    """A row for each transaction, with the number of its value in each column: 0 for none of the items, whether or not
    that happens, else 1, 2, …"""
    wished: int
    medoids: tuple[str, ...]
    merges: tuple[ColumnMerge, ...]
    notes: tuple[str, ...]
    given: tuple[tuple[str, ...], ...] | None = field(repr=False)
    """The partition that was wished for, where it was no number: what *columns* may be to wish for the same again."""
    counted: tuple[Column, ...] = field(repr=False)
    """The same columns, as they are merged."""

    @property
    def can_be_fewer(self) -> bool:
        """Whether two public columns can become one: two columns have to be left."""
        return len(self.items) > 2

    def over(self, data: Transactions, limits: Limits) -> Columns:
        """The same columns of fewer transactions; `Infeasible` if only one column has items there."""
        present = set(data.names)
        parts = [data.codes([item for item in column if item in present]).tolist() for column in self.items]
        if len(parts := [part for part in parts if part]) < 2:
            raise Infeasible(
                "Only one column has items in transactions that fit into a bucket.",
                "Ask for a smaller l, other columns or fewer sensitive items.",
            )
        return _as_columns(data, number_values(data, parts, limits), self)

    def with_fewer(self, data: Transactions, promise: LDiverseAnatomy, limits: Limits) -> Columns:
        """The same with one public column less: the emptiest has become one with another."""
        left, merge = merge_once(data, self.counted, emptiest(self.counted), promise, limits)
        return _as_columns(data, left, replace(self, merges=(*self.merges, merge)))


def make_columns(
    data: Transactions,
    promise: LDiverseAnatomy,
    *,
    columns: ColumnsLike,
    taxonomy: TaxonomyLike | None,
    level: int | None,
    random_state: int,
    limits: Limits,
) -> Columns:
    """Columns that can be l-diverse; `Infeasible` if there are no two. The wish is that of `multi_anatomy`.

    >>> data = Transactions.from_lists([["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"], ["a", "b"], ["c", "d"]])
    >>> wish = {"taxonomy": None, "level": None, "random_state": 1, "limits": Limits()}
    >>> made = make_columns(data, LDiverseAnatomy(2), columns=[["a", "b"], ["c", "d"]], **wish)
    >>> made.items
    (('a', 'b'), ('c', 'd'))
    >>> made.values.tolist()
    [[1, 1], [1, 2], [2, 1], [2, 2], [3, 0], [0, 3]]
    >>> made = make_columns(data, LDiverseAnatomy(2), columns=[["a", "b"], ["c"], ["d"]], **wish)
    >>> made.items, len(made.merges)
    ((('a', 'b'), ('c', 'd')), 1)
    """
    _check_wish(columns, taxonomy, level)
    if len(data) == 0 or len(data.names) < 2:
        raise Infeasible(
            f"The data has {len(data):,} transactions and {len(data.names):,} items.",
            "Two columns need transactions of two items or more.",
        )
    given, parts, medoids, notes = _wished(data, columns, taxonomy, level, random_state, limits)
    if len(parts) < 2:
        raise InvalidArgument(
            f"All {len(data.names):,} items of the data are in one column.",
            "Give at least two columns." if taxonomy is None else "Give a deeper level of the taxonomy.",
        )
    made, merges = merge_until_feasible(data, number_values(data, parts, limits), promise, limits)
    limits.require(4 * len(data) * len(made), "Cutting transactions into columns", smaller_task(len(made)))
    nothing = np.empty((0, 0), dtype=np.int32)
    return _as_columns(data, made, Columns((), nothing, len(parts), medoids, merges, notes, given, ()))


def _as_columns(data: Transactions, made: Sequence[Column], wish: Columns) -> Columns:
    return replace(
        wish,
        items=tuple(tuple(data.names[code] for code in column.codes) for column in made),
        values=np.stack([column.values for column in made], axis=1),
        counted=tuple(made),
    )


def _wished(
    data: Transactions,
    columns: ColumnsLike,
    taxonomy: TaxonomyLike | None,
    level: int | None,
    random_state: int,
    limits: Limits,
) -> tuple[tuple[tuple[str, ...], ...] | None, list[list[int]], tuple[str, ...], tuple[str, ...]]:
    """The partition, if it is given; the codes of each column, medoids and notes."""
    file = None
    if not data.public:
        raise Infeasible("All items are sensitive, and are one column.", "Two columns need public items.")
    if taxonomy is not None:
        given, notes = groups_at(level, taxonomy, data)
    elif isinstance(columns, (int, np.integer)):
        return None, *_around_medoids(data, int(columns), random_state, limits)
    else:
        file = read_partition(columns) if isinstance(columns, (str, Path)) else None
        given, notes = partition_of(columns) if file is None else file.parts, ()  # type: ignore[arg-type]
    parts, absent = codes_of(given, data, file)
    return given, parts, (), notes + absent


def _around_medoids(
    data: Transactions, count: int, random_state: int, limits: Limits
) -> tuple[list[list[int]], tuple[str, ...], tuple[str, ...]]:
    """Columns, medoids and notes; all sensitive items are one of the columns."""
    sensitive = np.flatnonzero(data.is_sensitive).tolist()
    wished = count - 1 if sensitive else count
    parts, medoids = clusters(data, wished, random_state=random_state, limits=limits)
    notes: tuple[str, ...] = ()
    if len(parts) < min(wished, len(data.public)):
        notes = (f"Only {len(parts):,} columns of public items were made: medoids are looked for among as many.",)
    return parts + [sensitive] * bool(sensitive), medoids, notes


def _check_wish(columns: ColumnsLike, taxonomy: TaxonomyLike | None, level: int | None) -> None:
    if isinstance(columns, bool) or (isinstance(columns, (int, np.integer)) and columns < 2):
        raise InvalidArgument(
            f"{said('columns')} is {columns!r}.", "Give a number of at least 2, or the items of each column."
        )
    if taxonomy is not None and not isinstance(columns, (int, np.integer)):
        raise InvalidArgument("There is a taxonomy, and columns are given, too.", "Give one of them.")
    if taxonomy is None and level is not None:
        raise InvalidArgument(
            f"{said('level')} is {level!r}, but there is no taxonomy.", f"Give a {said('taxonomy')}, or leave it out."
        )
