"""New items that the earlier release would have called sensitive: `apply` does not let them pass as public ones."""

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.errors import refused
from tests.support.releases import PROMISE, files, write_rows

EARLIER = [["ale", "F32.0"], ["ale", "bun"], ["ale", "bun"], ["ale", "bun", "F20"], ["bun"], ["ale"], ["ale"]]
LATER = [*EARLIER, *EARLIER]


def released(folder: Path, **details) -> Path:
    details = {"sensitive": ["glob: F*"], **details}
    data = vs.read(write_rows(folder / "earlier.csv", EARLIER), **details)
    return vs.publish(vs.anonymize(data, PROMISE), folder / "earlier").path


@pytest.mark.parametrize("new", ["F41.1", "f32 0", "F 20"])
@pytest.mark.parametrize("sensitive", [["glob: F*"], ["F32.0", "F20"]], ids=["patterns", "names"])
def test_a_new_item_that_would_have_been_sensitive(tmp_path, capsys, new, sensitive):
    earlier = released(tmp_path, sensitive=sensitive)
    rows = [*LATER, ["ale", new], ["ale", new]]
    later, data = write_rows(tmp_path / "later.csv", rows), vs.Transactions.from_lists(rows)
    if new == "F41.1" and sensitive != ["glob: F*"]:
        assert new in vs.apply(earlier, data, unknown="keep").custodian_data.public, "It resembles nothing."
        return
    for unknown in ("keep", "refuse"):
        with refused(vs.InvalidArgument, repr(new), "suppress", "publish"):
            vs.apply(earlier, data, unknown=unknown)
        ask = ("apply", earlier, later, "--unknown", unknown, "--out", tmp_path / "new")
        refusal(capsys, *ask, values=(repr(new), "--unknown suppress", "publish"))
    assert new in vs.apply(earlier, data, unknown="suppress").suppressed
    code, told = run(capsys, "apply", earlier, later, "--unknown", "suppress", "--out", tmp_path / "new")
    assert (code, told["verdict"]) == (0, "GO")


def test_what_is_said(tmp_path, snapshot):
    earlier = released(tmp_path)
    for new in (["F41.1"], ["F41.1", "f-20", "F43"]):
        with refused(vs.InvalidArgument, *map(repr, new)) as caught:
            vs.apply(earlier, vs.Transactions.from_lists([*LATER, new]), unknown="keep")
        assert str(caught.value) == snapshot


def test_an_item_that_was_public_stays_so(tmp_path):
    rows = [*EARLIER, ["f20", "ale"], ["f20", "ale"]]
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows), sensitive=["glob: F*"])
    assert [twin.item for twin in data.twins] == ["f20"]
    earlier = vs.publish(vs.anonymize(data, PROMISE), tmp_path / "earlier").path
    release = vs.apply(earlier, vs.Transactions.from_lists([*rows, *rows]))
    assert "f20" in release.custodian_data.public
    assert release.certified


def test_a_recipe_without_patterns_still_works(tmp_path):
    earlier = released(tmp_path)
    recipe = earlier / "custodian" / "recipe.toml"
    text = recipe.read_text()
    recipe.write_text(re.sub(r"(?m)^sensitive_sought = .*\n", "", text))
    assert recipe.read_text() != text
    release = vs.apply(earlier, vs.Transactions.from_lists([*LATER, ["F41.1"], ["F41.1"]]), unknown="keep")
    assert "F41.1" in release.custodian_data.public
    with refused(vs.InvalidArgument, "'f20'"):
        vs.apply(earlier, vs.Transactions.from_lists([*LATER, ["f20"]]), unknown="keep")


def test_a_replay_uses_the_names_that_were_found(tmp_path, capsys):
    earlier = released(tmp_path)
    recipe = earlier / "custodian" / "recipe.toml"
    written = tomllib.loads(recipe.read_text())["input"]
    assert (written["sensitive"], written["sensitive_sought"]) == (["F20", "F32.0"], ["glob: F*"])
    assert run(capsys, "publish", recipe, "--out", tmp_path / "again")[0] == 0
    assert files(tmp_path / "again/public") == files(earlier / "public")
    assert (tmp_path / "again/custodian/recipe.toml").read_text() == recipe.read_text()
    recipe.write_text(recipe.read_text().replace('["glob: F*"]', '["F*"]'))
    refusal(capsys, "publish", recipe, "--out", tmp_path / "wrong", values=("sensitive_sought", "'F*'", "glob:"))


def test_a_month_without_a_sensitive_item_does_not_make_it_public(tmp_path, capsys):
    earlier = released(tmp_path)
    without = write_rows(tmp_path / "without.csv", [["ale", "bun"]] * 4)
    assert run(capsys, "apply", earlier, without, "--out", tmp_path / "second")[0] == 0
    with_it = write_rows(tmp_path / "third.csv", LATER)
    ask = ("apply", tmp_path / "second", with_it, "--unknown", "keep", "--out", tmp_path / "new")
    refusal(capsys, *ask, values=("'F20'", "'F32.0'"))


def test_patterns_of_a_frame_and_of_lists_are_kept_too(tmp_path, capsys):
    frame = pl.DataFrame({"items": EARLIER})
    rows = [*LATER, ["ale", "F41.1"], ["ale", "F41.1"]]
    given = {
        "frame": vs.read(frame, sensitive=["glob: F*"]),
        "lists": vs.Transactions.from_lists(EARLIER, sensitive=["glob: F*"]),
    }
    for name, data in given.items():
        earlier = vs.publish(vs.anonymize(data, PROMISE), tmp_path / name).path
        with refused(vs.InvalidArgument, "'F41.1'"):
            vs.apply(earlier, vs.read(pl.DataFrame({"items": rows})), unknown="keep")
        later = write_rows(tmp_path / "later.csv", rows)
        ask = ("apply", earlier, later, "--unknown", "keep", "--out", tmp_path / "new")
        refusal(capsys, *ask, values=("'F41.1'",))
        refusal(capsys, "publish", earlier / "custodian/recipe.toml", "--out", tmp_path / "new", values=("[input]",))


def test_a_twin_of_a_sensitive_item_that_has_to_go(tmp_path):
    data = vs.read(write_rows(tmp_path / "earlier.csv", EARLIER), sensitive=["ale"])
    earlier = vs.publish(vs.anonymize(data, PROMISE, allow_sensitive=True), tmp_path / "earlier").path
    with refused(vs.InvalidArgument, "'ALE'"):
        vs.apply(earlier, vs.Transactions.from_lists([*EARLIER, ["ALE"], ["ALE"]]), unknown="keep")


def test_a_coarser_name_takes_no_item_that_would_have_been_sensitive(tmp_path):
    rows = [["ale", "bun"], ["mead", "bun"], ["bun"], ["bun"], ["bun", "F20"], ["bun"], ["bun"]]
    tree = {"ale": ["drinks"], "mead": ["drinks"], "F99": ["drinks"], "bun": [], "F20": []}
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows), sensitive=["glob: F*"])
    release = vs.anonymize(data, vs.Coherence(h="1/2", k=2, p=2), method="generalize", taxonomy=tree)
    assert release.generalized == {"ale": "drinks", "mead": "drinks"}
    earlier = vs.publish(release, tmp_path / "earlier").path
    with refused(vs.InvalidArgument, "'F99'"):
        vs.apply(earlier, vs.Transactions.from_lists([*rows, ["F99", "bun"]]), unknown="keep")
