"""``multi-anatomy``: columns of items, buckets of transactions, and in each bucket the columns published apart.

Items that go together are put into one column (the paper's IV.A, `columns`). Then one pass over the transactions fills
buckets (IV.B, Figure 2, ``native/anatomy/buckets.cpp``), and inside each bucket every column's values are permuted. No
item is deleted: whatever lies within one column is counted as before.

The paper fills one bucket at a time, and a common value keeps it open long. Here several are open: a transaction goes
where it helps, and waits for a place if there is none. ``open_buckets=1`` is the paper's way. The paper also forgets
that nobody's transaction is empty; what follows from that is in `LDiverseAnatomy` and ``native/anatomy/limits.hpp``.
Empty transactions are withheld, and so are those of sensitive items alone: whoever is known to have nothing else has
one of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.anatomy.columns import Columns, ColumnsLike, make_columns
from veilset.anonymize.chance import seed_of
from veilset.anonymize.options import RandomState, TaxonomyOption
from veilset.errors import Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.options import Option
from veilset.release import Partition, Release
from veilset.transactions import Anatomy, Transactions
from veilset.views import Count

_ONE_IN = 1000  # transactions may be withheld before columns are merged instead
_FEW, _PATIENCE = 32, 200  # transactions, or one in so many, may need joined buckets before columns are merged instead
_RULES = ("value", "free", "sensitive")  # as native/anatomy/limits.hpp numbers them
_MOST = 1024  # open buckets: every transaction is compared with all of them, and far fewer make buckets small
_ADVICE = "take fewer transactions or columns."


def multi_anatomy(
    data: Transactions,
    promise: LDiverseAnatomy,
    /,
    *,
    columns: Annotated[
        ColumnsLike,
        Option(
            "columns",
            "Number of columns (fewer if a value is too common), or the items of each column. Default: 10.",
        ),
    ] = 10,
    taxonomy: TaxonomyOption = None,
    level: Annotated[
        int | None, Option("whole", "Depth of the taxonomy's groups to use as columns; 1 is directly below the root.")
    ] = None,
    open_buckets: Annotated[
        int, Option("whole", "Number of buckets filled at the same time; 1 is the published algorithm.", most=_MOST)
    ] = 32,
    bucket_size: Annotated[
        int,
        Option(
            "whole", "Minimum number of transactions in a bucket. Larger buckets resist comparison with each other."
        ),
    ] = 1,
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Cut transactions into columns and buckets, and permute each column's values inside the buckets.

    Parameters
    ----------
    columns : int, list of lists of str, or path
        How many columns are wished for; or the items of each; or a file ``item,column`` that says so. Columns in which
        a value is too common for l become one with others: ``release.partition`` tells which. Sensitive items have a
        column of their own.
    taxonomy : Taxonomy, mapping or path, optional
        Its groups at this *level* are the columns that are wished for; a number of columns then plays no part.
    open_buckets : int
        More make buckets smaller, and take more time.
    bucket_size : int
        Buckets are no smaller than l needs, and than this. An attacker who compares buckets to learn which values tend
        to occur together (see docs/limits.md) gains less from large ones.

    Examples
    --------
    >>> data = Transactions.from_lists([["ale", "figs"], ["bun", "gin"], ["ale", "gin"], ["bun", "figs"]])
    >>> promise = LDiverseAnatomy(2)
    >>> wish = [["ale", "bun"], ["figs", "gin"]]
    >>> release = multi_anatomy(data, promise, columns=wish, random_state=3, limits=Limits())
    >>> release.custodian_data.anatomy
    <Anatomy: 2 columns, 2 buckets of 4 transactions>
    >>> release.custodian_data.supports.tolist() == data.supports.tolist()
    True
    """
    for name, given, most in (("open_buckets", open_buckets, _MOST), ("bucket_size", bucket_size, len(data))):
        if type(given) is bool or not isinstance(given, (int, np.integer)) or not 1 <= given <= max(most, 1):
            raise InvalidArgument(
                f"{said(name)} is {given!r}.", f"Give a whole number from 1 to {most:,}, such as {min(32, most)}."
            )
    seed = seed_of(random_state)
    rows, notes = _with_public_items(data)
    kept = data.take(rows)
    columns_wished = make_columns(
        kept, promise, columns=columns, taxonomy=taxonomy, level=level, random_state=seed, limits=limits
    )
    made, filled = _filled(
        kept, promise, columns_wished, open_buckets=int(open_buckets), size=int(bucket_size), seed=seed, limits=limits
    )
    if unplaced := Count(len(kept) - len(filled.members)):
        notes = (
            *notes,
            f"{unplaced:,} {unplaced:transaction was|transactions were} withheld: no bucket could take more.",
        )
    key = _key(seed, kept, promise, made)
    members, anatomy = _in_secret_order(filled, made, key)
    withheld = np.ones(len(data), dtype=bool)
    withheld[rows[members]] = False
    return Release(
        original=data,
        custodian_data=_permuted(kept, made, anatomy, members, key, limits),
        promise=promise,
        method="multi-anatomy",
        options={
            "columns": int(columns) if made.given is None else made.given,  # type: ignore[arg-type]
            "open_buckets": int(open_buckets),
            "bucket_size": int(bucket_size),
            "random_state": seed,
        },
        suppressed=(),
        withheld=tuple(np.flatnonzero(withheld).tolist()),
        partition=Partition(
            members=rows[members],
            wished=made.wished,
            medoids=made.medoids,
            merges=made.merges,
            left_over=filled.left_over,
            joined=filled.joined,
        ),
        notes=(*notes, *made.notes),
    )


def _with_public_items(data: Transactions) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """The transactions that can be in a bucket, and what is said about the others."""
    held = np.add.reduceat(np.append(data.is_sensitive[data.items] == 0, 0), data.offsets)[:-1]
    held[np.diff(data.offsets) == 0] = 0
    rows = np.flatnonzero(held)
    empty = Count(np.count_nonzero(np.diff(data.offsets) == 0))
    sensitive = Count(len(data) - len(rows) - empty)
    notes = []
    if empty:
        notes.append(f"{empty:,} empty {empty:transaction was|transactions were} withheld.")
    if sensitive:
        notes.append(
            f"{sensitive:,} {sensitive:transaction|transactions} with sensitive items only {sensitive:was|were} "
            "withheld: an attacker who knows that a person has no public item would be certain of a sensitive one."
        )
    return rows, tuple(notes)


@dataclass(frozen=True, eq=False)
class Filled:
    """Buckets: the transactions in them, and the bucket of each, numbered without gaps and in no order."""

    members: npt.NDArray[np.int64]
    bucket_of: npt.NDArray[np.int64]
    left_over: int
    joined: int

    @property
    def crowding(self) -> float:
        """How many transactions are in the bucket of a transaction, on average; infinite if there are none."""
        sizes = np.bincount(self.bucket_of)
        return float((sizes**2).sum() / len(self.members)) if len(self.members) else np.inf


def _filled(
    data: Transactions,
    promise: LDiverseAnatomy,
    made: Columns,
    *,
    open_buckets: int,
    size: int,
    seed: int,
    limits: Limits,
) -> tuple[Columns, Filled]:
    """Buckets that take all transactions, or nearly; where they do not, columns are merged further."""
    while True:
        limits.require(8 * len(data) * (8 + len(made.items)), "Filling buckets", _ADVICE)
        filled = fill_buckets(data, promise, made, open_buckets=open_buckets, size=size, seed=seed, limits=limits)
        unplaced = len(data) - len(filled.members)
        if unplaced * _ONE_IN > len(data) and made.can_be_fewer:
            made = made.with_fewer(data, promise, limits)
        elif len(filled.members):
            return made, filled
        else:
            raise Infeasible(
                f"No bucket of {len(made.items)} columns is {promise.l}-diverse.",
                "Ask for a smaller l, other columns or fewer sensitive items.",
            )


def fill_buckets(
    data: Transactions,
    promise: LDiverseAnatomy,
    made: Columns,
    *,
    open_buckets: int,
    size: int,
    seed: int,
    limits: Limits,
) -> Filled:
    """The buckets of the transactions for which there is one (Figure 2).

    Transactions come in a secret order. Where that crowds them into few buckets, those with the least and those with
    the most come in turns: the latter fit to the former, and would be used up by others.
    """
    # Columns with common values first: where two transactions are alike is then seen soon.
    common_first = np.argsort([-int(np.bincount(column).max()) for column in made.values.T], kind="stable")
    values = np.ascontiguousarray(made.values[:, common_first])
    rules = [_RULES.index(promise.rule(sensitive=made.counted[number].sensitive)) for number in common_first]
    limited = _limited(data, promise, made, common_first)

    def filled(order: npt.NDArray[np.int64]) -> Filled:
        with limits.guard("Filling buckets", _ADVICE):
            bucket_of, left_over, joined = _native.anatomy.buckets(
                values.ravel(),
                values.max(axis=0).astype(np.int64),
                np.array(rules, dtype=np.uint8),
                order,
                limited,
                numerator=promise.l.numerator,
                denominator=promise.l.denominator,
                least_size=size,
                open_buckets=min(open_buckets, len(data)),
                patience=max(_FEW, len(data) // _PATIENCE) if made.can_be_fewer else len(data),
                **limits.for_kernel(lambda _: "Filling buckets"),
            )
        members = np.flatnonzero(bucket_of >= 0)
        return Filled(members, bucket_of[members], left_over, joined)

    everything = np.array([0, len(data)], dtype=np.int64)
    order = _native.anatomy.shuffled_in_buckets(everything, _secret(f"{seed}", "order", len(data)))
    first = filled(order)
    if open_buckets == 1 or first.crowding <= 2 * max(size, float(promise.l)):
        return first
    fullest_last, half = order[np.argsort((values[order] > 0).sum(axis=1), kind="stable")], (len(order) + 1) // 2
    in_turns = np.empty_like(order)
    in_turns[::2], in_turns[1::2] = fullest_last[:half], fullest_last[half:][::-1]
    return min(first, filled(in_turns), key=lambda one: (-len(one.members) * _ONE_IN // len(data), one.crowding))


def _limited(
    data: Transactions, promise: LDiverseAnatomy, made: Columns, order: npt.NDArray[np.int64]
) -> _native.anatomy.Limited:
    """The single items that are limited, and in which of the columns, *order* being theirs, each of them is."""
    nothing = np.zeros(0, dtype=np.int32)
    if not promise.items:
        return _native.anatomy.Limited(offsets=nothing.astype(np.int64), items=nothing, column_of=nothing)
    number = np.full(len(data.names), -1, dtype=np.int32)
    column_of: list[int] = []
    for place, column in enumerate(order.tolist()):
        part = made.counted[column]
        if part.sensitive:
            continue
        for code in part.codes:
            if data.supports[code] * promise.l <= len(data) - part.empty:
                number[code] = len(column_of)
                column_of.append(place)
    there = number[data.items] >= 0
    offsets = np.concatenate([[0], np.cumsum(there)])[data.offsets].astype(np.int64)
    return _native.anatomy.Limited(
        offsets=offsets, items=number[data.items[there]], column_of=np.array(column_of, dtype=np.int32)
    )


def _in_secret_order(filled: Filled, made: Columns, key: str) -> tuple[npt.NDArray[np.int64], Anatomy]:
    """The transactions bucket by bucket, ascending inside each.

    The order of the buckets is drawn: the one in which they were filled says something about their values.
    """
    count = int(filled.bucket_of.max()) + 1
    drawn = _native.anatomy.shuffled_in_buckets(np.array([0, count], dtype=np.int64), _secret(key, "buckets", count))
    rank = np.empty(count, dtype=np.int64)
    rank[drawn] = np.arange(count)
    ranks = rank[filled.bucket_of]
    order = np.argsort(ranks, kind="stable")
    return filled.members[order], Anatomy.of(made.items, ranks[order])


def _permuted(
    data: Transactions,
    made: Columns,
    anatomy: Anatomy,
    members: npt.NDArray[np.int64],
    key: str,
    limits: Limits,
) -> Transactions:
    """What is released: in each bucket, every column's values in an order of their own that leaves no row empty."""
    columns, starts, placed = len(anatomy.columns), anatomy.starts, data.take(members)
    places = np.empty((len(members), columns), dtype=np.int32)
    for column in range(columns):
        limits.step("Permuting columns", column, columns)
        limits.check_time("Permuting columns", _ADVICE)
        places[:, column] = _native.anatomy.shuffled_in_buckets(starts, _secret(key, f"column {column}", len(members)))
    with limits.guard("Permuting columns", _ADVICE):
        sources = _native.anatomy.without_empty_places(
            places.ravel(),
            made.values[members].ravel(),
            starts,
            _secret(key, "empty", len(members)),
            columns=columns,
        )
        offsets, codes = _native.anatomy.rows(
            placed.offsets,
            placed.items,
            anatomy.column_of(placed.names),
            sources,
            columns=columns,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Permuting columns"),
        )
    return Transactions.from_codes(offsets, codes, placed.names, sensitive=placed.sensitive).anatomized(anatomy)


def _key(seed: int, data: Transactions, promise: LDiverseAnatomy, made: Columns) -> str:
    """What the permutations are drawn from: with one seed, other data or another promise has others."""
    digest = hashlib.sha256(repr((seed, promise.parameters(), made.items)).encode())
    digest.update(np.ascontiguousarray(data.offsets).tobytes())
    digest.update(np.ascontiguousarray(data.items).tobytes())
    return digest.hexdigest()


def _secret(key: str, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """Random numbers from a cryptographic stream: nobody without the seed can tell them."""
    stream = hashlib.shake_256(f"veilset anatomy\0{purpose}\0{key}".encode()).digest(8 * count)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64, copy=False)
