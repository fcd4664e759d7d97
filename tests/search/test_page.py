"""The page without a browser: what its actions change, refuse and show, whatever strangers wrote."""

import json
import re

import pytest

from tests.support.asking_pages import Browser, part
from tests.support.reader import reader_store
from tests.support.web_servers import answer, recording
from veilset.search import Document
from veilset.search.desk import Desk
from veilset.search.page import SearchPage, search_site
from veilset.search.ranking import DEFAULT_SCORING
from veilset.search.rules import Rule
from veilset.search.store import Store
from veilset.web.session import Session
from veilset.web.worker import Worker

EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


def browser_for(store):
    session = Session(8123)
    page = SearchPage(Desk(store))
    return Browser(search_site(page, Worker()).app(session), session), page


@pytest.fixture
def store(tmp_path):
    with reader_store(tmp_path) as store:
        yield store


@pytest.fixture
def browser(store):
    return browser_for(store)[0]


def alert(answer):
    return part(answer.text, "message") if 'role="alert"' in answer.text else ""


def test_a_first_look(browser):
    text = browser.get().text
    assert "Nothing was searched yet" in text
    assert "Why “" not in text
    assert part(text, "leaving").startswith("What leaves this machine Nothing.")
    named = {*re.findall(r"https?://[^\s\"<]*", text)}
    assert named == {"https://", "https://…", "https://…/index", "http://127.0.0.1:8600"}  # how engines are written


def test_an_empty_profile_is_no_error(tmp_path):
    with Store.create(tmp_path / "empty.db") as store:
        browser, _ = browser_for(store)
        assert "no interests yet" in browser.get().text
        assert "0 results" in browser.send("search", query="tea", personal="1").text


def test_what_strangers_write_is_text(tmp_path):
    with Store.create(tmp_path / "search.db") as store:
        store.put(Document(f"file:///{n}{EVIL}", "folder", EVIL, f"tea {EVIL}", "/x", language="en") for n in range(6))
        store.set("profile", {"min_support": 2, "languages": ["en"]})
        entry = {
            "results": [{"title": EVIL, "content": EVIL, "url": f"https://a.example/{EVIL}"}],
            "unresponsive_engines": [[EVIL, EVIL]],
        }
        evil = {**entry, "results": [*entry["results"], {"url": f"javascript:{EVIL}"}]}
        with recording(answer(json.dumps(evil).encode())) as server:
            browser, _ = browser_for(store)
            texts = [browser.send("search", query=f"tea {EVIL}", personal="1").text]
            browser.send(
                "choose",
                mode="home",
                engine=f"searxng:{server.address}",
                server="",
                alpha="0.5",
                scoring=DEFAULT_SCORING,
                sensitive=EVIL,
            )
            texts.append(browser.send("search", query=EVIL, personal="1").text)
            texts.append(browser.send("judge", query=EVIL).text)
        texts += [browser.send("switch", label=EVIL).text, browser.send("choose", mode=EVIL).text, browser.get().text]
    assert not [text for text in texts if "<img" in text or "<script>" in text]
    assert "javascript:" not in "".join(texts)


def test_only_addresses_of_the_web_are_links(store, browser):
    text = browser.send("search", query="football", personal="1").text
    assert "file:///notes/18.txt" in text
    assert 'href="file:' not in text


def test_an_engine_that_fails_is_told_and_the_rest_of_the_page_stays(store):
    with recording(b"nonsense\r\n\r\n") as server:
        store.set("engine", f"searxng:{server.address}")
        browser, _ = browser_for(store)
        answered = browser.send("search", query="tea", personal="1")
    assert f"127.0.0.1:{server.port} gave no proper answer" in alert(answered)
    assert "1 time" in part(answered.text, "log")
    assert browser.get().status_code == 200


def test_passwords_of_engines_are_not_on_the_page_of_bytes(store):
    store.set("engine", "opensearch:https://ann:secret@search.example/index")
    browser, _ = browser_for(store)
    leaving = part(browser.send("preview", query="tea").text, "leaving")
    assert "Authorization: Basic …" in leaving
    assert "YW5uOnNlY3JldA" not in leaving


def test_the_log_names_the_pages_that_were_asked_for(store, browser):
    store.append("sent", {"to": "the pages of all results", "addresses": ["https://a.example/x"], "terms": []})
    assert "asked for: https://a.example/x" in part(browser.get().text, "log")


def test_turning_and_hiding_rank_again_without_sending(store):
    entries = [{"title": word, "content": word, "url": f"https://{word}.example/"} for word in ("football", "research")]
    with recording(answer(json.dumps({"results": entries}).encode())) as server:
        store.set("engine", f"searxng:{server.address}")
        browser, page = browser_for(store)
        browser.send("search", query="news", personal="1")
        before, sent = [one.reasons for one in page.reply.ranked], len(server.requests)
        browser.send("turn", position=0, unit="share")
        assert [one.reasons for one in page.reply.ranked] == [{}, {}]
        browser.send("turn", position=len(page.desk.settings()) - 1, unit="terms")
        assert [one.reasons for one in page.reply.ranked] == before
        browser.send("switch", label="football")
        assert {} in [one.reasons for one in page.reply.ranked]
        assert len(server.requests) == sent


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("search", {"query": " "}),
        ("turn", {"position": 99, "unit": "share"}),
        ("turn", {"position": 1, "unit": "x"}),
        ("switch", {"label": "no such interest"}),
        ("switch", {}),
        ("decide", {"term": "football", "answer": "yes"}),
        ("decide", {"term": "diabetes", "answer": "perhaps"}),
        ("agree", {"seen": "x"}),
        ("choose", {"mode": "exposing", "engine": "local", "server": "", "alpha": "0.5", "scoring": DEFAULT_SCORING}),
        ("choose", {"mode": "home", "engine": "local", "server": "", "alpha": "7", "scoring": DEFAULT_SCORING}),
        (
            "choose",
            {
                "mode": "home",
                "engine": "local",
                "server": "http://example.org",
                "alpha": "0",
                "scoring": DEFAULT_SCORING,
            },
        ),
        ("order", {"by": "chance"}),
        ("judge", {"query": "zzzz"}),
        ("judged", {"end": "store"}),
        ("erase", {"sure": "Delete"}),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_with_a_next_step(store, browser, action, fields):
    before = store.to_json()
    answered = browser.send(action, **fields)
    assert answered.status_code == 200
    assert alert(answered)
    assert store.to_json() == before


def test_a_change_that_was_not_shown_is_not_agreed_to(store):
    store.set("mode", "exposing")
    store.set("server", "https://wrapper.example")
    browser, page = browser_for(store)
    seen = page.desk.proposed().digest
    page.desk.choose(dial={"ratio": "1"})
    assert "has changed since" in alert(browser.send("agree", seen=seen))
    assert page.desk.frozen_at == ""


def test_judgements_are_stored_by_position_of_a_random_order(store):
    browser, page = browser_for(store)
    orders = set()
    for _ in range(4):
        browser.send("judge", query="football tennis")
        orders.add(tuple(one.address for one in page.judging.results))
        browser.send("judged", end="leave")
    assert len(orders) > 1
    browser.send("judge", query="football tennis")
    liked = page.judging.results[2].address
    browser.send("judged", end="store", relevant=["2", "99", "x"])
    (entry,) = store.entries("judgements")
    assert [entry["results"][at][2] for at in entry["relevant"]] == [liked]
    assert "1 query" in part(browser.get().text, "cost")


def test_the_export_has_everything(store, browser):
    browser.send("search", query="tea", personal="1")
    got = browser.send("export")
    assert got.headers["content-disposition"].endswith('"veilset-search.json"')
    assert json.loads(got.content) == store.to_json()


def test_after_deleting_nothing_is_left_to_do(store, browser):
    assert "Everything was deleted" in browser.send("erase", sure="delete").text
    assert not store.path.exists()
    for action in ("search", "export", "erase", "turn"):
        assert alert(browser.send(action, query="tea"))
    assert browser.get().status_code == 200


def test_results_of_an_old_profile_go_when_another_process_changes_it(store, browser):
    assert "results for" in browser.send("search", query="football", personal="1").text
    with Store.open(store.path) as other:
        other.forget(Rule.of("word", "jazz"))
    text = browser.get().text
    assert "Nothing was searched yet" in text
    assert "jazz" not in part(text, "tree").lower()
