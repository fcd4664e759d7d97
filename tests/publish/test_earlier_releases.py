"""Releases that earlier versions made: their data verify, and their recipes give the same rows."""

import shutil
from pathlib import Path

import pytest

import veilset as vs
from tests.support.commands import run
from tests.support.releases import certificate

EARLIER = Path(__file__).parent / "earlier_releases"
KINDS = ["coherence", "rho-uncertainty", "hidden-patterns"]
ANATOMIES = ["l-diverse-anatomy", "long-l-diverse-anatomy"]
LONG = {"long-coherence": "InvoiceNo"}
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


@pytest.mark.parametrize("kind", ANATOMIES)
def test_an_earlier_anatomy_does_not_hold_and_its_recipe_makes_another(kind, tmp_path, capsys):
    """It was made as if transactions could be empty: whoever knows that nobody's is can rebuild some of them."""
    for folder in (EARLIER / kind, EARLIER / kind / "public"):
        found = vs.verify(folder)
        assert (found.verdict, found.exit_code) == ("broken", 1)
        assert any(witness.confidence == 1 and witness.itemset for witness in found.audit.witnesses)
    again = replayed(kind, tmp_path, capsys)
    assert certificate(again)["promise"] == certificate(EARLIER / kind)["promise"]
    assert vs.verify(again).verdict == "holds"


@pytest.mark.parametrize("kind", [*KINDS, *LONG])
def test_an_earlier_recipe_gives_the_same_release(kind, tmp_path, capsys):
    """But for the order of rows that are not in buckets, which now depends on the promise and the rows too; and in long
    tables the column of ids is called "row" now."""
    again = replayed(kind, tmp_path, capsys)
    told, tells = certificate(EARLIER / kind), certificate(again)
    earlier, now = (said.pop("not_promised") for said in (told, tells))
    assert len(now) >= len(earlier)  # words may improve
    assert rows(EARLIER / kind / "public", told) == rows(again / "public", tells)
    assert told["data"].pop("sha256") != tells["data"].pop("sha256")
    if kind in LONG:
        assert told["data"].pop("columns") == [LONG[kind], "Description"]
        assert tells["data"].pop("columns") == ["row", "Description"]
    assert told == tells


def replayed(kind: str, folder: Path, capsys) -> Path:
    """The release that the recipe of an earlier one gives now."""
    shutil.copytree(EARLIER, folder / "earlier")
    recipe, again = folder / "earlier" / kind / "custodian" / "recipe.toml", folder / "again"
    assert run(capsys, "publish", recipe, "--out", again, "--yes")[0] == 0
    return again


def rows(public: Path, told: dict) -> list[list[str]]:
    """The transactions of a release, in no order."""
    return sorted(vs.read(public / "data.csv", format=told["data"]["format"], long=told["data"]["columns"]).to_lists())
