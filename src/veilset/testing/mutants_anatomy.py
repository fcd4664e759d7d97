"""Broken on purpose, like `mutants`: methods for l-diverse anatomies.

The auditor must reject what they make, or the account of their edits must.

One mistake neither can see: a method that leaves the values in their order, so that the rows of a bucket are published
as they were. That order is one of those that chance may choose, and what is published says nothing about the chance. So
`as_they_were` is no mutant. That a method does permute has to be shown by a test of the method.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from veilset.errors import Infeasible
from veilset.models import LDiverseAnatomy
from veilset.release import Partition, Release
from veilset.testing import oracles_anatomy as brute
from veilset.testing.mutants import Mutant
from veilset.transactions import Anatomy, Transactions

_SEED = 3


def anatomy_unbroken(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """The method that the mutants are made from: two columns, and buckets that grow until brute force accepts them.

    The columns are the first half of all items and the second or, if some are sensitive, the public and the sensitive
    ones. Transactions without a public item are withheld.
    """
    return _published(data, promise, _buckets(data, promise))


def as_they_were(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Publishes the values of a bucket in the order of its transactions: nothing is hidden, and nothing can tell."""
    return _published(data, promise, _buckets(data, promise), permuted=False)


def _kept(data: Transactions) -> list[int]:
    return [number for number, row in enumerate(data) if not set(row).issubset(data.sensitive)]


def _columns(data: Transactions) -> list[tuple[str, ...]]:
    half = len(data.names) // 2
    return [data.public, data.sensitive] if data.sensitive else [data.names[:half], data.names[half:]]


def _fits(data: Transactions, promise: LDiverseAnatomy, bucket: Sequence[int]) -> bool:
    """Whether a bucket of these keeps the promise: the others stand in another one, for the shares of items."""
    kept = _kept(data)
    places = [int(number not in bucket) for number in kept]
    broken = brute.anatomy_breaches(
        [data[number] for number in kept],
        _columns(data),
        places,
        promise.l,
        promise.empty,
        data.sensitive,
        items=promise.items,
    )
    return all(place for place, _ in broken)


def _closed(data: Transactions, promise: LDiverseAnatomy) -> tuple[list[list[int]], list[int]]:
    """Figure 2: a bucket is closed as soon as it keeps the promise. And the transactions that are left."""
    if len(data.names) < 2:
        raise Infeasible("There is at most one item.", "Add some.")
    closed: list[list[int]] = []
    left: list[int] = []
    for number in _kept(data):
        left.append(number)
        if _fits(data, promise, left):
            closed.append(left)
            left = []
    return closed, left


def _buckets(data: Transactions, promise: LDiverseAnatomy) -> list[list[int]]:
    """What is left joins the last buckets, as many as it takes."""
    closed, left = _closed(data, promise)
    while left and not _fits(data, promise, left):
        if not closed:
            raise Infeasible("Some value is too common.", "Choose other columns.")
        left = closed.pop() + left
    return [*closed, left] if left else closed


def _published(
    data: Transactions, promise: LDiverseAnatomy, buckets: Sequence[Sequence[int]], *, permuted: bool = True
) -> Release:
    chance = np.random.default_rng(_SEED)
    rows: list[list[str]] = []
    for bucket in buckets:
        values = [brute.values_of(data[row], _columns(data)) for row in bucket]
        first, second = zip(*values, strict=True)
        order = chance.permutation(len(bucket)) if permuted else np.arange(len(bucket))
        while not all(one or second[other] for one, other in zip(first, order, strict=True)):
            order = chance.permutation(len(bucket))
        rows += [[*one, *second[other]] for one, other in zip(first, order, strict=True)]
    members = np.array([row for bucket in buckets for row in sorted(bucket)], dtype=np.int64)
    numbers = [number for number, bucket in enumerate(buckets) for _ in bucket]
    cut = Transactions.from_lists(rows, sensitive=data.sensitive).anatomized(Anatomy.of(_columns(data), numbers))
    partition = Partition(members, wished=2, medoids=(), merges=(), left_over=0, joined=0)
    withheld = tuple(sorted(set(range(len(data))) - set(_kept(data))))
    return Release(data, cut, promise, "mutant", {}, (), partition=partition, withheld=withheld)


def _with_rows(release: Release, rows: Sequence[Sequence[str]]) -> Release:
    assert release.custodian_data.anatomy is not None
    changed = Transactions.from_lists(rows, sensitive=release.custodian_data.sensitive).anatomized(
        release.custodian_data.anatomy
    )
    return dataclasses.replace(release, custodian_data=changed)


def _closes_early(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Closes a bucket before the record that makes it diverse, which begins the next one."""
    buckets = _buckets(data, promise)
    moved = [row for bucket in buckets for row in bucket]
    starts = [0, *(int(end) - 1 for end in np.cumsum([len(bucket) for bucket in buckets])[:-1]), len(moved)]
    return _published(data, promise, [moved[a:b] for a, b in pairwise(starts)])


def _overlooks_nothing(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Takes having no item of a column for no value at all."""
    weaker = LDiverseAnatomy(promise.l, empty="free")
    return dataclasses.replace(anatomy_unbroken(data, weaker), promise=promise)


def _permutes_across_buckets(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Permutes the second column over all transactions, not inside buckets."""
    release = anatomy_unbroken(data, promise)
    values = [brute.values_of(row, _columns(data)) for row in release.custodian_data]
    return _with_rows(release, [[*mine[0], *other[1]] for mine, other in zip(values, reversed(values), strict=True)])


def _drops_what_is_left(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Publishes the buckets that could be closed, and says nothing of the rest."""
    closed, _ = _closed(data, promise)
    return _published(data, promise, closed)


def _forgets_that_nobody_is_empty(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Looks at the shares of values in a bucket, as the paper does, and not at which arrangements are possible."""

    def is_diverse(rows: Sequence[Hashable]) -> bool:
        columns = zip(*cast(Sequence[tuple[frozenset[str], ...]], rows), strict=True)
        return all(max(Counter(held).values()) * promise.l <= len(rows) for held in columns)

    closed, left = brute.multi_anatomy_figure_2([brute.values_of(row, _columns(data)) for row in data], is_diverse)
    closed[-1] += left
    return _published(data, promise, closed)


def _publishes_an_empty_row(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Permutes the values of a bucket as it comes: two who have nothing in a column meet."""
    release = anatomy_unbroken(data, promise)
    rows = [brute.values_of(row, _columns(data)) for row in release.custodian_data]
    alone = next(number for number, (_, second) in enumerate(rows) if not second)
    other = next(number for number, (first, _) in enumerate(rows) if not first)
    (mine, _), (_, its) = rows[alone], rows[other]
    rows[alone], rows[other] = (mine, its), (frozenset(), frozenset())
    return _with_rows(release, [[*first, *second] for first, second in rows])


def _hides_carriers_among_carriers(data: Transactions, promise: LDiverseAnatomy) -> Release:
    """Counts each sensitive value among those only who have one, and so puts them all into one bucket."""
    carriers = [number for number, row in enumerate(data) if not set(row).isdisjoint(data.sensitive)]
    return _published(data, promise, [carriers, sorted(set(range(len(data))) - set(carriers))])


def _adds_an_item(data: Transactions, promise: LDiverseAnatomy) -> Release:
    release = anatomy_unbroken(data, promise)
    rows = release.custodian_data.to_lists()
    row, item = next((row, item) for row in rows for item in data.names if item not in row)
    row.append(item)
    return _with_rows(release, rows)


_WALKS = Transactions.from_lists(
    [
        ["ale", "fig"],
        ["bun", "oil"],
        ["ale", "oil"],
        ["bun", "fig"],
        ["bun", "oil"],
        ["ale", "bun", "fig"],
        ["ale", "fig", "oil"],
    ]
)
_GAPS = Transactions.from_lists(
    [["ale"], ["bun", "fig"], ["oil"], ["fig"], ["fig", "oil"], ["ale", "oil"], ["bun"], ["ale", "bun", "fig"]]
)
_CURES = Transactions.from_lists(
    [["ale", "cure"], ["bun", "test"], ["ale"], ["bun"], ["ale", "test"], ["bun", "cure"], ["ale"], ["bun"]],
    sensitive=["cure", "test"],
)
_TWO = LDiverseAnatomy(2)

ANATOMY_MUTANTS: tuple[Mutant, ...] = (
    Mutant("closes a bucket one record early", _closes_early, _WALKS, _TWO),
    Mutant("does not count having nothing", _overlooks_nothing, _GAPS, _TWO),
    Mutant("forgets that nobody is empty", _forgets_that_nobody_is_empty, _GAPS, _TWO),
    Mutant("publishes an empty row", _publishes_an_empty_row, _GAPS, _TWO),
    Mutant("hides carriers among carriers", _hides_carriers_among_carriers, _CURES, _TWO),
    Mutant("permutes across buckets", _permutes_across_buckets, _WALKS, _TWO, "account"),
    Mutant("drops the records that are left", _drops_what_is_left, _WALKS, _TWO, "account"),
    Mutant("puts one more item into a row", _adds_an_item, _WALKS, _TWO, "account"),
)
