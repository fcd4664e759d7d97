"""Transactions as text, block by block: what the readers of the text formats read back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import InvalidArgument
from veilset.io.gather import row_blocks
from veilset.io.layout import Layout
from veilset.io.rows import Codes, Offsets, ends_of

_LARGEST_ID = 2**63 - 1
_BLOCK = 1 << 20  # occurrences, or cells of a wide table, that become text at once
_LINE = 32  # bytes of an occurrence besides its name, at most: an id, delimiters

_Spelled = tuple[bytes, list[bytes]]
"""What comes before the rows, and each name as it stands in them."""


def text_blocks(offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout) -> Iterator[bytes]:
    """The text of canonical rows in one of the text formats."""
    head, spelled = _SPELLINGS[layout.format](names, layout)
    yield head
    vocabulary = (ends_of([len(name) for name in spelled]), np.frombuffer(b"".join(spelled), dtype=np.uint8))
    most = max(1, _BLOCK // len(names)) if layout.format == "wide" else occurrences_at_once(spelled)
    for first, last in row_blocks(offsets, most):
        yield _lines(offsets[first : last + 1], items, vocabulary, layout, first + 1)


def occurrences_at_once(names: Sequence[str | bytes], size: int = 1 << 22) -> int:
    """How many occurrences take about *size* bytes when they are spelled out, were all of the longest name.

    >>> occurrences_at_once(["tea"], 1 << 22), occurrences_at_once(["tea" * 1000], 1 << 24)
    (119837, 5533)
    """
    longest = max(map(len, names), default=0)
    return max(1 << 12, min(_BLOCK, size // (longest + _LINE)))


def _lines(
    offsets: Offsets, items: Codes, vocabulary: tuple[Offsets, npt.NDArray[np.uint8]], layout: Layout, row: int
) -> bytes:
    """The lines of some rows, of which the first has the number *row*."""
    if layout.format == "wide":
        return _native.text.format_wide(offsets, items, len(vocabulary[0]) - 1, layout.delimiter)
    if layout.format == "jsonl":
        head, tail = ("[", "]") if not layout.columns else (f"{{{json_name(layout.columns[0])}: [", "]}")
        return _native.text.format_json_lines(offsets, items, *vocabulary, head.encode(), tail.encode())
    if layout.format == "jsonl-long":
        identity, item = map(json_name, layout.columns)
        return _native.text.format_json_long(
            offsets, items, *vocabulary, f"{{{identity}: ".encode(), f", {item}: ".encode(), b"}", row
        )
    return _native.text.format_rows(offsets, items, *vocabulary, layout.delimiter, layout.format == "long", row)


def _as_ids(names: Sequence[str], layout: Layout) -> _Spelled:
    wrong = next((name for name in names if not _is_id(name)), None)
    if wrong is not None:
        raise InvalidArgument(
            f"The item {wrong!r} is not a numeric id and cannot be written as FIMI.", "Write basket CSV instead."
        )
    return b"", [name.encode() for name in names]


def _as_spmf(names: Sequence[str], layout: Layout) -> _Spelled:
    if all(map(_is_id, names)):
        return b"", [name.encode() for name in names]
    wrong = next((name for name in names if "\n" in name or "\r" in name or name != name.strip(" \t")), None)
    if wrong is not None:
        raise InvalidArgument(
            f"The item {wrong!r} contains a line break, or has spaces around it, and cannot be written as SPMF.",
            "Write basket CSV instead.",
        )
    numbered = [f"@ITEM={number}={name}\n" for number, name in enumerate(names, start=1)]
    return "".join(["@CONVERTED_FROM_TEXT\n", *numbered]).encode(), [b"%d" % (i + 1) for i in range(len(names))]


def _as_fields(names: Sequence[str], layout: Layout) -> _Spelled:
    """With a header, if there are columns to name."""
    return _header(layout.columns, layout), [quoted(name, layout.delimiter).encode() for name in names]


def _as_wide(names: Sequence[str], layout: Layout) -> _Spelled:
    if not names:
        raise InvalidArgument(
            "No item is left, but a wide table needs at least one column.", "Write basket CSV instead."
        )
    return _header(names, layout), [b""] * len(names)


def _as_json(names: Sequence[str], layout: Layout) -> _Spelled:
    return b"", [json_name(name).encode() for name in names]


_SPELLINGS = {
    "fimi": _as_ids,
    "spmf": _as_spmf,
    "basket": _as_fields,
    "long": _as_fields,
    "wide": _as_wide,
    "jsonl": _as_json,
    "jsonl-long": _as_json,
}


def _header(columns: Sequence[str], layout: Layout) -> bytes:
    return (
        b""
        if not columns
        else layout.delimiter.join(quoted(name, layout.delimiter) for name in columns).encode() + b"\n"
    )


def _is_id(name: str) -> bool:
    plain = name.isascii() and name.isdigit() and len(name) <= len(str(_LARGEST_ID))
    return plain and str(int(name)) == name and int(name) <= _LARGEST_ID


def json_name(name: str) -> str:
    """A name as JSON has it."""
    return json.dumps(name, ensure_ascii=False)


def in_basket(name: str) -> str:
    """A name in a line of basket CSV, or in a cell that is itself such a line."""
    return quoted(name, ",")


def line_ends(text: str) -> int:
    """How many lines end in *text*."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def quoted(name: str, delimiter: str) -> str:
    """A name as a field of delimited text: quoted where it must be."""
    # A byte-order mark in front would be taken for the file's.
    if name != name.strip(" \t\ufeff") or any(c in name for c in (delimiter, '"', "\n", "\r")):
        return '"' + name.replace('"', '""') + '"'
    return name
