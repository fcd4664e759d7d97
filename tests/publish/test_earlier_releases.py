"""Releases that earlier versions made: their data verify, and their recipes give the same rows."""

import shutil
from pathlib import Path

import pytest

import veilset as vs
from tests.support.commands import run
from tests.support.releases import certificate

EARLIER = Path(__file__).parent / "earlier_releases"
KINDS = ["coherence", "rho-uncertainty", "l-diverse-anatomy", "hidden-patterns"]
LONG = {"long-coherence": "InvoiceNo", "long-l-diverse-anatomy": "patient_id"}
"""Releases of one item a row, and what they called the column of new ids: as the source did."""


@pytest.mark.parametrize("kind", [*KINDS, *LONG])
def test_an_earlier_release_keeps_its_promise_in_other_words(kind, tmp_path):
    """Its sentences for people cannot be computed again: it is said which were not checked, and a copy has new ones."""
    found = vs.verify(EARLIER / kind)
    assert found.verdict == "unchecked" and found.audit.holds
    assert [said.partition(" ")[0] for said in found.unchecked] == ["not_promised", "report.html"]
    public = vs.verify(EARLIER / kind / "public")
    assert public.verdict == ("sealed" if kind == "hidden-patterns" else "unchecked")
    assert public.unchecked == found.unchecked
    assert vs.verify(EARLIER / kind, clean_copy=tmp_path / "copy").verdict == "holds"
    data = (tmp_path / "copy" / "data.csv").read_bytes()
    assert data == (EARLIER / kind / "public" / "data.csv").read_bytes()


@pytest.mark.parametrize("kind", [*KINDS, *LONG])
def test_an_earlier_recipe_gives_the_same_release(kind, tmp_path, capsys):
    """But for the order of rows that are not in buckets, which now depends on the promise and the rows too; and in long
    tables the column of ids is called "row" now."""
    shutil.copytree(EARLIER, tmp_path / "earlier")
    recipe, again = tmp_path / "earlier" / kind / "custodian" / "recipe.toml", tmp_path / "again"
    assert run(capsys, "publish", recipe, "--out", again, "--yes")[0] == 0
    before, after = EARLIER / kind / "public", again / "public"
    told, tells = (certificate(public.parent) for public in (before, after))
    earlier, now = (said.pop("not_promised") for said in (told, tells))
    assert len(now) >= len(earlier)  # words may improve
    assert rows(before, told) == rows(after, tells)
    if told["data"].pop("sha256") == tells["data"].pop("sha256"):
        assert "anatomy" in kind
    if kind in LONG:
        assert told["data"].pop("columns") == [LONG[kind], "Description"]
        assert tells["data"].pop("columns") == ["row", "Description"]
    assert told == tells  # with the sum of the anatomized table, if there is one


def rows(public: Path, told: dict) -> list[list[str]]:
    """The transactions of a release, in their order if they are in buckets."""
    found = vs.read(public / "data.csv", format=told["data"]["format"], long=told["data"]["columns"]).to_lists()
    return found if "anatomy" in told else sorted(found)
