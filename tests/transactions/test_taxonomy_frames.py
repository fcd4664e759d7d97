"""Taxonomies from frames: the same forms, and the same checks, as tables in files."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veilset as vs
from tests.support.errors import refused
from veilset import InvalidArgument, Taxonomy, UnreadableInput

PATHS = {"item": ["milk", "brie", "soap"], "level2": ["dairy", "dairy", "household"], "level1": ["food", "food", None]}
EDGES = {"child": ["milk", "brie", "dairy", "soap"], "parent": ["dairy", "dairy", "food", None]}
MEANT = {"milk": ["dairy", "food"], "brie": ["dairy", "food"]}
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "reader": lambda of: pa.table(of).to_reader(),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_paths_and_edges(make):
    assert Taxonomy.from_frame(make(PATHS)) == Taxonomy.from_paths({**MEANT, "soap": ["household"]})
    assert Taxonomy.from_frame(make(EDGES)) == Taxonomy.from_paths({**MEANT, "soap": []})


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_columns_and_kind(make):
    frame = make({"price": [1.5, 2.5], "shelf": ["drinks", "food"], "label": ["ale", "bun"]})
    assert Taxonomy.from_frame(frame, columns=["label", "shelf"]).to_paths() == {"ale": ["drinks"], "bun": ["food"]}
    named = {"node": ["ale", "drinks"], "above": ["drinks", ""]}
    assert Taxonomy.from_frame(make(named), kind="edges").to_paths() == {"ale": ["drinks"]}
    assert Taxonomy.from_frame(make(EDGES), kind="paths").to_paths()["dairy"] == ["food"]


def test_whole_numbers_are_names():
    """As pandas has them: a column of numbers with a gap holds 5.0."""
    frame = pd.DataFrame({"item": [48, 39], "shelf": [5, None], "floor": pd.Series([1, None], dtype="category")})
    assert Taxonomy.from_frame(frame).to_paths() == {"39": [], "48": ["5", "1"]}


def test_what_a_file_says_a_frame_says(tmp_path):
    for frame in (pd.DataFrame(PATHS), pd.DataFrame(EDGES)):
        frame.to_csv(tmp_path / "tree.csv", index=False)
        assert Taxonomy.read(tmp_path / "tree.csv") == Taxonomy.from_frame(frame)


@pytest.mark.parametrize(
    ("frame", "options", "kind", "values"),
    [
        ({"item": ["a", "b", "a"], "shelf": ["x", "x", "y"]}, {}, UnreadableInput, ("Row 3", "row 1", "'a'")),
        ({"item": ["a", None], "shelf": ["x", "x"]}, {}, UnreadableInput, ("Row 2", "'item'")),
        ({"item": ["a"], "shelf": [None], "floor": ["x"]}, {}, UnreadableInput, ("Row 1", "'shelf'")),
        ({"item": ["a", "x"], "shelf": ["x", None]}, {}, UnreadableInput, ("Row 2", "row 1", "'x'")),
        ({"item": ["a", "b"], "price": [1.0, 2.5]}, {}, UnreadableInput, ("Row 2", "'price'", 2.5)),
        ({"item": ["a", "b"], "there": [True, False]}, {}, UnreadableInput, ("Row 1", "'there'", True)),
        ({"item": ["a"], "shelf": [["x", "y"]]}, {}, UnreadableInput, ("Row 1", "'shelf'")),
        ({"item": ["a"]}, {}, UnreadableInput, ("frame", "'item'")),
        ({"item": [], "shelf": []}, {}, UnreadableInput, ("frame",)),
        ({"child": ["a", "a"], "parent": ["x", "y"]}, {}, UnreadableInput, ("Row 2", "row 1", "'a'", "'x'", "'y'")),
        ({"child": ["a", "b"], "parent": ["b", "a"]}, {}, UnreadableInput, ("Row 1", "'a'", "'b'")),
        ({"child": [None], "parent": ["b"]}, {}, UnreadableInput, ("Row 1", "'child'")),
        ({"child": [], "parent": []}, {}, UnreadableInput, ("frame",)),
        ({"a": ["x"], "b": ["y"], "c": ["z"]}, {"kind": "edges"}, UnreadableInput, ("frame", 3, "'c'")),
        (PATHS, {"columns": ["itm", "level1"]}, InvalidArgument, ("'itm'", "'item'")),
        (PATHS, {"columns": "item"}, InvalidArgument, ("'item'",)),
        (PATHS, {"kind": "json"}, InvalidArgument, ("'json'", "'paths'", "'edges'")),
    ],
)
def test_what_is_wrong_is_named_with_its_row(frame, options, kind, values):
    with refused(kind, *values) as caught:
        Taxonomy.from_frame(pd.DataFrame(frame), **options)
    assert ", line " not in str(caught.value)


def test_what_is_no_frame():
    for wrong in (None, 5, [["milk", "food"]]):
        with refused(InvalidArgument):
            Taxonomy.from_frame(wrong)
    with refused(InvalidArgument, "'item'"):
        Taxonomy.from_frame(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["item", "item"]))


def test_a_frame_may_be_the_taxonomy_of_a_method_and_of_branches():
    rows = [["milk", "soap"], ["brie", "soap"], ["milk"], ["brie"]]
    data = vs.Transactions.from_lists(rows)
    release = vs.anonymize(data, vs.Coherence(k=2, p=2), method="generalize", taxonomy=pd.DataFrame(PATHS))
    assert release.options["taxonomy"]["milk"] == ["dairy", "food"]
    table = pa.table({"items": rows})
    assert vs.read(table, sensitive=["branch: dairy"], taxonomy=pd.DataFrame(PATHS)).sensitive == ("brie", "milk")
    assert vs.read(table, sensitive=["branch: dairy"], taxonomy=MEANT).sensitive == ("brie", "milk")
    with refused(InvalidArgument, "taxonomy", "DataFrame", "Taxonomy.from_frame"):
        data.with_sensitive(["branch: dairy"], taxonomy=pl.DataFrame(PATHS))
