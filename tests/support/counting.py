"""Data to count in: as a matrix, repeated, cut into columns and buckets; and what is expected there, by definition."""

from fractions import Fraction
from itertools import chain

import numpy as np
from hypothesis import strategies as st

from veilset import Transactions
from veilset.mining import Itemsets
from veilset.testing import strategies
from veilset.testing.checks import as_sets
from veilset.transactions import Anatomy


@st.composite
def repeated(draw: st.DrawFn) -> Transactions:
    """Small transactions, some of them many times over: these become rows with weights."""
    data = draw(strategies.transactions(max_rows=8))
    times = draw(st.lists(st.integers(1, 70), min_size=len(data), max_size=len(data)))
    rows = [row for row, count in zip(data.to_lists(), times, strict=True) for _ in range(count)]
    return Transactions.from_lists(rows, sensitive=data.sensitive)


def dense() -> tuple[Transactions, Itemsets]:
    held = np.random.default_rng(0).random((300, 60)) < 0.7
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in held])
    return data, itemsets(list(data.names), [data.names[:3], data.names[30:40]])


def matrix(rows: int, items: int, *, seed: int) -> np.ndarray:
    """A few items that half of the rows hold, many that next to none do."""
    draw = np.random.default_rng(seed)
    return draw.random((rows, items)) < 0.6 / np.arange(1, items + 1) ** 0.8


def from_matrix(held: np.ndarray) -> Transactions:
    offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    codes = np.nonzero(held)[1].astype(np.int32)
    return Transactions.from_codes(offsets, codes, [str(i) for i in range(held.shape[1])])


def full(rows: int, items: int) -> Transactions:
    """Every row holds every item but one, so that few rows are equal."""
    codes = (np.arange(rows)[:, None] + np.arange(items - 1)) % items
    names = [str(i) for i in range(items)]
    return Transactions.from_codes(np.arange(rows + 1) * (items - 1), codes.ravel().astype(np.int32), names)


def many_questions(items: int, count: int) -> Itemsets:
    draw = np.random.default_rng(11)
    asked = draw.integers(0, items, 4 * count, dtype=np.int32)
    names = tuple(str(i) for i in range(items))
    return Itemsets(names, 4 * np.arange(count + 1), asked, np.zeros(count, dtype=np.int64))


def by_definition(data, itemset):
    """The sum over buckets of |B| times the product of shares, exactly."""
    anatomy, rows, total = data.anatomy, as_sets(data), Fraction(0)
    for bucket in range(anatomy.count):
        members = [row for row, number in zip(rows, anatomy.buckets.tolist(), strict=True) if number == bucket]
        term = Fraction(len(members))
        for column in anatomy.columns:
            if asked := set(itemset).intersection(column):
                term *= Fraction(sum(asked <= row for row in members), len(members))
        total += term
    return total


@st.composite
def anatomized(draw, data, most=4):
    """Any columns, up to so many, and any buckets."""
    places = draw(st.lists(st.integers(0, most - 1), min_size=len(data.names), max_size=len(data.names)))
    columns = [[name for name, place in zip(data.names, places, strict=True) if place == at] for at in range(most)]
    steps = draw(st.lists(st.integers(0, 1), min_size=max(0, len(data) - 1), max_size=max(0, len(data) - 1)))
    buckets = np.cumsum([0, *steps])[: len(data)]
    return data.anatomized(Anatomy.of([column for column in columns if column], buckets))


def full_in_buckets(rows, items):
    codes = np.tile(np.arange(items, dtype=np.int32), rows)
    data = Transactions.from_codes(np.arange(rows + 1) * items, codes, [str(i) for i in range(items)])
    return data.anatomized(Anatomy.of([[name] for name in data.names], np.arange(rows) // 2))


def itemsets(names, lists) -> Itemsets:
    """Itemsets with no support, over a vocabulary of their own."""
    codes = [sorted(names.index(name) for name in itemset) for itemset in lists]
    offsets = np.cumsum([0, *map(len, codes)])
    return Itemsets(tuple(names), offsets, np.array([*chain(*codes)], dtype=np.int32), np.zeros(len(codes), np.int64))


@st.composite
def data_and_itemsets(draw, some_data):
    """Itemsets in any order, with items named twice, and empty ones."""
    data = draw(some_data)
    item = st.sampled_from([name for name in data.names if name[0] != "z"] + ["z0"] * ("z0" in data.names) or [None])
    itemset = st.lists(item, max_size=5) if data.names else st.just([])
    return data, draw(st.lists(itemset, max_size=20))
