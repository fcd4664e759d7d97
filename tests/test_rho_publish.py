"""ρ-uncertainty from end to end: publish, verify, replay, apply; and what cannot be meant."""

import csv
import json
import re
import tomllib
from pathlib import Path

import pytest

import veilset as vs
from tests.test_verify import edit_certificate
from veilset import report
from veilset.anonymize import METHODS, milder_that_keep_half
from veilset.cli import main
from veilset.errors import WrongUsage
from veilset.io import sha256_of
from veilset.limits import Limits
from veilset.publish import Recipe
from veilset.testing.checks import check_model
from veilset.utility import unavoidable

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

# Nobody is surer than 1/3: of hiv by fig, of cure and of hiv by ale and bun.
ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun", "hiv"], ["bun"], ["ale"], ["fig", "hiv"]]
ROWS += [["fig"]]
HALF = vs.RhoUncertainty(rho="1/2")
ASK = ("--sensitive", "sensitive.txt", "--model", "rho-uncertainty", "--rho", "0.5")
REMOVE = (*ASK, "--method", "remove-sensitive", "--out", "release")


@pytest.fixture
def clinic(tmp_path, monkeypatch) -> Path:
    """A folder with baskets.csv and sensitive.txt, where the user stands."""
    write(tmp_path / "baskets.csv", ROWS)
    (tmp_path / "sensitive.txt").write_text("cure\nhiv\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def data() -> vs.Transactions:
    return vs.Transactions.from_lists(ROWS, sensitive=["cure", "hiv"])


def kept(**changes) -> vs.Release:
    """A release that keeps its sensitive items."""
    release = vs.anonymize(data(), HALF, method="given", **changes)
    assert release.certified
    return release


def run(capsys, *arguments: str | Path) -> tuple[int, dict]:
    code = main(list(map(str, arguments)))
    return code, json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str | Path) -> str:
    code, said = run(capsys, *arguments)
    assert code == said["error"]["exit_code"] == 2
    return f"{said['error']['what']} {said['error']['next_step']}"


def certificate(release: Path) -> dict:
    return json.loads((release / "public/certificate.json").read_text())


def test_the_promise_explains_itself():
    check_model(HALF)
    assert HALF.within(data()) == HALF


def test_publish_and_verify(clinic, capsys):
    code, said = run(capsys, "publish", "baskets.csv", *REMOVE)
    assert (code, said["verdict"], said["method"]) == (0, "GO", "remove-sensitive")
    assert (said["promise"], said["parameters"]) == ("rho-uncertainty", {"rho": "1/2"})
    assert said["suppressed"]["items"] == ["cure", "hiv"]
    assert said["loss_by_p"] == []
    assert certificate(clinic / "release")["promise"] == {"name": "rho-uncertainty", "parameters": {"rho": "1/2"}}
    assert certificate(clinic / "release")["not_promised"] == list(HALF.not_promised())
    code, said = run(capsys, "verify", "release/public")
    assert (code, said["verdict"], said["audit"]["state"]) == (0, "holds", "HOLDS")


def test_what_was_suppressed_is_not_named_in_public(clinic, capsys):
    assert run(capsys, "publish", "baskets.csv", *REMOVE)[0] == 0
    assert certificate(clinic / "release")["sensitive"] == []
    for file in (clinic / "release/public").iterdir():
        assert not re.search(r"\b(cure|hiv)\b", file.read_text()), file.name


def test_on_a_terminal(clinic, capsys, terminal):
    assert main(["publish", "baskets.csv", *REMOVE]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "GO No item of this file is declared sensitive: all were removed, or none was named." in out
    assert "Had to go nothing: no sensitive item is so common that anybody would be too sure of it" in out
    assert "Loss by p" not in out
    assert main(["audit", "baskets.csv", *ASK]) == 0
    assert "less than 50% sure of any other particular sensitive item" in " ".join(capsys.readouterr().out.split())


def test_an_audit_without_sensitive_items_is_refused(clinic, capsys):
    said = refused(capsys, "audit", "baskets.csv", "--model", "rho-uncertainty", "--rho", "1/2")
    assert said.startswith("No item is sensitive")


def test_audit(clinic, capsys):
    code, said = run(capsys, "audit", "baskets.csv", *ASK)
    assert (code, said["holds"], said["margins"]["largest_confidence"]["exact"]) == (0, True, "1/3")
    code, said = run(capsys, "audit", "baskets.csv", *ASK[:-1], "1/3")
    assert (code, said["holds"], said["found"]) == (1, False, 2)
    assert {witness["sensitive"] for witness in said["witnesses"]} == {"cure", "hiv"}


def test_sensitive_items_that_stay_are_named(tmp_path):
    bundle = vs.publish(kept(), tmp_path / "out")
    assert certificate(bundle.path)["sensitive"] == ["cure", "hiv"]
    found = vs.verify(bundle.public)
    assert found.holds
    assert found.audit is not None
    assert found.audit.margins["largest_confidence"].value == vs.audit(data(), HALF).margins["largest_confidence"].value


def test_coarser_names_and_what_they_stand_for(tmp_path):
    release = kept(generalized={"ale": "drinks"}, stands_for={"drinks": ["ale", "wine"]})
    bundle = vs.publish(release, tmp_path / "out")
    assert certificate(bundle.path)["generalized"] == {"drinks": ["ale", "wine"]}
    page = (bundle.public / "report.html").read_text()
    assert "drinks" in page
    assert "wine" in page
    assert vs.verify(bundle.public).holds


def test_a_forged_file_is_broken(tmp_path):
    public = vs.publish(kept(), tmp_path / "out").public
    rows = (public / "data.csv").read_text().splitlines()
    rows[rows.index("fig")] = "fig,hiv"  # two of the three who have fig
    (public / "data.csv").write_text("".join(f"{row}\n" for row in rows))
    forged = sha256_of(public / "data.csv")
    edit_certificate(public, lambda content: content["data"].update(sha256=forged), fix_sums=True)
    found = vs.verify(public)
    assert (found.verdict, found.exit_code) == ("broken", 1)
    assert found.audit is not None
    worst = found.audit.witnesses[0]
    assert (worst.itemset, worst.sensitive, str(worst.confidence)) == (("fig",), "hiv", "2/3")


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"name": "rho-uncertainty", "parameters": {"rho": "1/2", "k": 2}}, "not those of rho-uncertainty"),
        ({"name": "rho-uncertainty", "parameters": {"h": "1/2", "k": 2, "p": 2}}, "not those of rho-uncertainty"),
        ({"name": "rho-uncertainty", "parameters": {}}, "not those of rho-uncertainty"),
        ({"name": "rho-uncertainty", "parameters": {"rho": None}}, "rho is None, which is not a share"),
        ({"name": "rho-uncertainty", "parameters": {"rho": [["a"]]}}, "rho is .*, which is not a share"),
        ({"name": "rho-uncertainty", "parameters": {"rho": "3/2"}}, "rho is 3/2, outside the range"),
        ({"name": "rho-uncertainty", "parameters": {"rho": True}}, "promise.parameters.rho"),
        ({"name": "rho-uncertainty", "parameters": {"rho": 0.5}}, "promise.parameters.rho"),
        ({"name": "coherence", "parameters": {"rho": "1/2"}}, "not those of coherence"),
        ({"name": "rho-certainty", "parameters": {"rho": "1/2"}}, "There is no promise 'rho-certainty'"),
    ],
)
def test_a_certificate_that_asks_for_what_cannot_be_asked(tmp_path, promise, message):
    public = vs.publish(kept(), tmp_path / "out").public
    edit_certificate(public, lambda content: content.update(promise=promise), fix_sums=True)
    found = vs.verify(public)
    assert (found.verdict, found.exit_code) == ("malformed", 2)
    assert re.search(message, found.message), found.message


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
    ("section", "message"),
    [
        ('model = "rho-uncertainty"\nrho = 0.5\nk = 2', "promise.k: Extra inputs are not permitted"),
        ('model = "rho-uncertainty"', "promise.rho: Field required"),
        ("rho = 0.5", "promise.k: Field required"),
        ('model = "rho-uncertanty"\nrho = 0.5', "There is no promise 'rho-uncertanty'.*Did you mean 'rho-uncertainty'"),
        ('model = ["rho-uncertainty"]', "There is no promise"),
        ('model = "rho-uncertainty"\nrho = 7', "rho is 7, outside the range"),
        ('model = "rho-uncertainty"\nrho = 0.5\n[method]\nallow_sensitive = true', "may always be suppressed"),
    ],
)
def test_recipes_that_cannot_be_meant(clinic, capsys, section, message):
    recipe = clinic / "recipe.toml"
    recipe.write_text(f'[input]\npath = "baskets.csv"\nsensitive = ["hiv"]\n[promise]\n{section}\n')
    said = refused(capsys, "publish", recipe, "--out", "release")
    assert re.search(message, said), said
    assert not (clinic / "release").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rho", "0.5"), "--rho belongs to --model rho-uncertainty, but .* Leave --rho out, or say --model rho-unc"),
        (("--k", "2", "--p", "2", "--rho", "0.5"), "--rho belongs to --model rho-uncertainty"),
        ((*ASK, "--k", "0"), "--k belongs to --model coherence, but the model is rho-uncertainty"),
        ((*ASK, "--p", "2"), "--p belongs to --model coherence"),
        ((*ASK, "--h", "0.4"), "--h belongs to --model coherence"),
        ((*ASK, "--sensitive-group", "sensitive.txt"), "--sensitive-group belongs to --model coherence"),
        (ASK[:-2], "--rho must be given.*--model rho-uncertainty --rho 0.5"),
        ((*ASK[:-1], "2"), "rho is 2, outside the range"),
    ],
)
@pytest.mark.parametrize("command", [("audit",), ("publish", "--out", "release")])
def test_options_of_the_other_model(clinic, capsys, command, arguments, message):
    said = refused(capsys, command[0], "baskets.csv", *command[1:], *arguments)
    assert re.search(message, said), said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ASK, "--allow-sensitive"), "for rho-uncertainty, sensitive items may always be suppressed. Leave it out"),
        ((*ASK, "--method", "tree"), "There is no method 'tree' for RhoUncertainty. Available: .*remove-sensitive"),
        ((*ASK, "--method", "remove-sensitve"), "Did you mean 'remove-sensitive'"),
        ((*ASK, "--method", "remove-sensitive", "--weights", "equal"), "'remove-sensitive' has no option 'weights'"),
        (ASK[2:], "No item is sensitive"),
    ],
)
def test_what_cannot_be_meant(clinic, capsys, arguments, message):
    said = refused(capsys, "publish", "baskets.csv", *arguments, "--out", "release")
    assert re.search(message, said), said
    assert not (clinic / "release").exists()


def test_a_tree_for_branches_is_not_given_to_a_method_that_has_no_use_for_it(clinic, capsys):
    (clinic / "tree.csv").write_text("item,shelf\nale,food\nbun,food\nfig,food\ncure,ward\nhiv,ward\n")
    ask = ("--sensitive-items", "branch: ward", "--taxonomy", "tree.csv", *REMOVE[2:])
    code, said = run(capsys, "publish", "baskets.csv", *ask)
    assert (code, said["suppressed"]["items"]) == (0, ["cure", "hiv"])


def test_allow_sensitive_in_python():
    with pytest.raises(WrongUsage, match="sensitive items may always be suppressed"):
        vs.anonymize(data(), HALF, method="remove-sensitive", allow_sensitive=True)


def test_apply(clinic, capsys):
    assert run(capsys, "publish", "baskets.csv", *REMOVE)[0] == 0
    later = write(clinic / "later.csv", [["ale", "hiv"], ["bun"], ["fig", "hiv"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next", "--seed", "s")
    assert (code, said["verdict"], said["parameters"]) == (0, "GO", {"rho": "1/2"})
    assert said["suppressed"]["items"] == ["hiv"]
    assert vs.verify(clinic / "next").holds
    release = vs.apply(clinic / "release", vs.read(later))
    assert release.certified
    assert release.data.to_lists() == [["ale"], ["bun"], ["fig"]]


def test_apply_says_no_go_where_more_can_be_inferred(clinic, capsys):
    data = vs.read(clinic / "baskets.csv", sensitive=["cure", "hiv"])
    vs.publish(vs.anonymize(data, HALF, method="given"), clinic / "release")
    later = write(clinic / "later.csv", [["ale", "hiv"], ["bun"], ["fig"]])
    code, said = run(capsys, "apply", "release", later, "--out", "next")
    assert code == 1
    assert "holds 'hiv' too" in said["error"]["what"]
    assert not (clinic / "next").exists()


def test_what_has_to_go_whatever_the_method(tmp_path):
    """An item that exactly rho of all transactions hold is too common; one that fewer hold is not."""
    rows = [["flu", "ale"], ["flu"], ["hiv"], ["ale"]]
    original = vs.Transactions.from_lists(rows, sensitive=["flu", "hiv"])
    release = vs.anonymize(original, HALF, method="remove-sensitive")
    assert unavoidable(release) == ("flu",)
    lost = vs.measure(original, release)
    assert (lost["items_lost"], lost["items_lost_unavoidably"], lost["sensitive_kept"]) == (3 / 5, 2 / 5, 0)
    bundle = vs.publish(release, tmp_path / "out")
    with (bundle.custodian / "edits.csv").open(newline="") as file:
        why = {row["item"]: (row["action"], row["why"]) for row in csv.DictReader(file)}
    assert why == {
        "ale": ("kept", ""),
        "flu": ("suppressed", "so many people have it that anybody would be too sure of it"),
        "hiv": ("suppressed", "sensitive: the method removes all that is"),
    }


def test_a_loss_of_more_than_half_is_asked_about(clinic, capsys):
    write(clinic / "baskets.csv", [["cure", "hiv"], ["cure", "hiv", "ale"], ["bun"]])
    said = refused(capsys, "publish", "baskets.csv", *REMOVE)
    assert "Only 33% of the item occurrences would survive. No larger rho was found that keeps half." in said
    assert run(capsys, "publish", "baskets.csv", *REMOVE, "--yes")[0] == 0


def test_a_larger_rho_that_keeps_half(monkeypatch):
    """A method that loses everything below 0.65."""

    def careful(data, promise, /, *, limits):
        gone = data.names if promise.rho < vs.RhoUncertainty(rho=0.65).rho else data.sensitive
        return vs.Release(data, data.without(gone), promise, "careful", {}, tuple(gone))

    monkeypatch.setitem(METHODS[vs.RhoUncertainty], "careful", careful)
    release = vs.anonymize(data(), HALF, method="careful")
    assert release.loss == 1
    milder = milder_that_keep_half(release, {}, limits=Limits())
    assert (milder.way, {letter: float(value) for letter, value in milder.found.items()}) == (
        "larger rho",
        {"rho": 0.7},
    )
    assert milder_that_keep_half(kept(), {}, limits=Limits()).found == {}


def test_the_custodians_page_has_no_loss_against_p():
    release = vs.anonymize(data(), vs.RhoUncertainty(rho="1/3"), method="remove-sensitive")
    page = report.custodian_report(release, before=vs.audit(release.original, release.promise))
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "What each p would cost" not in text
    assert "Ways to break the promise" not in text
    assert "2 sensitive items can be inferred; for example," in text
    assert "hiv, 33.4% sure 1.00×" in text
    assert "cure 1 sensitive: the method removes all that is" in text
    assert "fewer than" not in text
