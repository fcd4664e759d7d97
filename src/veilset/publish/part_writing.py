"""Writing data in parts, where it lies: nothing but names, numbers and sums of files comes back.

Which part a row is in, and where in it, follows from a secret seed and the multiset of all rows alone. Equal rows
cannot be told apart, so the workers are given the different rows with their numbers. Nothing is left of the order of
the original or of the pieces in which an engine held it: the same seed gives the same bytes, whatever these were.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.engines import Held as Rows
from veilset.engines import HeldCounts, Piece, Work
from veilset.errors import CannotWrite
from veilset.io import Layout, as_written, sha256_of, write_rows
from veilset.models import Promise
from veilset.publish.certificate import MOST_PARTS, DataPart, DataParts, part_name
from veilset.transactions import Transactions

OCCURRENCES = 10_000_000  # of a part, about; it holds all copies of its rows, however many there are
_COLUMN = "items"


class Written(NamedTuple):
    """A file that a worker has written, and its number of rows."""

    name: str
    sha256: str
    transactions: int


def write_parts(rows: Rows, counts: HeldCounts, staging: Path, public: Path, promise: Promise, seed: str) -> DataParts:
    """Write the rows to files in *public*.

    Workers write to a folder besides, under names that nothing else has. A task may run twice, or after its twin: only
    what the engine answered with is given a name of the release, and whatever else is in that folder is forgotten.
    """
    names = rows.vocabulary.names
    count = min(MOST_PARTS, max(1, -(-(counts.occurrences + len(counts)) // OCCURRENCES)))
    key = hashlib.sha256(json.dumps([seed, promise.name, promise.parameters(), [*names]]).encode()).digest()
    layout = as_written(Layout.choose(part_name(0), column=_COLUMN))
    drafts = staging / "drafts"
    drafts.mkdir(mode=0o700)
    dealt = rows.dealt(Dealing(key, count), count)
    try:
        answers = dealt.each(Writing(str(drafts), key, names, layout))
    finally:
        dealt.close()
    written = [answer for answer in answers if answer is not None]
    (public / "data").mkdir(mode=0o755)
    parts = []
    for number, answer in enumerate(written):
        name = part_name(number)
        try:
            (drafts / answer.name).rename(public / name)
        except OSError as error:
            raise _not_shared(drafts, error) from None
        parts.append(DataPart(file=name, sha256=answer.sha256, transactions=answer.transactions))
    for left in drafts.iterdir():
        left.unlink()
    drafts.rmdir()
    return DataParts(columns=(_COLUMN,), parts=tuple(parts))


@dataclass(frozen=True)
class Dealing:
    """Deals rows out by a keyed hash of their items, so that equal ones meet."""

    key: bytes
    parts: int

    def __call__(self, piece: Piece) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The rows, each with its part before its items."""
        count = len(piece.offsets) - 1
        content = np.ascontiguousarray(piece.items, dtype="<i4").tobytes()
        part_of = np.fromiter(
            (self._part(content[4 * begin : 4 * end]) for begin, end in pairwise(piece.offsets.tolist())),
            np.int32,
            count,
        )
        values = np.insert(piece.items, piece.offsets[:-1], part_of)
        return piece.offsets + np.arange(count + 1), values

    def _part(self, row: bytes) -> int:
        digest = hashlib.blake2b(row, key=self.key, digest_size=8, person=b"part of a row").digest()
        return int.from_bytes(digest, "little") % self.parts


@dataclass(frozen=True)
class Writing:
    """Writes one part, in a worker. It depends on the rows and the key alone, but for the name of the file."""

    folder: str
    key: bytes
    names: tuple[str, ...]
    layout: Layout

    def __call__(self, share: int, work: Work) -> Written | None:
        """The file; None if the part has no rows."""
        if not len(work.weights):
            return None
        data = self._in_order(work)
        path = Path(self.folder) / f"{share}-{secrets.token_hex(16)}"
        try:
            try:
                with path.open("xb") as stream:
                    os.fchmod(stream.fileno(), 0o644)  # to be handed over, whoever runs the worker
                    write_rows(stream, data.offsets, data.items, data.names, self.layout)
                    stream.flush()
                    os.fsync(stream.fileno())
                return Written(path.name, sha256_of(path), len(data))
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _not_shared(path.parent, error) from None

    def _in_order(self, work: Work) -> Transactions:
        """Each row as often as it is there, in an order that the key and the rows decide."""
        digest = hashlib.sha256(self.key)
        for array, kind in ((work.offsets, "<i8"), (work.items, "<i4"), (work.weights, "<i8")):
            digest.update(np.ascontiguousarray(array, dtype=kind).data)
        rows = np.repeat(np.arange(len(work.weights)), work.weights)
        stream = hashlib.shake_256(b"veilset order in a part\0" + digest.digest()).digest(8 * len(rows))
        different = Transactions.from_codes(work.offsets, work.items, self.names)
        return different.take(rows[np.argsort(np.frombuffer(stream, dtype="<u8"), kind="stable")])


def _not_shared(folder: Path, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"A worker cannot write a part of the release, or what it wrote cannot be found, in {str(folder)!r}: "
        f"{error.strerror or error}.",
        "Choose a folder on a file system that the driver and all workers share and may write to.",
    )
