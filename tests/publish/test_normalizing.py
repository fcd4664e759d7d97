"""Normalized names in a release: recorded in its recipe, replayed byte for byte, and taken over by `apply`."""

import tomllib

import polars as pl
import pytest

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.errors import refused
from tests.support.releases import files
from veilset.publish import Recipe

ROWS = ["B20.1,milk", "b20.1,Milk", "b20.5,milk", '" B20.5",milk', "milk", '"milk "'] * 3
PROMISE = ("--k", "2", "--p", "2", "--h", "0.9")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.csv").write_text("\n".join(ROWS))
    return tmp_path


def test_a_recipe_repeats_it(folder, capsys):
    options = ("--sensitive-items", "glob: B20*", "--normalize", "case, strip")
    code, told = run(capsys, "publish", "baskets.csv", *options, *PROMISE, "--out", "out", "--seed", "a long secret")
    assert (code, told["sensitive"], told["items"], told["twins"]["count"]) == (0, 2, 3, 0)
    written = tomllib.loads((folder / "out/custodian/recipe.toml").read_text())["input"]
    assert (written["normalize"], written["sensitive"]) == (["strip", "case"], ["b20.1", "b20.5"])
    assert run(capsys, "publish", "out/custodian/recipe.toml", "--out", "again")[0] == 0
    assert files(folder / "again/public") == files(folder / "out/public")
    assert vs.verify(folder / "again").verdict == "holds"
    (folder / "next.csv").write_text("\n".join(ROWS[:6] * 4))
    code, told = run(capsys, "apply", "out", "next.csv", "--out", "applied")
    assert (code, told["sensitive"], told["items"]) == (0, 2, 3)
    (folder / "next.tsv").write_text("\n".join(ROWS[:6] * 4))
    assert run(capsys, "apply", "out", "next.tsv", "--delimiter", ",", "--out", "applied too")[0] == 0


def test_a_recipe_may_say_it_as_a_text_or_not_at_all(folder):
    text = '[input]\npath = "baskets.csv"\n{}[promise]\nk = 2\np = 1\n'
    for said, steps, items in (("", None, 7), ('normalize = "case,strip"\n', ("strip", "case"), 3)):
        (folder / "recipe.toml").write_text(text.format(said))
        recipe = Recipe.load(folder / "recipe.toml")
        assert recipe.input.normalize == steps
        assert len(recipe.read_data().names) == items
    (folder / "recipe.toml").write_text(text.format('normalize = ["trim"]\n'))
    with pytest.raises(vs.InvalidArgument, match=r"normalize.*strip.*case.*nfc"):
        Recipe.load(folder / "recipe.toml")


def test_unknown_words(folder, capsys, snapshot):
    assert refusal(capsys, "audit", "baskets.csv", *PROMISE, "--normalize", "strip,trim", values=("nfc",)) == snapshot


def test_items_get_coarser_names_of_a_normalized_tree(folder, capsys):
    (folder / "loud.csv").write_text("ALE,Bun\nale,FIG\nAle,bun\n" * 2 + "Rum,bun\nGin,bun\n")
    (folder / "tree.csv").write_text("item,shelf\nAle,Beer\nRUM,Spirits\ngin,spirits\nbun,Food\nfig,Food\n")
    options = ("--method", "generalize", "--taxonomy", "tree.csv", "--normalize", "case", "--k", "2", "--p", "1")
    code, told = run(capsys, "publish", "loud.csv", *options, "--out", "out", "--seed", "a long secret")
    assert (code, told["generalized"]) == (0, {"gin": "spirits", "rum": "spirits"})
    assert run(capsys, "publish", "out/custodian/recipe.toml", "--out", "again")[0] == 0
    assert files(folder / "again/public") == files(folder / "out/public")


def test_python_refuses_data_whose_names_are_normalized_otherwise(folder, snapshot):
    how = {"sensitive": ["b20.1"], "normalize": "strip,case"}
    promise = vs.Coherence(h=0.9, k=2, p=2)
    vs.publish(vs.anonymize(vs.read("baskets.csv", **how), promise), "out")
    assert vs.apply("out", vs.read("baskets.csv", normalize=("case", "strip"))).certified
    for other in (None, "strip", "strip,case,nfc"):
        with refused(vs.InvalidArgument, "vs.read(..., normalize=('strip', 'case'))") as caught:
            vs.apply("out", vs.read("baskets.csv", normalize=other))
        assert str(caught.value) == snapshot
    with refused(vs.InvalidArgument, "'B20.1'", "normalize"):
        vs.apply("out", vs.Transactions.from_lists([["B20.1", "milk"], ["milk"]]))
    assert vs.apply("out", vs.Transactions.from_lists([["b20.1", "milk"], ["milk"], ["milk"]])).original.sensitive


def test_python_refuses_normalized_names_where_the_earlier_ones_were_not(folder):
    promise = vs.Coherence(h=0.9, k=2, p=2)
    vs.publish(vs.anonymize(vs.read("baskets.csv"), promise), "out")
    with refused(vs.InvalidArgument, "vs.read(...)", "normalize=('case',)"):
        vs.apply("out", vs.read("baskets.csv", normalize="case"))


def test_a_release_of_a_frame_knows_its_normalization(folder, capsys):
    rows = [["B20", "milk"], ["b20", "milk"], ["milk"]] * 2
    frame, promise = pl.DataFrame({"items": rows}), vs.Coherence(h=0.9, k=2, p=2)
    vs.publish(vs.anonymize(vs.read(frame, normalize="case", sensitive=["b20"]), promise), "out")
    with refused(vs.InvalidArgument, "vs.read(..., normalize=('case',))"):
        vs.apply("out", vs.read(frame))
    (folder / "next.csv").write_text("\n".join(map(",".join, rows)))
    code, told = run(capsys, "apply", "out", "next.csv", "--out", "applied")
    assert (code, told["sensitive"], told["items"]) == (0, 1, 2), "A file is read with it."
    vs.publish(vs.anonymize(vs.Transactions.from_lists(rows), promise), "lists")
    assert vs.apply("lists", vs.read(frame, normalize="case"), unknown="keep"), "Nobody knows how lists were read."
