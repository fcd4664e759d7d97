"""Levels that the coordinator tells: each party checks them against what it knows."""

import numpy as np
import pytest

from tests.support.errors import refused
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.frames import Message
from veilset.joins.parties.levels import asked_nodes, decided_level, proposed_level

ALIVE = {3, 4, 9}
TYPES = {"nodes": "int64", "children": "int64", "tables": "int32", "onward": "uint8", "ended": "int64"}
SPLIT = {"nodes": [3, 9], "children": [10, 11, 12, 13], "tables": [1, 0], "onward": [0, 0], "ended": []}
FOLLOW = SPLIT | {"onward": [1, 0], "ended": [3, 4, 9, 11, 12, 13]}


def message(content: dict, kind: str = "split") -> Message:
    return Message(kind, {}, {name: np.array(one, TYPES[name]) for name, one in content.items()})


def test_levels_that_make_sense():
    nodes = asked_nodes("hub", message({"nodes": [9, 3]}, "level"), ALIVE)
    level = proposed_level("hub", message(SPLIT), nodes, ALIVE, 2)
    assert level.families == {3: (1, 10, 11), 9: (0, 12, 13)}
    decided = decided_level("hub", message(FOLLOW, "follow"), level, ALIVE)
    assert decided.below == {10}
    assert [one.tolist() for one in decided.of(1, onward=True)] == [[3], [10, 11]]
    assert [one.tolist() for one in decided.of(0, onward=True)] == [[], []]
    fewer = FOLLOW | {"nodes": [9], "children": [12, 13], "tables": [0], "onward": [0]}
    assert decided_level("hub", message(fewer), level, ALIVE).below == set()


@pytest.mark.parametrize("nodes", [[], [5], [3, 3], [-1]])
def test_nodes_that_are_not_there(nodes):
    with refused(Disrupted, "hub", "'level'"):
        asked_nodes("hub", message({"nodes": nodes}, "level"), ALIVE)


@pytest.mark.parametrize(
    "changed",
    [
        {"nodes": [3, 3]},
        {"nodes": [3, 4]},
        {"nodes": [3]},
        {"tables": [1, 2]},
        {"tables": [1, -1]},
        {"tables": [1]},
        {"children": [10, 11, 12]},
        {"children": [10, 11, 12, 12]},
        {"children": [10, 11, 12, 4]},
        {"children": [0, 11, 12, 13]},
        {"onward": []},
    ],
)
def test_splits_that_make_no_sense(changed):
    with refused(Disrupted, "hub", "'split'"):
        proposed_level("hub", message(SPLIT | changed), np.array([3, 9]), ALIVE, 2)


@pytest.mark.parametrize("name", TYPES)
def test_arrays_that_are_missing_or_of_another_type(name):
    whole = message(SPLIT)
    other = Message("split", {}, whole.arrays | {name: whole.arrays[name].astype("uint64")})
    missing = Message("split", {}, {one: array for one, array in whole.arrays.items() if one != name})
    for wrong in (other, missing):
        with refused(Disrupted, "hub"):
            proposed_level("hub", wrong, np.array([3, 9]), ALIVE, 2)


@pytest.mark.parametrize(
    "changed",
    [
        {"nodes": [3, 4]},
        {"tables": [0, 0]},
        {"children": [10, 11, 12, 14]},
        {"ended": [3, 9, 99]},
        {"ended": [3, 3, 4, 9, 11, 12, 13]},
        {"onward": [0, 0]},
        {"onward": [1, 1]},
        {"onward": [2, 0]},
        {"nodes": [3, 3], "tables": [1, 1], "children": [10, 11, 10, 11], "onward": [1, 1]},
    ],
)
def test_decisions_that_make_no_sense(changed):
    level = proposed_level("hub", message(SPLIT), np.array([3, 9]), ALIVE, 2)
    with refused(Disrupted, "hub", "'follow'"):
        decided_level("hub", message(FOLLOW | changed, "follow"), level, ALIVE)
