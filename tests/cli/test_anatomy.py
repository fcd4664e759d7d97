"""l-diverse anatomies from the command line: options, errors, exit codes, what is written and shown."""

from __future__ import annotations

import csv
import json
import tomllib
from itertools import product
from pathlib import Path

import pytest

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.texts import as_read
from veilset.cli import main
from veilset.mining import expected_supports

DRINKS, FOOD, CARE = ("ale", "beer", "cola", "gin"), ("bread", "cheese", "eggs"), ("soap", "towels")
# One item of each kind or none of it: every value is had by at most a third of all.
BASKETS = [[item for item in row if item] for row in product((*DRINKS, ""), (*FOOD, ""), (*CARE, ""))]
TWO = ["--model", "l-diverse-anatomy", "--l", "2"]
ASKED = " ".join(TWO)
PARTITION = ["--columns", "columns.csv"]
LEVEL = ["--taxonomy", "groups.csv", "--level", "1"]
RULES = ["--min-support", "2", "--min-confidence", "1%"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with baskets, columns and a taxonomy, where the user stands."""
    (tmp_path / "baskets.csv").write_text("".join(",".join(row) + "\n" for row in BASKETS if row))
    (tmp_path / "columns.csv").write_text(
        "item,column\n" + "".join(f"{item},{kind[0]}\n" for kind in (DRINKS, FOOD, CARE) for item in kind)
    )
    groups = {"drinks": DRINKS, "food": FOOD, "care": CARE}
    (tmp_path / "groups.csv").write_text(
        "item,group\n" + "".join(f"{item},{group}\n" for group, items in groups.items() for item in items)
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error(capsys, *arguments: str, values: tuple[object, ...]) -> str:
    said = refusal(capsys, "publish", "baskets.csv", "--out", "release", *arguments, values=values)
    assert not Path("release").exists()
    return said


def publish(capsys, *arguments: str) -> tuple[int, dict]:
    return run(capsys, "publish", "baskets.csv", *TWO, "--out", "release", *arguments)


def columns(said: dict) -> set[tuple[str, ...]]:
    return {tuple(column) for column in said["anatomy"]["columns"]}


def test_audit_of_whole_transactions(shop, capsys, snapshot):
    code, whole = run(capsys, "audit", "baskets.csv", *TWO)
    assert (code, whole["state"], whole["found"]) == (1, "DOES NOT HOLD", len(BASKETS) - 1)
    assert whole["parameters"] == {"l": "2", "empty": "value"}
    code, of_one = run(capsys, "audit", "baskets.csv", *TWO[:-1], "1")
    assert (code, of_one["state"]) == (0, "EXCLUDES NOTHING")
    assert [whole["sentence"], of_one["sentence"]] == snapshot


def test_publish_verify_audit_and_repeat(shop, capsys):
    code, said = publish(capsys, *PARTITION, "--seed", "secret 4711")
    assert (code, said["verdict"], said["suppressed"]["count"]) == (0, "GO", 0)
    assert columns(said) == {DRINKS, FOOD, CARE}
    assert said["anatomy"]["columns_requested"] == 3
    code, found = run(capsys, "verify", "release/public")
    assert (code, found["verdict"]) == (0, "holds")
    code, found = run(capsys, "audit", "release/public/anatomy.csv", "--format", "anatomy", *TWO)
    assert (code, found["transactions"]) == (0, len(BASKETS) - 1)
    assert found["margins"]["largest_probability"]["column"]
    code, found = run(capsys, "audit", "release/public/anatomy.csv", "--format", "anatomy", *TWO[:-1], "20")
    assert code == 1
    assert found["witnesses"][0]["bucket"] >= 1
    recipe = tomllib.loads(Path("release/custodian/recipe.toml").read_text())
    assert recipe["promise"] == {"model": "l-diverse-anatomy", "l": "2", "empty": "value"}
    seed = recipe["method"]["options"]["random_state"]
    assert str(seed) not in json.dumps(said)
    assert "columns.csv" not in json.dumps(recipe)
    for again in (["release/custodian/recipe.toml"], ["baskets.csv", *TWO, *PARTITION, "--seed", "secret 4711"]):
        assert main(["publish", *again, "--out", "again", "--replace"]) == 0
        for file in ("data.csv", "anatomy.csv", "certificate.json"):
            assert Path("again/public", file).read_bytes() == Path("release/public", file).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--columns", "2", "--random-state", "7"], {"columns": 2, "random_state": 7}),
        (["--columns", "2", "--open-buckets", "1"], {"open_buckets": 1}),
        (["--columns", "2", "--empty", "free"], {"columns": 2}),
        (["--columns", "3", "--method", "multi-anatomy"], {"columns": 3}),
    ],
)
def test_options_reach_the_method(shop, capsys, arguments, options):
    code, said = publish(capsys, *arguments)
    assert (code, said["verdict"]) == (0, "GO")
    recipe = tomllib.loads(Path("release/custodian/recipe.toml").read_text())
    assert options.items() <= recipe["method"]["options"].items()
    assert recipe["promise"]["empty"] == ("free" if "--empty" in arguments else "value")


def test_a_level_of_a_taxonomy_is_the_columns(shop, capsys):
    code, said = publish(capsys, *LEVEL)
    assert (code, columns(said)) == (0, {DRINKS, FOOD, CARE})


def test_a_taxonomy_for_branches_alone(shop, capsys):
    branch = ["--taxonomy", "groups.csv", "--sensitive-items", "branch: drinks"]
    mild = ["publish", "baskets.csv", "--model", "l-diverse-anatomy", "--l", "6/5", "--out", "release"]
    code, said = run(capsys, *mild, *branch, "--columns", "3")
    assert (code, said["verdict"], said["sensitive"]) == (0, "GO", len(DRINKS))
    assert DRINKS in columns(said)
    assert said["audit"]["margins"]["surest_within_column"]
    assert said["withheld"] == len(DRINKS)  # one of them each, and nothing else
    assert main([*mild, *branch, "--level", "1", "--replace"]) == 0
    assert main(["publish", "baskets.csv", *TWO, *branch, "--out", "other"]) == 3  # most people have a drink


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("--model l-diverse-anatomy", ("--l",)),
        ("--model l-diverse-anatomy --l 0.5", ("l", "0.5")),
        ("--model l-diverse-anatomy --l many", ("l", "'many'")),
        (f"{ASKED} --k 3", ("--k", "coherence", "l-diverse-anatomy")),
        ("--k 3 --p 2 --l 2", ("--l", "l-diverse-anatomy", "coherence")),
        ("--k 3 --p 2 --empty free", ("--empty", "l-diverse-anatomy", "coherence")),
        ("--k 3 --p 2 --columns 2", ("'auto'", "columns")),
        (f"{ASKED} --columns none.csv", ("--columns", "'none.csv'")),
        (f"{ASKED} --columns baskets.csv", ("'baskets.csv'", "line 3")),
        (f"{ASKED} --columns 1", ("--columns", 1, 2)),
        (f"{ASKED} --columns=-3", ("--columns", -3, 2)),
        (f"{ASKED} --columns 2.5", ("--columns", 2.5, 2)),
        ("--k 3 --p 2 --columns columns.csv", ("'auto'", "columns")),
        (f"{ASKED} --columns 3 --taxonomy groups.csv", ("--columns", "--taxonomy")),
        (f"{ASKED} --level 1", ("--level", 1)),
        (f"{ASKED} --open-buckets 0", ("--open-buckets", 0)),
        (f"{ASKED} --as-published", ("'multi-anatomy'", "as-published")),
    ],
)
def test_wrong_options(shop, capsys, arguments, values, snapshot):
    assert error(capsys, *arguments.split(), values=values) == snapshot


def test_a_file_of_columns_that_does_not_fit(shop, capsys, snapshot):
    """The method is given lists; the file's lines and labels are told all the same."""
    Path("columns.csv").write_text(Path("columns.csv").read_text().replace("soap", "saop"))
    values = ("'columns.csv'", 1, 9, "'soap'", "'saop'", "line 9")
    assert error(capsys, *TWO, *PARTITION, values=values) == snapshot(name="misspelled")
    Path("columns.csv").write_text(Path("columns.csv").read_text().replace("saop", "soap"))
    values = ("'gin'", "line 5", "'ale'", "line 2")
    assert error(capsys, *TWO, *PARTITION, "--sensitive-items", "gin", values=values) == snapshot(name="mixed")


def test_a_recipe_finds_its_files_from_anywhere(shop, capsys, monkeypatch):
    wishes = {"columns": 'columns = "columns.csv"', "level": 'taxonomy = "groups.csv"'}
    for name, wish in wishes.items():
        Path(f"{name}.toml").write_text(
            f'[input]\npath = "baskets.csv"\n[promise]\nmodel = "l-diverse-anatomy"\nl = 2\n[method.options]\n{wish}\n'
        )
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    for name in wishes:
        code, said = run(capsys, "publish", f"../{name}.toml", "--out", name)
        assert (code, columns(said)) == (0, {DRINKS, FOOD, CARE})


def test_anatomized_data_is_not_published_again(shop, capsys, snapshot):
    assert publish(capsys, *PARTITION)[0] == 0
    anatomy = ["publish", "release/public/anatomy.csv", "--format", "anatomy", "--out", "again"]
    for promise in (TWO, ["--k", "2", "--p", "1"]):
        assert refusal(capsys, *anatomy, *promise) == snapshot
        assert not Path("again").exists()


def test_what_is_infeasible(shop, capsys):
    refusal(capsys, "publish", "baskets.csv", *TWO[:-1], "50", "--out", "release", exit_code=3, values=(50,))
    assert not Path("release").exists()


def test_on_a_terminal(shop, capsys, terminal, snapshot):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--seed", "s", "--out", "release"]) == 0
    assert as_read(capsys.readouterr().out) == snapshot(name="publish")
    assert main(["verify", "release/public"]) == 0
    assert as_read(capsys.readouterr().out) == snapshot(name="verify")


def test_pages_of_a_release(shop, capsys):
    publish(capsys, *PARTITION)
    public, custodian = (Path("release", part, "report.html").read_text() for part in ("public", "custodian"))
    for page in (public, custodian):
        assert page.count("<svg") >= 2
        assert "ale, beer, cola, gin" in page
    seed = tomllib.loads(Path("release/custodian/recipe.toml").read_text())["method"]["options"]["random_state"]
    assert f"random_state={seed}" in custodian
    assert str(seed) not in public


def test_mining_shows_what_is_to_be_expected(shop, capsys, terminal, snapshot):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--seed", "s", "--out", "release"]) == 0
    capsys.readouterr()
    mine = ["mine", "release/public/anatomy.csv", "--format", "anatomy", "--min-support", "3", "--min-size", "2"]
    assert main([*mine, "--out", "found.csv"]) == 0
    assert as_read(capsys.readouterr().out) == snapshot(name="screen")
    data = vs.read("release/public/anatomy.csv", format="anatomy")
    with Path("found.csv").open(newline="") as file:
        found = [(row["items"].split(","), float(row["expected"])) for row in csv.DictReader(file)]
    assert found
    assert [expected for _, expected in found] == expected_supports(data, [items for items, _ in found]).tolist()
    code, said = run(capsys, *mine, "--json")
    assert code == 0
    means = [row["expected"] for row in said["itemsets"]]
    assert means == pytest.approx(sorted((mean for _, mean in found), reverse=True)[: len(means)])
    assert said["sentence"] == snapshot(name="sentence")
    code, said = run(capsys, "mine", "release/public/data.csv", "--min-support", "3", "--json")
    assert "expected" not in said["itemsets"][0]


def test_rules_are_judged_by_what_is_to_be_expected(shop, capsys, terminal, snapshot):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--seed", "s3", "--out", "release"]) == 0
    capsys.readouterr()
    mine = ["mine", "release/public/anatomy.csv", "--format", "anatomy", "--rules", *RULES]
    assert main([*mine, "--out", "rules.jsonl"]) == 0
    assert as_read(capsys.readouterr().out) == snapshot
    data = vs.read("release/public/anatomy.csv", format="anatomy")
    rows = [json.loads(line) for line in Path("rules.jsonl").read_text().splitlines()]
    assert rows
    both = expected_supports(data, [[*row["antecedent"], row["consequent"]] for row in rows])
    left = expected_supports(data, [row["antecedent"] for row in rows])
    assert [row["expected"] for row in rows] == pytest.approx(both)
    assert [row["expected_confidence"] for row in rows] == pytest.approx(both / left)
    assert any(row["expected_confidence"] != pytest.approx(row["confidence"]) for row in rows)
    code, said = run(capsys, *mine, "--json")
    sure = [(round(row["expected_confidence"], 9), round(row["expected"], 9)) for row in said["rules"]]
    assert (code, sure) == (0, sorted(sure, reverse=True))
    assert sure[0][0] == pytest.approx(max(row["expected_confidence"] for row in rows))


def test_other_questions_about_cut_transactions(shop, capsys, snapshot):
    publish(capsys, *PARTITION)
    anatomy = ["mine", "release/public/anatomy.csv", "--format", "anatomy"]
    for question in (["--rare", "2"], ["--count", "--min-support", "1"]):
        code, said = run(capsys, *anatomy, *question)
        assert code == 0
        assert said["notes"] == snapshot
