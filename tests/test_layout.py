"""Tests lie where what they test lies, and share only what is in tests/support."""

import re
from pathlib import Path

import pytest

from tests.support.places import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_module_is_imported(path):
    """Neither by another nor in a script that a test runs."""
    imported = re.findall(r"^\s*(?:from|import) (tests[\w.]*)(?: import (.*))?$", path.read_text(), re.MULTILINE)
    assert [names for names in imported if re.search(r"\btest_", " ".join(names))] == []


def test_folders_mirror_rooms():
    """But for the attacks, which are on all of them."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in FILES if path.name.startswith("test_")}
    folders.remove(Path("attacks"))
    rooms = ROOT / "src" / "veilset"
    strange = [folder for folder in folders if not (rooms / folder).is_dir() and not (ROOT / folder).is_dir()]
    assert strange == []


def test_every_attack_is_marked_as_one():
    """So that ``make test`` leaves it to ``make attack-tests``."""
    attacks = [path for path in FILES if path.parent.name == "attacks" and path.name.startswith("test_")]
    assert [path for path in attacks if "pytest.mark.attack" not in path.read_text()] == []
