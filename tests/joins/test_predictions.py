"""Predictions as a table: classes and counts of every size."""

import pyarrow as pa
import pytest

from veilset.io import write_pieces
from veilset.joins import JoinClassifier
from veilset.joins.predictions import prediction_table


def test_counts_up_to_what_can_be_counted(tmp_path):
    """2 · 10^38 joined rows of one row."""
    many = pa.table({"l": ["a"] * 100, "r": ["a"] * 100})
    tables = {"T": pa.table({"k": ["a"], "Class": ["A"]})} | {f"M{number}": many for number in range(19)}
    tables["End"] = pa.table({"k": ["a", "a"]})
    joins = [("T.k", "M0.l"), *((f"M{number}.r", f"M{number + 1}.l") for number in range(18)), ("M18.r", "End.k")]
    table = prediction_table(JoinClassifier().fit(tables, joins=joins, target="T.Class"), tables)
    assert table.to_pylist() == [{"row": 1, "prediction": "A", "share": 1.0, "joined_rows": 2 * 10**38}]
    assert table.schema.field("joined_rows").type == pa.decimal256(39, 0)
    for name in ("out.csv", "out.parquet", "out.jsonl", "out.json"):
        with write_pieces(tmp_path / name, table.schema, replace=False) as write:
            write(table)
    assert str(2 * 10**38) in (tmp_path / "out.csv").read_text()


ODD_CLASSES = [pa.array([1, 2**64 - 1], pa.uint64()), pa.array(["a", "a\0"])]


@pytest.mark.parametrize("classes", ODD_CLASSES, ids=["large", "NUL"])
def test_classes_of_every_size(classes):
    tables = {"T": pa.table({"x": [1, 2], "Class": classes})}
    fitted = JoinClassifier(prune=None).fit(tables, target="T.Class")
    assert prediction_table(fitted, tables).column("prediction").to_pylist() == classes.to_pylist()
