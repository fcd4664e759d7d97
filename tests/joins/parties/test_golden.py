"""The running example of the thesis on the wire: which summaries pass between whom (SEEDS.md, figures 2 and 4-6)."""

import pytest

from tests.support.parties import Tapped, golden, run
from veilset.joins.parties.split_lists import SplitList

A, B = X, Y = 0, 1  # the shared keys in canonical order
CLASS_SUMMARIES = [
    ("p1", "p2", {A: [1, 0], B: [1, 2]}),
    ("p2", "p1", {A: [2, 0], B: [1, 2]}),
    ("p1", "p3", {X: [2, 1], Y: [1, 1]}),
    ("p3", "p1", {X: [4, 2], Y: [1, 1]}),
    ("p1", "p2", {A: [4, 0], B: [1, 3]}),
]
AGE_UP_TO_3 = [
    ("p2", "p1", {A: [[2, 0], [2, 0]], B: [[0, 0], [1, 3]]}),
    ("p1", "p3", {X: [[2, 0], [2, 2]], Y: [[0, 0], [1, 1]]}),
]
AGE_UP_TO_7 = [  # of the right child; its left child <1,3> is asked about once more, and nobody can split it
    ("p2", "p1", {A: [[0, 0], [2, 0]], B: [[1, 3], [0, 0]]}),
    ("p1", "p3", {X: [[0, 2], [2, 0]], Y: [[1, 1], [0, 0]]}),
]
J1_IS_A = [
    ("p1", "p2", {A: [[4, 0], [0, 0]], B: [[0, 0], [1, 3]]}),
    ("p1", "p3", {X: [[4, 0], [0, 2]], Y: [[0, 0], [1, 1]]}),
]
J2_IS_X = [("p1", "p2", {B: [[0, 2], [1, 1]]}), ("p1", "p3", {X: [[0, 2], [0, 0]], Y: [[0, 0], [1, 1]]})]
CONTROL = {
    "hub": ["hello", "train", "begin", "intersect", "settle", "propagate", *["level", "split", "follow"] * 3, "finish"],
    "party": [
        *["hello", "ready", "linked", "intersected", "settled", "propagated"],
        *["info", "children", "followed"] * 3,
        "finished",
    ],
}


def passed(tapped: Tapped, kind: str) -> list:
    return [(one.by, one.to, one.counts(2)) for one in tapped.between(kind)]


def trained(folder, **options):
    tapped = Tapped()
    parties = golden(folder, options=options)
    result = run(parties.train(tap=tapped))
    for frame in tapped.frames:
        if frame[0] == "coordinator":
            tapped.frames[tapped.frames.index(frame)] = ("hub", *frame[1:])
    return parties, result, tapped


def test_class_and_split_summaries(tmp_path):
    parties, result, tapped = trained(tmp_path)
    assert passed(tapped, "class summary") == CLASS_SUMMARIES
    assert passed(tapped, "split summary") == AGE_UP_TO_3 + AGE_UP_TO_7
    told = [(node.counts, node.split and node.split.table) for node in result.tree.root.walk()]
    assert told == [((5, 3), "T2"), ((2, 0), None), ((3, 3), "T2"), ((1, 3), None), ((2, 0), None)]
    assert [round(node.gain, 6) for node in result.tree.root.walk() if node.split] == [0.204434, 0.459148]
    splits = SplitList.read(parties.folder / "p2-state", result.model.run).splits
    assert [str(one) for one in splits.values()] == ["T2.Age ≤ 3", "T2.Age ≤ 7"]


def test_splits_of_join_values(tmp_path):
    parties, result, tapped = trained(tmp_path, split_joins=True)
    assert passed(tapped, "class summary") == CLASS_SUMMARIES
    assert passed(tapped, "split summary") == J1_IS_A + J2_IS_X
    told = [(node.counts, node.split and node.split.table) for node in result.tree.root.walk()]
    assert told == [((5, 3), "T1"), ((4, 0), None), ((1, 3), None)]
    splits = SplitList.read(parties.folder / "p1-state", result.model.run).splits
    assert [str(one) for one in splits.values()] == ["T1.J1 = a"]  # that of the pruned one, J2 = x, is gone


def test_nothing_else_passes(tmp_path):
    """Neighbours tell each other who they are and summaries; the coordinator is told about levels, and no summary."""
    _, _, tapped = trained(tmp_path)
    messages = [one for one in tapped.messages if one.kind != "goodbye"]
    pairs = {(one.by, one.to) for one in messages}
    assert pairs == {
        *((one, other) for pair in (("p1", "p2"), ("p1", "p3")) for one, other in (pair, pair[::-1])),
        *((one, other) for party in ("p1", "p2", "p3") for one, other in (("hub", party), (party, "hub"))),
    }
    for by, to in pairs:
        kinds = [one.kind for one in messages if (one.by, one.to) == (by, to)]
        if "hub" in (by, to):
            assert kinds == CONTROL["hub" if by == "hub" else "party"]
        else:
            assert kinds[:5] == ["hello", "intersection", "blinded keys", "promise", "twice blinded"]
            assert set(kinds[5:]) <= {"class summary", "split summary"}


@pytest.mark.parametrize("party", ["p1", "p2", "p3"])
def test_what_a_party_tells_the_coordinator(tmp_path, party):
    """Gains, counts of children, its traffic: no keys."""
    _, _, tapped = trained(tmp_path)
    told = [one.message for one in tapped.messages if (one.by, one.to) == (party, "hub")]
    for message in told[1:]:
        assert set(message.fields) <= {"sent", "received", "stages", "reason", "fault"}
        assert set(message.arrays) <= {"counts", "gains", "children", "withheld"}
    gains = [one.arrays["gains"].tolist() for one in told if one.kind == "info"]
    assert [[round(gain * 2**-48, 6) for gain in level] for level in gains] == {
        "p1": [[0.0], [0.0], [0.0]],
        "p2": [[0.204434], [0.459148], [0.0]],
        "p3": [[0.0], [0.0], [0.0]],
    }[party]


def test_each_party_is_told_how_many_of_its_keys_are_shared(tmp_path):
    """T2 has J1 = c, which T1 does not have."""
    said = []
    run(golden(tmp_path).train(tell=said.append))
    assert sorted(one for one in said if "keys" in one and "J1" in one) == [
        "T1.J1 = T2.J1: p1 has 2 of this party's 3 keys.",
        "T1.J1 = T2.J1: p2 has 2 of this party's 2 keys.",
    ]
