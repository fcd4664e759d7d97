"""Who is a person, as the command line asks it, tells it and keeps it in the recipe."""

from __future__ import annotations

import pytest

from tests.support.commands import refusal, run
from veilset.cli import main

ROWS = [
    (1, "ann", "tea"),
    (2, 0, "tea"),
    (2, 0, "figs"),
    (3, 0, "tea"),
    (4, "ann", ""),
    (5, "bob", "tea"),
    (6, "", "tea"),
]
PUBLISH = ["publish", "shop.csv", "--long", "invoice,item", "--k", "2", "--p", "1"]
PERSON = ["--person", "customer"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    lines = [",".join(map(str, row)) for row in [("invoice", "customer", "item"), *ROWS]]
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_notes_speak_of_flags(shop, capsys, terminal):
    assert main(["audit", *PUBLISH[1:]]) == 1  # figs belong to one
    told = " ".join(capsys.readouterr().out.split())
    assert "--person customer" in told
    (shop / "shop.csv").write_text("invoice,customer,item\n1,0,tea\n2,0,figs\n3,0,rye\n4,ann,tea\n")
    assert main(["audit", *PUBLISH[1:], *PERSON]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "--unknown-person 0" in told
    assert "--unknown-rows separate" in told


@pytest.mark.parametrize("command", ["audit", "mine"])
def test_notes_for_programs_speak_of_flags(shop, capsys, command):
    options = ["--min-support", "1"] if command == "mine" else PUBLISH[4:]
    _, facts = run(capsys, command, "shop.csv", *PUBLISH[2:4], *options)
    assert any("--person customer" in note for note in facts["reading"]["notes"])


def test_what_becomes_of_unknown_people_is_asked(shop, capsys):
    refusal(capsys, *PUBLISH, *PERSON, "--out", "out", values=("line 8", "--unknown-rows separate"))
    refusal(capsys, *PUBLISH, *PERSON, "--unknown-person", "0,NA", "--out", "out", values=("--unknown-person 0,NA",))
    skip = ["--unknown-person", "0", "--unknown-rows", "skip"]
    refusal(capsys, *PUBLISH, *PERSON, *skip, "--out", "out", values=("Row 5", "--missing skip"))
    assert not (shop / "out").exists()


@pytest.mark.parametrize(("handling", "transactions"), [("separate", 5), ("skip", 2)])
def test_a_recipe_repeats_it_and_the_custodian_is_told(shop, capsys, handling, transactions):
    told = ["--unknown-person", "0", "--unknown-rows", handling, "--missing", "skip", "--where", "invoice <> '99'"]
    code, facts = run(capsys, *PUBLISH, *PERSON, *told, "--out", "out")
    assert code == 0, facts
    recipe = (shop / "out/custodian/recipe.toml").read_text()
    assert f'unknown_rows = "{handling}"' in recipe
    report = (shop / "out/custodian/report.html").read_text()
    assert "7 of 7 rows satisfy" in report
    assert "4 rows of unknown people were" in report
    assert "1 row without an item was skipped." in report
    assert facts["transactions"] == transactions
    assert run(capsys, "publish", "out/custodian/recipe.toml", "--out", "again")[0] == 0
    for file in [*(shop / "out/public").iterdir(), shop / "out/custodian/recipe.toml"]:
        assert file.read_bytes() == (shop / "again" / file.relative_to(shop / "out")).read_bytes(), file.name
