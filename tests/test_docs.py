"""The pages are true: commands run, the reference is current, the room table is the contract, links lead somewhere."""

import re
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from tests.support.places import DOCS, ROOT
from veilset.cli import main
from veilset.cli.reference import reference

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md"))]


def test_the_first_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    block = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block is not None
    commands = [line[2:].split()[1:] for line in block[1].splitlines() if line.startswith("$ veilset ")]
    assert [command[0] for command in commands] == ["publish", "verify"]
    monkeypatch.chdir(tmp_path)
    data = vs.generate.grocery_pharmacy()
    data.write("baskets.csv")
    Path("sensitive.txt").write_text("\n".join(data.sensitive))
    assert [main(command) for command in commands] == [0, 0], capsys.readouterr().err


def test_the_reference_is_current():
    assert (DOCS / "cli.md").read_text() == reference(), "Run `make docs`."


def test_the_room_table_is_the_import_contract():
    """docs/architecture.md and the contracts of import-linter say the same."""
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", (DOCS / "architecture.md").read_text(), re.MULTILINE)
    allowed = {room: set() if may == "–" else set(may.split(", ")) for room, may in rows}
    assert allowed.pop("cli") == {"everything"}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    forbidden = {c["name"]: {m.removeprefix("veilset.") for m in c["forbidden_modules"]} for c in contracts}
    assert "veilset.mining" in next(c for c in contracts if c["name"] == "audit")["forbidden_modules"]
    rooms = {*allowed, "cli"}
    for room, may in allowed.items():
        assert forbidden[room] == rooms - may - {room}, room


def test_every_room_is_in_the_table():
    text = (DOCS / "architecture.md").read_text()
    there = {
        p.stem for p in (ROOT / "src" / "veilset").iterdir() if p.suffix in ("", ".py") and not p.name.startswith("_")
    }
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) | {"errors", "exact", "limits", "options", "views"}
    assert there == named


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_public_names():
    promises = "Coherence HiddenPatterns HiddenRules LDiverseAnatomy RhoUncertainty"
    answers = "Anatomy Audit Bundle Margin Release Taxonomy Transactions Verification Witness"
    errors = "BudgetExceeded CannotWrite Infeasible NotCertified UnreadableInput VeilsetError InvalidArgument"
    functions = "anonymize apply audit generate joins matching_items measure mining publish read search verify"
    assert vs.__all__ == sorted(f"{promises} {answers} {errors} {functions}".split())
    assert all(getattr(vs, name).__doc__ for name in vs.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_example_is_in_a_fence(page):
    """Outside of one, every forge shows it as a paragraph."""
    outside = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    assert ">>>" not in outside
    assert re.findall(r"(?:\A|\n\n)    \S.*", outside) == []
