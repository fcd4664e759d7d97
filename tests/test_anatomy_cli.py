"""l-diverse anatomies from the command line: options, errors, exit codes, what is written and shown."""

from __future__ import annotations

import csv
import json
import tomllib
from itertools import product
from pathlib import Path

import pytest

import veilset as vs
from veilset.cli import main
from veilset.mining import expected_supports

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

DRINKS, FOOD, CARE = ("ale", "beer", "cola", "gin"), ("bread", "cheese", "eggs"), ("soap", "towels")
# One item of each kind or none of it: every value is had by at most a third of all.
BASKETS = [[item for item in row if item] for row in product((*DRINKS, ""), (*FOOD, ""), (*CARE, ""))]
TWO = ["--model", "l-diverse-anatomy", "--l", "2"]
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


def answer(capsys, *arguments: str) -> tuple[int, dict]:
    code = main(list(arguments))
    return code, json.loads(capsys.readouterr().out)


def error(capsys, *arguments: str) -> str:
    code, said = answer(capsys, "publish", "baskets.csv", "--out", "release", *arguments)
    assert code == said["error"]["exit_code"] == 2
    assert not Path("release").exists()
    return f"{said['error']['what']} {said['error']['next_step']}"


def publish(capsys, *arguments: str) -> tuple[int, dict]:
    return answer(capsys, "publish", "baskets.csv", *TWO, "--out", "release", *arguments)


def columns(said: dict) -> set[tuple[str, ...]]:
    return {tuple(column) for column in said["anatomy"]["columns"]}


def test_audit_of_whole_transactions(shop, capsys):
    code, said = answer(capsys, "audit", "baskets.csv", *TWO)
    assert (code, said["state"], said["found"]) == (1, "DOES NOT HOLD", len(BASKETS) - 1)
    assert said["sentence"].startswith("These transactions are published whole (one transaction taken as one person):")
    assert said["parameters"] == {"l": "2", "empty": "value"}
    code, said = answer(capsys, "audit", "baskets.csv", *TWO[:-1], "1")
    assert (code, said["sentence"][:8]) == (0, "l is 1, ")


def test_publish_verify_audit_and_repeat(shop, capsys):
    code, said = publish(capsys, *PARTITION, "--seed", "secret 4711")
    assert (code, said["verdict"], said["suppressed"]["count"]) == (0, "GO", 0)
    assert columns(said) == {DRINKS, FOOD, CARE}
    assert said["anatomy"]["columns_wished"] == 3
    code, found = answer(capsys, "verify", "release/public")
    assert (code, found["verdict"]) == (0, "holds")
    code, found = answer(capsys, "audit", "release/public/anatomy.csv", "--format", "anatomy", *TWO)
    assert (code, found["transactions"]) == (0, len(BASKETS) - 1)
    assert found["margins"]["largest_share"]["column"]
    code, found = answer(capsys, "audit", "release/public/anatomy.csv", "--format", "anatomy", *TWO[:-1], "20")
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
    code, said = publish(capsys, *branch, "--columns", "3")
    assert (code, said["verdict"], said["sensitive"]) == (0, "GO", len(DRINKS))
    assert DRINKS in columns(said)
    assert said["audit"]["margins"]["surest_within_column"]
    assert main(["publish", "baskets.csv", *TWO, *branch, "--level", "1", "--out", "release", "--replace"]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (TWO[:2], "--l must be given. For example: --model l-diverse-anatomy --l 2."),
        ([*TWO[:2], "--l", "0.5"], "l is 0.5, outside the range 1 to a million."),
        ([*TWO[:2], "--l", "many"], "l is 'many', which is not a number."),
        ([*TWO, "--k", "3"], "--k belongs to --model coherence, but the model is l-diverse-anatomy."),
        (["--k", "3", "--p", "2", "--l", "2"], "--l belongs to --model l-diverse-anatomy, but the model is coherence."),
        (["--k", "3", "--p", "2", "--empty", "free"], "--empty belongs to --model l-diverse-anatomy"),
        (["--k", "3", "--p", "2", "--columns", "2"], "The method 'auto' has no option 'columns'."),
        (
            [*TWO, "--columns", "none.csv"],
            "There is no file 'none.csv'. --columns takes a number such as 10, or a file",
        ),
        ([*TWO, "--columns", "baskets.csv"], "'baskets.csv', line"),
        ([*TWO, "--columns", "1"], "--columns is 1. Give a whole number of at least 2, or a file"),
        ([*TWO, "--columns=-3"], "--columns is -3. Give a whole number of at least 2, or a file"),
        ([*TWO, "--columns", "2.5"], "--columns is 2.5. Give a whole number of at least 2, or a file"),
        (["--k", "3", "--p", "2", *PARTITION], "The method 'auto' has no option 'columns'."),
        (
            [*TWO, "--columns", "3", "--taxonomy", "groups.csv"],
            "--columns and --taxonomy both say what the columns are.",
        ),
        ([*TWO, "--level", "1"], "level is 1, but there is no taxonomy."),
        ([*TWO, "--open-buckets", "0"], "open_buckets is 0."),
        ([*TWO, "--plain"], "The method 'multi-anatomy' has no option 'plain'."),
    ],
)
def test_wrong_options(shop, capsys, arguments, said):
    assert said in error(capsys, *arguments)


def test_a_file_of_columns_that_does_not_fit(shop, capsys):
    """The method is given lists; the file's lines and labels are told all the same."""
    Path("columns.csv").write_text(Path("columns.csv").read_text().replace("soap", "saop"))
    said = error(capsys, *TWO, *PARTITION)
    assert "'columns.csv': 1 of 9 items of the data is in no column: 'soap'." in said
    assert "In the file 'soap' may be called 'saop' (line 9)." in said
    Path("columns.csv").write_text(Path("columns.csv").read_text().replace("saop", "soap"))
    said = error(capsys, *TWO, *PARTITION, "--sensitive-items", "gin")
    assert "the column 'ale' has the sensitive item 'gin' (line 5) and the public item 'ale' (line 2)." in said


def test_a_recipe_finds_its_files_from_anywhere(shop, capsys, monkeypatch):
    wishes = {"columns": 'columns = "columns.csv"', "level": 'taxonomy = "groups.csv"'}
    for name, wish in wishes.items():
        Path(f"{name}.toml").write_text(
            f'[input]\npath = "baskets.csv"\n[promise]\nmodel = "l-diverse-anatomy"\nl = 2\n[method.options]\n{wish}\n'
        )
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    for name in wishes:
        code, said = answer(capsys, "publish", f"../{name}.toml", "--out", name)
        assert (code, columns(said)) == (0, {DRINKS, FOOD, CARE})


def test_anatomized_data_is_not_published_again(shop, capsys):
    assert publish(capsys, *PARTITION)[0] == 0
    anatomy = ["publish", "release/public/anatomy.csv", "--format", "anatomy", "--out", "again"]
    for promise in (TWO, ["--k", "2", "--p", "1"]):
        code, said = answer(capsys, *anatomy, *promise)
        assert (code, said["error"]["next_step"][:22]) == (2, "Anonymize the original")
        assert not Path("again").exists()


def test_what_is_infeasible(shop, capsys):
    code, said = answer(capsys, "publish", "baskets.csv", *TWO[:-1], "50", "--out", "release")
    assert code == said["error"]["exit_code"] == 3
    assert not Path("release").exists()


def test_on_a_terminal(shop, capsys, terminal):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--out", "release"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "At risk before These transactions are published whole" in out
    assert f"Changed nothing was deleted; {len(BASKETS) - 1} transactions in" in out
    assert "3 columns, as wished" in out
    assert "In every bucket and column" in out
    assert "veilset verify release/public" in out
    assert main(["verify", "release/public"]) == 0
    assert "HOLDS" in capsys.readouterr().out


def test_pages_of_a_release(shop, capsys):
    publish(capsys, *PARTITION)
    public, custodian = (Path("release", part, "report.html").read_text() for part in ("public", "custodian"))
    for page in (public, custodian):
        assert "How large buckets are" in page
        assert "What is common in each column" in page
        assert "ale, beer, cola, gin" in page
    seed = tomllib.loads(Path("release/custodian/recipe.toml").read_text())["method"]["options"]["random_state"]
    assert f"(columns=3 columns, open_buckets=32, random_state={seed})" in custodian
    assert str(seed) not in public
    assert "A single line need not be anybody:" in public


def test_mining_shows_what_is_to_be_expected(shop, capsys, terminal):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--out", "release"]) == 0
    capsys.readouterr()
    mine = ["mine", "release/public/anatomy.csv", "--format", "anatomy", "--min-support", "3", "--min-size", "2"]
    assert main([*mine, "--out", "found.csv"]) == 0
    shown = capsys.readouterr().out
    assert "Expected" in shown
    assert "one draw of chance" in " ".join(shown.split())
    data = vs.read("release/public/anatomy.csv", format="anatomy")
    with Path("found.csv").open(newline="") as file:
        found = [(row["items"].split(","), float(row["expected"])) for row in csv.DictReader(file)]
    assert found
    assert [expected for _, expected in found] == expected_supports(data, [items for items, _ in found]).tolist()
    code, said = answer(capsys, *mine, "--json")
    assert code == 0
    means = [row["expected"] for row in said["itemsets"]]
    assert means == pytest.approx(sorted((mean for _, mean in found), reverse=True)[: len(means)])
    assert said["sentence"].startswith("In these rows, one arrangement of many:")
    assert said["sentence"].endswith("; go by `expected`.")
    code, said = answer(capsys, "mine", "release/public/data.csv", "--min-support", "3", "--json")
    assert "expected" not in said["itemsets"][0]


def test_rules_are_judged_by_what_is_to_be_expected(shop, capsys, terminal):
    assert main(["publish", "baskets.csv", *TWO, *PARTITION, "--seed", "s3", "--out", "release"]) == 0
    capsys.readouterr()
    mine = ["mine", "release/public/anatomy.csv", "--format", "anatomy", "--rules", *RULES]
    assert main([*mine, "--out", "rules.jsonl"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Expected certainty" in shown
    assert "go by `expected` and `expected_confidence`" in shown
    data = vs.read("release/public/anatomy.csv", format="anatomy")
    rows = [json.loads(line) for line in Path("rules.jsonl").read_text().splitlines()]
    assert rows
    both = expected_supports(data, [[*row["antecedent"], row["consequent"]] for row in rows])
    left = expected_supports(data, [row["antecedent"] for row in rows])
    assert [row["expected"] for row in rows] == pytest.approx(both)
    assert [row["expected_confidence"] for row in rows] == pytest.approx(both / left)
    assert any(row["expected_confidence"] != pytest.approx(row["confidence"]) for row in rows)
    code, said = answer(capsys, *mine, "--json")
    sure = [(round(row["expected_confidence"], 9), round(row["expected"], 9)) for row in said["rules"]]
    assert (code, sure) == (0, sorted(sure, reverse=True))
    assert sure[0][0] == pytest.approx(max(row["expected_confidence"] for row in rows))


def test_other_questions_about_cut_transactions(shop, capsys):
    publish(capsys, *PARTITION)
    anatomy = ["mine", "release/public/anatomy.csv", "--format", "anatomy"]
    for question in (["--rare", "2"], ["--count", "--min-support", "1"]):
        code, said = answer(capsys, *anatomy, *question)
        assert code == 0
        assert "one draw of chance" in said["notes"][0]
        assert "Expected" not in said["notes"][0]
