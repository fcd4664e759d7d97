"""What Parquet and Arrow files claim to hold, by their metadata alone: nothing is unpacked.

A few kilobytes can claim billions of values. pyarrow cannot be asked how many: it ends the process where the metadata
of a Parquet column are damaged, and knows an Arrow batch only once it is unpacked. So the numbers are read here, from
Parquet's footer (Thrift, compact protocol) and the headers of Arrow's batches (FlatBuffers).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from veilset.io.suspect import SuspectFile

_LARGEST_FOOTER = 1 << 20  # bytes; a file that has more in its footer is not small
_ARROW_FILE = b"ARROW1\0\0"
_CONTINUES = 0xFFFFFFFF
_DICTIONARY, _ROWS = 2, 3  # kinds of messages


class Claims(NamedTuple):
    """Rows, values in the columns that are wanted, and bytes that these unpack to."""

    rows: int = 0
    values: int = 0
    unpacked: int = 0


def claims_of(source: SuspectFile, container: str, wanted: Collection[str]) -> Claims:
    """What a file claims; nothing, if its metadata are damaged: whoever reads it will say so."""
    find = _of_parquet if container == "parquet" else _of_arrow
    try:
        return find(source, wanted)
    except (LookupError, ValueError, TypeError, AttributeError, OSError, OverflowError, RecursionError, struct.error):
        return Claims()


def _of_parquet(source: SuspectFile, wanted: Collection[str]) -> Claims:
    source.seek(source.size - 8)
    size = int.from_bytes(source.read(4), "little")
    if size > _LARGEST_FOOTER:
        return Claims()
    source.seek(source.size - 8 - size)
    footer = _Thrift(source.read(size)).struct()
    # By the numbers that parquet.thrift has: FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data.
    groups = footer.get(4, [])
    chunks = [chunk[3] for group in groups for chunk in group[1] if chunk[3][3][0].decode() in wanted]
    rows = sum(group[3] for group in groups)
    return Claims(rows, sum(chunk[5] for chunk in chunks), sum(chunk[6] for chunk in chunks))


class _Thrift:
    """Reads structs, as dicts from the number of a field to its value."""

    def __init__(self, text: bytes) -> None:
        self._text, self._at = text, 0

    def struct(self) -> dict[int, Any]:
        """The next struct."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._bytes(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15, in_list=False)
        return found

    def _value(self, kind: int, *, in_list: bool) -> Any:
        if kind in (1, 2):  # a boolean is its own kind, but for those in lists
            return self._bytes(1)[0] == 1 if in_list else kind == 1
        if kind in (3, 7):
            return self._bytes(1 if kind == 3 else 8)
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            head = self._bytes(1)[0]
            size = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, in_list=True) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"no kind {kind}")

    def _bytes(self, count: int) -> bytes:
        text = self._text[self._at : self._at + count]
        if len(text) < count:
            raise ValueError("cut off")
        self._at += count
        return text

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._bytes(1)[0]) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("no number of 64 bits")
        return number | byte << shift

    def _signed(self) -> int:
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)


def _of_arrow(source: SuspectFile, wanted: Collection[str]) -> Claims:
    """Of all columns: which of them a number is about stands in the schema only."""
    rows = values = unpacked = 0
    for batch, has_rows, body in _batches(source):
        lengths = [length for length, _ in batch.pairs(1)]
        rows += batch.number(0) if has_rows else 0
        values += max(lengths, default=0)
        if batch.has(3):  # compressed: the first eight bytes of a buffer say how long it is
            for offset, size in batch.pairs(2):
                source.seek(body + offset)
                unpacked += max(0, *struct.unpack("<q", source.read(8))) if size >= 8 else 0
    return Claims(rows, values, unpacked)


def _batches(source: SuspectFile) -> Iterator[tuple[_Table, bool, int]]:
    """The header of each batch, whether it has rows or is a dictionary, and where its buffers begin."""
    source.seek(0)
    at = len(_ARROW_FILE) if source.read(len(_ARROW_FILE)) == _ARROW_FILE else 0
    while at + 8 <= source.size:
        source.seek(at)
        mark, size = struct.unpack("<II", source.read(8))
        if mark != _CONTINUES or size == 0:
            return
        message = _Table.first(source.read(size))
        body = at + 8 + size
        kind = message.number(1, "<B")
        if kind == _ROWS:
            yield message.table(2), True, body
        elif kind == _DICTIONARY:
            yield message.table(2).table(1), False, body
        at = body + max(0, message.number(3))


class _Table:
    """A table of FlatBuffers: its fields by their number."""

    def __init__(self, text: bytes, at: int) -> None:
        self._text, self._at = text, at
        self._fields = at - self._int("<i", at)

    @classmethod
    def first(cls, text: bytes) -> _Table:
        """The table that a text begins with."""
        return cls(text, struct.unpack_from("<I", text)[0])

    def has(self, field: int) -> bool:
        """Whether the field is there."""
        return self._place(field) > 0

    def number(self, field: int, form: str = "<q") -> int:
        """A number in the table."""
        return self._int(form, place) if (place := self._place(field)) else 0

    def table(self, field: int) -> _Table:
        """A table that this one points to."""
        return _Table(self._text, self._pointed(field))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """A list of pairs of numbers."""
        if self.has(field):
            at = self._pointed(field)
            size = self._int("<I", at)
            yield from struct.iter_unpack("<qq", self._text[at + 4 : at + 4 + 16 * size])

    def _pointed(self, field: int) -> int:
        place = self._place(field)
        return place + self._int("<I", place)

    def _place(self, field: int) -> int:
        at = 4 + 2 * field
        inside = self._int("<H", self._fields + at) if at < self._int("<H", self._fields) else 0
        return self._at + inside if inside else 0

    def _int(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._text, at)[0])
