"""Coordinators and neighbours that follow each message's form, and ask for more than the protocol gives."""

import asyncio
import json
import secrets
from contextlib import AsyncExitStack
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from tests.support.joins import random_study
from tests.support.parties import Parties, Tapped, forging, golden, of_study, run
from veilset.joins.parties import coordinator
from veilset.joins.parties.control import hear, tell
from veilset.joins.parties.coordinator import Coordinator
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.levels import Level
from veilset.joins.parties.secure_tree import kept_splits
from veilset.joins.parties.session import Session


def test_a_level_of_many_nodes_is_noted_in_one_go(monkeypatch):
    """While it is noted, nobody hears a sign of life: what is below a level is worked out once, not for each node."""
    count, asked, plain = 30, [], Level.below.fget
    monkeypatch.setattr(Level, "below", property(lambda level: asked.append(level) or plain(level)))
    nodes, children = np.arange(count, 2 * count), np.arange(2 * count, 4 * count)
    decided = Level(nodes, children, np.zeros(count, np.int32), np.ones(count, np.uint8), nodes)
    noted: dict = {}
    noting = SimpleNamespace(
        _growth=SimpleNamespace(nodes=dict.fromkeys(range(4 * count))),
        _checkpoint=SimpleNamespace(note=lambda kind, fields, arrays: noted.update(fields), complete=lambda: None),
    )
    level = {node: SimpleNamespace(split=None, children=(), gain=0.0) for node in nodes.tolist()}
    Coordinator._note(noting, decided, level)
    assert len(asked) == 1
    assert noted["nodes"] == children.tolist()


def test_two_calls_of_the_coordinator_at_once_make_one_session(tmp_path):
    parties = golden(tmp_path)

    async def calls():
        hub, name = parties.coordinator(), secrets.token_hex(16)
        async with parties.serving(["p1"]) as servers, AsyncExitStack() as stack:
            first = (await hub.connect(name, 1, stack, ["p1"]))["p1"]
            await tell("p1", first, "train")
            await hear("p1", first, "ready")
            both = await asyncio.gather(*(hub.connect(name, at, stack, ["p1"]) for at in (2, 3)))
            answers = await asyncio.gather(*(_answer(one["p1"]) for one in both))
            sessions = [one for one in asyncio.all_tasks() if "_take_part" in str(one.get_coro())]
            assert len(sessions) == 1
            assert sessions == [servers["p1"]._session]
            return answers

    assert sorted(run(calls())) == ["closed", "ready"]


async def _answer(channel) -> str:
    try:
        await tell("p1", channel, "train")
        return (await hear("p1", channel, "ready")).kind
    except Disrupted as error:
        return error.fault


def overlapping(folder, shared: int) -> Parties:
    """Two parties with eight keys each, of which some are shared, and whose numbers are padded."""
    keys = {"clinic": range(8), "shop": range(8 - shared, 16 - shared)}
    return Parties(
        folder,
        {
            "hub": {},
            "clinic": {"T1": pa.table({"J": [*keys["clinic"]] * 5, "Class": ["a", "b"] * 20})},
            "shop": {"T2": pa.table({"J": [*keys["shop"]] * 5, "y": [*range(40)]})},
        },
        [{"on": "T1.J = T2.J", "type": "whole number", "keys": {"T1": 50, "T2": 50}, "pad": True, "policy": "report"}],
        "T1.Class",
        ["a", "b"],
        options={"max_depth": 1},
    )


def test_bytes_do_not_count_shared_keys_while_the_tree_grows(tmp_path):
    told = []
    for shared in (3, 8):
        tapped = Tapped()
        run(overlapping(tmp_path / str(shared), shared).train(tap=tapped))
        messages = [one for one in tapped.messages if one.to == "hub" and one.kind != "finished"]
        told.append(
            [(one.by, one.kind, one.message.fields["sent"]) for one in messages if "sent" in one.message.fields]
        )
        exact = [one.message.fields["sent"] for one in tapped.between("finished")]
        assert all(0 < one < 64 << 10 for one in exact)
    assert sorted(told[0]) == sorted(told[1])
    assert {volume for _, _, volume in told[0]} == {64 << 10}


def _model(arrays) -> dict:
    return json.loads(arrays["model"].tobytes())


def _larger(model) -> None:
    """All counts times a thousand, which adds up again."""
    for node in model["nodes"]:
        node["counts"] = [1000 * one for one in node["counts"]]


def _other_table(model) -> None:
    splits = [one for one in model["nodes"] if one["table"]]
    splits[-1]["table"] = next(name for name in model["owners"] if name != splits[-1]["table"])


def _other_node(model) -> None:
    splits = [one for one in model["nodes"] if one["table"]]
    splits[-1]["number"] += 1


def _split_leaf(model) -> None:
    """A leaf with a row more on each side gets children that were never made."""
    at = max(place for place, one in enumerate(model["nodes"]) if not one["table"] and sum(one["counts"]) > 1)
    leaf, last = model["nodes"][at], len(model["nodes"])
    most = max(leaf["counts"])
    taken = [int(one == most) for one in leaf["counts"]]
    rest = [one - two for one, two in zip(leaf["counts"], taken, strict=True)]
    leaf |= {"table": next(iter(model["owners"])), "number": 1, "children": [last, last + 1]}
    model["nodes"] += [{"number": 0, "counts": taken}, {"number": 0, "counts": rest}]


def _not_identical(model) -> None:
    model["identical"] = not model["identical"]


@pytest.mark.parametrize("forgery", [_larger, _other_table, _other_node, _split_leaf, _not_identical])
def test_finished_tree_that_is_not_the_one_that_was_grown(tmp_path, monkeypatch, forgery):
    parties = golden(tmp_path)

    def forge(kind, fields, arrays):
        model = _model(arrays)
        forgery(model)
        return kind, fields, {"model": np.frombuffer(json.dumps(model).encode(), np.uint8)}

    forged = forging(monkeypatch, "hub", "finish", forge, 0)
    with pytest.raises(Disrupted, match="hub has sent 'finish' that makes no sense"):
        run(parties.train())
    assert forged
    assert not [*tmp_path.glob("*-state/models/*")]


def test_splits_that_pruning_takes_away_are_not_kept(tmp_path, monkeypatch):
    """The coordinator does not prune, although the study says so."""
    study = random_study(np.random.default_rng(1), 3, rows=40)
    groups = {"hub": [], "p0": ["T0"], "p1": ["T1"], "p2": ["T2"]}
    parties = of_study(tmp_path, study, groups, options={"max_depth": 3, "prune": 0.01})
    monkeypatch.setattr(coordinator, "kept_splits", lambda root, prune: kept_splits(root, None))
    with pytest.raises(Disrupted, match="hub has sent 'finish' that makes no sense"):
        run(parties.train())
    assert not [*tmp_path.glob("*-state/models/*")]


def test_another_winner_than_the_one_that_was_compared(tmp_path, monkeypatch):
    """Gains are secret, and the coordinator lets a table split that has not won."""
    tables = {
        "p1": {"T1": pa.table({"J": [0, 1] * 12, "Class": ["a", "b"] * 12, "u": [0, 1] * 12})},
        "p2": {"T2": pa.table({"J": [0, 1] * 12, "K": [0, 1] * 12, "v": [*range(24)]})},
        "p3": {"T3": pa.table({"K": [0, 1] * 12, "w": [*range(24)]})},
    }
    on = {"T1.J = T2.J": ("T1", "T2"), "T2.K = T3.K": ("T2", "T3")}
    joins = [
        {"on": one, "type": "whole number", "keys": dict.fromkeys(ends, 9), "policy": "report"}
        for one, ends in on.items()
    ]
    study = {"winner": "secret"}
    parties = Parties(tmp_path, {"hub": {}, **tables}, joins, "T1.Class", ["a", "b"], study=study)

    def forge(kind, fields, arrays):
        assert arrays["tables"].tolist() == [0]
        return kind, fields, arrays | {"tables": np.array([1], np.int32)}

    forged = forging(monkeypatch, "hub", "split", forge, 0)
    tapped = Tapped()
    with pytest.raises(Disrupted, match="hub has sent 'split' that makes no sense"):
        run(parties.train(tap=tapped))
    assert forged
    assert not tapped.between("children", "split summary")


@pytest.mark.parametrize("options", [{"max_depth": 1}, {}], ids=["depth", "pure"])
def test_splits_that_are_passed_on_into_leaves(tmp_path, options):
    """The coordinator goes on where the study makes a leaf: who has split the node does not tell neighbours how."""
    parties, tapped = golden(tmp_path, options=options), Tapped()
    with pytest.raises(Disrupted, match="hub has sent 'follow' that makes no sense"):
        run(endless(parties, tapped))
    assert not tapped.between("split summary")


def test_levels_below_the_depth_of_the_study(tmp_path, monkeypatch):
    """Who splits the root is in league with the coordinator; the others do not go on."""
    plain = Session._goes_too_far
    monkeypatch.setattr(Session, "_goes_too_far", lambda self, *of: self._home.party != "p2" and plain(self, *of))
    parties, tapped = golden(tmp_path, options={"max_depth": 1}), Tapped()
    with pytest.raises(Disrupted, match="hub has sent 'level' that makes no sense"):
        run(endless(parties, tapped))
    assert tapped.between("split summary")
    assert {one.by for one in tapped.between("info")} == {"p1", "p2", "p3"}


async def endless(parties: Parties, tapped: Tapped):
    """A training whose coordinator knows no leaves."""
    async with parties.serving(tap=tapped):
        hub = parties.coordinator(tap=tapped)
        hub._stop = lambda node: False
        return await hub.train()
