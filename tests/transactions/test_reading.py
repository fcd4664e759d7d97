"""One description of reading: the arguments of `read`, [input] of a recipe, the options of the command line."""

from __future__ import annotations

import ast
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

import veilset as vs
from tests.support.errors import refused
from veilset.cli.options import ReadingOptions
from veilset.io import FORMATS, Layout
from veilset.options import declared
from veilset.transactions import LAYOUT, Reading

SRC = Path(vs.__file__).parent


def test_read_takes_what_is_declared():
    takes = signature(vs.read).parameters
    own = {"source", "memory_limit"}
    assert {*takes} - own <= {*Reading.model_fields}
    options = {said.name for said in declared(Reading)}
    assert options - {*takes} == {"sensitive_items", "sensitive_files", "taxonomy_columns", "taxonomy_kind"}
    for name in {*takes} - own:
        assert takes[name].default == Reading.model_fields[name].default, name
    described = vs.read.__doc__ or ""
    assert all(f"\n    {name} : " in described for name in takes)


def test_the_command_line_takes_what_is_declared():
    assert {field.name for field in fields(ReadingOptions)} == {said.name for said in declared(Reading)}
    for field in fields(ReadingOptions):
        assert field.default == Reading.model_fields[field.name].default, field.name
    assert ReadingOptions().recipe("x.csv") == Reading(path="x.csv")


def test_help_is_short():
    for said in declared(Reading):
        assert 0 < len(said.option.help.split()) < 25, said.name


def test_only_commands_that_publish_import_the_room_publish():
    for command in ("mine", "audit", "sensitive", "taxonomy", "generate", "options"):
        tree = ast.parse((SRC / "cli" / f"{command}.py").read_text())
        imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not any(name.startswith("veilset.publish") for name in imported), command


LONG, WIDE = {"long": ("who", "what")}, {"wide": True, "ignore": ("age",), "counts": True}


@pytest.mark.parametrize("format", FORMATS)
def test_a_layout_says_what_it_was_told(format):  # noqa: A002 - the word users type
    shape = FORMATS[format].shape
    given = LONG if shape == "long" else WIDE if shape == "wide" else {}
    layout = Layout.choose("x.csv", format=format, **given)
    assert {*layout.told()} == LAYOUT
    assert Layout.choose("y.dat", **layout.told()) == layout


@pytest.mark.parametrize(
    ("name", "value"),
    [("long", "who"), ("long", ("a", "b", "c")), ("ignore", "age"), ("format", 3), ("header", "perhaps")],
)
def test_a_value_of_another_kind_is_refused(name, value):
    with pytest.raises(vs.InvalidArgument) as caught:
        vs.read("x.csv", **{name: value})
    assert caught.value.what == f"{name} is {value!r}."


def test_what_is_said_replaces_the_layout_of_another():
    earlier = Reading(path="old.csv", delimiter=";", person="who", header=True, encoding="latin-1")
    assert Reading(path="new.csv", format="fimi").laid_out_as(earlier) == Reading(path="new.csv", format="fimi")
    expected = earlier.model_copy(update={"path": "new.csv", "encoding": "utf-16"})
    assert Reading(path="new.csv", encoding="utf-16").laid_out_as(earlier) == expected


ROWS_AND_PEOPLE = {
    "person": "cust",
    "where": "country = 'France'",
    "unknown_person": ("0",),
    "unknown_rows": "separate",
    "missing": "skip",
    "normalize": ("strip", "case"),
}


@pytest.mark.parametrize(
    "given", [{}, {"person": "who"}, {"where": "a = 'b'"}, {"unknown_rows": "skip"}, {"normalize": ("nfc",)}], ids=str
)
def test_another_layout_leaves_rows_people_and_names_as_they_were(given):
    earlier = Reading(path="old.csv", long=("order", "what"), delimiter=";", encoding="latin-1", **ROWS_AND_PEOPLE)
    there = {"path": "new.csv", "long": ("inv", "item")}
    assert Reading(**there, **given).laid_out_as(earlier) == Reading(**there, **{**ROWS_AND_PEOPLE, **given})


def test_a_layout_without_columns_has_no_people_but_does_not_lose_a_condition():
    found = Reading(path="new.dat", format="fimi").laid_out_as(Reading(path="old.csv", **ROWS_AND_PEOPLE))
    assert (found.person, found.unknown_person, found.unknown_rows) == (None, (), None)
    assert (found.where, found.normalize) == (ROWS_AND_PEOPLE["where"], ROWS_AND_PEOPLE["normalize"])


def test_of_names_that_do_not_occur_the_first_is_told_in_any_process(tmp_path):
    (tmp_path / "x.csv").write_text("ale,bun\n")
    names = tuple(f"item {number}" for number in range(20, 9, -1))
    with refused(vs.InvalidArgument, "'item 10'", 11):
        Reading(path=str(tmp_path / "x.csv"), sensitive=names).read()


@pytest.mark.parametrize(
    ("wrong", "values"),
    [
        ({"unknown_person": "unknown"}, ["'unknown'", "['unknown']"]),
        ({"unknown_person": "0,NA"}, ["['0', 'NA']"]),
        ({"long": "visit_id,icd_code"}, ["('visit_id', 'icd_code')"]),
        ({"long": ["visit_id"]}, ["('order', 'product')"]),
        ({"normalize": "upper"}, ["'upper'", "'strip'", "'case'", "'nfc'"]),
        ({"unknown_rows": "drop"}, ["'drop'", "'separate'", "'skip'"]),
        ({"wide": "yes"}, ["'yes'", "True", "False"]),
        ({"person": 3}, ["3", "text"]),
    ],
)
def test_a_wrong_option_is_answered_with_what_to_write(wrong, values, tmp_path, snapshot):
    with refused(vs.InvalidArgument, *wrong, *values) as caught:
        vs.read(tmp_path / "baskets.csv", **wrong)
    assert str(caught.value) == snapshot
