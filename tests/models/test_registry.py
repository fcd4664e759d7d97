"""Every promise has what each room needs of it; and a promise of somebody else's goes through the whole product."""

import ast
import json
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest

import veilset
from tests.support.errors import refused
from tests.support.places import ROOT
from veilset import InvalidArgument
from veilset.anonymize import METHODS, methods_of
from veilset.audit import AUDITORS
from veilset.cli.forms import FORMS
from veilset.io.toml_files import WRITTEN
from veilset.models import PROMISES, Coherence, known_promise, register
from veilset.options import Form, declared
from veilset.report import WORDS
from veilset.testing.checks import CONTRACTS
from veilset.utility import UTILITIES

TABLES = {"auditor": AUDITORS, "methods": METHODS, "text": WORDS, "utility": UTILITIES, "contract": CONTRACTS}


@pytest.mark.parametrize("room", TABLES)
@pytest.mark.parametrize("kind", PROMISES.values(), ids=PROMISES)
def test_every_promise_has_an_entry_in_every_room(kind, room):
    assert kind in TABLES[room]


@pytest.mark.parametrize("kind", PROMISES.values(), ids=PROMISES)
def test_every_parameter_and_option_is_declared_with_a_short_help_text(kind):
    for of in (kind, *methods_of(kind).values()):
        for said in declared(of):
            text = said.option.help
            assert text[0].isupper() and text.endswith("."), said
            assert len(text.split()) <= 25, f"{said.name}: {text}"
    assert {said.name for said in declared(kind)} == set(signature(kind).parameters), "A parameter has no declaration."


def test_a_promise_that_lacks_an_entry_is_told():
    class Unheard(Coherence):
        name = "unheard"

    for table in TABLES.values():
        with refused(InvalidArgument, "Unheard", "Coherence"):
            table.of(Unheard)
    with refused(InvalidArgument, "'unheard'", "coherence"):
        known_promise("unheard")


def test_a_secret_promise_says_what_may_be_told_of_it():
    class Silent(Coherence):
        name, secret = "silent", True

    with refused(InvalidArgument, "Silent", "listed", "secrets"):
        register(Silent)


def test_every_form_can_be_written_in_a_recipe_and_typed():
    # An option of reading, two that are recorded, and one of studies.
    not_typed = {"taxonomy", "renaming", "meanings", "share or none"}
    assert set(get_args(Form)) == set(WRITTEN) == {*FORMS, *not_typed}


def test_a_name_is_given_once():
    class Another(Coherence):
        pass

    with refused(InvalidArgument, "'coherence'"):
        register(Another)


def _asks_for_a_type(tree: ast.Module, kinds: set[str]) -> list[int]:
    """The lines that test for the type of a promise, or compare with the name of one."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            named = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            found += [node.lineno] if named & kinds else []
        if isinstance(node, ast.Compare) and any(isinstance(how, (ast.Is, ast.IsNot)) for how in node.ops):
            named = {part.id for part in (node.left, *node.comparators) if isinstance(part, ast.Name)}
            found += [node.lineno] if named & kinds else []
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in kinds:
            found.append(node.cls.lineno)
        if isinstance(node, ast.Compare):
            parts = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == "name"]
            found += [node.lineno for part in parts if isinstance(part.value, ast.Name) and part.value.id in kinds]
    return found


def test_common_code_asks_a_promise_for_its_traits_and_never_for_its_type():
    """Only the files of a promise know its type: they are in a folder, or have a name, that says whose they are."""
    kinds = {kind.__name__ for kind in PROMISES.values()}
    root = Path(veilset.__file__).parent
    paths = [path.relative_to(root) for path in root.rglob("*.py") if path.relative_to(root).parts[0] != "models"]
    common = [path for path in paths if not re.search("coherence|rho|hiding|hidden|anatomy|mutants", str(path))]
    assert len(common) > 100
    asking = {str(path): _asks_for_a_type(ast.parse((root / path).read_text()), kinds) for path in common}
    assert not {path: lines for path, lines in asking.items() if lines}


def test_the_check_for_types_notices_one():
    lines = [
        "if isinstance(promise, (HiddenPatterns, Sealed)): leak()",
        "if x.name == Coherence.name: pass",
        "if type(promise) is Coherence: pass",
        "match promise:",
        "    case HiddenPatterns(): leak()",
        "if promise.secret: seal()",
    ]
    assert sorted(_asks_for_a_type(ast.parse("\n".join(lines)), {"HiddenPatterns", "Coherence"})) == [1, 2, 3, 5]


THIRD_PARTY = """
import json, sys
from pathlib import Path
import tests.support.rare_items as theirs
import veilset as vs
from veilset.cli import main
from veilset.testing.checks import check_anonymizer, check_audit, check_model
from veilset.anonymize import find_method
from veilset.limits import Limits
from veilset.run import Run
from veilset.testing import strategies
from hypothesis import given, settings

promise = theirs.NoRareItems(k=2)
check_model(promise)

@settings(max_examples=30, deadline=None)
@given(strategies.transactions())
def batteries(data):
    check_audit(data, promise)
    check_anonymizer(lambda *asked: find_method(promise, None)(*asked, limits=Limits()), data, promise, maximal=True)

batteries()
folder = Path(sys.argv[1])
(folder / "in.csv").write_text("ale,bun\\nale,bun\\nale,quince\\nbun\\n")
told = main(["publish", str(folder / "in.csv"), "--model", "no-rare-items", "--k", "2", "--out", str(folder / "out")])
assert told == 0, told
assert main(["verify", str(folder / "out" / "public")]) == 0
assert main(["audit", str(folder / "in.csv"), "--model", "no-rare-items", "--k", "2"]) == 1
again = main(["publish", str(folder / "out" / "custodian" / "recipe.toml"), "--out", str(folder / "again")])
assert again == 0
assert (folder / "again/public/data.csv").read_bytes() == (folder / "out/public/data.csv").read_bytes()
applied = main(["apply", str(folder / "out"), str(folder / "in.csv"), "--out", str(folder / "applied")])
assert applied == 0
assert Run(vs.read(folder / "in.csv"), promise).binding.limits == ()

print("=== from here on nothing may tell the secret", flush=True)
secret = theirs.HiddenItems(items=["quince"])
check_model(secret)
check_audit(vs.read(folder / "in.csv"), secret)
(folder / "hide.txt").write_text("quince\\n")
hide = ["--model", "hidden-items", "--hide", str(folder / "hide.txt")]
assert main(["publish", str(folder / "in.csv"), *hide, "--out", str(folder / "hid")]) == 0
assert main(["verify", str(folder / "hid")]) == 0
assert main(["verify", str(folder / "hid" / "public")]) == 4
assert main(["apply", str(folder / "hid"), str(folder / "in.csv"), "--out", str(folder / "no")]) == 2
"""


def test_a_promise_of_somebody_elses_goes_through_everything(tmp_path):
    """Batteries, publish, verify, audit, replay, apply and both reports, touching no file of the package."""
    done = subprocess.run(
        [sys.executable, "-c", THIRD_PARTY, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    certificate = json.loads((tmp_path / "out/public/certificate.json").read_text())
    assert certificate["promise"] == {"name": "no-rare-items", "parameters": {"k": 2}}
    assert "quince" not in (tmp_path / "out/public/data.csv").read_text()
    assert "No rare items" in (tmp_path / "out/public/report.html").read_text()
    assert "Minimum number of people who have an item." in (tmp_path / "out/public/report.html").read_text()
    assert "quince" in (tmp_path / "out/custodian/report.html").read_text()
    assert "on its own: too few" in (tmp_path / "out/custodian/edits.csv").read_text()
    assert 'model = "no-rare-items"\nk = 2' in (tmp_path / "out/custodian/recipe.toml").read_text()
    assert not [path.name for path in (tmp_path / "hid/public").iterdir() if "quince" in path.read_text()], (
        "A secret is out."
    )
    assert "quince" in (tmp_path / "hid/custodian/recipe.toml").read_text()
    _, mark, printed = done.stdout.partition("===")
    assert mark
    assert "hidden-items" in printed
    assert "quince" not in printed + done.stderr.rpartition("===")[2]
