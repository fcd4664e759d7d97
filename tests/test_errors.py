"""One error, two readers: Python users read arguments, users of the command line read flags."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import veilset as vs
from veilset.anonymize import METHODS
from veilset.cli import main
from veilset.cli.flags import in_flags
from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput, said
from veilset.io import atomic_file, check_place
from veilset.models import PROMISES
from veilset.options import declared
from veilset.transactions import Reading

SRC = Path(vs.__file__).parent
FLAG = re.compile(r"(?<![-\w])--[a-z]")
TAKERS = [*PROMISES.values(), *(method for kind in PROMISES.values() for method in METHODS.of(kind).by_name.values())]
LONG_NAMES = {option.name for taker in (*TAKERS, Reading) for option in declared(taker) if "_" in option.name} - {"p_r"}
"""No word of English, and no letter of a paper: such as ``min_support``."""
WRITES_DOCSTRINGS = {"anonymize/methods.py"}
WRITES_SQL = {"search/schema.py"}
SHOWN_BY_COMMANDS = {"report/mined.py", "report/terminal_mined.py"}
"""They write what ``veilset mine`` shows, and nobody else calls them."""
GIVEN_TO_OTHERS = {"joins/parties/argmax_process.py"}
"""Flags of another program, not of ours."""


def literals(tree):
    """The strings of a module, without its docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )


def speaks_python(text):
    """Whether a text of several words, which is no markup, writes an option as Python does."""
    if not re.search("[A-Za-z]+ [a-z]+", text) or text.startswith("<"):
        return False
    return bool(re.search(r"(?<![\w.])[a-z]\w+=(?!=)", text) or LONG_NAMES & {*re.findall(r"\w+", text)})


def test_only_the_command_line_speaks_of_flags():
    found = {
        str(path.relative_to(SRC)): flagged
        for path in SRC.rglob("*.py")
        if path.relative_to(SRC).parts[0] != "cli"
        and (flagged := [text for text in literals(ast.parse(path.read_text())) if FLAG.search(text)])
    }
    assert set(found) == SHOWN_BY_COMMANDS | GIVEN_TO_OTHERS, found


def test_options_are_said_in_prose():
    """A sentence that holds ``columns=`` or ``min_support`` shows Python to users of the command line."""
    found = {
        str(path.relative_to(SRC)): written
        for path in SRC.rglob("*.py")
        if path.relative_to(SRC).parts[0] not in ("cli", "testing")
        and (written := [text for text in literals(ast.parse(path.read_text())) if speaks_python(text)])
    }
    assert set(found) == WRITES_DOCSTRINGS | WRITES_SQL, found


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("Name the parent with columns=, or leave it out.", True),
        ("Use kind='paths' here.", True),
        ("Choose a higher min_support.", True),
        ("more than p=4 items", False),  # a letter of the papers
        ("Name the parent.", False),
        ("min_support", False),
    ],
)
def test_python_in_a_sentence_is_found(text, speaks):
    assert speaks_python(text) == speaks


SAYINGS = [
    (("format", "parquet"), "format='parquet'", "--format parquet"),
    (("header", True), "header=True", "--header"),
    (("long", ("ID", "ITEM")), "long=('ID', 'ITEM')", "--long ID,ITEM"),
    (("ignore", ["a b", "c"]), "ignore=('a b', 'c')", "--ignore 'a b' --ignore c"),
    (("delimiter", " "), "delimiter=' '", "--delimiter ' '"),
    (("p", None), "p=None", "--p unlimited"),
    (("p", 4), "p=4", "--p 4"),
    (("h", 0.4), "h=0.4", "--h 0.4"),
    (("column", None), "column=None", "no --column"),
    (("certify", False), "certify=False", "--no-certify"),
    (("certify", True), "certify=True", "no --no-certify"),
    (("replace", True), "replace=True", "--replace"),
    (("sensitive_groups",), "sensitive_groups", "--sensitive-group"),
    (("memory_limit",), "memory_limit", "--memory-limit"),
]


@pytest.mark.parametrize(("what", "python", "flags"), SAYINGS, ids=str)
def test_both_spellings(what, python, flags):
    error = InvalidArgument(f"About {said(*what)}.", f"Say {said(*what)}, perhaps.")
    assert str(error) == f"About {python}. Say {python}, perhaps."
    assert repr(error) == f"InvalidArgument({error.what!r}, {error.next_step!r})"
    assert error.spelled(in_flags) == (f"About {flags}.", f"Say {flags}, perhaps.")


def test_the_spelling_survives_another_place():
    error = InvalidArgument("what", f"Say {said('wide', True)}.").within("line 3: ")
    assert (type(error), error.spelled(in_flags)) == (InvalidArgument, ("line 3: what", "Say --wide."))
    replaced = error.within("", f"Say {said('header', True)}.")
    assert (replaced.what, replaced.next_step) == ("line 3: what", "Say header=True.")


def test_an_option_has_another_name_in_another_place():
    error = InvalidArgument(f"{said('columns')} is 3.", f"Say {said('kind', 'paths')}.").calling(
        columns="taxonomy_columns"
    )
    assert (type(error), str(error)) == (InvalidArgument, "taxonomy_columns is 3. Say kind='paths'.")
    assert error.spelled(in_flags) == ("--taxonomy-columns is 3.", "Say --kind paths.")


def failed(capsys, *arguments):
    """The exit code and the message of a command that fails."""
    code = main([*map(str, arguments), "--json"])
    told = json.loads(capsys.readouterr().out)["error"]
    return code, f"{told['what']} {told['next_step']}"


def test_an_error_of_reading_in_both_spellings(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("tea,milk\n")
    with pytest.raises(InvalidArgument) as caught:
        vs.read(path)
    assert "format='basket'" in str(caught.value)
    assert "--" not in str(caught.value)
    code, told = failed(capsys, "mine", path, "--min-support", "1")
    assert (code, "--format basket" in told, "--long ID,ITEM" in told, "=" in told) == (2, True, True, False)


def test_an_error_of_a_promise_in_both_spellings(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("tea,milk\ntea\n")
    data = vs.read(path, sensitive=["tea"])
    with pytest.raises(vs.Infeasible) as caught:
        vs.anonymize(data, vs.Coherence(h=0.4, k=1, p=1))
    assert "h='2/5'" in str(caught.value)
    assert "allow_sensitive=True" in str(caught.value)
    promise = ["--k", "1", "--p", "1", "--h", "0.4", "--out", tmp_path / "out"]
    code, told = failed(capsys, "publish", path, "--sensitive-items", "tea", *promise)
    assert (code, "--h 2/5" in told, "--allow-sensitive" in told) == (3, True, True)


AS_EDGES = ["--taxonomy-kind", "edges", "--model", "rho-uncertainty"]


def test_an_error_about_a_taxonomy_in_both_spellings(tmp_path, capsys):
    tree, data = tmp_path / "tree.csv", tmp_path / "a.csv"
    tree.write_text("child,parent,note\ntea,drinks,hot\n")
    data.write_text("tea,milk\ntea\n")
    with pytest.raises(UnreadableInput) as caught:
        vs.Taxonomy.read(tree, kind="edges")
    assert ("columns" in str(caught.value), "kind='paths'" in str(caught.value)) == (True, True)
    for command, flags in (
        (["taxonomy", "check", tree, data, "--kind", "edges"], ("--columns", "--kind paths")),
        (
            ["audit", data, "--rho", "0.5", "--sensitive-items", "branch: hot", "--taxonomy", tree, *AS_EDGES],
            ("--taxonomy-columns", "--taxonomy-kind paths"),
        ),
    ):
        code, told = failed(capsys, *command)
        assert (code, [flag in told for flag in flags], "=" in told) == (2, [True, True], False)


def test_an_error_about_rules_in_both_spellings(tmp_path, capsys):
    paths = {name: tmp_path / name for name in ("a.csv", "tea", "milk")}
    for name, path in paths.items():
        path.write_text("tea,milk\ntea\n" if name == "a.csv" else name)
    with pytest.raises(InvalidArgument) as caught:
        vs.mining.rules(vs.read(paths["a.csv"]), 1, 0.5, items=["tea"], consequents=["milk"])
    assert "--" not in str(caught.value)
    rules = ["--rules", "--min-support", "1", "--min-confidence", "0.5"]
    chosen = ["--items", paths["tea"], "--consequents", paths["milk"]]
    code, told = failed(capsys, "mine", paths["a.csv"], *rules, *chosen)
    assert (code, "--items" in told, "--consequents" in told) == (2, True, True)


def test_what_cannot_be_written_is_not_unreadable(tmp_path):
    assert not issubclass(CannotWrite, UnreadableInput)
    assert CannotWrite.exit_code == 2
    nowhere = tmp_path / "none" / "out"
    with pytest.raises(CannotWrite, match="none"):
        check_place(nowhere, replace=False)
    with pytest.raises(CannotWrite, match="none"), atomic_file(nowhere, replace=True):
        pass
