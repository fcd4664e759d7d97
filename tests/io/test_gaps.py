"""Missing cells and unknown people: nothing is left out in silence, and nobody is merged with strangers unless told."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from tests.support.tables import arrow, parquet
from veilset.io.people import looks_like_a_person

COLUMNS = ("id", "who", "item")
LONG = {"long": ("id", "item")}
SHOP = [
    ("1", "ann", "tea"),
    ("1", "ann", "milk"),
    ("2", "0", "tea"),
    ("2", "0", "beer"),
    ("3", "0", "milk"),
    ("4", "ann", "beer"),
    ("5", None, "figs"),
    ("5", None, "tea"),
    ("6", "bob", "tea"),
]
KINDS = ("csv", "jsonl", "parquet", "arrow", "frame")


def long_source(kind: str, rows: list[tuple[Any, ...]], folder: Path) -> Any:
    """The rows as a long table of each kind."""
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)})
    if kind == "frame":
        return table
    text = io.StringIO()
    csv.writer(text).writerows([COLUMNS, *[["" if cell is None else cell for cell in row] for row in rows]])
    lines = "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows)
    content = {"csv": text.getvalue().encode(), "jsonl": lines.encode()}
    content |= {"parquet": parquet(table), "arrow": arrow(table)}
    (folder / f"a.{kind}").write_bytes(content[kind])
    return folder / f"a.{kind}"


def lists_source(kind: str, rows: list[tuple[str | None, list[Any]]], folder: Path) -> tuple[Any, dict[str, Any]]:
    """The rows as lists with a person, or as a wide table, of each kind; and how to read them."""
    items = sorted({item for _, held in rows for item in held if item})
    wide = {"who": [who for who, _ in rows], **{item: [int(item in held) for _, held in rows] for item in items}}
    table = pa.table({"who": wide["who"], "items": [held for _, held in rows]})
    if kind == "frame":
        return table, {}
    if kind == "wide frame":
        return pa.table(wide), {"wide": True}
    if kind == "wide":
        lines = [
            ",".join(wide),
            *(",".join(str(cell or "") for cell in row) for row in zip(*wide.values(), strict=True)),
        ]
        (folder / "a.csv").write_text("\n".join(lines) + "\n")
        return folder / "a.csv", {"wide": True}
    if kind == "basket":
        (folder / "a.csv").write_text("who,\n" + "".join(",".join([who or "", *held]) + "\n" for who, held in rows))
        return folder / "a.csv", {"header": True}
    if kind == "jsonl":
        (folder / "a.jsonl").write_text("".join(json.dumps({"who": who, "items": held}) + "\n" for who, held in rows))
        return folder / "a.jsonl", {}
    (folder / "a.parquet").write_bytes(parquet(table))
    return folder / "a.parquet", {}


def expected_lists(rows: list[tuple[Any, ...]], unknown: set[Any], handling: str) -> list[list[str]]:
    """The transactions of a long table, by definition."""
    found: dict[Any, set[str]] = {}
    for number, who, item in rows:
        if who in unknown and handling == "skip":
            continue
        found.setdefault(("id", number) if who in unknown else ("person", who), set()).add(item)
    return [sorted(items) for items in found.values()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("handling", ["separate", "skip"])
def test_unknown_people_of_a_long_table(kind, handling, tmp_path):
    """Apart, each id of the table is a person; a missing id is unknown too."""
    source = long_source(kind, SHOP, tmp_path)
    data = vs.read(source, **LONG, person="who", unknown_person=("0",), unknown_rows=handling)
    assert data.to_lists() == expected_lists(SHOP, {"0", None}, handling)
    named = {"separate": ("ann", "(id 2)", "(id 3)", "(id 5)", "bob"), "skip": ("ann", "bob")}
    assert data.persons == named[handling]
    assert [note.partition(" ")[0] for note in data.source.notes] == ["5"]


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_ids_where_there_is_no_person(kind, tmp_path):
    """Then each row is a transaction of its own."""
    rows = [("1", "", "tea"), ("NA", "", "tea"), ("NA", "", "milk"), ("1", "", "beer")]
    source = long_source(kind, rows, tmp_path)
    apart = vs.read(source, **LONG, unknown_person=["NA"], unknown_rows="separate")
    assert apart.to_lists() == [["beer", "tea"], ["tea"], ["milk"]]
    assert apart.source.ids.to_pylist() == ["1", "(row 2)", "(row 3)"]
    assert vs.read(source, **LONG, unknown_person=["NA"], unknown_rows="skip").to_lists() == [["beer", "tea"]]


ROWS = [("ann", ["tea"]), ("?", ["tea", "milk"]), ("?", ["beer"]), (None, ["tea"]), ("ann", ["milk"])]


@pytest.mark.parametrize("kind", ["frame", "wide frame", "wide", "basket", "jsonl", "parquet"])
def test_unknown_people_of_lists_and_wide_tables(kind, tmp_path):
    source, shape = lists_source(kind, ROWS, tmp_path)
    apart = vs.read(source, **shape, person="who", unknown_person=("?",), unknown_rows="separate")
    assert apart.to_lists() == [["milk", "tea"], ["milk", "tea"], ["beer"], ["tea"]]
    assert apart.persons == ("ann", "(row 2)", "(row 3)", "(row 4)")
    assert apart.source.notes[0].startswith("3 ")
    skipped = vs.read(source, **shape, person="who", unknown_person=("?",), unknown_rows="skip")
    assert skipped.to_lists() == [["milk", "tea"]]
    assert skipped.source.notes[0].startswith("3 ")
    with (
        refused(vs.UnreadableInput, "who", "unknown_rows='separate'", "unknown_rows='skip'")
        if kind != "jsonl"
        else (refused(vs.UnreadableInput, "line 4", "unknown_rows='separate'", "unknown_rows='skip'"))
    ):
        vs.read(source, **shape, person="who")
    only_known = vs.read(source, **shape, person="who", missing="skip")
    assert only_known.persons == ("ann", "?")
    assert only_known.source.notes[0].startswith("1 ")


ids = st.sampled_from(["1", "2", "3", "4"])
people = st.sampled_from(["ann", "bob", "0", "NA", None])
table_rows = st.lists(st.tuples(ids, people, st.sampled_from(["tea", "milk", "beer"])), min_size=1, max_size=12)


@given(rows=table_rows, handling=st.sampled_from(["separate", "skip"]), data=st.data())
def test_unknown_people_by_definition(rows, handling, data, tmp_path_factory):
    kind = data.draw(st.sampled_from(KINDS))
    wanted = expected_lists(rows, {"0", "NA", None}, handling)
    if all(who is None for _, who, _ in rows):
        wanted = []  # refused
    source = long_source(kind, rows, tmp_path_factory.mktemp("gaps"))
    told = {**LONG, "person": "who", "unknown_person": ("0", "NA"), "unknown_rows": handling}
    if not wanted:
        with refused(vs.UnreadableInput):
            vs.read(source, **told)
        return
    assert vs.read(source, **told).to_lists() == wanted


def test_what_becomes_of_unknown_people_must_be_said(snapshot):
    table = pa.table({"id": [1, 2], "item": ["tea", "tea"]})
    with refused(vs.InvalidArgument, "unknown_rows='separate'", "unknown_rows='skip'", said=snapshot):
        vs.read(table, **LONG, unknown_person=("1",))


def test_an_id_that_looks_like_a_name_of_unknown_people():
    table = pa.table({"id": [1, 2], "who": ["(id 7)", "0"], "item": ["tea", "tea"]})
    told = {**LONG, "person": "who", "unknown_person": ("0",)}
    with refused(vs.UnreadableInput, "'(id 7)'"):
        vs.read(table, **told, unknown_rows="separate")
    assert vs.read(table, **told, unknown_rows="skip").persons == ("(id 7)",)


@pytest.mark.parametrize("told", [{"unknown_rows": "separate"}, {"unknown_rows": "skip"}, {"missing": "skip"}])
def test_a_misspelled_person_leaves_nobody_known(told, tmp_path):
    """Not everybody for himself: a key of JSON objects may be missing in some lines, but not in all."""
    (tmp_path / "a.jsonl").write_text('{"who": "ann", "items": ["tea"]}\n{"who": "ann", "items": ["milk"]}\n')
    with refused(vs.UnreadableInput, "'whom'", "2"):
        vs.read(tmp_path / "a.jsonl", person="whom", **told)


def test_an_unknown_id_that_does_not_occur_is_noted():
    table = pa.table({"id": [1, 2], "item": ["tea", "tea"]})
    data = vs.read(table, **LONG, unknown_person=("{N/A}",), unknown_rows="skip")
    assert "'{N/A}'" in data.source.notes[0]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.dat", {"missing": "skip"}),
        ("a.csv", {"missing": "skip"}),
        ("a.csv", {"wide": True, "missing": "skip"}),
        ("a.csv", {"unknown_rows": "skip"}),
        ("a.jsonl", {"unknown_rows": "separate"}),
        ("a.csv", {"format": "anatomy", "missing": "skip"}),
    ],
)
def test_what_does_not_go_with_the_layout_is_refused(name, told, tmp_path):
    with refused(vs.InvalidArgument):
        vs.read(tmp_path / name, **told)


# Missing items

GAPPY = [("1", "", "tea"), ("2", "", None), ("1", "", None), ("3", "", "milk"), ("3", "", None)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_without_an_item(kind, tmp_path, snapshot):
    """The only row of an id says that it is empty; another one is refused, or skipped and counted."""
    source = long_source(kind, GAPPY, tmp_path)
    with refused(vs.UnreadableInput, "Row 3", "'item'", "2", "missing='skip'", said=snapshot):
        vs.read(source, **LONG)
    data = vs.read(source, **LONG, missing="skip")
    assert data.to_lists() == [["tea"], [], ["milk"]]
    assert data.source.notes == snapshot


@pytest.mark.parametrize("kind", ["frame", "jsonl", "parquet"])
def test_a_list_with_a_null_or_an_empty_name(kind, tmp_path):
    rows = [("ann", ["tea", None]), ("bob", ["milk", ""]), ("bob", [])]
    source, shape = lists_source(kind, rows, tmp_path)
    with refused(vs.UnreadableInput):
        vs.read(source, **shape)
    with refused(vs.UnreadableInput):
        vs.read(source, **shape, person="who", unknown_rows="skip")
    data = vs.read(source, column="items", missing="skip")
    assert data.to_lists() == [["tea"], ["milk"], []]
    assert data.source.notes[0].startswith("2 items ")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_without_an_id(kind, tmp_path):
    source = long_source(kind, [("1", "", "tea"), (None, "", "milk"), ("1", "", "beer")], tmp_path)
    with refused(vs.UnreadableInput):
        vs.read(source, **LONG)
    data = vs.read(source, **LONG, missing="skip")
    assert data.to_lists() == [["beer", "tea"]]
    assert data.source.notes[0].startswith("1 row ")


# Proposals


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_looks_like_a_person_is_proposed(kind, tmp_path, snapshot):
    """Proposed, never taken."""
    rows = [("1", "ann", "tea"), ("2", "ann", "milk")]
    source = long_source(kind, rows, tmp_path)
    told = {"long": ("id", "item")}
    assert vs.read(source, **told).source.notes == ()
    if kind == "frame":
        source = source.rename_columns(["id", "CustomerID", "item"])
    elif kind in ("csv", "jsonl"):
        source.write_text(source.read_text().replace("who", "CustomerID"))
    else:
        table = long_source("frame", rows, tmp_path).rename_columns(["id", "CustomerID", "item"])
        source.write_bytes(parquet(table) if kind == "parquet" else arrow(table))
    data = vs.read(source, **told)
    assert data.to_lists() == [["tea"], ["milk"]]
    assert data.source.notes == snapshot
    assert vs.read(source, **told, person="CustomerID").source.notes == ()
    assert vs.read(source, long=("CustomerID", "item")).source.notes == ()


def test_what_looks_like_a_person():
    for name in ("customer_id", "Customer ID", "USERID", "PatientNo", "member", "household key", "Kundennummer"):
        assert looks_like_a_person(name), name
    for name in ("order", "StockCode", "Country", "customer country", "user manual", "id", "item", "price"):
        assert not looks_like_a_person(name), name


def test_a_wide_table_is_asked_about_columns_that_are_no_items():
    table = pa.table({"client": ["a", "b"], "tea": [1, 0], "user": [0, 1]})
    (note,) = vs.read(table, wide=True, ignore=("client",)).source.notes
    assert "'client'" in note
    assert vs.read(table.drop_columns("client"), wide=True).source.notes == ()


def many_rows(*people: tuple[Any, int]) -> pa.Table:
    names = [str(name) for name, count in people for _ in range(count)]
    return pa.table({"who": names, "items": [["tea"]] * len(names)})


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ([("0", 9), ("7", 2), ("8", 3)], ["0"]),
        ([("0", 3), ("7", 2), ("8", 3)], []),
        ([("Unknown", 2), ("7", 2)], ["Unknown"]),
        ([("N/A", 1), ("7", 2)], []),
        ([("x", 40), *((f"p{n}", 2) for n in range(50))], ["x"]),
        ([("x", 39), *((f"p{n}", 2) for n in range(50))], []),
        ([("x", 40), *((f"p{n}", 2) for n in range(2000))], []),
        ([("x", 40)], []),
    ],
)
def test_an_id_with_a_suspicious_share_of_all_rows_is_told(people, told):
    data = vs.read(many_rows(*people), person="who")
    assert [note.split("'")[1] for note in data.source.notes] == told


def test_suspicious_ids_of_a_long_table(snapshot):
    names = ["1", "1", "2"] + ["guest"] * 100
    table = pa.table({"id": names, "item": [f"{n}" for n in range(len(names))]})
    assert vs.read(table, **LONG).source.notes == snapshot


def test_ids_of_people_that_differ_only_in_case_or_blanks(snapshot):
    names = ["P1", "p1", "P 1", "P2", "P3", "p3 ", "{x}", "P1"]
    table = pa.table({"visit": range(8), "who": names, "item": ["tea"] * 8})
    data = vs.read(table, long=("visit", "item"), person="who")
    assert len(data) == 7
    assert data.source.notes == snapshot
    assert data.source.doubts == ("5 ids in column 'who' differ only in case or blanks",)
    assert vs.read(table, long=("who", "item")).source.notes == ()  # ids of transactions, for all that is known
    assert vs.read(table.rename_columns(["visit", "patient", "item"]), long=("patient", "item")).source.notes


def test_rows_without_an_item_add_up():
    """What was skipped, and what is all of an empty transaction: together all rows without an item."""
    rows = [("1", "", "tea"), ("1", "", None), ("2", "", None), ("2", "", None), ("3", "", None)]
    data = vs.read(long_source("frame", rows, Path()), **LONG, missing="skip")
    skipped, empty = data.source.notes
    assert skipped.startswith("1 row ") and "3 more" in skipped and "2 empty transactions" in skipped
    assert empty.startswith("2 transactions are empty")


def test_ids_are_whole_numbers_across_pieces():
    """A fraction would make Arrow write all ids of its batch in another way, and one person two."""
    table = pa.table({"who": [123456789012.0, None, 7.5], "items": [["tea"], ["rum"], ["ale"]]})
    with refused(vs.UnreadableInput, "'who'", "7.5"):
        vs.read(table, column="items", person="who", unknown_rows="skip")
    data = vs.read(table.slice(0, 2), column="items", person="who", unknown_rows="skip")
    assert data.persons == ("123456789012",)
    assert data.source.notes == ("1 row of unknown people was skipped.",)
