"""Predictions by a secure tree are those of the central one, and say what they could not ask."""

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support.effort import repeats
from tests.support.errors import refused
from tests.support.joins import Study, random_study
from tests.support.parties import Parties, Tapped, golden, of_study, run
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.joins import JoinClassifier, Split
from veilset.joins.parties import answering
from veilset.joins.parties.answering import text_arrays
from veilset.joins.parties.audit_log import AuditLog
from veilset.joins.parties.control import hear, tell
from veilset.joins.parties.coordinator import Trained
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.predicting import Prediction, predict
from veilset.joins.parties.split_lists import models, revoke

MODES = ["path", "one round"]
GROUPS = {"hub": [], "p0": ["T0"], "p1": ["T1", "T2"]}


def prepared(folder, seed: int = 4) -> tuple[Study, Parties, Trained]:
    """A tree of half of the rows; the records are all rows, under new names."""
    study = random_study(np.random.default_rng(seed), 3, rows=60)
    parties = of_study(folder, study.every_second_row(0), GROUPS, options={"prune": 0.9})
    names = {name: [f"{name} é{at}" for at in range(60)] for name in study.tables}
    parties.new = {name: table.append_column("id", pa.array(names[name])) for name, table in study.frames.items()}
    parties.write()
    return study, parties, run(parties.train())


def asked(parties: Parties, trained: Trained, records: dict, names=("p0", "p1"), tap=None, tell=None, **options: Any):
    async def ask() -> list[Prediction]:
        async with parties.serving(names, tap=tap, tell=tell):
            return await predict(parties.coordinator(tap), trained.model, records, **options)

    return run(ask(), 30)


def identified(places: dict[str, list[int]]) -> dict[str, list[str]]:
    return {name: [f"{name} é{at}" for at in listed] for name, listed in places.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(repeats(10)))
def test_predictions_are_the_central_ones(tmp_path, mode, seed):
    study, parties, trained = prepared(tmp_path, seed)
    half = study.every_second_row(0)
    central = JoinClassifier(prune=0.9).fit(half.frames, joins=half.joins, target="T0.Class")
    rng = np.random.default_rng(seed)
    places = {name: rng.integers(0, 60, 50).tolist() for name in study.tables}
    found = asked(parties, trained, identified(places), mode=mode)
    parts = {name: table.take(places[name]) for name, table in study.frames.items()}
    labels = central.predict_joined(parts).tolist()
    assert [trained.tree.classes[one.node.label] for one in found] == labels
    assert not any(one.missing for one in found)


@pytest.mark.parametrize("mode", MODES)
def test_records_that_are_not_there_end_where_they_are_asked_about(tmp_path, mode):
    _, parties, trained = prepared(tmp_path)
    root = trained.tree.root
    first = root.split.table
    records = identified({name: [0, 1, 2, 3] for name in ("T0", "T1", "T2")})
    table = parties.new[first]
    doubled = pa.concat_tables([table, table.slice(2, 1)])
    owner = next(name for name, held in parties.holdings.items() if first in held)
    parties.new[first] = doubled
    parties.path(owner).write_text(parties.party_text(owner, parties.home(owner).study.hash))
    records[first][1] = "nobody"
    found = asked(parties, trained, records, mode=mode)
    assert [one.missing for one in found[1:3]] == [first] * 2
    assert [one.node.counts for one in found[1:3]] == [root.counts] * 2
    assert found[0].missing == found[3].missing == ""


def test_answers_off_the_path_are_not_asked_for(tmp_path):
    """Along the path, a party is asked about a record once at each of its nodes that the record reaches."""
    _, parties, trained = prepared(tmp_path)
    records = identified({name: [0, 1] for name in ("T0", "T1", "T2")})
    tapped = Tapped()
    found = asked(parties, trained, records, tap=tapped, mode="path")
    told = sum(len(one.message.arrays["places"]) for one in tapped.between("answer"))
    assert told == sum(one.node.depth for one in found)
    at_once = Tapped()
    asked(parties, trained, records, tap=at_once, mode="one round")
    answers = sum(len(one.message.arrays["answers"]) for one in at_once.between("answers"))
    assert answers == 2 * sum(node.split is not None for node in trained.tree.root.walk())


@pytest.mark.parametrize("mode", MODES)
def test_revoked_party(tmp_path, mode):
    _, parties, trained = prepared(tmp_path)
    owner = next(name for name, held in parties.holdings.items() if trained.tree.root.split.table in held)
    state = parties.folder / f"{owner}-state"
    assert models(state) == [trained.model.run]
    revoke(state, trained.model.run)
    records = identified({name: [0, 1, 2] for name in ("T0", "T1", "T2")})
    with refused(Disrupted, owner) as caught:
        asked(parties, trained, records, mode=mode)
    assert (caught.value.party, caught.value.fault) == (owner, "refused")
    found = asked(parties, trained, records, mode=mode, without=[owner])
    assert {one.missing for one in found} == {trained.tree.root.split.table}
    with refused(InvalidArgument, trained.model.run):
        revoke(state, trained.model.run)


@pytest.mark.parametrize("mode", MODES)
def test_party_that_is_gone(tmp_path, mode):
    _, parties, trained = prepared(tmp_path)
    parties.time_out = 0.5
    records = identified({name: [0, 1, 2] for name in ("T0", "T1", "T2")})
    model = trained.model
    parties.write()
    study = parties.home("p0").study
    moved = replace(trained, model=model.model_copy(update={"study": study.hash}))
    with refused(Disrupted, "p1") as caught:
        asked(parties, moved, records, names=["p0"], mode=mode)
    assert caught.value.fault == "unreachable"
    found = asked(parties, moved, records, names=["p0"], mode=mode, without=["p1"])
    assert len(found) == 3
    assert all(one.missing in ("", "T1", "T2") for one in found)


def test_no_records_at_a_party(tmp_path):
    """Its own sentence names the section that is missing; the coordinator is told that it had to stop."""
    _, parties, trained = prepared(tmp_path)
    parties.new.clear()
    parties.write()
    said: list[str] = []
    records = identified({name: [0] for name in ("T0", "T1", "T2")})
    with refused(Disrupted, "p0") as caught:
        asked(parties, trained, records, tell=said.append)
    assert "had to stop" in str(caught.value)
    assert any("[predict." in one for one in said)


def test_questions_that_make_no_sense(tmp_path):
    _, parties, trained = prepared(tmp_path)
    records = identified({name: [0, 1] for name in ("T0", "T1", "T2")})
    other = trained.model.model_copy(update={"study": "0" * 64})
    with refused(InvalidArgument, "0" * 16 + "…"):
        asked(parties, replace(trained, model=other), records)
    with refused(InvalidArgument, "nobody"):
        asked(parties, trained, records, without=["nobody"])
    with refused(InvalidArgument, 1, 2):
        asked(parties, trained, records | {"T0": records["T0"][:1]})
    with refused(InvalidArgument, trained.tree.root.split.table.join("''")):
        asked(parties, trained, {})


def test_model_that_the_party_has_never_seen(tmp_path):
    _, parties, trained = prepared(tmp_path)
    records = identified({name: [0] for name in ("T0", "T1", "T2")})
    other = trained.model.model_copy(update={"run": "f" * 32})
    with refused(Disrupted) as caught:
        asked(parties, replace(trained, model=other), records)
    assert caught.value.fault == "refused"
    traversal = trained.model.model_copy(update={"run": "../../x"})
    with refused(Disrupted) as caught:
        asked(parties, replace(trained, model=traversal), records)
    assert caught.value.fault == "unexpected"


def test_nodes_of_others_are_not_answered(tmp_path, monkeypatch):
    """A party answers at its own nodes only."""
    _, parties, trained = prepared(tmp_path)
    monkeypatch.setattr("veilset.joins.parties.predicting._number", lambda node: 99_999)
    records = identified({name: [0] for name in ("T0", "T1", "T2")})
    with refused(Disrupted) as caught:
        asked(parties, trained, records)
    assert caught.value.fault == "unexpected"


def test_predictions_are_logged(tmp_path):
    _, parties, trained = prepared(tmp_path)
    asked(parties, trained, identified({name: [0] for name in ("T0", "T1", "T2")}))
    logs = [file.read_text() for file in tmp_path.glob("p*-state/audit.jsonl")]
    assert any('"kind": "answers"' in one for one in logs)


async def _answered(parties: Parties, trained: Trained, owner: str, records: dict, questions: list) -> list:
    """What a party answers to questions that nobody but an attacker asks; a party that refuses says why."""
    async with parties.serving([owner]), AsyncExitStack() as stack:
        channel = (await parties.coordinator().connect(trained.model.run, 1, stack, [owner]))[owner]
        await tell(owner, channel, "predict")
        await hear(owner, channel, "ready")
        for table in parties.holdings[owner]:
            await tell(owner, channel, "records", {"table": table}, text_arrays(records[table]))
        found = []
        for kind, *asked in questions:
            arrays = dict(zip(("nodes", "places"), map(np.array, asked), strict=False))
            await tell(owner, channel, kind, {}, arrays)
            found.append((await hear(owner, channel, "answers", 1 << 20)).arrays["answers"].tolist())
        await tell(owner, channel, "done")
        return found


def _chain(trained: Trained, owner: str) -> tuple[int, int, int]:
    """A node of a party, the next of its nodes below that, and the answer that leads there."""
    own = {table for table, party in trained.model.owners.items() if party == owner}
    mine = [node for node in trained.tree.root.walk() if node.split is not None and node.split.table in own]
    first = next(one for one in mine if not any(one in list(above.walk())[1:] for above in mine))
    sides = zip((1, 0), first.children, strict=True)
    side, second = next((side, one) for side, child in sides for one in child.walk() if one in mine)
    return first.split.number, second.split.number, side


def test_a_party_is_no_oracle(tmp_path):
    """One kind of question a session; a record once at a node, and only where its own answers lead it."""
    _, parties, trained = prepared(tmp_path)
    records = identified({name: list(range(20)) for name in ("T0", "T1", "T2")})
    ask = partial(_answered, parties, trained, "p1", records)
    first, second, side = _chain(trained, "p1")
    places = list(range(20))
    told = run(ask([("answer", [first] * 20, places)]))[0]
    there, away = told.index(side), told.index(1 - side)
    assert len(run(ask([("answer", [first] * 20, places), ("answer", [second], [there])]))[1]) == 1
    for questions in (
        [("answer all",), ("answer all",)],
        [("answer all",), ("answer", [first], [0])],
        [("answer", [first], [0]), ("answer all",)],
        [("answer", [first, first], [0, 0])],
        [("answer", [first], [0]), ("answer", [first], [0])],
        [("answer", [second], [there])],
        [("answer", [first], [away]), ("answer", [second], [away])],
        [("answer", [first], [20])],
    ):
        with refused(Disrupted) as caught:
            run(ask(questions))
        assert caught.value.fault == "unexpected", questions


def test_a_party_answers_for_so_many_records_at_once(tmp_path, snapshot):
    _, parties, trained = prepared(tmp_path)
    for name in ("p0", "p1"):
        parties.path(name).write_text(parties.path(name).read_text().replace('id = "id"', 'id = "id"\nmost = 3'))
    records = {name: [f"{name} é{at}" for at in range(4)] for name in ("T0", "T1", "T2")}
    with refused(Disrupted, "most = 4") as caught:
        asked(parties, trained, records)
    assert caught.value.fault == "refused"
    assert str(caught.value) == snapshot
    assert len(asked(parties, trained, {name: ids[:3] for name, ids in records.items()})) == 3


def test_guessed_identifiers_are_told_and_logged(tmp_path):
    _, parties, trained = prepared(tmp_path)
    said: list[str] = []
    guesses = {name: ["nobody", f"{name} é1", "nobody either"] for name in ("T0", "T1", "T2")}
    asked(parties, trained, guesses, mode="one round", tell=said.append)
    table = trained.tree.root.split.table
    assert any(f" 2 of the identifiers for {table} name no record" in one for one in said)
    logs = [file.read_text() for file in tmp_path.glob("p*-state/audit.jsonl")]
    assert any('"unknown": ' in one for one in logs)
    owner = trained.model.owners[table]
    log = AuditLog(tmp_path / f"{owner}-state" / "audit.jsonl")
    (session,) = log.sessions()
    log.close()
    assert 0 < session.unknown < session.answers
    own = [node for node in trained.tree.root.walk() if node.split and trained.model.owners[node.split.table] == owner]
    assert session.answers == 3 * len(own)


def test_files_of_records_are_spoken_of_as_in_the_party_file(tmp_path):
    parties = golden(tmp_path)
    (tmp_path / "new.csv").write_text("id;Age\n1;3\n")
    path = parties.path("p2")
    path.write_text(path.read_text() + '[predict.T2]\npath = "new.csv"\nid = "id"\n')
    split = {1: Split("T2", "Age", "number", 3)}
    with refused(UnreadableInput, 'delimiter = ";" in [predict.T2]'):
        answering._table_truths(parties.home("p2"), "T2", split, {}, pa.array(["1"]))
