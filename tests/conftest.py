"""What the tests of commands share: a folder to stand in, and a terminal."""

import pytest

from veilset.cli.screen import Screen

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with baskets.csv and sensitive.txt, where the user stands."""
    (tmp_path / "baskets.csv").write_text("".join(",".join(row) + "\n" for row in ROWS))
    (tmp_path / "sensitive.txt").write_text("cure\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def terminal(monkeypatch):
    """Output as on a terminal: text, not JSON."""
    monkeypatch.setattr(Screen, "of", classmethod(lambda cls, json: cls(json=json)))
    monkeypatch.setenv("COLUMNS", "100")
