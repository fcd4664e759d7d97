"""The dry run of a party is what it then sends: to whom, and no larger."""

from collections import Counter

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
}
SHORT = {"hello", "intersection", "promise", "ready", "linked", "intersected", "kept", "settled", "followed"}
SHORT |= {"finished", "failed", "goodbye"}


@pytest.mark.parametrize(("depth", "policy"), [(2, "report"), (None, "report"), (3, "suppress")])
def test_no_message_is_larger_than_announced(depth, policy, tmp_path):
    three = clinic(tmp_path, options={} if depth is None else {"max_depth": depth})
    three.joins[1].update(policy=policy, floor=2)
    three.write()
    assert kinds_within(three, depth, policy) == KINDS.keys() - ({"kept keys"} if policy == "report" else set())


def test_who_splits_each_node_of_a_level_announces_as_much(tmp_path):
    assert "children" in kinds_within(golden(tmp_path, options={"max_depth": 2}), 2, "report")


def kinds_within(parties, depth, policy):
    """The kinds of messages of a run, all in the dry run with all their arrays; those that are not have none."""
    tapped, seen = Tapped(), set()
    run(parties.train(tap=tapped))
    for name in [name for name in parties.names if parties.holdings[name]]:
        announced, passed = planned(parties.home(name)).sendings, Counter()
        for one in [one for one in tapped.messages if one.by == name != one.to]:
            size = sum(array.nbytes for array in one.message.arrays.values())
            if one.kind in SHORT:
                assert size == 0, one.kind
                continue
            seen.add(one.kind)
            most = [said.bytes for said in announced if (said.to, said.message) == (one.to, KINDS[one.kind])]
            if depth is None and one.kind in ("info", "split summary", "children"):
                assert size <= 4 * most[0], one.kind  # said for one node; no level has more than four
            elif policy == "report" and one.kind in ("info", "children"):
                assert size <= most[passed[one.kind]], one.kind  # a level each
            else:
                assert size <= max(most), one.kind
            passed[one.kind] += 1
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
