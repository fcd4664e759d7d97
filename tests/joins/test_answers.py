"""What rows answer to splits, against comparisons in Python, which are exact between types."""

import datetime
import math
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins import JoinClassifier
from veilset.joins.answers import answers
from veilset.joins.tree import Split

NEAR = st.one_of(st.integers(-9, 9), st.sampled_from([1, -1, 2**53, 2**62, -(2**63)]).map(lambda at: at + 1))
FLOATS = st.one_of(
    st.floats(-9, 9), st.sampled_from([math.inf, -math.inf, -0.0, 2.0**53, 2.0**63, 1e300]), NEAR.map(float)
)
DECIMALS = st.one_of(
    st.integers(-900, 900).map(lambda at: Decimal(at) / 100), NEAR.map(Decimal), FLOATS.filter(math.isfinite)
).map(lambda at: Decimal(at).quantize(Decimal("0.01")) if abs(at) < 10**20 else Decimal(0))
COLUMNS = {
    "int8": (pa.int8(), st.integers(-9, 9)),
    "int64": (pa.int64(), NEAR),
    "uint64": (pa.uint64(), st.one_of(st.integers(0, 9), st.sampled_from([2**53 + 1, 2**63, 2**64 - 1]))),
    "double": (pa.float64(), st.one_of(FLOATS, st.just(math.nan))),
    "float": (pa.float32(), st.one_of(st.floats(-9, 9, width=32), st.just(math.nan))),
    "decimal": (pa.decimal128(30, 2), DECIMALS),
}
THRESHOLDS = {"int": st.integers(-9, 9) | NEAR | st.just(2**64 - 1), "float": FLOATS, "decimal": DECIMALS}


def thresholds(values):
    return [Split("T", "x", "number", value) for value in sorted(set(values))]


def first_reached(value, splits):
    missing = value is None or math.isnan(value)
    return next((at for at, split in enumerate(splits) if not missing and value <= split.value), len(splits))


@pytest.mark.parametrize("asked", THRESHOLDS.values(), ids=THRESHOLDS)
@pytest.mark.parametrize(("of", "values"), COLUMNS.values(), ids=COLUMNS)
@examples(40)
@given(data=st.data())
def test_numbers_of_all_types(of, values, asked, data):
    column = pa.array(data.draw(st.lists(st.none() | values, max_size=8)), of)
    splits = thresholds(data.draw(st.lists(asked, min_size=1, max_size=6)))
    expected = [first_reached(value, splits) for value in column.to_pylist()]
    for same in (column, pa.chunked_array([column, column.slice(0, 0)]), column.dictionary_encode()):
        assert answers(same, splits).tolist() == expected


INSTANTS = st.integers(-(9 * 10**15), 9 * 10**15) | st.integers(-3, 3)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "Asia/Tokyo"])
@examples(20)
@given(ticks=st.lists(INSTANTS, min_size=1, max_size=6), data=st.data())
def test_instants_of_all_units_and_zones(unit, zone, ticks, data):
    many, few = {"s": (1, 10**6), "ms": (1, 1000), "us": (1, 1), "ns": (1000, 1)}[unit]
    numbers = [tick * many // few for tick in ticks]
    start = datetime.datetime(1970, 1, 1, tzinfo=zone and datetime.UTC)
    asked = data.draw(st.lists(st.sampled_from(ticks) | INSTANTS, min_size=1, max_size=4))
    splits = thresholds(start + datetime.timedelta(microseconds=at) for at in asked)
    expected = [sum(number * few > at * many for at in set(asked)) for number in numbers]
    assert answers(pa.array(numbers, pa.timestamp(unit, zone)), splits).tolist() == expected


def test_days_and_times_of_day():
    day = datetime.date(2024, 5, 1)
    noon = datetime.datetime(2024, 5, 1, 12)
    days, moments = pa.array([day, day + datetime.timedelta(1), None]), pa.array([noon, noon.replace(hour=0)])
    assert answers(days, thresholds([day])).tolist() == answers(days, thresholds([noon])).tolist() == [0, 1, 1]
    assert answers(days.cast(pa.date64()), thresholds([day])).tolist() == [0, 1, 1]
    assert answers(moments, thresholds([day])).tolist() == [1, 0]
    times = pa.array([30_000, 30_001, None], pa.time32("ms"))
    assert answers(times, thresholds([datetime.time(0, 0, 30)])).tolist() == [0, 1, 1]
    lengths = pa.array([1, 2], pa.duration("s"))
    assert answers(lengths, thresholds([datetime.timedelta(seconds=1.5)])).tolist() == [0, 1]


TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]


@pytest.mark.parametrize("of", TEXTS, ids=str)
def test_text(of):
    splits = [Split("T", "x", "category", value) for value in ("q", None, "p\0")]
    column = pa.array(["p", "p\0", None, "q"]).cast(of)
    assert answers(column, splits).tolist() == [3, 2, 1, 0]
    assert answers(column, splits[:1]).tolist() == [1, 1, 1, 0]
    assert answers(column, splits[1:2]).tolist() == [1, 1, 0, 1]
    assert answers(pa.nulls(2), splits).tolist() == [1, 1]


NUMBER, NAIVE = 3, datetime.datetime(2024, 5, 1)
UNLIKE = {
    "text": (pa.array(["3"]), NUMBER),
    "boolean": (pa.array([True]), NUMBER),
    "date as number": (pa.array([NAIVE.date()]), NUMBER),
    "number as date": (pa.array([3]), NAIVE.date()),
    "zone": (pa.array([NAIVE], pa.timestamp("us", "UTC")), NAIVE),
    "no zone": (pa.array([NAIVE], pa.timestamp("us")), NAIVE.replace(tzinfo=datetime.UTC)),
    "time": (pa.array([NAIVE.time()]), NAIVE),
    "binary": (pa.array([b"3"]), NAIVE),
}


@pytest.mark.parametrize(("column", "value"), UNLIKE.values(), ids=UNLIKE)
def test_what_cannot_be_compared(column, value):
    with refused(InvalidArgument, "T.x", column.type, repr(value)):
        answers(column, thresholds([value]))


@pytest.mark.parametrize("hours", [[(0, 0), (0, 30), (1, 30), (2, 30)], [(0, 45), (1, 15), (1, 45), (2, 15)]])
def test_the_hour_that_a_clock_shows_twice(hours):
    instants = [datetime.datetime(2020, 10, 25, *at, tzinfo=datetime.UTC) for at in hours]
    tables = {"T": pa.table({"x": pa.array(instants, pa.timestamp("us", "Europe/Berlin")), "Class": list("abab")})}
    fitted = JoinClassifier(prune=None).fit(tables, target="T.Class")
    assert fitted.predict(tables).tolist() == fitted.predict_joined(tables).tolist() == list("abab")
    asked = [node.split.value for node in fitted.tree_.root.walk() if node.split]
    assert sorted(asked) == instants[:3]
    assert {value.utcoffset() for value in asked} == {datetime.timedelta(0)}


def test_many_splits_of_many_rows():
    """Each row is searched among the splits, and not compared with each of them."""
    rows = 200_000
    splits = thresholds(range(0, rows, 2))
    start = time.process_time()
    assert answers(pa.array(np.arange(rows)), splits)[-3:].tolist() == [rows // 2 - 1, rows // 2 - 1, rows // 2]
    assert time.process_time() - start < 5
