"""Hiding patterns and rules on Retail: what stays minable, what else is lost, and the time in sparse matrix products.

``make bench`` runs this.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measuring import best_in_turns, shown
from scipy.sparse import csr_array

import veilset as vs
from veilset import mining
from veilset.anonymize import find_method
from veilset.anonymize.hiding.kinds import Columns
from veilset.engines import Piece
from veilset.limits import Limits

__all__ = ["run"]

_SUPPORT, _CONFIDENCE, _HIDDEN, _SEED = "0.5%", 0.4, 40, 7
_METHODS = ("hpcme", "non-hidden-first", "hidden-first")
_HEADS = (
    "hidden",
    "method",
    "still found",
    "occurrences removed",
    "pairs lost",
    "ours, 1 thread",
    "ours, 2 threads",
    "our product",
    "D @ S",
    "ratio, 1 thread (target for hpcme: at most 3)",
    "ratio of the products",
)
_ABOUT = f"""
{_HIDDEN} random rules of confidence {_CONFIDENCE:.0%} or more, or {_HIDDEN} random frequent itemsets of at least two
items, are hidden in Retail, at a support of {_SUPPORT}. *Ours* is a whole method with `certify=True`: patterns to keep
are mined, then matrix, product, victims, putting back. The peer is `scipy.sparse`: D @ S with the same matrix, which
is only the first step of hiding. Before timing, the sums of D @ S give the same product as ours, plain loops over the
released rows find none of the hidden patterns and rules, and no row holds an item that it did not hold before. *Pairs
lost* are frequent pairs, not hidden ones, that are not frequent any more; the naive way deletes the least frequent item
of each hidden pattern from all transactions.
"""


def run(folder: Path) -> list[str]:
    """A section of the results, as lines of Markdown."""
    data = vs.read(folder / "fimi-retail" / "retail.dat.gz")
    rows = [row for promise in _promises(data) for row in _rows(data, promise)]
    return [
        *_ABOUT.strip().splitlines(),
        "",
        *(f"| {' | '.join(cells)} |" for cells in (_HEADS, ["---"] * len(_HEADS), *rows)),
    ]


def _promises(data: vs.Transactions) -> tuple[vs.HiddenRules, vs.HiddenPatterns]:
    draw = random.Random(_SEED)  # noqa: S311 - nothing is kept secret here
    rules = [(r.antecedent, r.consequent) for r in mining.rules(data, _SUPPORT, min_confidence=_CONFIDENCE)]
    patterns = [items for items, _ in mining.frequent(data, _SUPPORT, min_size=2)]
    return (
        vs.HiddenRules(draw.sample(rules, _HIDDEN), _SUPPORT, _CONFIDENCE),
        vs.HiddenPatterns(draw.sample(patterns, _HIDDEN), _SUPPORT),
    )


def _rows(data: vs.Transactions, promise: vs.HiddenRules | vs.HiddenPatterns) -> Iterator[list[str]]:
    ones = np.ones(len(data.items), dtype=np.int32)
    database = csr_array((ones, data.items, data.offsets), shape=(len(data), len(data.names)))
    naive = data.without({min(items, key=partial(_support, data)) for items in promise.itemsets})
    lost_by_naive = _pairs_lost(data, naive, promise)
    for name in _METHODS:
        release = vs.anonymize(data, promise, method=name, random_state=_SEED)
        assert release.certified and not _found(release.custodian_data, promise)
        assert all(set(after) <= set(before) for before, after in zip(data, release.custodian_data, strict=True))
        matrix, wide = release.matrix, release.matrix.astype(np.int32)  # sums of int8 might overflow
        sums = (database @ wide).multiply(database).tocsr()  # only ones of D can stay
        rows, columns = Piece(data.offsets, data.items), Columns.of(matrix)
        states = columns.product(rows, Limits())
        assert np.array_equal(sums[database.nonzero()] >= 1, states > 0)
        method = partial(find_method(promise, name), data, promise, random_state=_SEED)
        ours, both, kernel, peer = best_in_turns(
            lambda method=method: method(limits=Limits(threads=1)),
            lambda method=method: method(limits=Limits(threads=2)),
            lambda rows=rows, columns=columns: columns.product(rows, Limits(threads=1)),
            lambda wide=wide: database @ wide,
        )
        lost, removed = (
            _pairs_lost(data, release.custodian_data, promise),
            len(data.items) - len(release.custodian_data.items),
        )
        assert lost < lost_by_naive
        yield [
            promise.name,
            name,
            "0",
            f"{removed:,}",
            str(lost),
            *map(shown, (ours, both, kernel, peer)),
            f"{ours / peer:.2f}",
            f"{kernel / peer:.2f}",
        ]
    removed = len(data.items) - len(naive.items)
    yield [promise.name, "naive", str(_found(naive, promise)), f"{removed:,}", str(lost_by_naive), *[""] * 6]


def _support(data: vs.Transactions, item: str) -> tuple[int, int]:
    code = int(data.codes([item])[0])
    return int(data.supports[code]), code


def _found(data: vs.Transactions, promise: vs.HiddenRules | vs.HiddenPatterns) -> int:
    """How many of what is hidden can still be found, by plain loops."""
    rows = [frozenset(row) for row in data]
    least, found = promise.least_support(len(rows)), 0
    for number, items in enumerate(promise.itemsets):
        together = sum(row.issuperset(items) for row in rows)
        sure = True
        if isinstance(promise, vs.HiddenRules):
            sure = together >= promise.min_confidence * sum(row.issuperset(promise.rules[number][0]) for row in rows)
        found += together >= least and sure
    return found


def _pairs_lost(before: vs.Transactions, after: vs.Transactions, promise: vs.HiddenRules | vs.HiddenPatterns) -> int:
    least, hidden = promise.least_support(len(before)), {frozenset(items) for items in promise.itemsets}
    pairs = mining.pairs(before, min_support=least)
    lost = mining.supports(after, pairs) < least
    return sum(bool(gone) and frozenset(pair) not in hidden for (pair, _), gone in zip(pairs, lost, strict=True))
