"""What is said about a tree of several parties: on the coordinator's page, on a party's own, on a terminal."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tests.support.clinic import clinic
from tests.support.texts import check_accessible, page_text, screen_text
from veilset.joins import Split
from veilset.joins.parties.audit_log import Begin, Session
from veilset.joins.parties.coordinator import Growth, Trained
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel
from veilset.joins.parties.split_check import Cells
from veilset.joins.tree import Node, Tree
from veilset.report.parties import (
    SecureTraining,
    learned,
    secure_facts,
    secure_report,
    secure_tree_facts,
    with_splits,
)
from veilset.report.parties_own import OwnTraining, cell_sentences, own_report
from veilset.report.parties_review import Review, print_review, review_facts
from veilset.report.terminal_parties import growth_table, log_facts, print_log, print_secure

RUN = "0" * 32
OWN = {0: Split("visits", "age", "number", 52)}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return clinic(tmp_path_factory.mktemp("parties"), study={"title": "Who comes back"})


@pytest.fixture(scope="module")
def home(three):
    return three.home("clinic")


def a_tree():
    leaves = Node((8, 0), 2), Node((4, 4), 2)
    inner = Node((12, 4), 1, PrivateSplit("patients", number=1), 0.3, leaves)
    return Tree(("no", "yes"), Node((12, 12), 0, PrivateSplit("visits", number=0), 0.5, (inner, Node((0, 8), 1))))


@pytest.fixture(scope="module")
def training(home):
    model = SecureModel.of(a_tree(), RUN, home.study, identical=True)
    return SecureTraining(
        home.study, Trained(model, model.tree(), {"clinic": (4118, 4656), "registry": (2583, 4163)}, 1.25)
    )


@pytest.fixture(scope="module")
def own(home, training):
    cells = Cells(6)
    cells._refine(np.arange(2, dtype=np.int32), np.array([1, 2]))
    begin = Begin(RUN, home.study.hash, {}, {}, {})
    session = Session(
        begin, "2026-05-01T10:00:00", "finished", {"registry": 4, "clinic": 9}, {"registry": 664, "clinic": 9}
    )
    return OwnTraining(home, training.run.model, OWN, {0: cells}, session)


def told(text):
    text = re.sub(r"\b(?:[0-9a-f]{4}\s){7,15}[0-9a-f]{4}\b", "FINGERPRINT", text)
    return re.sub(r"\b[0-9a-f]{64}\b", "HASH", re.sub(r"127\.0\.0\.1:\d+ *", "ADDRESS ", text))


def test_what_the_page_of_the_coordinator_says(training, snapshot):
    assert told(page_text(secure_report(training))) == snapshot


def test_what_the_page_of_a_party_says(own, snapshot):
    assert told(page_text(own_report(own))) == snapshot


def test_pages_are_self_contained_and_accessible(training, own):
    for page in (secure_report(training), own_report(own)):
        assert page.startswith("<!doctype html>")
        assert "<script" not in page
        assert "http" not in page.replace("http-equiv", "")
        check_accessible(page, charts=5)


def test_criteria_are_on_the_page_of_their_owner_only(training, own):
    assert "age ≤ 52" in own_report(own)
    for text in (secure_report(training), json.dumps(secure_facts(training)), screen_text(print_secure, training)):
        assert "≤ 52" not in text


def test_a_tree_that_suppresses_is_not_called_identical(training):
    changed = training.run.model.model_copy(update={"identical": False})
    other = SecureTraining(training.study, replace(training.run, model=changed))
    assert "can differ from the tree of the joined table" in page_text(secure_report(other))
    assert not secure_facts(other)["identical"]


def test_what_the_terminal_says(training, snapshot):
    assert told(screen_text(print_secure, training)) == snapshot


def test_what_each_has_learned(training, tmp_path):
    found = learned(training.study)
    assert {name: len(lines) for name, lines in found.items()} == {"clinic": 5, "registry": 3, "pharmacy": 3}
    assert "how many keys clinic has in all" in found["registry"][1]
    assert "rows of pharmacy go with each of its keys, from the counts of clinic" in found["registry"][2]
    hidden = clinic(tmp_path / "hidden", policy="suppress")
    for join in hidden.joins:
        join["pad"] = True
    hidden.write()
    told = learned(hidden.home("clinic").study)["registry"][1]
    assert "in all" not in told
    assert "have left the join" in told
    secret = clinic(tmp_path / "secret", study={"winner": "secret"}).home("clinic").study
    assert any("not the gains" in line for line in learned(secret)["clinic"])


def test_facts_are_json(training, own):
    facts = json.loads(json.dumps(secure_facts(training), allow_nan=False))
    assert facts["splits_by_party"] == {"clinic": 1, "registry": 1, "pharmacy": 0}
    assert facts["bytes"]["registry"] == {"sent": 2583, "received": 4163}
    shown = secure_tree_facts(training.run.model, with_splits(training.run.model, own.splits))["nodes"]
    assert shown[0]["split"] == {"table": "visits", "column": "age", "kind": "number", "value": 52}
    assert shown[1]["split"] == {"table": "patients", "number": 1}


def test_cells(own):
    first, second = cell_sentences(own)
    assert "into 3 cells" in first
    assert "2 can be told from all others" in first
    assert "no split summary was sent to pharmacy" in second


def growth(count):
    nodes = {0: a_tree().root} | {number: Node((1, number), 3) for number in range(1, count)}
    return Growth("Growing level 3 of the tree", nodes, {"clinic": (10, 20), "registry": (1_000_000, 5)})


@pytest.mark.parametrize("count", [2, 40])
def test_growth(count, training, snapshot):
    def show(console: Console) -> None:
        console.print(growth_table(growth(count), training.study.owners))

    assert screen_text(show) == snapshot


def test_review(home):
    review = Review(home)
    assert review.objection is None
    assert json.loads(json.dumps(review_facts(review)))["columns"]["visits"]["class"] == "back"
    assert "Who comes back" in screen_text(lambda console: print_review(review, console))


def test_log(own):
    sessions = [own.session]
    assert log_facts(sessions, "clinic", ["a warning"])["sessions"][0]["sent"] == {
        "registry": {"messages": 4, "bytes": 664}
    }
    text = screen_text(lambda console: print_log(sessions, "clinic", ["a warning"], console))
    assert "664" in text
    assert "a warning" in text
    assert "2026-05-01 10:00:00 UTC: finished" in text
