"""Which stream gets what: answers and errors, in a pipe, as text and as JSON; and what a question gets."""

import io
import json
from functools import partial

import pytest

from tests.support.errors import names
from tests.support.typing_commands import typed
from veilset.cli.screen import Screen

run = partial(typed, "")
GOOD = "mine baskets.csv --min-support 2"
BAD = "mine baskets.csv --min-support 0"


def test_an_error_is_text_on_stderr_alone(shop, capsys):
    code, out, err = run(capsys, BAD)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert run(capsys, f"{BAD} --text")[1:] == ("", err)


def test_an_error_is_json_on_stdout_alone_if_that_was_asked_for(shop, capsys):
    code, out, err = run(capsys, f"{BAD} --json")
    assert (code, err) == (2, "")
    assert set(json.loads(out)["error"]) == {"what", "next_step", "exit_code"}


@pytest.mark.parametrize(
    "line",
    [
        "audit baskets.csv --k 2 --p 2",
        GOOD,
        "publish baskets.csv --k 2 --p 2 --out release",
        "generate pos --transactions 10 --out made.csv",
        "taxonomy make baskets.csv --fan-out 2 --out tree.csv",
        "sensitive suggest baskets.csv --sensitive sensitive.txt",
    ],
)
def test_text_into_a_pipe(shop, capsys, line):
    code, out, err = run(capsys, f"{line} --text")
    assert (code < 2, err) == (True, "")
    assert not out.startswith("{")
    assert out


def test_names_are_shown_as_they_are(shop, capsys):
    _, _, err = run(capsys, "mine :beer:.csv --min-support 2")
    assert ":beer:.csv" in err


@pytest.mark.parametrize("form", ["--text", "--json"])
def test_an_error_keeps_its_exit_code_where_memory_is_too_scarce_to_show_it(shop, capsys, monkeypatch, form):
    def fails(*_):
        raise MemoryError

    monkeypatch.setattr(Screen, "fail", fails)
    code, _, err = run(capsys, f"{BAD} {form}")
    assert (code, err.startswith("Error: ")) == (2, True)


def test_text_and_json_contradict_each_other(shop, capsys):
    code, out, _ = run(capsys, f"{GOOD} --text --json")
    assert code == 2
    assert names(json.loads(out)["error"]["what"], "--text")


def test_the_end_of_the_input_says_no(shop, capsys, terminal, monkeypatch):
    (shop / "thin.csv").write_text("a,b\na,c\na,d\nb,c\nb,d\nc,d\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    code, _, err = run(capsys, "publish thin.csv --k 3 --p 2 --out release")
    assert code == 2
    assert names(err, "--yes")
    assert not (shop / "release").exists()


COHERENCE = "publish baskets.csv --k 2 --p 2 --out release"
RHO = "publish baskets.csv --model rho-uncertainty --rho 0.5 --out release"
ANATOMY = "publish baskets.csv --model l-diverse-anatomy --l 2 --out release"
HIDDEN = "publish baskets.csv --model hidden-patterns --patterns patterns.txt --min-support 2 --out release"


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (f"{COHERENCE} --out-format xlsx", ("'xlsx'", "--out-format")),
        (f"{COHERENCE} --threads 0", ("--threads", 0)),
        (f"{COHERENCE} --time-limit 0", ("--time-limit",)),
        (f"{COHERENCE} --memory-limit big", ("'big'",)),
        (f"{COHERENCE} --method border --nugget-size 0", ("--nugget-size", 0)),
        (f"{RHO} --sensitive-weight 5000", ("--sensitive-weight", 5000)),
        (f"{ANATOMY} --open-buckets 0", ("--open-buckets", 0)),
        (f"{ANATOMY} --drop-empty", ("--drop-empty",)),
        (f"{HIDDEN} --margin 7", ("--margin", 7)),
        ("audit baskets.csv --k 2 --p 2 --witnesses -1", ("--witnesses", -1)),
        ("audit baskets.csv --k 2 --p 2 --time-limit -1", ("--time-limit",)),
        ("mine baskets.csv --min-support 2 --threads 0", ("--threads", 0)),
        ("sensitive suggest baskets.csv --sensitive-items cure --threads 0", ("--threads", 0)),
        ("taxonomy make baskets.csv --fan-out 1 --out tree.csv", ("--fan-out", 1)),
        ("taxonomy make baskets.csv --co-occurrence 1 --min-support 2 --out tree.csv", ("--co-occurrence", 1)),
        ("taxonomy make baskets.csv --co-occurrence 4 --min-support 0 --out tree.csv", ("--min-support", 0)),
    ],
)
def test_options_are_checked_before_the_data_is_read(shop, capsys, line, values):
    (shop / "patterns.txt").write_text("ale,bun\n")
    (shop / "baskets.csv").unlink()
    code, _, err = run(capsys, line)
    assert code == 2
    assert [value for value in values if not names(err, value)] == [], err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--out-format fimi", "FIMI"), ("--keep keep.txt", "'gin'"), ("--weights weights.csv", "'gin'")],
)
def test_names_are_checked_before_the_method(shop, capsys, monkeypatch, option, value):
    (shop / "keep.txt").write_text("gin\n")
    (shop / "weights.csv").write_text("item,weight\ngin,2\n")
    monkeypatch.setattr("veilset.run.audit", lambda *_, **__: pytest.fail("it took long"))
    code, _, err = run(capsys, f"{COHERENCE} {option}")
    assert code == 2
    assert names(err, value), err
