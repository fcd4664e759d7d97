"""What the parsers of text say about a line they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.text_parsers import arrays, basket, fimi, json_long, narrow, objects, spmf, table, wide, wide_counts
from veilset import _native

DEEP = "[" * 511

# what each parser refuses
REFUSED = {
    fimi: ["1\n2 x3", "1\r9223372036854775808"],
    spmf: ["#\n1 x", "1 -3", " # x", "99999999999999999999", "1 2:10:4 6", "1 -1 -2 3 -1 -2"],
    basket: ['a\n"b\n\n', '"a\n"b'],
    table: ["1,2,3\n1,2", '"\n",2,3,4'],
    wide: ["0,a,0,0,0\n0,a,7,0,0", "0,a,0,0,01", "\n0,,0,0,0", "0,a,0,0", "0,a,0,0,0,0,0,0,0,0"],
    wide_counts: ["-2,a,0,0,0", "1.0,a,0,0,0"],
    narrow: ["x"],
    arrays: [
        '{"a": []}',
        "\n7",
        '"a"',
        "true",
        "[null]",
        "[false]",
        "[[1]]",
        '[{"a": 1}]',
        "[1.0]",
        "[1e3]",
        '["a", ""]',
        f"[{'9' * 4001}]",
        "[012]",
        "[-]",
        "[1.]",
        "[1e+",
        "[1,]",
        "[1 2]",
        "[1\n]",
        "[1] x",
        "milk",
        "[nul]",
        "[NaN]",
        '["a\n"]',
        '["a',
        '["a\\',
        '["a\tb"]',
        '["\\x"]',
        '["\\u00g0"]',
        '["\\u0000"]',
        '["\\ud83d"]',
        '["\\ud83d\\u0041"]',
        '["\\ude00\\ud83d"]',
    ],
    objects: [
        "[1]",
        "null",
        "{}",
        '{"item": 1, "who": 2}',
        '{"items": [], "x": {"who": 1}}',
        "{" + ",".join(f'"{key}": 1' for key in "abcdefghijkl") + "}",
        '{"items": "a"}',
        '{"items": [], "who": null}',
        '{"items": [], "who": ""}',
        '{"a": 1, "\\u0061": 2}',
        "{" + ",".join(f'"{key}": 1' for key in "abcdefghijkc") + "}",
        '{"x": {"a": 1, "a": 1}}',
        "{a: 1}",
        '{"a" 1}',
        '{"a": 1]',
        '{"a": [' + DEEP,
    ],
    json_long: ["[1]", '{"item": 1}', '{"id": null}', '{"id": 1, "item": 1.5}'],
}


@pytest.mark.parametrize("parse", REFUSED, ids=lambda parse: parse.__name__)
def test_a_refused_line_is_named_with_what_is_wrong(parse, snapshot) -> None:
    said = {}
    for text in REFUSED[parse]:
        with pytest.raises(_native.text.ParseError) as caught:
            parse(text.encode(), 0, 1, True)
        said[text] = str(caught.value)
    assert said == snapshot


@pytest.mark.parametrize(
    ("parse", "text", "kind", "column"),
    [
        (wide, "0,,0,0,0", _native.text.NoPerson, 1),
        (objects, '{"items": []}', _native.text.NoPerson, None),
        (objects, '{"items": [], "who": 1.5}', _native.text.NoPerson, None),
        (objects, '{"who": 1}', _native.text.ParseError, None),
        (wide, "0,a,0,0", _native.text.WrongWidth, None),
        (table, "1,2", _native.text.WrongWidth, None),
        (wide, "0,a,7,0,0", _native.text.ParseError, 2),
    ],
)
def test_the_kind_of_an_error_tells_what_to_do(parse, text: str, kind: type[Exception], column: int | None) -> None:
    with pytest.raises(_native.text.ParseError) as caught:
        parse(text.encode(), 0, 7, True)
    assert type(caught.value) is kind
    assert (caught.value.line, caught.value.column) == (7, column)
    assert str(caught.value).endswith(caught.value.reason)


def test_limits_of_json_can_be_reached() -> None:
    nested = '{"items": [], "who": 1, "x": ' + DEEP + "]" * 511 + "}"
    assert objects(nested.encode(), 0, 1, True).records == [("1", [])]
    digits = "-" + "9" * 4000
    assert arrays(f"[{digits}]".encode(), 0, 1, True).records == [[digits]]


def test_arguments_that_make_no_sense(snapshot) -> None:
    flags = np.zeros(2, dtype=np.uint8)
    calls = {
        "start before the text": lambda: fimi(b"1", -1, 1, True),
        "start behind the text": lambda: fimi(b"1", 2, 1, True),
        "a delimiter of two characters": lambda: _native.text.parse_basket(b"", ";;", 0, 1, True),
        "no column": lambda: _native.text.parse_table(b"", ",", 0, 1, True, [], 0),
        "a column twice": lambda: _native.text.parse_table(b"", ",", 0, 1, True, [1, 1], 2),
        "a flag too many": lambda: _native.text.parse_wide(b"", ",", 0, 1, True, 1, flags, -1, False),
        "no such person": lambda: _native.text.parse_wide(b"", ",", 0, 1, True, 2, flags, 2, False),
        "person without items": lambda: _native.text.parse_json_lines(b"", 0, 1, True, None, "who"),
        "one key for both": lambda: _native.text.parse_json_long(b"", 0, 1, True, "a", "a"),
    }
    assert {name: refusal(call) for name, call in calls.items()} == snapshot


def refusal(call) -> str:
    with pytest.raises(ValueError) as caught:
        call()
    return str(caught.value)
