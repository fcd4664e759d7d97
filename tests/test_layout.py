"""Tests lie where what they test lies, and share only what is in tests/support."""

import re

import pytest

from tests.support.places import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_module_is_imported(path):
    """Neither by another nor in a script that a test runs."""
    imported = re.findall(r"^\s*(?:from|import) (tests[\w.]*)(?: import (.*))?$", path.read_text(), re.MULTILINE)
    assert [names for names in imported if re.search(r"\btest_", " ".join(names))] == []


def test_folders_mirror_rooms():
    folders = {path.parent.relative_to(ROOT / "tests") for path in FILES if path.name.startswith("test_")}
    rooms = ROOT / "src" / "veilset"
    strange = [folder for folder in folders if not (rooms / folder).is_dir() and not (ROOT / folder).is_dir()]
    assert strange == []
