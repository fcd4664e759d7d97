"""All that leaves the machine, byte for byte: at home the query, in the exposing mode the preview, and nothing else."""

import asyncio
import contextlib
import json
import socket

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.reader import reader_store
from tests.support.web_servers import answer, recording
from veilset.errors import InvalidArgument
from veilset.search import Result, wrapper
from veilset.search.asking import HEADERS, Answer, NoAnswer
from veilset.search.desk import Desk
from veilset.search.engines import Found, SearXNG
from veilset.search.exposing_server import wrapper_app
from veilset.search.fetching import Fetcher

WORDS = ["football", "research", "weather"]


def engine_page(_request):
    entries = [
        {"title": f"{word} news", "content": f"all about {word}", "url": f"https://{word}.example/"} for word in WORDS
    ]
    return answer(json.dumps({"results": entries}).encode())


class Engine:
    """What the wrapper on a server asks; it keeps what it was asked."""

    name, destination = "x", "engine.example"

    def __init__(self):
        self.asked = []

    def search(self, query, limit=50):
        self.asked.append(query)
        return Found(
            [Result(word, f"all about {word}", f"https://{word}.example/", at) for at, word in enumerate(WORDS, 1)]
        )


def through(app, request):
    """What an application answers to a recorded request."""
    head, _, body = request.partition(b"\r\n\r\n")
    method, path, _ = head.split(b"\r\n")[0].decode().split()

    async def sending():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            return await client.request(method, path, content=body, headers=_headers(head))

    got = asyncio.run(sending())
    return answer(got.content, f"{got.status_code} X")


def _headers(head):
    pairs = (line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
    return [(name, value) for name, value in pairs if name.lower() in ("content-type", "origin", "sec-fetch-site")]


@pytest.fixture
def connections(monkeypatch):
    """Where this process connects to; a list that grows."""
    made = []
    connect = socket.socket.connect

    def noted(self, address):
        made.append(address)
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    return made


@pytest.fixture
def store(tmp_path):
    with reader_store(tmp_path) as store:
        yield store


def test_the_embedded_engine_opens_no_connection(store, connections):
    reply = Desk(store).search("football")
    assert reply.ranked
    assert (connections, store.entries("sent")) == ([], [])


def test_ranking_at_home_sends_the_query_and_nothing_else(store, connections):
    with recording(engine_page) as server:
        desk = Desk(store)
        desk.choose(engine=f"searxng:{server.address}")
        preview = desk.preview("football café")
        reply = desk.search("football café")
    assert reply.ranked[0].reasons["football"] == 2
    first, second = (SearXNG(server.address).message("football café", page).wire for page in (1, 2))
    assert preview.message.wire == first
    assert server.requests == [first, second]
    assert {*connections} == {("127.0.0.1", server.port)}
    lines = first.decode().partition("\r\n\r\n")[0].split("\r\n")
    assert lines == [
        "POST /search HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "User-Agent: veilset",
        "Accept: application/json",
        "Accept-Encoding: identity",
        "Connection: close",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 41",
    ]
    assert first.endswith(b"\r\n\r\nq=football+caf%C3%A9&format=json&pageno=1")


def test_what_is_sent_does_not_depend_on_the_profile(tmp_path):
    """Two people with different profiles send the same bytes."""
    sent = []
    with recording(engine_page) as server:
        for name, hidden in (("a", []), ("b", ["search/research", "jazz"])):
            (tmp_path / name).mkdir()
            with reader_store(tmp_path / name, hidden=hidden, engine=f"searxng:{server.address}") as store:
                Desk(store).search("football")
            sent.append(server.requests.copy())
            server.requests.clear()
    assert sent[0] == sent[1]


def test_the_exposing_mode_sends_the_preview_byte_for_byte(store, connections):
    engine = Engine()
    with recording(lambda request: through(wrapper_app(engine, "0.6", "thesis"), request)) as server:
        desk = Desk(store)
        desk.choose(mode="exposing", server=server.address, dial={"ratio": "1"})
        desk.refresh(desk.proposed().digest)
        previews = [desk.preview(query).message.wire for query in ("football", "research")]
        replies = [desk.search(query) for query in ("football", "research")]
    assert server.requests == previews
    assert {*connections} == {("127.0.0.1", server.port)}
    head, _, body = previews[0].partition(b"\r\n\r\n")
    sent = json.loads(body)
    assert sent == {"query": "football", "terms": [[term, float(weight)] for term, weight in desk.frozen.pairs]}
    assert all(round(weight, 1) == weight for _, weight in sent["terms"])
    names = [line.partition(b":")[0].decode() for line in head.split(b"\r\n")[1:]]
    assert names == [name for name in HEADERS if name != "Authorization"]
    assert engine.asked == ["football", "research"]
    assert {one.result.title: one.reasons for one in replies[1].ranked}["research"] == {"research": 2}
    assert "diabetes" not in previews[0].decode()


def test_the_log_has_what_was_sent_before_it_is(store):
    """Also if nobody answers: it may have arrived."""
    with recording(b"") as server:
        pass
    desk = Desk(store)
    desk.choose(mode="exposing", server=server.address, dial={"terms": 1})
    desk.refresh(desk.proposed().digest)
    with refused(NoAnswer):
        desk.search("tea")
    (entry,) = store.entries("sent")
    assert entry == {
        "at": entry["at"],
        "to": f"127.0.0.1:{server.port}",
        "query": "tea",
        "terms": [[term, float(weight)] for term, weight in desk.frozen.pairs],
    }


def test_a_search_without_the_profile_sends_no_term(store):
    engine = Engine()
    with recording(lambda request: through(wrapper_app(engine, "0.6", "thesis"), request)) as server:
        desk = Desk(store)
        desk.choose(mode="exposing", server=server.address, dial={"ratio": "1"})
        desk.refresh(desk.proposed().digest)
        reply = desk.search("research", personal=False)
    assert json.loads(server.requests[0].partition(b"\r\n\r\n")[2]) == {"query": "research", "terms": []}
    assert [one.result.rank for one in reply.ranked] == [1, 2, 3]


def test_pages_are_fetched_for_all_results_only_if_asked_for(store):
    def page(_request):
        return answer(b"research research", kind="text/html")

    with recording(engine_page) as server, recording(page) as pages:
        fetcher = Fetcher(
            lambda body, kind: body.decode(),
            addresses=lambda host, port: ["127.0.0.1"],
            ports=(("http", pages.port), ("https", 443)),
        )
        desk = Desk(store, fetcher)
        desk.choose(engine=f"searxng:{server.address}")
        desk.search("football")
        assert pages.requests == []
        desk.choose(fetch=True)
        reply = desk.search("football")
    assert any("3 of 3 pages could not be read" in note for note in reply.notes)  # they are https, and nobody is there
    log = [entry for entry in store.entries("sent") if "addresses" in entry]
    assert [entry["addresses"] for entry in log] == [[f"https://{word}.example/" for word in WORDS]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"query": "x"}',
        b'{"query": "", "terms": []}',
        b'{"query": 1, "terms": []}',
        b'{"query": "x", "terms": 1}',
        b'{"query": "x", "terms": [["a"]]}',
        b'{"query": "x", "terms": [["a", "1"]]}',
        b'{"query": "x", "terms": [["a", true]]}',
        b'{"query": "x", "terms": [["a", -1]]}',
        b'{"query": "x", "terms": [["a", NaN]]}',
        b'{"query": "x", "terms": [["", 1]]}',
        b'{"query": "x", "terms": [], "more": 1}',
        b'{"query": "\\ud800", "terms": []}',
        b'{"query": "x", "terms": [["\\ud800", 1]]}',
        b"[" * 10_000,
        b"\xff",
        b'{"query": "' + b"x" * 10_001 + b'", "terms": []}',
    ],
    ids=range(19),
)
def test_the_server_takes_a_query_with_terms_and_nothing_else(body):
    engine = Engine()
    request = b"POST /search HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" + body
    assert b" 400 " in through(wrapper_app(engine, "0.6", "thesis"), request).split(b"\r\n")[0]
    assert engine.asked == []


def test_the_server_is_only_at_one_place():
    assert b" 404 " in through(wrapper_app(Engine(), "0.6", "thesis"), b"GET / HTTP/1.1\r\n\r\n").split(b"\r\n")[0]


@pytest.mark.parametrize(
    "headers",
    [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/json\r\nOrigin: https://evil.example\r\n",
        "Content-Type: application/json\r\nSec-Fetch-Site: none\r\n",
    ],
)
def test_the_server_answers_no_page_in_a_browser(headers):
    engine = Engine()
    request = f"POST /search HTTP/1.1\r\n{headers}\r\n".encode() + b'{"query": "x", "terms": []}'
    assert b" 403 " in through(wrapper_app(engine, "0.6", "thesis"), request).split(b"\r\n")[0]
    assert engine.asked == []


def good():
    one = {"title": "t", "snippet": "s", "address": "https://a.example/", "rank": 1, "position": 1}
    return {"results": [{**one, "up_score": 1.5, "up_rank": "3/2", "pp_rank": "2", "reasons": {"tea": 2}}], "notes": []}


def spoiled(path, value):
    told = good()
    at = told
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    "given",
    [
        answer(b"nonsense"),
        answer(b"7"),
        answer(b'{"results": [{}], "notes": []}'),
        answer(spoiled(["results", 0, "up_rank"], "1/0")),
        answer(spoiled(["results", 0, "up_rank"], "1e30000000")),
        answer(spoiled(["results", 0, "up_score"], "x")),
        answer(spoiled(["results", 0, "position"], 2)),
        answer(spoiled(["results", 0, "reasons"], 7)),
        answer(spoiled(["results", 0, "rank"], 1e999)),
        answer(spoiled(["notes"], 7)),
        answer(b'{"error": "tired"}', "502 Bad Gateway"),
        answer(b"", "500 Internal Server Error"),
    ],
    ids=range(12),
)
def test_nonsense_of_a_server_is_told(store, given):
    with recording(given) as server:
        desk = Desk(store)
        desk.choose(mode="exposing", server=server.address)
        desk.refresh(desk.proposed().digest)
        with refused(NoAnswer, f"127.0.0.1:{server.port}"):
            desk.search("tea")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@examples(100)
@given(st.sampled_from(["title", "address", "rank", "position", "up_score", "up_rank", "pp_rank", "reasons"]), JSON)
def test_no_answer_of_a_server_ends_in_a_traceback(name, value):
    told = spoiled(["results", 0, name], value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrapper, "ask", lambda message, **bounds: wrapper_answer(told))
        with contextlib.suppress(NoAnswer):
            wrapper.search_exposed(wrapper.Message("GET", "http://a.example"), "q", [], log=lambda entry: None)


def wrapper_answer(body):
    return Answer(200, {}, body)


@pytest.mark.parametrize("query", ["  ", "jazz\udcff"])
def test_what_is_no_query_is_not_sent(store, connections, query):
    store.set("engine", "searxng:http://127.0.0.1:9")
    for asked in (Desk(store).search, Desk(store).preview):
        with refused(InvalidArgument):
            asked(query)
    assert (connections, store.entries("sent")) == ([], [])


def test_where_pages_lead_on_is_logged(store):
    def lead_on(request):
        return answer(b"", "302 Found", Location="/there") if b"GET / " in request else answer(b"tea", kind="text/html")

    with recording(lead_on) as pages:
        entries = [{"title": "t", "content": "c", "url": f"http://a.example:{pages.port}/"}]
        with recording(answer(json.dumps({"results": entries}).encode())) as server:
            fetcher = Fetcher(
                lambda body, kind: body.decode(),
                addresses=lambda host, port: ["127.0.0.1"],
                ports=(("http", pages.port), ("https", 443)),
            )
            desk = Desk(store, fetcher)
            desk.choose(engine=f"searxng:{server.address}", fetch=True)
            desk.search("tea")
    logged = [entry["addresses"] for entry in store.entries("sent") if "addresses" in entry]
    assert logged == [[f"http://a.example:{pages.port}/"], [f"http://a.example:{pages.port}/there"]]
