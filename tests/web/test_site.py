"""A page with its actions: whole without a script, in parts with it; errors in words."""

import time
from importlib.resources import files
from threading import get_ident

import pytest

from tests.support.asking_pages import Browser, part
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.web.fields import LONGEST, Fields
from veilset.web.session import Session
from veilset.web.site import Download, Parts, Site
from veilset.web.worker import Worker


class Counter:
    """The smallest page: a number that grows."""

    def __init__(self):
        self.number, self.threads = 0, set()

    def add(self, form):
        self.threads.add(get_ident())
        self.number += form.whole("by", 1, 9)
        return Parts(["number"], f"Now {self.number}.")

    def spoil(self, _form):
        raise RuntimeError("the words of a bug")

    def take(self, _form):
        return Download("number.json", b"1")


@pytest.fixture
def counter():
    return Counter()


@pytest.fixture
def browser(counter, tmp_path, monkeypatch):
    package = tmp_path / "counting_page"
    (package / "templates").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "own.css").write_text("p {}")
    (package / "templates" / "page.html").write_text(
        '{% extends "web/layout.html" %}'
        '{% block main %}{% include "web/message.html" %}{% include "number.html" %}{% endblock %}'
    )
    (package / "templates" / "number.html").write_text('<p id="number">{{ number }} {{ name|shout }} {{ csrf }}</p>')
    monkeypatch.syspath_prepend(tmp_path)
    with Worker() as worker:
        site = Site(
            "counting_page",
            "templates",
            actions={"add": counter.add, "spoil": counter.spoil, "take": counter.take},
            context=lambda: {"number": counter.number, "name": "<b>"},
            worker=worker,
            files={"own.css": ("text/css", package / "own.css")},
            filters={"shout": str.upper},
        )
        session = Session(8123)
        yield Browser(site.app(session), session)


def test_the_page_shows_what_there_is_and_escapes_it(browser):
    page = browser.get()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"0 &lt;B&gt; {browser.session.csrf}" in page.text


def test_with_our_script_an_action_gives_the_parts_that_changed(browser):
    answer = browser.send("add", by=3)
    assert part(answer.text, "number").startswith("3 ")
    assert part(answer.text, "said") == "Now 3."
    assert "<html" not in answer.text


def test_without_it_the_action_leads_back_to_the_page(browser):
    answer = browser.send("add", partial=False, by=3)
    assert (answer.status_code, answer.headers["location"]) == (303, browser.session.folder)
    assert part(browser.get().text, "number").startswith("3 ")


def test_an_error_is_shown_once_and_changes_nothing(browser, counter):
    assert part(browser.send("add", by=10).text, "message").startswith(
        "by is &#39;10&#39;. Give a whole number from 1 to 9."
    )
    browser.send("add", partial=False, by="x")
    assert 'role="alert"' in browser.get().text
    assert 'role="alert"' not in browser.get().text
    assert counter.number == 0


def test_a_bug_is_told_without_its_words(browser, counter):
    answer = browser.send("spoil")
    assert answer.status_code == 500
    assert "the words of a bug" not in answer.text
    assert part(answer.text, "message").startswith("Internal error")


def test_what_is_not_there_is_told(browser):
    assert browser.get("nothing").status_code == 404
    assert browser.get("add").status_code == 405
    assert browser.get("../web.css").status_code == 403
    assert browser.ask("GET", f"{browser.session.folder}../../etc/passwd").status_code in (403, 404)


def test_an_action_can_answer_with_a_file(browser):
    answer = browser.send("take")
    assert answer.content == b"1"
    assert answer.headers["content-disposition"] == 'attachment; filename="number.json"'


def test_files_are_ours_and_the_site_s_own(browser):
    kinds = {name: browser.get(name).headers["content-type"] for name in ("web.css", "web.js", "own.css")}
    assert kinds == {
        "web.css": "text/css; charset=utf-8",
        "web.js": "text/javascript; charset=utf-8",
        "own.css": "text/css; charset=utf-8",
    }


@pytest.mark.parametrize("name", ["web.css", "web.js"])
def test_no_file_names_another_address(name):
    text = (files("veilset.web") / "files" / name).read_text()
    assert not [
        word
        for word in ("http:", "https:", "//", "@import", "url(", "innerHTML", "eval(")
        if word in text.replace("// ", "")
    ]


def test_all_actions_happen_in_one_thread(browser, counter):
    for _ in range(3):
        browser.send("add", by=1)
    assert len(counter.threads) == 1
    assert get_ident() not in counter.threads


def test_a_worker_finishes_what_it_has_begun():
    done = []
    with Worker() as worker:
        worker.do(lambda: None)
        worker._thread.submit(lambda: (time.sleep(0.01), done.append(1)))
    assert done == [1]


def test_fields_are_read_as_what_they_are():
    fields = Fields({"a": ["x", " 7 "], "long": ["x" * (LONGEST + 1)], "on": ["1"]})
    assert (fields.text("a"), fields.texts("a"), fields.whole("a", 0, 9)) == ("7", ["x", " 7 "], 7)
    assert (fields.text("none"), fields.texts("none"), fields.ticked("none"), fields.ticked("on")) == (
        "",
        [],
        False,
        True,
    )
    assert fields.choice("a", ("6", "7")) == "7"
    with refused(InvalidArgument, "long", f"{LONGEST + 1:,}"):
        fields.text("long")
    with refused(InvalidArgument, "7"):
        fields.choice("a", ("6",))


@pytest.mark.parametrize("value", ["", "x", "1.5", "²", "٣", "--1", "9" * 99, "-1"])
def test_what_is_no_whole_number_is_refused(value):
    with refused(InvalidArgument):
        Fields({"a": [value]}).whole("a", 0, 9)
