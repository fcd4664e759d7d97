"""What the writers write is what Python would, slice by slice, and the parsers read it back."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.text_parsers import arrays, basket, json_long, names_of, objects, rows_of
from veilset import _native

NAMES = ["a", "käse", 'say "x"', "b\nc", "a name, longer than eight"]
ROWS = st.lists(st.lists(st.integers(0, len(NAMES) - 1), unique=True).map(sorted), max_size=8)
CUTS = st.lists(st.integers(0, 8), max_size=3)


def packed(spelled: list[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [name.encode() for name in spelled]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return starts, np.frombuffer(b"".join(encoded), dtype=np.uint8)


def slices(rows: list[list[int]], cuts: list[int]):
    """The rows cut into slices: offsets (which then begin above 0), items, and the number of the first row."""
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    items = np.array([item for row in rows for item in row], dtype=np.int32)
    for first, last in pairwise([0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]):
        yield offsets[first : last + 1], items, first + 1


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@given(rows=ROWS, cuts=CUTS)
def test_delimited_text(rows: list[list[int]], cuts: list[int]) -> None:
    names = packed([quoted(name) for name in NAMES])
    text = b"".join(_native.text.format_rows(o, i, *names, ",", False, first) for o, i, first in slices(rows, cuts))
    assert text.decode() == "".join(",".join(quoted(NAMES[item]) for item in row) + "\n" for row in rows)
    assert basket(text, 0, 1, True).records == [[NAMES[item] for item in row] for row in rows]

    text = b"".join(_native.text.format_rows(o, i, *names, ",", True, first) for o, i, first in slices(rows, cuts))
    pairs = [(number, item) for number, row in enumerate(rows, 1) for item in row or [None]]
    assert text.decode() == "".join(f"{number},{'' if i is None else quoted(NAMES[i])}\n" for number, i in pairs)
    columns, *_ = _native.text.parse_table(text, ",", 0, 1, True, [0, 1], 2)
    read = list(zip(*(names_of(*column) for column in columns), strict=True))
    assert read == [(str(number), None if i is None else NAMES[i]) for number, i in pairs]


@given(rows=ROWS, cuts=CUTS)
def test_json(rows: list[list[int]], cuts: list[int]) -> None:
    names = packed([json.dumps(name, ensure_ascii=False) for name in NAMES])
    named = [[NAMES[item] for item in row] for row in rows]
    parts = [_native.text.format_json_lines(o, i, *names, b"[", b"]") for o, i, _ in slices(rows, cuts)]
    assert [json.loads(line) for line in b"".join(parts).decode().split("\n")[:-1]] == named
    assert arrays(b"".join(parts), 0, 1, True).records == named

    head, tail = b'{"items": [', b'], "who": "me"}'
    parts = [_native.text.format_json_lines(o, i, *names, head, tail) for o, i, _ in slices(rows, cuts)]
    assert b"".join(parts).decode() == "".join(
        json.dumps({"items": row, "who": "me"}, ensure_ascii=False) + "\n" for row in named
    )
    assert objects(b"".join(parts), 0, 1, True).records == [("me", row) for row in named]


@given(rows=ROWS, cuts=CUTS)
def test_long_json(rows: list[list[int]], cuts: list[int]) -> None:
    names = packed([json.dumps(name, ensure_ascii=False) for name in NAMES])
    texts = [
        _native.text.format_json_long(o, i, *names, b'{"id": ', b', "item": ', b"}", first)
        for o, i, first in slices(rows, cuts)
    ]
    pairs = [(number, name) for number, row in enumerate(rows, 1) for name in [NAMES[i] for i in row] or [None]]
    assert b"".join(texts).decode() == "".join(
        json.dumps({"id": number, "item": name}, ensure_ascii=False) + "\n" for number, name in pairs
    )
    assert json_long(b"".join(texts), 0, 1, True).records == [(str(number), name) for number, name in pairs]


@given(data=st.data(), width=st.integers(1, 40))
def test_wide(data: st.DataObject, width: int) -> None:
    """Wide enough for the parser to take several cells at once."""
    rows = data.draw(st.lists(st.lists(st.integers(0, width - 1), unique=True).map(sorted), max_size=8))
    parts = [_native.text.format_wide(o, i, width, ";") for o, i, _ in slices(rows, data.draw(CUTS))]
    cells = [["1" if item in row else "0" for item in range(width)] for row in rows]
    assert b"".join(parts).decode() == "".join(";".join(row) + "\n" for row in cells)

    # Then with other spellings here and there, columns that are no items, and one that names persons.
    skip = np.array(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)), dtype=np.uint8)
    person = data.draw(st.integers(-1, width - 1))
    spellings = {"0": ["", "False", '"0"', " 0", "000"], "1": ["true", '"1"', "1 ", "12", "01"]}
    for row in cells:
        for column in data.draw(st.lists(st.integers(0, width - 1), max_size=4)):
            row[column] = data.draw(st.sampled_from(spellings.get(row[column], [row[column]])))
        if person >= 0:
            row[person] = data.draw(st.sampled_from(["0", "1", "ann"]))
    text = "".join(";".join(row) + "\r\n" for row in cells).encode()
    offsets, codes, consumed, line, blank, many, owners = _native.text.parse_wide(
        text, ";", 0, 1, True, width, skip, person, True
    )
    shown = [item for item in range(width) if not skip[item] and item != person]
    assert rows_of(offsets, codes.tolist()) == [[item for item in shown if item in row] for row in rows]
    assert (consumed, line, blank) == (len(text), len(rows) + 1, 0)
    assert many == sum(row[item] == "12" for row in cells for item in shown)
    assert names_of(*owners) == ([row[person] for row in cells] if person >= 0 else [])


def test_no_vocabulary() -> None:
    nothing = np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int32)
    assert _native.text.format_wide(*nothing, 0, ",") == b"\n\n"
    assert _native.text.format_rows(*nothing, *packed([]), ",", False, 1) == b"\n\n"


@pytest.mark.parametrize(
    ("offsets", "items", "starts", "of"),
    [
        ([], [], [0, 1], "offsets"),
        ([-1, 0], [], [0, 1], "offsets"),
        ([0, 2], [0], [0, 1], "offsets"),
        ([0, 2, 1], [0, 0], [0, 1], "offsets"),
        ([0, 1], [1], [0, 1], "item"),
        ([0, 1], [-1], [0, 1], "item"),
        ([0, 1], [0], [], "starts"),
        ([0, 1], [0], [0, 2], "starts"),
        ([0, 1], [0], [-1, 1], "starts"),
        ([0, 1], [0], [1, 0], "starts"),
    ],
)
def test_arrays_that_lie_are_refused(offsets, items, starts, of: str) -> None:
    rows = np.array(offsets, dtype=np.int64), np.array(items, dtype=np.int32)
    names = np.array(starts, dtype=np.int64), np.zeros(1, dtype=np.uint8)
    for write in (
        lambda: _native.text.format_rows(*rows, *names, ",", False, 1),
        lambda: _native.text.format_json_lines(*rows, *names, b"", b""),
        lambda: _native.text.format_json_long(*rows, *names, b"", b"", b"", 1),
    ):
        with refused(ValueError, of):
            write()
    if of != "starts":
        with refused(ValueError, of):
            _native.text.format_wide(*rows, 1, ",")
