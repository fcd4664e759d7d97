"""Models on disk: they predict as before, only their owner can open them, and damaged ones are refused."""

import datetime
import json
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.joins import nodes_of, studies
from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.joins import JoinClassifier
from veilset.joins.values import from_json, to_json

DAY = datetime.date(2024, 2, 28)
NOON = datetime.datetime(2024, 2, 28, 12, 0, 0, 5)
VALUES = {
    "whole": pa.array([1, 2, None, 4]),
    "float": pa.array([0.1, float("inf"), None, -3.5]),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.25"), None, Decimal("-0.10")], pa.decimal128(9, 2)),
    "text": pa.array(["é", "\U0001f600", None, ""]),
    "boolean": pa.array([True, False, None, True]),
    "date": pa.array([DAY, DAY.replace(day=29), None, DAY.replace(year=1970)]),
    "time": pa.array([datetime.time(8, 30), datetime.time(23, 59, 59, 7), None, datetime.time(0)]),
    "moment": pa.array([NOON, NOON.replace(hour=13), None, NOON.replace(year=1912)]),
    "moment in Berlin": pa.array([NOON, NOON.replace(hour=13), None, NOON], pa.timestamp("us", "Europe/Berlin")),
    "nanoseconds": pa.array([1000, 2000, None, 10**18], pa.timestamp("ns")),
    "nanoseconds in UTC": pa.array([1000, 2000, None, 10**18], pa.timestamp("ns", "UTC")),
    "duration": pa.array([datetime.timedelta(days=-2), datetime.timedelta(microseconds=3), None, datetime.timedelta()]),
    "short duration": pa.array([1000, 2000, None, 7000], pa.duration("ns")),
}


def trained(**options):
    people = pa.table({"id": ["a", "b", "c", "d"], "rich": ["yes", "no", "yes", "no"]})
    visits = pa.table({"person": ["a", "a", "b", "b", "c", "d"], "day": [1, 2, 2, 3, 1, 3]})
    tables = {"people": people, "visits": visits}
    joins = ["people.id = visits.person"]
    return JoinClassifier(prune=None, **options).fit(tables, joins=joins, target="people.rich"), tables


@given(study=studies(), split_joins=st.booleans(), prune=st.sampled_from([None, 0.25]))
@examples(100)
def test_a_loaded_model_predicts_the_same(study, split_joins, prune, tmp_path_factory):
    classifier = JoinClassifier(split_joins=split_joins, prune=prune, max_depth=3)
    try:
        classifier.fit(study.frames, joins=study.joins, target=".".join(study.target))
    except InvalidArgument:
        assume(False)
    folder = tmp_path_factory.mktemp("models") / "model"
    classifier.save(folder)
    loaded = JoinClassifier.load(folder)
    assert nodes_of(loaded.tree_) == nodes_of(classifier.tree_)
    assert loaded.get_params() == classifier.get_params() | {"ignore": [], "keys": []}
    for name in ("graph_", "matches_", "target_", "feature_names_", "feature_types_", "joined_rows_", "rows_by_level_"):
        assert getattr(loaded, name) == getattr(classifier, name), name
    assert loaded.feature_importances_ == classifier.feature_importances_
    assert loaded.predict(study.frames).tolist() == classifier.predict(study.frames).tolist()
    assert (loaded.predict_proba(study.frames) == classifier.predict_proba(study.frames)).all()


@pytest.mark.parametrize("name", VALUES)
def test_values_keep_their_types(name, tmp_path):
    """The class is that of the first and the second row, so that splits are between all values."""
    column = VALUES[name]
    for keep in ([0, 1, 2, 3], [0, 2], [3, 1, 0]):
        table = pa.table({"x": column.take(pa.array(keep)), "Class": [str(at % 2) for at in range(len(keep))]})
        classifier = JoinClassifier(prune=None).fit({"T": table}, target="T.Class")
        classifier.save(tmp_path / f"{len(keep)}{keep[0]}")
        loaded = JoinClassifier.load(tmp_path / f"{len(keep)}{keep[0]}")
        asked = [[node.split.value for node in one.tree_.root.walk() if node.split] for one in (classifier, loaded)]
        assert asked[0] == asked[1]
        assert [type(value) for value in asked[0]] == [type(value) for value in asked[1]]
        assert loaded.predict({"T": table}).tolist() == classifier.predict({"T": table}).tolist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_instants_of_every_unit(unit, tmp_path):
    table = pa.table({"x": pa.array([1, 2], pa.timestamp("s", "Europe/Berlin")).cast(pa.timestamp(unit, "Asia/Tokyo"))})
    fitted = JoinClassifier(prune=None).fit({"T": table.append_column("Class", [["a", "b"]])}, target="T.Class")
    fitted.save(tmp_path / "model")
    assert JoinClassifier.load(tmp_path / "model").predict({"T": table}).tolist() == ["a", "b"]


@pytest.mark.parametrize("name", VALUES)
def test_classes_keep_their_types(name, tmp_path):
    table = pa.table({"x": [1, 2, 3, 4], "Class": VALUES[name]})
    classifier = JoinClassifier(prune=None).fit({"T": table}, target="T.Class")
    classifier.save(tmp_path / "model")
    loaded = JoinClassifier.load(tmp_path / "model")
    assert loaded.classes_.dtype == classifier.classes_.dtype
    assert loaded.tree_.classes == classifier.tree_.classes
    assert list(map(type, loaded.tree_.classes)) == list(map(type, classifier.tree_.classes))
    assert loaded.score({"T": table}) == classifier.score({"T": table}) == 1


def test_options_are_kept(tmp_path):
    classifier, _ = trained(max_depth=0, min_leaf=2, ignore=["visits.day"], keys="strip, case")
    classifier.save(tmp_path / "model")
    loaded = JoinClassifier.load(tmp_path / "model", threads=1)
    changed = {"ignore": ["visits.day"], "keys": ["strip", "case"], "threads": 1}
    assert loaded.get_params() == classifier.get_params() | changed


def test_only_the_owner_can_open_it(tmp_path):
    classifier, _ = trained()
    classifier.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["model.json"]


def test_what_is_there_is_replaced_only_if_it_is_a_model(tmp_path):
    classifier, _ = trained()
    place = tmp_path / "model"
    classifier.save(place)
    with refused(InvalidArgument, place):
        classifier.save(place)
    classifier.save(place, replace=True)
    (place / "notes.txt").write_text("mine")
    with refused(InvalidArgument, place, "notes.txt"):
        classifier.save(place, replace=True)
    (place / "notes.txt").unlink()
    (place / "model.json").rename(place / "report.html")
    with refused(InvalidArgument, place):
        classifier.save(place, replace=True)
    with refused(CannotWrite, tmp_path / "nowhere"):
        classifier.save(tmp_path / "nowhere" / "model")
    with refused(InvalidArgument):
        JoinClassifier().save(tmp_path / "untrained")
    assert not (tmp_path / "untrained").exists()


def content_of(folder):
    trained()[0].save(folder)
    return json.loads((folder / "model.json").read_text())


def changed(content, path, value):
    """The same content with something else at one place; ...: without it."""
    *way, last = path
    inner = content
    for step in way:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return content


DAMAGE = {
    "another schema": (["schema_version"], 2),
    "no schema": (["schema_version"], "x"),
    "strange key": (["more"], 1),
    "no target": (["target"], ...),
    "target elsewhere": (["target"], ["nobody", "rich"]),
    "long target": (["target"], ["a", "b", "c"]),
    "strange option": (["options", "max_dept"], 3),
    "wrong option": (["options", "max_depth"], "deep"),
    "strange key step": (["options", "keys"], [3]),
    "no tables": (["tables"], []),
    "table twice": (["tables"], ["people", "people"]),
    "edge to nowhere": (["edges", 0, "right"], "nobody"),
    "edge to itself": (["edges", 0, "right"], "people"),
    "no edge": (["edges"], []),
    "edge without columns": (["edges", 0, "left_columns"], []),
    "edge with an empty column": (["edges", 0, "left_columns"], [[]]),
    "class twice": (["classes"], ["no", "no"]),
    "no class": (["classes"], []),
    "one class": (["classes"], ["no"]),
    "class of no type": (["classes", 0], {"complex": "1+i"}),
    "class that is a list": (["classes", 0], ["no"]),
    "no nodes": (["nodes"], []),
    "counts that do not add up": (["nodes", 0, "counts"], [1, 1]),
    "negative counts": (["nodes", 1, "counts", 0], -1),
    "empty node": (["nodes", 1, "counts"], [0, 0]),
    "counts that are no numbers": (["nodes", 0, "counts", 0], "4"),
    "gain that is no number": (["nodes", 0, "gain"], float("nan")),
    "a child": (["nodes", 0, "children"], [1]),
    "its own child": (["nodes", 0, "children"], [0, 1]),
    "far child": (["nodes", 0, "children"], [1, 99]),
    "no children": (["nodes", 0, "children"], ...),
    "no split": (["nodes", 0, "split"], ...),
    "no kind": (["nodes", 0, "split", "kind"], "colour"),
    "no such column": (["nodes", 0, "split", "column"], "night"),
    "no such table": (["nodes", 0, "split", "table"], "nights"),
    "value of no type": (["nodes", 0, "split", "value"], {"float": "much"}),
    "value of two types": (["nodes", 0, "split", "value"], {"float": "1", "date": "2024-01-01"}),
    "not a number": (["nodes", 0, "split", "value"], {"float": "nan"}),
    "no day": (["nodes", 0, "split", "value"], {"date": "2024-02-30"}),
    "no decimal": (["nodes", 0, "split", "value"], {"decimal": "1,5"}),
    "endless decimal": (["nodes", 0, "split", "value"], {"decimal": "Infinity"}),
    "long duration": (["nodes", 0, "split", "value"], {"microseconds": 2**70}),
    "long decimal": (["nodes", 0, "split", "value"], {"decimal": "1E+999999999"}),
    "large number": (["nodes", 0, "split", "value"], 2**64),
    "time with a zone": (["nodes", 0, "split", "value"], {"time": "12:00+01:00"}),
    "instant before all years": (["nodes", 0, "split", "value"], {"datetime": "0001-01-01T00:00+05:00"}),
    "missing number": (["nodes", 0, "split", "value"], None),
    "text as a number": (["nodes", 0, "split", "value"], "7"),
    "number as a category": (["nodes", 0, "split", "kind"], "category"),
    "missing class": (["classes", 0], None),
    "classes of two types": (["classes", 0], 1),
    "classes that are wider than any column": (["classes"], [-1, 2**63]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_models_are_refused(damage, tmp_path, snapshot):
    content = changed(content_of(tmp_path / "model"), *DAMAGE[damage])
    (tmp_path / "model" / "model.json").write_text(json.dumps(content))
    with refused(UnreadableInput, tmp_path / "model") as caught:
        JoinClassifier.load(tmp_path / "model")
    assert str(caught.value).replace(str(tmp_path), "…") == snapshot


OTHERS = {
    "another type": {"value": 7},
    "another zone": {"value": {"datetime": "2024-05-01T00:00:00+00:00"}},
    "another kind": {"kind": "category", "value": None},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_splits_of_one_column_have_values_of_one_type(other, tmp_path):
    days = pa.array([0, 1, 2, 3], pa.timestamp("s"))
    fitted = JoinClassifier(prune=None).fit({"T": pa.table({"day": days, "Class": list("abab")})}, target="T.Class")
    fitted.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    content = json.loads(file.read_text())
    last = max(number for number, node in enumerate(content["nodes"]) if "split" in node)
    content["nodes"][last]["split"].update(other)
    file.write_text(json.dumps(content))
    with refused(UnreadableInput, file, f"nodes.{last}.split.value"):
        JoinClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"nodes": []}'])
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "model.json").write_bytes(text)
    with refused(UnreadableInput, tmp_path / "model.json"):
        JoinClassifier.load(tmp_path)


def test_a_missing_model_is_refused(tmp_path):
    with refused(UnreadableInput, tmp_path / "model.json"):
        JoinClassifier.load(tmp_path)
    with refused(UnreadableInput, tmp_path / "none"):
        JoinClassifier.load(tmp_path / "none")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@given(data=st.data(), value=JSON)
@examples(300)
def test_anything_in_a_model_is_read_or_refused(data, value, tmp_path_factory):
    """And what is read predicts."""
    folder = tmp_path_factory.mktemp("models") / "model"
    content = content_of(folder)
    path, inner = [], content
    while isinstance(inner, (dict, list)) and inner and (not path or data.draw(st.integers(0, 3))):
        path.append(data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner)))))
        inner = inner[path[-1]]
    (folder / "model.json").write_text(json.dumps(changed(content, path, value)))
    try:
        loaded = JoinClassifier.load(folder)
    except UnreadableInput:
        return
    with suppress(InvalidArgument):  # such as a column that is not there
        assert len(loaded.predict(trained()[1])) == 4


@given(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.decimals(-(10**30), 10**30, places=9)
    | st.dates()
    | st.times()
    | st.datetimes()
    | st.datetimes(timezones=st.just(datetime.UTC))
    | st.timedeltas()
)
@examples(300)
def test_values_come_back(value):
    written = json.loads(json.dumps(to_json(value)))
    assert from_json(written) == value
    assert isinstance(from_json(written), type(value))
    assert np.array([from_json(written)]).dtype == np.array([value]).dtype
