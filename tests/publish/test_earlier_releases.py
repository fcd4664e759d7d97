"""Releases that earlier versions made: they verify, and their recipes give the same bytes, but for what was renamed.

More may be said of what is not promised.
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import veilset as vs
from tests.support.commands import run

EARLIER = Path(__file__).parent / "earlier_releases"
KINDS = ["coherence", "rho-uncertainty", "hidden-patterns"]
ANATOMIES = ["l-diverse-anatomy", "long-l-diverse-anatomy"]
LONG = {"long-coherence": "InvoiceNo"}
"""Releases of one item a row, and what they called the column of new ids: as the source did."""


@pytest.mark.parametrize("kind", [*KINDS, *LONG])
def test_an_earlier_release_verifies(kind):
    assert vs.verify(EARLIER / kind).verdict == "holds"
    assert vs.verify(EARLIER / kind / "public").verdict == ("sealed" if kind == "hidden-patterns" else "holds")


@pytest.mark.parametrize("kind", ANATOMIES)
def test_an_earlier_anatomy_does_not_hold_and_its_recipe_makes_another(kind, tmp_path, capsys):
    """It was made as if transactions could be empty: whoever knows that nobody's is can rebuild some of them."""
    for folder in (EARLIER / kind, EARLIER / kind / "public"):
        found = vs.verify(folder)
        assert (found.verdict, found.exit_code) == ("broken", 1)
        assert any(witness.confidence == 1 and witness.itemset for witness in found.audit.witnesses)
    before, after = replayed(kind, tmp_path, capsys)
    assert before.keys() == after.keys()
    assert (
        after["certificate.json"]["promise"]["parameters"]["l"]
        == before["certificate.json"]["promise"]["parameters"]["l"]
    )
    assert vs.verify(tmp_path / "again").verdict == "holds"


@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_recipe_gives_the_same_release(kind, tmp_path, capsys):
    before, after = replayed(kind, tmp_path, capsys)
    assert after == before


@pytest.mark.parametrize(("kind", "called"), LONG.items())
def test_but_for_the_column_of_ids(kind, called, tmp_path, capsys):
    """It is called "row" now, and all else is the same: the certificate names the column and the sum of the file."""
    before, after = replayed(kind, tmp_path, capsys)
    head, rows = before["data.csv"].split(b"\n", 1)
    assert head == f"{called},Description".encode()
    before["data.csv"] = b"row,Description\n" + rows
    told = before["certificate.json"]
    assert told["data"]["columns"] == [called, "Description"]
    told["data"] |= {"columns": ["row", "Description"], "sha256": hashlib.sha256(before["data.csv"]).hexdigest()}
    assert after == before


def replayed(kind: str, folder: Path, capsys) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public files of an earlier release, and those that its recipe gives now; certificates as dictionaries.

    All that an earlier certificate does not promise, the new one does not promise either; what is more is left out.
    """
    shutil.copytree(EARLIER, folder / "earlier")
    recipe, again = folder / "earlier" / kind / "custodian" / "recipe.toml", folder / "again"
    code, _ = run(capsys, "publish", recipe, "--out", again, "--yes")
    assert code == 0
    changeable = {"report.html", "SHA256SUMS"}  # words may improve, and with them the sum of the page
    before, after = (
        {path.name: path.read_bytes() for path in public.iterdir() if path.name not in changeable}
        for public in (EARLIER / kind / "public", again / "public")
    )
    for public in (before, after):
        public["certificate.json"] = json.loads(public["certificate.json"])
    earlier, now = (public["certificate.json"].pop("not_promised") for public in (before, after))
    assert len(now) >= len(earlier)  # words may improve here too
    return before, after
