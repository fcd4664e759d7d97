"""Arrow tables of every origin: what they may hold, what comes out, what is refused; and tables that we write."""

import datetime
import decimal
import subprocess
import sys
import textwrap
import uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.places import ROOT
from tests.support.tables import NAMES, TRANSACTIONS, blocks_of, read, transactions_of
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io.arrow import completed, needed_columns, rows_of
from veilset.io.blocks import block_of, schema_of
from veilset.io.frames import table_reader
from veilset.io.layout import Layout
from veilset.views import Count

LISTS, WIDE = Layout("arrow"), Layout("arrow-wide")
LONG = Layout("arrow-long", columns=("id", "item"))
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
INTEGER_TYPES = [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
LIST_TYPES = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]


def frame_rows(frame, layout=LISTS) -> list[list[str]]:
    reader = table_reader(frame)
    return transactions_of(rows_of(reader, reader.schema, layout))


@pytest.mark.parametrize("make_list", LIST_TYPES)
@given(
    rows=st.lists(st.none() | st.lists(NAMES, max_size=4), max_size=12), batch=st.integers(1, 5), cut=st.integers(0, 3)
)
def test_lists_of_names(make_list, rows, batch, cut):
    """Whatever kind of list, in whatever batches, also as a slice of something longer: null is an empty transaction."""
    expected = [sorted(set(row or [])) for row in rows]
    for kind in TEXT_TYPES:
        lists = pa.array([["before"]] * cut + rows, make_list(kind))
        assert read(pa.table({"items": lists.slice(cut)}), LISTS, batch) == expected


@pytest.mark.parametrize("kind", INTEGER_TYPES, ids=str)
@given(data=st.data(), batch=st.integers(1, 5))
def test_lists_of_integers(kind, data, batch):
    """Near each other or far apart, up to the ends of their type."""
    bits = kind.bit_width
    low, high = (0, 2**bits - 1) if pa.types.is_unsigned_integer(kind) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    number = st.integers(low, high) | st.integers(0, 20) | st.integers(high - 20, high) | st.sampled_from([low, high])
    rows = data.draw(st.lists(st.lists(number, max_size=4), max_size=10))
    table = pa.table({"items": pa.array(rows, pa.list_(kind))})
    assert read(table, LISTS, batch) == [sorted({str(number) for number in row}) for row in rows]


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.none() | NAMES), max_size=14), batch=st.integers(1, 6))
def test_long_tables(rows, batch):
    """Rows of one id are one transaction wherever they stand; a null item says only that the id is there."""
    merged: dict[int, set[str]] = {}
    for number, item in rows:
        merged.setdefault(number, set()).update([] if item is None else [item])
    expected = [sorted(items) for items in merged.values()]
    ids = pa.array([number for number, _ in rows], pa.int64())
    items = pa.array([item for _, item in rows], pa.string())
    for id_kind in (pa.int16(), pa.string(), pa.float64(), pa.decimal128(20, 0), pa.date32(), pa.timestamp("us")):
        other = ids.cast(pa.int32()).cast(id_kind) if id_kind == pa.date32() else ids.cast(id_kind)
        assert read(pa.table({"id": other, "item": items}), LONG, batch) == expected
    coded = pa.table({"id": ids.dictionary_encode(), "item": items.dictionary_encode()})
    assert read(coded, LONG, batch) == expected


@given(
    rows=st.lists(st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=10),
    batch=st.integers(1, 4),
)
def test_wide_tables(rows, batch):
    """Every number type, booleans, runs; null says no."""
    columns = [[row[place] for row in rows] for place in range(3)]
    expected = [sorted(name for name, cell in zip("abc", row, strict=True) if cell) for row in rows]
    counts = Layout("arrow-wide", counts=True)
    for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(30, 2)):
        table = pa.table({name: pa.array(cells).cast(kind) for name, cells in zip("abc", columns, strict=True)})
        assert read(table, counts, batch) == expected
    flags = [[None if cell is None else cell > 0 for cell in cells] for cells in columns]
    table = pa.table({name: pa.array(cells, pa.bool_()) for name, cells in zip("abc", flags, strict=True)})
    assert read(table, WIDE, batch) == expected
    runs = pa.table([pa.compute.run_end_encode(pa.array(cells, pa.int64())) for cells in columns], names=list("abc"))
    assert read(runs, counts, batch) == expected
    above = sum((cell or 0) > 1 for row in rows for cell in row)
    noted = [piece.notes for piece in rows_of(table_reader(runs), runs.schema, counts)]
    assert sum(count for notes in noted for note, count in notes.items() if "above 1" in note) == above


@pytest.mark.parametrize("layout", [LISTS, LONG, WIDE])
def test_a_table_without_rows(layout):
    schema = pa.schema(
        [("items", pa.list_(pa.string()))] if layout is LISTS else [("id", pa.int64()), ("item", pa.int64())]
    )
    assert list(rows_of([], schema, layout)) == []
    assert list(rows_of(schema.empty_table().to_batches(), schema, layout)) == []


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([uuid.UUID(int=1).bytes, uuid.UUID(int=2**100).bytes, uuid.UUID(int=1).bytes], pa.uuid()),
        ([datetime.date(2024, 5, 1), datetime.date(2024, 5, 2), datetime.date(2024, 5, 1)], pa.date32()),
        ([decimal.Decimal("1.50"), decimal.Decimal("2.00"), decimal.Decimal("1.50")], pa.decimal128(9, 2)),
        ([1.0, 2.0, 1.0], pa.float64()),
        (["a", "b", "a"], pa.string_view()),
        ([True, False, True], pa.bool_()),
    ],
    ids=str,
)
def test_persons_of_any_type(values, kind):
    """Whatever can be written as text can say whose a row is."""
    table = pa.table({"items": [["x"], ["y"], ["z"]], "who": pa.array(values, kind)})
    layout = Layout("arrow", person="who")
    [rows] = rows_of(table.to_batches(), table.schema, layout)
    assert transactions_of([rows]) == [["x", "z"], ["y"]]
    if isinstance(kind, pa.UuidType):
        assert rows.owner_names.to_pylist() == [str(uuid.UUID(bytes=value)) for value in values[:2]]
    wide = pa.table({"x": [1, 0, 0], "y": [0, 1, 1], "who": table["who"]})
    assert read(wide, Layout("arrow-wide", person="who")) == [["x", "y"], ["y"]]
    long = pa.table({"id": [1, 2, 3], "item": ["x", "y", "z"], "who": table["who"]})
    assert read(long, Layout("arrow-long", columns=("id", "item"), person="who")) == [["x", "z"], ["y"]]


def test_a_dictionary_may_hold_a_name_twice_or_a_null_or_names_nobody_has():
    coded = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, 0], pa.int8()), pa.array(["a", "b", "a", "c", None, ""])
    )
    lists = pa.ListArray.from_arrays(pa.array([0, 3, 5]), coded)
    assert read(pa.table({"items": lists}), LISTS) == [["a", "b"], ["a", "c"]]
    null = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", None]))
    with refused(UnreadableInput, "Row 1", "null"):
        read(pa.table({"items": pa.ListArray.from_arrays(pa.array([0, 2]), null)}), LISTS)
    assert read(pa.table({"id": [1, 2], "item": null}), LONG) == [["a"], []]


def test_whole_floats_are_integers_and_noted(snapshot):
    """Pandas makes 3.0 of 3 where there are gaps."""
    table = pa.table({"id": [1, 1, 2, 3], "it{em}": [3.0, 40.0, None, 3.0]})
    [rows] = rows_of(table.to_batches(), table.schema, Layout("arrow-long", columns=("id", "it{em}")))
    assert transactions_of([rows]) == [["3", "40"], [], ["3"]]
    assert [text.format(Count(count)) for text, count in rows.notes.items()] == snapshot
    whole = pa.table({"id": [1, 2], "item": pa.array([3, 4]).cast(pa.decimal128(38, 0))})
    [rows] = rows_of(whole.to_batches(), whole.schema, LONG)
    assert (transactions_of([rows]), rows.notes) == ([["3"], ["4"]], {})
    coded = pa.table({"id": [1, 2, 2], "item": pa.array([3.0, 3.0, 5.0]).dictionary_encode()})
    [rows] = rows_of(coded.to_batches(), coded.schema, LONG)
    assert (transactions_of([rows]), sum(rows.notes.values())) == ([["3"], ["3", "5"]], 3)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, 2.5]),
        pa.array([1.0, float("nan")]),
        pa.array([1.0, float("inf")]),
        pa.array([1.0, 2.0**53]),
        pa.array([1, decimal.Decimal("2.5")], pa.decimal128(9, 1)),
    ],
    ids=str,
)
def test_other_floats_are_no_items(values):
    shown = str(values[1].as_py())
    with refused(UnreadableInput, "'item'", shown):
        read(pa.table({"id": [1, 2], "item": values}), LONG)


def test_where_items_and_owners_are_missing():
    """The row is counted over all batches."""
    lists = pa.table({"items": [["a"]] * 16 + [["b", None]]})
    with refused(UnreadableInput, "Row 17", "null", "'items'"):
        read(lists, LISTS, 5)
    with refused(UnreadableInput, "Row 17", "empty", "'items'"):
        read(pa.table({"items": [["a"]] * 16 + [["b", ""]]}), LISTS, 5)
    with refused(UnreadableInput, "Row 3", "empty", "'item'"):
        read(pa.table({"id": [1, 1, 2], "item": ["a", None, ""]}), LONG, 2)
    for missing in ([1, 2, None], ["a", "b", ""], [1.0, 2.0, float("nan")]):
        with refused(UnreadableInput, "Row 3", "'id'"):
            read(pa.table({"id": missing, "item": ["a", "b", "c"]}), LONG, 2)


def test_cells_that_say_neither_yes_nor_no():
    table = pa.table({"ale": [1, 0, 1], "bun": [0, 1, 3]})
    with refused(UnreadableInput, "Row 3", "'bun'", "ignore", "counts"):
        read(table, WIDE, 2)
    assert read(table, Layout("arrow-wide", ignore=("bun",))) == [["ale"], [], ["ale"]]
    for wrong in (-1.0, 0.5, float("inf"), float("nan")):
        with refused(UnreadableInput, "Row 2", "'ale'", wrong):
            read(pa.table({"ale": [1.0, wrong]}), Layout("arrow-wide", counts=True))
    runs = pa.compute.run_end_encode(pa.array([0, 0, 5, 5]))
    with refused(UnreadableInput, "Row 3", 5):
        read(pa.table({"ale": runs}), WIDE)


COLUMNS = pa.schema([("who", pa.int64()), ("bought", pa.list_(pa.string())), ("name", pa.string()), ("ok", pa.bool_())])


@pytest.mark.parametrize(
    ("layout", "named"),
    [
        (Layout("arrow", columns=("bougt",)), ("'bougt'", "'who'", "'bought'")),
        (Layout("arrow", person="whom"), ("'whom'", "'who'")),
        (Layout("arrow-wide", ignore=("nme",)), ("'nme'", "'name'")),
        (Layout("arrow", columns=("name",)), ("'name'", "string", "long")),
        (Layout("arrow-long", columns=("who", "bought")), ("'bought'", "lists", "column")),
        (Layout("arrow-long", columns=("who", "ok")), ("'ok'", "bool")),
        (Layout("arrow-wide", ignore=("bought",)), ("'name'", "string", "ignore")),
        (Layout("arrow-wide", ignore=tuple(COLUMNS.names)), ("columns",)),
    ],
)
def test_columns_that_are_not_what_the_layout_says(layout, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        completed(layout, COLUMNS)


def test_the_only_list_column_need_not_be_named():
    assert completed(LISTS, COLUMNS).columns == ("bought",)
    assert needed_columns(completed(LISTS, COLUMNS), COLUMNS) == ["bought"]
    assert needed_columns(Layout("arrow", columns=("bought",), person="who"), COLUMNS) == ["who", "bought"]
    assert needed_columns(Layout("arrow-wide", ignore=("name", "bought"), person="who"), COLUMNS) == ["ok", "who"]
    two = COLUMNS.append(pa.field("returned", pa.list_(pa.string())))
    with refused(InvalidArgument, 2, "'who' (int64)", "'bought'", "column"):
        completed(LISTS, two)
    none = pa.schema([(f"c{i}", pa.int64()) for i in range(30)])
    with refused(InvalidArgument, "'c0' (int64)", "10 more", "column", "long", "wide"):
        completed(LISTS, none)


def test_lists_of_one_length():
    lists = pa.array([["a", "b"], None, ["c", "a"]], pa.list_(pa.string(), 2))
    assert read(pa.table({"items": lists}), LISTS, 2) == [["a", "b"], [], ["a", "c"]]


def test_columns_of_one_name():
    twice = pa.schema([("a", pa.int64()), ("a", pa.int64()), ("b", pa.list_(pa.string()))])
    assert completed(LISTS, twice).columns == ("b",)
    with refused(InvalidArgument, 2, "'a'"):
        completed(Layout("arrow", person="a"), twice)
    with refused(InvalidArgument, 2, "'a'"):
        completed(WIDE, pa.schema([("a", pa.int64()), ("a", pa.int64())]))
    with refused(InvalidArgument, "name"):
        completed(WIDE, pa.schema([("", pa.int64())]))


def test_a_person_must_be_writable():
    table = pa.table({"items": [["a"]], "who": [{"name": "ann"}]})
    with refused(InvalidArgument, "'who'", "struct"):
        read(table, Layout("arrow", person="who"))


def test_long_lists_come_in_several_pieces():
    lengths = [0, 5, 400_000, 3, 400_000, 400_000, 0]
    lists = pa.ListArray.from_arrays(
        np.append(0, np.cumsum(lengths)).astype(np.int32), pa.array(np.zeros(sum(lengths), np.int64))
    )
    pieces = list(rows_of([pa.record_batch([lists], names=["items"])], pa.schema([("items", lists.type)]), LISTS))
    assert len(pieces) > 1
    assert np.concatenate([np.diff(rows.offsets) for rows in pieces]).tolist() == lengths


def test_small_batches_are_joined():
    """Also if each has a dictionary of its own; where those do not fit together, they stay apart."""
    kinds = {pa.string(): 1, pa.dictionary(pa.int32(), pa.string()): 1, pa.dictionary(pa.int8(), pa.string()): 10}
    for kind, most in kinds.items():
        for make in (LISTS, LONG):
            names = [[f"{number}-{i}" for i in range(50)] for number in range(10)]
            if make is LISTS:
                batches = [pa.record_batch({"items": pa.array([part], pa.list_(kind))}) for part in names]
            else:
                batches = [pa.record_batch({"id": [part[0]] * 50, "item": pa.array(part, kind)}) for part in names]
            pieces = list(rows_of(batches, batches[0].schema, make))
            assert len(pieces) == most
            assert transactions_of(pieces) == [sorted(part) for part in names]


BOUGHT = [["a", "b"], ["a"], ["c"], ["d"], [], None]
FRAMES = {
    "pandas": lambda: pd.DataFrame({"items": [["a", "b"], ("a",), {"c"}, frozenset("d"), [], None]}),
    "pandas series": lambda: pd.Series(BOUGHT),
    "polars": lambda: pl.DataFrame({"items": BOUGHT}),
    "polars series": lambda: pl.Series(BOUGHT),
    "duckdb": lambda: duckdb.sql("FROM (VALUES (['a','b']), (['a']), (['c']), (['d']), ([]), (NULL)) t(items)"),
    "table": lambda: pa.table({"items": BOUGHT}),
    "reader": lambda: pa.table({"items": BOUGHT}).to_reader(),
    "batch": lambda: pa.record_batch({"items": BOUGHT}),
    "array": lambda: pa.array(BOUGHT),
    "chunks": lambda: pa.chunked_array([BOUGHT[:2], BOUGHT[2:]]),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_of_every_library(make):
    assert frame_rows(make()) == [row or [] for row in BOUGHT]


def test_pandas_long_and_wide():
    long = pd.DataFrame({"id": [1, 1, 2, 3], "item": pd.Categorical(["a", "b", None, "a"])}, index=[9, 8, 7, 6])
    assert frame_rows(long, LONG) == [["a", "b"], [], ["a"]]
    wide = pd.get_dummies(pd.Series(["a", "b", "a"]))
    assert frame_rows(wide, WIDE) == [["a"], ["b"], ["a"]]
    gaps = pd.DataFrame({7: [1, None], 8: [0, 1]})
    assert frame_rows(gaps, WIDE) == [["7"], ["8"]]
    assert frame_rows(pd.DataFrame({"a": pd.array([True, None], "boolean")}), WIDE) == [["a"], []]


@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), max_size=10),
    fill=st.integers(0, 1),
    flags=st.booleans(),
)
def test_sparse_pandas(rows, fill, flags):
    dense = pd.DataFrame(rows, columns=["a", "b"], dtype=np.int64)
    dense, kind = (dense.astype(bool), bool) if flags else (dense, np.int64)
    sparse = dense.astype(pd.SparseDtype(kind, kind(fill)))
    expected = [[name for name, cell in zip("ab", row, strict=True) if cell] for row in rows]
    assert frame_rows(sparse, Layout("arrow-wide", counts=True)) == expected
    assert all(pa.types.is_run_end_encoded(field.type) for field in table_reader(sparse).schema)


@pytest.mark.no_sanitizer("memory is measured")
def test_sparse_pandas_is_never_spread_out():
    """Two million rows and a thousand columns: two thousand million cells, of which two thousand hold something."""
    rows, columns = 2_000_000, 1000
    script = f"""
        import numpy as np, pandas as pd
        from tests.support.memory import peak_memory
        from veilset.io.arrow import rows_of
        from veilset.io.frames import table_reader
        from veilset.io.layout import Layout
        def column(j):
            places = pd._libs.sparse.IntIndex({rows}, np.array([j, {rows} - 1 - j], np.int32))
            return pd.arrays.SparseArray(np.ones(2, bool), sparse_index=places, fill_value=False)
        frame = pd.DataFrame({{str(j): column(j) for j in range({columns})}}, copy=False)
        before = peak_memory()
        reader = table_reader(frame)
        pieces = list(rows_of(reader, reader.schema, Layout("arrow-wide")))
        print(sum(len(piece.codes) for piece in pieces), sum(len(piece.offsets) - 1 for piece in pieces))
        print((peak_memory() - before) // 2**20)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    *counted, megabytes = map(int, done.stdout.split())
    assert counted == [2 * columns, rows]
    assert megabytes < 200


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (pl.DataFrame({"a": [1]}).lazy(), ("polars LazyFrame",)),
        ([["a"]], ("list", "from_lists")),
        (pd.DataFrame({"items": [["a", 1], [2]]}), ("pandas DataFrame",)),
        (pd.DataFrame({"items": [object()]}), ("pandas DataFrame",)),
    ],
)
def test_what_is_no_table(frame, named):
    with refused(InvalidArgument, *named):
        table_reader(frame)


@pytest.mark.parametrize("format_", ["arrow", "arrow-long", "arrow-wide"])
@given(rows=TRANSACTIONS, size=st.integers(1, 6))
def test_blocks_come_back(format_, rows, size):
    """What is written is what was there, in whatever blocks; a wide table needs an item."""
    layout = Layout(format_, columns=LONG.columns if format_ == "arrow-long" else ())
    if not any(rows) and format_ == "arrow-wide":
        with refused(InvalidArgument, "no items"):
            blocks_of(rows, layout, size)
        return
    schema, blocks = blocks_of(rows, layout, size)
    assert all(block.schema == schema for block in blocks)
    table = pa.concat_tables([schema.empty_table(), *blocks])
    assert read(table, layout) == [sorted(row) for row in rows]


def test_what_blocks_look_like():
    offsets, items, names = np.array([1, 3, 3, 4]), np.array([9, 0, 1, 1], np.int32), ["ale", "bun"]
    lists = block_of(offsets, items, names, Layout("parquet"), 7)
    assert lists.to_pydict() == {"items": [["ale", "bun"], [], ["bun"]]}
    long = block_of(offsets, items, names, Layout("parquet-long"), 7)
    assert long.to_pydict() == {"id": [7, 7, 8, 9], "item": ["ale", "bun", None, "bun"]}
    assert long.schema.types == [pa.int64(), pa.string()]
    wide = block_of(offsets, items, names, Layout("parquet-wide"), 7)
    assert wide.to_pydict() == {"ale": [True, False, False], "bun": [True, False, True]}
    named = Layout("parquet-long", columns=("who", "what"))
    assert schema_of(names, named).names == block_of(offsets, items, names, named, 1).column_names == ["who", "what"]
    assert schema_of(names, Layout("parquet", columns=("basket",))).names == ["basket"]
