"""Rows that satisfy a condition: the same as reading a file that holds only them, and nothing else can be asked."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from tests.support.tables import arrow, parquet
from veilset.io import files

LONG = {"long": ("id", "item")}
HEADER = ("id", "Country", "item")
ROWS = [
    ("1", "France", "tea"),
    ("2", "UK", "milk"),
    ("1", "France", 'a "b", c'),
    ("3", "", "figs"),
    ("4", "France", "x\ny"),
]
KINDS = ("csv", "jsonl", "parquet", "arrow", "frame")


def source_of(kind: str, rows: list[tuple[str, ...]], path: Path) -> Any:
    """Rows as a source of each kind; an empty cell is null, where there is one."""
    plain = [[cell or None for cell in row] for row in rows]
    if kind == "csv":
        text = io.StringIO()
        csv.writer(text).writerows([HEADER, *rows])
        content = text.getvalue().encode()
    elif kind == "jsonl":
        content = "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in plain).encode()
    else:
        columns = [pa.array([row[place] for row in plain], pa.string()) for place in range(3)]
        table = pa.table(columns, names=HEADER)
        if kind == "frame":
            return table
        content = parquet(table) if kind == "parquet" else arrow(table)
    path.with_suffix(f".{kind}").write_bytes(content)
    return path.with_suffix(f".{kind}")


cells = st.text(st.sampled_from("ab\" ,;\n\r'ä0"), max_size=4)
rows_of_tables = st.lists(st.tuples(st.sampled_from("12"), st.sampled_from(["France", "UK", ""]), cells), max_size=9)


@settings(max_examples=15)  # each starts a database
@given(rows=rows_of_tables, kind=st.sampled_from(KINDS), block=st.sampled_from([60, 1 << 16]))
def test_the_same_as_reading_the_filtered_file(rows, kind, block, tmp_path_factory):
    folder = tmp_path_factory.mktemp("where")
    rows = [(number, country, item or "tea") for number, country, item in rows] + [("9", "France", "tea")]
    kept = [row for row in rows if row[1] == "France"]
    told = {**LONG, "missing": "skip"}  # of CSV, blanks are no name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_SMALLEST_BLOCK", block)
        patch.setattr(files, "_LARGEST_BLOCK", block)
        whole = vs.read(source_of(kind, rows, folder / "whole"), **told, where="Country = 'France'")
        only = vs.read(source_of(kind, kept, folder / "only"), **told)
    assert whole == only
    assert whole.source.ids.to_pylist() == only.source.ids.to_pylist()
    assert whole.source.notes[0].startswith(f"{len(kept)} of {len(rows)} rows ")


@pytest.mark.parametrize("kind", KINDS)
def test_empty_cells_are_null_and_text_stays_text(kind, tmp_path):
    rows = [("007", "France", "tea"), ("7", "", "milk"), ("8", "UK", "figs")]
    source = source_of(kind, rows, tmp_path / "a")
    assert vs.read(source, **LONG, where="Country IS NULL").to_lists() == [["milk"]]
    assert vs.read(source, **LONG, where="id = '007'").to_lists() == [["tea"]]
    assert vs.read(source, **LONG, where="country <> 'UK' and id is distinct from '9'").to_lists() == [["tea"]]


def test_other_shapes(tmp_path):
    (tmp_path / "wide.csv").write_text("year,tea,milk\n2010,1,0\n\n2011,0,1\n2011,1,1\n")
    data = vs.read(tmp_path / "wide.csv", wide=True, ignore=("year",), where="year = '2011'")
    assert data.to_lists() == [["milk"], ["milk", "tea"]]
    assert any(note.startswith("1 blank line ") for note in data.source.notes)
    (tmp_path / "basket.csv").write_text("who,first,second\nann,tea,\nbob,milk,tea\nann,figs,rye\n")
    merged = vs.read(tmp_path / "basket.csv", header=True, person="who", where="who = 'ann'")
    assert (merged.to_lists(), merged.persons) == ([["figs", "rye", "tea"]], ("ann",))
    (tmp_path / "a.jsonl").write_text('{"n": 12, "items": ["tea"]}\n\n{"items": ["rye"]}\n{"n": 7, "items": ["milk"]}')
    assert vs.read(tmp_path / "a.jsonl", where="n::INT > 10").to_lists() == [["tea"]]
    table = pa.table({"n": [12, 7], "items": [["tea"], ["milk"]]})
    assert vs.read(table, where="n > 10").to_lists() == [["tea"]]
    assert vs.read(
        pa.table({"n": [12, 7], "tea": [True, False]}), wide=True, ignore=("n",), where="n<9"
    ).to_lists() == [[]]


def test_the_hash_is_that_of_the_whole_file(tmp_path):
    path = source_of("csv", ROWS, tmp_path / "a")
    data = vs.read(path, **LONG, where="Country = 'France'")
    assert data.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data.source.where == "Country = 'France'"


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "Contry = 'France'",
        "Country = 'France'; DROP TABLE x",
        "id = '1') OR (id = '2'), (id",
        "id IN (SELECT '1')",
        "EXISTS (FROM read_csv('/etc/hosts'))",
        "EXISTS ( /* here */ from range(3))",
        "id IN (TABLE x)",
        "Country = 'France' UNION SELECT 1",
        "random() > 0.5",
        "current_date > DATE '2020-01-01'",
        "count(*) > 1",
        "row_number() OVER () > 1",
        "id::DATE = '1'",
        "Country",
        "random/**/() < 0.7",
        '"random"() < 0.7',
        'main."uuid"()::TEXT > id',
        "current_timestamp > TIMESTAMP '2020-01-01'",
        "localtimestamp > TIMESTAMP '2020-01-01'",
        "localtime > TIME '01:00'",
        "current_localtimestamp() > TIMESTAMP '2020-01-01'",
        "current_localtime() > TIME '01:00'",
        "today() > DATE '2020-01-01'",
        "CASE WHEN id = '1' THEN now() > TIMESTAMP '2020-01-01' ELSE true END",
        "age(TIMESTAMP '2020-01-01') > INTERVAL 1 DAY",
        "ago(INTERVAL 1 DAY) > TIMESTAMP '2020-01-01'",
        "len(list_filter([1, 2], lambda y: random() > 0.5)) > 0",
        "len(list_filter([1], lambda localtime: true)) > 0 AND localtime > TIME '01:00'",
        "current_setting('TimeZone') = 'UTC'",
        "user = 'duckdb'",
        '"row of veilset" < 3',
        "rowid < 3",
        "COLUMNS('id|item') = '1'",
        "id = '1' FROM x",
    ],
)
def test_what_is_no_condition_on_a_row_is_refused(condition, tmp_path):
    path = source_of("csv", ROWS, tmp_path / "a")
    with refused(vs.InvalidArgument, f"where={condition!r}"):
        vs.read(path, **LONG, where=condition)


@pytest.mark.parametrize(
    "condition",
    [
        "Country LIKE 'Fr%' AND item IN ('tea', 'milk')",
        "age(TIMESTAMP '2024-01-03', TIMESTAMP '2024-01-01') > INTERVAL 1 DAY AND item = 'tea'",
        "len(list_filter(['tea', 'rum'], lambda Y: y = item)) > 0",
        "len([y for y in ['tea'] if y = item]) = 1",
        "split_part(item, 'a', 1) = 'te' AND nullif(item, 'milk') IS NOT NULL",
        "item = 'tea' -- random()",
        "item || ' random()' = 'tea random()'",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_conditions_that_give_the_same_answer_again(condition, kind, tmp_path):
    path = source_of(kind, ROWS, tmp_path / "a")
    assert vs.read(path, **LONG, where=condition).to_lists() == [["tea"]]


def test_a_column_may_be_called_like_a_function(tmp_path):
    table = pa.table({"today": ["x", "y"], "localtime": ["1", "2"], "row": [1, 2], "items": [["tea"], ["rye"]]})
    for condition in ("today = 'x'", "localtime = '1'", '"row" = 1'):
        assert vs.read(table, where=condition).to_lists() == [["tea"]]


def test_a_blank_line_satisfies_no_condition(tmp_path):
    (tmp_path / "a.csv").write_text("who,i1,i2\nann,tea,milk\n\n\nbob,tea,milk\n\nann,rye,milk\n")
    told = {"header": True, "format": "basket"}
    assert len(vs.read(tmp_path / "a.csv", **told, where="who = 'ann'")) == 2
    assert vs.read(tmp_path / "a.csv", **told, person="who", where="who = 'ann'").persons == ("ann",)
    with refused(vs.UnreadableInput, "0 of 3"):
        vs.read(tmp_path / "a.csv", **told, where="who = 'nobody'")


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n \t", "\r\r"])
def test_notes_about_blank_lines_are_those_without_a_condition(end, tmp_path, monkeypatch):
    lines = ['{"n": 1, "items": ["tea"]}', "", '{"n": 1, "items": ["rye"]}']
    (tmp_path / "a.jsonl").write_bytes((("\r\n" if "\r" in end else "\n").join(lines) + end).encode())
    for block in (20, 1 << 16):
        monkeypatch.setattr(files, "_SMALLEST_BLOCK", block)
        monkeypatch.setattr(files, "_LARGEST_BLOCK", block)
        plain = vs.read(tmp_path / "a.jsonl")
        chosen = vs.read(tmp_path / "a.jsonl", where="n = '1'")
        assert (chosen, chosen.source.notes[1:]) == (plain, plain.source.notes)


def test_a_key_that_comes_later_is_a_column(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_SMALLEST_BLOCK", 20)
    monkeypatch.setattr(files, "_LARGEST_BLOCK", 20)
    (tmp_path / "a.jsonl").write_text('{"items": ["tea"]}\n' * 9 + '{"items": ["rye"], "Land": "{}"}\n')
    assert vs.read(tmp_path / "a.jsonl", where="land = '{}'").to_lists() == [["rye"]]
    assert len(vs.read(tmp_path / "a.jsonl", where="land IS NULL")) == 9
    assert vs.read(tmp_path / "a.jsonl", where="(land -> '$.x') IS NULL AND items LIKE '%rye%'").to_lists() == [["rye"]]
    for unknown in ("lnd IS NULL", "localtime IS NULL"):
        with refused(vs.InvalidArgument, unknown.partition(" ")[0], "'items'", "'Land'"):
            vs.read(tmp_path / "a.jsonl", where=unknown)


def test_an_unknown_column_is_told_with_those_there_are(tmp_path):
    with refused(vs.InvalidArgument, "Contry", "'id'", "'Country'", "'item'"):
        vs.read(source_of("csv", ROWS, tmp_path / "a"), **LONG, where="Contry = 'France'")


def test_a_condition_reads_no_file(tmp_path):
    path = source_of("csv", ROWS, tmp_path / "a")
    for function in ("read_text", "read_blob", "getenv", "glob"):
        with refused(vs.InvalidArgument, "where"):
            vs.read(path, **LONG, where=f"{function}('{path}') IS NOT NULL")


@pytest.mark.parametrize(
    ("name", "told"),
    [("a.dat", {}), ("a.csv", {}), ("a.csv", {"format": "anatomy"}), ("a.duckdb", {"query": "SELECT 1"})],
)
def test_where_there_are_no_columns(name, told, tmp_path):
    with refused(vs.InvalidArgument, "where"):
        vs.read(tmp_path / name, **told, where="a = 'b'")


def test_nothing_is_left(tmp_path):
    path = source_of("csv", ROWS, tmp_path / "a")
    with refused(vs.UnreadableInput, "'a.csv'", "0 of 5"):
        vs.read(path, **LONG, where="Country = 'Spain'")


def test_lines_that_are_no_objects(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"items": ["tea"]}\n["tea"]\n')
    with refused(vs.UnreadableInput, "line 2", "where"):
        vs.read(tmp_path / "a.jsonl", where="items IS NOT NULL")


def test_columns_that_differ_in_capitals_only():
    table = pa.table({"a": ["x"], "A": ["y"], "items": [["tea"]]})
    with refused(vs.InvalidArgument, "'a'", "where"):
        vs.read(table, where="a = 'x'")


def test_without_duckdb(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = source_of("csv", ROWS, tmp_path / "a")
    with refused(vs.InvalidArgument, "where", "duckdb", "'veilset[sql]'"):
        vs.read(path, **LONG, where="Country = 'France'")
