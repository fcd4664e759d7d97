"""Predictions for columns of every type that a tree can be grown on, and for values that it has never seen."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins import JoinClassifier

CLASSES = ["a", "a", "b", "b"]


def milliseconds(*values):
    return pa.array(values, pa.timestamp("ms"))


COLUMNS = {
    "int8": pa.array([1, 1, 2, 2], pa.int8()),
    "uint64": pa.array([2**63 + 1, 2**63 + 1, 2**63 + 5, None], pa.uint64()),
    "float16": pa.array(np.array([0.1, 0.1, 0.3, np.nan], np.float16)),
    "float32": pa.array([0.1, 0.1, 0.3, None], pa.float32()),
    "infinite": pa.array([-np.inf, -np.inf, 0.0, np.inf]),
    "decimal": pa.array([Decimal("1.10"), Decimal("1.10"), Decimal("2.20"), None]),
    "decimal32": pa.array([Decimal("1.10")] * 2 + [Decimal("2.20")] * 2, pa.decimal32(5, 2)),
    "boolean": pa.array([True, True, False, False]),
    "missing boolean": pa.array([None, None, False, False]),
    "date": pa.array([datetime.date(2024, 2, 29)] * 2 + [datetime.date(2024, 3, 1)] * 2),
    "date64": milliseconds(0, 0, 86_400_000, 86_400_000).cast(pa.date64()),
    "timestamp": pa.array([1, 1, 2, None], pa.timestamp("us")),
    "in nanoseconds": pa.array([1000, 1000, 2000, None], pa.timestamp("ns")),
    "with a time zone": pa.array([1, 1, 2, 3], pa.timestamp("us", "Europe/Berlin")),
    "time": pa.array([1, 1, 2, 2], pa.time32("s")),
    "duration": pa.array([1000, 1000, 2000, 2000], pa.duration("ns")),
    "text": pa.array(["p", "p", "q", None]),
    "missing text": pa.array([None, None, "q", "r"]),
    "large text": pa.array(["p", "p", "q", "q"], pa.large_string()),
    "text views": pa.array(["p", "p", "q", None], pa.string_view()),
    "decomposed": pa.array(["\u00e9", "\u00e9", "e\u0301", "e\u0301"]),
    "dictionary": pa.array(["p", "p", "q", None]).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays([0, 0, 1, 1], pa.array(["p", "q"], pa.string_view())),
    "dictionary of numbers": pa.array([1.5, 1.5, 2.0, None]).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array(["p", "p", "q", "q"])),
    "runs of numbers": pc.run_end_encode(pa.array([1, 1, 2, 2])),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_every_type_that_trees_are_grown_on(column):
    tables = {"T": pa.table({"x": column, "Class": CLASSES})}
    fitted = JoinClassifier(prune=None).fit(tables, target="T.Class")
    assert len(fitted.tree_) == 3
    assert fitted.predict(tables).tolist() == fitted.predict_joined(tables).tolist() == CLASSES
    chunked = {"T": pa.concat_tables([tables["T"].slice(0, 1), tables["T"].slice(1)])}
    assert fitted.predict(chunked).tolist() == fitted.predict_joined(chunked).tolist() == CLASSES
    none = {"T": tables["T"].slice(0, 0)}
    assert fitted.predict(none).tolist() == []


@pytest.mark.parametrize("of", [pa.timestamp("ns"), pa.time64("ns"), pa.duration("ns")], ids=str)
def test_times_that_no_split_can_name(of):
    tables = {"T": pa.table({"x": pa.array([1, 1, 2, 2], of), "Class": CLASSES})}
    with refused(InvalidArgument, "'x'", of):
        JoinClassifier().fit(tables, target="T.Class")


def fitted_on(column):
    return JoinClassifier(prune=None).fit({"T": pa.table({"x": column, "Class": CLASSES})}, target="T.Class")


def test_values_that_were_never_seen():
    """A number goes where its size says; a text that no split names goes with the rest."""
    by_number, by_text = fitted_on([1, 1, 5, 5]), fitted_on(["p", "p", "q", "q"])
    assert by_number.predict({"T": pa.table({"x": [0, 1, 2, 5, 9, None]})}).tolist() == ["a", "a", *"bbbb"]
    assert by_text.predict({"T": pa.table({"x": ["p", "z", None]})}).tolist() == ["a", "b", "b"]


def test_another_type_than_in_training():
    """Numbers are compared with numbers of other types; what cannot be compared is refused, by its types."""
    by_number = fitted_on([1, 1, 5, 5])
    for same in (
        pa.array([0.5, 1.0, 1.5, None]),
        pa.array([0, 1, 2, None], pa.uint64()),
        pa.array([0, 1, 2, 9], pa.int8()),
    ):
        assert by_number.predict({"T": pa.table({"x": same})}).tolist() == CLASSES
    with refused(InvalidArgument, "T.x", "string"):
        by_number.predict({"T": pa.table({"x": ["one", "two"]})})
    with refused(InvalidArgument, "T.x", "int64"):
        fitted_on(["p", "p", "q", "q"]).predict({"T": pa.table({"x": [1, 2]})})


def test_rows_that_match_nothing_get_the_class_of_the_root():
    left = pa.table({"k": [1, 2, 3], "Class": ["b", "b", "a"]})
    right = pa.table({"k": [1, 2, 3], "x": [1, 1, 2]})
    fitted = JoinClassifier(prune=None).fit({"A": left, "B": right}, joins=["A.k = B.k"], target="A.Class")
    others = {"A": pa.table({"k": [3, 4, None]}), "B": right}
    assert fitted.predict(others).tolist() == ["a", "b", "b"]
    assert fitted.predict_proba(others).tolist() == [[1, 0], [1 / 3, 2 / 3], [1 / 3, 2 / 3]]
    nothing = others | {"B": right.slice(0, 0)}
    assert fitted.predict(nothing).tolist() == ["b", "b", "b"]
    assert fitted.votes(nothing).tolist() == [[0, 0]] * 3


def test_votes_of_more_rows_than_64_bits_count():
    """Each row's votes fit 64 bits, and those of all rows together do not."""
    key = np.repeat([0, 1], 512)
    tables = {"T0": pa.table({"k": key, "x": key, "Class": np.where(key == 0, "a", "b")})}
    tables |= {f"T{number}": pa.table({"k": key}) for number in range(1, 7)}
    joins = [("T0.k", f"T{number}.k") for number in range(1, 7)]
    fitted = JoinClassifier().fit(tables, joins=joins, target="T0.Class")
    assert [node.counts for node in fitted.tree_.root.walk()] == [(2**63, 2**63), (2**63, 0), (0, 2**63)]
    assert fitted.votes(tables)[0].tolist() == [512**6, 0]
    assert (fitted.score(tables), fitted.score_joined(tables)) == (1, 1)
    stump = JoinClassifier(max_depth=0).fit(tables, joins=joins, target="T0.Class")
    assert (stump.score(tables), stump.score_joined(tables)) == (0.5, 0.5)
