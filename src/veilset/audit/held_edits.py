"""Is a release on an engine what it says it is? Its rows must be those of the original without the suppressed items.

No place sees all rows, and the released ones are in another order. So both sides are added up where they lie: how often
each item occurs, and a keyed hash of each row. The sums of different collections of rows agree by chance once in 2^128;
the key is drawn anew each time, so nobody can prepare rows for it. The released rows are those that were read back.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from veilset.engines import Held, Piece


def held_edits_account_for(original: Held, released: Held, *, suppressed: Collection[str]) -> str | None:
    """None if suppressing these items turns *original* into *released*, else a sentence that says where they differ."""
    before, after, gone = original.vocabulary, released.vocabulary, set(suppressed)
    if unknown := sorted(gone.difference(before.names)):
        return f"The item {unknown[0]!r} is declared as changed, but the original does not have it."
    expected = [name for name in before.names if name not in gone]
    if different := sorted(set(expected).symmetric_difference(after.names)):
        where = "missing from" if different[0] in expected else "only in"
        return f"The item {different[0]!r} is {where} the release."
    sensitive = gone.symmetric_difference(before.sensitive).difference(gone)
    if sensitive != set(after.sensitive):
        return "The roles of the items differ."
    if len(original) != len(released):
        return f"{len(released):,} transactions are released, but the original has {len(original):,}."
    key, place = secrets.token_bytes(32), {name: code for code, name in enumerate(after.names)}
    code = np.array([place.get(name, -1) for name in before.names], dtype=np.int64)
    wanted = original.totals(Sums(key, code))
    found = released.totals(Sums(key, np.arange(len(after.names))))
    return _difference(wanted, found, after.names)


def _difference(
    wanted: dict[str, npt.NDArray[np.int64]], found: dict[str, npt.NDArray[np.int64]], names: tuple[str, ...]
) -> str | None:
    for code in np.flatnonzero(wanted["supports"] != found["supports"]).tolist():
        return (
            f"{names[code]!r} is in {found['supports'][code]:,} transactions of the release, but in "
            f"{wanted['supports'][code]:,} of the original."
        )
    if not np.array_equal(wanted["rows"], found["rows"]):
        return "The transactions of the release are not the original ones without the suppressed items."
    return None


@dataclass(frozen=True)
class Sums:
    """What is added up of a piece: the supports of its items by their new *code* (-1: none), and hashes of its rows."""

    key: bytes
    code: npt.NDArray[np.int64]

    def __call__(self, piece: Piece) -> dict[str, npt.NDArray[np.int64]]:
        """The sums; those of hashes are numbers modulo 2^64."""
        width, count = max(1, int(self.code.max(initial=-1)) + 1), len(piece.offsets) - 1
        becomes = self.code[piece.items]
        rows = np.repeat(np.arange(count), np.diff(piece.offsets))
        there = np.sort((rows * width + becomes)[becomes >= 0])
        codes, ends = there % width, np.searchsorted(there, np.arange(count + 1) * width)
        content = codes.astype("<i4").tobytes()
        digests = b"".join(
            hashlib.blake2b(content[4 * begin : 4 * end], key=self.key, digest_size=16).digest()
            for begin, end in pairwise(ends.tolist())
        )
        sums = np.frombuffer(digests, dtype="<i8").reshape(count, 2).sum(axis=0, dtype=np.int64)
        return {"supports": np.bincount(codes, minlength=width).astype(np.int64), "rows": sums}
