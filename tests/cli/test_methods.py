"""``veilset publish`` with each method and its options."""

import csv
import json
import re
import tomllib

import pytest

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.errors import names
from tests.support.texts import as_read, page_text
from veilset.cli import main

K2 = ["--sensitive", "sensitive.txt", "--h", "0.5", "--k", "2", "--p", "2"]


PARTS = ("public", "custodian")
OUT = ["--out", "release", "--replace", "--yes"]


def publish(capsys, *arguments: str, promise=K2) -> tuple[int, dict]:
    return run(capsys, "publish", "baskets.csv", *promise, *OUT, *arguments)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--method", "tree"], {"restore": True}),
        (
            ["--method", "tree", "--weights", "weights.csv", "--keep", "keep.txt"],
            {"weights": {"ale": 2.5}, "keep": ["ale"]},
        ),
        (
            ["--method", "border", "--nugget-support", "2", "--nugget-size", "2"],
            {"nugget_support": 2, "nugget_size": 2},
        ),
        (["--method", "border", "--nugget-support", "30%"], {"nugget_support": "30%"}),
        (["--method", "optimal", "--weights", "equal"], {"weights": "equal", "utility": "items"}),
        (["--method", "optimal", "--utility", "nuggets"], {"utility": "nuggets"}),
        (["--method", "generalize", "--taxonomy", "taxonomy.csv"], {}),
        (["--method", "remove-all"], {"restore": False}),
        (["--method", "k-anonymity", "--drop-empty"], {"drop_empty": True}),
    ],
)
def test_every_method_is_published_and_repeated(shop, capsys, arguments, options):
    (shop / "weights.csv").write_text("item,weight\nale,2.5\n")
    (shop / "keep.txt").write_text("ale\n")
    (shop / "taxonomy.csv").write_text("item,shelf\nale,drinks\nbun,food\nfig,food\n")
    code, said = publish(capsys, *arguments)
    assert code == 0
    assert said["verdict"] == "GO"
    assert options.items() <= said["options"].items()
    assert [point["p"] for point in said["loss_by_p"]] == [1, 2, 3, 4]
    point, recodes = said["loss_by_p"][1], "--taxonomy" in arguments
    assert point.get("loss") == (None if recodes else pytest.approx(said["loss"]["items_lost"]["value"]))
    assert point.get("average_loss") == (pytest.approx(said["loss"]["average_loss"]["value"]) if recodes else None)
    assert vs.verify(shop / "release").holds
    first = (shop / "release/public/data.csv").read_bytes()
    assert main(["publish", "release/custodian/recipe.toml", "--out", "again", "--yes"]) == 0
    assert (shop / "again/public/data.csv").read_bytes() == first
    assert tomllib.loads((shop / "again/custodian/recipe.toml").read_text()) == tomllib.loads(
        (shop / "release/custodian/recipe.toml").read_text()
    )


def test_too_common_sensitive_items_may_go(shop, capsys, snapshot):
    (shop / "sensitive.txt").write_text("ale\ncure\n")
    refusal(capsys, "publish", "baskets.csv", *K2, *OUT, exit_code=3, values=("'ale'",))
    code, facts = publish(capsys, "--allow-sensitive")
    assert code == 0
    assert facts["suppressed"]["items"][0] == "ale"
    assert facts["options"]["allow_sensitive"] is True
    with (shop / "release/custodian/edits.csv").open() as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert rows["ale"]["role"] == "sensitive"
    assert rows["ale"]["why"] == snapshot
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert recipe["method"]["allow_sensitive"] is True
    for name in ("report.html", "certificate.json", "data.csv"):
        assert not re.search(r"\bale\b", (shop / "release/public" / name).read_text())


def test_a_sensitive_group(shop, capsys):
    rows = [["ale", "flu"], ["ale", "cold"], ["ale"], ["ale", "bun"], ["bun"]]
    (shop / "baskets.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (shop / "sensitive.txt").write_text("flu\ncold\n")
    (shop / "group.txt").write_text("flu\ncold\n")
    promise = ["--sensitive", "sensitive.txt", "--h", "0.4", "--k", "2", "--p", "1"]
    assert publish(capsys, promise=promise)[1]["suppressed"]["items"] == []
    code, said = publish(capsys, "--sensitive-group", "group.txt", promise=promise)
    assert code == 0
    assert said["suppressed"]["items"] == ["ale"]  # two of the four who buy ale have one or the other
    certificate = json.loads((shop / "release/public/certificate.json").read_text())
    assert certificate["promise"]["parameters"]["sensitive_groups"] == [["flu", "cold"]]
    assert vs.verify(shop / "release/public").holds


@pytest.mark.parametrize(
    ("arguments", "code", "values"),
    [
        ("--method generalize", 2, ("generalize", "taxonomy")),
        ("--method generalize --taxonomy none.csv", 2, ("'none.csv'",)),
        ("--taxonomy taxonomy.csv", 2, ("'auto'", "taxonomy")),
        ("--method border --weights equal", 2, ("'border'", "weights")),
        ("--weights none.csv", 2, ("'none.csv'",)),
        ("--weights bad.csv", 2, ("'ale'", "'heavy'")),
        ("--keep none.txt", 2, ("'none.txt'",)),
        ("--keep unknown.txt", 2, ("'aie'",)),
        ("--keep fig.txt", 3, (1, "'fig'")),
        ("--method border --nugget-support none", 2, ("--nugget-support", "'none'")),
        ("--method border --nugget-size 0", 2, ("--nugget-size", 0)),
        ("--sensitive-group none.txt", 2, ("'none.txt'",)),
    ],
)
def test_what_cannot_be_meant(shop, capsys, arguments, code, values, snapshot):
    (shop / "taxonomy.csv").write_text("item,shelf\nale,drinks\nbun,food\nfig,food\n")
    (shop / "bad.csv").write_text("item,weight\nale,heavy\n")
    (shop / "unknown.txt").write_text("aie\n")
    (shop / "fig.txt").write_text("fig\n")
    ask = ("publish", "baskets.csv", *K2, *OUT, *arguments.split())
    assert refusal(capsys, *ask, exit_code=code, values=values) == snapshot
    assert not (shop / "release").exists()


def test_audit_suggests_p(shop, capsys, snapshot):
    assert refusal(capsys, "audit", "baskets.csv", *K2[:-2], values=("--p 4", "p=4")) == snapshot
    _, said = run(capsys, "audit", "baskets.csv", *K2[:-1], "1")
    assert said["reach"] == {
        "covered": {"exact": "3/7", "value": pytest.approx(3 / 7)},
        "p_for_90_percent": 2,
        "p_for_all": 2,
    }


def test_what_limits_cost_is_on_the_screen_and_in_the_report(shop, capsys, terminal, snapshot):
    main(["publish", "baskets.csv", *K2, "--out", "release", "--yes"])
    assert as_read(capsys.readouterr().out) == snapshot
    public, custodian = (page_text((shop / "release" / part / "report.html").read_text()) for part in PARTS)
    for told in ("p=1", "Cost by limit"):
        assert names(custodian, told)
        assert not names(public, told)


def test_a_no_go_says_at_which_milder_limit_it_would_be_none(shop, capsys):
    (shop / "first.csv").write_text("ale\n" * 4 + "fig\n" * 4)
    (shop / "later.csv").write_text("ale\n" * 4 + "fig\n" * 3)
    run(capsys, "publish", "first.csv", "--k", "4", "--p", "1", "--out", "release")
    refusal(capsys, "apply", "release", "later.csv", "--out", "next", exit_code=1, values=("NO-GO", "--k 2"))


def test_what_each_limit_costs_is_in_json_and_can_be_left_out(shop, capsys):
    found = {limit["limit"]: limit for limit in publish(capsys)[1]["binding"]["limits"]}
    k, p, h = (found[letter] for letter in "kph")
    assert (k["value"], k["without"], k["milder"]) == (2, 0, None)
    assert (p["value"], p["milder"], p["loss"]) == (2, 1, pytest.approx(1 / 11))
    assert (h["value"], h["without"], h["milder"]) == (0.5, pytest.approx(1 / 11), 0.6)
    left_out = publish(capsys, "--no-what-if")[1]
    assert (left_out["binding"]["limits"], left_out["loss_by_p"]) == ([], [])


@pytest.mark.parametrize("method", ["Tree-Cohesion", "border_cohesion", "RMALL"])
def test_a_papers_name_is_the_method_as_published(shop, capsys, method):
    """The recipe holds the method's own name, and the same is said by a flag."""
    code, facts = publish(capsys, "--method", method)
    recipe = (shop / "release/custodian/recipe.toml").read_text()
    own = tomllib.loads(recipe)["method"]
    assert code == 0
    assert facts["method"] == own["name"] == {"T": "tree", "b": "border", "R": "remove-all"}[method[0]]
    assert own["options"]["restore"] is False
    assert publish(capsys, "--method", own["name"], "--as-published")[1]["options"] == facts["options"]
    (shop / "short.toml").write_text(recipe.replace(f'"{own["name"]}"', f'"{method}"').replace("restore = false", ""))
    code, again = run(capsys, "publish", "short.toml", *OUT)
    assert (code, again["method"], again["options"]) == (0, own["name"], facts["options"])


def test_a_flag_of_another_promises_method(shop, capsys, snapshot):
    ask = ("publish", "baskets.csv", "--sensitive", "sensitive.txt", *OUT, "--model", "rho-uncertainty", "--rho", "0.5")
    sentence = refusal(capsys, *ask, "--method", "remove-sensitive", "--as-published", values=("--as-published",))
    assert sentence == snapshot
    sentence = refusal(capsys, *ask, "--method", "Tree-Cohesion", values=("'Tree-Cohesion'", "coherence"))
    assert sentence == snapshot
    assert run(capsys, *ask, "--no-exchange")[1]["options"]["exchange"] is False
