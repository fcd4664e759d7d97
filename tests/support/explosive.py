"""Data with more to look at than any test waits for."""

import random

import numpy as np

from veilset import Coherence, HiddenPatterns, RhoUncertainty, Transactions


def explosive(items: int = 40, rows: int = 60) -> Transactions:
    """All itemsets of rows that are nearly equal are safe at a small k: their number is beyond any memory."""
    return Transactions.from_lists([[i for i in range(items) if i != row % items] for row in range(rows)])


def lacking(known: list[str], others: list[str], seed: int = 1, rows: int = 300, gone: int = 5) -> list[list[str]]:
    """Rows of all items but one of those that are known, in turn, and some of the others."""
    draw, names = random.Random(seed), [*known, *others]
    left_out = [{known[row % len(known)], *draw.sample(others, gone)} for row in range(rows)]
    return [[name for name in names if name not in one] for one in left_out]


def no_small_cover(items: int = 100, rows: int = 300, share: float = 0.9) -> Transactions:
    """Nobody can say soon how many of its items tell a row from all others: each of these has many of a hundred."""
    draw = random.Random(3)
    return Transactions.from_lists([[i for i in range(items) if draw.random() < share] for _ in range(rows)])


def explosive_rows(
    items: int, secret: int | str, held: float = 0.9, others: float = 0.95, count: int = 5000
) -> list[list[int | str]]:
    """Rows that are nearly equal, few of those with the secret protected in whole: no search for rules ends soon."""
    draw = random.Random(7)
    rows = [[*(i for i in range(items) if draw.random() < held), secret] for _ in range(300)]
    rows += [[i for i in range(items) if draw.random() < others] for _ in range(count)]
    return rows + [list(range(items))] * 2


def nearly_equal(items: int, share: float) -> Transactions:
    """Hundreds of rows with the secret that lack a few items of all, thousands without it."""
    draw = random.Random(1)
    rows = [[*(item for item in range(items) if draw.random() < share), "α"] for _ in range(300)]
    rows += [[item for item in range(items) if draw.random() < 0.95] for _ in range(5000)]
    return Transactions.from_lists([*rows, *[list(range(items))] * 2], sensitive=["α"])


def all_but_one(size: int) -> tuple[list[str], Transactions]:
    """A pattern, and rows that each lack one of its items."""
    names = [f"i{number:03}" for number in range(size)]
    return names, Transactions.from_lists([[name for name in names if name != gone] for gone in names])


def explosive_rules() -> Transactions:
    return Transactions.from_lists(explosive_rows(100, "α"), sensitive=["α"])


def endless_rules() -> Transactions:
    """Longer rows, and fewer of the others: the auditor's proof does not end soon, either."""
    return Transactions.from_lists(explosive_rows(200, "α", 0.98, 0.98, 900), sensitive=["α"])


def many_rows(rows: int = 30_000, items: int = 40) -> Transactions:
    draw = np.random.default_rng(4)
    held = draw.random((rows, items)) < 0.3
    offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))]).astype(np.int64)
    return Transactions.from_codes(offsets, np.nonzero(held)[1].astype(np.int32), [f"i{i:03}" for i in range(items)])


def explosive_pattern() -> tuple[Transactions, HiddenPatterns]:
    """A pattern whose largest parts that are found are beyond number."""
    data = many_rows(rows=20_000, items=60)
    return data, HiddenPatterns([data.names], min_support=3)


def crowded_patterns() -> tuple[Transactions, HiddenPatterns]:
    """Rows that all hold a part of thousands of patterns: the kernel takes long."""
    rows, items = 400_000, np.arange(12, dtype=np.int32)
    data = Transactions.from_codes(np.arange(0, 12 * rows + 1, 12), np.tile(items, rows), [f"i{i:02}" for i in items])
    patterns = [[*data.names[:10], f"absent{number}"] for number in range(2000)]
    return data, HiddenPatterns(patterns, min_support=1)


LONG_AUDITS = {
    "coherence": lambda: (no_small_cover(), Coherence(k=2, p=14)),
    "rho-uncertainty": lambda: (endless_rules(), RhoUncertainty(rho="1/2")),
    "a pattern with many parts": explosive_pattern,
    "many patterns": crowded_patterns,
}
