"""Keys and certificates of parties, and how they are told by telephone and in a study."""

import os

import pytest

from tests.support.errors import refused
from tests.support.party_network import identity
from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.joins.parties.certificates import Identity, as_text, fingerprint, from_text, make_identity, validity

_EMPTY_PEM = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


def test_an_identity_is_its_owners_alone_and_comes_back(tmp_path):
    made = make_identity(tmp_path / "keys" / "bank", "bank", days=30)
    assert Identity.load(tmp_path / "keys" / "bank", "bank") == made
    assert made.key_file.stat().st_mode & 0o777 == 0o600
    assert made.key_file.parent.stat().st_mode & 0o777 == 0o700
    begins, ends = validity(made.certificate)
    assert (ends - begins).days == 30


def test_an_identity_is_never_overwritten(tmp_path):
    first = make_identity(tmp_path, "bank")
    with refused(CannotWrite, first.key_file):
        make_identity(tmp_path, "bank")
    assert Identity.load(tmp_path, "bank") == first


@pytest.mark.parametrize("in_the_way", ["certificate.pem", "key.pem"])
def test_half_an_identity_is_not_left_behind(tmp_path, in_the_way):
    (tmp_path / in_the_way).write_text("older")
    with refused(CannotWrite, tmp_path / in_the_way):
        make_identity(tmp_path, "bank")
    assert [path.name for path in tmp_path.iterdir()] == [in_the_way]


def test_a_full_disk_leaves_nothing_and_is_told(tmp_path, monkeypatch):
    def full(descriptor, mode):
        os.close(descriptor)
        raise OSError(28, "No space left on device", str(tmp_path / "key.pem"))

    monkeypatch.setattr(os, "fdopen", full)
    with refused(CannotWrite, tmp_path / "key.pem", "No space left on device"):
        make_identity(tmp_path, "bank")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "days"), [("", 1), ("b" * 65, 1), ("ba\nnk", 1), ("bank", 0), ("bank", 4000)])
def test_what_no_certificate_can_say_is_refused(tmp_path, name, days):
    with refused(InvalidArgument):
        make_identity(tmp_path, name, days)
    assert not list(tmp_path.iterdir())


def test_a_folder_must_have_the_identity_of_this_party(tmp_path):
    make_identity(tmp_path, "bank")
    with refused(InvalidArgument, "bank", "shop"):
        Identity.load(tmp_path, "shop")
    with refused(UnreadableInput, tmp_path / "nowhere" / "certificate.pem"):
        Identity.load(tmp_path / "nowhere", "bank")


def test_a_key_that_others_can_read_is_refused(tmp_path):
    made = make_identity(tmp_path, "bank")
    made.key_file.chmod(0o640)
    with refused(UnreadableInput, made.key_file, "bank"):
        Identity.load(tmp_path, "bank")


def test_a_key_must_belong_to_the_certificate(tmp_path):
    made = make_identity(tmp_path, "bank")
    made.key_file.write_bytes(identity(tmp_path, "shop").key_file.read_bytes())
    with refused(UnreadableInput, made.key_file):
        Identity.load(tmp_path, "bank")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", _EMPTY_PEM])
def test_a_damaged_certificate_is_refused(tmp_path, content):
    made = make_identity(tmp_path, "bank")
    made.certificate_file.write_bytes(content)
    with refused(UnreadableInput, made.certificate_file):
        Identity.load(tmp_path, "bank")


def test_a_study_has_certificates_as_one_line(tmp_path):
    made = make_identity(tmp_path, "bank")
    assert from_text(as_text(made.certificate)) == made.certificate
    assert as_text(made.certificate).isascii()
    assert not set(as_text(made.certificate)) & set(" \n\"'")


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-8], lambda text: text[:40] + " " + text[40:], lambda _: "é", lambda _: ""]
)
def test_text_that_is_no_certificate_is_refused(tmp_path, damage):
    with refused(InvalidArgument):
        from_text(damage(as_text(make_identity(tmp_path, "bank").certificate)))


def test_fingerprints_can_be_read_out(tmp_path):
    first, second = (fingerprint(identity(tmp_path, "bank").certificate) for _ in range(2))
    assert first != second
    assert [len(group) for group in first.split(" ")] == [4] * 16
