"""``veilset sensitive suggest``: what it proposes, how it says so, what it writes, and what it refuses."""

import gzip
import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

import veilset as vs
from tests.support.errors import names, refused
from tests.support.texts import as_read
from tests.support.typing_commands import piped, typed
from veilset import Transactions, mining
from veilset.cli import main
from veilset.mining import Proxies, Proxy
from veilset.report import Suggested, proposed_items, proposed_list
from veilset.report.proxies import CAUTION, proxies_sentence, proxy_sentence

ROWS = [["strips", "insulin"]] * 8 + [["strips"]] + [["milk", "insulin"]] + [["milk"]] * 90
PAIR = [["tea", "rum", "cure"]] * 9 + [["tea"]] * 60 + [["rum"]] * 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Transactions.from_lists(ROWS).write("baskets.csv")
    Transactions.from_lists(PAIR).write("pairs.csv")
    (tmp_path / "sensitive.txt").write_text("# known\nglob: ins*\n")
    return tmp_path


run, facts = partial(typed, "sensitive suggest"), partial(piped, "sensitive suggest")


def test_piped_it_is_json(folder, capsys, snapshot):
    lower = mining.proxies(Transactions.from_lists(ROWS, sensitive=["insulin"])).first[0].lower
    found = facts(capsys, "baskets.csv --sensitive sensitive.txt")
    assert [found.pop("sentence"), found["proxies"][0].pop("sentence")] == snapshot
    assert found == {
        "transactions": 100,
        "twins": {"count": 0, "items": []},
        "size": 1,
        "min_support": 5,
        "caution": CAUTION,
        "counted": 1,
        "found": 1,
        "proposed": ["strips"],
        "proxies": [
            {
                "items": ["strips"],
                "sensitive": "insulin",
                "support": 8,
                "antecedent_support": 9,
                "confidence": {"exact": "8/9", "value": 8 / 9},
                "share_of_all": {"exact": "9/100", "value": 0.09},
                "lift": float(Fraction(800, 81)),
                "lower_bound": lower,
                "gain": lower - 0.09,
            }
        ],
    }


def test_on_a_terminal(folder, terminal, capsys, snapshot):
    code, out, _ = run(capsys, "baskets.csv --sensitive sensitive.txt --out more.txt")
    assert code == 0
    assert CAUTION in " ".join(out.split())
    for value in ("'glob: ins*'", "'insulin'", "88.9%", "56.5%", 9.9, "more.txt"):
        assert names(out, value)
    assert as_read(out) == snapshot


def test_size_min_support_and_top(folder, capsys):
    assert facts(capsys, "pairs.csv --sensitive-items cure")["found"] == 0
    both = facts(capsys, "pairs.csv --sensitive-items cure --size 2")
    assert [row["items"] for row in both["proxies"]] == [["rum", "tea"]]
    assert facts(capsys, "pairs.csv --sensitive-items cure --size 2 --min-support 10")["counted"] == 0
    assert facts(capsys, "pairs.csv --sensitive-items cure --size 2 --min-support 8%")["min_support"] == 11
    many = facts(capsys, "pairs.csv --sensitive-items cure --size 2 --min-support 1 --top 1")
    assert len(many["proxies"]) == 1


def test_what_is_not_shown_is_counted(tmp_path, terminal, capsys):
    vs.generate.grocery_pharmacy().write(tmp_path / "baskets.csv")
    code, out, _ = run(capsys, f"{tmp_path}/baskets.csv --sensitive-items insulin --top 1")
    assert code == 0
    assert re.search(r"… and \d+ more", out)


def test_nothing_found(folder, terminal, capsys, snapshot):
    code, out, _ = run(capsys, "pairs.csv --sensitive-items cure --out more.txt")
    assert code == 0
    assert CAUTION[:20] not in out
    assert as_read(out) == snapshot
    assert not Path("more.txt").exists()
    assert facts(capsys, "pairs.csv --sensitive-items cure --out more.txt --json")["written"] is None


def test_the_list_can_be_given_back(folder, capsys, snapshot):
    assert facts(capsys, "baskets.csv --sensitive sensitive.txt --out more.txt")["written"] == "more.txt"
    assert Path("more.txt").read_text() == snapshot
    again = facts(capsys, "baskets.csv --sensitive sensitive.txt --sensitive more.txt")
    assert (again["counted"], again["proposed"]) == (0, [])


def test_a_packed_list(folder, capsys):
    facts(capsys, "baskets.csv --sensitive sensitive.txt --out more.txt.gz")
    assert gzip.decompress(Path("more.txt.gz").read_bytes()).endswith(b"\nstrips\n")


def test_a_list_in_the_encoding_of_the_data(folder, capsys):
    rows = [["größe " + "x" * 80, "kur"]] * 8 + [["milch"]] * 90
    text = "".join(",".join(row) + "\n" for row in rows)
    Path("latin.csv").write_text(text, "latin-1")
    ask = "latin.csv --encoding latin-1 --sensitive-items kur"
    facts(capsys, f"{ask} --out more.txt")
    written = Path("more.txt").read_text("latin-1")
    assert written.endswith(f"\ngröße {'x' * 80}\n")
    assert "x?'" in written  # the ellipsis of a long name is not in latin-1
    assert facts(capsys, f"{ask} --sensitive more.txt")["counted"] == 0


def proxy(*items: str, sensitive: str = "s") -> Proxy:
    return Proxy(items, sensitive, 8, 9, Fraction(1, 10), 0.5)


def test_an_item_stands_once_with_all_its_reasons_and_pairs_are_no_items(snapshot):
    found = [proxy("glob: a"), proxy("b", "c"), proxy("d"), proxy("glob: a", sensitive="t")]
    assert proposed_items(found) == ("glob: a", "d")
    lines = proposed_list(found).decode()
    assert [line for line in lines.splitlines() if line and not line.startswith("#")] == ["name: glob: a", "d"]
    assert lines == snapshot


def test_names_do_not_break_out_of_comments():
    assert "\n" not in proxy_sentence(proxy("a\nb", sensitive="c\rd"))
    with refused(vs.InvalidArgument, r"'a\nb'"):
        proposed_list([proxy("a\nb")])


@pytest.mark.parametrize(
    ("found", "counted", "size", "least"), [(0, 0, 1, 5), (0, 3, 2, 1), (2, 1200, 1, 5)], ids=["none", "pairs", "some"]
)
def test_how_many_in_words(found, counted, size, least, snapshot):
    said = proxies_sentence(Suggested(Transactions.from_lists([]), Proxies((), found, counted), size, least))
    assert said == snapshot


def test_one_person_in_words(snapshot):
    assert proxy_sentence(Proxy(("a",), "s", 1, 1, Fraction(1, 10), 0.5)) == snapshot


@pytest.mark.parametrize(
    ("ask", "values"),
    [
        ("baskets.csv", ("--sensitive",)),
        ("baskets.csv --sensitive sensitive.txt --size 3", ("--size", 3, 1, 2)),
        ("baskets.csv --sensitive sensitive.txt --size 0", ("--size", 0, 1, 2)),
        ("baskets.csv --sensitive sensitive.txt --top 0", ("--top", 0, 1)),
        ("baskets.csv --sensitive sensitive.txt --min-support 0", ("--min-support", 0, 1)),
        ("baskets.csv --sensitive sensitive.txt --min-support few", ("--min-support", "'few'")),
        ("baskets.csv --sensitive sensitive.txt --out baskets.csv", ("'baskets.csv'",)),
        ("baskets.csv --sensitive sensitive.txt --out no/more.txt", ("no'",)),
        ("baskets.csv --sensitive-items strip", ("'strip'", "'strips'")),
        ("none.csv --sensitive-items strips", ("'none.csv'",)),
    ],
)
def test_bad_commands(folder, capsys, ask, values, snapshot):
    before = sorted(folder.iterdir()), (folder / "baskets.csv").read_bytes()
    code, _, err = run(capsys, ask)
    assert code == 2
    assert [value for value in values if not names(err, value)] == []
    assert as_read(err).replace(str(folder), "HERE") == snapshot
    assert (sorted(folder.iterdir()), (folder / "baskets.csv").read_bytes()) == before


def test_a_time_limit(folder, capsys):
    code, _, err = run(capsys, "baskets.csv --sensitive sensitive.txt --time-limit 1e-9")
    assert code == 4
    assert names(err, "time limit")


def test_the_group_says_what_there_is(capsys):
    assert main(["sensitive"]) == 0
    assert "suggest" in capsys.readouterr().out
    assert main(["sensitive", "sugest"]) == 2
    assert "Did you mean" in capsys.readouterr().err
