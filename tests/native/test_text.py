"""Text in blocks: however a text is cut, the parsers give what a slow twin gives for all of it, or the same error."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import text_twins as twins
from tests.support.text_parsers import (
    Parsed,
    arrays,
    basket,
    fimi,
    json_long,
    narrow,
    objects,
    spmf,
    table,
    wide,
    wide_counts,
)
from veilset import _native

CSV_TOKENS = ["a", ",", ",", '"', '"', '""', " ", "0", "1", "true", "0,", "0,b,0,0,0\n", '"\n"', "0,0,0,0,0,0"]
JSON_TOKENS = [*"[]{},:-", '"a"', "1", "null", "true", ".5", "1e", '"items":', '"who": 1', '"id":2', "[[1]]", '{"a":2}']


class Case(NamedTuple):
    """A parser, its twin, texts to start from, and what matters to the parser."""

    parse: Any
    twin: Any
    seeds: list[str]
    tokens: list[str] = CSV_TOKENS


CASES = {
    "fimi": Case(
        fimi,
        twins.fimi_twin,
        ["1 2 3\n\n45\t6 \r\n9223372036854775807 12345678\r4194304 007 x"],
        ["1", "23456", "99999999", " ", "\t", "-", "0"],
    ),
    "spmf": Case(
        spmf,
        twins.spmf_twin,
        ["# SPMF\n@ITEM=17=apple\r\n@ITEM=2=käse\n17 2\n\n%x\r17 5 -1 3 -1 -2 \n-2\r\n@END", "1 12345678 -1\n#"],
        ["1", "234", " ", "-1", "-2", " -1 ", " -2", "#", "@A", "%", ":", "\n1"],
    ),
    "basket": Case(
        basket, twins.basket_twin, ['milk,"a ""b"" c",\n\n"x\ny\r\n" , käse\r\nz,,z\r"a,\r"\r\n ""\n,\nlonger name,m']
    ),
    "table": Case(
        table, twins.table_twin, ['1,"a\r\n,b",2\n1,käse,1\r\n\r,,\n\n"3","",x\n , "" ,12345678\n"\r",b,"c\n"']
    ),
    "wide": Case(
        wide,
        twins.wide_twin,
        ['0,ann,1,x,0\n1,0,0,0,1\r\n\r1,bob,TRUE,"a\nb",false\n , "b" , "1",,\n"",b,True,1,1', "0,ä,0,1,0\r\n" * 3],
    ),
    "wide counts": Case(
        wide_counts, twins.wide_counts_twin, ['0,ann,12,x,0\n1,0,007,"\n",2\n000,b,1,3,01\n3,"b\n",2,1,1\n']
    ),
    "narrow": Case(narrow, twins.narrow_twin, ['1\n\n0\r\n"1"\r"true"\r\n""\nFalse\n1']),
    "arrays": Case(
        arrays,
        twins.arrays_twin,
        [
            '["a", 12, "käse"]\n[]\r\n\r \nnull\n["\\u00e4\\ud83d\\ude00\\n\\"", "\\/", -0, "a"]\n[ 1 ,2]',
            '["longer than eight", "twelve\\tbytes"]\r[12345678901, "\\\\"]\n["\u2028"]\n',
        ],
        JSON_TOKENS,
    ),
    "objects": Case(
        objects,
        twins.objects_twin,
        [
            '{"who": "ann", "items": ["a", 1]}\r\n{"items": null, "n": [1.5e3, {"x": true}], "who": 7}\n\n',
            '{"it\\u0065ms": ["x"], "a": {"b": [], "c": {}}, "who": "ä", "z": false, "y": null}\r{"who":1,"items":[]}',
            '{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":"","who":9,"items":["10"]}\n',
        ],
        JSON_TOKENS,
    ),
    "json long": Case(
        json_long,
        twins.json_long_twin,
        ['{"id": 1, "item": "a"}\r\n{"item": null, "id": "x"}\n\n{"id": 1}\r{"x": [], "item": 5, "id": "1"}\n'],
        JSON_TOKENS,
    ),
}


def in_blocks(parse: Any, blocks: list[str]) -> Any:
    """Feeds a text as a reader of files does: what a block leaves comes first in the next one."""
    records, counts, metadata = [], [0, 0], []
    rest, line = b"", 1
    try:
        for number, block in enumerate(blocks):
            before = b'"[{ 7\r'[: number % 7]  # a parser must not look at it
            text = before + rest + block.encode()
            part = parse(text, len(before), line, number == len(blocks) - 1)
            records += part.records
            metadata += part.metadata
            counts = [a + b for a, b in zip(counts, [*part.counts, 0, 0], strict=False)]
            passed = text[len(before) : part.consumed].decode()
            assert part.line == line + len(twins.LINE_END.findall(passed))
            rest, line = text[part.consumed :], part.line
    except _native.text.ParseError as error:
        return str(error)
    assert rest == b""
    return records, counts, metadata


def by_twin(twin: Any, text: str) -> Any:
    records, counts, metadata = [], [0, 0], []
    try:
        for found in twin(text):
            if isinstance(found, twins.Count):
                counts[found.place] += 1
            elif isinstance(found, twins.Metadata):
                metadata.append(found)
            else:
                records.append(found)
    except twins.Wrong as error:
        return f"line {error}: "
    return records, counts, metadata


def check_against_twin(case: Case, text: str) -> Any:
    whole, expected = in_blocks(case.parse, [text]), by_twin(case.twin, text)
    assert (whole[: len(expected)] if isinstance(expected, str) else whole) == expected
    return whole


@pytest.mark.parametrize("name", CASES)
def test_a_text_may_be_cut_anywhere(name: str) -> None:
    case = CASES[name]
    for seed in case.seeds:
        whole = check_against_twin(case, seed)
        for cut in range(len(seed) + 1):
            assert in_blocks(case.parse, [seed[:cut], seed[cut:]]) == whole
        assert in_blocks(case.parse, [*seed, ""]) == whole


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_mutated_texts_are_read_as_by_the_twin_or_refused_on_the_same_line(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    text = data.draw(st.sampled_from(case.seeds))
    pieces = st.one_of(
        st.sampled_from([*text, "\r", "\n", "\r\n", '"', ",", "-", "\\u", "e", ""]), st.characters(codec="utf-8")
    )
    for at, size, piece in data.draw(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), pieces), max_size=4)):
        cut = at % (len(text) + 1)
        text = (text[:cut] + piece + text[cut + size :]).replace("\0", "")
    whole = check_against_twin(case, text)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    assert in_blocks(case.parse, [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]) == whole


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_texts_of_tokens(name: str, data: st.DataObject) -> None:
    """Denser than mutations in what matters to a parser."""
    case = CASES[name]
    text = "".join(data.draw(st.lists(st.sampled_from([*case.tokens, "\n", "\r", "\r\n"]), max_size=30)))
    whole = check_against_twin(case, text)
    cut = data.draw(st.integers(0, len(text)))
    assert in_blocks(case.parse, [text[:cut], text[cut:]]) == whole


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=12),
)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@given(
    lines=st.lists(st.tuples(st.lists(NAMES | st.integers()), NAMES | st.integers(), VALUES), max_size=5),
    plain=st.booleans(),
)
def test_what_json_writes_is_read(lines: list[Any], plain: bool) -> None:
    values = [{"other": other, "items": items, "who": who} for items, who, other in lines]
    text = "".join(json.dumps(value, ensure_ascii=plain) + "\n" for value in values)
    if "\\u0000" not in text:
        expected = [(str(who), [str(item) for item in items]) for items, who, _ in lines]
        assert in_blocks(objects, [text])[0] == expected
    long = [{"item": item, "x": other, "id": who} for items, who, other in lines for item in items]
    check_against_twin(CASES["json long"], "".join(json.dumps(value, ensure_ascii=plain) + "\n" for value in long))


def test_an_incomplete_record_leaves_nothing_behind() -> None:
    open_quote = "a,b\n" + ",".join(f"name {i}" for i in range(3000)) + ',"\n'
    assert basket(open_quote.encode(), 0, 1, False) == Parsed([["a", "b"]], [], 4, 2)
    assert basket(b"a,b", 0, 1, False) == Parsed([], [], 0, 1)
    assert table(b'1,2,3\n4,5,6\n7,"\n', 0, 1, False) == Parsed([("3", "1"), ("6", "4")], [0], 12, 3)
    assert wide_counts(b'1,a,0,0,0\n5,b,7,"\n', 0, 1, False) == Parsed([("a", [0])], [0, 0], 10, 2)


def test_a_header_may_be_cut_anywhere() -> None:
    text = b'id,"the\nitem"\r\n1,2'
    for cut in range(len(text)):
        fields, start, line = _native.text.parse_record(text[:cut], ",", last=False)
        assert (fields, start, line) == (([b"id", b"the\nitem"], 15, 3) if cut >= 15 else ([], 0, 1))
    assert _native.text.parse_record(b"a,b", ",") == ([b"a", b"b"], 3, 1)
