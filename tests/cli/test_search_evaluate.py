"""``veilset search evaluate``: quality against exposure by blind judgements."""

import pytest

from tests.support.commands import refusal, run
from tests.support.reader import reader_store
from veilset.cli import main
from veilset.search.store import Store


@pytest.fixture
def place(tmp_path):
    reader_store(tmp_path).close()
    return tmp_path / "search.db"


def judge(place, query, relevant):
    """Judge two results: the engine likes the weather, the reader football."""
    results = [["football", "football", "https://b.example", 2], ["weather", "rain", "https://a.example", 1]]
    with Store.open(place) as store:
        store.append("judgements", {"query": query, "results": results, "relevant": relevant})


def test_quality_against_exposure(capsys, place):
    judge(place, "news", [0])
    judge(place, "forecast", [])
    code, told = run(capsys, "search", "evaluate", "--alpha", "1", "--store", place)
    assert (code, told["queries"], told["dropped"], told["alpha"]) == (0, 1, 1, "1")
    assert told["engine"]["value"] == told["points"][0]["precision"]["value"] == 0.5
    assert told["points"][-1]["precision"]["value"] == 1
    assert told["points"][-1]["gain"] == {"value": 0.5, "low": 0.5, "high": 0.5, "count": 1}


def test_a_weight_of_zero_is_judged_as_auto_since_it_shows_nothing(capsys, place):
    judge(place, "news", [0])
    for stored in (None, "0"):
        if stored is not None:
            with Store.open(place) as store:
                store.set("alpha", stored)
        _, told = run(capsys, "search", "evaluate", "--store", place)
        assert (told["alpha"], told["points"][-1]["gain"]["value"]) == ("auto", 0)


def test_as_text(capsys, place, terminal):
    """One query decides nothing, and is said to."""
    judge(place, "news", [0])
    judge(place, "forecast", [])
    assert main(["search", "evaluate", "--store", str(place), "--alpha", "1"]) == 0
    told = capsys.readouterr().out
    assert "no sign" in told
    assert "1 query says little: judge 20 or more" in told
    assert "Not counted: 1 without a relevant result" in told


@pytest.mark.parametrize(("relevant", "sentence"), [([0], "improves"), ([1], "worse")])
def test_many_queries_decide(capsys, place, terminal, relevant, sentence):
    for at in range(20):
        judge(place, f"news {at}", relevant)
    assert main(["search", "evaluate", "--store", str(place), "--alpha", "1"]) == 0
    told = capsys.readouterr().out
    assert sentence in told
    assert "judge 20" not in told


def test_nothing_judged(capsys, place):
    assert "judged" in refusal(capsys, "search", "evaluate", "--store", place)
    judge(place, "forecast", [])
    assert "relevant" in refusal(capsys, "search", "evaluate", "--store", place)
    judge(place, "news", [0])
    refusal(capsys, "search", "evaluate", "--store", place, "--alpha", "2", values=("--alpha", "2"))
