"""`veilset apply` where an engine holds the data; the engine is this process, told by the recipe."""

import pytest

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.releases import PROMISE, write_rows
from veilset.cli.engines import EngineOptions
from veilset.engines import Local

EARLIER = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"]]
LATER = [["ale", "bun"], ["ale", "bun", "cure"], ["bun", "fig"], ["ale", "fig"], ["ale"], ["bun"], ["yam"]]
ON_ENGINE = ("--engine", "spark")


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    """A release that has suppressed fig, in which cure is sensitive, and the rows of a later month."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(EngineOptions, "for_recipe", {"engine": "in-process"})
    data = vs.read(write_rows(tmp_path / "earlier.csv", EARLIER), sensitive=["cure"])
    write_rows(tmp_path / "later.csv", LATER)
    return vs.publish(vs.anonymize(data, PROMISE), tmp_path / "earlier").path


def test_the_release_of_memory(earlier, tmp_path, capsys):
    code, facts = run(
        capsys, "apply", earlier, "later.csv", "--unknown", "suppress", "--out", "new", *ON_ENGINE, "--json"
    )
    assert (code, facts["engine"], facts["verdict"]) == (0, "in-process", "GO")
    assert vs.verify(tmp_path / "new").holds
    later = Local(pieces=2).read(vs.Transactions.from_lists(LATER))
    assert vs.apply(earlier, later, unknown="suppress").suppressed == ("fig", "yam")
    assert facts["suppressed"]["count"] == 2
    code, again = run(capsys, "publish", tmp_path / "new/custodian/recipe.toml", "--out", "again", "--json")
    assert (code, again["suppressed"]) == (0, facts["suppressed"])


@pytest.mark.parametrize(
    ("more", "named"),
    [((), ("'yam'",)), (("--unknown", "suppress", "--out-format", "basket"), ("--out-format basket",))],
)
def test_what_is_refused(earlier, capsys, more, named):
    refusal(capsys, "apply", earlier, "later.csv", "--out", "new", *more, *ON_ENGINE, values=named)
