"""What a release does not promise: said in the certificate, in both reports, by `verify` and beside GO."""

import html
import re
from pathlib import Path

import pytest

import veilset as vs
from tests.support.commands import run
from tests.support.releases import certificate, files
from veilset.cli import main
from veilset.models import COMPARED, NONE_SENSITIVE

APART = "one person, whose transactions were merged; those of unknown people were not"
LONG = ["--long", "visit,code"]
PEOPLE = [*LONG, "--person", "patient", "--unknown-person", "NA", "--unknown-rows", "separate"]
KP = ["--k", "2", "--p", "1"]
TWO = vs.Coherence(k=2, p=1)


def visits(folder: Path, *people: str) -> Path:
    """A visit for each, with tea."""
    rows = [f"{visit},{who},tea" for visit, who in enumerate(people, 1)]
    (folder / "visits.csv").write_text("\n".join(["visit,patient,code", *rows]) + "\n")
    return folder / "visits.csv"


def screen(capsys, *arguments: str | Path) -> str:
    """What a person reads, in one line."""
    assert main([*map(str, arguments), "--text"]) == 0
    return " ".join(capsys.readouterr().out.split())


def go(capsys, *arguments: str | Path) -> str:
    """The block of GO."""
    return re.split(r"\bGO\b", screen(capsys, *arguments))[1].partition("Written.")[0].strip()


def everywhere(bundle: Path) -> list[str]:
    """What is not promised, as the certificate lists it; the public report says all of it, too."""
    told = certificate(bundle)["not_promised"]
    page = html.unescape((bundle / "public" / "report.html").read_text())
    assert [sentence for sentence in told if sentence not in page] == []
    return told


def test_unknown_people_were_not_merged(tmp_path, capsys, snapshot):
    out = tmp_path / "out"
    file = visits(tmp_path, "ann", "bob", "ann", "NA", "NA")
    assert go(capsys, "publish", file, *PEOPLE, *KP, "--out", out) == snapshot(name="GO")
    assert (certificate(out)["one_transaction_is"], certificate(out)["transactions"]) == (APART, 4)
    assert [sentence for sentence in everywhere(out) if "unknown" in sentence] == snapshot(name="not promised")
    assert "unknown" in run(capsys, "verify", out / "public")[1]["audit"]["sentence"]
    assert "unknown" in screen(capsys, "verify", out / "public")
    assert "unknown" in run(capsys, "audit", file, *PEOPLE, *KP)[1]["sentence"]


def test_nobody_was_unknown(tmp_path):
    how = {"person": "patient", "unknown_person": ["NA"], "unknown_rows": "separate"}
    data = vs.read(visits(tmp_path, "ann", "bob", "ann"), long=("visit", "code"), **how)
    bundle = vs.publish(vs.anonymize(data, TWO), tmp_path / "out")
    assert certificate(bundle.path)["one_transaction_is"] == "one person, whose transactions were merged"
    assert not any(b"unknown" in text for text in files(bundle.public).values())


@pytest.mark.parametrize(
    "promise", [TWO, vs.RhoUncertainty(rho=1), vs.LDiverseAnatomy("4/3")], ids=lambda one: one.name
)
def test_releases_can_be_compared(promise, tmp_path):
    sensitive = ["hiv"] if promise.about_sensitive and promise is not TWO else []
    data = vs.Transactions.from_lists([["tea", "hiv"], ["tea"], ["rum"], ["rum"]] * 2, sensitive=sensitive)
    bundle = vs.publish(vs.anonymize(data, promise), tmp_path / "out")
    assert COMPARED in everywhere(bundle.path)
    assert COMPARED in (bundle.custodian / "report.html").read_text()


def test_patterns_protect_nobody_anyway(tmp_path):
    data = vs.Transactions.from_lists([["tea", "rum"], ["tea"]])
    bundle = vs.publish(vs.anonymize(data, vs.HiddenPatterns([["tea", "rum"]], min_support=1)), tmp_path / "out")
    assert COMPARED not in everywhere(bundle.path)


def test_apply_says_that_releases_can_be_compared(tmp_path, capsys):
    file, out, again = visits(tmp_path, "ann", "bob"), tmp_path / "out", tmp_path / "again"
    assert COMPARED not in go(capsys, "publish", file, *LONG, *KP, "--out", out)
    assert COMPARED in go(capsys, "apply", out, file, "--out", again)
    _, facts = run(capsys, "apply", out, file, "--out", again, "--replace")
    assert COMPARED in facts["caveats"]


@pytest.mark.parametrize("promise", [TWO, vs.RhoUncertainty(rho="1/4")], ids=lambda one: one.name)
def test_nothing_sensitive_is_left_or_was_named(promise, tmp_path, capsys, snapshot):
    """Nobody may take a promise about finding people for one about what they have."""
    sensitive = ["hiv"] if promise is not TWO else []
    data = vs.Transactions.from_lists([["tea", "hiv"], ["tea"], ["hiv", "tea"], ["tea"]], sensitive=sensitive)
    release = vs.anonymize(data, promise)
    assert release.certified and not release.custodian_data.sensitive
    bundle = vs.publish(release, tmp_path / "out")
    assert NONE_SENSITIVE in everywhere(bundle.path)
    _, found = run(capsys, "verify", bundle.public)
    assert found["audit"]["sentence"].count(NONE_SENSITIVE) == 1
    assert NONE_SENSITIVE in found["audit"]["not_promised"]
    assert NONE_SENSITIVE in screen(capsys, "verify", bundle.public)
    assert found["audit"]["sentence"] == snapshot(name="verify")


def test_the_custodian_is_told_which(tmp_path, capsys, snapshot):
    file, out = visits(tmp_path, "ann", "bob"), tmp_path / "out"
    assert go(capsys, "publish", file, *LONG, *KP, "--out", out) == snapshot(name="none named")
    rho = ["--model", "rho-uncertainty", "--rho", "0.5", "--sensitive-items", "tea"]
    assert go(capsys, "publish", file, *LONG, *rho, "--out", out, "--replace", "--yes") == snapshot(name="all removed")


def test_go_repeats_a_column_that_may_be_the_person(tmp_path, capsys, snapshot):
    file, out = visits(tmp_path, "ann", "bob", "ann"), tmp_path / "out"
    assert go(capsys, "publish", file, *LONG, *KP, "--out", out) == snapshot(name="not used")
    assert "patient" in (out / "custodian" / "report.html").read_text().partition("</h1>")[2].partition("<dl")[0]
    assert "'patient'" not in go(capsys, "publish", file, *LONG, "--person", "patient", *KP, "--out", out, "--replace")
    file = visits(tmp_path, *["0"] * 5, "ann", "bob")
    said = go(capsys, "publish", file, *LONG, "--person", "patient", *KP, "--out", out, "--replace")
    assert said == snapshot(name="an id")


def test_only_sensitive_items_are_left(tmp_path, capsys, snapshot):
    rows = [["hiv", "tea"], ["hiv", "rum"], ["flu", "ale"], ["flu"], [], []]
    data = vs.Transactions.from_lists(rows, sensitive=["hiv", "flu"])
    release = vs.anonymize(data, vs.Coherence(k=2, p=1, h="1/2"))
    assert release.certified and release.custodian_data.names == ("flu", "hiv")
    data.write(tmp_path / "a.csv")
    (tmp_path / "list.txt").write_text("hiv\nflu\n")
    ask = [
        "publish",
        tmp_path / "a.csv",
        "--sensitive",
        tmp_path / "list.txt",
        *KP,
        "--h",
        "1/2",
        "--out",
        tmp_path / "o",
    ]
    said = screen(capsys, *ask, "--yes")
    assert said.partition(" Release ")[2].partition(" At risk before")[0] == snapshot
    assert "Every public item" in (tmp_path / "o" / "custodian" / "report.html").read_text()
    _, facts = run(capsys, *ask, "--yes", "--replace")
    assert facts["all_public_removed"]
    assert not run(capsys, "publish", visits(tmp_path, "ann", "bob"), *LONG, *KP, "--out", tmp_path / "p")[1][
        "all_public_removed"
    ]
