"""Attributes: ranks and values of columns of every type, against ``sorted(set())``."""

import datetime
import decimal
import itertools
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins.columns import attributes, ranked

WORDS = st.text(max_size=4) | st.sampled_from(["a", "b", "Z", "é", "\U0001f600", "\uffff"])
NUMBERS = {
    pa.int8(): st.integers(-128, 127),
    pa.uint8(): st.integers(0, 255),
    pa.int32(): st.integers(-(2**31), 2**31 - 1) | st.integers(0, 9),
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9) | st.integers(2**63 - 9, 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1) | st.integers(2**64 - 9, 2**64 - 1),
    pa.float16(): st.floats(width=16),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats() | st.sampled_from([0.0, -0.0, 1.0, 2.0**53, 2.0**53 + 2, math.inf]),
    pa.decimal32(9, 2): st.decimals(-9999, 9999, places=2),
    pa.decimal128(20, 3): st.decimals(-9999, 9999, places=3),
    pa.decimal256(60, 0): st.decimals(-9999, 9999, places=0),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.time32("s"): st.times().map(lambda at: at.replace(microsecond=0)),
    pa.time64("us"): st.times(),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(datetime.UTC)),
    pa.duration("us"): st.timedeltas(datetime.timedelta(-9), datetime.timedelta(9)),
}
CATEGORIES = {
    pa.string(): WORDS,
    pa.large_string(): WORDS,
    pa.string_view(): WORDS,
    pa.bool_(): st.booleans(),
    pa.null(): st.none(),
    pa.dictionary(pa.int8(), pa.string()): WORDS,
    pa.dictionary(pa.uint32(), pa.large_string()): WORDS,
}
TYPES = NUMBERS | CATEGORIES


def chunked(values: list, kind: pa.DataType, cuts: list[int]) -> pa.ChunkedArray:
    """The column in pieces, each a slice of a longer array."""
    ends = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    pieces = [values[a:b] for a, b in itertools.pairwise(ends)]
    return pa.chunked_array([pa.array([None, *piece], kind).slice(1) for piece in pieces], kind)


def is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


@pytest.mark.parametrize("kind", TYPES, ids=str)
@examples(150)
@given(data=st.data(), cuts=st.lists(st.integers(0, 9), max_size=2))
def test_ranks_and_values(kind, data, cuts):
    values = data.draw(st.lists(st.none() | TYPES[kind], max_size=12))
    column = chunked(values, kind, cuts)
    (attribute,) = attributes(pa.table({"c": column}), ["c"])
    read = column.to_pylist()
    distinct = sorted({value for value in read if not is_missing(value)})
    missing = [None] * any(map(is_missing, read))
    assert attribute.name == "c"
    assert attribute.kind == ("number" if kind in NUMBERS else "category")
    assert attribute.values.to_pylist() == distinct + missing
    assert attribute.codes.dtype == np.int32
    assert attribute.codes.tolist() == [len(distinct) if is_missing(value) else distinct.index(value) for value in read]


@examples(100)
@given(st.lists(st.none() | st.integers(0, 5), max_size=12), st.integers(1, 1000000))
def test_runs(values, step):
    spread = [None if value is None else value * step for value in values]
    column = pa.compute.run_end_encode(pa.array(spread, pa.int64()))
    codes, distinct = ranked(column)
    other_codes, others = ranked(pa.array(spread, pa.int64()))
    assert (codes.tolist(), distinct.to_pylist()) == (other_codes.tolist(), others.to_pylist())


@pytest.mark.parametrize("distinct", [3, 300, 100_000])
@pytest.mark.parametrize("kind", ["dense", "sparse", "float", "text"])
def test_many_rows(distinct, kind):
    """Tables, hashes and sorts all rank as numpy does."""
    generator = np.random.default_rng(20)
    rows = generator.integers(0, distinct, 40_000)
    pool = {
        "dense": np.arange(distinct) - 5,
        "sparse": generator.integers(-(2**62), 2**62, distinct),
        "float": generator.normal(size=distinct),
        "text": np.array([f"{number}" for number in range(distinct)]),
    }[kind]
    values, codes = np.unique(pool[rows], return_inverse=True)
    (attribute,) = attributes(pa.table({"c": pool[rows].tolist()}), ["c"])
    assert attribute.values.to_pylist() == values.tolist()
    assert (attribute.codes == codes).all()


def test_zeros_are_one_value_and_nan_is_missing():
    (attribute,) = attributes(pa.table({"c": [0.0, -0.0, math.nan, None, 0.5]}), ["c"])
    assert attribute.codes.tolist() == [0, 0, 2, 2, 1]
    assert attribute.values.to_pylist() == [0.0, 0.5, None]
    assert math.copysign(1, attribute.values[0].as_py()) == 1


def test_dictionaries_with_doubles_nulls_and_values_of_no_row():
    strange = pa.DictionaryArray.from_arrays(pa.array([3, 0, 2, None, 1]), pa.array(["b", None, "b", "a", "unused"]))
    other = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["c"]))
    (attribute,) = attributes(pa.table({"c": pa.chunked_array([strange, other])}), ["c"])
    assert attribute.values.to_pylist() == ["a", "b", "c", None]
    assert attribute.codes.tolist() == [0, 1, 1, 3, 3, 2]


def test_categories_of_polars():
    """Codes of text views."""
    frame = pl.DataFrame({"c": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical)})
    (attribute,) = attributes(pa.table(frame), ["c"])
    assert (attribute.kind, attribute.values.to_pylist()) == ("category", ["a", "b", None])
    assert attribute.codes.tolist() == [1, 2, 0, 1]


def test_columns_come_in_the_order_asked_for():
    table = pa.table({"a": [1], "b": ["x"], "c": [decimal.Decimal("1.5")]})
    assert [attribute.name for attribute in attributes(table, ["c", "a"])] == ["c", "a"]
    assert attributes(table, []) == ()


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.int8()), pa.struct([("x", pa.int8())]), pa.binary(), pa.month_day_nano_interval(), pa.uuid()],
    ids=str,
)
def test_what_no_split_can_ask_about(kind):
    with refused(InvalidArgument, "odd", kind, "ignore=('odd',)"):
        attributes(pa.table({"fine": [1], "odd": pa.nulls(1, kind)}), ["fine", "odd"])


def test_a_column_that_does_not_exist():
    with refused(InvalidArgument, "agee", "age"):
        attributes(pa.table({"age": [1]}), ["agee"])


BEYOND = {
    "date": pa.array([0, 4_000_000], pa.int32()).view(pa.date32()),
    "before": pa.array([-4_000_000, 0], pa.int32()).view(pa.date32()),
    "timestamp": pa.array([0, 10**12]).view(pa.timestamp("s")),
    "with a time zone": pa.array([0, 10**12]).view(pa.timestamp("s", "Asia/Tokyo")),
    "duration": pa.array([0, 10**15]).view(pa.duration("s")),
}


@pytest.mark.parametrize("column", BEYOND.values(), ids=BEYOND)
def test_times_that_no_split_can_name(column):
    with refused(InvalidArgument, "'far'", column.type, "ignore=('far',)"):
        attributes(pa.table({"far": column}), ["far"])


def test_instants_are_in_utc():
    """In other zones, a clock can show an hour twice. The first and the last day stay what they are."""
    ends = [datetime.datetime.min, datetime.datetime.max]
    (attribute,) = attributes(pa.table({"at": pa.array(ends).cast(pa.timestamp("us", "Asia/Tokyo"))}), ["at"])
    assert attribute.values.to_pylist() == [end.replace(tzinfo=datetime.UTC) for end in ends]
