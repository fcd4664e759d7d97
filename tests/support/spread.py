"""What tests of audits on engines share: generated data, and how their answers are compared."""

import numpy as np

from veilset import Transactions, generate
from veilset.engines.local import LocalDealt


def longest(data):
    return max(1, int(data.only(data.public).lengths.max(initial=0)))


def takes_another_way(data, promise):
    """Whether the local auditor may decide by whole rows."""
    return promise.p is None or promise.p >= longest(data) or (promise.p > 2 and not data.sensitive)


def point_of_sale(transactions):
    """Few items in most baskets, many in few; two of those in between are sensitive."""
    data = generate.pos_like(transactions=transactions, items=60, average_length=5, maximum_length=12, random_state=5)
    by_support = np.argsort(data.supports)
    return data.with_sensitive([data.names[code] for code in by_support[[20, 40]]])


def values(answer):
    return {name: margin.value for name, margin in answer.margins.items()}


def skewed(transactions):
    """One item in every other transaction, a few long transactions; two items are sensitive."""
    draw = np.random.default_rng(7)
    rows = [
        [*(f"i{n}" for n in set(draw.integers(0, 40, 40 if row % 100 == 0 else 4).tolist())), *["most"] * (row % 2)]
        for row in range(transactions)
    ]
    return Transactions.from_lists(rows, sensitive=["i3", "i5"])


def watched(monkeypatch):
    """The rows of each share that work is done on, in a list that grows."""
    each, read = LocalDealt.each, []
    monkeypatch.setattr(
        LocalDealt,
        "each",
        lambda dealt, work: each(dealt, lambda number, rows: read.append(rows) or work(number, rows)),
    )
    return read
