"""Keys: what matches what, how shared keys are numbered, what is refused."""

import datetime
import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins.graph import Edge
from veilset.joins.keys import KEY_STEPS, KeyRule, check_types, key_column, key_kind, shared_keys

EXACT = KeyRule()
INTEGERS = [pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.decimal128(20, 0)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())]
DAYS = st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 5))
KINDS = {
    "integers": (INTEGERS, st.integers(0, 5)),
    "texts": (TEXTS, st.sampled_from(["", "a", "A", "é", "\U0001f600", "\uffff"])),
    "dates": ([pa.date32(), pa.date64()], DAYS),
    "booleans": ([pa.bool_()], st.booleans()),
    "timestamps": ([pa.timestamp("s"), pa.timestamp("ns")], DAYS.map(lambda d: datetime.datetime(d.year, 1, d.day))),
    "decimals": ([pa.decimal32(5, 2), pa.decimal128(30, 2)], st.decimals(0, "0.03", places=2)),
}


def expected(left: list, right: list) -> tuple[list[int], list[int], int]:
    """By a dict: a key is a tuple of values, and none if one of them is missing."""
    known = [{key for key in keys if None not in key} for keys in (left, right)]
    numbers = {key: number for number, key in enumerate(sorted(known[0] & known[1]))}
    return [numbers.get(key, -1) for key in left], [numbers.get(key, -1) for key in right], len(numbers)


def numbered(left: pa.Table, right: pa.Table, rule: KeyRule = EXACT) -> tuple[list[int], list[int], int]:
    sides = [key_column(table, [[name] for name in table.column_names], rule) for table in (left, right)]
    ids, others, count = shared_keys(*sides)
    assert ids.dtype == others.dtype == np.int32
    return ids.tolist(), others.tolist(), count


@examples(600)
@given(parts=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3), data=st.data())
def test_shared_keys(parts, data):
    """Of one column or several, of any types of one kind on the two sides."""
    sides = []
    for _ in range(2):
        rows = data.draw(st.lists(st.tuples(*(st.none() | KINDS[part][1] for part in parts)), max_size=12))
        kinds = [data.draw(st.sampled_from(KINDS[part][0])) for part in parts]
        columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
        sides.append((rows, pa.table(columns, names=[f"k{at}" for at in range(len(parts))])))
    assert numbered(sides[0][1], sides[1][1]) == expected(sides[0][0], sides[1][0])


WIDE = st.integers(-(2**63), 2**64 - 1) | st.sampled_from([-(2**63), -1, 0, 2**63 - 1, 2**63, 2**64 - 1])


@examples(200)
@given(st.lists(st.none() | WIDE, max_size=8), st.lists(st.none() | WIDE, max_size=8))
def test_whole_numbers_up_to_the_ends_of_their_types(left, right):
    left = [value for value in left if value is None or value < 2**63]
    right = [value for value in right if value is None or value >= 0]
    tables = pa.table({"k": pa.array(left, pa.int64())}), pa.table({"k": pa.array(right, pa.uint64())})
    assert numbered(*tables) == expected([(key,) for key in left], [(key,) for key in right])
    assert numbered(*tables[::-1]) == expected([(key,) for key in right], [(key,) for key in left])


@examples(200)
@given(st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)), max_size=10))
def test_several_columns_of_one_part_must_agree(rows):
    table = pa.table({"a": pa.array([a for a, _ in rows], pa.int8()), "b": pa.array([b for _, b in rows], pa.int64())})
    other = pa.table({"k": [0, 1, 2]})
    ids, _, _ = shared_keys(key_column(table, [["a", "b"]], EXACT), key_column(other, [["k"]], EXACT))
    keys = [(a,) if a == b else (None,) for a, b in rows]
    assert ids.tolist() == expected(keys, [(0,), (1,), (2,)])[0]


def test_many_rows():
    """Composite keys with more combinations than there are rows."""
    generator = np.random.default_rng(20)
    tables = [
        pa.table({"a": generator.integers(0, 3000, 30_000), "b": generator.integers(0, 3000, 30_000) * 10**12})
        for _ in range(2)
    ]
    rows = [list(zip(*table.to_pydict().values(), strict=True)) for table in tables]
    assert numbered(*tables) == expected(*rows)


@examples(500)
@given(
    st.text(max_size=8) | st.from_regex(r"\s?0*[0-9A-Za-z]{0,3}", fullmatch=True) | DAYS.map(str),
    st.sets(st.sampled_from(KEY_STEPS)),
)
def test_the_canonical_form_is_its_own(text, steps):
    rule = KeyRule.of(sorted(steps))
    assert rule.written(rule.written(text)) == rule.written(text)


@pytest.mark.parametrize(
    ("steps", "text", "written"),
    [
        ("exact", " 007é ", " 007é "),
        ("nfc", "e\u0301", "é"),
        ("strip", "\u00a0A  B\t", "A B"),
        ("case", "Straße", "strasse"),
        ("zeros", "007", "7"),
        ("zeros", "000", "0"),
        ("zeros", "-007", "-7"),
        ("zeros", "-7", "-7"),
        ("zeros", "--07", "--07"),
        ("zeros", "00A1", "0A1"),
        ("zeros", "0.5", "0.5"),
        ("zeros", " 007", " 007"),
        ("strip, zeros", " 007", "7"),
        ("dates", "2024-05-01 00:00:00.000", "2024-05-01"),
        ("dates", "2024-05-01T00:00", "2024-05-01"),
        ("dates", "2024-05-01T12:00", "2024-05-01T12:00"),
        ("dates", "2024-02-30", "2024-02-30"),
        ("dates", "20240501", "20240501"),
        ("dates, zeros", "0999-05-01", "0999-05-01"),
    ],
)
def test_each_step(steps, text, written):
    assert KeyRule.of(steps).written(text) == written


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        (None, ()),
        ("", ()),
        ((), ()),
        ("exact", ()),
        (["zeros", "nfc"], ("nfc", "zeros")),
        (KeyRule(("case",)), ("case",)),
    ],
)
def test_rules(given, steps):
    assert KeyRule.of(given).steps == steps
    assert KeyRule.of(str(KeyRule.of(given))) == KeyRule.of(given)  # as a user reads it, a user can write it


@pytest.mark.parametrize(("given", "named"), [("fuzzy", "fuzzy"), (["exact", "case"], "exact"), (7, "7"), ([7], "7")])
def test_what_is_no_rule(given, named):
    with refused(InvalidArgument, named):
        KeyRule.of(given)


def test_a_rule_applies_to_both_sides():
    left, right = pa.table({"k": ["Ann ", "ann", "BOB", None]}), pa.table({"k": ["ANN", " bob"]})
    assert numbered(left, right) == ([-1, -1, -1, -1], [-1, -1], 0)
    assert numbered(left, right, KeyRule.of("strip,case")) == ([0, 0, 1, -1], [0, 1], 2)


def test_whole_numbers_and_dates_as_text():
    numbers, digits = pa.table({"k": [7, 10, None, 9]}), pa.table({"k": ["007", "9", "10", "x"]})
    assert numbered(numbers, digits, KeyRule.of("zeros")) == ([1, 0, -1, 2], [1, 2, 0, -1], 3)  # 10 < 7 < 9, as text
    days = pa.table({"k": [datetime.date(2024, 5, 1), None]})
    texts = pa.table({"k": ["2024-05-01", "2024-05-01T00:00:00", "1.5.2024"]})
    assert numbered(days, texts, KeyRule.of("dates")) == ([0, -1], [0, 0, -1], 1)


def test_uuids_are_text():
    ids = [uuid.UUID(int=number) for number in (3, 1, 2)]
    column = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([one.bytes for one in ids], pa.binary(16)))
    texts = pa.table({"k": [str(ids[1]), str(ids[0]), None]})
    assert numbered(pa.table({"k": column}), texts) == ([1, 0, -1], [0, 1, -1], 2)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.list_(pa.int8()), pa.binary(), pa.null()], ids=str)
def test_types_that_are_no_keys(kind):
    with refused(InvalidArgument, "odd", kind):
        key_kind("odd", kind)
    with refused(InvalidArgument, "odd", kind):
        key_column(pa.table({"odd": pa.nulls(1, kind)}), [["odd"]], EXACT)


def test_floats_are_refused_in_words(snapshot):
    with refused(InvalidArgument, said=snapshot):
        key_kind("price", pa.float64())


def test_timestamps_finer_than_microseconds():
    with refused(InvalidArgument, "at", "timestamp[ns]"):
        key_column(pa.table({"at": pa.array([1], pa.timestamp("ns"))}), [["at"]], EXACT)


def checked(left: pa.DataType, right: pa.DataType, rule: KeyRule = EXACT) -> None:
    edge = Edge("T1", "T2", (("a",),), (("b",),))
    check_types(edge, pa.schema([("a", left)]), pa.schema([("b", right)]), rule)


@pytest.mark.parametrize("kind", KINDS)
def test_types_of_one_kind(kind):
    for left in KINDS[kind][0]:
        for right in KINDS[kind][0]:
            checked(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.int64(), pa.string()),
        (pa.string(), pa.date32()),
        (pa.date32(), pa.timestamp("us")),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.decimal128(9, 2), pa.decimal128(9, 3)),
        (pa.bool_(), pa.int8()),
    ],
)
def test_types_of_two_kinds(left, right):
    with refused(InvalidArgument, "T1.a", left, "T2.b", right):
        checked(left, right)


def test_types_that_a_rule_reconciles(snapshot):
    with refused(InvalidArgument, said=snapshot(name="numbers")):
        checked(pa.int64(), pa.string())
    with refused(InvalidArgument, said=snapshot(name="dates")):
        checked(pa.date32(), pa.string())
    checked(pa.int64(), pa.string(), KeyRule.of("zeros"))
    checked(pa.string(), pa.date32(), KeyRule.of("dates"))
    with refused(InvalidArgument, "int64", "date32[day]"):
        checked(pa.int64(), pa.date32(), KeyRule.of("zeros, dates"))


def test_columns_of_one_table_have_one_type_too():
    edge = Edge("T1", "T2", (("a", "c"),), (("b",),))
    with refused(InvalidArgument, "T1.a", "int64", "T1.c", "string"):
        check_types(edge, pa.schema([("a", pa.int64()), ("c", pa.string())]), pa.schema([("b", pa.int64())]), EXACT)


def test_tables_without_rows():
    empty = pa.table({"k": pa.array([], pa.int64())})
    assert numbered(empty, pa.table({"k": [1, 2]})) == ([], [-1, -1], 0)
    assert numbered(empty, empty) == ([], [], 0)
