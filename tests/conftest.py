"""What tests share: recorded sentences, and for those of commands a folder to stand in and a terminal."""

from pathlib import Path

import pytest

from veilset.cli.screen import Screen

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]

_NOTHING_NEW = ("cli", "joins/parties", "publish", "report", "search", "test_docs.py", "test_layout.py", "web")


def pytest_collection_modifyitems(items):
    """`make sanitize` leaves out what shows the kernels nothing that other tests do not: all is slow there."""
    left_out = {Path(__file__).parent / name for name in _NOTHING_NEW}
    for item in items:
        if left_out.intersection([item.path, *item.path.parents]):
            item.add_marker(pytest.mark.no_sanitizer(reason="shows the kernels nothing new"))


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
