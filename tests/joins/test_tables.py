"""Tables in every form that users have: the same table comes out, and what is refused says which table it was."""

import datetime
import gzip

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.postgres import server
from veilset.errors import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.joins.columns import attributes
from veilset.joins.tables import Csv, Query, notes_of, read_table
from veilset.limits import Limits

TABLE = pa.table(
    {
        "id": pa.array(["007", None, "12"]),
        "age": pa.array([7, None, 30]),
        "price": pa.array([0.5, 2.0, None]),
        "day": pa.array([datetime.date(2024, 5, 1), datetime.date(2023, 1, 31), None]),
        "paid": pa.array([True, False, None]),
        "note": pa.array(["a, b", 'say "x"', None]),
    }
)
TEXT = 'id,age,price,day,paid,note\n007,7,0.5,2024-05-01,true,"a, b"\n,,2.0,2023-01-31,false,"say ""x"""\n12,30,,,,\n'


def read(given, keys=("id",), **bounds) -> pa.Table:
    return read_table("T", given, keys=keys, limits=Limits(**bounds))


@pytest.mark.parametrize(
    "given",
    [TABLE, TABLE.to_batches()[0], pl.from_arrow(TABLE), TABLE.to_pandas(types_mapper=pd.ArrowDtype)],
    ids=lambda given: type(given).__module__,
)
def test_frames(given):
    assert read(given).to_pylist() == TABLE.to_pylist()


def test_readers_and_relations():
    assert read(TABLE.to_reader()).equals(TABLE)
    people = TABLE
    assert read(duckdb.sql("SELECT * FROM people")).to_pylist() == TABLE.to_pylist()
    assert len(people) == 3


def test_pandas_without_arrow_types():
    """An index is no column; NaN and None are missing."""
    frame = pd.DataFrame({"id": ["a", None], "x": [1.5, float("nan")]}, index=[5, 6])
    assert read(frame).to_pydict() == {"id": ["a", None], "x": [1.5, None]}


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc"])
@pytest.mark.parametrize("rows", [3, 0])
def test_binary_files(tmp_path, name, rows):
    path = tmp_path / name
    write = pyarrow.parquet.write_table if name.startswith("t.p") else pyarrow.feather.write_feather
    write(TABLE.slice(0, rows), path)
    for form in (path, str(path)):
        table = read(form)
        assert table.to_pylist() == TABLE.slice(0, rows).to_pylist()
        assert table.column_names == TABLE.column_names
        assert [a.kind for a in attributes(table, table.column_names)] == [
            "category",
            *["number"] * 3,
            *["category"] * 2,
        ]
        assert notes_of(table) == ()


def test_text_in_parquet_of_many_row_groups(tmp_path):
    """It comes as codes, with a dictionary for each group."""
    words = [f"w{number % 7}" for number in range(1000)]
    pyarrow.parquet.write_table(pa.table({"id": words}), tmp_path / "t.parquet", row_group_size=90)
    (attribute,) = attributes(read(tmp_path / "t.parquet"), ["id"])
    assert attribute.values.take(pa.array(attribute.codes)).to_pylist() == words


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.csv.gz", "t.csv.zst", "t.tsv"])
def test_text_files(tmp_path, name):
    path = tmp_path / name
    text = TEXT.replace('"a, b"', "a; b").replace(",", "\t").replace("a; b", "a, b") if name.endswith("tsv") else TEXT
    packed = {".gz": gzip.compress, ".zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}
    path.write_bytes(packed.get(path.suffix, bytes)(text.encode()))
    table = read(path)
    assert table.equals(TABLE)
    assert notes_of(table) == ("6 empty fields were read as missing.",)


def test_only_key_columns_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text("id,code\n007,007\n")
    assert read(tmp_path / "t.csv").to_pylist() == [{"id": "007", "code": 7}]
    assert read(tmp_path / "t.csv", keys=["code", "other"]).to_pylist() == [{"id": 7, "code": "007"}]
    assert notes_of(read(tmp_path / "t.csv")) == ()


def test_all_values_decide_about_a_type(tmp_path):
    """Also those far behind the first block."""
    (tmp_path / "t.csv").write_text("n,t,long\n" + f"1,2,{'x' * 1000}\n" * 40_000 + "1.5,x,y\n")
    table = read(tmp_path / "t.csv")
    assert table.schema.types == [pa.float64(), pa.string(), pa.string()]
    assert table.slice(40_000).to_pylist() == [{"n": 1.5, "t": "x", "long": "y"}]


@examples(100)
@given(
    st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)] * 2), min_size=1)
)
def test_any_text_in_quotes(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "t.csv"
    quoted = ["a,b", *(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)]
    path.write_bytes("\n".join(quoted).encode())
    assert read(path, keys="ab").to_pydict() == {"a": [a for a, _ in rows], "b": [b for _, b in rows]}


def test_other_encodings_and_delimiters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("id;café\n1;é\n".encode("latin-1"))
    assert read(Csv(path, encoding="latin-1", delimiter=";")).to_pydict() == {"id": ["1"], "café": ["é"]}
    with refused(UnreadableInput, "T", "0xe9", "encoding"):
        read(path)
    with refused(UnreadableInput, "T", "id;café", "delimiter=';'"):
        read(Csv(path, encoding="latin-1"))
    for wrong in ("", ";;", '"', "é"):
        with refused(InvalidArgument, "delimiter", repr(wrong)):
            read(Csv(path, delimiter=wrong))


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("", UnreadableInput, ["t.csv"]),
        ("a,b\n1\n", UnreadableInput, ["t.csv", "2", "1"]),
        ("a,,b\n1,2,3\n", UnreadableInput, ["t.csv", "Column 2"]),
        ("a,a\n1,2\n", InvalidArgument, ["'a'", "2"]),
        ("a\n\0\n", UnreadableInput, ["line 2"]),
    ],
)
def test_text_files_that_are_refused(tmp_path, monkeypatch, text, kind, values):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    with refused(kind, "Table 'T'", *values):
        read("t.csv")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv.gz"])
def test_damaged_and_missing_files(tmp_path, name):
    with refused(UnreadableInput, "Table 'T'", name):
        read(tmp_path / name)
    (tmp_path / name).write_bytes(b"nonsense")
    with refused(UnreadableInput, "Table 'T'", name):
        read(tmp_path / name)


@pytest.mark.parametrize("given", ["t.xlsx", "t", "t.parquet.gz"])
def test_names_that_indicate_no_format(given):
    with refused(InvalidArgument, "Table 'T'", given, ".csv.gz"):
        read(given)


@pytest.mark.parametrize("given", [None, 7, [[1]], {"a": [1]}])
def test_what_is_no_table(given):
    with refused(InvalidArgument, "Table 'T'", type(given).__name__):
        read(given)


def test_columns_without_a_name_of_their_own():
    with refused(InvalidArgument, "Table 'T'", "'a'", "2"):
        read(pa.table([[1], [2]], names=["a", "a"]))
    with refused(InvalidArgument, "Table 'T'"):
        read(pa.table({}))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_limits(tmp_path, name):
    path = tmp_path / name
    table = pa.table({"id": [f"{number:09}" for number in range(300_000)]})
    if name == "t.csv":
        path.write_text("id\n" + "\n".join(table.column(0).to_pylist()))
    else:
        (pyarrow.parquet.write_table if name == "t.parquet" else pyarrow.feather.write_feather)(table, path)
    assert read(path).num_rows == 300_000
    with refused(BudgetExceeded, "Table 'T'"):
        read(path, memory_limit="10MB")
    with refused(BudgetExceeded, "Table 'T'"):
        read(path, time_limit=1e-9)


@pytest.fixture
def shop(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE sold AS SELECT '007' AS id, 3 AS many, DATE '2024-05-01' AS day")
    return str(tmp_path / "shop.duckdb")


def test_duckdb(shop):
    table = read(Query(shop, "SELECT * FROM sold"))
    assert table.to_pylist() == [{"id": "007", "many": 3, "day": datetime.date(2024, 5, 1)}]
    assert read(Query(shop, "SELECT * FROM sold WHERE many > 5")).schema.names == ["id", "many", "day"]
    with refused(InvalidArgument, "Table 'T'", "sold", "sql='SELECT * FROM sold'"):
        read(shop)
    with refused(UnreadableInput, "Table 'T'", "solid"):
        read(Query(shop, "SELECT * FROM solid"))


def test_a_query_shows_no_password():
    assert "secret" not in repr(Query("postgresql://ann:secret@shop.example/sales", "SELECT 1"))


@pytest.fixture(scope="module")
def postgres():
    with server() as started:
        with psycopg.connect(started.url) as connection:
            connection.execute(
                "CREATE TABLE visits (id numeric, cost numeric, exact numeric(9, 2), day date, at timestamp, "
                "zoned timestamptz, hour time, paid bool, many int, town text)"
            )
            connection.execute(
                "INSERT INTO visits VALUES (7, 1.5, 2.25, '2024-05-01', '2024-05-01 12:00:00.5', "
                "'2024-05-01 12:00:00.5+02', '12:30', true, 3, 'Ulm')"
            )
            connection.execute("INSERT INTO visits DEFAULT VALUES")
        yield started


@pytest.mark.postgres
def test_postgresql(postgres):
    table = read(Query(postgres.url, "SELECT * FROM visits"))
    assert table.num_rows == 2
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "double",
        "decimal256(9, 2)",
        "date32[day]",
        "timestamp[us]",
        "timestamp[us, tz=UTC]",
        "time64[us]",
        "bool",
        "int32",
        "string",
    ]
    first, second = table.to_pylist()
    assert (first["id"], first["cost"], first["day"]) == ("7", 1.5, datetime.date(2024, 5, 1))
    assert first["at"] == datetime.datetime(2024, 5, 1, 12, 0, 0, 500_000)
    assert first["zoned"] == datetime.datetime(2024, 5, 1, 10, 0, 0, 500_000, datetime.UTC)
    assert first["hour"] == datetime.time(12, 30)
    assert set(second.values()) == {None}
    with refused(UnreadableInput, "Table 'T'", "day", "infinity"):
        read(Query(postgres.url, "SELECT DATE 'infinity' AS day"))
