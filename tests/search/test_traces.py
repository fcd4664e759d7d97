"""What settings and judgements say of forgotten documents goes with them; what was hidden stays hidden."""

import json
import unicodedata

import pytest

from veilset.search.documents import Document
from veilset.search.people import People
from veilset.search.rules import Rule
from veilset.search.store import Store
from veilset.search.traces import Traces


def page(number: int, text: str) -> Document:
    return Document(f"https://e{number}.example.org/", "web", "", text, f"e{number}.example.org")


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "profile.db") as made:
        made.set("profile", {"min_support": 3})
        yield made


def in_file(store: Store, word: str) -> bool:
    return word.encode() in store.path.read_bytes()


def test_what_is_hidden_stays_hidden_while_any_document_has_it(store):
    store.put(page(number, "jazz cello" if number < 4 else "jazz") for number in range(6))
    store.set("hidden", ["cello/jazz", "golf"])
    gone = [store.forget(Rule.of("site", f"e{number}.example.org")).gone for number in range(4)]
    assert "jazz" in gone[3]
    assert "cello" in {term for one in gone for term in one}
    assert store.get("hidden") == ["jazz", "golf"]  # of golf no document ever said anything
    assert not in_file(store, "cello")


def test_a_hidden_word_becomes_another_of_the_same_term(store):
    store.put([page(1, "walking"), page(2, "walks")])
    store.set("hidden", ["walking"])
    store.set("allowed", {"walking": False})
    store.set("frozen", [["walking/jazz", "0.3"], ["golf", "0.1"]])
    store.forget(Rule.of("word", "walking"))
    assert store.get("hidden") == ["walks"]
    assert store.get("allowed") == {"walks": False}
    assert store.get("frozen") == [["golf", "0.1"]]
    assert not in_file(store, "walking")


def test_the_word_of_a_rule_goes_though_it_was_too_rare_for_the_profile(store):
    store.put([page(1, "custody"), page(2, "battle")])
    store.set("sensitive", ["custody battle", "street"])
    store.forget(Rule.of("word", "custody"))
    assert store.get("sensitive") == ["battle", "street"]
    assert not in_file(store, "custody")


def test_judgements_lose_forgotten_results_and_queries(store):
    store.put([page(1, "xanadu rendezvous"), page(2, "tea")])
    one, other = ["Secret", "rendezvous", "https://e1.example.org/", 1], ["Tea", "tea", "https://e2.example.org/", 2]
    store.append("judgements", {"query": "tea", "results": [one, other], "relevant": [1]})
    store.append("judgements", {"query": "xanadu", "results": [other], "relevant": []})
    would = store.forget(Rule.of("word", "xanadu"), dry_run=True)
    assert would.judged == 2
    assert store.forget(Rule.of("word", "xanadu")) == would
    (left,) = store.entries("judgements")
    assert (left["results"], left["relevant"]) == ([["", "", "", 1], other], [1])
    assert not in_file(store, "rendezvous")
    assert not in_file(store, "xanadu")


def test_logs_are_searched_for_words_of_all_letters(store):
    store.put(page(number, "müsli") for number in range(4))
    store.append("sent", {"to": "a.example", "query": "müsli", "terms": []})
    assert store.forget(Rule.of("word", "müsli")).logged == {"sent": ("müsli",)}


def test_words_are_the_same_however_letters_are_composed(store):
    apart = unicodedata.normalize("NFD", "müller")
    store.put([page(1, apart)])
    assert len(store.forget(Rule.of("word", "müller")).documents) == 1
    assert Rule.of("word", apart) == Rule.of("word", "müller")
    assert People({"jürgen"}).cut_from(unicodedata.normalize("NFD", "Jürgen plays")) == " plays"


def test_what_a_changed_document_said_is_gone(store):
    store.replace("web", [page(1, "xylograph")])
    store.replace("web", [page(1, "print")])
    assert not in_file(store, "xylograph")


def test_settings_of_any_shape_are_searched(store):
    store.put([page(1, "cello")])
    before = store.profile()
    traces = Traces(Rule.of("word", "cello"), before, before.without(["https://e1.example.org/"]))
    value = {"jazz": 1, "cello/violin": 2, "pairs": [["cello", 0.3], ["jazz", 0.1], [1], []]}
    left = {"jazz": 1, "violin": 2, "pairs": [["jazz", 0.1], [1], []]}
    assert json.loads(json.dumps(traces.left_of(value))) == left
