"""``veilset mine``: every option, every format, errors, limits, and what a new user would type first."""

import json
import re
import sys
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import pyarrow.parquet
import pytest

import veilset as vs
from tests.support.errors import names
from tests.support.explosive import explosive
from tests.support.interrupting import interrupt
from tests.support.places import DOCS
from tests.support.tables import read_back
from tests.support.texts import as_read
from tests.support.typing_commands import piped, typed
from veilset import mining
from veilset.cli.screen import Screen
from veilset.io import TABLE_SUFFIXES
from veilset.report import COLUMNS

COMMAND = sys.modules["veilset.cli.mine"]  # the package has the function by this name
PAGE = DOCS / "mining.md"


run, facts = partial(typed, "mine"), partial(piped, "mine")


def itemsets(capsys, line: str) -> list[tuple[str, int]]:
    return [(" ".join(row["items"]), row["support"]) for row in facts(capsys, line)["itemsets"]]


# What is frequent


def test_piped_it_is_json(shop, capsys, snapshot):
    found = facts(capsys, "baskets.csv --min-support 2")
    assert found.pop("sentence") == snapshot
    assert found == {
        "kind": "all",
        "transactions": 7,
        "min_support": {"count": 2, "share": 2 / 7},
        "min_size": 1,
        "max_size": None,
        "notes": [],
        "reading": {"notes": ["1 transaction is empty; it counts as a person."], "identifiers": []},
        "found": 3,
        "by_size": [2, 1],
        "itemsets": [
            {"items": ["ale"], "support": 5, "share": 5 / 7},
            {"items": ["bun"], "support": 4, "share": 4 / 7},
            {"items": ["ale", "bun"], "support": 3, "share": 3 / 7},
        ],
    }


@pytest.mark.parametrize(("given", "count"), [("2", 2), ("25%", 2), ("0.25", 2), ("1/4", 2), ("2/7", 2), ("30%", 3)])
def test_a_share_is_rounded_up(shop, capsys, given, count):
    assert facts(capsys, f"baskets.csv --min-support {given}")["min_support"]["count"] == count


def test_kinds(shop, capsys):
    ask = "baskets.csv --min-support 1 --kind"
    assert len(itemsets(capsys, f"{ask} all")) == 9
    assert itemsets(capsys, f"{ask} closed") == [
        ("ale", 5), ("bun", 4), ("ale bun", 3), ("ale fig", 1), ("ale bun cure", 1)
    ]  # fmt: skip
    assert itemsets(capsys, f"{ask} maximal") == [("ale fig", 1), ("ale bun cure", 1)]
    assert facts(capsys, f"{ask} maximal")["kind"] == "maximal"


def test_sizes_and_items(shop, capsys):
    (shop / "some.txt").write_text("ale\nfig\n")
    (shop / "more.txt").write_text("cure\n")
    ask = "baskets.csv --min-support 1"
    assert itemsets(capsys, f"{ask} --min-size 3") == [("ale bun cure", 1)]
    assert itemsets(capsys, f"{ask} --max-size 1") == [("ale", 5), ("bun", 4), ("cure", 1), ("fig", 1)]
    assert itemsets(capsys, f"{ask} --items some.txt") == [("ale", 5), ("fig", 1), ("ale fig", 1)]
    assert len(itemsets(capsys, f"{ask} --items some.txt --items more.txt")) == 5


def test_top(shop, capsys):
    ask = "baskets.csv --min-support 1 --top"
    assert itemsets(capsys, f"{ask} 2") == [("ale", 5), ("bun", 4)]
    assert itemsets(capsys, f"{ask} 0") == []
    assert facts(capsys, f"{ask} 0")["found"] == 9
    assert len(itemsets(capsys, f"{ask} 1000")) == 9


def test_by_default_twenty_are_shown(tmp_path, capsys):
    vs.Transactions.from_lists([list(range(5))]).write(tmp_path / "five.dat")
    found = facts(capsys, f"{tmp_path}/five.dat --min-support 1")
    assert (found["found"], len(found["itemsets"])) == (31, 20)


def test_how_a_file_is_read(tmp_path, capsys):
    (tmp_path / "long.csv").write_text("who;what\nann;tea\nbob;tea\nann;rye\n", "utf-16")
    ask = f"{tmp_path}/long.csv --min-support 1 --encoding utf-16 --delimiter ';' --long who,what --person who"
    assert itemsets(capsys, ask) == [("tea", 2), ("rye", 1), ("rye tea", 1)]


def test_nothing_found(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, "baskets.csv --min-support 6")
    assert code == 0
    assert as_read(out) == snapshot
    assert facts(capsys, "baskets.csv --min-support 6 --json")["itemsets"] == []


def test_more_than_there_are(shop, capsys):
    found = facts(capsys, "baskets.csv --min-support 900000000000000000")
    assert (found["found"], found["min_support"]["count"]) == (0, 900000000000000000)


def test_on_a_terminal(shop, capsys, terminal, snapshot):
    code, out, err = run(capsys, "baskets.csv --min-support 1 --sensitive sensitive.txt --top 8")
    assert (code, err) == (0, "")
    assert as_read(out) == snapshot
    bars = [line.count("█") for line in out.splitlines() if "█" in line]
    assert bars == sorted(bars, reverse=True)
    assert bars[0] == 16


# How many


def test_count(shop, capsys):
    found = facts(capsys, "baskets.csv --count --min-support 1")
    assert (found["kind"], found["found"]) == ("count", 9)
    assert list(found["per_item"].items()) == [("ale", 5), ("bun", 4), ("cure", 4), ("fig", 2)]
    found = facts(capsys, "baskets.csv --count --kind all --min-support 1 --min-size 2 --max-size 2")
    assert (found["found"], found["min_size"], found["max_size"]) == (4, 2, 2)
    assert list(found["per_item"].items()) == [("ale", 3), ("bun", 2), ("cure", 2), ("fig", 1)]
    (shop / "some.csv").write_text("a\nb,c\n")
    assert list(facts(capsys, "some.csv --count --min-support 1")["per_item"]) == ["b", "c", "a"]


def test_count_on_a_terminal(shop, capsys, terminal, snapshot):
    out = run(capsys, "baskets.csv --count --min-support 2 --top 1 --sensitive sensitive.txt")[1]
    assert as_read(out) == snapshot


def test_a_number_beyond_listing_is_exact(tmp_path, capsys, terminal):
    vs.Transactions.from_lists([list(range(200))] * 2).write(tmp_path / "wide.dat")
    ask = f"{tmp_path}/wide.dat --count --min-support 2"
    found = facts(capsys, f"{ask} --json")
    assert found["found"] == 2**200 - 1
    assert set(found["per_item"].values()) == {2**199}
    assert names(run(capsys, ask)[1], "1.61 × 10^60")


def test_a_number_of_more_digits_than_python_writes_by_default(shop, capsys, terminal, monkeypatch):
    monkeypatch.setattr(mining, "count_frequent", lambda *_, **__: mining.Count(2**20_000, {"ale": 2**20_000}))
    out = run(capsys, "baskets.csv --count --min-support 1 --json")[1]
    (digits,) = re.findall(r'"found": (\d+)', out)
    assert Decimal(digits) == Decimal(2**20_000)
    assert names(run(capsys, "baskets.csv --count --min-support 1")[1], "3.98 × 10^6020")


# What is rare

THESIS = ["abef 1", "cefg 2", "abg 3", "abfg 2", "abdg 2", "efg 1", "befg 3"]


@pytest.fixture
def thesis(tmp_path, monkeypatch):
    """Seven people with activities and an illness, as in docs/coherence.md."""
    rows = [[*activities, f"s{illness}"] for activities, illness in map(str.split, THESIS)]
    vs.Transactions.from_lists(rows).write(tmp_path / "people.csv")
    (tmp_path / "ill.txt").write_text("s1\ns2\ns3\n")
    monkeypatch.chdir(tmp_path)
    return vs.read("people.csv", sensitive=["s1", "s2", "s3"])


def test_rare_itemsets_in_the_auditors_order(thesis, capsys):
    found = facts(capsys, "people.csv --sensitive ill.txt --rare 3 --h 1/2 --max-size 3")
    audit = vs.audit(thesis, vs.Coherence(h="1/2", k=3, p=3))
    assert [(tuple(row["items"]), row["support"]) for row in found["itemsets"]] == [
        (witness.itemset, witness.support) for witness in audit.witnesses
    ]
    assert (found["found"], found["by_size"]) == (audit.found, list(audit.found_by_size))
    assert (found["k"], found["h"], found["max_size"]) == (3, {"exact": "1/2", "value": 0.5}, 3)
    assert found["itemsets"][-1] == {
        "items": ["a", "g"],
        "support": 3,
        "breach": {"exact": "2/3", "value": 2 / 3},
        "sensitive": "s2",
        "share": 3 / 7,
    }


def test_rare_itemsets_come_in_chunks(thesis, capsys, monkeypatch):
    """What a stream brings in one piece and in pieces of one is the same."""
    ask = "people.csv --sensitive ill.txt --rare 3 --h 1/2 --top 3"
    whole = facts(capsys, ask)
    chunks = mining.minimal_rare_chunks
    monkeypatch.setattr(
        mining, "minimal_rare_chunks", lambda *given, **options: chunks(*given, chunk_size=1, **options)
    )
    assert facts(capsys, ask) == whole
    assert len(whole["itemsets"]) == 3


def test_rare_on_a_terminal(thesis, capsys, terminal, snapshot):
    code, out, _ = run(capsys, "people.csv --sensitive ill.txt --rare 3 --h 1/2 --max-size 3")
    assert code == 0
    assert re.search(r"a \+ g +3 +s2\* +66\.7%", out), out
    assert re.search(r"a \+ f +2 *\n", out), out  # below h it gives nothing away that matters
    assert as_read(out) == snapshot(name="with h")
    out = run(capsys, "people.csv --sensitive ill.txt --rare 3")[1]
    assert re.search(r"c +1 +s2\* +100%", out), out
    assert as_read(out) == snapshot(name="without h")
    assert as_read(run(capsys, "people.csv --rare 3 --h 0.4")[1]) == snapshot(name="nothing sensitive")


def test_rare_items_only(thesis, capsys):
    Path("some.txt").write_text("a\ne\ng\n")
    ask = "people.csv --sensitive ill.txt --rare 3 --h 1/2 --items some.txt"
    assert itemsets(capsys, ask) == [("a e", 1), ("a g", 3)]


@pytest.mark.parametrize(
    ("ask", "values"), [("--rare 8", (7, 8)), ("--rare 2 --h 1/3", ("'s2'",))], ids=["too few", "too common"]
)
def test_where_nothing_needs_to_be_known(thesis, capsys, ask, values, snapshot):
    """No itemset is to blame, so that an empty list would look like good news."""
    code, out, err = run(capsys, f"people.csv --sensitive ill.txt {ask} --out rare.csv")
    assert (code, out) == (3, "")
    assert [value for value in values if not names(err, value)] == []
    assert as_read(err) == snapshot
    assert not Path("rare.csv").exists()


def test_nothing_rare(shop, capsys, snapshot):
    found = facts(capsys, "baskets.csv --rare 1")
    assert (found["found"], found["by_size"], found["itemsets"]) == (0, [], [])
    assert found["sentence"] == snapshot


# Rules


def test_rules(shop, capsys):
    found = facts(capsys, "baskets.csv --rules --min-support 2 --min-confidence 0.6")
    assert (found["kind"], found["found"], found["by_size"]) == ("rules", 2, [0, 2])
    assert found["min_confidence"] == {"exact": "3/5", "value": 0.6}
    assert found["rules"] == [
        {
            "antecedent": [antecedent],
            "consequent": consequent,
            "support": 3,
            "antecedent_support": support,
            "confidence": {"exact": f"3/{support}", "value": 3 / support},
            "lift": pytest.approx(float(Fraction(3 * 7, 5 * 4))),
            "share": 3 / 7,
        }
        for antecedent, consequent, support in (("bun", "ale", 4), ("ale", "bun", 5))
    ]


def test_rules_with_chosen_consequents_and_sizes(shop, capsys):
    (shop / "then.txt").write_text("cure\n")
    ask = "baskets.csv --rules --min-support 1 --min-confidence 20%"
    found = facts(capsys, f"{ask} --consequents then.txt")["rules"]
    assert [(rule["antecedent"], rule["consequent"]) for rule in found] == [
        (["ale", "bun"], "cure"), (["bun"], "cure"), (["ale"], "cure")
    ]  # fmt: skip
    assert facts(capsys, f"{ask} --consequents then.txt --max-size 2")["found"] == 2
    found = facts(capsys, f"{ask} --consequents then.txt --min-size 3")
    assert (found["found"], found["by_size"], found["min_size"]) == (1, [0, 0, 1], 3)
    (shop / "some.txt").write_text("ale\nfig\n")
    assert facts(capsys, f"{ask} --items some.txt")["found"] == 2


def test_rules_on_a_terminal(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, "baskets.csv --rules --min-support 2 --min-confidence 60% --top 1")
    assert code == 0
    assert re.search(r"bun → ale +75% +3 +1\.05", out), out
    assert as_read(out) == snapshot


# Files

NAMES = ["rye, dark", 'the "best" ale', " edge ", "Grüße ☃", "two\nlines", "=1+1", "tab\there", "plain"]


@pytest.fixture
def odd_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [NAMES, *([name for name in NAMES if name != left_out] for left_out in NAMES)]
    vs.Transactions.from_lists(rows).write("odd.csv")
    (tmp_path / "secret.txt").write_text("plain\n")
    return vs.read("odd.csv", sensitive=["plain"])


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_every_itemset_comes_back_from_every_format(odd_names, capsys, monkeypatch, suffix):
    monkeypatch.setattr(COMMAND, "_PIECE", 7)
    found = facts(capsys, f"odd.csv --min-support 1 --top 3 --out all{suffix}")
    assert (found["found"], len(found["itemsets"]), found["written"]) == (255, 3, f"all{suffix}")
    expected = mining.frequent(odd_names, 1).to_lists()
    assert [(row["items"], row["support"]) for row in read_back(Path(f"all{suffix}"), COLUMNS["all"])] == expected


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_every_rare_itemset_comes_back_from_every_format(odd_names, capsys, suffix):
    found = facts(capsys, f"odd.csv --sensitive secret.txt --rare 5 --h 8/9 --max-size 5 --out rare{suffix}")
    moles = sorted(mining.minimal_rare(odd_names, 5, h="8/9", max_size=5))
    assert found["found"] == len(moles) == 21
    back = sorted(read_back(Path(f"rare{suffix}"), COLUMNS["rare"]), key=lambda row: row["items"])
    assert [(tuple(row["items"]), row["support"], row["breach"], row["sensitive"]) for row in back] == [
        (items, support, float(breach), sensitive) for items, support, breach, sensitive in moles
    ]
    assert {mole[3] for mole in moles} == {"plain"}


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_every_rule_comes_back_from_every_format(odd_names, capsys, suffix):
    found = facts(capsys, f"odd.csv --rules --min-support 6 --min-confidence 80% --out rules{suffix}")
    rules = list(mining.rules(odd_names, 6, "80%"))
    assert found["found"] == len(rules) > 20
    back = read_back(Path(f"rules{suffix}"), COLUMNS["rules"])
    assert [(tuple(row["antecedent"]), row["consequent"], row["support"]) for row in back] == [
        (rule.antecedent, rule.consequent, rule.support) for rule in rules
    ]
    assert [Fraction(row["support"], row["antecedent_support"]) for row in back] == [rule.confidence for rule in rules]
    assert [(row["confidence"], row["lift"]) for row in back] == [
        (pytest.approx(float(rule.confidence)), pytest.approx(float(rule.confidence * Fraction(9, 8))))
        for rule in rules
    ]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@pytest.mark.parametrize("ask", ["--min-support 9", "--rare 1", "--rules --min-support 9 --min-confidence 1"])
def test_nothing_found_is_a_table_without_rows(shop, capsys, suffix, ask):
    assert facts(capsys, f"baskets.csv {ask} --out none{suffix}")["found"] == 0
    kind = {"--rare": "rare", "--rules": "rules"}.get(ask.split()[0], "all")
    assert read_back(Path(f"none{suffix}"), COLUMNS[kind]) == []
    if suffix == ".parquet":
        assert pyarrow.parquet.read_schema("none.parquet").names == COLUMNS[kind].names


def test_millions_never_become_python_objects(shop, capsys, monkeypatch):
    """No itemset is iterated over: all but those shown stay in arrays."""

    def never(self):
        pytest.fail("Itemsets became Python objects")

    monkeypatch.setattr(mining.Itemsets, "__iter__", never)
    monkeypatch.setattr(mining.Itemsets, "to_lists", never)
    for suffix in TABLE_SUFFIXES:
        assert facts(capsys, f"baskets.csv --min-support 1 --out all{suffix}")["found"] == 9


def test_written_on_a_terminal(shop, capsys, terminal):
    code, out, _ = run(capsys, "baskets.csv --min-support 2 --out 'found[red].csv'")
    assert code == 0
    assert "found[red].csv" in out
    head, *lines = (shop / "found[red].csv").read_text().splitlines()
    assert (head, sorted(lines)) == ('"items","support"', ['"ale",5', '"ale,bun",3', '"bun",4'])


def test_an_older_file_is_exchanged_only_on_demand(shop, capsys):
    (shop / "found.csv").write_text("old")
    code, _, err = run(capsys, "baskets.csv --min-support 2 --out found.csv")
    assert code == 2
    assert names(err, "'found.csv'")
    assert names(err, "--replace")
    assert (shop / "found.csv").read_text() == "old"
    assert facts(capsys, "baskets.csv --min-support 2 --out found.csv --replace")["written"] == "found.csv"
    assert "ale" in (shop / "found.csv").read_text()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("", "baskets.csv"),
        ("", "./link.csv"),
        ("--sensitive sensitive.csv", "sensitive.csv"),
        ("--items sensitive.csv", "sensitive.csv"),
    ],
)
def test_an_input_is_never_overwritten(shop, capsys, options, name):
    (shop / "sensitive.csv").write_text("cure\n")
    (shop / "link.csv").hardlink_to(shop / "baskets.csv")
    before = (shop / name).read_text()
    code, _, err = run(capsys, f"baskets.csv --min-support 1 {options} --out {name} --replace")
    assert code == 2
    assert names(err, repr(Path(name).name))
    assert (shop / name).read_text() == before


# What goes wrong


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("baskets.csv", ("--min-support", "--rare")),
        ("basket.csv --min-support 1", ("'basket.csv'", "'baskets.csv'")),
        ("empty.csv --min-support 1", ("'empty.csv'",)),
        ("baskets.csv --count", ("--count", "--min-support")),
        ("baskets.csv --rules --min-support 1", ("--min-confidence",)),
        ("baskets.csv --rules --min-confidence 1", ("--min-support", "--rules")),
        ("baskets.csv --rare 2 --rules", ("--rare", "--rules")),
        ("baskets.csv --rare 2 --count", ("--count", "--rare")),
        ("baskets.csv --count --rules", ("--count", "--rules")),
        ("baskets.csv --h 0.4", ("--h", "--rare")),
        ("baskets.csv --min-support 1 --h 0.4", ("--h", "--rare")),
        ("baskets.csv --count --min-support 1 --h 0.4", ("--h", "--count")),
        ("baskets.csv --min-support 1 --min-confidence 1", ("--min-confidence", "--rules")),
        ("baskets.csv --min-support 1 --consequents sensitive.txt", ("--consequents", "--rules")),
        ("baskets.csv --rare 2 --min-support 1", ("--min-support", "--rare")),
        ("baskets.csv --rare 2 --kind all", ("--kind", "--rare")),
        ("baskets.csv --rare 2 --min-size 2", ("--min-size", "--rare")),
        ("baskets.csv --rules --min-support 1 --min-confidence 1 --kind closed", ("--kind", "--rules")),
        ("baskets.csv --rules --min-support 1 --min-confidence 1 --min-size 1", ("--min-size", 1, 2)),
        ("baskets.csv --rules --min-support 1 --min-confidence 1 --max-size 1", ("--max-size", 1, 2)),
        ("baskets.csv --count --min-support 1 --kind closed", ("--kind", "--count")),
        ("baskets.csv --count --min-support 1 --out a.csv", ("--out", "--count")),
        ("baskets.csv --min-support 1 --replace", ("--replace", "--out")),
        ("baskets.csv --min-support 1 --kind close", ("close", "closed")),
        ("baskets.csv --min-support 0", ("--min-support", 0, 1)),
        ("baskets.csv --min-support many", ("--min-support", "'many'")),
        ("baskets.csv --min-support 1.5", ("--min-support", 1.5)),
        ("baskets.csv --min-support " + "9" * 5000, ("--min-support", 5000)),
        ("baskets.csv --min-support 1 --min-size 0", ("--min-size", 0, 1)),
        ("baskets.csv --min-support 1 --min-size " + "9" * 30, ("--min-size", "9" * 30, 2147483647)),
        ("baskets.csv --min-support 1 --min-size 3 --max-size 2", ("--max-size", 2, 3)),
        ("baskets.csv --rare 2 --max-size 0", ("--max-size", 0, 1)),
        ("baskets.csv --rare 0", ("--rare", 0, 1)),
        ("baskets.csv --rare two", ("two",)),
        ("baskets.csv --rare 2 --h 7", ("--h", 7)),
        ("baskets.csv --rules --min-support 1 --min-confidence 0", ("--min-confidence", 0)),
        ("baskets.csv --min-support 1 --top -1", ("--top", -1)),
        ("baskets.csv --min-support 1 --items ale", ("--items", "'ale'")),
        ("baskets.csv --min-support 1 --items blank.txt", ("blank.txt",)),
        ("baskets.csv --min-support 1 --items wrong.txt", ("'aile'", "'ale'")),
        ("baskets.csv --rules --min-support 1 --min-confidence 1 --consequents wrong.txt", ("'aile'", "'ale'")),
        ("baskets.csv --min-support 1 --sensitive wrong.txt", ("'aile'", "'ale'")),
        ("baskets.csv --min-support 1 --out a.xlsx", ("a.xlsx", ".parquet", ".csv", ".json", ".jsonl")),
        ("baskets.csv --min-support 1 --out nowhere/a.csv", ("nowhere'",)),
        ("baskets.csv --min-support 1 --out folder.csv --replace", ("'folder.csv'",)),
        ("baskets.csv --min-support 1 --threads 0", ("threads", 0)),
        ("baskets.csv --min-support 1 --memory-limit big", ("'big'", "2GB")),
        ("baskets.csv --min-support 1 --k 2", ("--k", "veilset mine --help")),
    ],
    ids=lambda value: value[:90] if isinstance(value, str) else "",
)
def test_errors_say_what_to_type_next(shop, capsys, terminal, line, values, snapshot):
    (shop / "empty.csv").touch()
    (shop / "blank.txt").write_text(" \n\n")
    (shop / "wrong.txt").write_text("aile\n")
    (shop / "folder.csv").mkdir()
    there = sorted(shop.iterdir())
    code, _, err = run(capsys, line)
    assert code == 2
    assert err.startswith("Error: "), err
    sentence = " ".join(err.split())
    assert [value for value in values if not names(sentence, value)] == [], sentence
    assert sentence.replace(str(shop), "HERE") == snapshot
    assert sorted(shop.iterdir()) == there


def test_options_are_judged_before_the_file_is_read(shop, capsys):
    """A large file is not read for nothing."""
    for line in ("--rare 2 --h 7", "--min-support many", "--rules --min-support 1 --min-confidence 7"):
        assert "no file" not in run(capsys, f"nowhere.csv {line}")[2]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@pytest.mark.parametrize("limit", ["--time-limit 0.3", "--memory-limit 1MB"])
def test_a_limit_stops_it_undecided(tmp_path, monkeypatch, capsys, suffix, limit):
    monkeypatch.chdir(tmp_path)
    explosive().write("dense.dat")
    (tmp_path / f"all{suffix}").write_text("old")
    code, out, err = run(capsys, f"dense.dat --min-support 1 --out all{suffix} --replace {limit} --json")
    assert code == 4, err
    assert json.loads(out)["error"]["exit_code"] == 4
    assert (tmp_path / f"all{suffix}").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("ask", ["--rare 2", "--rules --min-support 1 --min-confidence 1"])
def test_other_questions_have_limits_too(tmp_path, capsys, ask):
    explosive().write(tmp_path / "dense.dat")
    assert run(capsys, f"{tmp_path}/dense.dat {ask} --time-limit 0.3")[0] == 4


def test_limits_reach_the_kernels(shop, capsys, monkeypatch):
    """Threads too, for which there is nothing to see in the answer."""
    frequent, given = mining.frequent, {}

    def noting(*arguments, **options):
        given.update(options)
        return frequent(*arguments, **options)

    monkeypatch.setattr(mining, "frequent", noting)
    assert facts(capsys, "baskets.csv --min-support 1 --threads 3 --memory-limit 9GB --time-limit 99")["found"] == 9
    assert (given["threads"], given["memory_limit"], given["time_limit"]) == (3, "9GB", 99)


def test_interrupted(tmp_path, snapshot):
    """Ctrl-C while searching: exit code 130, a plain line, no file."""
    explosive().write(tmp_path / "dense.dat")
    script = "import sys; from veilset.cli import main; print('go', flush=True); sys.exit(main(sys.argv[1:]))"
    ask = ("mine", str(tmp_path / "dense.dat"), "--min-support", "1", "--out", str(tmp_path / "all.parquet"))
    code, err = interrupt(script, *ask)
    assert code == 130
    assert err == snapshot
    assert [path.name for path in tmp_path.iterdir()] == ["dense.dat"]


def test_progress(shop, capsys, monkeypatch):
    """Of the search and of the writing; not on stdout."""
    frequent, told = mining.frequent, []

    @contextmanager
    def watched(self):
        yield lambda what, done, total: told.append((what, done, total))

    def telling(*arguments, progress, **options):
        progress("Searching", 1, 2)
        return frequent(*arguments, **options)

    monkeypatch.setattr(Screen, "progress", watched)
    monkeypatch.setattr(mining, "frequent", telling)
    monkeypatch.setattr(COMMAND, "_PIECE", 5)
    assert facts(capsys, "baskets.csv --min-support 1 --out all.csv")["found"] == 9
    assert told == [("Searching", 1, 2), ("Writing", 5, 9), ("Writing", 9, 9)]


def test_a_strangers_names_do_not_steer_the_terminal(tmp_path, capsys, terminal):
    vs.Transactions.from_lists([["\x1b[2Ja[red]", "b"]] * 3 + [["b"]] * 9).write(tmp_path / "odd.csv")
    for ask in ("--min-support 1", "--count --min-support 1", "--rare 9", "--rules --min-support 1 --min-confidence 1"):
        code, out, _ = run(capsys, f"{tmp_path}/odd.csv {ask}")
        assert code == 0
        assert "\x1b" not in out
        assert "a[red]" in out


def test_the_commands_on_the_page_run(tmp_path, monkeypatch, capsys):
    commands = re.findall(r"^\$ veilset mine (.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(commands) >= 4
    monkeypatch.chdir(tmp_path)
    data = vs.generate.grocery_pharmacy()
    data.write("baskets.csv")
    Path("sensitive.txt").write_text("\n".join(data.sensitive))
    Path("public").mkdir()
    vs.anonymize(data, vs.LDiverseAnatomy(2), random_state=1).custodian_data.write(
        "public/anatomy.csv", format="anatomy"
    )
    for command in commands:
        assert facts(capsys, command)["found"] > 0, command
