"""Releases that earlier versions made: their data verify, and their recipes give the same bytes, but for what was
renamed.

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
