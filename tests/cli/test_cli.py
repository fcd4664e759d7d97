"""The command line: exit codes, the two faces of output, the error form, and what a new user would type first."""

import io
import json
import shlex
from functools import partial

import pytest
from rich.console import Console

import veilset as vs
from tests.support.errors import names
from tests.support.releases import published
from tests.support.texts import as_read
from tests.support.typing_commands import typed
from veilset.cli import app, main
from veilset.cli.screen import Screen
from veilset.io import sha256_of

run = partial(typed, "")
AUDIT = "audit baskets.csv --sensitive sensitive.txt"
PUBLISH = "publish baskets.csv --sensitive sensitive.txt --k 2 --p 2 --h 0.5 --out release"


def test_first_minute(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, PUBLISH)
    assert code == 0
    assert as_read(out) == snapshot(name="publish")
    code, out, _ = run(capsys, "verify release/public")
    assert code == 0
    assert "HOLDS" in out
    assert as_read(out) == snapshot(name="verify")


def test_json_when_piped(shop, capsys):
    code, out, err = run(capsys, PUBLISH)
    facts = json.loads(out)
    assert (code, facts["verdict"], facts["public"]) == (0, "GO", "release/public")
    assert err == ""
    code, out, _ = run(capsys, "verify release")
    assert (code, json.loads(out)["verdict"]) == (0, "holds")


def test_audit_exit_codes(shop, capsys):
    ask = f"{AUDIT} --h 0.5 --p"
    code, out, _ = run(capsys, f"{ask} 2 --k 2")
    assert code == 1
    assert json.loads(out)["witnesses"][0]["itemset"] == ["fig"]
    assert run(capsys, f"{ask} unlimited --k 1")[0] == 0
    assert run(capsys, f"{ask} 2 --k 8")[0] == 3
    code, out, _ = run(capsys, f"{ask} 2 --k 2 --memory-limit 1MB --json")
    assert (code, json.loads(out)["error"]["exit_code"]) == (4, 4)


def test_audit_on_a_terminal(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, f"{AUDIT} --k 2 --p 2 --h 0.5")
    assert code == 1
    assert as_read(out) == snapshot


@pytest.mark.parametrize(
    ("line", "code", "values"),
    [
        ("audit basket.csv --k 2 --p 2", 2, ("'basket.csv'", "'baskets.csv'")),
        ("audit baskets.csv --k 2", 2, ("--p",)),
        ("audit baskets.csv --k two --p 2", 2, ("two",)),
        ("audit baskets.csv --k 2 --p many", 2, ("--p", "'many'", "unlimited")),
        ("audit baskets.csv --k 2 --p 2 --sensitive sensitive.txt", 2, ("h",)),
        ("audit baskets.csv --k 2 --p 2 --h 7", 2, ("h", 7)),
        ("audit baskets.csv --k 2 --p 2 --model coherense", 2, ("'coherense'", "'coherence'")),
        ("audit baskets.csv --k 2 --p 2 --long id", 2, ("--long", "'id'")),
        ("audit baskets.csv --k 2 --p 2 --format fimmi", 2, ("'fimmi'", "'fimi'")),
        ("audit baskets.csv --k 2 --p 2 --memory-limit big", 2, ("'big'", "2GB")),
        ("publsh baskets.csv", 2, ("publsh", "publish")),
        ("publish baskets.csv --k 2 --p 2", 2, ("--out",)),
        ("publish", 2, ("INPUT",)),
        ("publish baskets.csv --k 2 --p 2 --out-format xlsx --out release", 2, ("'xlsx'", "'parquet'", "'long'")),
        ("publish baskets.csv --k 9 --p 2 --out release", 3, (9, 7)),
        ("publish baskets.csv --k 2 --p 2 --method tre --out release", 2, ("'tre'", "'tree'")),
        ("verify nowhere", 2, ("'nowhere'",)),
    ],
)
def test_errors_have_one_form(shop, capsys, terminal, line, code, values, snapshot):
    found, _, err = run(capsys, line)
    assert found == code
    assert err.startswith("Error: "), err
    assert [value for value in values if not names(err, value)] == []
    assert as_read(err) == snapshot
    assert not (shop / "release").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--out", "baskets.csv"],
        ["audit", "baskets.csv", "--k", "2", "--p", "9" * 5000],
        ["audit", "baskets.csv", "--k", "2", "--p", "2", "--threads", "9" * 10],
        ["audit", "baskets.csv", "--k", "2", "--p", "2", "--witnesses", "9" * 20],
        ["publish", "recipe.toml", "--out", "release"],
        ["publish", "baskets.csv", "--k", "2", "--p", "2", "--seed", "\udcff", "--out", "release"],
    ],
    ids=lambda arguments: arguments[0] + " " + arguments[-2],
)
def test_odd_arguments_are_no_traceback(shop, capsys, arguments):
    (shop / "recipe.toml").write_text(
        '[input]\npath = "baskets.csv"\n[promise]\nk = 2\np = 2\n[method.options]\nthreads = 3\n'
    )
    code, out, _ = run(capsys, shlex.join([*arguments, "--json"]))
    assert code == 2
    assert json.loads(out)["error"]["what"]
    assert not (shop / "release").exists()


def test_a_seed_that_is_no_text_is_refused_before_anything_is_read(shop, capsys):
    (shop / "baskets.csv").unlink()
    code, _, err = run(capsys, "publish baskets.csv --k 2 --p 2 --seed \udcff --out release")
    assert code == 2
    assert names(err, "--seed")
    assert names(err, "UTF-8")
    code, _, err = run(capsys, "publish baskets.csv --k 2 --p 2 --seed '' --out release")
    assert code == 2
    assert names(err, "--seed")


def test_lists_of_sensitive_items_are_united(shop, capsys):
    (shop / "more.txt").write_text("bun\ncure\n")
    code, out, _ = run(capsys, f"{AUDIT} --sensitive more.txt --k 1 --p 1 --h 0.1")
    assert code == 3
    assert {w["sensitive"] for w in json.loads(out)["witnesses"]} == {"bun", "cure"}


def test_survivors_warning(shop, capsys):
    """At k=3 and p=2 more than half is lost: refused without --yes, with what keeps half (k=1 hides nobody)."""
    (shop / "thin.csv").write_text("a,b\na,c\na,d\nb,c\nb,d\nc,d\n")
    ask = "publish thin.csv --k 3 --p 2 --out release"
    code, _, err = run(capsys, ask)
    assert code == 2
    assert names(err, "25%")
    assert names(err, "--p 1")
    assert not (shop / "release").exists()
    assert run(capsys, f"{ask} --yes")[0] == 0


def test_recipe_repeats_a_run(shop, capsys, snapshot):
    assert run(capsys, PUBLISH)[0] == 0
    recipe = "release/custodian/recipe.toml"
    assert run(capsys, f"publish {recipe} --out again")[0] == 0
    for name in ("data.csv", "certificate.json", "report.html", "SHA256SUMS"):
        assert (shop / "release/public" / name).read_bytes() == (shop / "again/public" / name).read_bytes()
    code, _, err = run(capsys, f"publish {recipe} --k 3 --p 2 --out third")
    assert code == 2
    assert as_read(err) == snapshot(name="with options")
    (shop / "baskets.csv").write_text("other,data\n")
    code, _, err = run(capsys, f"publish {recipe} --out third")
    assert code == 2
    assert as_read(err) == snapshot(name="of other data")


def test_recipe_by_hand(shop, capsys):
    (shop / "run.toml").write_text(
        '[input]\npath = "baskets.csv"\nsensitive_files = ["sensitive.txt"]\n[promise]\nk = 2\np = 2\nh = 0.5\n'
    )
    assert run(capsys, "publish run.toml --out release")[0] == 0
    (shop / "run.toml").write_text('[input]\npath = "baskets.csv"\n[promise]\nk = 2\np = 2\nkk = 1\n')
    code, _, err = run(capsys, "publish run.toml --out other")
    assert code == 2
    assert "promise.kk" in err


@pytest.mark.parametrize("kind", ["quest", "pos", "grocery"])
def test_generate_then_audit(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, f"generate {kind} --transactions 200 --out made.csv")
    assert (code, json.loads(out)["transactions"]) == (0, 200)
    sensitive = "--sensitive sensitive.txt --h 1" if kind == "grocery" else ""
    assert run(capsys, f"audit made.csv --k 1 --p 1 {sensitive}")[0] == 0
    assert run(capsys, f"generate {kind} --out made.csv")[0] == 2


def test_demo(tmp_path, monkeypatch, capsys, terminal):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # the second replaces the first
        code, out, _ = run(capsys, "demo")
        assert code == 0
    assert "HOLDS" in out
    assert "veilset-demo/release/public/report.html" in out
    assert vs.verify("veilset-demo/release").holds


def test_demo_overwrites_nobodys_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.csv").write_text("mine\n")
    code, _, err = run(capsys, "demo --out .")
    assert (code, (tmp_path / "baskets.csv").read_text()) == (2, "mine\n")
    assert err.startswith("Error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["baskets.csv"]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("generate grocery --out nowhere/made.csv", ("'nowhere/made.csv'",)),
        ("generate grocery --out made.xls", ("made.xls", ".dat")),
        ("generate grocery --out made.dat", ("id", "basket")),
        ("demo --out file", ("'file'",)),
        ("audit file --kk 2", ("--kk", "veilset audit --help")),
        ("audit file.csv --k 2 --p 2 --sensitive insulin", ("'insulin'",)),
        ("publish file.csv --k 2 --p 2 --out nowhere/release", ("nowhere'",)),
    ],
)
def test_what_cannot_be_done_leaves_nothing_behind(tmp_path, monkeypatch, capsys, line, values, snapshot):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    code, _, err = run(capsys, line)
    assert code == 2
    assert [value for value in values if not names(" ".join(err.split()), value)] == []
    assert " ".join(err.split()).replace(str(tmp_path), "HERE") == snapshot
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_paths_are_no_markup(shop, capsys, terminal):
    code, out, _ = run(capsys, f"{PUBLISH}[old]")
    assert code == 0
    assert "veilset verify release[old]/public" in out


def test_a_strangers_release_does_not_steer_the_terminal(tmp_path, capsys, terminal):
    """A certificate for k=1 is edited to promise k=3, its sums with it; the name that breaks it holds an escape."""
    release = vs.anonymize(vs.Transactions.from_lists([["a"]] * 5 + [["\x1b[2Jb[red]"]]), vs.Coherence(k=1, p=2))
    public = vs.publish(release, tmp_path / "release", allow_empty_promise=True).public
    sums = (public / "SHA256SUMS").read_text()
    before = (public / "certificate.json").read_bytes()
    for edited, said in ((b'"k": 3', "b[red]"), (b'"\\u001b[2J": 3', "certificate")):
        after = before.replace(b'"k": 1', edited)
        (public / "certificate.json").write_bytes(after)
        (public / "SHA256SUMS").write_text(sums.replace(sha256_of(before), sha256_of(after)))
        code, out, _ = run(capsys, f"verify {public}")
        assert code > 0
        assert said in out
        assert "\x1b" not in out


def test_the_question_shows_its_answers(shop, capsys, terminal, monkeypatch, snapshot):
    (shop / "thin.csv").write_text("a,b\na,c\na,d\nb,c\nb,d\nc,d\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    code, out, err = run(capsys, "publish thin.csv --k 3 --p 2 --out release")
    assert code == 2
    assert "[y/N]" not in out
    assert "[y/N]" in err
    assert as_read(err) == snapshot
    assert not (shop / "release").exists()


@pytest.mark.parametrize("command", ["publish", "verify", "audit", "mine", "generate", "demo"])
def test_help_has_an_example_that_parses(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"veilset {command}" in capsys.readouterr().out
    example = next(line.strip() for line in app[command].help.splitlines() if line.strip().startswith("veilset "))
    app.parse_args(example.split()[1:], exit_on_error=False, print_error=False)


def test_verify_says_first_how_much_there_is_to_do(tmp_path, capsys):
    public = published(tmp_path).public
    assert main(["verify", str(public), "--text"]) == 0
    out, err = capsys.readouterr()
    assert "Checking the promise on 7 transactions with 10 items in all: 7 passes at most." in " ".join(err.split())
    assert "Checking" not in out
    assert main(["verify", str(public), "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_progress_goes_to_stderr_and_only_where_somebody_looks(capsys):
    screen = Screen(json=True)
    with screen.progress() as report:
        assert report is None
    screen.errors = Console(stderr=True, force_terminal=True, width=80)
    with screen.progress() as report:
        assert report is not None
        report("Checking itemsets of 2 items", 1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Checking itemsets of 2 items" in err
