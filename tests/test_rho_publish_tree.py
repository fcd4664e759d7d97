"""top-down from end to end: a taxonomy in a file, publish, verify, replay, apply."""

import csv
import json
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from tests.test_rho_options import RECODED, ROWS, SHELVES
from tests.test_rho_publish import ASK, certificate, refused, run, write
from veilset.cli import main
from veilset.io import sha256_of

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

TREE = (*ASK, "--taxonomy", "tree.csv", "--out", "release")


@pytest.fixture
def ward(tmp_path, monkeypatch) -> Path:
    """A folder with baskets.csv, sensitive.txt and tree.csv; of its leaves one does not occur, and one is sensitive."""
    write(tmp_path / "baskets.csv", ROWS)
    (tmp_path / "sensitive.txt").write_text("cure\n")
    leaves = {**SHELVES, "pie": ["food"], "cure": ["food"]}
    write(tmp_path / "tree.csv", [["item", "shelf"], *([item, *groups] for item, groups in leaves.items())])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_publish_and_verify(ward, capsys):
    code, said = run(capsys, "publish", "baskets.csv", *TREE)
    assert (code, said["verdict"], said["method"]) == (0, "GO", "top-down")
    assert said["suppressed"]["items"] == []
    assert said["notes"] == [
        "1 leaf does not occur in the data: 'pie'.",
        "1 sensitive item is among the leaves and is not generalized: 'cure'.",
    ]
    assert certificate(ward / "release")["generalized"] == {"food": ["bun", "fig", "pie"]}
    assert certificate(ward / "release")["sensitive"] == ["cure"]
    public = (ward / "release/public/data.csv").read_text()
    assert sorted(public.split()) == sorted(",".join(sorted(RECODED.get(item, item) for item in row)) for row in ROWS)
    code, said = run(capsys, "verify", "release/public")
    assert (code, said["verdict"], said["audit"]["state"]) == (0, "holds", "HOLDS")


def test_the_custodian_sees_what_became_of_each_item(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    with (ward / "release/custodian/edits.csv").open(newline="") as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert {item: row["action"] for item, row in rows.items()} == {
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
        vs.read(ward / "baskets.csv", sensitive=["cure"]), vs.RhoUncertainty(rho=0.5), taxonomy="tree.csv", plain=True
    )
    assert release.certified
    recipe = vs.publish(release, ward / "release").custodian / "recipe.toml"
    assert run(capsys, "publish", recipe, "--out", "again")[0] == 0
    assert (ward / "again/public/data.csv").read_bytes() == (ward / "release/public/data.csv").read_bytes()


def test_apply(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    later = write(ward / "later.csv", [["fig", "cure"], ["bun"], ["bun"], ["ale"], ["fig", "ale"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next")
    assert (code, said["verdict"]) == (0, "GO")
    assert vs.verify(ward / "next").holds
    release = vs.apply(ward / "release", vs.read(later, sensitive=["cure"]))
    assert release.certified
    assert release.data.to_lists() == [["cure", "food"], ["food"], ["food"], ["ale"], ["ale", "food"]]


def test_apply_says_no_go_where_the_group_tells_too_much(ward, capsys):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    later = write(ward / "later.csv", [["fig", "cure"], ["bun"], ["ale"], ["rum"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next")
    assert code == 1
    assert "food" in said["error"]["what"]
    assert not (ward / "next").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "suppress", "--taxonomy", "tree.csv"), "'suppress' has no option 'taxonomy'"),
        (("--taxonomy", "nowhere.csv"), "nowhere.csv"),
        (("--taxonomy", "tree.csv", "--keep", "keep.txt"), "'beer'"),
    ],
)
def test_what_cannot_be_meant(ward, capsys, arguments, message):
    (ward / "keep.txt").write_text("beer\n")
    assert message in refused(capsys, "publish", "baskets.csv", *ASK, *arguments, "--out", "release")
    assert not (ward / "release").exists()


def test_what_must_stay(ward, capsys):
    (ward / "keep.txt").write_text("cure\nfig\n")
    assert run(capsys, "publish", "baskets.csv", *TREE, "--keep", "keep.txt")[0] == 0
    assert certificate(ward / "release")["generalized"] == {"food": ["bun", "fig", "pie"]}
    (ward / "tree.csv").write_text("item,shelf\nale,\nrum,\nbun,\nfig,\n")
    code = main(["publish", "baskets.csv", *TREE[:-1], "other", "--keep", "keep.txt"])
    said = json.loads(capsys.readouterr().out)["error"]
    assert code == 3
    assert "Nothing was found in which all that must be kept survives" in said["what"]
    assert not (ward / "other").exists()


@pytest.mark.parametrize(
    ("said", "contradiction"),
    [
        ({"food": []}, "'food' is said to stand for nothing"),
        ({"food": ["bun", "cure"]}, "'food' is said to stand for 'cure', which is sensitive"),
        ({"food": ["bun", "bun"]}, "'bun' is said to be meant by two names, or twice by 'food'"),
        ({"food": ["bun"], "ale": ["bun"]}, "'bun' is said to be meant by two names, or twice by 'ale'"),
        ({"food": ["bun"], "soap": ["fig"]}, "'soap' is said to stand for others, and is not there"),
        ({"cure": ["bun"]}, "'cure' is said to stand for others, and is sensitive"),
    ],
)
def test_names_that_contradict_themselves_are_noticed(ward, capsys, said, contradiction):
    assert run(capsys, "publish", "baskets.csv", *TREE)[0] == 0
    public = ward / "release/public"
    file, sums = public / "certificate.json", public / "SHA256SUMS"
    before = sha256_of(file)
    file.write_text(json.dumps({**certificate(ward / "release"), "generalized": said}))
    sums.write_text(sums.read_text().replace(before, sha256_of(file)))
    answer = vs.verify(public)
    assert answer.verdict == "altered"
    assert contradiction in answer.message
