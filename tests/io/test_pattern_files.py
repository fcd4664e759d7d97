"""Lists of patterns and rules in files: every form, every error with its place."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io import TABLE_SUFFIXES, write_pieces
from veilset.io.formatting import quoted
from veilset.io.pattern_files import Listed, check_listed, read_patterns, read_rules
from veilset.report import COLUMNS

Sides = tuple[tuple[str, ...], ...]


def written(tmp_path: Path, text: str, name: str = "list.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def sides(listed: list[Listed]) -> list[Sides]:
    return [entry.sides for entry in listed]


def test_a_pattern_a_line(tmp_path):
    text = 'milk, tea\n\n \t\n"a, ""b""", green tea ,x\r\n"two\nlines",z\rlast'
    listed = read_patterns(written(tmp_path, text))
    assert sides(listed) == [
        (("milk", "tea"),),
        (('a, "b"', "green tea", "x"),),
        (("two\nlines", "z"),),
        (("last",),),
    ]
    assert [entry.place.rpartition(" ")[2] for entry in listed] == ["1", "4", "5", "7"]
    assert listed[0].place == f"{str(tmp_path / 'list.txt')!r}, line 1"


def test_arrows_and_quotes_inside_names_are_letters(tmp_path):
    assert sides(read_patterns(written(tmp_path, 'a -> b, 5" pipe\n'))) == [(("a -> b", '5" pipe'),)]


def test_a_rule_a_line(tmp_path):
    text = 'bread, butter -> milk\nbread=>milk, tea\nbread → milk\n"a -> b" -> "=>"\n'
    assert sides(read_rules(written(tmp_path, text))) == [
        (("bread", "butter"), ("milk",)),
        (("bread",), ("milk", "tea")),
        (("bread",), ("milk",)),
        (("a -> b",), ("=>",)),
    ]


def test_comments(tmp_path):
    text = '# why, "it\n \t#\tis\nmilk, tea # no comment\r\n#\n#5\n"# 5",x\n"two\n# lines"\n  # the "end'
    listed = read_patterns(written(tmp_path, text))
    assert sides([entry for entry in listed if entry.sides]) == [
        (("milk", "tea # no comment"),),
        (("#5",),),
        (("# 5", "x"),),
        (("two\n# lines",),),
    ]
    told = [(entry.place.rpartition(" ")[2], entry.comment) for entry in listed if not entry.sides]
    assert told == [("1", '# why, "it'), ("2", "#\tis"), ("4", "#"), ("9", '# the "end')]
    assert listed[-2].place.endswith("line 7")
    check_listed(listed, ("milk", "tea # no comment", "#5", "# 5", "x", "two\n# lines"))
    rules = read_rules(written(tmp_path, "# a -> b -> c\na -> b\n"))
    assert sides(rules) == [(), (("a",), ("b",))]


def test_in_a_table_nothing_is_a_comment(tmp_path):
    """An item that begins like one would silently be left out of what mine has written."""
    listed = read_patterns(written(tmp_path, "items,support\n# 5,3\n", "mined.csv"))
    assert sides(listed) == [(("# 5",),)]


@pytest.mark.parametrize("line", ["# 5", "# 5, tea", "  # 5 ,tea", "# 5 -> tea", "# 6 -> 7, tea"])
def test_a_comment_that_begins_like_an_item_is_refused(tmp_path, line):
    listed = read_patterns(written(tmp_path, f"tea\n{line}\n"))
    check_listed(listed, ("tea", "5", "# 55"))
    with refused(InvalidArgument, "line 2", "comment", "quotes"):
        check_listed(listed, ("tea", "# 5", "# 6 -> 7"))


ODD = st.text(st.sampled_from('ab ,"\n\r\t>-=→é;'), min_size=1, max_size=6)
PATTERNS = st.lists(st.lists(ODD, min_size=1, max_size=3, unique=True), min_size=1, max_size=4)


@given(PATTERNS)
def test_lines_are_read_as_basket_files_are_written(tmp_path_factory, patterns):
    path = tmp_path_factory.mktemp("patterns") / "list.txt"
    path.write_bytes("".join(",".join(quoted(name, ",") for name in row) + "\n" for row in patterns).encode())
    assert sides(read_patterns(path)) == [(tuple(row),) for row in patterns]


@given(PATTERNS, st.sampled_from(TABLE_SUFFIXES))
def test_what_mine_writes_is_read(tmp_path_factory, patterns, suffix):
    path = tmp_path_factory.mktemp("patterns") / f"mined{suffix}"
    schema = COLUMNS["all"]
    with write_pieces(path, schema) as write:
        write(pa.table({"items": patterns, "support": [3] * len(patterns)}, schema=schema))
    assert sides(read_patterns(path)) == [(tuple(row),) for row in patterns]


@given(st.lists(st.tuples(st.lists(ODD, min_size=1, max_size=3, unique=True), ODD), min_size=1, max_size=4), st.data())
def test_rules_that_mine_writes_are_read(tmp_path_factory, rules, data):
    rules = [(left, right) for left, right in rules if right not in left] or [(["a"], "b")]
    path = tmp_path_factory.mktemp("rules") / f"mined{data.draw(st.sampled_from(TABLE_SUFFIXES))}"
    schema, many = COLUMNS["rules"], len(rules)
    columns = {
        "antecedent": [left for left, _ in rules],
        "consequent": [right for _, right in rules],
        **{name: [1] * many for name in ("support", "antecedent_support")},
        **{name: [1.0] * many for name in ("confidence", "lift")},
    }
    with write_pieces(path, schema) as write:
        write(pa.table(columns, schema=schema))
    assert sides(read_rules(path)) == [(tuple(left), (right,)) for left, right in rules]


def test_a_table_may_be_thinned_out_and_packed(tmp_path):
    text = '"support","items"\n\n3,"milk,tea"\n'
    assert sides(read_patterns(written(tmp_path, text, "thin.csv"))) == [(("milk", "tea"),)]
    packed = tmp_path / "thin.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    listed = read_patterns(packed)
    assert sides(listed) == [(("milk", "tea"),)]
    assert listed[0].place.endswith("line 3")


def test_encoding(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes("thé, café\n".encode("latin-1"))
    assert sides(read_patterns(path, "latin-1")) == [(("thé", "café"),)]
    with refused(UnreadableInput):
        read_patterns(path)


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("p.txt", "milk\nmilk,,tea\n", ("line 2", "empty", "comma")),
        ("p.txt", "milk\n# twice\ntea, milk, tea\n", ("line 3", "'tea'", "twice")),
        ("p.csv", 'items\n"milk,milk"\n', ("line 2", "'milk'", "twice")),
        ("p.json", '[{"items": ["milk", "milk"]}]', ("entry 1", "'milk'", "twice")),
        ("p.txt", "# nothing\n#\n", ("p.txt'", "pattern")),
        ("p.txt", 'milk,""\n', ("line 1", "empty")),
        ("p.txt", 'milk\n"tea\n', ("line 2", "quote")),
        ("p.txt", '"milk" x, tea\n', ("line 1", "quote")),
        ("p.txt", "\n  \n", ("p.txt'", "pattern")),
        ("p.txt", "", ("p.txt'", "empty")),
        ("p.csv", "milk,tea\nbread\n", ("line 1", "header", "'items'")),
        ("p.csv", "items,support\n", ("p.csv'", "pattern")),
        ("p.csv", "items,support\nmilk,tea,3\n", ("line 2", "2 columns", 3)),
        ("p.csv", 'items\n"""milk,tea"\n', ("line 2", "'\"milk,tea'")),
        ("p.csv", 'items\n"milk\ntea"\n', ("line 2", "'milk\\ntea'")),
        ("p.csv", "items,support\n,3\n", ("line 2", "no item")),
        ("p.json", '{"items": ["milk"]}', ("p.json'", "array")),
        ("p.json", '[{"items": ["milk"]}, 3]', ("entry 2", "object")),
        ("p.json", '[{"items": ["milk", 3]}]', ("entry 1", "'items'", "['milk', 3]")),
        ("p.json", '[{"items": "milk"}]', ("entry 1", "'items'", "'milk'")),
        ("p.json", "[", ("p.json'", "JSON")),
        ("p.jsonl", '{"items": ["milk"]}\n\n{"support": 3}\n', ("line 3", "'items'", "missing")),
        ("p.jsonl", '{"items": ["milk"]}\n{', ("line 2", "JSON")),
        ("p.jsonl", '{"items": []}\n', ("line 1", "no item")),
        ("p.parquet", "no table", ("Parquet", "valid")),
    ],
)
def test_errors_in_lists_of_patterns_name_the_place(tmp_path, name, text, named, snapshot):
    with refused(UnreadableInput, *named, said=snapshot):
        read_patterns(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("r.txt", "a -> b\nbread, butter\n", ("line 2", "arrow", 0)),
        ("r.txt", "a -> b -> c\n", ("line 1", "arrow", 2)),
        ("r.txt", "a ->\n", ("line 1", "side")),
        ("r.txt", "-> a\n", ("line 1", "side")),
        ("r.txt", "a -> b\na -> c, c\n", ("line 2", "'c'", "twice")),
        ("r.txt", "a, b -> c, b\n", ("line 1", "'b'", "both sides")),
        ("r.csv", "antecedent,support\na,1\n", ("line 1", "header", "'consequent'")),
        ("r.csv", "antecedent,consequent\na,\n", ("line 2", "side")),
        ("r.jsonl", '{"antecedent": ["a"]}\n', ("line 1", "'consequent'", "missing")),
        ("r.txt", "\n", ("r.txt'", "rule")),
    ],
)
def test_errors_in_lists_of_rules_name_the_place(tmp_path, name, text, named, snapshot):
    with refused(UnreadableInput, *named, said=snapshot):
        read_rules(written(tmp_path, text, name))


def test_a_parquet_table_without_the_column(tmp_path):
    path = tmp_path / "p.parquet"
    pyarrow.parquet.write_table(pa.table({"itmes": [["a"]]}), path)
    with refused(UnreadableInput, "'items'", "'itmes'"):
        read_patterns(path)


def test_no_file(tmp_path):
    for name in ("none.txt", "none.csv", "none.parquet"):
        with refused(UnreadableInput, "file"):
            read_patterns(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("tea, beet", ("'beet'", "'beer'")),
        ("3 14", ("'3 14'", "commas", "3, 14")),
        ("3;14", ("'3;14'", "commas", "3, 14")),
        ("3 15", ("'3 15'",)),
        ("#why", ("'#why'", "comment", ".txt")),
        ("tea -> beer", ("'tea -> beer'", "rule")),
        ("items,support", ("items", ".csv")),
    ],
)
def test_a_name_that_is_no_item(tmp_path, line, named, snapshot):
    names = ("3", "14", "beer", "tea", "green tea")
    listed = read_patterns(written(tmp_path, f"green tea\n{line}\n"))
    check_listed(listed[:1], names)
    with refused(InvalidArgument, *named) as error:
        check_listed(listed, names)
    assert str(error.value) == snapshot
    assert "list.txt', line 2: there is no item" in error.value.what
