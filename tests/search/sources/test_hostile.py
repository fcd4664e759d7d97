"""What strangers send takes time in proportion to its length, and what is no file is not waited for."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.browsers import LATELY, firefox
from tests.support.errors import refused
from veilset.errors import UnreadableInput
from veilset.search.sources.bookmarks import read_bookmarks
from veilset.search.sources.browser_files import copied
from veilset.search.sources.extracting import extracted
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.mailboxes import read_mail
from veilset.search.sources.messages import document_of, names_of
from veilset.search.sources.own_words import own_words_of_html
from veilset.search.sources.source import Notes, Source
from veilset.search.sources.tame_html import tamed


def _message(content: bytes) -> None:
    with Extractor() as extractor:
        document_of(content, Source("mail", "mbox", Path("mail")), Notes(), extractor)
    names_of(content)


HOSTILE = {
    "markdown": lambda count: extracted(".md", b"](" * count, 100),
    "comments": lambda count: own_words_of_html("<!--" * count),
    "declarations": lambda count: own_words_of_html("<!a" * count),
    "instructions": lambda count: own_words_of_html("<?" * count),
    "open tags": lambda count: own_words_of_html("<a x='" * count),
    "end tags": lambda count: own_words_of_html("</" * count),
    "nested": lambda count: own_words_of_html("<blockquote>" + "<b>" * count + "</i>" * count),
    "parameters": lambda count: _message(b'Content-Disposition: attachment; x="' + b";" * count * 8 + b"\n\nhi"),
    "receivers": lambda count: _message(b'Cc: "a" <a@b>\n' * count + b"\n\nhi"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_time_is_in_proportion_to_length(what):
    start = time.process_time()
    HOSTILE[what](300_000)
    assert time.process_time() - start < 15  # a hang, not a measurement: one second, or minutes if it were quadratic


def test_tags_and_texts_stay():
    html = '<!doctype html><p class="x > y">a &lt; b<!-- no --><br>1 < 2 <?php no ?><a href="x">link</a><i'
    assert own_words_of_html(html).split() == ["a", "<", "b", "1", "2", "link", "i"]
    assert tamed("<p>" + "<b>x</b>" * 3) == "<p>" + "<b>x</b>" * 3
    assert own_words_of_html("<p>a<blockquote><b>no</blockquote>b</b>c") == "\na" + "bc"


def test_links_with_parentheses_are_cut():
    assert extracted(".md", b"see [tea](https://x.example/a_(b)) and [jazz](y)", 100).text == "see [tea] and [jazz]"


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "Bookmarks")
    with refused(UnreadableInput, "no file"):
        list(read_bookmarks(Source("marks", "bookmarks", tmp_path), Notes()))
    with Extractor() as extractor, refused(UnreadableInput, "no file"):
        list(read_mail(Source("mail", "mbox", tmp_path / "Bookmarks"), Notes(), extractor))


def test_a_device_beside_a_database_is_not_copied(tmp_path):
    (tmp_path / "places.sqlite").write_bytes(b"SQLite format 3\0")
    (tmp_path / "places.sqlite-wal").symlink_to("/dev/zero")
    with refused(UnreadableInput, "no file"), copied(tmp_path / "places.sqlite"):
        pass


def test_a_link_beside_a_database_is_not_followed(tmp_path):
    firefox(tmp_path / "places.sqlite", [])
    (tmp_path / "letter.txt").write_text("private")
    (tmp_path / "places.sqlite-journal").symlink_to(tmp_path / "letter.txt")
    with refused(UnreadableInput, "no file"), copied(tmp_path / "places.sqlite"):
        pass


def test_a_database_that_is_named_by_a_link_is_read_with_what_lies_beside_it(tmp_path):
    (tmp_path / "profile").mkdir()
    path = firefox(tmp_path / "profile" / "places.sqlite", [("https://example.org/", "Jazz", LATELY)], wal=True)
    (tmp_path / "link").symlink_to(path)
    with copied(tmp_path / "link") as file:
        assert file.ask("SELECT title FROM moz_places") == [("Jazz",)]


def test_many_bookmarks_keep_their_order(tmp_path):
    marks = [{"type": "url", "url": f"https://e{number}.example/", "name": "x"} for number in range(3)]
    roots = {"a": {"children": [marks[0], {"children": [marks[1]]}]}, "b": marks[2], "sync": "1"}
    (tmp_path / "Bookmarks").write_text(json.dumps({"roots": roots}))
    found = read_bookmarks(Source("marks", "bookmarks", tmp_path), Notes())
    assert [one.key for one in found] == [f"https://e{number}.example/" for number in range(3)]
