"""Releases from which single occurrences are gone, from end to end: what is said where, replays, formats, `apply`."""

from fractions import Fraction
from pathlib import Path

import pytest

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.commands import refusal, run
from tests.support.errors import refused
from tests.support.releases import certificate, edits, files, message, write_rows
from tests.support.runs import run_of
from tests.support.shop import printed
from tests.support.texts import page_text
from veilset import report
from veilset.errors import InvalidArgument
from veilset.io import FORMATS
from veilset.models import Promise

# Of those with wine, three in four have flu: without two of them, half of the rest. beer and bun are in one together.
ROWS = [*[["wine", "flu"]] * 6, *[["wine"]] * 2, *[["beer"]] * 6, *[["bun"]] * 3, ["beer", "bun"]]
ROWS += [["tea", "flu"], ["tea"], ["tea"], ["tea"]]
HALF = vs.Coherence(h="1/2", k=2, p=2)
RHO = vs.RhoUncertainty(rho="1/2")
CUSTODIAN_ONLY = "The custodian has checked that; whoever receives the file cannot."
LOWER_BOUNDS = "Every count in this file is a lower bound of the true one"
UNTRUE = {
    HALF: "In the original data, 1 of this file's itemsets exceeds a limit on sensitive items",
    RHO: "In the original data, 1 of this file's rules exceeds a limit on sensitive items",
}


def data() -> vs.Transactions:
    return vs.Transactions.from_lists(ROWS, sensitive=["flu"])


def words(folder: Path) -> str:
    """The words of a page."""
    return page_text((folder / "report.html").read_text())


def made(promise: Promise = HALF, **options) -> vs.Release:
    release = vs.anonymize(data(), promise, method="partial", **options)
    assert release.certified
    assert release.thinned
    return release


@pytest.mark.parametrize("promise", [HALF, RHO], ids=lambda promise: promise.name)
def test_what_is_true_of_the_original_is_said_by_whom_it_was_checked(promise, tmp_path, capsys):
    release = made(promise)
    assert release.truthful
    assert release.in_original.broken == 0
    bundle = vs.publish(release, tmp_path / "out", random_state=1)
    assert certificate(bundle.path)["broken_in_original"] == 0
    said = [*certificate(bundle.path)["not_promised"], words(bundle.public)]
    said.append(vs.verify(bundle.public).message)
    assert sum(CUSTODIAN_ONLY in text for text in said) == sum(LOWER_BOUNDS in text for text in said) == 3
    own = "Only you can check that: recipients do not have the original."
    assert words(bundle.custodian).count(own) == 1
    assert printed(report.print_release, run_of(release)).count(own) == 1
    code, told = run(capsys, "verify", bundle.public)
    assert (code, told["message"].count(CUSTODIAN_ONLY)) == (0, 1)


@pytest.mark.parametrize("promise", [HALF, RHO], ids=lambda promise: promise.name)
def test_what_is_true_of_the_release_only_is_told_everywhere(promise, tmp_path):
    """Certificate, both reports, the decision, JSON and the verdict say how much would break the promise in truth."""
    release = made(promise, truthful=False)
    assert not release.truthful
    assert release.in_original.broken == 1
    assert release.in_original.witnesses[0].confidence == Fraction(3, 4)
    bundle = vs.publish(release, tmp_path / "out", random_state=1)
    assert vs.verify(bundle.public).holds
    assert certificate(bundle.path)["broken_in_original"] == 1
    assert UNTRUE[promise] in certificate(bundle.path)["not_promised"][0]
    for text in (words(bundle.public), vs.verify(bundle.public).message):
        assert UNTRUE[promise] in text
    own = f"Counted in the original, 1 of its {release.in_original.counted}"
    assert words(bundle.custodian).count(own) == 1
    assert printed(report.print_release, run_of(release)).count(own) == 1
    assert own in report.release_facts(run_of(release))["sentence"]


def test_a_certificate_cannot_claim_more_truth_than_was_released(tmp_path):
    """The number is the custodian's word, but the sentences have to go with it."""
    bundle = vs.publish(made(truthful=False), tmp_path / "out", random_state=1)
    edit_certificate(bundle.public, lambda c: c.update(broken_in_original=0), fix_sums=True)
    assert "not_promised" in message(bundle.public, "unchecked", 4)


@pytest.mark.parametrize("promise", [HALF, RHO], ids=lambda promise: promise.name)
@pytest.mark.parametrize("out_format", FORMATS)
def test_all_formats_verify(out_format, promise, tmp_path):
    numbers = {name: str(number) for number, name in enumerate(data().names)}  # FIMI has no other names
    release = vs.anonymize(data().renamed(numbers), promise, method="partial")
    assert release.thinned
    bundle = vs.publish(release, tmp_path / "out", out_format=out_format, random_state=1)
    assert vs.verify(bundle.path).holds
    assert vs.verify(bundle.public).holds


def source(folder: Path) -> vs.Transactions:
    return vs.read(write_rows(folder / "baskets.csv", ROWS), sensitive=["flu"])


@pytest.mark.parametrize("options", [{}, {"truthful": False}, {"keep": ["beer"]}, {"weights": {"bun": 9}}], ids=str)
@pytest.mark.parametrize("promise", [HALF, RHO], ids=lambda promise: promise.name)
def test_a_recipe_makes_the_same_bytes(promise, options, tmp_path, capsys):
    release = vs.anonymize(source(tmp_path), promise, method="partial", **options)
    bundle = vs.publish(release, tmp_path / "out", random_state=1)
    code, _ = run(capsys, "publish", bundle.custodian / "recipe.toml", "--out", tmp_path / "again", "--yes")
    assert code == 0
    assert files(tmp_path / "again/public") == files(bundle.public)
    assert edits(tmp_path / "again") == edits(bundle.path)


def test_edits_do_not_carry_over(tmp_path, capsys):
    bundle = vs.publish(vs.anonymize(source(tmp_path), HALF, method="partial"), tmp_path / "out", random_state=1)
    assert {row["action"] for row in edits(bundle.path).values()} == {"kept", "suppressed", "thinned"}
    what = "deleted items from single transactions: its edits do not carry over"
    with refused(InvalidArgument, what):
        vs.apply(bundle.path, data())
    assert what in refusal(capsys, "apply", bundle.path, tmp_path / "baskets.csv", "--out", tmp_path / "later")
    assert not (tmp_path / "later").exists()
