"""A table is refused by every command that reads data, and identifiers are told before a release is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import refusal, run

VISITS = "patient_id,visit_date,icd_code,note\n1,2024-01-03,E11,called\n1,2024-01-09,I10,\n2,2024-01-03,E11,well\n"
PROMISE = ("--k", "1", "--p", "1")
COMMANDS = {
    "publish": lambda path: ["publish", path, *PROMISE, "--out", path.parent / "release", "--replace", "--yes"],
    "audit": lambda path: ["audit", path, *PROMISE],
    "mine": lambda path: ["mine", path, "--min-support", "1"],
}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_is_refused_with_three_likely_commands(command: str, visits: Path, capsys) -> None:
    ways = ("--long patient_id,icd_code", "--wide", "--format basket")
    refusal(capsys, *COMMANDS[command](visits), values=ways)
    assert not (visits.parent / "release").exists()
    for way in (ways[0], ways[2]):
        assert run(capsys, *COMMANDS[command](visits), *way.split())[0] == 0


def test_a_table_with_another_delimiter_is_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS.replace(",", "\t"))
    refusal(capsys, "audit", path, *PROMISE, values=("--long patient_id,icd_code", "--delimiter tab"))
    code, _ = run(capsys, "audit", path, *PROMISE, "--long", "patient_id,icd_code", "--delimiter", "tab")
    assert code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_identifiers_are_told_to_programs(command: str, visits: Path, capsys) -> None:
    _, facts = run(capsys, *COMMANDS[command](visits), "--format", "basket")
    dates = {"kind": "dates or times", "count": 2, "examples": ["2024-01-03", "2024-01-09"]}
    assert facts["reading"] == {
        "notes": ["1 empty field between delimiters was skipped."],
        "identifiers": [dates],
    }


def test_a_release_that_hides_patterns_tells_programs_only_numbers(visits: Path, capsys) -> None:
    listed = visits.parent / "patterns.txt"
    listed.write_text("E11, 2024-01-03\n")
    options = ["--model", "hidden-patterns", "--patterns", listed, "--min-support", "2", "--format", "basket", "--yes"]
    _, facts = run(capsys, "publish", visits, *options, "--out", visits.parent / "release")
    assert facts["reading"] == {"identifiers": [{"kind": "dates or times", "count": 2}]}


def test_identifiers_are_told_to_the_custodian_only(visits: Path, capsys) -> None:
    run(capsys, *COMMANDS["publish"](visits), "--format", "basket")
    pages = {name: (visits.parent / "release" / name / "report.html").read_text() for name in ("custodian", "public")}
    assert "2 items look like dates or times" in pages["custodian"]
    assert "look like" not in pages["public"]
