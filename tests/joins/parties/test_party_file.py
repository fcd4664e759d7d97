"""The file that a party keeps at home."""

import pytest

from tests.support.errors import refused
from tests.support.parties import Parties, golden
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.joins.parties.certificates import as_text, make_identity
from veilset.joins.parties.party_file import PartyFile

WRONG = {
    "key that does not exist": ('party = "p1"', 'party = "p1"\ncolour = "red"'),
    "unknown party": ('party = "p1"', 'party = "p9"'),
    "table of another": ("[tables.T1]", "[tables.T2]"),
    "no class": ('class = "Class"\n', ""),
    "no identity": ('identity = "p1-keys"\n', ""),
    "identity of another": ('identity = "p1-keys"', 'identity = "p2-keys"'),
    "key that is not agreed on": ("[tables.T1]", '[tables.T1]\nkeys = { patient = "J1" }'),
    "no table": ("[tables.T1]", "[predict.T1]"),
    "records of another": ("[tables.T1]", '[predict.T2]\npath = "x.csv"\nid = "i"\n[tables.T1]'),
}


@pytest.fixture
def parties(tmp_path) -> Parties:
    return golden(tmp_path)


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(parties, what, snapshot):
    path = parties.path("p1")
    before, after = WRONG[what]
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with refused(InvalidArgument) as caught:
        PartyFile.load(path)
    if what != "identity of another":
        assert str(caught.value) == snapshot


def test_certificate_of_the_study(parties):
    """A party that has made new keys is told both fingerprints."""
    text = parties.study_path.read_text()
    lines = [line for line in text.splitlines() if line.startswith("certificate")]
    other = make_identity(parties.folder / "new-keys", "p1")
    parties.study_path.write_text(text.replace(lines[1], f'certificate = "{as_text(other.certificate)}"'))
    with refused(InvalidArgument, "p1") as caught:
        PartyFile.load(parties.path("p1"))
    assert str(caught.value).count("not ") == 1


def test_no_file(tmp_path):
    with refused(UnreadableInput, repr(str(tmp_path / "bank.toml"))):
        PartyFile.load(tmp_path / "bank.toml")


def test_approval_is_of_this_study(parties):
    file = PartyFile.load(parties.path("p1"))
    file.check_approval()
    parties.study["title"] = "Another one"
    parties.study_path.write_text(parties.study_text())
    changed = PartyFile.load(parties.path("p1"))
    with refused(InvalidArgument, "p1", changed.study.hash):
        changed.check_approval()
    parties.path("p1").write_text(parties.party_text("p1", f"sha256:{changed.study.hash}"))
    PartyFile.load(parties.path("p1")).check_approval()


def test_who_has_the_class_says_who_learns_it(parties):
    path = parties.path("p1")
    path.write_text(path.read_text().replace('"p2", "p3"', '"p2"'))
    with refused(InvalidArgument, "p1", "p3"):
        PartyFile.load(path).check_approval()
    other = parties.path("p2")
    other.write_text("\n".join(one for one in other.read_text().splitlines() if not one.startswith("class_known")))
    PartyFile.load(other).check_approval()


def test_a_text_alone_is_a_list_of_one(parties):
    path = parties.path("p2")
    path.write_text(path.read_text().replace('columns = ["Age"]', 'columns = "Age"'))
    assert PartyFile.load(path).tables["T2"].columns == ("Age",)


def test_a_study_is_no_party_file(parties):
    assert PartyFile.is_one(parties.path("p2"))
    assert not PartyFile.is_one(parties.study_path)
    assert not PartyFile.is_one(parties.folder / "T2.parquet")
    with refused(InvalidArgument, str(parties.study_path), "is a study"):
        PartyFile.load(parties.study_path)


def test_addresses_and_keys(parties):
    path = parties.path("p2")
    path.write_text(path.read_text() + 'keys = { J1 = "real" }\n')
    file = PartyFile.load(path)
    assert file.key_columns("T2", (("J1", "J2"), ("J1",))) == (("real", "J2"), ("real",))
    assert file.address == f"127.0.0.1:{parties.ports['p2']}"
    assert file.state == parties.folder / "p2-state"
