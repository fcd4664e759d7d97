"""Data that is cut into columns and buckets, written shortly."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from veilset import LDiverseAnatomy, Transactions
from veilset.anonymize.anatomy.columns import Columns, make_columns
from veilset.limits import Limits
from veilset.release import Partition, Release
from veilset.transactions import Anatomy


def cut(
    rows: Iterable[Iterable[str]], columns: Iterable[Iterable[str]], buckets: list[int], sensitive: Iterable[str] = ()
) -> Transactions:
    """Rows, columns and sensitive items may be texts whose letters are items."""
    data = Transactions.from_lists([list(row) for row in rows], sensitive=list(sensitive))
    return data.anatomized(Anatomy.of(columns, buckets))


def permuted(draw: st.DrawFn, data: Transactions, anatomy: Anatomy) -> list[set[str]]:
    """Rows whose values change places inside buckets, each column in its own way."""
    rows: list[set[str]] = [set() for _ in range(len(data))]
    for column in anatomy.columns:
        for first, last in pairwise(anatomy.starts.tolist()):
            order = draw(st.permutations(range(first, last)))
            for row, source in zip(range(first, last), order, strict=True):
                rows[row] |= set(data[source]).intersection(column)
    return rows


def of_ten(rows: int, seed: int = 1) -> Transactions:
    """Buckets of ten; each row has one of nine items in each of three columns."""
    drawn = np.random.default_rng(seed).integers(9, size=(rows, 3))
    names = [f"{letter}{number}" for letter in "abc" for number in range(9)]
    codes = (drawn + np.array([0, 9, 18])).astype(np.int32).ravel()
    data = Transactions.from_codes(np.arange(0, 3 * rows + 1, 3), codes, names)
    columns = [[name for name in data.names if name[0] == letter] for letter in "abc"]
    return data.anatomized(Anatomy.of(columns, np.arange(rows) // 10))


PLAIN = {"columns": 3, "taxonomy": None, "level": None, "random_state": 7}


def made(data: Transactions, promise: LDiverseAnatomy, *, threads: int = 1, **changes) -> Columns:
    return make_columns(data, promise, limits=Limits(threads=threads), **PLAIN | changes)


def anatomized_release(
    rows: Iterable[Iterable[str]], released: Iterable[Iterable[str]], columns: Iterable[Iterable[str]], *, size: int
) -> Release:
    """Rows in buckets of one size, in their order, and what is published of them."""
    original = Transactions.from_lists([list(row) for row in rows])
    public = cut(released, columns, [row // size for row in range(len(original))])
    how = Partition(np.arange(len(original)), wished=2, medoids=(), merges=(), left_over=0, joined=0)
    return Release(original, public, LDiverseAnatomy(2), "multi-anatomy", {}, (), partition=how)


def pairs(rows: int, *, linked: float, seed: int = 3) -> Transactions:
    """Everybody has one of twenty items v0, v1, … and one of w0, w1, …; a share of them has the same number in both."""
    chance = np.random.default_rng(seed)
    first, other = chance.integers(20, size=(2, rows))
    second = np.where(chance.random(rows) < linked, first, other)
    return Transactions.from_lists([[f"v{one}", f"w{two}"] for one, two in zip(first, second, strict=True)])
