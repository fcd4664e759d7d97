"""Steps that would let more rows match: only what helps, and helps enough, is advised."""

import pyarrow as pa
import pytest

from veilset.joins import key_advice
from veilset.joins.graph import Edge
from veilset.joins.key_advice import better_rule
from veilset.joins.keys import KeyRule

EDGE = Edge("A", "B", (("id",),), (("id",),))


def better(left, right, steps=()):
    return better_rule(pa.table({"id": left}), pa.table({"id": right}), EDGE, KeyRule(steps))


HELPING = {
    ("zeros",): (["007", "008", "9"], ["7", "8", "1"]),
    ("case",): (["a", "B"], ["A", "b"]),
    ("strip",): (["a ", "b"], ["a", "b "]),
    ("dates",): (["2024-05-01 00:00:00"], ["2024-05-01"]),
    ("strip", "case"): (["a ", "b"], ["A", "B"]),
}


@pytest.mark.parametrize("steps", HELPING)
def test_the_steps_that_help(steps):
    assert set(better(*HELPING[steps]).steps) == set(steps)


def test_shares_are_of_rows():
    found = better(["007", "007", "007", None], ["7", "8"])
    assert (found.left, found.right) == (0.75, 0.5)


def test_steps_are_added_to_those_that_there_are():
    assert better(["007 ", "8"], ["7", "8"], ("zeros",)).steps == ("strip", "zeros")


def test_what_does_not_help_is_not_advised():
    assert better(["a", "b"], ["c", "d"]) is None
    assert better([1, 2], [3, 4]) is None
    assert better(pa.array([], pa.string()), pa.array([], pa.string())) is None
    hundred = [f"k{n}" for n in range(99)]
    assert better([*hundred, "A"], [*hundred, "a"]) is None  # one in a hundred


def test_composite_keys():
    left = pa.table({"a": ["01", "02"], "b": [1, 2]})
    right = pa.table({"a": ["1", "2"], "b": [1, 3]})
    edge = Edge("A", "B", (("a",), ("b",)), (("a",), ("b",)))
    assert better_rule(left, right, edge, KeyRule()).left == 0.5


def test_many_keys_are_not_tried(monkeypatch):
    monkeypatch.setattr(key_advice, "_MOST_KEYS", 1)
    assert better(["01", "02"], ["1", "2"]) is None
