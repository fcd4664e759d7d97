"""The study that parties share: what is wrong in it is named, and its hash is of what it says."""

import pytest

from tests.support.errors import refused
from tests.support.parties import golden
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.joins.parties.shared_study import SharedStudy

WRONG = {
    "key that does not exist": ('target = "T1"', 'target = "T1"\nfloors = 3'),
    "key of a party": ('tables = ["T2"]', 'tables = ["T2"]\npath = "t2.csv"'),
    "missing target": ('target = "T1"\n', ""),
    "unknown target": ('target = "T1"', 'target = "T9"'),
    "unknown coordinator": ('coordinator = "hub"', 'coordinator = "nobody"'),
    "classes twice": ('["C1", "C2"]', '["C1", "C1"]'),
    "classes of two types": ('["C1", "C2"]', '["C1", 2]'),
    "no classes": ('["C1", "C2"]', "[]"),
    "address without a port": ("127.0.0.1:", "127.0.0.1 "),
    "table twice": ('tables = ["T2"]', 'tables = ["T1"]'),
    "party without tables": ('tables = ["T2"]', "tables = []"),
    "name of a table": ('tables = ["T2"]', 'tables = ["T 2"]'),
    "name of a party": ("[parties.p3]", '[parties."../p3"]'),
    "table of nobody": ("T1.J1 = T2.J1", "T1.J1 = T7.J1"),
    "keys of another table": ('"T2" = 9', '"T3" = 9'),
    "no keys": ('"T2" = 9', '"T2" = 0'),
    "types for two": ('type = "text"', 'type = ["text", "text"]'),
    "patterns for two": ('type = "text"', 'type = "text"\npattern = ["", ""]'),
    "pattern that is none": ('type = "text"', 'type = "text"\npattern = "("'),
    "unknown policy": ('policy = "report"', 'policy = "ask"'),
    "floor of one": ('policy = "report"', 'policy = "suppress"\nfloor = 1'),
    "unknown option": ("[options]", "[options]\nmax_dept = 3"),
    "option out of range": ("[options]", "[options]\nmin_leaf = 0"),
    "two entries of joins": (
        "[options]",
        '[[joins]]\non = "T1.J2 = T2.J2"\ntype = "text"\nkeys = { T1 = 1, T2 = 1 }\n[options]',
    ),
    "unknown winner": ('target = "T1"', 'target = "T1"\nwinner = "me"'),
    "time-out": ("time_out = 20", "time_out = 0"),
}


@pytest.fixture
def study(tmp_path):
    return golden(tmp_path, options={"max_depth": 3}).study_path


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(study, what, snapshot):
    before, after = WRONG[what]
    text = study.read_text()
    assert before in text
    study.write_text(text.replace(before, after, 1))
    with refused(InvalidArgument) as caught:
        SharedStudy.load(study)
    said = str(caught.value)
    ports = {line.rpartition(":")[2].strip('"') for line in text.splitlines() if line.startswith("address")}
    for port in ports:
        said = said.replace(port, "PORT")
    assert said == snapshot


def test_no_study(tmp_path):
    with refused(UnreadableInput, repr(str(tmp_path / "study.toml"))):
        SharedStudy.load(tmp_path / "study.toml")


def test_one_party_needs_no_partners(tmp_path, study):
    text = study.read_text().replace('tables = ["T1"]', 'tables = ["T1", "T2", "T3"]')
    study.write_text(text.replace('tables = ["T2"]\n', "").replace('tables = ["T3"]\n', "").replace('"hub"', '"p1"'))
    with refused(InvalidArgument, "'hub'"):
        SharedStudy.load(study)


def test_secret_winners_need_three_parties(study):
    text = study.read_text().replace('target = "T1"', 'target = "T1"\nwinner = "secret"')
    study.write_text(text)
    assert SharedStudy.load(study).winner == "secret"
    lines = text.replace('tables = ["T1"]', 'tables = ["T1", "T3"]').splitlines()
    at = lines.index("[parties.p3]")
    study.write_text("\n".join([*lines[:at], *lines[at + 4 :]]))
    with refused(InvalidArgument, "'secret'"):
        SharedStudy.load(study)


def test_hash_is_of_what_it_says(study):
    """Not of its layout; but of the order of parties, which decides ties."""
    first = SharedStudy.load(study).hash
    study.write_text("# a comment\n\n" + study.read_text())
    assert SharedStudy.load(study).hash == first
    study.write_text(study.read_text().replace("max_depth = 3", "max_depth = 4"))
    assert SharedStudy.load(study).hash != first


def test_edges(study):
    loaded = SharedStudy.load(study)
    assert loaded.owners == {"T1": "p1", "T2": "p2", "T3": "p3"}
    assert loaded.shared_edges("p1") == {0: "p2", 1: "p3"}
    assert loaded.shared_edges("p3") == {1: "p1"}
    assert loaded.shared_edges("hub") == {}
    assert loaded.forms(0) == [("text", "")]
    assert not loaded.suppresses
    assert SharedStudy.is_one(study)


def test_each_party_has_a_certificate_of_its_own(study):
    first, second = [line for line in study.read_text().splitlines() if line.startswith("certificate")][1:3]
    study.write_text(study.read_text().replace(second, first))
    with refused(InvalidArgument, "'p1'", "'p2'", "same certificate"):
        SharedStudy.load(study)
