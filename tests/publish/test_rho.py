"""ρ-uncertainty from end to end: publish, verify, replay, apply; and what cannot be meant."""

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.commands import refusal, run
from tests.support.errors import names, refused
from tests.support.releases import certificate, edits, message, write_rows
from tests.support.runs import run_of
from tests.support.texts import as_read, page_text
from veilset import report
from veilset.anonymize import METHODS
from veilset.cli import main
from veilset.errors import InvalidArgument
from veilset.io import sha256_of
from veilset.publish import Recipe
from veilset.run import Run
from veilset.testing.checks import check_model
from veilset.utility import Account

# Nobody is surer than 1/3: of hiv by fig, of cure and of hiv by ale and bun.
ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun", "hiv"], ["bun"], ["ale"], ["fig", "hiv"]]
ROWS += [["fig"]]
HALF = vs.RhoUncertainty(rho="1/2")
ASK = ("--sensitive", "sensitive.txt", "--model", "rho-uncertainty", "--rho", "0.5")
ASKED = " ".join(ASK)
REMOVE = (*ASK, "--method", "remove-sensitive", "--out", "release")


@pytest.fixture
def clinic(tmp_path, monkeypatch) -> Path:
    """A folder with baskets.csv and sensitive.txt, where the user stands."""
    write_rows(tmp_path / "baskets.csv", ROWS)
    (tmp_path / "sensitive.txt").write_text("cure\nhiv\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data() -> vs.Transactions:
    return vs.Transactions.from_lists(ROWS, sensitive=["cure", "hiv"])


def kept(**changes) -> vs.Release:
    """A release that keeps its sensitive items."""
    release = vs.anonymize(data(), HALF, method="replay", **changes)
    assert release.certified
    return release


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> vs.Bundle:
    """A release that keeps its sensitive items, to be looked at only."""
    return vs.publish(kept(), tmp_path_factory.mktemp("clinic") / "out")


def test_the_promise_explains_itself():
    check_model(HALF)
    assert HALF.restricted_to(data()) == HALF


def test_publish_and_verify(clinic, capsys):
    code, said = run(capsys, "publish", "baskets.csv", *REMOVE)
    assert (code, said["verdict"], said["method"]) == (0, "GO", "remove-sensitive")
    assert (said["promise"], said["parameters"]) == ("rho-uncertainty", {"rho": "1/2"})
    assert said["suppressed"]["items"] == ["hiv", "cure"]
    assert said["loss_by_p"] == []
    assert certificate(clinic / "release")["promise"] == {"name": "rho-uncertainty", "parameters": {"rho": "1/2"}}
    assert certificate(clinic / "release")["not_promised"] == list(HALF.open_ends(sensitive=False, merged=False))
    code, said = run(capsys, "verify", "release/public")
    assert (code, said["verdict"], said["audit"]["state"]) == (0, "holds", "HOLDS")


def test_what_was_suppressed_is_not_named_in_public(clinic, capsys):
    assert run(capsys, "publish", "baskets.csv", *REMOVE)[0] == 0
    assert certificate(clinic / "release")["sensitive"] == []
    for file in (clinic / "release/public").iterdir():
        assert not re.search(r"\b(cure|hiv)\b", file.read_text()), file.name


def test_on_a_terminal(clinic, capsys, terminal, snapshot):
    assert main(["publish", "baskets.csv", *REMOVE]) == 0
    assert as_read(capsys.readouterr().out) == snapshot(name="publish")
    assert main(["audit", "baskets.csv", *ASK]) == 0
    assert as_read(capsys.readouterr().out) == snapshot(name="audit")


def test_an_audit_without_sensitive_items_is_refused(clinic, capsys, snapshot):
    assert refusal(capsys, "audit", "baskets.csv", "--model", "rho-uncertainty", "--rho", "1/2") == snapshot


def test_audit(clinic, capsys):
    code, said = run(capsys, "audit", "baskets.csv", *ASK)
    assert (code, said["holds"], said["margins"]["largest_confidence"]["exact"]) == (0, True, "1/3")
    code, said = run(capsys, "audit", "baskets.csv", *ASK[:-1], "1/3")
    assert (code, said["holds"], said["found"]) == (1, False, 2)
    assert {witness["sensitive"] for witness in said["witnesses"]} == {"cure", "hiv"}


def test_sensitive_items_that_stay_are_named(made):
    assert certificate(made.path)["sensitive"] == ["cure", "hiv"]
    found = vs.verify(made.public)
    assert found.holds
    assert found.audit.margins["largest_confidence"].value == vs.audit(data(), HALF).margins["largest_confidence"].value


def test_coarser_names_and_what_they_stand_for(tmp_path):
    release = kept(generalized={"ale": "drinks"}, stands_for={"drinks": ["ale", "wine"]})
    bundle = vs.publish(release, tmp_path / "out")
    assert certificate(bundle.path)["generalized"] == {"drinks": ["ale", "wine"]}
    page = (bundle.public / "report.html").read_text()
    assert "drinks" in page
    assert "wine" in page
    assert vs.verify(bundle.public).holds


def test_a_forged_file_is_broken(public):
    rows = (public / "data.csv").read_text().splitlines()
    rows[rows.index("fig")] = "fig,hiv"  # two of the three who have fig
    (public / "data.csv").write_text("".join(f"{row}\n" for row in rows))
    forged = sha256_of(public / "data.csv")
    edit_certificate(public, lambda content: content["data"].update(sha256=forged), fix_sums=True)
    found = vs.verify(public)
    assert (found.verdict, found.exit_code) == ("broken", 1)
    worst = found.audit.witnesses[0]
    assert (worst.itemset, worst.sensitive, str(worst.confidence)) == (("fig",), "hiv", "2/3")


@pytest.mark.parametrize(
    ("promise", "values"),
    [
        ({"name": "rho-uncertainty", "parameters": {"rho": "1/2", "k": 2}}, ("rho-uncertainty",)),
        ({"name": "rho-uncertainty", "parameters": {"h": "1/2", "k": 2, "p": 2}}, ("rho-uncertainty",)),
        ({"name": "rho-uncertainty", "parameters": {}}, ("rho-uncertainty",)),
        ({"name": "rho-uncertainty", "parameters": {"rho": None}}, ("rho", "None")),
        ({"name": "rho-uncertainty", "parameters": {"rho": [["a"]]}}, ("rho",)),
        ({"name": "rho-uncertainty", "parameters": {"rho": "3/2"}}, ("rho", "3/2")),
        ({"name": "rho-uncertainty", "parameters": {"rho": True}}, ("rho", True)),
        ({"name": "rho-uncertainty", "parameters": {"rho": 0.5}}, ("promise.parameters.rho",)),
        ({"name": "coherence", "parameters": {"rho": "1/2"}}, ("coherence",)),
        ({"name": "rho-certainty", "parameters": {"rho": "1/2"}}, ("'rho-certainty'",)),
    ],
)
def test_a_certificate_that_asks_for_what_cannot_be_asked(public, promise, values, snapshot):
    edit_certificate(public, lambda content: content.update(promise=promise), fix_sums=True)
    said = message(public, "malformed", 2)
    assert [value for value in values if not names(said, value)] == []
    assert said == snapshot


def test_the_recipe_repeats_the_release(clinic, capsys):
    assert run(capsys, "publish", "baskets.csv", *REMOVE, "--drop-empty")[0] == 0
    recipe = clinic / "release/custodian/recipe.toml"
    assert tomllib.loads(recipe.read_text())["promise"] == {"model": "rho-uncertainty", "rho": "1/2"}
    assert Recipe.load(recipe).promise.make() == HALF
    assert run(capsys, "publish", recipe, "--out", "again")[0] == 0
    for name in ("public/data.csv", "public/certificate.json", "public/report.html", "custodian/edits.csv"):
        assert (clinic / "again" / name).read_bytes() == (clinic / "release" / name).read_bytes(), name
    assert (clinic / "again/custodian/recipe.toml").read_text() == recipe.read_text()


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ('model = "rho-uncertainty"\nrho = 0.5\nk = 2', ("promise.k",)),
        ('model = "rho-uncertainty"', ("promise.rho",)),
        ("rho = 0.5", ("promise.k",)),
        ('model = "rho-uncertanty"\nrho = 0.5', ("'rho-uncertanty'", "'rho-uncertainty'")),
        ('model = ["rho-uncertainty"]', ("promise",)),
        ('model = "rho-uncertainty"\nrho = 7', ("rho", 7)),
        ('model = "rho-uncertainty"\nrho = 0.5\n[method]\nallow_sensitive = true', ("rho-uncertainty",)),
    ],
    ids=["of another model", "without rho", "without a model", "misspelled", "a list", "out of range", "a switch"],
)
def test_recipes_that_cannot_be_meant(clinic, capsys, section, values, snapshot):
    recipe = clinic / "recipe.toml"
    recipe.write_text(f'[input]\npath = "baskets.csv"\nsensitive = ["hiv"]\n[promise]\n{section}\n')
    assert refusal(capsys, "publish", recipe.name, "--out", "release", values=values) == snapshot
    assert not (clinic / "release").exists()


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("--rho 0.5", ("--rho", "rho-uncertainty", "coherence")),
        ("--k 2 --p 2 --rho 0.5", ("--rho", "rho-uncertainty", "coherence")),
        (f"{ASKED} --k 0", ("--k", "coherence", "rho-uncertainty")),
        (f"{ASKED} --p 2", ("--p", "coherence", "rho-uncertainty")),
        (f"{ASKED} --h 0.4", ("--h", "coherence", "rho-uncertainty")),
        (f"{ASKED} --sensitive-group sensitive.txt", ("--sensitive-group", "coherence", "rho-uncertainty")),
        ("--sensitive sensitive.txt --model rho-uncertainty", ("--rho",)),
        ("--sensitive sensitive.txt --model rho-uncertainty --rho 2", ("rho", 2)),
    ],
)
@pytest.mark.parametrize("command", ["audit baskets.csv", "publish baskets.csv --out release"])
def test_options_of_the_other_model(clinic, capsys, command, arguments, values, snapshot):
    assert refusal(capsys, *command.split(), *arguments.split(), values=values) == snapshot


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (f"{ASKED} --allow-sensitive", ("rho-uncertainty",)),
        (f"{ASKED} --method tree", ("'tree'", "remove-sensitive")),
        (f"{ASKED} --method remove-sensitve", ("'remove-sensitve'", "'remove-sensitive'")),
        (f"{ASKED} --method remove-sensitive --weights equal", ("'remove-sensitive'", "weights")),
        ("--model rho-uncertainty --rho 0.5", ("sensitive",)),
    ],
)
def test_what_cannot_be_meant(clinic, capsys, arguments, values, snapshot):
    ask = ("publish", "baskets.csv", *arguments.split(), "--out", "release")
    assert refusal(capsys, *ask, values=values) == snapshot
    assert not (clinic / "release").exists()


def test_a_tree_for_branches_is_not_given_to_a_method_that_has_no_use_for_it(clinic, capsys):
    (clinic / "tree.csv").write_text("item,shelf\nale,food\nbun,food\nfig,food\ncure,ward\nhiv,ward\n")
    ask = ("--sensitive-items", "branch: ward", "--taxonomy", "tree.csv", *REMOVE[2:])
    code, said = run(capsys, "publish", "baskets.csv", *ask)
    assert (code, said["suppressed"]["items"]) == (0, ["hiv", "cure"])


def test_allow_sensitive_in_python():
    with refused(InvalidArgument, "allow_sensitive", "rho-uncertainty"):
        vs.anonymize(data(), HALF, method="remove-sensitive", allow_sensitive=True)


def test_apply(clinic, capsys):
    assert run(capsys, "publish", "baskets.csv", *REMOVE)[0] == 0
    later = write_rows(clinic / "later.csv", [["ale", "hiv"], ["bun"], ["fig", "hiv"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next", "--seed", "s")
    assert (code, said["verdict"], said["parameters"]) == (0, "GO", {"rho": "1/2"})
    assert said["suppressed"]["items"] == ["hiv"]
    assert vs.verify(clinic / "next").holds
    release = vs.apply(clinic / "release", vs.read(later))
    assert release.certified
    assert release.custodian_data.to_lists() == [["ale"], ["bun"], ["fig"]]


def test_apply_says_no_go_where_more_can_be_inferred(clinic, capsys):
    data = vs.read(clinic / "baskets.csv", sensitive=["cure", "hiv"])
    vs.publish(vs.anonymize(data, HALF, method="replay"), clinic / "release")
    later = write_rows(clinic / "later.csv", [["ale", "hiv"], ["bun"], ["fig"]])
    refusal(capsys, "apply", "release", later, "--out", "next", exit_code=1, values=("'hiv'",))
    assert not (clinic / "next").exists()


def test_what_has_to_go_whatever_the_method(tmp_path, snapshot):
    """An item that exactly rho of all transactions hold is too common; one that fewer hold is not."""
    rows = [["flu", "ale"], ["flu"], ["hiv"], ["ale"]]
    original = vs.Transactions.from_lists(rows, sensitive=["flu", "hiv"])
    release = vs.anonymize(original, HALF, method="remove-sensitive")
    assert Account(release).unavoidable == ("flu",)
    lost = vs.measure(original, release)
    assert (lost["items_lost"], lost["items_lost_unavoidably"], lost["sensitive_kept"]) == (3 / 5, 2 / 5, 0)
    bundle = vs.publish(release, tmp_path / "out")
    told = edits(bundle.path)
    assert [line["action"] for line in told.values()] == ["kept", "suppressed", "suppressed"]  # ale, flu, hiv
    assert {item: line["why"] for item, line in told.items()} == snapshot


def test_a_loss_of_more_than_half_is_asked_about(clinic, capsys, snapshot):
    write_rows(clinic / "baskets.csv", [["cure", "hiv"], ["cure", "hiv", "ale"], ["bun"]])
    assert refusal(capsys, "publish", "baskets.csv", *REMOVE, values=("33%", "rho")) == snapshot
    assert run(capsys, "publish", "baskets.csv", *REMOVE, "--yes")[0] == 0


def test_a_larger_rho_that_keeps_half(monkeypatch):
    """A method that loses everything below 0.65."""

    def careful(data, promise, /, *, limits):
        gone = data.names if promise.rho < vs.RhoUncertainty(rho=0.65).rho else data.sensitive
        return vs.Release(data, data.without(gone), promise, "careful", {}, tuple(gone))

    monkeypatch.setitem(METHODS.of(vs.RhoUncertainty).by_name, "careful", careful)
    release = vs.anonymize(data(), HALF, method="careful")
    assert release.loss == 1
    assert Run.of(release).binding.half == {"rho": Fraction(7, 10)}


def test_the_custodians_page_has_no_loss_against_p(snapshot):
    release = vs.anonymize(data(), vs.RhoUncertainty(rho="1/3"), method="remove-sensitive")
    text = page_text(report.custodian_report(run_of(release, before=vs.audit(release.original, release.promise))))
    assert not names(text, "each p")
    assert names(text, "33.4%")
    assert text == snapshot
