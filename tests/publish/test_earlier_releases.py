"""Releases that were made before the promises got their traits: they verify, and their recipes give the same bytes."""

import shutil
from pathlib import Path

import pytest

import veilset as vs
from tests.support.commands import run

EARLIER = Path(__file__).parent / "earlier_releases"
KINDS = ["coherence", "rho-uncertainty", "l-diverse-anatomy", "hidden-patterns"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_release_verifies(kind):
    assert vs.verify(EARLIER / kind).verdict == "holds"


@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_recipe_gives_the_same_release(kind, tmp_path, capsys):
    shutil.copytree(EARLIER, tmp_path / "earlier")
    recipe, again = tmp_path / "earlier" / kind / "custodian" / "recipe.toml", tmp_path / "again"
    code, _ = run(capsys, "publish", recipe, "--out", again, "--yes")
    assert code == 0
    changeable = {"report.html", "SHA256SUMS"}  # words may improve, and with them the sum of the page
    before, after = (
        {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in changeable}
        for folder in (EARLIER / kind / "public", again / "public")
    )
    assert after == before
