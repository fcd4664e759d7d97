"""Folders: the text of files of six kinds; nothing outside of the folder is read."""

import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.errors import refused
from tests.support.papers import papers, pdf
from veilset.errors import UnreadableInput
from veilset.search.sources import extracting, private_files
from veilset.search.sources.extracting import Unextractable
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.folders import read_folder
from veilset.search.sources.private_files import files_below
from veilset.search.sources.source import Notes, Source


def read(source, notes=None):
    with Extractor() as extractor:
        return list(read_folder(source, notes or Notes(), extractor))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return papers(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
def reading(folder):
    notes = Notes()
    return read(Source("mine", "folder", folder), notes), notes


def test_files_of_six_kinds(folder, reading):
    found = {Path(unquote(one.key.removeprefix("file://"))).name: one for one in reading[0]}
    titles = {
        "letter.docx": "On Trumpets",
        "latin.text": "latin",
        "my_notes-2024.txt": "my notes 2024",
        "page.html": "The page & its title",
        "paper.pdf": "On Violins",
        "read me.md": "Of Jazz",
        "wide.txt": "wide",
    }
    assert {name: one.title for name, one in found.items()} == titles
    says = {name: one.text for name, one in found.items()}
    assert says["letter.docx"].split() == ["The", "trumpet", "in", "a", "table"]
    assert says["latin.text"] == "Café on a windy day"
    assert says["wide.txt"] == "Ünïcode"
    assert "violin" in says["paper.pdf"]
    assert "harpsichord" in says["page.html"]
    assert "target" not in says["read me.md"]
    assert "secret" not in says["read me.md"]
    notes = found["my_notes-2024.txt"]
    assert notes.key == (folder / "deep/er/my_notes-2024.txt").as_uri()
    assert notes.place == str(folder / "deep/er")
    changed = (folder / "deep/er/my_notes-2024.txt").stat().st_mtime
    assert notes.when == datetime.fromtimestamp(int(changed), UTC)


def test_what_cannot_be_read_is_passed_over_visibly(reading):
    notes = reading[1]
    why = {Path(what).name: reason for what, reason in notes.passed_over}
    assert why.keys() == {"sealed.pdf", "binary.txt", "empty.md", "broken.docx", "old.docx"}
    assert "encrypted" in why["sealed.pdf"]
    assert "encrypted" in why["old.docx"]
    assert "damaged" in why["broken.docx"]
    assert notes.left_out == {"file of another kind": 1, "hidden file": 1, "hidden folder": 1}


def test_lengths_and_sizes_are_capped(tmp_path):
    (tmp_path / "long.txt").write_text("jazz " * 1000)
    (tmp_path / "large.txt").write_text("cello " * 200_000)
    (tmp_path / "long.pdf").write_bytes(pdf("jazz", pages=30))
    notes = Notes()
    found = read(Source("mine", "folder", tmp_path, characters=50, megabytes=1), notes)
    assert [len(one.text) for one in found] == [50, 50]
    ((what, why),) = notes.passed_over
    assert what.endswith("large.txt")
    assert "1 MB" in why


def test_old_files_are_not_opened(tmp_path):
    (tmp_path / "old.txt").write_text("jazz")
    (tmp_path / "new.txt").write_text("cello")
    long_ago = (datetime.now(UTC) - timedelta(days=100)).timestamp()
    os.utime(tmp_path / "old.txt", (long_ago, long_ago))
    notes = Notes()
    assert [one.text for one in read(Source("mine", "folder", tmp_path, days=30), notes)] == ["cello"]
    assert notes.left_out == {"older than the time window": 1}


def test_nothing_outside_of_the_folder_is_read(tmp_path):
    """Links to files and folders are not followed, and what is no file is not opened."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (inside / "plain.txt").write_text("plain")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "up").symlink_to(outside)
    (inside / "around").symlink_to(inside)
    (inside / "gone.txt").symlink_to(inside / "nothing")
    os.mkfifo(inside / "pipe.txt")
    notes = Notes()
    assert [one.text for one in read(Source("mine", "folder", inside), notes)] == ["plain"]
    assert notes.left_out == {"link, which is not followed": 4, "no file": 1}
    (tmp_path / "chosen").symlink_to(inside)
    assert [one.text for one in read(Source("mine", "folder", tmp_path / "chosen"), Notes())] == ["plain"]


def test_a_file_that_becomes_a_link_meanwhile_is_not_followed(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "plain.txt").write_text("plain")
    for found in files_below(inside, Notes(), hidden=False):
        (inside / "plain.txt").unlink()
        (inside / "plain.txt").symlink_to(tmp_path / "secret.txt")
        with pytest.raises(private_files.Refused):
            found.read(100)


def test_a_file_that_becomes_a_pipe_meanwhile_does_not_stop_us(tmp_path):
    (tmp_path / "plain.txt").write_text("plain")
    for found in files_below(tmp_path, Notes(), hidden=False):
        (tmp_path / "plain.txt").unlink()
        os.mkfifo(tmp_path / "plain.txt")
        with pytest.raises(private_files.Refused):
            found.read(100)


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path):
    inside = tmp_path / "inside"
    (inside / "b").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (inside / "a.txt").write_text("plain")
    (inside / "b" / "b.txt").write_text("plain")
    seen = []
    for found in files_below(inside, Notes(), hidden=False):
        seen.append(found.read(100))
        if found.path.name == "a.txt":
            (inside / "b" / "b.txt").unlink()
            (inside / "b").rmdir()
            (inside / "b").symlink_to(tmp_path / "outside")
    assert seen == [b"plain"]


def test_folders_that_are_too_deep_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(private_files, "_DEEPEST", 2)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "near.txt").write_text("near")
    (tmp_path / "a" / "b" / "c" / "far.txt").write_text("far")
    notes = Notes()
    assert [one.text for one in read(Source("mine", "folder", tmp_path), notes)] == ["near"]
    ((what, why),) = notes.passed_over
    assert what == str(tmp_path / "a" / "b")
    assert "2" in why


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for name in ("file", "none", "round"):
        with refused(UnreadableInput, str(tmp_path / name)):
            read(Source("mine", "folder", tmp_path / name))


def test_names_that_are_no_text(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("jazz")
    (found,) = read(Source("mine", "folder", tmp_path))
    assert found.key.endswith("caf%E9.txt")
    assert found.title == "caf\N{REPLACEMENT CHARACTER}"


def zip_bomb(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b" " * (extracting._UNPACKED + 1))
    return path.read_bytes()


def test_a_document_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(extracting, "_UNPACKED", 10**6)
    with pytest.raises(Unextractable, match="unpacks"):
        extracting.extracted(".docx", zip_bomb(tmp_path / "bomb"), 100)


def test_a_file_that_takes_too_long_does_not_stop_the_rest():
    with Extractor(patience=0.0) as hasty, pytest.raises(Unextractable, match="seconds"):
        hasty.extracted(".pdf", pdf("jazz"), 100)
    with Extractor() as extractor:
        extractor._started().kill()
        with pytest.raises(Unextractable, match="ended"):
            extractor.extracted(".docx", b"x" * 10**7, 100)
        with pytest.raises(Unextractable, match="damaged"):
            extractor.extracted(".docx", b"nothing", 100)


def test_the_process_has_no_network_and_bounded_memory():
    """What `main` sets up, seen from inside: a reader that reaches out is refused, one that takes all memory, too."""
    inside = (
        "import importlib.util, io, sys, json, os\n"
        f"spec = importlib.util.spec_from_file_location('extracting', {extracting.__file__!r})\n"
        "it = importlib.util.module_from_spec(spec); sys.modules['extracting'] = it; spec.loader.exec_module(it)\n"
        "def online(content, most):\n import socket; socket.create_connection(('127.0.0.1', 9))\n"
        "def greedy(content, most):\n return '', str(bytearray(8 << 30))\n"
        "it._READERS.update({'.a': online, '.b': greedy})\n"
        "ask = lambda s: json.dumps({'suffix': s, 'size': 1, 'most': 1}).encode() + b'\\n' + b'x'\n"
        "it.main(io.BytesIO(ask('.a') + ask('.b')), sys.stdout.buffer)\n"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", inside], capture_output=True, text=True, check=True)
    online, greedy = done.stdout.splitlines()
    assert "network" in online
    assert "memory" in greedy


def test_the_process_ends_with_its_reader():
    with Extractor() as extractor:
        with pytest.raises(Unextractable):
            extractor.extracted(".pdf", b"nothing", 10)
        process = extractor._started()
        assert process.poll() is None
    assert process.poll() is not None
