"""The dry run of a party is what it then sends: to whom, and no larger."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.clinic import clinic
from tests.support.parties import Tapped, golden, run
from veilset.joins.parties.planning import planned

KINDS = {
    "blinded keys": "join values, blinded",
    "twice blinded": "its join values, blinded again",
    "kept keys": "which join values stay, each round",
    "class summary": "class summary",
    "propagated": "class counts of the join",
    "info": "gain of the best split",
    "split summary": "split summary",
    "children": "class counts of children",
    "level": "who splits which nodes",
    "split": "who splits which nodes",
    "follow": "who splits which nodes",
    "finish": "the tree, without criteria",
}
BY_LEVEL = ("info", "children", "level", "split", "follow")
SHORT = {"hello", "intersection", "promise", "ready", "linked", "intersected", "kept", "settled", "followed"}
SHORT |= {"finished", "failed", "goodbye", "train", "begin", "intersect", "keep", "settle", "propagate"}


@pytest.mark.parametrize(("depth", "policy"), [(2, "report"), (None, "report"), (3, "suppress")])
def test_no_message_is_larger_than_announced(depth, policy, tmp_path):
    three = clinic(tmp_path, options={} if depth is None else {"max_depth": depth})
    three.joins[1].update(policy=policy, floor=2)
    three.write()
    assert kinds_within(three, depth, policy) == KINDS.keys() - ({"kept keys"} if policy == "report" else set())


def test_who_splits_each_node_of_a_level_announces_as_much(tmp_path):
    assert "children" in kinds_within(golden(tmp_path, options={"max_depth": 2}), 2, "report")


def test_a_coordinator_without_tables_announces_the_tree(tmp_path):
    announced = planned(golden(tmp_path, options={"max_depth": 2}).home("hub")).sendings
    nodes = [(one.to, one.times, one.entries) for one in announced if one.message == KINDS["finish"]]
    assert nodes == [("p1", 1, 7), ("p2", 1, 7), ("p3", 1, 7)]
    assert {one.message for one in announced} == {KINDS["level"], KINDS["finish"]}


def kinds_within(parties, depth, policy):
    """The kinds of messages of a run, all in the dry run with all their arrays; those that are not have none."""
    tapped, seen = Tapped(), set()
    nodes = len(run(parties.train(tap=tapped)).model.nodes)
    coordinator = parties.names[0]
    sent = [replace(one, by=coordinator) if one.by == "coordinator" else one for one in tapped.messages]
    for name in parties.names:
        announced, passed = planned(parties.home(name)).sendings, Counter()
        for one in [one for one in sent if one.by == name != one.to]:
            size = sum(array.nbytes for array in one.message.arrays.values())
            if one.kind in SHORT:
                assert size == 0, one.kind
                continue
            seen.add(one.kind)
            most = [said.bytes for said in announced if (said.to, said.message) == (one.to, KINDS[one.kind])]
            if depth is None and one.kind == "finish":
                assert size <= nodes * most[0]  # said for one node
            elif depth is None and one.kind in (*BY_LEVEL, "split summary"):
                assert size <= 4 * most[0], one.kind  # likewise; no level has more than four
            elif policy == "report" and one.kind in BY_LEVEL:
                assert size <= most[passed[one.kind, one.to]], one.kind  # a level each
            else:
                assert size <= max(most), one.kind
            passed[one.kind, one.to] += 1
    return seen


def test_secret_winners_and_suppression(tmp_path):
    secret = planned(clinic(tmp_path / "secret", study={"winner": "secret"}).home("registry"))
    assert "gain of the best split" not in {one.message for one in secret.sendings}
    assert any("more than 1 of all parties" in note for note in secret.notes)
    suppressing = planned(clinic(tmp_path / "suppress", policy="suppress").home("clinic"))
    assert [one.to for one in suppressing.sendings if one.message.startswith("which join values stay")] == [
        "registry",
        "pharmacy",
    ]


def test_the_first_keys_are_shown(tmp_path):
    assert planned(clinic(tmp_path).home("registry")).previews[0].keys == ("p1", "p2", "p3")
