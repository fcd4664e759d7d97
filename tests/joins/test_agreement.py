"""A study beside a model: what it says otherwise is told, what it leaves out is not."""

import pyarrow as pa
import pytest

from veilset.joins import JoinClassifier, Study
from veilset.joins.agreement import differences

TABLES = {
    "A": pa.table({"id": ["1", "2"], "class": ["x", "y"]}),
    "B": pa.table({"id": ["1", "2"], "n": [1, 2]}),
    "C": pa.table({"id": ["1", "2"]}),
}
JOINS = ["A.id = B.id", ("B.id", "C.id")]


@pytest.fixture
def classifier():
    return JoinClassifier(keys="strip").fit(TABLES, joins=JOINS, target="A.class")


def told(classifier, **said):
    return differences(Study(tables=dict.fromkeys(TABLES, "x.csv"), **said), classifier)


def test_what_agrees(classifier):
    strip = {"keys": ["strip"], "max_depth": 3}
    assert told(classifier) == ()
    assert (
        told(classifier, target="A.class", joins=["B.id = A.id", ["A.id", "B.id"], ["C.id", "B.id"]], options=strip)
        == ()
    )
    assert told(classifier, joins=["A.id = B.id", "A.id==C.id"], options=strip) == ()  # the same columns are equal


def test_what_differs(classifier, snapshot):
    assert told(classifier, target="B.n") == snapshot
    assert told(classifier, joins=["A.id = B.id", "B.n = C.id"], options={"keys": ["strip"]}) == snapshot
    assert told(classifier, options={"keys": "exact"}) == snapshot
    assert told(classifier, options={"keys": "case,strip"}) == snapshot
    assert told(classifier, joins=["A.id = B.id", ["B.id", "C.id"]]) == snapshot
