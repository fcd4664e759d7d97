"""Is a release what it says it is? The original with the declared edits applied must be the released data, row for row.

A method that loses transactions, or changes more than it declares, would still pass the auditor of its promise: what it
would break is the custodian's account of what was lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from veilset.transactions import Transactions

__all__ = ["edits_account_for"]


def edits_account_for(
    original: Transactions,
    released: Transactions,
    *,
    suppressed: Collection[str],
    generalized: Mapping[str, str],
    withheld: Collection[int],
    stands_for: Mapping[str, Collection[str]] | None = None,
    kept: npt.NDArray[np.bool_] | None = None,
) -> str | None:
    """None if the declared edits turn *original* into *released*, else a sentence that says where they differ.

    What readers are told a coarser name *stands_for* must be true, too. *kept* says which occurrences are left where
    single ones were taken out.
    """
    gone = set(suppressed)
    recoded = {old: new for old, new in generalized.items() if old not in gone}
    if wrong := _wrongly_declared(original, {*suppressed, *generalized}, recoded, stands_for or {}, kept):
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
    if withheld:
        expected = expected.take(np.flatnonzero(there))
    if expected.anonymous() == released.anonymous():
        return None
    if expected.names != released.names:
        different = sorted(set(expected.names).symmetric_difference(released.names))
        where = "missing from" if different[0] in expected.names else "only in"
        return f"The item {different[0]!r} is {where} the release."
    for row in range(len(released)):
        if expected[row] != released[row]:
            return f"Transaction {row + 1} is not the original one with the declared edits."
    return "The roles of the items differ."


def _wrongly_declared(
    original: Transactions,
    changed: Collection[str],
    recoded: Mapping[str, str],
    stands_for: Mapping[str, Collection[str]],
    kept: npt.NDArray[np.bool_] | None,
) -> str | None:
    if kept is not None and (kept.dtype != np.bool_ or kept.shape != original.items.shape):
        return f"{len(kept):,} occurrences are said to be kept or not, but the original has {len(original.items):,}."
    if unknown := sorted(set(changed).difference(original.names)):
        return f"The item {unknown[0]!r} is said to be changed, but the original does not have it."
    for old, new in recoded.items():
        if new in stands_for and old not in stands_for[new]:
            return f"The item {old!r} was recoded to {new!r}, which is said to stand for others only."
    return None
