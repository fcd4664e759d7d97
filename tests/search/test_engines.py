"""Engines: what they are sent, what is made of their answers, and what is said where there is none."""

import json
from urllib.parse import parse_qs

import pytest

from tests.support.errors import refused
from tests.support.web_servers import answer, recording
from veilset.errors import InvalidArgument
from veilset.search.asking import NoAnswer
from veilset.search.engines import Embedded, OpenSearch, SearXNG, check_engine, engine_named
from veilset.search.ranking import Result


def page(*urls, unresponsive=(), **more):
    entries = [
        {"title": f"T{url}", "content": f"S {url}", "url": f"http://{url}.example/", "engine": "x"} for url in urls
    ]
    return answer(json.dumps({"results": entries, "unresponsive_engines": unresponsive, **more}).encode())


def hits(*sources, **more):
    found = [{"_id": "1", "_score": 1.0, "_source": source} for source in sources]
    return answer(json.dumps({"timed_out": False, "hits": {"hits": found}, **more}).encode())


def body_of(request):
    return request.partition(b"\r\n\r\n")[2].decode()


class Documents:
    def find(self, query, limit=50):
        return [Result(query, "", "key", 1)][:limit]


def test_the_embedded_engine_sends_nothing():
    engine = Embedded(Documents())
    assert (engine.destination, engine.search("tea").results) == ("", [Result("tea", "", "key", 1)])


def test_searxng_is_asked_page_by_page_until_there_are_enough():
    pages = [page(*(f"p{n}x{at}" for at in range(20))) for n in range(4)]
    with recording(*pages) as server:
        engine = SearXNG(server.address + "/")
        found = engine.search("café & 100% +x", 50)
    assert [result.rank for result in found.results] == list(range(1, 51))
    assert found.results[0] == Result("Tp0x0", "S p0x0", "http://p0x0.example/", 1)
    assert server.requests == [engine.message("café & 100% +x", number).wire for number in (1, 2, 3)]
    assert server.requests[0].startswith(b"POST /search HTTP/1.1\r\n")
    assert parse_qs(body_of(server.requests[2])) == {"q": ["café & 100% +x"], "format": ["json"], "pageno": ["3"]}


def test_searxng_is_not_asked_again_when_a_page_brings_nothing_new():
    with recording(page("a", "b")) as server:
        found = SearXNG(server.address).search("tea")
    assert [result.address for result in found.results] == ["http://a.example/", "http://b.example/"]
    assert len(server.requests) == 2
    with recording(page()) as server:
        assert SearXNG(server.address).search("tea").results == []
    assert len(server.requests) == 1


def test_engines_behind_searxng_that_are_silent_are_named():
    with recording(page("a", unresponsive=[["bing", "timeout"], "ddg"])) as server:
        assert any("bing, ddg" in note for note in SearXNG(server.address).search("tea").notes)
    with recording(page(unresponsive=[["bing", "timeout"]])) as server, refused(NoAnswer, "bing"):
        SearXNG(server.address).search("tea")


def test_opensearch_is_sent_text_not_operators():
    sources = [{"title": "Green  tea\n", "text": "of\tJapan", "url": "https://a.example/"}]
    with recording(hits(*sources)) as server:
        engine = OpenSearch(f"http://ann:pass@127.0.0.1:{server.port}/articles")
        found = engine.search('tea AND "x" *', 7)
    assert found.results == [Result("Green tea", "of Japan", "https://a.example/", 1)]
    assert server.requests == [engine.message('tea AND "x" *', 7).wire]
    assert server.requests[0].startswith(b"POST /articles/_search HTTP/1.1\r\n")
    assert json.loads(body_of(server.requests[0])) == {
        "size": 7,
        "_source": ["title", "text", "url"],
        "query": {"multi_match": {"query": 'tea AND "x" *', "fields": ["title^2", "text"]}},
    }
    assert "pass" not in engine.destination


def test_opensearch_says_when_it_did_not_search_everything():
    source = {"title": "a", "text": "", "url": "https://a.example/"}
    for incomplete in ({"timed_out": True}, {"_shards": {"failed": 1}}):
        with recording(hits(source, **incomplete)) as server:
            assert len(OpenSearch(f"{server.address}/i").search("a").notes) == 1


def test_results_without_an_address_of_the_web_are_counted():
    entries = [
        {"url": "javascript:alert(1)"},
        {"url": "https://a.example/", "title": None},
        {"title": "x"},
        7,
        {"url": 5},
    ]
    with recording(answer(json.dumps({"results": entries}).encode())) as server:
        found = SearXNG(server.address).search("x")
    assert [(result.title, result.address) for result in found.results] == [("https://a.example/",) * 2]
    assert any("4 results have" in note for note in found.notes)


def test_halves_of_characters_are_replaced():
    entries = [{"title": "a\ud800b", "content": "\udfff", "url": "https://a.example/\ud800"}]
    with recording(answer(json.dumps({"results": entries}).encode())) as server:
        found = SearXNG(server.address).search("x")
    assert found.results == [Result("a?b", "?", "https://a.example/?", 1)]


@pytest.mark.parametrize(
    "nonsense",
    [
        answer(b"<html>", kind="text/html"),
        answer(b"{"),
        answer(b"[" * 100_000),
        answer(b"\xff\xfe"),
        answer(b"[]"),
        answer(b"7"),
        answer(b'{"results": 7, "hits": []}'),
        answer(b'{"results": null, "hits": {"hits": {}}}'),
        answer(b'{"results": [[]], "hits": {"hits": [[]]}}'),
        answer(b'{"results": [{}], "hits": {"hits": [{"_source": 1}]}}'),
        answer(b"", "500 Internal Server Error"),
        answer(b"", "302 Found", Location="/elsewhere"),
        answer(b"", "403 Forbidden"),
        answer(b"", "404 Not Found"),
        answer(b"", "401 Unauthorized"),
        answer(b"", "429 Too Many Requests"),
        b"no HTTP at all\r\n\r\n",
    ],
    ids=range(17),
)
@pytest.mark.parametrize("kind", ["searxng", "opensearch"])
def test_nonsense_is_told_with_the_engine_s_name(kind, nonsense):
    with recording(nonsense) as server, refused(NoAnswer, f"127.0.0.1:{server.port}"):
        engine_named(f"{kind}:{server.address}/index").search("tea")


def test_a_silent_engine_is_left():
    with recording(silent=True) as server, refused(NoAnswer, "0.2"):
        SearXNG(server.address, seconds=0.2).search("tea")


def test_engines_have_names():
    assert engine_named("local", Documents()).search("x").results
    assert engine_named(" searxng:https://a.example/x/ ") == SearXNG("https://a.example/x/")
    named = engine_named("opensearch:https://a.example/i?title=headline&text=body&link=href")
    assert named == OpenSearch("https://a.example/i", title="headline", text="body", link="href")
    assert check_engine(" local ") == "local"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "google",
        "local",
        "local:x",
        "searxng",
        "searxng:a.example",
        "opensearch:https://a.example/",
        "opensearch:https://a.example/i?x=y",
    ],
)
def test_other_names_are_refused(name):
    with refused(InvalidArgument):
        engine_named(name)
