"""``veilset sensitive suggest``: what it proposes, how it says so, what it writes, and what it refuses."""

import gzip
import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

import veilset as vs
from veilset import Transactions, mining
from veilset.cli import main
from veilset.mining import Proxies, Proxy
from veilset.report import Suggested, proposed_items, proposed_list
from veilset.report.proxies import CAUTION, proxies_sentence, proxy_sentence

pytestmark = pytest.mark.no_sanitizer(reason="kernels see nothing that other tests do not show them")

ROWS = [["strips", "insulin"]] * 8 + [["strips"]] + [["milk", "insulin"]] + [["milk"]] * 90
PAIR = [["tea", "rum", "cure"]] * 9 + [["tea"]] * 60 + [["rum"]] * 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Transactions.from_lists(ROWS).write("baskets.csv")
    Transactions.from_lists(PAIR).write("pairs.csv")
    (tmp_path / "sensitive.txt").write_text("# known\nglob: ins*\n")
    return tmp_path


def run(capsys, line: str) -> tuple[int, str, str]:
    code = main(["sensitive", "suggest", *shlex.split(line)])
    out, err = capsys.readouterr()
    return code, out, err


def facts(capsys, line: str) -> dict:
    code, out, err = run(capsys, line)
    assert (code, err) == (0, ""), err
    return json.loads(out)


def test_piped_it_is_json(folder, capsys):
    lower = mining.proxies(Transactions.from_lists(ROWS, sensitive=["insulin"])).first[0].lower
    assert facts(capsys, "baskets.csv --sensitive sensitive.txt") == {
        "transactions": 100,
        "size": 1,
        "min_support": 5,
        "sentence": "1 of 1 combination of a public item and a sensitive item, in at least 5 people each, makes an "
        "attacker surer.",
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
                "sentence": "88.9% of the 9 people with 'strips' have 'insulin'; of all people 9% do.",
            }
        ],
    }


def test_on_a_terminal(folder, terminal, capsys):
    code, out, _ = run(capsys, "baskets.csv --sensitive sensitive.txt --out more.txt")
    said = " ".join(out.split())
    assert code == 0
    assert "note: 'glob: ins*' took 1 item: 'insulin'." in said
    assert "88.9% of the 9 people with 'strips' have 'insulin'; of all people 9% do." in said
    assert "56.5% 9.9" in said
    assert CAUTION in said
    assert "Written: more.txt proposes 1 item. Keep it as you keep the data." in said


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
    assert re.search(r"… and \d+ more \(--top shows more\)\.", out)


def test_nothing_found(folder, terminal, capsys):
    code, out, _ = run(capsys, "pairs.csv --sensitive-items cure --out more.txt")
    assert code == 0
    assert "None of 2 combinations of a public item and a sensitive item, in at least 5" in " ".join(out.split())
    assert "Nothing to write." in out
    assert CAUTION[:20] not in out
    assert not Path("more.txt").exists()
    assert facts(capsys, "pairs.csv --sensitive-items cure --out more.txt --json")["written"] is None


def test_the_list_can_be_given_back(folder, capsys):
    assert facts(capsys, "baskets.csv --sensitive sensitive.txt --out more.txt")["written"] == "more.txt"
    assert (
        Path("more.txt")
        .read_text()
        .endswith("\n\n# 88.9% of the 9 people with 'strips' have 'insulin'; of all people 9% do.\nstrips\n")
    )
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
    assert "x?' have 'kur'" in written  # the ellipsis of a long name is not in latin-1
    assert facts(capsys, f"{ask} --sensitive more.txt")["counted"] == 0


def proxy(*items: str, sensitive: str = "s") -> Proxy:
    return Proxy(items, sensitive, 8, 9, Fraction(1, 10), 0.5)


def test_an_item_stands_once_with_all_its_reasons_and_pairs_are_no_items():
    found = [proxy("glob: a"), proxy("b", "c"), proxy("d"), proxy("glob: a", sensitive="t")]
    assert proposed_items(found) == ("glob: a", "d")
    reason = "# 88.9% of the 9 people with {} have '{}'; of all people 10% do."
    head, *blocks = proposed_list(found).decode().split("\n\n")
    assert head.startswith("# Proposed, not decided")
    assert " ".join(line.removeprefix("# ") for line in head.splitlines()[1:]) == CAUTION
    of_s, of_t = (reason.format("'glob: a'", sensitive) for sensitive in "st")
    assert blocks == [
        f"{of_s}\n{of_t}\nname: glob: a",
        reason.format("'d'", "s") + "\nd",
        "# Together only; a pair cannot stand in a list:\n" + reason.format("'b' and 'c'", "s") + "\n",
    ]


def test_names_do_not_break_out_of_comments():
    assert "\n" not in proxy_sentence(proxy("a\nb", sensitive="c\rd"))
    with pytest.raises(vs.WrongUsage, match="cannot stand in a list"):
        proposed_list([proxy("a\nb")])


@pytest.mark.parametrize(
    ("found", "counted", "size", "least", "said"),
    [
        (0, 0, 1, 5, "No public item is held together with a sensitive item by at least 5 people."),
        (0, 3, 2, 1, "None of 3 combinations of a public item or pair of items and a sensitive item, in at least 1 "
         "person each, makes an attacker surer."),
        (2, 1200, 1, 5, "2 of 1,200 combinations of a public item and a sensitive item, in at least 5 people each, "
         "make an attacker surer."),
    ],
)  # fmt: skip
def test_how_many_in_words(found, counted, size, least, said):
    assert proxies_sentence(Suggested(Transactions.from_lists([]), Proxies((), found, counted), size, least)) == said


def test_one_person_in_words():
    lonely = Proxy(("a",), "s", 1, 1, Fraction(1, 10), 0.5)
    assert proxy_sentence(lonely) == "100% of the 1 person with 'a' has 's'; of all people 10% do."


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ("baskets.csv", "No item is named as sensitive, so nothing can be given away. Name those you know with --sens"),
        ("baskets.csv --sensitive sensitive.txt --size 3", "--size is 3. Give 1 for single items, or 2 for pairs too."),
        ("baskets.csv --sensitive sensitive.txt --size 0", "--size is 0."),
        ("baskets.csv --sensitive sensitive.txt --top 0", "--top is 0. Give at least 1."),
        ("baskets.csv --sensitive sensitive.txt --min-support 0", "--min-support is 0. Give at least 1"),
        ("baskets.csv --sensitive sensitive.txt --min-support few", "--min-support is 'few', which is not a share."),
        ("baskets.csv --sensitive sensitive.txt --out baskets.csv", "'baskets.csv' exists already. Choose another"),
        ("baskets.csv --sensitive sensitive.txt --out no/more.txt", "does not exist. Create it, or choose another"),
        ("baskets.csv --sensitive-items strip", "'strip' does not occur in the data. Did you mean 'strips'"),
        ("none.csv --sensitive-items strips", "There is no file 'none.csv'."),
    ],
)
def test_bad_commands(folder, capsys, ask, said):
    before = sorted(folder.iterdir()), (folder / "baskets.csv").read_bytes()
    code, _, err = run(capsys, ask)
    assert code == 2
    assert said in " ".join(err.split())
    assert (sorted(folder.iterdir()), (folder / "baskets.csv").read_bytes()) == before


def test_a_time_limit(folder, capsys):
    code, _, err = run(capsys, "baskets.csv --sensitive sensitive.txt --time-limit 1e-9")
    assert code == 4
    assert "stopped at the time limit" in err


def test_the_group_says_what_there_is(capsys):
    assert main(["sensitive"]) == 0
    assert "suggest" in capsys.readouterr().out
    assert main(["sensitive", "sugest"]) == 2
    assert "Did you mean" in capsys.readouterr().err
