"""The example of the thesis (figures 2 and 4 to 6), number by number, on tables that were rebuilt from it."""

import numpy as np
import pyarrow as pa
import pytest

from veilset import _native
from veilset.joins import JoinClassifier, JoinGraph
from veilset.joins.classes import class_codes
from veilset.joins.columns import attributes
from veilset.joins.keys import KeyRule
from veilset.joins.linked import LinkedTables
from veilset.joins.propagation import propagate_classes, propagate_splits
from veilset.joins.pruning import expected_errors
from veilset.joins.site import ROOT, Criterion, Site
from veilset.joins.summaries import from_words, to_words
from veilset.limits import Limits

T1 = pa.table({"J1": ["a", "b", "b", "b"], "J2": ["x", "x", "y", "y"], "Class": ["C1", "C2", "C1", "C2"]})
T2 = pa.table({"J1": ["a", "c", "b", "a"], "Age": [3, 9, 7, 20]})
T3 = pa.table({"J2": ["x", "y", "x"]})
TABLES = {"T1": T1, "T2": T2, "T3": T3}
JOINS = [("T1.J1", "T2.J1"), ("T1.J2", "T3.J2")]
J1, J2 = ("a", "b"), ("x", "y")  # the shared join values of either edge


@pytest.fixture
def sites():
    graph = JoinGraph.of({name: table.column_names for name, table in TABLES.items()}, JOINS)
    linked = LinkedTables.of(TABLES, graph, KeyRule())
    asked = {name: attributes(table, table.column_names[: 2 if name != "T3" else 1]) for name, table in TABLES.items()}
    made = linked.sites(asked, 2, False, Limits())
    made["T1"].start(class_codes(T1, "Class")[0])
    return made


@pytest.fixture
def graph():
    return JoinGraph.of({name: table.column_names for name, table in TABLES.items()}, JOINS)


@pytest.fixture
def told(monkeypatch):
    """The class summaries and the split summaries in the order in which they were sent, as the thesis writes them."""
    sent = []
    summary, split_summary = Site.class_summary, Site.split_summary

    def named(edge, entries):
        return {(J1, J2)[edge][key]: counts for key, counts in entries.items()}

    def class_summary(site, edge):
        made = summary(site, edge)
        sent.append((site.table, edge, named(edge, made.entries())))
        return made

    def split(site, edge, nodes, children):
        made = split_summary(site, edge, nodes, children)
        sent.append((site.table, edge, named(edge, made.entries()[0])))
        return made

    monkeypatch.setattr(Site, "class_summary", class_summary)
    monkeypatch.setattr(Site, "split_summary", split)
    return sent


def cls(site, node=ROOT):
    """The class counts of the rows that reach a node."""
    rows, words = site.rows_at(node)
    counts = from_words(words, 1)
    return {row: tuple(counts[2 * at : 2 * at + 2]) for at, row in enumerate(rows.tolist())}


def gain(left, both):
    return _native.joins.gain(to_words(left, 2), to_words(both, 2)) * 2.0**-48


def test_class_propagation(sites, graph, told):
    """Both phases, in the order of moves. Row 1 of T2 is dropped: nothing has its join value, c."""
    propagate_classes(sites, graph, "T1")
    assert told == [
        ("T1", 0, {"a": (1, 0), "b": (1, 2)}),
        ("T2", 0, {"a": (2, 0), "b": (1, 2)}),
        ("T1", 1, {"x": (2, 1), "y": (1, 1)}),
        ("T3", 1, {"x": (4, 2), "y": (1, 1)}),
        ("T1", 0, {"a": (4, 0), "b": (1, 3)}),
    ]
    assert cls(sites["T1"]) == {0: (4, 0), 1: (0, 2), 2: (1, 0), 3: (0, 1)}
    assert cls(sites["T2"]) == {0: (2, 0), 2: (1, 3), 3: (2, 0)}
    assert cls(sites["T3"]) == {0: (2, 1), 1: (1, 1), 2: (2, 1)}
    assert {site.counts(ROOT) for site in sites.values()} == {(5, 3)}


def test_avc_sets_and_gains(sites, graph):
    propagate_classes(sites, graph, "T1")
    avc = {
        attribute.name: dict(_avc(site, attribute))
        for site in sites.values()
        for attribute in site.attributes
        if (site.table, attribute.name) != ("T2", "J1")
    }
    assert avc["J1"] == {"a": (4, 0), "b": (1, 3)}
    assert avc["J2"] == {"x": (4, 2), "y": (1, 1)}
    assert avc["Age"] == {3: (2, 0), 7: (1, 3), 20: (2, 0)}
    assert gain((2, 0), (5, 3)) == gain((3, 3), (5, 3)) == pytest.approx(0.204434, abs=5e-7)
    assert gain((4, 0), (5, 3)) == pytest.approx(0.548795, abs=5e-7)
    assert gain((4, 2), (5, 3)) == pytest.approx(0.015712, abs=5e-7)
    assert gain((5, 0), (5, 3)) == pytest.approx(0.954434, abs=5e-7)  # a pure split gains all: H
    assert gain((1, 3), (3, 3)) == pytest.approx(0.459148, abs=5e-7)
    assert gain((0, 2), (1, 3)) == pytest.approx(0.311278, abs=5e-7)


def _avc(site, attribute):
    values = {}
    for row, counts in cls(site).items():
        value = attribute.values[int(attribute.codes[row])].as_py()
        values[value] = tuple(np.add(values.get(value, (0, 0)), counts).tolist())
    return values


@pytest.mark.parametrize(
    ("age", "to_t1", "to_t3", "children"),
    [
        (  # not Age > 10, Example 4
            7,
            {"a": ((2, 0), (2, 0)), "b": ((1, 3), (0, 0))},
            {"x": ((2, 2), (2, 0)), "y": ((1, 1), (0, 0))},
            [(3, 3), (2, 0)],
        ),
        (
            3,
            {"a": ((2, 0), (2, 0)), "b": ((0, 0), (1, 3))},
            {"x": ((2, 0), (2, 2)), "y": ((0, 0), (1, 1))},
            [(2, 0), (3, 3)],
        ),
    ],
)
def test_split_propagation(sites, graph, told, age, to_t1, to_t3, children):
    propagate_classes(sites, graph, "T1")
    told.clear()
    values = sites["T2"].attributes[1].values.to_pylist()
    sites["T2"].criteria[ROOT] = Criterion(1, values.index(age))
    nodes, numbers = np.array([ROOT]), np.array([1, 2])
    assert sites["T2"].split(nodes, numbers) == children
    propagate_splits(sites, graph, "T2", nodes, numbers)
    assert told == [("T2", 0, to_t1), ("T1", 1, to_t3)]
    assert [[site.counts(child) for child in (1, 2)] for site in sites.values()] == [children] * 3
    if age == 7:  # the tables at both children as Example 4 has them
        assert cls(sites["T1"], 1) == {0: (2, 0), 1: (0, 2), 2: (1, 0), 3: (0, 1)}
        assert cls(sites["T1"], 2) == {0: (2, 0)}
        assert cls(sites["T3"], 1) == {0: (1, 1), 1: (1, 1), 2: (1, 1)}
        assert cls(sites["T3"], 2) == {0: (1, 0), 2: (1, 0)}


def fitted(**options):
    return JoinClassifier(**options).fit(TABLES, joins=JOINS, target="T1.Class")


def test_tree():
    """Age ≤ 3 and Age ≤ 7 gain the same: the first wins. Pruning keeps all."""
    classifier = fitted()
    assert classifier.joined_rows_ == 8
    assert [(node.counts, node.split and str(node.split)) for node in classifier.tree_.root.walk()] == [
        ((5, 3), "T2.Age ≤ 3"),
        ((2, 0), None),
        ((3, 3), "T2.Age ≤ 7"),
        ((1, 3), None),
        ((2, 0), None),
    ]
    gains = [node.gain for node in classifier.tree_.root.walk()]
    assert gains == pytest.approx([0.204434, 0, 0.459148, 0, 0], abs=5e-7)
    assert classifier.tree_.to_dict() == classifier.unpruned_tree_.to_dict()


def test_tree_that_splits_join_columns():
    classifier = fitted(split_joins=True)
    assert [
        (node.counts, node.label, node.split and str(node.split)) for node in classifier.unpruned_tree_.root.walk()
    ] == [
        ((5, 3), 0, "T1.J1 = a"),
        ((4, 0), 0, None),
        ((1, 3), 1, "T1.J2 = x"),
        ((0, 2), 1, None),
        ((1, 1), 0, None),
    ]
    gains = [node.gain for node in classifier.unpruned_tree_.root.walk()]
    assert gains == pytest.approx([0.548795, 0, 0.311278, 0, 0], abs=5e-7)
    assert [(node.counts, node.split and str(node.split)) for node in classifier.tree_.root.walk()] == [
        ((5, 3), "T1.J1 = a"),
        ((4, 0), None),
        ((1, 3), None),
    ]


@pytest.mark.parametrize(
    ("counts", "leaves", "leaf_error", "tree_error"),
    [
        ((3, 3), [(1, 3), (2, 0)], 4.250847, 3.171991),
        ((5, 3), [(2, 0), (1, 3), (2, 0)], 4.447874, 4.171991),
        ((1, 3), [(0, 2), (1, 1)], 2.171991, 2.791493),
        ((5, 3), [(4, 0), (1, 3)], 4.447874, 3.343564),
    ],
)
def test_pruning(counts, leaves, leaf_error, tree_error):
    def errors(node):
        return expected_errors(sum(node), sum(node) - max(node), 0.25)

    assert errors(counts) == pytest.approx(leaf_error, abs=5e-7)
    assert sum(map(errors, leaves)) == pytest.approx(tree_error, abs=5e-7)
