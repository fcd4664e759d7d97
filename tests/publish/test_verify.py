"""What `verify` answers when something is wrong with a release: a verdict and an exit code, never a traceback."""

import os
import random

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.effort import repeats
from tests.support.errors import refused
from tests.support.releases import answer, copied, message, published
from veilset.io import sha256_of


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    return published(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> vs.Bundle:
    """A release as a long file, with its two columns."""
    folder = tmp_path_factory.mktemp("long")
    path = folder / "long.csv"
    path.write_text("order,product\n" + "".join(f"{order},ale\n" for order in range(4)))
    release = vs.anonymize(vs.read(path, long=("order", "product")), vs.Coherence(k=2, p=2))
    return vs.publish(release, folder / "out")


def test_holds_from_the_bundle_and_from_public_alone(public):
    assert answer(public) == answer(public.parent) == ("holds", 0)
    moved = public.rename(public.parent.parent / "elsewhere")
    assert answer(moved) == ("holds", 0)


@pytest.mark.parametrize("name", ["data.csv", "certificate.json", "report.html"])
def test_a_changed_byte(public, name):
    content = bytearray((public / name).read_bytes())
    content[len(content) // 2] ^= 1
    (public / name).write_bytes(content)
    verdict, code = answer(public)
    # A certificate with a flipped bit is no longer the one that was written, or no certificate at all.
    assert (verdict, code) in ({("edited", 1), ("malformed", 2)} if name == "certificate.json" else {("altered", 1)})


@pytest.mark.parametrize("name", ["data.csv", "certificate.json", "report.html", "SHA256SUMS"])
def test_a_missing_file(public, name):
    (public / name).unlink()
    assert name in message(public, "incomplete", 2)


def test_a_file_that_does_not_belong(public):
    (public / "customers.csv").write_text("ann")
    assert "customers.csv" in message(public, "altered", 1)


def test_a_certificate_edited_for_other_parameters(public):
    edit_certificate(public, lambda c: c["promise"]["parameters"].update(k=3))
    assert answer(public) == ("edited", 1)


def test_an_edited_certificate_with_matching_sums_is_counted_again(public):
    edit_certificate(public, lambda c: c["promise"]["parameters"].update(k=5), fix_sums=True)
    found = vs.verify(public)
    assert (found.verdict, found.exit_code) == ("broken", 1)
    assert found.audit.witnesses


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda c: c.update(schema_version=2), ("unknown-schema", 4)),
        (lambda c: c.update(schema_version="1"), ("malformed", 2)),
        (lambda c: c.pop("promise"), ("malformed", 2)),
        (lambda c: c.update(surprise=1), ("malformed", 2)),
        (lambda c: c["promise"].update(name="magic"), ("malformed", 2)),
        (lambda c: c["promise"]["parameters"].update(k=0), ("malformed", 2)),
        (lambda c: c["promise"]["parameters"].update(h=None), ("malformed", 2)),
        (lambda c: c["promise"]["parameters"].update(q=1), ("malformed", 2)),
        (lambda c: c["promise"]["parameters"].update(h="0.9999999999"), ("malformed", 2)),  # not to be checked as 1
        (lambda c: c["promise"]["parameters"].update(h="1e-\u0669" + 9 * "9"), ("malformed", 2)),  # nor written out
        (lambda c: c["data"].update(file="../custodian/edits.csv"), ("malformed", 2)),
        (lambda c: c["data"].update(delimiter="é"), ("malformed", 2)),
        (lambda c: c.update(sensitive=["gold"]), ("altered", 1)),
        (lambda c: c.update(transactions=8), ("altered", 1)),
        (lambda c: c.update(broken_in_original=0), ("altered", 1)),  # counted only where single occurrences went
        (lambda c: c["data"].update(sha256="0" * 64), ("altered", 1)),
    ],
)
def test_certificates_that_make_no_sense(public, change, expected):
    edit_certificate(public, change, fix_sums=True)
    assert answer(public) == expected


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_certificates_that_are_none(public, content):
    (public / "certificate.json").write_bytes(content)
    assert answer(public) == ("malformed", 2)


def test_data_that_cannot_be_read(public):
    (public / "data.csv").write_bytes(b'"never closed')
    edit_certificate(public, lambda c: c["data"].update(sha256=sha256_of(public / "data.csv")), fix_sums=True)
    assert answer(public) == ("malformed", 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\n", b",name\n"),  # one more column
        (b"\n1,", b"\nann,"),  # an id that means something
        (b"ale\n", b"ale \n"),
        (b"ale\n", b'"ale"\n'),
        (b"\n", b"\r\n"),
        (b"row", b"\xef\xbb\xbfrow"),
    ],
)
def test_bytes_that_say_more_than_their_transactions(long, tmp_path, before, after):
    """The transactions keep the promise; the file around them could still name everybody."""
    data = copied(long, tmp_path).public / "data.csv"
    assert answer(data.parent) == ("holds", 0)
    content = data.read_bytes()
    data.write_bytes(content.replace(before, after))
    assert data.read_bytes() != content
    edit_certificate(data.parent, lambda c: c["data"].update(sha256=sha256_of(data)), fix_sums=True)
    assert answer(data.parent) == ("altered", 1)


def test_sums_that_say_more(public):
    sums = public / "SHA256SUMS"
    sums.write_text("row 1 is ann  data.csv\n" + sums.read_text())
    assert answer(public) == ("altered", 1)


def test_a_file_without_permission(public, monkeypatch):
    opened = os.open

    def denied(path, *rest, **options):
        if path == "data.csv":
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *rest, **options)

    monkeypatch.setattr(os, "open", denied)
    assert answer(public) == ("malformed", 2)


def test_mutated_certificates_never_raise(public):
    path = public / "certificate.json"
    original = path.read_bytes()
    draw = random.Random(7)
    verdicts = set()
    for _ in range(repeats(1000)):
        content = bytearray(original)
        for _ in range(draw.randint(1, 3)):
            content[draw.randrange(len(content))] ^= draw.randrange(1, 256)
        if content == original:
            continue  # two changes of one byte can cancel
        path.write_bytes(content)
        verdicts.add(vs.verify(public).verdict)
    assert verdicts <= {"altered", "edited", "malformed", "unknown-schema", "incomplete"}
    assert len(verdicts) > 1


def test_no_release_at_all(tmp_path):
    with refused(vs.UnreadableInput, tmp_path / "nowhere"):
        vs.verify(tmp_path / "nowhere")
    assert vs.verify(tmp_path).verdict == "incomplete"
