"""Messages as bytes: frames of a 4-byte length and one msgpack value, each at most one MiB and a little;
those with no piece of an array are smaller.

A message is a header frame ``["message", kind, fields, {name: [dtype, length]}]``, followed by the bytes of its arrays,
one after the other, in chunk frames ``["chunk", bytes]`` of one MiB; only the last of an array is shorter. Between
frames there may be a heart-beat ``["alive", busy]``, where *busy* says that its sender takes no frames at the moment.

Fields are texts, bytes, numbers, truth values, None, and lists and dicts of them. Whole numbers have 64 bits; a larger
one passes as decimal text: `as_digits` writes it, `from_digits` reads it.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument
from veilset.joins.parties.certificates import JOIN_EXTRA
from veilset.views import installed

CHUNK = 1 << 20
"""Bytes of an array in one frame."""
LARGEST_FRAME = CHUNK + 1024
LARGEST_HEADER = 1 << 17
"""Bytes of a frame that is no chunk: many small values in one take long to read."""
_LARGE_CHUNK = b"\x92\xa5chunk\xc6"
PREFIX = struct.Struct(">I")
_DTYPES = {name: np.dtype(name).newbyteorder("<") for name in ("int32", "int64", "uint64", "uint8")}
_MOST_ARRAYS = 64
_DEEPEST = 16
_DIGITS = re.compile(r"0|-?[1-9][0-9]{0,38}", re.ASCII)

Array = npt.NDArray[Any]
Layout = dict[str, tuple[np.dtype[Any], int]]
"""Arrays that will come: their types and lengths."""


class Malformed(Exception):
    """Bytes that no honest party sends; the text says what is wrong, without quoting them."""


@dataclass(frozen=True)
class Message:
    """What a party was told."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Header:
    """The first frame of a message."""

    kind: str
    fields: dict[str, Any]
    layout: Layout

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(dtype.itemsize * length for dtype, length in self.layout.values())


@dataclass(frozen=True)
class Chunk:
    """A piece of an array."""

    content: bytes


@dataclass(frozen=True)
class Alive:
    """A heart-beat."""

    busy: bool


def header_frame(kind: str, fields: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The first frame of a message; fields and arrays that cannot be sent are refused."""
    layout = {name: [array.dtype.name, len(array)] for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.name not in _DTYPES:
            raise InvalidArgument(
                f"Array {name!r} of message {kind!r} is {array.ndim}-dimensional {array.dtype.name}.",
                f"Send one-dimensional arrays of {', '.join(_DTYPES)}.",
            )
    pack = _msgpack().packb
    try:
        _check_fields(dict(fields))
        frame = bytes(pack(["message", kind, dict(fields), layout]))
        _layout(layout)
    except (Malformed, TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"Message {kind!r} cannot be sent: {error}.", "Write large whole numbers as text, and many in an array."
        ) from None
    if len(frame) > LARGEST_HEADER:
        raise InvalidArgument(
            f"The fields of message {kind!r} have {len(frame):,} bytes; {LARGEST_HEADER:,} are allowed.",
            "Send large values as arrays.",
        )
    return frame


def chunk_frames(array: Array) -> Iterator[bytes]:
    """The frames with the bytes of an array."""
    ordered = np.ascontiguousarray(array, _DTYPES[array.dtype.name])
    content = ordered.data.cast("B") if len(ordered) else memoryview(b"")
    for start in range(0, len(content), CHUNK):
        yield _pack(["chunk", bytes(content[start : start + CHUNK])])


def alive_frame(busy: bool) -> bytes:
    """A heart-beat."""
    return _pack(["alive", busy])


def parse(frame: bytes) -> Header | Chunk | Alive:
    """What a frame says; raise `Malformed` if it is none."""
    if len(frame) > LARGEST_HEADER and not frame.startswith(_LARGE_CHUNK):
        raise Malformed(f"a header of {len(frame):,} bytes; at most {LARGEST_HEADER:,} are allowed")
    match _unpack(frame):
        case ["alive", bool(busy)]:
            return Alive(busy)
        case ["chunk", bytes(content)] if 0 < len(content) <= CHUNK:
            return Chunk(content)
        case ["message", str(kind), dict(fields), dict(arrays)]:
            _check_fields(fields)
            return Header(kind, fields, _layout(arrays))
    raise Malformed("a frame of no known form")


def empty_arrays(layout: Layout) -> dict[str, Array]:
    """Room for the arrays of a message."""
    return {name: np.empty(length, dtype) for name, (dtype, length) in layout.items()}


def as_digits(number: int) -> str:
    """A whole number of up to 128 bits as a field can have it."""
    text = str(int(number))
    if not _DIGITS.fullmatch(text):
        raise InvalidArgument(f"{text[:40]}… has more than 39 digits.", "Smaller numbers can be sent.")
    return text


def from_digits(text: object) -> int:
    """The whole number that `as_digits` wrote; raise `Malformed` at anything else.

    >>> from_digits(as_digits(2**100)) == 2**100
    True
    """
    if not isinstance(text, str) or not _DIGITS.fullmatch(text):
        raise Malformed("a field that is not a whole number in decimal digits")
    return int(text)


def _layout(arrays: dict[str, Any]) -> Layout:
    if len(arrays) > _MOST_ARRAYS:
        raise Malformed(f"{len(arrays)} arrays in one message; at most {_MOST_ARRAYS} are allowed")
    layout: Layout = {}
    for name, one in arrays.items():
        match one:
            case [str(dtype), int(length)] if dtype in _DTYPES and not isinstance(length, bool) and length >= 0:
                layout[name] = _DTYPES[dtype], length
            case _:
                raise Malformed("an array of an unknown type or length")
    return layout


def _check_fields(value: Any, depth: int = 0) -> None:
    """Raise unless a value is made of what may be sent."""
    kind = type(value)
    if depth > _DEEPEST:
        raise Malformed(f"fields nested more than {_DEEPEST} deep")
    if kind is dict:
        if not all(type(key) is str for key in value):
            raise Malformed("a field whose name is not text")
        value = value.values()
    elif kind not in (list, tuple):
        if kind not in (str, bytes, int, bool, float, type(None)):
            raise Malformed(f"a field of type {kind.__name__}")
        if kind is float and not math.isfinite(value):
            raise Malformed("a field that is not a finite number")
        return
    for one in value:
        _check_fields(one, depth + 1)


def _pack(value: Any) -> bytes:
    return bytes(_msgpack().packb(value))


def _unpack(frame: bytes) -> Any:
    unpack = _msgpack().unpackb
    try:
        return unpack(
            frame,
            raw=False,
            strict_map_key=True,
            object_pairs_hook=_without_repetition,
            ext_hook=_refuse_extension,
            max_str_len=CHUNK,
            max_bin_len=CHUNK,
            max_array_len=CHUNK,
            max_map_len=CHUNK,
            max_ext_len=0,
        )
    except ValueError:
        raise Malformed("a frame that is not msgpack, or not within its limits") from None


def _without_repetition(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_extension(code: int, data: bytes) -> None:
    raise ValueError(f"extension {code} of {len(data)} bytes")


def _msgpack() -> Any:
    return installed("msgpack", "A connection between parties", JOIN_EXTRA)
