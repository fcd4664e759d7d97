"""docs/tutorial.md is true: its commands run one after the other, and print what the page shows of their output."""

import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.support.places import DOCS, ROOT
from veilset.cli import main

PAGE = (DOCS / "tutorial.md").read_text()
OUTCOMES = {"Error: NO-GO": 1, "Error:": 2, "DOES NOT HOLD": 1}  # what a page shows, and the exit code
LEFT_OUT = "…"  # on a line of its own: anything


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page, with the parts of its output that it shows."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for one in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = one.replace("\\\n", "").partition("\n")
            shown = groupby(output.splitlines(), lambda line: line == LEFT_OUT)
            found.append((command, [words("\n".join(lines)) for left_out, lines in shown if not left_out]))
    return found


def words(text: str) -> str:
    """Text on one line: where a terminal breaks it says nothing."""
    return " ".join(text.split())


@pytest.mark.no_sanitizer(reason="runs commands that other tests run in parts")
def test_the_tutorial(tmp_path, monkeypatch, capfd, terminal):
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    told = commands(PAGE)
    assert {command.split()[1] for command, _ in told if command.startswith("veilset ")} >= {"audit", "verify", "apply"}
    for command, parts in told:
        if command.startswith("veilset "):
            code = main(shlex.split(command)[1:])
        else:
            code = subprocess.run(command, shell=True, check=False).returncode  # noqa: S602 - of our own page
        printed = capfd.readouterr()
        rest = words(f"{printed.out}\n{printed.err}")
        expected = next((code for word, code in OUTCOMES.items() if any(word in part for part in parts)), 0)
        assert code == expected, f"{command}\n{rest}"
        for part in parts:
            assert part in rest, f"{command}\nprinted, after what was found:\n{rest}"
            rest = rest.partition(part)[2]
