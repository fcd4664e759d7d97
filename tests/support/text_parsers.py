"""The parsers of text, all in one form."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from veilset import _native


class Parsed(NamedTuple):
    """What a parser makes of a block, with names instead of codes."""

    records: list[Any]
    counts: list[int]  # of blank lines and the like
    consumed: int
    line: int
    metadata: tuple[Any, ...] = ()


def names_of(codes, strings) -> list[str | None]:
    """The name of each code; the strings must be distinct, in order of appearance, and all in use."""
    starts, data = strings
    assert len(data) == starts[-1]
    names = [bytes(data[first:last]).decode() for first, last in pairwise(starts)]
    used = [code for code in dict.fromkeys(codes.tolist()) if code >= 0]
    assert used == list(range(len(names)))
    assert len(set(names)) == len(names)
    return [None if code < 0 else names[code] for code in codes.tolist()]


def rows_of(offsets, values) -> list[list[Any]]:
    assert (offsets[0], offsets[-1]) == (0, len(values))
    return [values[first:last] for first, last in pairwise(offsets)]


def ids_of(codes, ids) -> list[int]:
    assert sorted(set(ids.tolist())) == ids.tolist()
    assert sorted(set(codes.tolist())) == list(range(len(ids)))
    return ids[codes].tolist()


# WIDE has five columns: the second says whose a line is, the fourth is no item.
WIDE = {"width": 5, "skip": np.array([0, 0, 0, 1, 0], dtype=np.uint8), "person": 1}


def fimi(*block) -> Parsed:
    offsets, codes, ids, *place = _native.text.parse_fimi(*block)
    return Parsed(rows_of(offsets, ids_of(codes, ids)), [], *place)


def spmf(text, start, line, last) -> Parsed:
    offsets, codes, ids, *place, metadata, sequences = _native.text.parse_spmf(text, start, line, last)
    return Parsed(rows_of(offsets, ids_of(codes, ids)), [sequences], *place, tuple(metadata))


def basket(text, start, line, last) -> Parsed:
    offsets, codes, strings, *place, _ = _native.text.parse_basket(text, ",", start, line, last)
    return Parsed(rows_of(offsets, names_of(codes, strings)), [], *place)


def table(text, start, line, last) -> Parsed:
    columns, blank, *place = _native.text.parse_table(text, ",", start, line, last, [2, 0], 3)
    return Parsed(list(zip(*(names_of(*column) for column in columns), strict=True)), [blank], *place)


def wide(text, start, line, last, counts=False) -> Parsed:
    offsets, codes, *place, blank, many, owners = _native.text.parse_wide(
        text, ",", start, line, last, counts=counts, **WIDE
    )
    return Parsed(list(zip(names_of(*owners), rows_of(offsets, codes.tolist()), strict=True)), [blank, many], *place)


def wide_counts(*block) -> Parsed:
    return wide(*block, counts=True)


def narrow(text, start, line, last) -> Parsed:
    offsets, codes, *place, blank, many, owners = _native.text.parse_wide(
        text, ",", start, line, last, width=1, skip=np.zeros(1, dtype=np.uint8), person=-1, counts=False
    )
    assert names_of(*owners) == []
    return Parsed(rows_of(offsets, codes.tolist()), [blank, many], *place)


def arrays(*block) -> Parsed:
    offsets, codes, strings, *place, blank, owners = _native.text.parse_json_lines(*block, None, None)
    assert names_of(*owners) == []
    return Parsed(rows_of(offsets, names_of(codes, strings)), [blank], *place)


def objects(*block) -> Parsed:
    offsets, codes, strings, *place, blank, owners = _native.text.parse_json_lines(*block, "items", "who")
    rows = rows_of(offsets, names_of(codes, strings))
    return Parsed(list(zip(names_of(*owners), rows, strict=True)), [blank], *place)


def json_long(*block) -> Parsed:
    columns, blank, *place, item_is_named, keys = _native.text.parse_json_long(*block, "id", "item")
    assert ("id" in keys) == bool(len(columns[0][0]))
    assert item_is_named or (columns[1][0] < 0).all()
    return Parsed(list(zip(*(names_of(*column) for column in columns), strict=True)), [blank], *place)
