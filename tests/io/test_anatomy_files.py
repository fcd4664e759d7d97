"""Anatomized tables: what is written is read back, and what is not as it is written is refused, with its line."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError
from veilset.io import ANATOMIES, FORMATS, AnatomyFile, Layout, anatomy_cells, sha256_of
from veilset.io.plain import write_table
from veilset.limits import Limits
from veilset.transactions import Anatomy

SUFFIXES = ["csv", "jsonl", "parquet"]
PACKED = [*SUFFIXES, "csv.gz", "csv.zst", "jsonl.gz", "jsonl.zst"]

TABLE_D = """bucket,column_1,column_2
1,"d,e,f,h","a,b,c,g"
1,"d,e,h","a,b"
1,"f,h","a,b,c"
1,"f,h","a,b"
1,d,"a,b,c"
2,e,"a,b,c"
2,"e,f","a,g"
2,"f,h",b
2,"f,h",
2,d,g
"""


def table_d() -> vs.Transactions:
    rows = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
    return vs.Transactions.from_lists(map(list, rows)).anatomized(Anatomy.of(["defh", "abcg"], [0] * 5 + [1] * 5))


@st.composite
def anatomized(draw) -> vs.Transactions:
    """Transactions with names of all kinds in columns and buckets."""
    odd = st.sampled_from(
        [",", '"', '""', " a", "a ", "\ufeffa", "\n", "a\r\nb", "\r", "\t", "a,b", '"a","b"', "1", "-", "[]"]
    )
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
    names = draw(st.lists(odd | text, min_size=1, max_size=6, unique=True))
    rows = draw(st.lists(st.lists(st.sampled_from(names), max_size=4), min_size=1, max_size=8))
    data = vs.Transactions.from_lists([[names[0]], *rows])
    where = [draw(st.integers(0, 2)) for _ in data.names]
    columns = [[name for name, at in zip(data.names, where, strict=True) if at == column] for column in range(3)]
    steps = [draw(st.booleans()) for _ in range(len(data) - 1)]
    return data.anatomized(Anatomy.of(filter(None, columns), np.cumsum([False, *steps])))


def unreadable(folder: Path, text: str, *values: object, suffix: str = "csv") -> str:
    """What is said about a table that names these values."""
    path = folder / f"table.{suffix}"
    path.write_bytes(text.encode())
    with refused(UnreadableInput, repr(str(path)), *values) as caught:
        vs.read(path, format="anatomy")
    return str(caught.value)


def test_the_table_of_the_paper(tmp_path):
    path = tmp_path / "anatomy.csv"
    table_d().write(path, format="anatomy")
    assert path.read_text() == TABLE_D
    assert vs.read(path, format="anatomy", sensitive=["g"]) == table_d().with_sensitive(["g"])


def test_json_lines(tmp_path):
    path = tmp_path / "anatomy.jsonl"
    table_d().write(path, format="anatomy")
    first, *_, tenth = path.read_text().splitlines()
    assert first == '{"bucket": 1, "column_1": ["d", "e", "f", "h"], "column_2": ["a", "b", "c", "g"]}'
    assert json.loads(tenth) == {"bucket": 2, "column_1": ["d"], "column_2": ["g"]}


def test_parquet(tmp_path):
    path = tmp_path / "anatomy.parquet"
    table_d().write(path, format="anatomy")
    rows = pq.read_table(path).to_pylist()
    assert rows[8] == {"bucket": 2, "column_1": ["f", "h"], "column_2": []}


@pytest.mark.parametrize("suffix", PACKED)
@given(data=anatomized())
def test_what_is_written_is_read_back(tmp_path_factory, suffix, data):
    path = tmp_path_factory.mktemp("anatomy") / f"table.{suffix}"
    data.write(path, format="anatomy")
    again = vs.read(path, format="anatomy")
    assert again == data
    assert again.source.sha256
    if suffix in SUFFIXES:
        layout = Layout.choose(path, format="anatomy")
        assert data.anatomized_rows().more_in(path, sha256_of(path), layout, Limits()) is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_in_many_blocks(tmp_path, monkeypatch, suffix):
    data = table_d()
    many = data.take(np.tile(np.arange(10), 3000)).anatomized(Anatomy.of(data.anatomy.columns, np.arange(30_000) // 5))
    path = tmp_path / f"table.{suffix}"
    many.write(path, format="anatomy")
    monkeypatch.setattr("veilset.io.files._LARGEST_BLOCK", 1 << 12)
    monkeypatch.setattr("veilset.io.files._SMALLEST_BLOCK", 1 << 12)
    monkeypatch.setattr("veilset.io.tables._FEWEST_VALUES", 1 << 10)
    monkeypatch.setattr("veilset.io.tables.VALUES_AT_ONCE", 1 << 10)
    file = AnatomyFile(path, Layout.choose(path, format="anatomy"), "utf-8", Limits())
    assert len(list(file.pieces())) > 10
    assert vs.read(path, format="anatomy") == many


def test_many_columns_are_written_in_blocks(tmp_path, monkeypatch):
    names = [str(number) for number in range(50)]
    data = vs.Transactions.from_lists([names, names[:3], []] * 20)
    data = data.anatomized(Anatomy.of([[name] for name in names], [0] * 60))
    monkeypatch.setattr("veilset.io.anatomy_writing._CELLS", 100)
    for suffix in SUFFIXES:
        data.write(tmp_path / f"table.{suffix}", format="anatomy")
        assert vs.read(tmp_path / f"table.{suffix}", format="anatomy") == data


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("bucket,", "Bucket,"), ("line 1", "'Bucket'", "'bucket'")),
        (("column_2", "column_3"), ("line 1", "'column_3'", "'column_2'")),
        (("column_2", "column_1"), ("line 1", "'column_1'")),
        (("bucket,column_1,column_2\n", ""), ("line 1", "'1'", "'bucket'")),
        (('2,"f,h",b', '2,"f,h"'), ("line 9", 3, 2)),
        (('2,"f,h",b', '3,"f,h",b'), ("line 10", 2, 3, 4)),
        (('2,"f,h",b', '4,"f,h",b'), ("line 9", 4, 2, 3)),
        (('2,"f,h",b', 'x,"f,h",b'), ("line 9", "'x'")),
        (('2,"f,h",b', '2.0,"f,h",b'), ("line 9", "'2.0'")),
        (('2,"f,h",b', ',"f,h",b'), ("line 9", "''")),
        (('2,"f,h",b', '-2,"f,h",b'), ("line 9", "'-2'")),
        (('2,"f,h",b', '99999999999999999999,"f,h",b'), ("line 9", "'99999999999999999999'")),
        (('2,"f,h",b', '2,"f,h",d'), ("line 9", "'d'", "'column_2'", "'column_1'")),
        (('2,"f,h",b', '2,"f,h,f",b'), ("line 9", "'f'", "twice")),
        (('2,"f,h",b', '2,"f, h",b'), ("line 9", "'f, h'")),
        (('2,"f,h",b', '2,"f,,h",b'), ("line 9", "'f,h'")),
        (('2,"f,h",b', '2,"""f",b'), ("line 9", "quotes")),
        (('2,"f,h",b', '2,"f\nh",b'), ("line 9", "Quote")),
        (('2,"f,h",b', '2,f"h,b'), ("line 9", "'f\"h'")),
        (('2,"f,h",b', '2,"f,h",b\n'), ("blank",)),
        (('2,"f,h",b', '2,"f,h,b'), ("line 10", "quote")),
        (("2,d,g", '2,d,"g'), ("line 11", "quote")),
    ],
)
def test_what_is_wrong_in_a_csv_file(tmp_path, changed, named, snapshot):
    assert changed[0] in TABLE_D
    assert unreadable(tmp_path, TABLE_D.replace(*changed), *named) == snapshot


def test_buckets_begin_with_one(tmp_path):
    unreadable(tmp_path, "bucket,column_1\n2,a\n", "line 2", 2, 1)
    unreadable(tmp_path, "bucket,column_1\n0,a\n", "line 2", 0, 1)


def test_no_columns_or_nothing_in_one(tmp_path):
    unreadable(tmp_path, "bucket\n1\n", "line 1", "item column")
    unreadable(tmp_path, "bucket,column_1,column_2\n1,a,\n", "'column_2'")
    unreadable(tmp_path, "", "empty")
    (tmp_path / "t.csv").write_text("bucket,column_1\n")
    with refused(UnreadableInput, "'t.csv'", "no transactions"):
        vs.read(tmp_path / "t.csv", format="anatomy")


def test_lines_are_counted_across_names_with_line_breaks(tmp_path):
    text = 'bucket,column_1\n1,"""a\nb"""\n1,"""c\r\nd"""\n1,e\n3,f\n'
    unreadable(tmp_path, text, "line 7", 3, 1, 2)


def test_the_later_of_two_columns_is_named(tmp_path):
    table = "bucket,column_1,column_2\n1,b,a\n1,a,c\n1,b,a\n"
    unreadable(tmp_path, table, "line 3", "'a'", "'column_1'", "'column_2'")


def test_cells_that_look_right_only_together(tmp_path):
    """As lines of one text, three names; as cells, none of them is one."""
    text = 'bucket,column_1\n1,"""a"\n1,"b"""\n1,"c\nd"\n'
    unreadable(tmp_path, text, "line 2", "'\"a'")


ROW = '{"bucket": 1, "column_1": ["a"], "column_2": ["b"]}\n'


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"bucket": 3, "column_1": [], "column_2": []}', ("line 2", 3, 1, 2)),
        ('{"bucket": "x", "column_1": [], "column_2": []}', ("line 2", "'x'")),
        ('{"bucket": null, "column_1": [], "column_2": []}', ("line 2", "'bucket'", "null")),
        ('{"column_1": [], "column_2": []}', ("line 2", "'bucket'")),
        ('{"bucket": 1, "column_1": []}', ("line 2", "'column_2'")),
        ('{"bucket": 1, "column_1": [], "column_2": [], "age": 7}', ("line 2", "'age'")),
        ('{"bucket": 1, "column_1": "a", "column_2": []}', ("line 2", "'column_1'")),
        ('{"bucket": 1, "column_1": [""], "column_2": []}', ("line 2", "empty")),
        ('{"bucket": 1, "column_1": ["b"], "column_2": []}', ("line 2", "'b'", "'column_1'", "'column_2'")),
        ('{"bucket": 1, "column_1": ["a", "a"], "column_2": []}', ("line 2", "'a'", "twice")),
        ("", ("line 2", "blank")),
        ("[1]", ("line 2", "array")),
        ("{", ("line 2", "JSON")),
    ],
)
def test_what_is_wrong_in_json_lines(tmp_path, line, named, snapshot):
    assert unreadable(tmp_path, ROW + line + "\n", *named, suffix="jsonl") == snapshot


def test_the_first_of_json_lines_says_what_columns_there_are(tmp_path):
    unreadable(tmp_path, '{"bucket": 1, "age": []}\n', "line 1", "'age'", "'column_1'", suffix="jsonl")
    unreadable(tmp_path, '{"bucket": 1}\n', "line 1", "item column", suffix="jsonl")
    unreadable(tmp_path, "{}\n", "line 1", "''", suffix="jsonl")
    unreadable(tmp_path, "[]\n", "line 1", "array", suffix="jsonl")
    in_other_order = ROW + '{"column_2": ["b"], "column_1": [], "bucket": 1}\n'
    (tmp_path / "table.jsonl").write_text(in_other_order.replace("\n", "\r"))
    assert vs.read(tmp_path / "table.jsonl", format="anatomy").to_lists() == [["a", "b"], ["b"]]


def lists(*rows) -> pa.Array:
    return pa.array(rows, pa.list_(pa.string()))


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"bucket": [1, 3], "column_1": lists(["a"], [])}, ("row 2", 3)),
        ({"bucket": [1, None], "column_1": lists(["a"], [])}, ("row 2", "null")),
        ({"bucket": [1, 1], "column_1": lists(["a"], None)}, ("row 2", "'column_1'", "null")),
        ({"bucket": [1, 1], "column_1": lists(["a"], [None])}, ("'column_1'", "name")),
        ({"bucket": [1, 1], "column_1": lists(["a"], ["b", ""])}, ("'column_1'", "name")),
        ({"bucket": [1, 1], "column_1": lists(["a"], ["b", "b"])}, ("row 2", "'b'", "twice")),
        ({"bucket": [1.0], "column_1": lists(["a"])}, ("buckets", "double")),
        ({"bucket": [1], "column_1": ["a"]}, ("'column_1'", "string")),
        ({"bucket": [1], "age": lists(["a"])}, ("'age'", "'column_1'")),
        ({"bucket": [1]}, ("item column",)),
    ],
)
def test_what_is_wrong_in_parquet(tmp_path, columns, named, snapshot):
    pq.write_table(pa.table(columns), tmp_path / "table.parquet")
    with refused(UnreadableInput, "table.parquet'", *named, said=snapshot):
        vs.read(tmp_path / "table.parquet", format="anatomy")


@pytest.mark.parametrize(
    ("suffix", "old", "new"),
    [
        ("csv", 'd,"a,b,c"', 'd,"b,a,c"'),  # an order of its own
        ("csv", "2,d,g", '2,"d",g'),
        ("csv", "2,d,g", "2, d,g"),
        ("csv", "2,d,g\n", "2,d,g"),
        ("csv", "\n", "\r\n"),
        ("jsonl", '["d"], "column_2": ["g"]', '["d"],"column_2": ["g"]'),
        ("jsonl", '{"bucket": 2, "column_1": ["d"]', '{"bucket": "2", "column_1": ["d"]'),
    ],
)
def test_text_that_says_the_same_in_other_words(tmp_path, suffix, old, new):
    path = tmp_path / f"table.{suffix}"
    table_d().write(path, format="anatomy")
    text = path.read_text()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())
    again = vs.read(path, format="anatomy")
    assert again == table_d()
    assert (
        again.anatomized_rows().more_in(path, sha256_of(path), Layout.choose(path, format="anatomy"), Limits())
        is not None
    )


def test_more_at_the_end_of_a_text(tmp_path, snapshot):
    path = tmp_path / "table.csv"
    path.write_text(TABLE_D + "2,d,\n")
    assert (
        table_d().anatomized_rows().more_in(path, sha256_of(path), Layout.choose(path, format="anatomy"), Limits()).says
        == snapshot
    )


@pytest.mark.parametrize("change", ["order", "metadata", "statistics", "row"])
def test_tables_that_say_more(tmp_path, change):
    path, layout = tmp_path / "table.parquet", Layout("parquet-anatomy")
    table_d().write(path, format="anatomy")
    table = pq.read_table(path)
    if change == "order":
        rows = table.to_pylist()
        rows[0]["column_1"].reverse()
        with path.open("wb") as stream:
            write_table(stream, [pa.Table.from_pylist(rows, schema=table.schema)], table.schema, "parquet")
        assert vs.read(path, format="anatomy") == table_d()
    elif change == "metadata":
        pq.write_table(table.replace_schema_metadata({"who": "Bob"}), path)
    elif change == "statistics":
        pq.write_table(table, path)
    else:
        with path.open("wb") as stream:
            write_table(stream, [table.slice(0, 9)], table.schema, "parquet")
    assert table_d().anatomized_rows().more_in(path, sha256_of(path), layout, Limits()) is not None


def test_the_name_says_which_container(tmp_path):
    for name in ("table.tsv", "table.txt", "table.arrow", "table.dat", "table"):
        with refused(InvalidArgument, ".csv", ".jsonl", ".parquet"):
            table_d().write(tmp_path / name, format="anatomy")
    with refused(InvalidArgument, "compressed"):
        table_d().write(tmp_path / "table.parquet.gz", format="anatomy")
    assert not list(tmp_path.iterdir())
    assert ANATOMIES.keys().isdisjoint(FORMATS)
    assert Layout.choose("t.jsonl", format="jsonl-anatomy") == Layout.choose("t.jsonl", format="anatomy")
    with refused(InvalidArgument, "'t.jsonl'"):
        Layout.choose("t.jsonl", format="parquet-anatomy")


@pytest.mark.parametrize(
    "options",
    [{"wide": True}, {"person": "who"}, {"header": True}, {"delimiter": ";"}, {"long": ("a", "b")}, {"counts": True}],
)
def test_other_options_do_not_go_with_it(tmp_path, options):
    with refused(InvalidArgument, "options"):
        vs.read(tmp_path / "table.csv", format="anatomy", **options)


def test_frames_are_no_anatomized_tables():
    with refused(InvalidArgument, "frame"):
        vs.read(pa.table({"bucket": [1]}), format="anatomy")


def test_only_anatomized_transactions_are_written(tmp_path):
    with refused(InvalidArgument, "buckets"):
        vs.Transactions.from_lists([["a"]]).write(tmp_path / "t.csv", format="anatomy")
    empty = vs.Transactions.from_lists([[], []]).anatomized(Anatomy.of([], [0, 0]))
    with refused(InvalidArgument, "no items"):
        empty.write(tmp_path / "t.csv", format="anatomy")
    assert not list(tmp_path.iterdir())


def test_other_formats_leave_buckets_out(tmp_path):
    table_d().write(tmp_path / "t.csv")
    assert vs.read(tmp_path / "t.csv").to_lists() == table_d().to_lists()
    assert vs.read(tmp_path / "t.csv").anatomy is None


def test_an_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("bucket,column_1\n1,käse\n".encode("latin-1"))
    assert vs.read(path, format="anatomy", encoding="latin-1").names == ("käse",)


def test_columns_are_called_by_their_numbers():
    assert anatomy_cells.column_names(0) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(draw=st.data())
def test_damaged_files_are_refused_in_words(tmp_path_factory, suffix, draw):
    path = tmp_path_factory.mktemp("anatomy") / f"table.{suffix}"
    table_d().write(path, format="anatomy")
    text = path.read_bytes()
    first = draw.draw(st.integers(0, len(text)))
    last = draw.draw(st.integers(first, min(len(text), first + 6)))
    pieces = st.sampled_from([b",", b'"', b"\n", b"2", b"d", b"\0", b"\xff", b"[", b"]", b"}", b":"])
    path.write_bytes(text[:first] + b"".join(draw.draw(st.lists(pieces, max_size=4))) + text[last:])
    try:
        data = vs.read(path, format="anatomy")
    except VeilsetError as error:
        assert error.next_step
    else:
        assert data.anatomy.count >= 1
        assert data.anatomized_rows().width == len(data.anatomy.columns)
