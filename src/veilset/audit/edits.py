"""Is a release what it says it is? The original with the declared edits applied must be the released data, row for row.

A method that loses transactions, or changes more than it declares, would still pass the auditor of its promise: what it
would break is the custodian's account of what was lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.findings import shortened
from veilset.limits import Limits
from veilset.transactions import Anatomy, Transactions


def edits_account_for(
    original: Transactions,
    released: Transactions,
    *,
    suppressed: Collection[str],
    generalized: Mapping[str, str],
    withheld: Collection[int],
    stands_for: Mapping[str, Collection[str]] | None = None,
    listed_from: int = 0,
    kept: npt.NDArray[np.bool_] | None = None,
    members: npt.NDArray[np.int64] | None = None,
    limits: Limits | None = None,
) -> str | None:
    """None if the declared edits turn *original* into *released*, else a sentence that says where they differ.

    What readers are told a coarser name *stands_for* must be true, too: only items in fewer than *listed_from*
    transactions may be missing. *kept* says which occurrences are left where
    single ones were taken out. *members* says, where transactions were cut into columns and buckets, which original
    ones are in each: a bucket must have, column by column, exactly their values. In which order is not checked, and
    cannot be: that they go together as they did before is one of the orders that chance may choose.
    """
    gone = set(suppressed)
    recoded = {old: new for old, new in generalized.items() if old not in gone}
    if wrong := _wrongly_declared(original, {*suppressed, *generalized}, recoded, stands_for or {}, listed_from, kept):
        return wrong
    there = np.ones(len(original), dtype=bool)
    there[np.array([row for row in withheld if 0 <= row < len(original)], dtype=np.int64)] = False
    if (rows := int(np.count_nonzero(there))) != len(released):
        return (
            f"{len(released):,} transactions are released, but {len(original):,} less {len(withheld):,} withheld are "
            f"{rows:,}."
        )
    left = original if kept is None else original.thinned(kept)
    names = set(left.names)
    expected = left.without(gone & names).renamed({old: new for old, new in recoded.items() if old in names})
    if members is not None:
        return _differs_in_buckets(expected, released, np.flatnonzero(there), members, limits or Limits())
    return _differs_in_rows(expected.take(np.flatnonzero(there)) if withheld else expected, released)


def _differs_in_rows(expected: Transactions, released: Transactions) -> str | None:
    if expected.anonymous() == released.anonymous():
        return None
    if expected.anatomy != released.anatomy:
        return "Its columns and buckets are not those of the original, and nothing says which transactions are in them."
    if wrong := _other_items(expected, released):
        return wrong
    for row in range(len(released)):
        if expected[row] != released[row]:
            return f"Transaction {row + 1} is not the original one with the declared edits."
    return "The roles of the items differ."


def _other_items(expected: Transactions, released: Transactions) -> str | None:
    if expected.names == released.names:
        return None
    different = sorted(set(expected.names).symmetric_difference(released.names))
    where = "missing from" if different[0] in expected.names else "only in"
    return f"The item {different[0]!r} is {where} the release."


def _differs_in_buckets(
    edited: Transactions,
    released: Transactions,
    there: npt.NDArray[np.int64],
    members: npt.NDArray[np.int64],
    limits: Limits,
) -> str | None:
    """Where the buckets do not have the values of their members; *there* are the rows that are not withheld."""
    anatomy = released.anatomy
    if anatomy is None:
        return "It is said which transactions are in which bucket, but the release has no buckets."
    if wrong := _wrong_members(anatomy, there, members):
        return wrong
    expected = edited.take(members)
    if wrong := _other_items(expected, released):
        return wrong
    if not np.array_equal(expected.is_sensitive, released.is_sensitive):
        return "The roles of the items differ."
    with limits.guard("The account of the edits", "look at fewer transactions."):
        differing = _native.audit.differing_values(
            expected.offsets,
            expected.items,
            released.offsets,
            released.items,
            anatomy.starts,
            anatomy.column_of(released.names),
            columns=len(anatomy.columns),
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Comparing buckets with the original"),
        )
    if differing is None:
        return None
    bucket, column = differing
    return (
        f"Bucket {bucket + 1:,} does not have the values of its transactions in the column "
        f"{shortened(anatomy.columns[column])}."
    )


def _wrong_members(anatomy: Anatomy, there: npt.NDArray[np.int64], members: npt.NDArray[np.int64]) -> str | None:
    if members.shape != there.shape or members.dtype.kind != "i" or not np.array_equal(np.sort(members), there):
        return "The members of the buckets are not the original transactions, each once."
    same_bucket = anatomy.buckets[1:] == anatomy.buckets[:-1]
    if (wrong := np.flatnonzero(same_bucket & (members[1:] < members[:-1]))).size:
        return f"The members of bucket {anatomy.buckets[wrong[0]] + 1:,} are not in the order of the original."
    return None


def _wrongly_declared(
    original: Transactions,
    changed: Collection[str],
    recoded: Mapping[str, str],
    stands_for: Mapping[str, Collection[str]],
    listed_from: int,
    kept: npt.NDArray[np.bool_] | None,
) -> str | None:
    if kept is not None and (kept.dtype != np.bool_ or kept.shape != original.items.shape):
        return (
            f"{len(kept):,} occurrences are declared as kept or removed, but the original has {len(original.items):,}."
        )
    if unknown := sorted(set(changed).difference(original.names)):
        return f"The item {unknown[0]!r} is declared as changed, but the original does not have it."
    support = dict(zip(original.names, original.supports.tolist(), strict=True))
    for old, new in recoded.items():
        if new in stands_for and old not in stands_for[new] and support[old] >= listed_from:
            return f"The item {old!r} was recoded to {new!r}, which is declared to stand for other items only."
    return None
