"""Every public byte follows from the data and from what the certificate declares; words that do not are told."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import veilset as vs
from tests.support.bundles import edit_certificate, exchange_file
from tests.support.errors import refused
from tests.support.releases import answer, certificate, copied, files, message, published
from veilset.io import Layout
from veilset.limits import Limits
from veilset.models import EXCLUDES_NOTHING
from veilset.publish.certificate import DataFile
from veilset.publish.public import Declared, certificate_of, page_of

DRINKS = ["ale", "gin", "rum", "sake"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    return published(tmp_path_factory.mktemp("shop"), random_state=1)


@pytest.fixture(scope="module")
def recoded(tmp_path_factory) -> vs.Bundle:
    """A release with groups of sensitive items, and with a coarser name."""
    rows = [["ale", "hiv", "bun"], ["gin", "aids", "bun"], ["rum", "flu", "rye"], ["sake", "rye"]]
    rows = [*rows, ["ale", "bun"], ["gin", "bun"], ["rum", "rye"], ["sake", "rye"]] * 3
    data = vs.Transactions.from_lists(rows, sensitive=["hiv", "aids", "flu"])
    promise = vs.Coherence(h="1/2", k=10, p=1, sensitive_groups=[["hiv", "aids"]])
    tree = {**{drink: ["drinks", "all"] for drink in DRINKS}, "bun": ["bread", "all"], "rye": ["bread", "all"]}
    release = vs.anonymize(data, promise, method="generalize", taxonomy=vs.Taxonomy.from_paths(tree))
    return vs.publish(release, tmp_path_factory.mktemp("recoded") / "out")


def unchecked(public) -> list[str]:
    """What is said not to be checked, by its first word."""
    found = vs.verify(public)
    assert (found.verdict, found.exit_code) == ("unchecked", 4)
    return [said.split()[0] for said in found.unchecked]


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.replace(b"<h1>", b"<h1><script>fetch('//ann')</script>"),
        lambda page: page.replace(b"7", b"8"),
        lambda page: re.sub(rb"<path d=\"M[0-9.]+", b'<path d="M1', page, count=1),
        lambda page: page.replace(b"</html>", b"</html><!-- row 3 is ann -->"),
        lambda page: b"",
    ],
    ids=["scripted", "false", "a bar moved", "a comment", "empty"],
)
def test_another_page(public, change):
    page = (public / "report.html").read_bytes()
    changed = change(page)
    assert changed != page
    exchange_file(public, "report.html", changed)
    assert unchecked(public) == ["report.html"]


@pytest.mark.parametrize("said", [[], ["Everything is promised."]])
def test_other_open_ends(public, said):
    edit_certificate(public, lambda c: c.update(not_promised=said), fix_sums=True)
    assert unchecked(public) == ["not_promised"]


def test_a_clean_copy_has_words_of_its_own(public, tmp_path, snapshot):
    before = files(public)
    edit_certificate(public, lambda c: c.update(not_promised=[]))
    exchange_file(public, "report.html", b"<script>")
    assert unchecked(public) == ["not_promised", "report.html"]
    assert vs.verify(public).message == snapshot
    assert vs.verify(public, clean_copy=tmp_path / "copy").holds
    assert files(tmp_path / "copy") == before


def test_the_folder_that_was_given_is_verified(public, tmp_path):
    """Not another one in it."""
    shutil.copytree(public, tmp_path / "given")
    shutil.copytree(public, tmp_path / "given" / "public")
    (tmp_path / "given" / "data.csv").write_text("ann,hiv\n")
    assert message(tmp_path / "given", "altered", 1)


def test_names_of_columns_are_short(public):
    edit_certificate(public, lambda c: c["data"].update(columns=["ann has hiv; " * 10, "item"]), fix_sums=True)
    assert "columns" in message(public, "malformed", 2)


def test_a_clean_copy_does_not_go_into_a_release(public):
    for place in (public / "copy", public.parent / "custodian" / "copy", public.parent.parent / "a\0b"):
        with refused(vs.InvalidArgument, repr(str(place))):
            vs.verify(public, clean_copy=place)
    assert vs.verify(public).holds


@pytest.mark.parametrize(
    "made_by", ["veilset", "veilset 0.1.0+ann", "ann", "veilset 0.1.0\nann", "veilset 0.1.0 for ann", "", 1]
)
def test_names_in_made_by(public, made_by):
    edit_certificate(public, lambda c: c.update(made_by=made_by), fix_sums=True)
    assert "made_by" in message(public, "malformed", 2)


def test_another_version(public):
    """It is the custodian's word who wrote it; the page repeats it."""
    edit_certificate(public, lambda c: c.update(made_by="veilset 12.0.1rc2"), fix_sums=True)
    assert unchecked(public) == ["report.html"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"transactions": 7', '"transactions": 8,\n  "transactions": 7'),
        lambda text: text.replace('"k": 2', '"k": 9,\n      "k": 2'),
        lambda text: text.replace("\n", "\n "),
        lambda text: text + " \n",
        lambda text: text.replace('"cure"', '"c\\u0075re"'),
        lambda text: text.replace('"schema_version": 1', '"schema_version": true'),
        lambda text: text.replace('"schema_version": 1', '"schema_version": 1.0'),
        lambda text: text.replace('"transactions": 7', '"transactions": 7.0'),
        lambda text: text.replace('"k": 2', '"k": true'),
        lambda text: text.replace('"k": 2', '"k": 2.0'),
        lambda text: text.replace('"h": "1/2"', '"h": "0.5"'),
        lambda text: text.replace('"loss_percent": 9', '"loss_percent": "9"'),
        lambda text: text.replace('"made_by"', '"by": "ann",\n  "made_by"'),
        lambda text: text.replace('"made_by"', '"anatomy": null,\n  "made_by"'),
        lambda text: text.replace('"format": "basket"', '"who": "ann",\n    "format": "basket"'),
    ],
)
def test_certificates_in_other_words(public, change):
    """Keys that stand twice or mean nothing, values of other types, blanks: each could tell something."""
    text = (public / "certificate.json").read_text()
    changed = change(text)
    assert changed != text
    exchange_file(public, "certificate.json", changed.encode())
    assert vs.verify(public).verdict in ("malformed", "altered")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["promise"]["parameters"].update(sensitive_groups=[["hiv", "aids", "ann has it"]]),
        lambda c: c["promise"]["parameters"].update(sensitive_groups=[["aids", "hiv"], ["ann", "bob"]]),
        lambda c: c["generalized"].update(ann=["hers"]),
        lambda c: c["generalized"].update(drinks=[]),
        lambda c: c["generalized"].update(hiv=["ann"]),
        lambda c: c.update(sensitive=["hiv", "flu", "aids"]),
        lambda c: c.update(sensitive=["aids", "aids", "flu", "hiv"]),
        lambda c: c.update(transactions=25),
        lambda c: c["data"].update(columns=["ann"]),
        lambda c: c["data"].update(delimiter=";"),
    ],
)
def test_lists_that_contradict_the_data(recoded, tmp_path, change):
    public = copied(recoded, tmp_path).public
    assert answer(public) == ("holds", 0)
    assert certificate(public.parent)["generalized"] == {"drinks": DRINKS}
    edit_certificate(public, change, fix_sums=True)
    assert vs.verify(public).verdict in ("malformed", "altered")


def test_a_seal_says_whether_it_excludes_nothing(tmp_path):
    data = vs.Transactions.from_lists([["tea", "milk"]] * 5 + [["tea"], ["milk"]])
    release = vs.anonymize(data, vs.HiddenPatterns([["tea", "milk"]], min_support=100))
    bundle = vs.publish(release, tmp_path / "hidden", allow_empty_promise=True)
    assert EXCLUDES_NOTHING in certificate(bundle.path)["not_promised"]
    assert (vs.verify(bundle.public).verdict, vs.verify(bundle.public).unchecked) == ("sealed", ())
    edit_certificate(bundle.public, lambda c: c["not_promised"].remove(EXCLUDES_NOTHING), fix_sums=True)
    assert len(vs.verify(bundle.public).unchecked) == 1
    assert len(vs.verify(bundle.path).unchecked) == 1


def test_the_page_takes_no_memory_for_each_transaction():
    """It tells how many transactions have how many items."""
    data = vs.Transactions.from_codes(np.arange(2_000_001), np.zeros(2_000_000, np.int32), ["ale"])
    promise = vs.Coherence(k=2, p=1)
    declared = Declared(promise, "taken as one person", 0, {})
    table = DataFile.of("data.csv", "0" * 64, Layout("basket"))
    answer, certificate = vs.audit(data, promise), certificate_of(data, declared, table, None, empty=False)
    page_of(certificate, data.take([0]), promise, answer, Limits())  # loads what it needs
    tracemalloc.start()
    assert b"1.0 items on average" in page_of(certificate, data, promise, answer, Limits())
    assert tracemalloc.get_traced_memory()[1] < 6_000_000
    tracemalloc.stop()


def test_the_page_takes_no_library_and_no_room(public):
    """Libraries that draw reserve more addresses than a shell may allow, and end the process if they cannot."""
    script = """
        import json, resource, sys, veilset as vs
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        found = vs.verify(sys.argv[1], threads=1)
        print(json.dumps([found.verdict, sorted({"altair", "vl_convert"} & {*sys.modules})]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(public)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["holds", []]
