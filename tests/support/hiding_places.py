"""Parquet files with a message where no reader looks: Thrift's compact protocol, just enough of it to put one there."""

from typing import Any

Field = tuple[int, int, Any]
"""Number, type and value."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _STRUCT = 1, 2, 3, 7, 8, 9, 12
ANOTHER_WRITER = b"parquet-cpp-arrow version 1.2.3"
PLACES = ["an unknown field of a page header", "statistics in a page header", "a frame that zstd skips"]


def with_message(content: bytes, place: str, message: bytes) -> bytes:
    """A file of one row group whose first data page also holds the message, and which another version has written."""
    size = int.from_bytes(content[-8:-4], "little")
    body, (footer, _) = content[: -8 - size], _struct(content[-8 - size : -8], 0)
    chunk = _at(_at(_at(footer, 4)[0], 1)[0], 3)
    start = _at(chunk, 9)
    header, end = _struct(body, start)
    page_end = end + _at(header, 3)
    page = body[end:page_end]
    if place == PLACES[0]:
        header.append((99, _BINARY, message))
    elif place == PLACES[1]:
        _at(header, 5).append((5, _STRUCT, [(5, _BINARY, message), (6, _BINARY, message)]))
    else:
        page += b"\x50\x2a\x4d\x18" + len(message).to_bytes(4, "little") + message
        _set(header, 3, len(page))
    changed = body[:start] + _written(header) + page + body[page_end:]
    _grow(footer, start, len(changed) - len(body))
    return with_footer(changed, footer)


def by_another_writer(content: bytes) -> bytes:
    """The same file, as another version of Arrow would have signed it."""
    size = int.from_bytes(content[-8:-4], "little")
    footer, _ = _struct(content[-8 - size : -8], 0)
    return with_footer(content[: -8 - size], footer)


def with_footer(body: bytes, footer: list[Field]) -> bytes:
    """A file with this footer, signed by another writer."""
    _set(footer, 6, ANOTHER_WRITER)
    text = _written(footer)
    return body + text + len(text).to_bytes(4, "little") + b"PAR1"


def _grow(footer: list[Field], start: int, more: int) -> None:
    """Count the bytes that were put into the page at *start*."""
    for number, group in enumerate(_at(footer, 4)):
        for place, column in enumerate(_at(group, 1)):
            chunk = _at(column, 3)
            if (number, place) == (0, 0):
                _set(chunk, 7, _at(chunk, 7) + more)
            for offset in (9, 11):
                if (found := _at(chunk, offset)) is not None and found > start:
                    _set(chunk, offset, found + more)
        if number == 0:
            _set(group, 6, _at(group, 6) + more)
        elif _at(group, 5) is not None:
            _set(group, 5, _at(group, 5) + more)


def _at(fields: list[Field], number: int) -> Any:
    return next((value for at, _, value in fields if at == number), None)


def _set(fields: list[Field], number: int, value: Any) -> None:
    fields[:] = [(at, kind, value if at == number else old) for at, kind, old in fields]


def _struct(content: bytes, at: int) -> tuple[list[Field], int]:
    fields: list[Field] = []
    number = 0
    while head := content[at]:
        at += 1
        kind, step = head & 15, head >> 4
        if step:
            number += step
        else:
            number, at = _zigzag(content, at)
        value, at = (kind == _TRUE, at) if kind in (_TRUE, _FALSE) else _value(content, at, kind)
        fields.append((number, kind, value))
    return fields, at + 1


def _value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == _STRUCT:
        return _struct(content, at)
    if kind == _BINARY:
        size, at = _varint(content, at)
        return content[at : at + size], at + size
    if kind == _LIST:
        head, at = content[at], at + 1
        size, of = head >> 4, head & 15
        if size == 15:
            size, at = _varint(content, at)
        values = _Values(of)
        for _ in range(size):
            value, at = _value(content, at, of)
            values.append(value)
        return values, at
    if kind in (_TRUE, _FALSE, _BYTE):
        return content[at], at + 1
    assert kind != _DOUBLE
    return _zigzag(content, at)


class _Values(list):
    """A list with the type of its values."""

    def __init__(self, of: int) -> None:
        self.of = of


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = content[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _zigzag(content: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(content, at)
    return (value >> 1) ^ -(value & 1), at


def _written(fields: list[Field]) -> bytes:
    text, before = bytearray(), 0
    for number, kind, value in fields:
        step = number - before
        text += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + _as_varint(number << 1)
        text += b"" if kind in (_TRUE, _FALSE) else _as_bytes(kind, value)
        before = number
    return bytes(text) + b"\0"


def _as_bytes(kind: int, value: Any) -> bytes:
    if kind == _STRUCT:
        return _written(value)
    if kind == _BINARY:
        return _as_varint(len(value)) + value
    if kind == _LIST:
        short = len(value) < 15
        head = bytes([(len(value) if short else 15) << 4 | value.of]) + (b"" if short else _as_varint(len(value)))
        return head + b"".join(_as_bytes(value.of, one) for one in value)
    if kind in (_TRUE, _FALSE, _BYTE):
        return bytes([value])
    return _as_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _as_varint(value: int) -> bytes:
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes([*text, value])
