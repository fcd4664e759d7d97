"""Keys as bytes: equal keys have equal bytes whatever their columns' width, and different keys have different ones."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset.errors import InvalidArgument
from veilset.joins.keys import KeyRule, key_column, key_kind
from veilset.joins.parties.key_bytes import encode_keys

_DAY = datetime.date(2024, 5, 1)
_TIME = datetime.datetime(2024, 5, 1, 12, 30)
_KINDS = {
    pa.large_string(): st.text(st.sampled_from("ab1\x00\x01"), max_size=4),
    pa.int64(): st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2) | st.integers(2**63, 2**64 - 1),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.time64("us"): st.times(),
    pa.duration("us"): st.timedeltas(datetime.timedelta(-9), datetime.timedelta(9)),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(datetime.UTC)),
    pa.decimal256(76, 2): st.decimals(-10, 10, places=2),
}


def _encoded(values, of, rule=()):
    """The bytes of one column's values, by way of their canonical form."""
    part = key_column(pa.table({"id": pa.array(values, of)}), [["id"]], KeyRule(rule)).parts[0]
    return encode_keys([part.values.take(pa.array(part.codes))])


@st.composite
def _keys(draw):
    """A composite key: types, and the values of a single row."""
    types = draw(st.lists(st.sampled_from(list(_KINDS)), min_size=1, max_size=3))
    return tuple((of, draw(_KINDS[of])) for of in types)


def _bytes_of(key):
    return encode_keys([pa.array([value], of) for of, value in key])[0]


def _meaning(key):
    return tuple((key_kind("key", of), value) for of, value in key)


@examples(1000)
@given(_keys(), _keys())
def test_keys_have_equal_bytes_if_and_only_if_they_are_equal(one, other):
    assert (_bytes_of(one) == _bytes_of(other)) == (_meaning(one) == _meaning(other))


def test_keys_that_look_alike_differ():
    text, number = pa.large_string(), pa.int64()
    alike = [
        ((text, "a"), (text, "bc")),
        ((text, "ab"), (text, "c")),
        ((text, "abc"),),
        ((text, "abc"), (text, "")),
        ((text, ""), (text, "abc")),
        ((text, "1"),),
        ((number, 1),),
        ((pa.bool_(), True),),
        ((pa.date32(), datetime.date(1970, 1, 2)),),
        ((pa.duration("us"), datetime.timedelta(microseconds=1)),),
        ((pa.time64("us"), datetime.time(0, 0, 0, 1)),),
        ((pa.timestamp("us"), _TIME),),
        ((pa.timestamp("us", "UTC"), _TIME.replace(tzinfo=datetime.UTC)),),
        ((pa.decimal256(76, 1), Decimal("1.0")),),
        ((pa.decimal256(76, 2), Decimal("0.10")),),
    ]
    assert len({_bytes_of(key) for key in alike}) == len(alike)


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([1, 3, 2], [pa.int8(), pa.int32(), pa.uint64(), pa.decimal128(5, 0)]),
        (["b", "a", "é"], [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]),
        ([_DAY], [pa.date32(), pa.date64()]),
        ([_TIME], [pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ms")]),
        ([_TIME.replace(tzinfo=datetime.UTC)], [pa.timestamp("ns", "Asia/Tokyo"), pa.timestamp("us", "UTC")]),
        ([Decimal("1.50")], [pa.decimal128(5, 2), pa.decimal256(40, 2)]),
    ],
    ids=lambda given: str(given[0]),
)
def test_the_width_of_a_column_makes_no_difference(values, types):
    first = _encoded(values, types[0])
    assert all(_encoded(values, of) == first for of in types)


def test_a_column_with_numbers_above_the_signed_ones_has_the_same_bytes_for_the_others():
    small, large = _encoded([5, 2**63], pa.uint64())
    assert [small] == _encoded([5], pa.int8())
    assert large != _encoded([-(2**63)], pa.int64())[0]


def test_numbers_compared_as_text_are_text():
    assert _encoded([7], pa.int64(), ("zeros",)) == _encoded(["007"], pa.string(), ("zeros",))


def test_the_encoding_stays_what_parties_with_other_versions_use(snapshot):
    text, of_time = pa.array(["ä"], pa.large_string()), pa.array([_TIME], pa.timestamp("us"))
    rest = [pa.array([Decimal("-1.5")], pa.decimal256(76, 1)), pa.array([True]), pa.array([_DAY]), pa.array([-2])]
    assert encode_keys([text, of_time, *rest])[0].hex(" ", 8) == snapshot


def test_parts_of_arrays_and_chunks_are_read_where_they_begin():
    decimals = pa.array([Decimal(at) / 10 for at in range(9)], pa.decimal256(76, 1))
    texts = pa.chunked_array([pa.array(["a", "b"], pa.large_string()), pa.array(["c"], pa.large_string())])
    numbers = pa.array(np.arange(9))
    whole = encode_keys([decimals, numbers])
    assert encode_keys([decimals[3:6], numbers[3:6]]) == whole[3:6]
    assert encode_keys([texts]) == encode_keys([texts.combine_chunks()])
    assert encode_keys([decimals[:0], numbers[:0]]) == []


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.5]),
        pa.array([1], pa.int32()),
        pa.array(["a"]),
        pa.array([1, None]),
        pa.array([1], pa.decimal256(76)),
    ],
    ids=lambda values: str(values.type),
)
def test_what_is_not_canonical_is_refused(values):
    with pytest.raises(InvalidArgument, match=str(values.type).partition("(")[0]):
        encode_keys([values])
