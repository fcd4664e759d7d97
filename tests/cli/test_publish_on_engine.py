"""`veilset publish` by a recipe with an engine, and what is refused; tests/engines/spark has it on Spark."""

import pytest

from tests.support.commands import refusal, run
from tests.support.in_parts import PROMISE, small_parts, written
from tests.support.releases import files
from tests.support.spread import point_of_sale
from veilset import anonymize, read, verify
from veilset.engines import Local

PROMISED = ("--k", "2", "--p", "2")
SPARK = ("--engine", "spark", "--master", "local[2]")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A release of a file, made in pieces, with the recipe that its custodian has."""
    monkeypatch.chdir(tmp_path)
    small_parts(monkeypatch)
    data = point_of_sale(1500)
    data.write(tmp_path / "sales.parquet")
    held = Local(pieces=3).read(read(tmp_path / "sales.parquet", sensitive=data.sensitive))
    return written(tmp_path / "out", anonymize(held, PROMISE))


def test_a_recipe_makes_the_same_bytes(shop, tmp_path, capsys):
    code, facts = run(capsys, "publish", shop.custodian / "recipe.toml", "--out", "again", "--json")
    assert code == 0 and facts["engine"] == "in-process" and facts["verdict"] == "GO"
    assert files(tmp_path / "again/public") == files(shop.public)
    assert files(tmp_path / "again/custodian")["recipe.toml"] == files(shop.custodian)["recipe.toml"]
    assert verify(tmp_path / "again").holds


def test_what_is_shown_to_people(shop, capsys):
    from veilset.cli import main

    assert main(["publish", str(shop.custodian / "recipe.toml"), "--out", "again", "--text"]) == 0
    shown = capsys.readouterr().out
    for words in ("At risk before", "suppressed", "GO", "Written. Hand over", "veilset verify"):
        assert words in shown


def test_most_items_lost_needs_a_yes(shop, capsys):
    recipe = shop.custodian / "recipe.toml"
    strict = recipe.read_text().replace("k = 20", "k = 700")
    recipe.write_text("\n".join(line for line in strict.splitlines() if not line.startswith("options")))
    refusal(capsys, "publish", recipe, "--out", "again", values=("--yes",))


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--out-format", "basket"), ("--out-format basket", "--engine spark")),
        (("--no-what-if",), ("--no-what-if", "--engine spark")),
        (("--where", "id > 3"), ("--where", "--engine spark")),
        (("--normalize", "case"), ("--normalize", "--engine spark")),
    ],
)
def test_options_that_do_not_apply_are_named(shop, capsys, more, named):
    refusal(capsys, "publish", "sales.parquet", *PROMISED, "--out", "x", *SPARK, *more, values=named)


def test_a_recipe_takes_no_engine_besides(shop, capsys):
    refusal(capsys, "publish", shop.custodian / "recipe.toml", "--out", "x", *SPARK)


@pytest.mark.parametrize(
    ("line", "named"),
    [('master = "local[2]"', "master"), ('out_format = "basket"', "out_format"), ('engine = "flink"', "engine")],
)
def test_a_recipe_whose_engine_cannot_be_meant(shop, capsys, line, named):
    recipe = shop.custodian / "recipe.toml"
    text = recipe.read_text()
    text = text.replace('engine = "in-process"\n', "") if line.startswith("engine") else text
    recipe.write_text(f"{line}\n{text}")
    refusal(capsys, "publish", recipe, "--out", "x", values=(named,))
    assert not (recipe.parent / "x").exists()


def test_the_whole_is_verified_from_the_command_line(shop, capsys):
    code, facts = run(capsys, "verify", shop.public, "--json")
    assert (code, facts["verdict"]) == (0, "holds")
    (shop.public / "data/part-00001.parquet").unlink()
    code, facts = run(capsys, "verify", shop.public, "--json")
    assert (code, facts["verdict"]) == (2, "incomplete")
