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

from functools import partial
from typing import Annotated

import numpy as np
import numpy.typing as npt

from veilset.anonymize.anatomy.columns import ColumnsLike, make_columns
from veilset.anonymize.anatomy.filling import fill_all
from veilset.anonymize.anatomy.permuting import in_secret_order, key_of, permuted
from veilset.anonymize.chance import seed_of
from veilset.anonymize.options import RandomState, TaxonomyOption
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import LDiverseAnatomy
from veilset.options import Option
from veilset.release import Partition, Release
from veilset.transactions import Transactions
from veilset.views import Count

_MOST = 1024  # open buckets: every transaction is compared with all of them, and far fewer make buckets small


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
    rows, notes = _with_public_items(data)
    for name, given, most in (("open_buckets", open_buckets, _MOST), ("bucket_size", bucket_size, len(rows))):
        if type(given) is bool or not isinstance(given, (int, np.integer)) or not 1 <= given <= max(most, 1):
            raise InvalidArgument(
                f"{said(name)} is {given!r}.", f"Give a whole number from 1 to {most:,}, such as {min(32, most)}."
            )
    seed = seed_of(random_state)
    kept = data.take(rows)
    made = make_columns(
        kept, promise, columns=columns, taxonomy=taxonomy, level=level, random_state=seed, limits=limits
    )
    everybody = len(kept)
    fill = partial(fill_all, promise=promise, open_buckets=int(open_buckets), seed=seed, limits=limits)
    made, filled = fill(kept, made, size=int(bucket_size))
    while len(filled.members) < len(kept):  # the others are withheld, and their items do not count
        rows, kept = rows[filled.members], kept.take(filled.members)
        made = made.over(kept, limits)
        if promise.items:  # others are limited now
            made, filled = fill(kept, made, size=min(int(bucket_size), len(kept)))
        else:
            filled = filled.alone()
    if unplaced := Count(everybody - len(kept)):
        notes = (
            *notes,
            f"{unplaced:,} {unplaced:transaction was|transactions were} withheld: no bucket could take more.",
        )
    if len(made.items) - bool(kept.sensitive) == 1:
        notes = (
            *notes,
            "All public items are in one column: each person's public items are published together, unchanged. Only "
            "their link to sensitive items is hidden.",
        )
    key = key_of(seed, kept, promise, made)
    members, anatomy = in_secret_order(filled.members, filled.bucket_of, made, key)
    withheld = np.ones(len(data), dtype=bool)
    withheld[rows[members]] = False
    return Release(
        original=data,
        custodian_data=permuted(kept, made, anatomy, members, key, limits),
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
