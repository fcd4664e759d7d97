"""Tables at home are checked against the study before anybody is called."""

import pyarrow as pa
import pytest

from tests.support.errors import refused
from tests.support.parties import Parties, golden
from veilset.errors import InvalidArgument, UnreadableInput


@pytest.fixture
def parties(tmp_path) -> Parties:
    return golden(tmp_path)


def changed(parties: Parties, table: str, **columns: object) -> None:
    party = table.replace("T", "p")
    content = parties.holdings[party][table]
    for name, values in columns.items():
        if name in content.column_names:
            content = content.set_column(content.column_names.index(name), name, pa.array(values))
        else:
            content = content.append_column(name, pa.array(values))
    parties.holdings[party][table] = content
    parties.write()


def test_keys_of_another_kind(parties, snapshot):
    changed(parties, "T2", J1=[1, 2, 3, 4])
    with refused(InvalidArgument, "whole number", "text", said=snapshot):
        parties.home("p2")


def test_keys_that_do_not_match_the_pattern(parties, snapshot):
    """Its owner is shown one of them."""
    parties.joins[0]["pattern"] = "[ab]"
    parties.write()
    parties.home("p1")
    with refused(InvalidArgument, "'c'", said=snapshot):
        parties.home("p2")


def test_pattern_is_of_whole_keys(parties):
    parties.joins[0]["pattern"] = "a|b|c|"
    parties.write()
    changed(parties, "T2", J1=["a", "b", "cc", "c"])
    with refused(InvalidArgument, "'cc'"):
        parties.home("p2")
    changed(parties, "T2", J1=["a", "b", "c\n", "c"])
    with refused(InvalidArgument):
        parties.home("p2")


def test_more_keys_than_declared(parties, snapshot):
    parties.joins[0]["keys"] = {"T1": 2, "T2": 2}
    parties.write()
    parties.home("p1")
    with refused(InvalidArgument, 3, 2, said=snapshot):
        parties.home("p2")


def test_class_that_is_not_in_the_study(parties, snapshot):
    changed(parties, "T1", Class=["C1", "C2", "C9", None])
    with refused(InvalidArgument, "'C9'", said=snapshot):
        parties.home("p1")


def test_rows_without_a_class(parties):
    changed(parties, "T1", Class=["C1", "C2", None, "C1"])
    assert parties.home("p1").classes.tolist() == [0, 1, -1, 0]
    assert len(parties.home("p2").classes) == 0


@pytest.mark.parametrize("line", ['columns = ["Agee"]', 'columns = ["J1"]'])
def test_columns_that_cannot_be_offered(parties, line, snapshot):
    path = parties.path("p2")
    path.write_text(path.read_text().replace('columns = ["Age"]', line))
    with refused(InvalidArgument, said=snapshot):
        parties.home("p2")


def test_class_is_not_offered(parties):
    path = parties.path("p1")
    path.write_text(path.read_text().replace("columns = []", 'columns = ["Class"]'))
    with refused(InvalidArgument, "'Class'"):
        parties.home("p1")


def test_hashes_are_of_what_takes_part(parties):
    """A column that is not offered changes nothing; a value of one that is, does; so does the order of rows."""
    first = parties.home("p2")
    text = parties.path("p2").read_text()
    changed(parties, "T2", Other=[1, 2, 3, 4])
    parties.path("p2").write_text(text)
    assert parties.home("p2").tables_hash == first.tables_hash
    changed(parties, "T2", Age=[3, 9, 7, 21])
    parties.path("p2").write_text(text)
    assert parties.home("p2").tables_hash != first.tables_hash


def test_hashes_of_rows_are_of_keys_and_classes(parties):
    first = {name: parties.home(name).row_hashes for name in ("p1", "p2")}
    changed(parties, "T2", Age=[3, 9, 7, 21])
    assert parties.home("p2").row_hashes == first["p2"]
    changed(parties, "T2", J1=["a", "c", "b", "b"])
    assert parties.home("p2").row_hashes != first["p2"]
    assert parties.home("p1").row_hashes == first["p1"]
    changed(parties, "T1", Class=["C1", "C2", "C2", "C2"])
    assert parties.home("p1").row_hashes != first["p1"]


def test_real_names_of_keys_stay_at_home(parties):
    table = parties.holdings["p2"]["T2"].rename_columns(["private_name", "Age"])
    parties.holdings["p2"]["T2"] = table
    parties.write()
    path = parties.path("p2")
    text = path.read_text().replace('["private_name", "Age"]', '["Age"]')
    path.write_text(text + 'keys = { J1 = "private_name" }\n')
    assert [part.to_pylist() for part in parties.home("p2").distinct(0)] == [["a", "b", "c"]]
    assert "private_name" not in parties.study_path.read_text()


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("J1,Age\na,3\nÄ,4\n".encode("latin-1"), 'encoding = "latin-1" in [tables.T2]'),
        (b"J1;Age\na;3\n", 'delimiter = ";" in [tables.T2]'),
    ],
)
def test_a_csv_file_that_is_not_as_expected(parties, content, advice):
    path = parties.path("p2")
    (parties.folder / "t2.csv").write_bytes(content)
    path.write_text(path.read_text().replace("T2.parquet", "t2.csv"))
    with refused(UnreadableInput, advice):
        parties.home("p2")
