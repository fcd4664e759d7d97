"""``veilset publish`` with each method and its options."""

import csv
import json
import re
import tomllib

import pytest

import veilset as vs
from veilset.cli import main

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

K2 = ["--sensitive", "sensitive.txt", "--h", "0.5", "--k", "2", "--p", "2"]


def answer(capsys, *arguments: str) -> tuple[int, dict]:
    code = main(list(arguments))
    out = capsys.readouterr().out
    return code, json.loads(out)


def publish(capsys, *arguments: str, promise=K2) -> tuple[int, dict]:
    return answer(capsys, "publish", "baskets.csv", *promise, "--out", "release", "--replace", "--yes", *arguments)


def error(capsys, *arguments: str, promise=K2) -> tuple[int, str]:
    code, said = publish(capsys, *arguments, promise=promise)
    return code, f"{said['error']['what']} {said['error']['next_step']}"


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
    assert said["loss_by_p"][1]["loss"] == pytest.approx(said["loss"]["items_lost"]["value"])
    assert vs.verify(shop / "release").holds
    first = (shop / "release/public/data.csv").read_bytes()
    assert main(["publish", "release/custodian/recipe.toml", "--out", "again", "--yes"]) == 0
    assert (shop / "again/public/data.csv").read_bytes() == first
    assert tomllib.loads((shop / "again/custodian/recipe.toml").read_text()) == tomllib.loads(
        (shop / "release/custodian/recipe.toml").read_text()
    )


def test_too_common_sensitive_items_may_go(shop, capsys):
    (shop / "sensitive.txt").write_text("ale\ncure\n")
    code, said = error(capsys)
    assert code == 3
    assert "'ale'" in said
    code, facts = publish(capsys, "--allow-sensitive")
    assert code == 0
    assert facts["suppressed"]["items"][0] == "ale"
    assert facts["options"]["allow_sensitive"] is True
    with (shop / "release/custodian/edits.csv").open() as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert (rows["ale"]["role"], rows["ale"]["why"]) == ("sensitive", "more people than h have it")
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
    ("arguments", "code", "message"),
    [
        (["--method", "generalize"], 2, "generalize needs a taxonomy"),
        (["--method", "generalize", "--taxonomy", "none.csv"], 2, "none.csv"),
        (["--taxonomy", "taxonomy.csv"], 2, "The method 'auto' has no option 'taxonomy'"),
        (["--method", "border", "--weights", "equal"], 2, "The method 'border' has no option 'weights'"),
        (["--weights", "none.csv"], 2, "There is no file 'none.csv'"),
        (["--weights", "bad.csv"], 2, "the weight of 'ale' is 'heavy'"),
        (["--keep", "none.txt"], 2, "There is no file 'none.txt'"),
        (["--keep", "unknown.txt"], 2, "There is no item 'aie'"),
        (["--keep", "fig.txt"], 3, "What must be kept breaks the promise: only 1 transaction holds 'fig'"),
        (["--method", "border", "--nugget-support", "none"], 2, "nugget_support is 'none'"),
        (["--method", "border", "--nugget-size", "0"], 2, "nugget_size is 0"),
        (["--sensitive-group", "none.txt"], 2, "There is no file 'none.txt'"),
    ],
)
def test_what_cannot_be_meant(shop, capsys, arguments, code, message):
    (shop / "taxonomy.csv").write_text("item,shelf\nale,drinks\nbun,food\nfig,food\n")
    (shop / "bad.csv").write_text("item,weight\nale,heavy\n")
    (shop / "unknown.txt").write_text("aie\n")
    (shop / "fig.txt").write_text("fig\n")
    got, said = error(capsys, *arguments)
    assert message in said
    assert got == code
    assert not (shop / "release").exists()


def test_audit_suggests_p(shop, capsys):
    code, said = answer(capsys, "audit", "baskets.csv", "--sensitive", "sensitive.txt", "--h", "0.5", "--k", "2")
    assert code == 2
    assert "--p must be given" in said["error"]["what"]
    assert "All that could be known is covered" in said["error"]["next_step"]
    _, said = answer(capsys, "audit", "baskets.csv", *K2[:-1], "1")
    assert said["reach"] == {
        "covered": {"exact": "3/7", "value": pytest.approx(3 / 7)},
        "p_for_90_percent": 2,
        "p_for_all": 2,
    }


def test_the_curve_is_on_the_screen_and_in_the_report(shop, capsys, terminal):
    main(["publish", "baskets.csv", *K2, "--out", "release", "--yes"])
    out = " ".join(capsys.readouterr().out.split())
    assert "Loss by p p=1 loses" in out
    assert "Ways tried insertion" in out
    page = (shop / "release/custodian/report.html").read_text()
    assert "What each p would cost" in page
    assert "Ways that were tried" in page
    assert "What each p would cost" not in (shop / "release/public/report.html").read_text()
