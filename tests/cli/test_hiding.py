"""Hiding patterns and rules from the command line: files, options, errors, exit codes, what is written."""

from __future__ import annotations

import csv
import json
import re
import tomllib

import pytest

import veilset as vs
from tests.support.bundles import exchange_file
from tests.support.commands import refusal, run
from tests.support.texts import as_read
from veilset.cli import main

# The example of the paper, with names; "green tea" has a blank.
NAMES = {"1": "ale", "2": "bun", "3": "cake", "4": "dates", "5": "green tea"}
BASKETS = [[NAMES[item] for item in row] for row in ("45", "24", "125", "135", "1235", "245")]
PATTERNS = ["--model", "hidden-patterns", "--patterns", "patterns.txt", "--min-support", "2"]
RULES = ["--model", "hidden-rules", "--rules", "rules.txt", "--min-support", "30%", "--min-confidence", "0.4"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with baskets, patterns and rules, where the user stands."""
    (tmp_path / "baskets.csv").write_text("".join(",".join(row) + "\n" for row in BASKETS))
    (tmp_path / "patterns.txt").write_text("dates, green tea\n\nale,bun,green tea\n")
    (tmp_path / "rules.txt").write_text("dates -> green tea\nale, bun => green tea\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def publish(capsys, *arguments: str) -> tuple[int, dict]:
    return run(capsys, "publish", "baskets.csv", "--out", "release", "--yes", *arguments)


def named(text: str) -> list[str]:
    """The items of the baskets that a text names."""
    return [item for item in NAMES.values() if re.search(rf"\b{item}\b", text)]


def test_audit_of_patterns(shop, capsys, snapshot):
    code, said = run(capsys, "audit", "baskets.csv", *PATTERNS)
    assert code == 1
    assert said["parameters"] == {"patterns": [["dates", "green tea"], ["ale", "bun", "green tea"]], "min_support": 2}
    assert said["sentence"] == snapshot
    assert [left["support"] for left in said["leftovers"]] == [2, 2]
    assert run(capsys, "audit", "baskets.csv", *PATTERNS[:-1], "3")[0] == 0


def test_audit_of_rules(shop, capsys, terminal, snapshot):
    assert main(["audit", "baskets.csv", *RULES]) == 1
    assert as_read(capsys.readouterr().out) == snapshot
    assert main(["audit", "baskets.csv", *RULES[:-1], "100%"]) == 1
    assert main(["audit", "baskets.csv", *RULES[:4], "--min-support", "3", "--min-confidence", "0.4"]) == 0


@pytest.mark.parametrize(
    ("asked", "arguments", "options"),
    [
        (PATTERNS, [], {"certify": True, "p_r": "7/20"}),
        (PATTERNS, ["--p-r", "0.5", "--margin", "25%", "--random-state", "7"], {"p_r": "1/2", "margin": "1/4"}),
        (PATTERNS, ["--method", "hidden-first", "--spare-shared-pairs"], {"spare_shared_pairs": True}),
        (PATTERNS, ["--method", "hidden-first", "--no-certify"], {"certify": False}),
        (PATTERNS, ["--keep-patterns", "keep.txt"], {"keep_patterns": [["bun", "dates"], ["ale", "cake"]]}),
        (RULES, ["--method", "non-hidden-first"], {"certify": True}),
    ],
)
def test_publish_verify_and_repeat(shop, capsys, asked, arguments, options):
    (shop / "keep.txt").write_text("# both\nbun,dates\nale,cake\n")
    (shop / "rules.txt").write_text("# ours\n" + (shop / "rules.txt").read_text())
    code, said = publish(capsys, *asked, *arguments)
    assert (code, said["verdict"]) == (0, "GO")
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert options.items() <= recipe["method"]["options"].items()
    taken = said["sanitization"]["taken_out"]["occurrences"]
    assert taken == sum(map(len, BASKETS)) - sum(map(len, vs.read(shop / "release/public/data.csv")))
    code, found = run(capsys, "verify", "release")
    assert (code, found["verdict"]) == (0, "holds")
    code, found = run(capsys, "verify", "release/public")
    assert (code, found["verdict"], found["holds"]) == (4, "sealed", False)
    with (shop / "release/custodian/patterns.csv").open(newline="") as file:
        assert [row["fate"] for row in csv.DictReader(file) if row["kind"] == "hidden"] == ["hidden"] * 2
    assert isinstance(recipe["method"]["options"]["random_state"], int)
    first = (shop / "release/public/data.csv").read_bytes()
    assert main(["publish", "release/custodian/recipe.toml", "--out", "again", "--yes"]) == 0
    assert (shop / "again/public/data.csv").read_bytes() == first


def test_on_a_terminal(shop, capsys, terminal, snapshot):
    assert main(["publish", "baskets.csv", *PATTERNS, "--seed", "s", "--out", "release"]) == 0
    out = capsys.readouterr().out
    assert "veilset verify release/public" not in out
    assert as_read(out) == snapshot(name="publish")
    assert main(["verify", "release/public"]) == 4
    assert as_read(capsys.readouterr().out) == snapshot(name="verify")


def test_what_is_public_names_no_pattern(shop, capsys):
    publish(capsys, *PATTERNS)
    for name in ("report.html", "certificate.json"):
        text = (shop / "release/public" / name).read_text()
        assert not named(text)
    page = (shop / "release/custodian/report.html").read_text()
    assert {"ale", "bun", "dates", "green tea"} <= set(named(page))


@pytest.mark.parametrize("asked", [PATTERNS, [*RULES[:4], "--min-support", "2", "--min-confidence", "0.4"]])
def test_what_is_piped_and_may_be_logged_names_no_pattern(shop, capsys, asked, snapshot):
    """Nor the support from which one is found, the levels, or the seed that they were drawn with."""
    (shop / "keep.txt").write_text("bun,dates\n")
    code, said = publish(capsys, *asked, "--random-state", "424242", "--keep-patterns", "keep.txt")
    assert code == 0
    kind = "rules" if asked[1] == "hidden-rules" else "patterns"
    assert said["hidden"] == {kind: 2, "found_before": 2, "found": 0, "lost_patterns_to_keep": 0, "stand_out": 0}
    assert said["sentence"] == snapshot
    assert said["options"] == {"certify": True, "p_r": "7/20"}
    whole = run(capsys, "verify", "release")
    assert (whole[0], whole[1]["verdict"]) == (0, "holds")
    public = run(capsys, "verify", "release/public")
    assert whole[1].keys() == public[1].keys() == {"verdict", "message", "holds", "certificate"}
    assert whole[1]["certificate"] == public[1]["certificate"]
    assert whole[1]["certificate"]["promise"]["name"] == "sealed"
    for facts in (said, whole[1], public[1]):
        text = json.dumps(facts)
        assert not named(text)
        assert not [word for word in ("424242", "min_support", "min_confidence", "levels", "leftovers") if word in text]


def test_a_broken_sealed_release_names_no_pattern_either(shop, capsys):
    publish(capsys, *PATTERNS)
    public = shop / "release/public"
    exchange_file(public, "data.csv", (shop / "baskets.csv").read_bytes())
    code, said = run(capsys, "verify", "release")
    assert (code, said["verdict"]) == (1, "broken")
    assert said.keys() == {"verdict", "message", "holds", "certificate"}
    assert not named(json.dumps(said))


def test_what_the_plain_product_leaves_is_no_go(shop, capsys, snapshot):
    ask = (
        "publish",
        "baskets.csv",
        *PATTERNS,
        "--method",
        "non-hidden-first",
        "--no-certify",
        "--out",
        "release",
        "--yes",
    )
    said = refusal(capsys, *ask, exit_code=1, values=("NO-GO", "1 of 2"))
    assert not named(said)
    assert said == snapshot
    assert not (shop / "release").exists()


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
def test_what_mine_finds_can_be_hidden_as_it_is(shop, capsys, suffix):
    out = f"mined{suffix}"
    code, said = run(capsys, "mine", "baskets.csv", "--min-support", "2", "--min-size", "3", "--out", out)
    assert (code, said["found"]) == (0, 2)
    code, said = publish(capsys, "--model", "hidden-patterns", "--patterns", out, "--min-support", "2")
    assert code == 0
    assert said["hidden"]["patterns"] == 2
    recipe = tomllib.loads((shop / "release/custodian/recipe.toml").read_text())
    assert sorted(recipe["promise"]["patterns"]) == [["ale", "bun", "green tea"], ["ale", "cake", "green tea"]]
    out = f"rules{suffix}"
    mine = ["mine", "baskets.csv", "--rules", "--min-support", "2", "--min-confidence", "100%", "--out", out]
    assert main(mine) == 0
    capsys.readouterr()
    code, said = run(capsys, "audit", "baskets.csv", *RULES[:2], "--rules", out, *RULES[4:])
    assert code == 1
    assert [["ale", "bun"], ["green tea"]] in said["parameters"]["rules"]
    assert said["found"] == len(said["parameters"]["rules"])


def test_several_files_are_united(shop, capsys):
    (shop / "more.txt").write_text('# why\ngreen tea,dates\n"cake"\n')
    asked = ["--patterns", "patterns.txt", "--patterns", "more.txt"]
    code, said = run(capsys, "audit", "baskets.csv", "--model", "hidden-patterns", *asked, "--min-support", "2")
    assert code == 1
    assert said["parameters"]["patterns"] == [["dates", "green tea"], ["ale", "bun", "green tea"], ["cake"]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ale\nbun cake\n", ("line 2", "'bun cake'")),
        ("ale\n\nbum\n", ("line 3", "'bum'", "'bun'")),
        ("ale,\n", ("line 1",)),
        ("# ale\nale, ale\n", ("line 2", "'ale'")),
    ],
    ids=["two in one", "misspelled", "empty", "twice"],
)
@pytest.mark.parametrize("command", ["audit", "publish"])
def test_errors_in_a_file_name_the_line(shop, capsys, text, values, command, snapshot):
    (shop / "patterns.txt").write_text(text)
    out = ["--out", "release"] if command == "publish" else []
    said = refusal(capsys, command, "baskets.csv", *PATTERNS, *out, values=("'patterns.txt'", *values))
    assert said == snapshot
    assert not (shop / "release").exists()


def test_errors_in_the_patterns_to_keep_name_the_line(shop, capsys):
    (shop / "keep.txt").write_text("ale\nbum\n")
    ask = ("publish", "baskets.csv", *PATTERNS, "--keep-patterns", "keep.txt", "--out", "release")
    refusal(capsys, *ask, values=("'keep.txt'", "line 2", "'bum'"))


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (PATTERNS[:4], ("--min-support",)),
        ([*PATTERNS[:2], "--min-support", "2"], ("--patterns",)),
        (PATTERNS[:2], ("--patterns", "--min-support")),
        (RULES[:6], ("--min-confidence",)),
        ([*PATTERNS, "--min-confidence", "0.4"], ("--min-confidence", "hidden-rules", "hidden-patterns")),
        ([*PATTERNS, "--rules", "rules.txt"], ("--rules", "hidden-rules", "hidden-patterns")),
        ([*PATTERNS, "--k", "3"], ("--k", "coherence", "hidden-patterns")),
        (["--k", "3", "--min-support", "2"], ("--min-support", "hidden-patterns", "hidden-rules")),
        ([*PATTERNS[:-1], "0"], ("--min-support", 0)),
        ([*PATTERNS[:-1], "much"], ("--min-support", "'much'")),
        ([*RULES[:-1], "2"], ("--min-confidence", 2)),
        (["--model", "hidden-patterns", "--patterns", "none.txt", "--min-support", "2"], ("'none.txt'",)),
        (["--model", "sealed"], ("'sealed'",)),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_options_that_do_not_fit(shop, capsys, arguments, values, snapshot):
    assert refusal(capsys, "audit", "baskets.csv", *arguments, values=values) == snapshot


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("--method hidden-first --p-r 0.5", ("'hidden-first'", "--p-r")),
        ("--spare-shared-pairs", ("'hpcme'", "--spare-shared-pairs", "hidden-first")),
        ("--p-r 2", ("--p-r", 2)),
        ("--margin x", ("--margin", "'x'")),
        ("--method tree", ("'tree'",)),
    ],
)
def test_options_that_a_method_does_not_have(shop, capsys, arguments, values, snapshot):
    ask = ("publish", "baskets.csv", *PATTERNS, *arguments.split(), "--out", "release")
    assert refusal(capsys, *ask, values=values) == snapshot


def test_patterns_to_keep_belong_to_hiding(shop, capsys):
    asked = ["--k", "2", "--p", "1", "--keep-patterns", "patterns.txt"]
    refusal(capsys, "publish", "baskets.csv", *asked, "--out", "release", values=("'auto'", "--keep-patterns"))


def test_one_seed_for_order_and_chance(shop, capsys):
    """Two releases that differ would show where the hidden patterns are."""
    for out in ("release", "again"):
        assert main(["publish", "baskets.csv", *PATTERNS, "--seed", "a secret", "--out", out]) == 0
    capsys.readouterr()
    for name in ("data.csv", "certificate.json", "report.html"):
        assert (shop / "release/public" / name).read_bytes() == (shop / "again/public" / name).read_bytes()
