"""``multi-anatomy``: columns of items, buckets of transactions, and in each bucket the columns published apart.

Items that go together are put into one column (the paper's IV.A, `columns`). Then one pass over the transactions fills
buckets (IV.B, Figure 2, ``native/anatomy/buckets.cpp``), and inside each bucket every column's values are permuted. No
item is deleted: whatever lies within one column is counted as before.

The paper fills one bucket at a time, and a common value keeps it open long. Here several are open: a transaction goes
where it helps, and waits for a place if there is none. ``open_buckets=1`` is the paper's way.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.anatomy.columns import Columns, ColumnsLike, make_columns
from veilset.anonymize.chance import seed_of
from veilset.anonymize.options import RandomState, TaxonomyOption
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.options import Option
from veilset.release import Partition, Release
from veilset.transactions import Anatomy, Transactions

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
    if type(open_buckets) is bool or not isinstance(open_buckets, (int, np.integer)) or not 1 <= open_buckets <= _MOST:
        raise InvalidArgument(
            f"{said('open_buckets')} is {open_buckets!r}.", f"Give a whole number from 1 to {_MOST:,}, such as 32."
        )
    seed = seed_of(random_state)
    made = make_columns(
        data, promise, columns=columns, taxonomy=taxonomy, level=level, random_state=seed, limits=limits
    )
    limits.require(8 * len(data) * (8 + len(made.items)), "Filling buckets", _ADVICE)
    bucket_of, left_over, joined = fill_buckets(
        data, promise, made, open_buckets=int(open_buckets), seed=seed, limits=limits
    )
    members, starts = _in_secret_order(bucket_of, seed)
    anatomy = Anatomy.of(made.items, np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
    return Release(
        original=data,
        custodian_data=_permuted(data, anatomy, members, starts, seed, limits),
        promise=promise,
        method="multi-anatomy",
        options={
            "columns": int(columns) if made.given is None else made.given,  # type: ignore[arg-type]
            "open_buckets": int(open_buckets),
            "random_state": seed,
        },
        suppressed=(),
        partition=Partition(
            members=members,
            wished=made.wished,
            medoids=made.medoids,
            merges=made.merges,
            left_over=left_over,
            joined=joined,
        ),
        notes=made.notes,
    )


def fill_buckets(
    data: Transactions, promise: LDiverseAnatomy, made: Columns, *, open_buckets: int, seed: int, limits: Limits
) -> tuple[npt.NDArray[np.int64], int, int]:
    """The bucket of each transaction; how many transactions were left over, and how many buckets were joined."""
    sensitive = set(data.sensitive)
    free = np.array([promise.empty_is_free(sensitive=column[0] in sensitive) for column in made.items])
    # Columns with common values first: where two transactions are alike is then seen soon.
    common_first = np.argsort([-int(np.bincount(column).max()) for column in made.values.T], kind="stable")
    values = np.ascontiguousarray(made.values[:, common_first])
    everything = np.array([0, len(data)], dtype=np.int64)
    with limits.guard("Filling buckets", _ADVICE):
        return _native.anatomy.buckets(
            values.ravel(),
            values.max(axis=0).astype(np.int64),
            free[common_first].astype(np.uint8),
            _native.anatomy.shuffled_in_buckets(everything, _secret(seed, "order", len(data))),
            numerator=promise.l.numerator,
            denominator=promise.l.denominator,
            open_buckets=min(open_buckets, len(data)),
            **limits.for_kernel(lambda _: "Filling buckets"),
        )


def _in_secret_order(
    bucket_of: npt.NDArray[np.int64], seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The transactions bucket by bucket, ascending inside each; and where each bucket begins.

    The order of the buckets is drawn: the one in which they were filled says something about their values.
    """
    count = int(bucket_of.max()) + 1
    drawn = _native.anatomy.shuffled_in_buckets(np.array([0, count], dtype=np.int64), _secret(seed, "buckets", count))
    rank = np.empty(count, dtype=np.int64)
    rank[drawn] = np.arange(count)
    ranks = rank[bucket_of]
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(ranks, minlength=count), out=starts[1:])
    return np.argsort(ranks, kind="stable"), starts


def _permuted(
    data: Transactions,
    anatomy: Anatomy,
    members: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    seed: int,
    limits: Limits,
) -> Transactions:
    """What is released: in each bucket, every column's values in an order of their own."""
    columns = len(anatomy.columns)
    sources = np.empty((len(data), columns), dtype=np.int32)
    for column in range(columns):
        limits.step("Permuting columns", column, columns)
        limits.check_time("Permuting columns", _ADVICE)
        order = _native.anatomy.shuffled_in_buckets(starts, _secret(seed, f"column {column}", len(data)))
        sources[:, column] = members[order]
    with limits.guard("Permuting columns", _ADVICE):
        offsets, codes = _native.anatomy.rows(
            data.offsets,
            data.items,
            anatomy.column_of(data.names),
            sources.ravel(),
            columns=columns,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Permuting columns"),
        )
    return Transactions.from_codes(offsets, codes, data.names, sensitive=data.sensitive).anatomized(anatomy)


def _secret(seed: int, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """Random numbers from a cryptographic stream: nobody without the seed can tell them."""
    stream = hashlib.shake_256(f"veilset anatomy\0{purpose}\0{seed}".encode()).digest(8 * count)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64, copy=False)
