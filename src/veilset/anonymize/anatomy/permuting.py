"""What is released of buckets: they, and the values of their columns, in orders that only the seed can tell."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.anatomy.columns import Columns
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.transactions import Anatomy, Transactions

_ADVICE = "take fewer transactions or columns."


def in_secret_order(
    members: npt.NDArray[np.int64], bucket_of: npt.NDArray[np.int64], made: Columns, key: str
) -> tuple[npt.NDArray[np.int64], Anatomy]:
    """The members of buckets, bucket by bucket and ascending inside each; *bucket_of* says which each is in.

    The order of the buckets is drawn: the one in which they were filled says something about their values.
    """
    count = int(bucket_of.max()) + 1
    drawn = _native.anatomy.shuffled_in_buckets(np.array([0, count], dtype=np.int64), secret(key, "buckets", count))
    rank = np.empty(count, dtype=np.int64)
    rank[drawn] = np.arange(count)
    ranks = rank[bucket_of]
    order = np.argsort(ranks, kind="stable")
    return members[order], Anatomy.of(made.items, ranks[order])


def permuted(
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
        places[:, column] = _native.anatomy.shuffled_in_buckets(starts, secret(key, f"column {column}", len(members)))
    with limits.guard("Permuting columns", _ADVICE):
        sources = _native.anatomy.without_empty_places(
            places.ravel(),
            made.values[members].ravel(),
            starts,
            secret(key, "empty", len(members)),
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


def key_of(seed: int, data: Transactions, promise: LDiverseAnatomy, made: Columns) -> str:
    """What the permutations are drawn from: with one seed, other data or another promise has others."""
    digest = hashlib.sha256(repr((seed, promise.parameters(), made.items)).encode())
    digest.update(np.ascontiguousarray(data.offsets).tobytes())
    digest.update(np.ascontiguousarray(data.items).tobytes())
    return digest.hexdigest()


def secret(key: str, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """Random numbers from a cryptographic stream: nobody without the seed can tell them."""
    stream = hashlib.shake_256(f"veilset anatomy\0{purpose}\0{key}".encode()).digest(8 * count)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64, copy=False)
