"""top-down from end to end: a taxonomy in a file, publish, verify, replay, apply."""

import shutil
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.commands import refusal, run
from tests.support.errors import names
from tests.support.releases import certificate, edits, message, write_rows
from tests.support.shelves import RECODED, ROWS, SHELVES
from veilset.models.promise import listed_sentence

ASK = ("--sensitive", "sensitive.txt", "--model", "rho-uncertainty", "--rho", "0.5")
TREE = (*ASK, "--taxonomy", "tree.csv", "--out", "release")


@pytest.fixture
def ward(tmp_path, monkeypatch) -> Path:
    """A folder with baskets.csv, sensitive.txt and tree.csv; of its leaves one does not occur, and one is sensitive."""
    write_rows(tmp_path / "baskets.csv", ROWS)
    (tmp_path / "sensitive.txt").write_text("cure\n")
    leaves = {**SHELVES, "pie": ["food"], "cure": ["food"]}
    write_rows(tmp_path / "tree.csv", [["item", "shelf"], *([item, *groups] for item, groups in leaves.items())])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The same release, to be looked at only."""
    data = vs.Transactions.from_lists(ROWS, sensitive=["cure"])
    tree = vs.Taxonomy.from_paths({**SHELVES, "pie": ["food"]})
    release = vs.anonymize(data, vs.RhoUncertainty(rho="1/2"), taxonomy=tree)
    assert release.generalized == RECODED
    return vs.publish(release, tmp_path_factory.mktemp("ward") / "release").path


def test_publish_and_verify(ward, capsys, snapshot):
    code, said = run(capsys, "publish", "baskets.csv", *TREE)
    assert (code, said["verdict"], said["method"]) == (0, "GO", "top-down")
    assert said["suppressed"]["items"] == []
    assert [names(note, item) for note, item in zip(said["notes"], ["'pie'", "'cure'"], strict=True)] == [True, True]
    assert said["notes"] == snapshot
    assert certificate(ward / "release")["generalized"] == {"food": ["bun", "fig", "pie"]}
    assert certificate(ward / "release")["sensitive"] == ["cure"]
    public = (ward / "release/public/data.csv").read_text()
    assert sorted(public.split()) == sorted(",".join(sorted(RECODED.get(item, item) for item in row)) for row in ROWS)
    code, said = run(capsys, "verify", "release/public")
    assert (code, said["verdict"], said["audit"]["state"]) == (0, "holds", "HOLDS")


def test_the_custodian_sees_what_became_of_each_item(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    assert {item: line["action"] for item, line in edits(ward / "release").items()} == {
        "ale": "kept",
        "bun": "generalized",
        "cure": "kept",
        "fig": "generalized",
        "rum": "kept",
    }


def test_the_recipe_repeats_the_release(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    recipe = ward / "release/custodian/recipe.toml"
    written = tomllib.loads(recipe.read_text())
    assert written["method"]["options"]["chosen"] == ["ale", "food", "cure", "rum"]
    assert run(capsys, "publish", recipe, "--out", "again")[0] == 0
    for name in ("public/data.csv", "public/certificate.json", "public/report.html", "custodian/edits.csv"):
        assert (ward / "again" / name).read_bytes() == (ward / "release" / name).read_bytes(), name
    assert (ward / "again/custodian/recipe.toml").read_text() == recipe.read_text()


def test_a_plain_run_is_repeated_too(ward, capsys):
    release = vs.anonymize(
        vs.read(ward / "baskets.csv", sensitive=["cure"]),
        vs.RhoUncertainty(rho=0.5),
        taxonomy="tree.csv",
        as_published=True,
    )
    assert release.certified
    recipe = vs.publish(release, ward / "release").custodian / "recipe.toml"
    assert run(capsys, "publish", recipe, "--out", "again")[0] == 0
    assert (ward / "again/public/data.csv").read_bytes() == (ward / "release/public/data.csv").read_bytes()


def test_apply(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    later = write_rows(ward / "later.csv", [["fig", "cure"], ["bun"], ["bun"], ["ale"], ["fig", "ale"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next")
    assert (code, said["verdict"]) == (0, "GO")
    assert vs.verify(ward / "next").holds
    release = vs.apply(ward / "release", vs.read(later, sensitive=["cure"]))
    assert release.certified
    assert release.custodian_data.to_lists() == [["cure", "food"], ["food"], ["food"], ["ale"], ["ale", "food"]]


def test_apply_says_no_go_where_the_group_tells_too_much(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    later = write_rows(ward / "later.csv", [["fig", "cure"], ["bun"], ["ale"], ["rum"]])
    refusal(capsys, "apply", "release", later, "--out", "next", exit_code=1, values=("food",))
    assert not (ward / "next").exists()


RARE = [f"rare{n}" for n in range(8)]


@pytest.fixture
def bazaar(tmp_path, monkeypatch, capsys) -> Path:
    """Items with one or two buyers, all of which are to stay: under names of groups, in a tree made from the data."""
    write_rows(tmp_path / "baskets.csv", [*([item] for item in RARE), ["rare0", "cure"], ["rare4", "cure"], *PLENTY])
    (tmp_path / "sensitive.txt").write_text("cure\n")
    (tmp_path / "keep.txt").write_text("\n".join([*RARE, "cure"]))
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "publish", "baskets.csv", *ASK, "--keep", "keep.txt", "--out", "release")[0] == 0
    return tmp_path


PLENTY = [["tea"], ["rum"], ["rare3"]] * 5
"""What many people have; rare3 is not so rare."""


def test_items_that_hardly_anybody_has_are_named_nowhere_in_public(bazaar, capsys):
    assert {line["action"] for item, line in edits(bazaar / "release").items() if item in RARE} == {"generalized"}
    public = b"".join(path.read_bytes() for path in (bazaar / "release/public").iterdir())
    assert [item for item in RARE if item.encode() in public] == ["rare3"]
    told = certificate(bazaar / "release")
    assert (told["generalized"], told["listed_from"]) == ({"#1..rare3": ["rare3"]}, 5)
    assert listed_sentence(5) in told["not_promised"]
    assert vs.verify(bazaar / "release/public").holds
    assert run(capsys, "publish", "release/custodian/recipe.toml", "--out", "again")[0] == 0
    for name in ("public/data.csv", "public/certificate.json", "public/report.html", "custodian/recipe.toml"):
        assert (bazaar / "again" / name).read_bytes() == (bazaar / "release" / name).read_bytes(), name


def test_all_items_are_listed_on_request(bazaar, capsys):
    ask = ("baskets.csv", *ASK, "--keep", "keep.txt", "--name-leaves-from", "0")
    assert run(capsys, "publish", *ask, "--out", "open")[0] == 0
    told = certificate(bazaar / "open")
    assert told["generalized"] == {"rare0..rare3": RARE[:4], "rare4..rare7": RARE[4:]}
    assert "listed_from" not in told
    assert listed_sentence(0) in told["not_promised"]


def test_applied_to_other_data_they_are_named_once_enough_people_have_them(bazaar, capsys):
    later = write_rows(bazaar / "later.csv", [*[["rare0"], ["rum"]] * 6, ["rare1", "cure"], ["rare4"]])
    assert run(capsys, "apply", "release", later, "--out", "next")[0] == 0
    told = certificate(bazaar / "next")
    assert (told["generalized"], told["listed_from"]) == ({"#1..rare3": ["rare3", "rare0"]}, 5)
    assert vs.verify(bazaar / "next/public").holds


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("--method suppress --taxonomy tree.csv", ("'suppress'", "taxonomy")),
        ("--taxonomy nowhere.csv", ("'nowhere.csv'",)),
        ("--taxonomy tree.csv --keep keep.txt", ("'beer'",)),
        ("--name-leaves-from -1", ("--name-leaves-from", -1)),
        ("--method suppress --name-leaves-from 5", ("'suppress'", "name")),
    ],
)
def test_what_cannot_be_meant(ward, capsys, arguments, values, snapshot):
    (ward / "keep.txt").write_text("beer\n")
    ask = ("publish", "baskets.csv", *ASK, *arguments.split(), "--out", "release")
    assert refusal(capsys, *ask, values=values) == snapshot
    assert not (ward / "release").exists()


def test_what_must_stay(ward, capsys, snapshot):
    (ward / "keep.txt").write_text("cure\nfig\n")
    assert run(capsys, "publish", "baskets.csv", *TREE, "--keep", "keep.txt")[0] == 0
    assert certificate(ward / "release")["generalized"] == {"food": ["bun", "fig", "pie"]}
    (ward / "tree.csv").write_text("item,shelf\nale,\nrum,\nbun,\nfig,\n")
    ask = ("publish", "baskets.csv", *TREE[:-1], "other", "--keep", "keep.txt")
    assert refusal(capsys, *ask, exit_code=3) == snapshot
    assert not (ward / "other").exists()


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ({"food": []}, ("'food'",)),
        ({"food": ["bun", "cure"]}, ("'food'", "'cure'")),
        ({"food": ["bun", "bun"]}, ("'bun'", "'food'")),
        ({"food": ["bun"], "ale": ["bun"]}, ("'bun'", "'ale'")),
        ({"food": ["bun"], "soap": ["fig"]}, ("'soap'",)),
        ({"cure": ["bun"]}, ("'cure'",)),
    ],
    ids=["nothing", "something sensitive", "twice", "two names", "not there", "a sensitive name"],
)
def test_names_that_contradict_themselves_are_noticed(made, tmp_path, said, values, snapshot):
    public = shutil.copytree(made / "public", tmp_path / "public")
    edit_certificate(public, lambda content: content.update(generalized=said), fix_sums=True)
    told = message(public, "altered", 1)
    assert [value for value in values if not names(told, value)] == []
    assert told == snapshot
