"""`normalize`: item names that differ only in blanks, case or Unicode form become one item, in every format."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.errors import refused
from veilset import InvalidArgument, Transactions, UnreadableInput
from veilset.io.normalizing import STEPS, normalized
from veilset.transactions import Reading

ROWS = [["B20.3", " B20.3", "milk"], ["b20.3", "Milk", "caf\u00e9"], ["cafe\u0301", "MILK\u00a0"]]
ALL = [["b20.3", "milk"], ["b20.3", "café", "milk"], ["café", "milk"]]


@pytest.mark.parametrize("name", ["data.jsonl", "data.parquet", "data.arrow", "data.csv", "data.tsv.gz"])
@pytest.mark.parametrize("steps", ["nfc,strip,case", ("strip", "case", "nfc"), ["case", "nfc", "strip", "case"]])
def test_every_format(tmp_path, name, steps):
    Transactions.from_lists(ROWS).write(tmp_path / name)
    data = vs.read(tmp_path / name, normalize=steps, sensitive=["B20.3 "])
    assert (data.to_lists(), data.sensitive, data.twins) == (ALL, ("b20.3",), ())
    assert data.source.normalize == ("strip", "case", "nfc")


def test_frames_persons_and_databases(tmp_path):
    frame = pd.DataFrame({"who": ["Ann", "ann", "Ann"], "what": ["Tea", "tea ", " tea"]})
    data = vs.read(frame, long=("who", "what"), person="who", normalize="strip,case")
    assert (data.to_lists(), data.persons) == ([["tea"], ["tea"]], ("Ann", "ann"))  # persons are not touched
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as shop:
        shop.execute("CREATE TABLE sold AS SELECT * FROM frame")
    asked = {"query": "SELECT * FROM sold", "long": ("who", "what"), "normalize": "case"}
    assert vs.read(tmp_path / "shop.duckdb", **asked).to_lists() == [[" tea", "tea"], ["tea "]]


@pytest.mark.parametrize(
    ("steps", "name", "now"),
    [
        ("strip", "\u2003 Tea \t green\u00a0", "Tea green"),
        ("strip", "\ufeffTea\u200b", "Tea"),
        ("strip", "\u200fTEA", "TEA"),
        ("case", " Straße", " strasse"),
        ("nfc", "Cafe\u0301 ", "Café "),
        ("nfc", "ﬁg", "ﬁg"),  # compatibility is no canonical equivalence
    ],
)
def test_each_step_does_its_own(steps, name, now):
    assert vs.read(pa.table({"items": [[name]]}), normalize=steps).names == (now,)


@given(st.text(min_size=1), st.sets(st.sampled_from(STEPS)))
def test_a_second_time_changes_nothing(name, steps):
    once = normalized(name, tuple(steps))
    assert normalized(once, tuple(steps)) == once


def test_without_it_names_are_read_to_the_letter(tmp_path):
    Transactions.from_lists(ROWS).write(tmp_path / "data.jsonl")
    for none in ((), "", []):
        data = vs.read(tmp_path / "data.jsonl", normalize=none)
        assert data == Transactions.from_lists(ROWS)
        assert data.source.notes == ()


def test_the_account_says_how_many_were_merged(snapshot):
    table = pa.table({"items": ROWS})
    assert vs.read(table, normalize="strip,case,nfc").source.notes == snapshot(name="merged")
    assert vs.read(pa.table({"items": [["A"], ["b"]]}), normalize="case").source.notes == snapshot(name="none merged")
    assert vs.read(pa.table({"items": [["a"], ["b"]]}), normalize="case").source.notes == ()
    assert vs.read(table, normalize="case").source.describe() == snapshot(name="described")


def test_entries_and_trees_are_normalized_too(tmp_path):
    (tmp_path / "data.csv").write_text("b20.1,B20.2,milk\nInsulin,MILK\n")
    (tmp_path / "tree.csv").write_text("item,group\nINSULIN,Pharmacy \ninsulin ,pharmacy\nMilk,Food\n")
    (tmp_path / "list.txt").write_text("glob: B20*\n")
    reading = Reading(
        path=str(tmp_path / "data.csv"),
        normalize="case,strip",
        sensitive_files=(str(tmp_path / "list.txt"),),
        sensitive_items=("branch: PHARMACY",),
        taxonomy=str(tmp_path / "tree.csv"),
    )
    assert reading.read().sensitive == ("b20.1", "b20.2", "insulin")
    assert reading.groups() == {"insulin": ("pharmacy",), "milk": ("food",)}
    (tmp_path / "tree.csv").write_text("item,group\nINSULIN,Pharmacy\ninsulin,Food\n")
    with refused(UnreadableInput, "'insulin'", "normalize"):
        reading.groups()


def test_anatomies(tmp_path):
    data = Transactions.from_lists([["Tea", "milk"], ["tea", "salt"], ["salt"]])
    for columns, merged in (([["Tea", "tea"], ["milk", "salt"]], True), ([["Tea", "milk"], ["tea", "salt"]], False)):
        cut = data.anatomized(vs.Anatomy.of(columns, [0, 0, 1]))
        cut.write(tmp_path / "anatomy.csv", format="anatomy")
        if merged:
            read = vs.read(tmp_path / "anatomy.csv", format="anatomy", normalize="case")
            assert read.anatomy.columns == (("tea",), ("milk", "salt"))
            assert read.anatomy.buckets.tolist() == [0, 0, 1]
            continue
        with refused(InvalidArgument, "'tea'"):
            vs.read(tmp_path / "anatomy.csv", format="anatomy", normalize="case")


@pytest.mark.parametrize("steps", ["strip,foo", ["foo"], "STRIP", 5, [1]])
def test_unknown_steps(steps):
    with refused(InvalidArgument, "normalize", "strip", "case", "nfc"):
        vs.read(pa.table({"items": [["a"]]}), normalize=steps)


def test_names_of_which_nothing_is_left():
    table = pa.table({"items": [["a", "\u00a0"], [" \t"]]})
    assert len(vs.read(table, normalize="case").names) == 3
    with refused(UnreadableInput, "'\\xa0'", "' \\t'", "strip", "normalize"):
        vs.read(table, normalize="strip")
