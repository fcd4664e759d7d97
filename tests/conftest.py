"""What tests share: recorded sentences, and for those of commands a folder to stand in and a terminal."""

import pytest

from veilset.cli.screen import Screen

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]


@pytest.fixture
def snapshot(snapshot, tmp_path):
    """Recorded text to compare with, in which the folder of the test has a name that stays (``make snapshots``)."""

    def without_folder(data, path):
        return data.replace(str(tmp_path), "TMP") if isinstance(data, str) else data

    return snapshot.with_defaults(matcher=without_folder)


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
    monkeypatch.setattr(Screen, "of", classmethod(lambda cls, json, text=False: cls(json=json)))
    monkeypatch.setenv("COLUMNS", "100")
