"""Trees as text and as plain values."""

import copy
import datetime
import json
import math
import pickle

import pytest

from veilset.joins import Node, Split, Tree
from veilset.joins.tree import told

AGE, TOWN = Split("People", "age", "number", 30), Split("Towns", "name", "category", "Ulm")


@pytest.fixture
def tree():
    below = Node((2, 4), 1, TOWN, 0.2, (Node((2, 0), 2), Node((0, 4), 2)))
    return Tree(("no", "yes"), Node((12, 4), 0, AGE, 0.4, (Node((10, 0), 1), below)))


@pytest.mark.parametrize(
    ("split", "text"),
    [
        (AGE, "People.age ≤ 30"),
        (TOWN, "Towns.name = Ulm"),
        (Split("T", "x", "category", None), "T.x is missing"),
        (Split("T", "x", "category", True), "T.x = True"),
        (Split("T", "x", "number", datetime.date(2024, 5, 1)), "T.x ≤ 2024-05-01"),
    ],
)
def test_splits_as_text(split, text):
    assert str(split) == text


def test_text_of_strange_values_stays_in_its_line():
    assert "\n" not in str(Split("T", "x", "category", "a\nb\x1b[31m"))
    assert "\x1b" not in str(Split("T", "x", "category", "a\nb\x1b[31m"))


def test_size(tree):
    assert (len(tree), tree.depth, [leaf.counts for leaf in tree.leaves()]) == (5, 2, [(10, 0), (2, 0), (0, 4)])
    assert repr(tree) == "<Tree: 5 nodes, depth 2, 16 joined rows>"


def test_text(tree):
    assert tree.to_text().splitlines() == [
        "People.age ≤ 30? (16 joined rows; no: 12, yes: 4)",
        "├─ yes → no (10 joined rows; no: 10)",
        "└─ no:  Towns.name = Ulm? (6 joined rows; no: 2, yes: 4)",
        "   ├─ yes → no (2 joined rows; no: 2)",
        "   └─ no  → yes (4 joined rows; yes: 4)",
    ]


def test_counts_of_classes_that_are_numbers():
    assert Tree((0.0, 1.0), Node((362, 420))).to_text() == "1 (782 joined rows; 0: 362, 1: 420)"


READ = {
    "plain words": ("Bad Tölz-Süd", "Bad Tölz-Süd"),
    "a sign": ("?", "'?'"),
    "nothing": ("", "''"),
    "what looks like a count": ("a: 5", "'a: 5'"),
    "a blank at the end": ("a ", "'a '"),
    "a quote": ("it's", '"it\'s"'),
    "a whole float": (-3.0, "-3"),
    "a float": (0.1 + 0.2, "0.30000000000000004"),
    "a short float": (0.10000000149011612, "0.1"),
    "a large float": (1e300, "1e+300"),
    "infinity": (math.inf, "inf"),
    "a number": (12345, "12345"),
    "a truth value": (True, "True"),
    "midnight": (datetime.datetime(2024, 5, 1), "2024-05-01"),
    "noon": (datetime.datetime(2024, 5, 1, 12), "2024-05-01 12:00:00"),
    "midnight somewhere": (datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC), "2024-05-01 00:00:00+00:00"),
}


@pytest.mark.parametrize("what", READ)
def test_values_as_people_read_them(what):
    value, expected = READ[what]
    assert told(value) == expected


def test_plain_values(tree):
    plain = tree.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert [node["children"] for node in plain["nodes"]] == [[1, 2], [], [3, 4], [], []]
    assert [node["label"] for node in plain["nodes"]] == [0, 0, 1, 0, 1]


def test_importances(tree):
    """The information gained, each node weighted with its joined rows."""
    all_gained = 16 * 0.4 + 6 * 0.2
    expected = {"People": 16 * 0.4 / all_gained, "Towns": 6 * 0.2 / all_gained}
    assert tree.table_importances() == pytest.approx(expected)
    assert list(tree.importances()) == ["People.age", "Towns.name"]
    assert sum(tree.importances().values()) == pytest.approx(1)
    assert Tree(("no",), Node((3,))).importances() == {}


def test_label_is_the_first_of_the_largest_classes():
    assert [Node(counts).label for counts in [(1, 1), (0, 2, 2), (3, 1)]] == [0, 1, 0]


def test_a_tree_that_is_deeper_than_python_recurses():
    node = Node((1,), 3000)
    for depth in reversed(range(3000)):
        node = Node((3001 - depth,), depth, AGE, 0.1, (node, Node((1,), depth + 1)))
    deep = Tree(("c",), node)
    assert (len(deep), deep.depth) == (6001, 3000)
    assert len(deep.to_dict()["nodes"]) == deep.to_text().count("\n") + 1 == 6001


def deep(levels=5000):
    """A tree in which each second child has children."""
    node = Node((1, 0), levels)
    for depth in reversed(range(levels)):
        split = Split("T", "x", "number", depth)
        node = Node((levels - depth + 1, 0), depth, split, 0.1, (Node((1, 0), depth + 1), node))
    return Tree(("no", "yes"), node)


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])  # noqa: S301 - our own
def test_trees_deeper_than_python_calls(again):
    tree = deep()
    found = again(tree)
    assert (len(found), found.depth) == (10_001, 5000)
    assert found == tree
    assert [node.split for node in found.root.walk()] == [node.split for node in tree.root.walk()]
    found.leaves()[-1].counts = (0, 1)
    assert found != tree
    assert tree.leaves()[-1].counts == (1, 0)


def test_nodes_in_words(tree):
    assert repr(tree.root) == "<Node: depth 0, 16 joined rows, People.age ≤ 30>"
    assert repr(tree.leaves()[0]) == "<Node: depth 1, 10 joined rows, leaf>"
    assert tree.root != "no node"


def test_text_of_deep_trees_is_not_indented_without_end():
    lines = deep(100).to_text().splitlines()
    assert len(lines) == 201
    assert lines[79].lstrip() == "├─ yes → no (1 joined row; no: 1)"
    assert [line.strip().split(" (")[0] for line in lines[81:83]] == ["41. yes → no", "41. no:  T.x ≤ 41?"]
    assert max(map(len, lines)) < 170
