"""Public items that resemble sensitive ones: told to the custodian before anything is written, and to nobody else."""

import re

import pytest

from tests.support.commands import run
from tests.support.places import DOCS
from tests.support.releases import files
from veilset.cli import main

PROMISE = ("--sensitive-items", "glob: B20*", "--k", "2", "--p", "2", "--h", "0.9")


@pytest.fixture
def baskets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["B20.1,milk", "B20.3,milk", "b20.5,milk", "b20.5,milk", '" B20.3",milk', '" B20.3"']
    (tmp_path / "baskets.csv").write_text("\n".join(rows * 4))
    return tmp_path / "baskets.csv"


TWINS = {
    "count": 2,
    "items": [
        {"item": " B20.3", "support": 8, "resembles": "B20.3"},
        {"item": "b20.5", "support": 8, "resembles": "glob: B20*"},
    ],
}


def test_programs_are_told(baskets, capsys):
    assert run(capsys, "audit", baskets, *PROMISE)[1]["twins"] == TWINS
    assert run(capsys, "publish", baskets, *PROMISE, "--out", "out")[1]["twins"] == TWINS
    assert run(capsys, "sensitive", "suggest", baskets, *PROMISE[:2])[1]["twins"] == TWINS


def test_a_secret_promise_tells_their_number(baskets, capsys):
    (baskets.parent / "patterns.txt").write_text("milk\n")
    hidden = ("--model", "hidden-patterns", "--patterns", "patterns.txt", "--min-support", "9")
    told = run(capsys, "publish", baskets, *PROMISE[:2], *hidden, "--out", "out", "--yes")[1]
    assert told["twins"] == {"count": 2}


def test_people_are_told_at_home_only(baskets, capsys, terminal):
    assert main(["publish", str(baskets), *PROMISE, "--out", "out"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert screen.index("' B20.3' like 'B20.3' (8 transactions)") < screen.index("GO")  # before the decision
    assert "--normalize strip,case,nfc" in screen
    public, custodian = (files(baskets.parent / "out" / part) for part in ("public", "custodian"))
    assert "glob: B20*" in custodian["report.html"].decode()
    assert custodian["report.html"].decode().count("8 transactions)") == 2
    for content in public.values():
        assert b"resemble" not in content
        assert b"glob:" not in content


def test_the_warning_on_the_page_is_true(tmp_path, terminal, capsys):
    """That of docs/sensitive.md, for the rows that stand below it."""
    shown = re.search(r"```text\n(note: \d.*?)```", (DOCS / "sensitive.md").read_text(), re.DOTALL)
    assert shown is not None
    (tmp_path / "codes.csv").write_text('B20.3,milk\n" B20.3",milk\nb20.5\nb20.5,bread\n')
    main(["audit", str(tmp_path / "codes.csv"), *PROMISE])
    assert " ".join(shown[1].split()) in " ".join(capsys.readouterr().out.split())
