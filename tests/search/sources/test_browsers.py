"""Histories and bookmarks of Firefox and Chromium: title and host of each distinct address."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.browsers import LATELY, chromium, chromium_bookmarks, exported_bookmarks, firefox
from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import UnreadableInput
from veilset.search.documents import Document
from veilset.search.sources import browser_files
from veilset.search.sources.bookmarks import read_bookmarks
from veilset.search.sources.chromium import read_chromium
from veilset.search.sources.firefox import read_firefox
from veilset.search.sources.pages import Visit, pages, plain_address
from veilset.search.sources.source import Notes, Source

EARLIER = LATELY - timedelta(days=3)
PAGES = [
    ("https://www.example.org/jazz?token=secret#top", "Jazz", LATELY),
    ("https://example.org/never", "Never visited", None),
    ("https://www.example.org/jazz?token=other", "Old jazz", EARLIER),
    ("http://me:secret@example.net:8080", None, EARLIER),
    ("file:///home/me/letter.txt", "Letter", LATELY),
    ("about:config", "Settings", LATELY),
    ("moz-extension://abc/page.html", "Extension", LATELY),
]
HIDDEN = [("https://ads.example.com/", "Ad", LATELY)]
EXPECTED = [
    ("http://example.net:8080/", "", "example.net", EARLIER),
    ("https://www.example.org/jazz", "Jazz", "example.org", LATELY),
]
READERS = {"firefox": (firefox, read_firefox, "places.sqlite"), "chromium": (chromium, read_chromium, "History")}


def seen(documents, source="mine"):
    found = sorted(documents, key=lambda one: one.key)
    assert all((one.source, one.text) == (source, "") for one in found)
    return [(one.key, one.title, one.place, one.when) for one in found]


@pytest.mark.parametrize("browser", READERS)
@pytest.mark.parametrize("by_folder", [True, False])
def test_histories(tmp_path, browser, by_folder):
    make, read, name = READERS[browser]
    path = make(tmp_path / name, PAGES, hidden=HIDDEN)
    before = path.read_bytes()
    source = Source("mine", browser, tmp_path if by_folder else path)
    assert seen(read(source, Notes())) == EXPECTED
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_what_firefox_has_not_merged_yet_is_read(tmp_path):
    path = firefox(tmp_path / "places.sqlite", PAGES, wal=True)
    state = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert state.keys() == {"places.sqlite", "places.sqlite-wal"}
    assert seen(read_firefox(Source("mine", "firefox", path), Notes())) == EXPECTED
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == state


def test_a_browser_that_runs_does_not_matter(tmp_path):
    """It keeps its database locked, and has a transaction open."""
    path = firefox(tmp_path / "places.sqlite", PAGES)
    running = sqlite3.connect(path, isolation_level=None)
    running.execute("PRAGMA locking_mode = EXCLUSIVE")
    running.execute("BEGIN EXCLUSIVE")
    running.execute("DELETE FROM moz_historyvisits")
    assert seen(read_firefox(Source("mine", "firefox", path), Notes())) == EXPECTED
    running.close()


# Whoever starts a test run may have it ignore signals, and children inherit that.
READING = """
import signal
import sys
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from veilset.search.sources.browser_files import copied
with copied(Path(sys.argv[1])):
    print("reading", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_copy_is_left_by_a_process_that_is_ended(tmp_path, end):
    path = firefox(tmp_path / "places.sqlite", PAGES)
    (tmp_path / "run").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", READING, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run")},
    )
    with process:
        assert process.stdout.readline() == "reading\n"
        assert list((tmp_path / "run").iterdir()) != []
        process.send_signal(end)
        assert process.wait(60) != 0
    assert list((tmp_path / "run").iterdir()) == []


def test_a_file_that_never_rests_is_told(tmp_path, monkeypatch):
    path = firefox(tmp_path / "places.sqlite", PAGES)
    states = iter(range(1000))
    monkeypatch.setattr(browser_files, "_states", lambda *paths: ((next(states), 1), None, None))
    monkeypatch.setattr(browser_files.time, "sleep", lambda seconds: None)
    with refused(UnreadableInput, str(path)):
        list(read_firefox(Source("mine", "firefox", path), Notes()))


@pytest.mark.parametrize("browser", READERS)
@pytest.mark.parametrize("damage", ["cut", "noise", "other", "empty", "folder", "none", "columns", "view"])
def test_what_is_no_history_is_refused(tmp_path, browser, damage):
    make, read, name = READERS[browser]
    path = make(tmp_path / name, PAGES * 50)
    content = path.read_bytes()
    table = "moz_places" if browser == "firefox" else "urls"
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "noise":
        path.write_bytes(content[:100] + bytes(255 - byte for byte in content[100:]))
    elif damage == "other":
        path.write_bytes(b"hello")
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage in ("folder", "none"):
        path.unlink()
    else:
        made = sqlite3.connect(path)
        made.execute(f"ALTER TABLE {table} RENAME TO other")
        made.execute(f"CREATE TABLE {table} (a)" if damage == "columns" else f"CREATE VIEW {table} AS {ALL}")
        made.commit()
        made.close()
    source = Source("mine", browser, tmp_path if damage == "folder" else path)
    with refused(UnreadableInput, str(source.path)):
        list(read(source, Notes()))


def test_a_database_that_takes_for_ever_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(browser_files, "_PATIENCE", 0.0)
    monkeypatch.setattr(browser_files, "_STEPS", 1)
    path = firefox(tmp_path / "places.sqlite", PAGES)
    with refused(UnreadableInput, str(path)):
        list(read_firefox(Source("mine", "firefox", path), Notes()))


def test_odd_values_in_a_history_do_no_harm(tmp_path):
    path = firefox(tmp_path / "places.sqlite", PAGES)
    made = sqlite3.connect(path)
    odd = [(b"\xff\xfe", b"\xff", "soon"), (None, None, None), (7, 8, 2**62), ("https://x.example/", b"\xff", -5)]
    made.executemany("INSERT INTO moz_places (url, title, last_visit_date, visit_count) VALUES (?, ?, ?, 1)", odd)
    made.execute("INSERT INTO moz_places (url, visit_count) VALUES (CAST(x'68747470733a2f2f79ff2f' AS TEXT), 1)")
    made.commit()
    made.close()
    notes = Notes()
    found = seen(read_firefox(Source("mine", "firefox", path), notes))
    assert ("https://x.example/", "", "x.example", None) in found
    assert notes.left_out["entry without an address"] == 2


ALL = "SELECT * FROM other"
MARKED = [("https://example.org/a?b", "Ä & jazz", LATELY), ("https://example.net/", "Cello", EARLIER)]
MARKED_EXPECTED = [
    ("https://example.net/", "Cello", "example.net", EARLIER),
    ("https://example.org/a", "Ä & jazz", "example.org", LATELY),
]


@pytest.mark.parametrize("kind", ["firefox", "chromium", "exported"])
@pytest.mark.parametrize("by_folder", [True, False])
def test_bookmarks(tmp_path, kind, by_folder):
    if kind == "firefox":
        path = firefox(tmp_path / "places.sqlite", PAGES, marked=MARKED)
    elif kind == "chromium":
        path = chromium_bookmarks(tmp_path / "Bookmarks", MARKED)
    else:
        path, by_folder = exported_bookmarks(tmp_path / "bookmarks.html", MARKED), False
    source = Source("mine", "bookmarks", tmp_path if by_folder else path)
    assert seen(read_bookmarks(source, Notes())) == MARKED_EXPECTED


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        "{",
        "{}",
        '{"roots": 5}',
        '{"roots": [1]}',
        '{"roots": {"bar": ' + '{"children": [' * 50_000,
        "\0" * 100,
    ],
)
def test_what_has_no_bookmarks_is_refused(tmp_path, content):
    path = tmp_path / "Bookmarks"
    path.write_text(content)
    with refused(UnreadableInput, str(path)):
        list(read_bookmarks(Source("mine", "bookmarks", path), Notes()))
    with refused(UnreadableInput, str(tmp_path / "none")):
        list(read_bookmarks(Source("mine", "bookmarks", tmp_path / "none"), Notes()))


def test_large_bookmarks_are_refused(tmp_path):
    path = tmp_path / "Bookmarks"
    path.write_text(json.dumps({"roots": {}, "fill": "x" * 10**6}))
    with refused(UnreadableInput, str(path)):
        list(read_bookmarks(Source("mine", "bookmarks", path, megabytes=1), Notes()))


@pytest.mark.parametrize("node", [None, 5, [], {"children": 5}, {"url": 5, "type": "url"}, {"children": [[], "x"]}])
def test_odd_bookmarks_do_no_harm(tmp_path, node):
    path = tmp_path / "Bookmarks"
    good = {"type": "url", "name": 5, "url": "https://example.org/", "date_added": "9" * 40}
    path.write_text(json.dumps({"roots": {"bar": node, "other": {"children": [good]}}}))
    found = seen(read_bookmarks(Source("mine", "bookmarks", path), Notes()))
    assert found == [("https://example.org/", "", "example.org", None)]


@given(st.text(max_size=40))
@examples(300)
def test_any_address_is_plain_or_none(text):
    for address in (text, f"https://{text}", f"http://example.org/{text}"):
        plain = plain_address(address)
        assert plain == "" or plain.startswith(("http://", "https://"))
        assert "?" not in plain
        assert "#" not in plain
        assert plain_address(plain) in (plain, "")


def test_an_address_is_titled_as_it_was_last():
    visits = [
        Visit("https://example.org/", "new", LATELY),
        Visit("https://example.org/?a", "old", EARLIER),
        Visit("https://example.org/?b", "", LATELY + timedelta(days=1)),
        Visit("https://example.org/b", "", LATELY),
        Visit("https://example.org/b?", "  late \n title ", None),
    ]
    assert list(pages(visits, "mine")) == [
        Document("https://example.org/", "mine", "new", "", "example.org", LATELY + timedelta(days=1)),
        Document("https://example.org/b", "mine", "late title", "", "example.org", LATELY),
    ]
