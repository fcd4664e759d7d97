"""The dry run of a party is what it then sends: to whom, and no larger."""

import pytest

from tests.support.clinic import clinic
from tests.support.parties import Tapped, run
from veilset.joins.parties.planning import planned

KINDS = {
    "class summary": "class summary",
    "split summary": "split summary",
    "children": "class counts of children",
    "propagated": "class counts of the join",
}


@pytest.mark.parametrize("depth", [2, None])
def test_no_message_is_larger_than_announced(depth, tmp_path):
    options = {} if depth is None else {"max_depth": depth}
    three = clinic(tmp_path, options=options)
    tapped = Tapped()
    run(three.train(tap=tapped))
    for name in ("registry", "pharmacy"):
        announced = planned(three.home(name)).sendings
        sent = [one for one in tapped.messages if one.by == name and one.kind in KINDS]
        assert {one.kind for one in sent} >= {"class summary", "children", "propagated"}
        for one in sent:
            largest = max(said.bytes for said in announced if said.to == one.to and said.message == KINDS[one.kind])
            size = sum(array.nbytes for label, array in one.message.arrays.items() if label in ("keys", "counts"))
            nodes = 1 if depth is not None or one.kind in ("class summary", "propagated") else 4
            assert size <= nodes * largest, one.kind


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
