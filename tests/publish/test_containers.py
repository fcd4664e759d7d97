"""What travels in a container besides values: compared byte by byte, or said to be unchecked, and never copied."""

import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import veilset as vs
from tests.support.bundles import exchange_file
from tests.support.commands import run
from tests.support.errors import names, refused
from tests.support.hiding_places import ANOTHER_WRITER, PLACES, by_another_writer, with_message
from tests.support.memory import leaving, own_memory
from tests.support.releases import ROWS, answer, copied, files, published
from tests.support.tables import a_file_of_many_rows
from veilset.cli import main
from veilset.io import plain
from veilset.publish import verify as _verify
from veilset.publish.verification import Verification

verifying = sys.modules[_verify.__module__]
SECRET = b"row 3 is ann"


@pytest.fixture(scope="module", params=["parquet", "parquet-long", "parquet-wide"])
def made(request, tmp_path_factory) -> vs.Bundle:
    release = vs.anonymize(vs.Transactions.from_lists(ROWS, sensitive=["cure"]), vs.Coherence(h="1/2", k=2, p=2))
    return vs.publish(release, tmp_path_factory.mktemp("shop") / "out", out_format=request.param)


@pytest.fixture(scope="module")
def cut(tmp_path_factory) -> vs.Bundle:
    """An anatomy, of two tables."""
    rows = [["ale", "figs"], ["bun", "gin"], ["ale", "gin"], ["bun", "figs"]] * 5
    data = vs.Transactions.from_lists(rows)
    release = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=[["ale", "bun"], ["figs", "gin"]], random_state=3)
    return vs.publish(release, tmp_path_factory.mktemp("cut") / "out", out_format="parquet")


def test_the_writer_in_use_is_compared_byte_by_byte(public):
    assert answer(public) == ("holds", 0)


@pytest.mark.parametrize("place", PLACES)
def test_a_message_where_no_reader_looks_does_not_hold(public, place):
    content = (public / "data.parquet").read_bytes()
    hidden = with_message(content, place, SECRET)
    assert SECRET in hidden
    assert pq.read_table(io.BytesIO(hidden)).equals(pq.read_table(io.BytesIO(content)))
    exchange_file(public, "data.parquet", hidden)
    found = vs.verify(public)
    assert (found.verdict, found.exit_code, found.holds) == ("unchecked", 4, False)
    assert found.audit is not None and found.audit.holds
    assert "data.parquet" in found.unchecked[0] and ANOTHER_WRITER.decode() in found.message


@pytest.mark.parametrize("place", PLACES)
def test_nor_does_it_if_it_claims_to_be_of_this_version(public, place, monkeypatch):
    monkeypatch.setattr("tests.support.hiding_places.ANOTHER_WRITER", plain._THIS_WRITER.encode())
    hidden = with_message((public / "data.parquet").read_bytes(), place, SECRET)
    exchange_file(public, "data.parquet", hidden)
    assert answer(public) == ("altered", 1)


def test_a_clean_copy_has_the_values_and_nothing_else(public, tmp_path):
    before = files(public)
    exchange_file(public, "data.parquet", with_message(before["data.parquet"], PLACES[0], SECRET))
    found = vs.verify(public, clean_copy=tmp_path / "copy")
    assert found.verdict == "holds" and str(tmp_path / "copy") in found.message
    assert files(tmp_path / "copy") == before
    assert answer(tmp_path / "copy") == ("holds", 0)
    assert answer(public) == ("unchecked", 4)


def test_what_does_not_keep_its_promise_is_not_copied(public, tmp_path):
    certificate = json.loads((public / "certificate.json").read_text())
    certificate["promise"]["parameters"]["k"] = 5
    exchange_file(public, "certificate.json", (json.dumps(certificate, indent=2) + "\n").encode())
    assert vs.verify(public, clean_copy=tmp_path / "copy").verdict == "broken"
    (public / "data.parquet").write_bytes(b"PAR1")
    assert vs.verify(public, clean_copy=tmp_path / "copy").verdict == "altered"
    assert not (tmp_path / "copy").exists()


def test_a_copy_takes_nobody_s_place(public, tmp_path):
    (tmp_path / "copy").mkdir()
    with refused(vs.InvalidArgument, tmp_path / "copy"):
        vs.verify(public, clean_copy=tmp_path / "copy")


@pytest.mark.parametrize("verdict", ["malformed", "incomplete", "altered"])
def test_a_copy_that_cannot_be_read_back_is_an_error_and_says_nothing_of_the_release(
    public, tmp_path, monkeypatch, verdict
):
    """Here for lack of descriptors; exit code 1 would be a verdict."""
    original, answers = verifying.examine, []

    def examined(*arguments):
        answers.append(original(*arguments))
        return answers[0] if len(answers) == 1 else (Verification(verdict, "Too many open files."), None)

    monkeypatch.setattr(verifying, "examine", examined)
    with refused(vs.CannotWrite, "Too many open files.") as caught:
        vs.verify(public, clean_copy=tmp_path / "copy")
    assert caught.value.exit_code == 2 and len(answers) == 2
    assert not (tmp_path / "copy").exists()


def test_a_copy_from_the_command_line(public, tmp_path, capsys):
    exchange_file(public, "data.parquet", by_another_writer((public / "data.parquet").read_bytes()))
    code, shown = run(capsys, "verify", public)
    assert code == 4 and shown["verdict"] == "unchecked" and len(shown["unchecked"]) == 1
    code, shown = run(capsys, "verify", public, "--clean-copy", tmp_path / "copy")
    assert code == 0 and "unchecked" not in shown
    assert run(capsys, "verify", tmp_path / "copy")[0] == 0
    assert main(["verify", str(public), "--text"]) == 4
    assert {"UNCHECKED", "--clean-copy"} <= {*capsys.readouterr().out.split()}


@pytest.mark.parametrize("name", ["data.parquet", "anatomy.parquet"])
def test_both_tables_of_an_anatomy(cut, tmp_path, name):
    public = copied(cut, tmp_path).public
    before = files(public)
    exchange_file(public, name, with_message(before[name], PLACES[2], SECRET))
    assert answer(public) == ("unchecked", 4)
    assert vs.verify(public, clean_copy=tmp_path / "copy").holds
    assert files(tmp_path / "copy") == before


@pytest.mark.parametrize("custodian", [False, True])
def test_a_copy_of_what_is_sealed(tmp_path, custodian):
    data = vs.Transactions.from_lists([["tea", "milk"]] * 5 + [["tea"], ["milk"]])
    release = vs.anonymize(data, vs.HiddenPatterns([["tea", "milk"]], min_support=3))
    bundle = vs.publish(release, tmp_path / "hidden", out_format="parquet")
    exchange_file(bundle.public, "data.parquet", by_another_writer((bundle.public / "data.parquet").read_bytes()))
    path = bundle.path if custodian else bundle.public
    assert answer(path) == ("unchecked" if custodian else "sealed", 4)
    assert len(vs.verify(path).unchecked) == 1
    assert vs.verify(path, clean_copy=tmp_path / "copy").verdict == ("holds" if custodian else "sealed")
    assert vs.verify(tmp_path / "copy").unchecked == ()


@pytest.mark.parametrize("out_format", ["parquet", "arrow"])
def test_groups_of_rows_tell_nothing_either(tmp_path, out_format):
    """Where one row group or batch ends and the next begins could spell a message."""
    release = vs.anonymize(vs.Transactions.from_lists([["ale"]] * 9), vs.Coherence(k=2, p=2))
    public = vs.publish(release, tmp_path / "out", out_format=out_format).public
    name = f"data.{out_format}"
    schema = pa.schema([("items", pa.list_(pa.string()))])
    stream = io.BytesIO()
    blocks = [pa.table([[["ale"]] * size], schema=schema) for size in (3, 1, 5)]
    plain.write_table(stream, blocks, schema, out_format)
    exchange_file(public, name, stream.getvalue())
    assert answer(public) == ("unchecked", 4)
    assert vs.verify(public, clean_copy=tmp_path / "copy").holds


def test_a_version_that_spells_something(public, monkeypatch):
    monkeypatch.setattr("tests.support.hiding_places.ANOTHER_WRITER", b"parquet-cpp-arrow version 20261118.1.2")
    exchange_file(public, "data.parquet", by_another_writer((public / "data.parquet").read_bytes()))
    assert answer(public) == ("altered", 1)


def test_300_million_rows_in_769_kilobytes(tmp_path):
    """Told by the footer; memory for the rows is never asked for."""
    public = published(tmp_path, out_format="parquet").public
    exchange_file(public, "data.parquet", a_file_of_many_rows(300_000_000, groups=30))
    room = 500_000_000
    limit = leaving(room)
    found = vs.verify(public, memory_limit=limit)
    assert own_memory() < limit - room + 10_000_000
    assert (found.verdict, found.exit_code) == ("malformed", 2)
    assert names(found.message, "300,000,000")
