"""``veilset search query``, ``expose``, ``serve`` and ``wrapper``: what they answer, refuse and keep."""

import json
import re
import socket

import pytest

from tests.support.commands import refusal, run
from tests.support.reader import reader_store
from tests.support.serving import served
from tests.support.web_servers import answer, recording
from veilset.cli import main
from veilset.search import Document
from veilset.search.store import Store

RESULTS = [{"title": word, "content": word, "url": f"https://{word}.example/"} for word in ("weather", "football")]


@pytest.fixture
def place(tmp_path):
    reader_store(tmp_path).close()
    return tmp_path / "search.db"


@pytest.fixture
def kept(place):
    def look(name):
        with Store.open(place) as store:
            return store.get(name)

    return look


def test_a_query_is_ranked_with_reasons(capsys, place):
    code, told = run(capsys, "search", "query", "football research", "--alpha", "auto", "--store", place)
    assert code == 0
    assert told["results"][0]["position"] == 1
    assert told["results"][0]["reasons"]["research"] == 2


def test_the_order_is_left_alone_until_a_weight_is_chosen(capsys, place):
    _, told = run(capsys, "search", "query", "football research", "--store", place)
    assert [one["rank"] for one in told["results"]] == list(range(1, len(told["results"]) + 1))
    assert "its weight is 0" in told["notes"][-1]


def test_the_original_order_uses_no_profile(capsys, place):
    _, told = run(capsys, "search", "query", "football research", "--original", "--store", place)
    assert [one["rank"] for one in told["results"]] == list(range(1, len(told["results"]) + 1))
    assert {json.dumps(one["reasons"]) for one in told["results"]} == {"{}"}


def test_an_engine_for_one_query_is_not_kept(capsys, place, kept):
    with recording(answer(json.dumps({"results": RESULTS}).encode())) as server:
        code, told = run(
            capsys, "search", "query", "news", "--engine", f"searxng:{server.address}", "--alpha", "1", "--store", place
        )
    assert (code, [one["title"] for one in told["results"]]) == (0, ["football", "weather"])
    assert kept("engine") is None
    code, log = run(capsys, "search", "expose", "--log", "--store", place)
    assert [(one["to"], one["query"], one["terms"]) for one in log["sent"]] == [
        (f"127.0.0.1:{server.port}", "news", [])
    ]


def test_an_engine_that_is_named_is_asked_from_home(capsys, place, kept):
    """Nothing goes to the server of the exposing mode that somebody has just not asked for."""
    run(capsys, "search", "expose", "--server", "http://127.0.0.1:9", "--terms", "1", "--agree", "--store", place)
    code, told = run(capsys, "search", "query", "football", "--engine", "local", "--store", place)
    assert (code, bool(told["results"]), kept("mode")) == (0, True, "exposing")
    assert run(capsys, "search", "expose", "--log", "--store", place)[1]["sent"] == []


def test_results_as_text(capsys, place, terminal):
    assert main(["search", "query", "football", "--store", str(place), "--limit", "1"]) == 0
    said = capsys.readouterr().out
    assert "1. Football" in said
    assert "football ×2" in said
    assert "more." in said


def test_exposing_changes_nothing_unless_agreed(capsys, place, kept):
    typed = [
        "search",
        "expose",
        "tea",
        "--server",
        "http://127.0.0.1:8600",
        "--terms",
        "3",
        "--hide",
        "jazz",
        "--store",
        place,
    ]
    code, told = run(capsys, *typed)
    assert (code, told["mode"], told["agreed"], told["sent_now"]) == (0, "exposing", False, [])
    assert [kept(name) for name in ("mode", "dial", "hidden", "frozen")] == [None] * 4
    assert told["request"].endswith('{"query": "tea", "terms": [["search/research", 0.4]]}')  # as it would be
    assert told["to_ask"] == {"diabetes": "health"}
    code, agreed = run(capsys, *typed, "--agree", "--allow", "diabetes")
    assert [term for term, _ in told["difference"]["added"]] == ["search/research"]
    assert {term for term, _ in agreed["sent_from_now_on"]} == {"search/research", "diabetes"}
    assert (kept("mode"), kept("dial"), kept("hidden")) == ("exposing", {"terms": 3}, ["jazz"])
    assert kept("frozen") == agreed["sent_from_now_on"]
    frozen = [[term, float(weight)] for term, weight in agreed["sent_from_now_on"]]
    assert json.loads(agreed["request"].partition("\n\n")[2])["terms"] == frozen
    _, then = run(capsys, "search", "expose", "tea", "--store", place)
    sent = json.loads(then["request"].partition("\n\n")[2])
    assert sent["terms"] == [[term, float(weight)] for term, weight in agreed["sent_from_now_on"]]


def test_only_related_terms_go_along_if_that_is_chosen(capsys, place, kept):
    def sent(*more):
        typed = ("search", "expose", "football", "--server", "http://127.0.0.1:8600", "--ratio", "1", "--store", place)
        _, told = run(capsys, *typed, *more)
        return told["related_only"], [term for term, _ in json.loads(told["request"].partition("\n\n")[2])["terms"]]

    everything = sent("--agree")
    assert {"jazz", "search/research"} <= {*everything[1]}
    related = sent("--related")
    assert related == (True, [term for term in everything[1] if term in {"football", "final/cup", "tennis"}])
    assert kept("per_query") is None
    assert sent("--related", "--agree") == sent() == related
    assert (kept("per_query"), sent("--all-terms")) == (True, everything)


def test_what_would_leave_as_text(capsys, place, terminal):
    typed = ["search", "expose", "--server", "http://127.0.0.1:8600", "--ratio", "1", "--store", str(place)]
    assert main(typed) == 0
    said = capsys.readouterr().out
    assert "With --agree, what is sent changes" in said
    assert "pseudonym" in said
    assert "(health): diabetes" in said
    assert main(["search", "expose", "--log", "--store", str(place)]) == 0
    assert "Nothing was ever sent." in capsys.readouterr().out
    with Store.open(place) as store:
        store.append("sent", {"to": "the pages of all results", "addresses": ["https://a.example/x"], "terms": []})
    assert main(["search", "expose", "--log", "--store", str(place)]) == 0
    assert "https://a.example/x" in capsys.readouterr().out
    assert main(["search", "expose", "--home", "--store", str(place)]) == 0
    assert "Nothing leaves this machine." in capsys.readouterr().out


def test_no_term_is_cut_off_however_narrow_the_terminal(tmp_path, capsys, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = [f"interest{'abcdefghijkl'[number]}" for number in range(12)]
    with Store.create(tmp_path / "long.db") as store:
        store.put(Document(f"file:///{at}", "notes", "", " ".join(words), language="en") for at in range(5))
    assert main(["search", "expose", "--min-detail", "0.5", "--store", str(tmp_path / "long.db")]) == 0
    said = "".join(re.sub(r"\b\d\.\d\b", "", capsys.readouterr().out).split())  # without the column of weights
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    "typed",
    [
        ["query", " "],
        ["query", "tea", "--engine", "google"],
        ["query", "tea", "--alpha", "2"],
        ["expose", "--hide", "no-such-interest"],
        ["expose", "--allow", "no-such-interest"],
        ["expose", "--deny", "no-such-interest"],
        ["expose", "--unhide", "jazz"],
        ["expose", "--terms", "3", "--ratio", "1"],
        ["expose", "--server", "http://example.org"],
        ["expose", "--server", "http://127.0.0.1:1", "--home"],
        ["expose", "--related", "--all-terms"],
        ["serve", "--port", "70000"],
        ["wrapper", "--engine", "local"],
        ["wrapper", "--engine", "searxng:https://a.example", "--alpha", "2"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_refused(capsys, place, typed):
    more = [] if typed[0] == "wrapper" else ["--store", place]
    refusal(capsys, "search", *typed, *more)


def test_without_a_profile_the_next_step_is_told(capsys, tmp_path):
    for verb in (["query", "tea"], ["expose"], ["serve"]):
        assert "profile build" in refusal(capsys, "search", *verb, "--store", tmp_path / "none.db")


def test_a_port_that_is_taken_is_told(capsys, place):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refusal(capsys, "search", "serve", "--port", taken.getsockname()[1], "--store", place)


def test_the_wrapper_is_a_process_that_gets_query_and_terms_alone(capsys, place, kept, tmp_path):
    """The thesis' mode as a whole: this machine, a server of its own, and the engine that it asks."""
    with recording(answer(json.dumps({"results": RESULTS}).encode())) as engine:
        wrapper = [
            "search",
            "wrapper",
            "--engine",
            f"searxng:{engine.address}",
            "--alpha",
            "1",
            "--port",
            "0",
            "--json",
        ]
        with served(*wrapper, cwd=tmp_path) as said:
            address = json.loads(said)["address"]
            run(capsys, "search", "expose", "--server", address, "--ratio", "1", "--agree", "--store", place)
            code, told = run(capsys, "search", "query", "news", "--store", place)
    assert code == 0
    assert [one["title"] for one in told["results"]] == ["football", "weather"]
    sent = b"".join(engine.requests)
    assert b"q=news" in sent
    assert not [term for term, _ in kept("frozen") if term.encode() in sent]
