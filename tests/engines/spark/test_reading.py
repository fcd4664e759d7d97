"""Reading on Spark: the transactions that `veilset.read` gives of the same source."""

from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import veilset as vs
from tests.support.errors import refused
from veilset import InvalidArgument, UnreadableInput
from veilset.engines import Piece
from veilset.engines.rows import unpacked
from veilset.engines.spark import Spark

pytestmark = pytest.mark.spark

LISTS = [["b", "a", "b"], [], ["é", "a b", "b"], ["10"], None]
LONG = [("x", "b"), ("x", "b"), ("y", None), ("x", "a,b"), ('z"', "b"), ("z", "\N{GREEK SMALL LETTER RHO}")]


def rows(held):
    """The transactions, in no order."""
    found = []
    for batch in held.coded.toArrow().column("row").chunks:
        piece = Piece(*unpacked(batch))
        for begin, end in pairwise(piece.offsets):
            found.append([held.names[code] for code in piece.items[begin:end].tolist()])
    return sorted(found)


def same(held, data):
    assert held.names == data.names
    assert len(held) == len(data)
    assert rows(held) == sorted(data.to_lists())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_lists_of_names_in_parquet(spark, tmp_path, kind):
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"who": range(5), "what": pa.array(LISTS, pa.list_(kind))}), path)
    same(spark.read(path), vs.read(path))


def test_lists_of_numbers_are_in_the_order_of_numbers(spark, tmp_path):
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"what": [[10, 9, 9], [-1], [100]]}), path)
    held = spark.read(path, sensitive=[9])
    same(held, vs.read(path))
    assert held.names == ("-1", "9", "10", "100")
    assert held.sensitive == ("9",)
    assert repr(held) == "<SparkHeld: 3 transactions, 4 different items, 1 of them sensitive>"


def test_long_parquet_and_a_table(spark, tmp_path):
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"order id": [one for one, _ in LONG], "the.item": [item for _, item in LONG]}), path)
    long = ("order id", "the.item")
    same(spark.read(path, long=long), vs.read(path, long=long))
    frame = spark.session.read.parquet(str(path))
    frame.createOrReplaceTempView("sales")
    same(spark.read("sales", long=long, format="table"), vs.read(path, long=long))
    same(spark.read(frame, long=long), vs.read(path, long=long))


def test_long_csv(spark, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text('id,item,price\n1,tea,3\n2,"milk, ""fresh""",1\n1,ale,2\n1,tea,3\n3,"two\nlines",9\n')
    same(spark.read(path, long=("id", "item")), vs.read(path, long=("id", "item")))


def test_a_folder_of_parquet_is_one_source(spark, tmp_path):
    for number, row in enumerate((["a"], ["b", "a"])):
        pq.write_table(pa.table({"items": [row]}), tmp_path / f"part-{number}.parquet")
    assert rows(spark.read(tmp_path)) == [["a"], ["a", "b"]]


def test_a_delta_table_is_not_read_as_its_files(spark, tmp_path):
    pq.write_table(pa.table({"items": [["a"]]}), tmp_path / "part-0.parquet")
    (tmp_path / "_delta_log").mkdir()
    with refused(UnreadableInput, "Delta", str(tmp_path)):
        spark.read(tmp_path)


@pytest.mark.parametrize(
    ("table", "how", "kind", "named"),
    [
        ({"items": [["a", None]]}, {}, UnreadableInput, "null"),
        ({"items": [["a", ""]]}, {}, UnreadableInput, "empty"),
        ({"items": [["a"]], "more": [["b"]]}, {}, InvalidArgument, "'more'"),
        ({"items": [["a"]]}, {"column": "itmes"}, InvalidArgument, "itmes"),
        ({"items": ["a"]}, {}, InvalidArgument, "lists"),
        ({"items": ["a"]}, {"column": "items"}, InvalidArgument, "lists"),
        ({"items": [[1.5]]}, {}, InvalidArgument, "double"),
        ({"id": [None, 1], "item": ["a", "b"]}, {"long": ("id", "item")}, UnreadableInput, "'id'"),
        ({"id": [1], "item": [["b"]]}, {"long": ("id", "item")}, InvalidArgument, "array"),
        ({"id": [1.0], "item": ["b"]}, {"long": ("id", "item")}, InvalidArgument, "double"),
        ({"items": [["a"]]}, {"long": ("id", "item"), "column": "items"}, InvalidArgument, "long"),
        ({"items": [["a"]]}, {"sensitive": ["b"]}, InvalidArgument, "'b'"),
        ({"items": [["a"]]}, {"format": "xls"}, InvalidArgument, "xls"),
        ({"items": pa.array([], pa.list_(pa.string()))}, {}, UnreadableInput, "no transactions"),
    ],
)
def test_what_cannot_be_read(spark, tmp_path, table, how, kind, named):
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table(table), path)
    with refused(kind, named):
        spark.read(path, **how)


def test_what_is_no_source(spark, tmp_path):
    with refused(UnreadableInput, "nowhere.parquet"):
        spark.read(tmp_path / "nowhere.parquet")
    with refused(InvalidArgument, "baskets"):
        spark.read("baskets")
    with refused(InvalidArgument, "long"):
        spark.read(tmp_path / "lines.csv")
    with refused(InvalidArgument, "dict"):
        spark.read({})


def test_sessions(spark):
    again = Spark(spark.session)
    again.stop()  # not ours: it goes on
    assert spark.session.range(3).count() == 3
    with refused(InvalidArgument, "running already"):
        Spark.start("local[1]")
    with refused(InvalidArgument, "dict"):
        Spark({})
