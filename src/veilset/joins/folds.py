"""Folds of the rows of a target table, and which of them share rows of other tables.

Many target rows can have the same partner: the orders of a customer. If some of them are trained on and others tried, a
tree can recognize the customer. It is then right about new orders of known customers, and perhaps about no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, said
from veilset.exact import is_whole
from veilset.joins.columns import Codes, column_of, ranked
from veilset.joins.graph import resolved
from veilset.joins.linked import LinkedTables

Numbers = npt.NDArray[np.int64]

CONSIDERABLE = 0.1
"""The share of target rows with a partner in common from which it is told."""


@dataclass(frozen=True, eq=False)
class Folds:
    """The fold of each target row, and the number of its group; a group is in one fold."""

    fold_of: Numbers
    groups: Numbers

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.fold_of.max()) + 1


@dataclass(frozen=True, eq=False)
class Partners:
    """The neighbour of the target table whose rows are partners of target rows in several folds.

    *keys* has the number of the key of each target row, -1 if it has no partner; *share* of them have it in common with
    a row of another fold.
    """

    table: str
    on: str
    keys: Codes
    share: float

    @property
    def count(self) -> int:
        """How many different keys there are."""
        return len(np.unique(self.keys[self.keys >= 0]))

    def folds(self, folds: int, random_state: int) -> Folds:
        """Folds by key; each row without a partner is a group of its own, and there are no more folds than keys."""
        found, groups = np.unique(self.keys, return_inverse=True)
        matched = self.keys >= 0
        groups = groups - int(found[0] < 0)
        number = self.count
        groups[~matched] = number + np.arange(np.count_nonzero(~matched))
        return dealt(groups, min(folds, number), random_state, number)


def dealt(groups: Numbers, folds: int, random_state: int, first: int = 0) -> Folds:
    """Deal groups, which are numbered from 0, out to folds in random order; the *first* so many before the others."""
    number, random = int(groups.max()) + 1, np.random.default_rng(random_state)
    order = np.concatenate([random.permutation(first), first + random.permutation(number - first)])
    dealt = np.empty(number, np.int64)
    dealt[order] = np.arange(number) % max(1, folds)
    return Folds(dealt[groups], groups)


def folds_by_row(linked: LinkedTables, table: str, folds: int, groups: str | None, random_state: int) -> Folds:
    """Folds of the rows of the target table, or of groups of them: those with the same value of a column."""
    if not is_whole(folds, least=0) or folds == 1:
        raise InvalidArgument(f"{said('folds')} is {folds!r}.", "Give a whole number from 2, or 0 for none.")
    if not is_whole(random_state, least=0):
        raise InvalidArgument(f"{said('random_state')} is {random_state!r}.", "Give a whole number from 0.")
    codes = np.arange(linked.tables[table].num_rows)
    if groups is not None:
        where, column = resolved(groups, {name: one.column_names for name, one in linked.tables.items()})
        if where != table:
            raise InvalidArgument(
                f"{said('groups')} is {groups!r}, a column of {where!r}.",
                f"Name a column of the target table {table!r}.",
            )
        codes = ranked(column_of(linked.tables[table], column))[0] + 1  # rows without a value are a group too
    found, codes = np.unique(codes, return_inverse=True)
    if len(found) < folds:
        what = "rows with a class" if groups is None else f"different values of {groups}"
        raise InvalidArgument(
            f"{said('folds')} is {folds:,}, but there are only {len(found):,} {what}.",
            "Give fewer folds, or 0 for none.",
        )
    return dealt(codes, folds, random_state)


def shared_partners(linked: LinkedTables, table: str, folds: Folds, classes: Codes) -> Partners | None:
    """The partners that considerably many target rows share with rows of other folds; None: there are none.

    Of several tables, the one whose keys tell the class best: there, recognizing a partner helps most.
    """
    found = [one for one in _neighbours(linked, table, folds) if one.share >= CONSIDERABLE]
    return max(found, key=lambda one: told_by_key(one.keys, classes), default=None)


def _neighbours(linked: LinkedTables, table: str, folds: Folds) -> Iterator[Partners]:
    for edge, (left, right, count) in zip(linked.graph.edges, linked.keys, strict=True):
        if table in (edge.left, edge.right):
            keys, other = (left, edge.right) if edge.left == table else (right, edge.left)
            here = np.flatnonzero(keys >= 0)
            pairs = np.unique(keys[here] * np.int64(folds.count) + folds.fold_of[here])
            in_folds = np.bincount(pairs // folds.count, minlength=count)
            yield Partners(other, str(edge), keys, float(np.count_nonzero(in_folds[keys[here]] > 1) / len(keys)))


def told_by_key(keys: Codes, classes: Codes) -> float:
    """The share of rows whose class is the largest one of the other rows with their key.

    >>> told_by_key(np.array([0, 0, 0, 1, 1, 2, -1]), np.array([0, 0, 1, 1, 1, 0, 0]))
    0.5714285714285714
    """
    here = keys >= 0
    number = int(classes.max()) + 1
    pairs, counts = np.unique(keys[here] * np.int64(number) + classes[here], return_counts=True)
    order = np.lexsort((-counts, pairs // number))
    of, counts = pairs[order] // number, np.append(counts[order], 0)
    first = np.flatnonzero(np.diff(of, prepend=-1))
    second = np.where(np.append(of, -1)[first + 1] == of[first], counts[first + 1], 0)
    largest = counts[first]
    return float(largest[(largest > 1) & (largest > second)].sum() / len(keys))
