"""Pieces of a source put together: in memory, or in temporary files where memory is short.

A temporary file is on the disk that ``TMPDIR`` names, has no name that anybody could open, and goes with the arrays
that are mapped to it. What is mapped counts for nothing against a memory limit: the system takes it back when it likes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.errors import BudgetExceeded, UnreadableInput
from veilset.io.rows import Codes, Offsets, Rows, arrow_numbers, ends_of
from veilset.limits import Limits

_BLOCK = 1 << 20  # occurrences that are worked on at once
_COPIES = 4  # of the data that may be made: joined, sorted, changed, put in another order
_ROOM = 1 << 22  # bytes that must be left for the next piece
_BYTES_A_ROW = 40  # that merging the rows of an owner takes, whatever is in them
_MOST_PARTS = 128  # files that are open at once
_DISK_LEFT = 0.05  # the share of a disk that is left to others


def gather(pieces: Iterable[Rows], limits: Limits) -> Rows:
    """All pieces as one, on disk if memory does not suffice to hold them, sort them and have room to work.

    The rows of one owner become one row, in order of appearance; so the first of the *owner_names* is that of row 0.
    """
    limits.require(_ROOM, "Reading", "read less data at once.")
    pieces = iter(pieces)
    head = list(islice(pieces, 2))
    if len(head) == 1:
        return _merged(_owners_in_order(head[0]))
    offsets, codes, owners = _Column(np.int64), _Column(np.int32), _Column(np.int32)
    names, owner_names = _native.text.Names(), _native.text.Names()
    offsets.append(np.zeros(1, dtype=np.int64))
    notes: Counter[str] = Counter()
    for piece in map(_owners_in_order, chain(head, pieces)):
        notes.update(piece.notes)
        offsets.append(piece.offsets[1:] + codes.size)
        codes.append(_across(piece.codes, piece.names, names))
        if piece.owners is not None:
            owners.append(_across(piece.owners, piece.owner_names, owner_names))
        held = (offsets.held, codes.held, owners.held)
        if _COPIES * sum(held) > limits.bytes_left():
            for column in (offsets, codes, owners):
                column.to_disk()
        limits.require(_ROOM, "Reading", "leave out ids or names you do not need.")
    limits.require(_BYTES_A_ROW * len(owner_names), "Reading", "leave out ids you do not need.")
    whole = Rows(offsets.array(), codes.array(), strings_of(names.take()), notes=notes)
    if owners.size:
        whole = replace(whole, owners=owners.array(), owner_names=strings_of(owner_names.take()))
    return _merged(whole)


def _owners_in_order(piece: Rows) -> Rows:
    """The same with owners numbered in order of appearance, which is the order of their transactions."""
    if piece.owners is None:
        return piece
    met, owners = _native.text.by_appearance(piece.owners, len(piece.owner_names))
    return replace(piece, owners=owners, owner_names=piece.owner_names.take(arrow_numbers(met)))


def _across(codes: Codes, names: Any, known: _native.text.Names) -> Codes:
    """Codes of one piece as codes of the whole."""
    number = known.add(*buffers_of(names))
    if not len(number):
        return codes
    return np.where(codes < 0, np.int32(-1), number[codes])


def _merged(whole: Rows) -> Rows:
    """The rows of one owner made one row."""
    if whole.owners is None:
        return whole
    codes = _Column(np.int32, on_disk=_on_disk(whole.codes)).room(len(whole.codes))
    offsets = _native.text.group_rows(whole.offsets, whole.codes, whole.owners, len(whole.owner_names), codes)
    counts = np.zeros(len(whole.owner_names), dtype=np.int64)
    for first in range(0, len(whole.owners), _BLOCK):
        counts += np.bincount(whole.owners[first : first + _BLOCK], minlength=len(counts))
    return replace(whole, offsets=offsets, codes=codes[: offsets[-1]], owners=None, owner_rows=counts)


def canonical_rows(offsets: Offsets, codes: Codes, new_code: Codes) -> tuple[Offsets, Codes]:
    """The rows with other codes (-1 drops an item), each sorted and without repetitions; on disk if they were."""
    if not _on_disk(codes):
        return _native.core.canonicalize(offsets, codes, new_code)
    new_offsets, items = _Column(np.int64, on_disk=True), _Column(np.int32, on_disk=True)
    new_offsets.append(np.zeros(1, dtype=np.int64))
    for first, last in row_blocks(offsets):
        begin, end = int(offsets[first]), int(offsets[last])
        ends, block = _native.core.canonicalize(offsets[first : last + 1] - begin, codes[begin:end], new_code)
        new_offsets.append(ends[1:] + items.size)
        items.append(block)
    return new_offsets.array(), items.array()


def taken_rows(offsets: Offsets, items: Codes, rows: npt.NDArray[np.int64]) -> tuple[Offsets, Codes]:
    """The rows at these places, in this order; on disk if they were."""
    lengths = np.empty(len(offsets) - 1, dtype=np.int32)
    for first in range(0, len(lengths), _BLOCK):
        lengths[first : first + _BLOCK] = np.diff(offsets[first : first + _BLOCK + 1])
    lengths = lengths[rows]
    ends = ends_of(lengths)
    if not _on_disk(items):
        return ends, _native.core.take_rows(offsets, items, rows)
    return ends, _taken_on_disk(offsets, items, rows, lengths, ends)


def _taken_on_disk(
    offsets: Offsets, items: Codes, rows: npt.NDArray[np.int64], lengths: npt.NDArray[np.int32], ends: Offsets
) -> Codes:
    """The items of these rows, without jumping about on the disk, which would take a read for each row.

    The rows are read once, from front to back, and dealt out to the parts of the result that they belong to; each part
    is put in order in memory.
    """
    parts = list(row_blocks(ends, max(_BLOCK, int(ends[-1]) // _MOST_PARTS)))
    part_of = np.repeat(np.arange(len(parts), dtype=np.int32), [last - first for first, last in parts])
    dealt = [_Column(np.int32, on_disk=True) for _ in parts]
    as_read = np.argsort(rows, kind="stable")
    for some in _in_blocks(as_read, lengths):
        places = some[np.argsort(part_of[some], kind="stable")]
        block, block_ends = _native.core.take_rows(offsets, items, rows[places]), ends_of(lengths[places])
        there, begins = np.unique(part_of[places], return_index=True)
        for part, begin, end in zip(there, begins, [*begins[1:], len(places)], strict=True):
            dealt[part].append(block[block_ends[begin] : block_ends[end]])
    taken = _Column(np.int32, on_disk=True)
    for first, last in parts:
        column = dealt.pop(0)  # its room on the disk is free again when it has been used
        as_dealt = np.argsort(rows[first:last], kind="stable")
        place = np.empty(last - first, dtype=np.int64)
        place[as_dealt] = np.arange(last - first)
        taken.append(_native.core.take_rows(ends_of(lengths[first:last][as_dealt]), column.array(), place))
    return taken.array()


def _in_blocks(places: npt.NDArray[np.int64], lengths: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int64]]:
    """Places of rows, in groups that hold about as many occurrences as are worked on at once."""
    for begin in range(0, len(places), _BLOCK):
        some = places[begin : begin + _BLOCK]
        for first, last in row_blocks(ends_of(lengths[some])):
            yield some[first:last]


def same_array(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether two arrays are equal, compared block by block."""
    blocks = range(0, len(a), _BLOCK)
    return len(a) == len(b) and all(np.array_equal(a[i : i + _BLOCK], b[i : i + _BLOCK]) for i in blocks)


def row_blocks(offsets: Offsets, occurrences: int = _BLOCK) -> Iterator[tuple[int, int]]:
    """Ranges of rows that hold about so many occurrences, or one row each."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + occurrences, side="right")) - 1
        last = min(count, max(first + 1, last), first + occurrences)
        yield first, last
        first = last


class _Column:
    """An array that grows: in memory, until it is sent to disk."""

    def __init__(self, dtype: npt.DTypeLike, *, on_disk: bool = False) -> None:
        self._dtype = np.dtype(dtype)
        self._parts: list[npt.NDArray[Any]] = []
        self._file: Any = None
        self.size = 0
        if on_disk:
            self.to_disk()

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self._parts)

    def append(self, part: npt.NDArray[Any]) -> None:
        """Add to the end."""
        self.size += len(part)
        if self._file is None:
            self._parts.append(part)
        else:
            self._write(part)

    def to_disk(self) -> None:
        """Hold the rest of the column, and what is there of it, on disk."""
        if self._file is None:
            with _room_on_disk():
                self._file = tempfile.TemporaryFile(prefix="veilset-")  # noqa: SIM115 - it is closed with its arrays
            weakref.finalize(self, _close, self._file)  # arrays that are mapped to it stay
            for part in self._parts:
                self._write(part)
            self._parts = []

    def _write(self, part: npt.NDArray[Any]) -> None:
        with _room_on_disk():
            free = os.fstatvfs(self._file.fileno())
            if free.f_bavail < free.f_blocks * _DISK_LEFT:  # a small packed file can be made to fill any disk
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._file.write(np.ascontiguousarray(part, dtype=self._dtype).data)

    def array(self) -> npt.NDArray[Any]:
        """The whole column."""
        if self._file is None:
            return np.concatenate(self._parts) if self._parts else np.zeros(0, dtype=self._dtype)
        self._file.flush()
        return self._mapped(self.size, "r")

    def room(self, size: int) -> npt.NDArray[Any]:
        """An array of this size to write to."""
        if self._file is None:
            return np.empty(size, dtype=self._dtype)
        with _room_on_disk():
            self._file.truncate(size * self._dtype.itemsize)
        return self._mapped(size, "r+")

    def _mapped(self, size: int, mode: Any) -> npt.NDArray[Any]:
        if size == 0:
            return np.zeros(0, dtype=self._dtype)
        return np.asarray(np.memmap(self._file, dtype=self._dtype, mode=mode, shape=(size,)))


def _on_disk(array: npt.NDArray[Any]) -> bool:
    """Whether an array, or what it is a part of, is mapped to a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return False


@contextlib.contextmanager
def _room_on_disk() -> Iterator[None]:
    """Say that the disk for temporary files is too small, if it is."""
    try:
        yield
    except OSError as error:
        folder, reason = tempfile.gettempdir(), error.strerror or error
        raise BudgetExceeded(
            f"The data is larger than memory, and {folder!r} has no space for it: {reason}.",
            "Set the environment variable TMPDIR to a folder on a larger disk, or raise the memory limit.",
        ) from None


def _close(file: Any) -> None:
    with contextlib.suppress(OSError):  # that something could not be written has been said already
        file.close()


def strings_of(parts: tuple[Offsets, npt.NDArray[np.uint8]]) -> Any:
    """Strings as the kernels give them, offsets into one block of bytes, as an Arrow array."""
    starts, data = parts
    return pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data))


def text_of(strings: Any) -> bytes:
    """All strings of an Arrow array one after the other."""
    starts, data = buffers_of(strings)
    return data[starts[0] : starts[-1]].tobytes()


def buffers_of(names: Any) -> tuple[Offsets, npt.NDArray[np.uint8]]:
    """Strings as the kernels take them."""
    if names.null_count:
        raise UnreadableInput("A name is null.", "Give every item a name.")
    names = names.cast(pa.large_string())
    _, starts, data = names.buffers()
    if not len(names):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    offsets = np.frombuffer(starts, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    return offsets, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
