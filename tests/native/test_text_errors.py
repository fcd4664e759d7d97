"""What the parsers of text say about a line they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.text_parsers import arrays, basket, fimi, json_long, narrow, objects, spmf, table, wide, wide_counts
from veilset import _native

DEEP = "[" * 511
TEN = ", ".join(f"'{key}'" for key in "abcdefghij")

# what a parser is given, and what it says
REFUSED = [
    (fimi, "1\n2 x3", "line 2: 'x3' is not an item id (a whole number without sign)"),
    (
        fimi,
        "1\r9223372036854775808",
        "line 2: '9223372036854775808' is larger than 9223372036854775807, the largest item id",
    ),
    (spmf, "#\n1 x", "line 2: 'x' is not an item id (a whole number; only -1 and -2 have a sign, in sequences)"),
    (spmf, "1 -3", "line 1: '-3' is not an item id (a whole number; only -1 and -2 have a sign, in sequences)"),
    (spmf, " # x", "line 1: '#' is not an item id (a whole number; only -1 and -2 have a sign, in sequences)"),
    (
        spmf,
        "99999999999999999999",
        "line 1: '99999999999999999999' is larger than 9223372036854775807, the largest item id",
    ),
    (spmf, "1 2:10:4 6", "line 1: '2:10:4' holds a colon: this is SPMF's form with utilities, which are not read"),
    (spmf, "1 -1 -2 3 -1 -2", "line 1: '3' follows -2, which ends a sequence; begin a line for each sequence"),
    (basket, 'a\n"b\n\n', "line 2: a quote is opened here and never closed"),
    (basket, '"a\n"b', "line 2: text follows a closing quote; double the quotes inside a quoted name"),
    (table, "1,2,3\n1,2", "line 2: the header has 3 columns, this line has 2"),
    (table, '"\n",2,3,4', "line 1: the header has 3 columns, this line has 4"),
    (wide, "0,a,0,0,0\n0,a,7,0,0", "line 2: column 3: '7' is neither 0 nor 1"),
    (wide, "0,a,0,0,01", "line 1: column 5: '01' is neither 0 nor 1"),
    (wide, "\n0,,0,0,0", "line 2: column 2: it is empty, so nobody knows whose line this is"),
    (wide, "0,a,0,0", "line 1: the header has 5 columns, this line has 4"),
    (wide, "0,a,0,0,0,0,0,0,0,0", "line 1: the header has 5 columns, this line has 10"),
    (wide_counts, "-2,a,0,0,0", "line 1: column 1: '-2' is not a count (a whole number, 0 or more)"),
    (wide_counts, "1.0,a,0,0,0", "line 1: column 1: '1.0' is not a count (a whole number, 0 or more)"),
    (narrow, "x", "line 1: column 1: 'x' is neither 0 nor 1"),
    (arrays, '{"a": []}', "line 1: this line is an object, not an array of items"),
    (arrays, "\n7", "line 2: this line is the number '7', not an array of items"),
    (arrays, '"a"', "line 1: this line is a string, not an array of items"),
    (arrays, "true", "line 1: this line is true, not an array of items"),
    (arrays, "[null]", "line 1: an item is null, not a string or a whole number"),
    (arrays, "[false]", "line 1: an item is false, not a string or a whole number"),
    (arrays, "[[1]]", "line 1: an item is an array, not a string or a whole number"),
    (arrays, '[{"a": 1}]', "line 1: an item is an object, not a string or a whole number"),
    (arrays, "[1.0]", "line 1: an item is the number '1.0', not a string or a whole number"),
    (arrays, "[1e3]", "line 1: an item is the number '1e3', not a string or a whole number"),
    (arrays, '["a", ""]', "line 1: an item is an empty name"),
    (arrays, f"[{'9' * 4001}]", "line 1: an item is a number of more than 4000 digits; write it as a string"),
    (arrays, "[012]", "line 1: not valid JSON: the number '012' begins with 0"),
    (arrays, "[-]", "line 1: not valid JSON: '-]' stands where a value is expected"),
    (arrays, "[1.]", "line 1: not valid JSON: ']' stands where a digit is expected"),
    (arrays, "[1e+", "line 1: not valid JSON: the line ends where a digit is expected"),
    (arrays, "[1,]", "line 1: not valid JSON: ']' stands where a value is expected"),
    (arrays, "[1 2]", "line 1: not valid JSON: '2]' stands where ',' or ']' is expected"),
    (arrays, "[1\n]", "line 1: not valid JSON: the line ends where ',' or ']' is expected"),
    (arrays, "[1] x", "line 1: not valid JSON: 'x' stands where the end of the line is expected"),
    (arrays, "milk", "line 1: not valid JSON: 'milk' stands where a value is expected"),
    (arrays, "[nul]", "line 1: not valid JSON: 'nul]' stands where a value is expected"),
    (arrays, "[NaN]", "line 1: not valid JSON: 'NaN]' stands where a value is expected"),
    (arrays, '["a\n"]', "line 1: not valid JSON: the line ends inside a string"),
    (arrays, '["a', "line 1: not valid JSON: the line ends inside a string"),
    (arrays, '["a\\', "line 1: not valid JSON: the line ends inside a string"),
    (
        arrays,
        '["a\tb"]',
        "line 1: not valid JSON: a control character inside a string; write it as \\u and four digits",
    ),
    (
        arrays,
        '["\\x"]',
        "line 1: not valid JSON: 'x\"]' stands where one of \" \\ / b f n r t u behind a backslash is expected",
    ),
    (
        arrays,
        '["\\u00g0"]',
        "line 1: not valid JSON: 'g0\"]' stands where one of four hexadecimal digits behind \\u is expected",
    ),
    (arrays, '["\\u0000"]', "line 1: \\u0000 is no character of a name"),
    (arrays, '["\\ud83d"]', "line 1: '\\ud83d' is half a character: a surrogate without its other half"),
    (arrays, '["\\ud83d\\u0041"]', "line 1: '\\ud83d' is half a character: a surrogate without its other half"),
    (arrays, '["\\ude00\\ud83d"]', "line 1: '\\ude00' is half a character: a surrogate without its other half"),
    (objects, "[1]", "line 1: this line is an array, not an object"),
    (objects, "null", "line 1: this line is null, not an object"),
    (objects, "{}", "line 1: there is no key 'items'; the object has no keys at all"),
    (objects, '{"item": 1, "who": 2}', "line 1: there is no key 'items'; its keys are 'item', 'who'"),
    (objects, '{"items": [], "x": {"who": 1}}', "line 1: there is no key 'who'; its keys are 'items', 'x'"),
    (
        objects,
        "{" + ",".join(f'"{key}": 1' for key in "abcdefghijkl") + "}",
        f"line 1: there is no key 'items'; its keys are {TEN} and 2 more",
    ),
    (objects, '{"items": "a"}', "line 1: the value of 'items' is a string, not an array of items"),
    (objects, '{"items": [], "who": null}', "line 1: the person is null, not a string or a whole number"),
    (objects, '{"items": [], "who": ""}', "line 1: the person is an empty name"),
    (objects, '{"a": 1, "\\u0061": 2}', "line 1: the key 'a' occurs twice in an object"),
    (
        objects,
        "{" + ",".join(f'"{key}": 1' for key in "abcdefghijkc") + "}",
        "line 1: the key 'c' occurs twice in an object",
    ),
    (objects, '{"x": {"a": 1, "a": 1}}', "line 1: the key 'a' occurs twice in an object"),
    (objects, "{a: 1}", "line 1: not valid JSON: 'a: 1}' stands where a key in double quotes is expected"),
    (objects, '{"a" 1}', "line 1: not valid JSON: '1}' stands where ':' is expected"),
    (objects, '{"a": 1]', "line 1: not valid JSON: ']' stands where ',' or '}' is expected"),
    (objects, '{"a": [' + DEEP, "line 1: arrays and objects are nested more than 512 deep"),
    (json_long, "[1]", "line 1: this line is an array, not an object"),
    (json_long, '{"item": 1}', "line 1: there is no key 'id'; its keys are 'item'"),
    (json_long, '{"id": null}', "line 1: the id is null, not a string or a whole number"),
    (json_long, '{"id": 1, "item": 1.5}', "line 1: the item is the number '1.5', not a string or a whole number"),
]


@pytest.mark.parametrize(("parse", "text", "message"), REFUSED)
def test_a_refused_line_is_named_with_what_is_wrong(parse, text: str, message: str) -> None:
    with pytest.raises(_native.text.ParseError) as caught:
        parse(text.encode(), 0, 1, True)
    assert str(caught.value) == message


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


def test_arguments_that_make_no_sense() -> None:
    for start in (-1, 2):
        with pytest.raises(ValueError, match="start is outside the text"):
            fimi(b"1", start, 1, True)
    with pytest.raises(ValueError, match="delimiter must be one character"):
        _native.text.parse_basket(b"", ";;", 0, 1, True)
    with pytest.raises(ValueError, match="at least one column"):
        _native.text.parse_table(b"", ",", 0, 1, True, [], 0)
    with pytest.raises(ValueError, match="chosen twice"):
        _native.text.parse_table(b"", ",", 0, 1, True, [1, 1], 2)
    with pytest.raises(ValueError, match="one entry for each column"):
        _native.text.parse_wide(b"", ",", 0, 1, True, 2, np.zeros(3, dtype=np.uint8), -1, False)
    with pytest.raises(ValueError, match="person is not a column"):
        _native.text.parse_wide(b"", ",", 0, 1, True, 2, np.zeros(2, dtype=np.uint8), 2, False)
    with pytest.raises(ValueError, match="another key"):
        _native.text.parse_json_lines(b"", 0, 1, True, None, "who")
    with pytest.raises(ValueError, match="different keys"):
        _native.text.parse_json_long(b"", 0, 1, True, "a", "a")
