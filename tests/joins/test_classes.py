"""Classes: in order, unchanged, of every type that a column can have."""

import datetime

import pyarrow as pa
import pytest

from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins.classes import class_array, class_codes, class_numbers, class_values


def test_classes_in_order():
    assert class_codes(pa.table({"c": ["b", None, "a"]}), "c")[1] == ["a", "b"]
    with refused(InvalidArgument, "'c'", "list<item: int64>"):
        class_codes(pa.table({"c": [[1], [2]]}), "c")


@pytest.mark.parametrize("classes", [["a", "a\0"], [1, 2**63], [1, 2**64 - 1], [0.5, 2.0], [False, True]], ids=str)
def test_no_class_is_changed(classes):
    for kept in (class_array(classes).tolist(), class_values(classes).to_pylist()):
        assert kept == classes
        assert list(map(type, kept)) == list(map(type, classes))


def test_two_instants_that_a_clock_shows_alike():
    instants = [datetime.datetime(2020, 10, 25, hour, 30, tzinfo=datetime.UTC) for hour in (0, 1)]
    table = pa.table({"c": pa.array(instants, pa.timestamp("us", "Europe/Berlin"))})
    assert class_codes(table, "c")[1] == instants
    assert class_numbers(table, "c", instants).tolist() == [0, 1]


def test_classes_that_python_cannot_name():
    with refused(InvalidArgument, "'c'", "date32[day]"):
        class_codes(pa.table({"c": pa.array([4_000_000], pa.int32()).view(pa.date32())}), "c")
