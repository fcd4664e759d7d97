"""`apply --repair`: what the earlier changes leave open is suppressed further, and told."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.commands import refusal, run
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.releases import PROMISE, certificate, edits, write_rows
from tests.support.runs import run_of
from tests.support.shop import printed
from veilset import report
from veilset.errors import Infeasible
from veilset.run import Run
from veilset.testing import oracles, strategies

EARLIER = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"]]
LATER = [["ale", "bun"], ["ale", "cure"], ["ale"], ["fig"], ["gin", "ale"], ["gin"], ["gin"], [], []]
"""fig is gone as before; {ale bun} and {gin ale} are held by one: of ale, bun and gin, ale is worth most."""

TREE = {"ale": ["drinks"], "mead": ["drinks"], "wine": ["drinks"], "bun": []}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory) -> Path:
    """A release that has suppressed fig; to be looked at only."""
    folder = tmp_path_factory.mktemp("earlier")
    data = vs.read(write_rows(folder / "earlier.csv", EARLIER), sensitive=["cure"])
    return vs.publish(vs.anonymize(data, PROMISE), folder / "earlier").path


def test_what_the_earlier_changes_leave_open_goes_too(earlier):
    data = vs.Transactions.from_lists(LATER)
    assert not vs.apply(earlier, data, unknown="keep").certified
    release = vs.apply(earlier, data, unknown="keep", repair=True)
    assert (release.suppressed, release.certified) == (("bun", "fig", "gin"), True)
    told = report.release_facts(run_of(release))["repair"]
    occurrences = sum(map(len, LATER))
    assert told["suppressed"] == ["gin", "bun"], "The most frequent first."
    assert told["loss_before"] == pytest.approx(1 / occurrences)
    assert told["loss"] == pytest.approx(release.loss) == pytest.approx(5 / occurrences)
    for shown in (printed(report.print_release, run_of(release)), report.custodian_report(run_of(release))):
        assert "2 items more than in the earlier release: gin, bun; loss 10% → 50%" in shown


def test_nothing_is_added_where_the_earlier_changes_suffice(earlier):
    data = vs.Transactions.from_lists(EARLIER)
    release = vs.apply(earlier, data, repair=True)
    assert (release.suppressed, release.certified) == (("fig",), True)
    assert "nothing beyond the earlier release" in printed(report.print_release, run_of(release))
    assert report.release_facts(run_of(vs.apply(earlier, data)))["repair"] is None


def test_on_the_command_line_and_once_more(earlier, tmp_path, capsys, snapshot):
    later = write_rows(tmp_path / "later.csv", LATER)
    ask = ("apply", earlier, later, "--unknown", "keep", "--out", tmp_path / "new")
    assert refusal(capsys, *ask, exit_code=1, values=("NO-GO", "--repair")) == snapshot
    code, said = run(capsys, *ask, "--repair", "--seed", "s", "--yes")
    assert (code, said["verdict"], said["repair"]["suppressed"]) == (0, "GO", ["gin", "bun"])
    assert vs.verify(tmp_path / "new").holds
    assert edits(tmp_path / "new")["gin"]["why"] == "with 'ale': 1 person, k = 2"
    recipe = tmp_path / "new" / "custodian" / "recipe.toml"
    code, _ = run(capsys, "publish", recipe, "--out", tmp_path / "again", "--yes")
    assert code == 0
    for file in ("public/data.csv", "public/certificate.json", "custodian/edits.csv", "custodian/recipe.toml"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "new" / file).read_bytes(), file
    code, said = run(capsys, "apply", tmp_path / "new", later, "--out", tmp_path / "next", "--yes")
    assert (code, said["verdict"]) == (0, "GO"), "What was repaired is what the next month starts from."


def test_the_no_go_of_python_names_the_argument(earlier, tmp_path):
    release = vs.apply(earlier, vs.Transactions.from_lists(LATER), unknown="keep")
    with refused(vs.NotCertified, "repair=True"):
        vs.publish(release, tmp_path / "new")


def test_coarser_names_are_repaired_as_they_are_released(tmp_path):
    rows = [["ale", "bun"], ["mead", "bun"], ["bun"], ["bun"]]
    data = vs.read(write_rows(tmp_path / "drinks.csv", rows))
    promise = vs.Coherence(h=1, k=2, p=2)
    made = vs.anonymize(data, promise, method="generalize", taxonomy=TREE)
    vs.publish(made, tmp_path / "coarser")
    drinks = vs.read(write_rows(tmp_path / "later.csv", [["wine", "bun"], ["ale"], ["bun"], ["bun"], ["mead"]]))
    assert not vs.apply(tmp_path / "coarser", drinks).certified, "Only one has drinks and bun."
    release = vs.apply(tmp_path / "coarser", drinks, repair=True)
    assert (release.certified, release.discrepancy) == (True, None)
    assert set(release.suppressed) in ({"ale", "mead", "wine"}, {"bun"})
    bundle = vs.publish(release, tmp_path / "new")
    assert set(certificate(bundle.path).get("generalized", {})) == set(release.custodian_data.names) - {"bun"}


@pytest.mark.parametrize("method", ["top-down", "suppress"])
def test_rho_uncertainty(tmp_path, method):
    rows = [["tea", "hiv"], *[["tea"]] * 3, *[["milk"]] * 4]
    data = vs.read(write_rows(tmp_path / "earlier.csv", rows), sensitive=["hiv"])
    vs.publish(vs.anonymize(data, vs.RhoUncertainty(rho="1/2"), method=method), tmp_path / "earlier")
    later = vs.Transactions.from_lists([*[["tea", "hiv"]] * 3, ["tea"], *[["milk"]] * 9], sensitive=["hiv"])
    assert not vs.apply(tmp_path / "earlier", later).certified
    release = vs.apply(tmp_path / "earlier", later, repair=True)
    assert (release.certified, release.discrepancy) == (True, None)
    again = vs.anonymize(later, release.promise, method="replay", **release.options)
    assert again.custodian_data == release.custodian_data


def test_what_cannot_be_kept_at_all_is_said(earlier):
    data = vs.Transactions.from_lists([["cure"], ["cure"], ["ale"]], sensitive=["cure"])
    with refused(Infeasible, "cure"):
        vs.apply(earlier, data, repair=True)


@examples(150)
@given(strategies.protected(), strategies.coherence_promises(max_k=3, max_p=3), st.data())
def test_the_earlier_changes_stay_and_nothing_goes_without_need(data, promise, draw):
    try:
        promise.check_feasible(data)
    except Infeasible:
        return
    public = data.public
    recoded = {item: "group" for item in draw.draw(st.sets(st.sampled_from(public))) if public} if public else {}
    others = [item for item in public if item not in recoded]
    first = draw.draw(st.sets(st.sampled_from(others))) if others else set()
    asked = {"method": "replay", "suppressed": tuple(first), "generalized": recoded}
    release = vs.anonymize(data, promise, **asked, repair=True)
    assert release.certified
    assert set(release.suppressed) >= first
    assert release.generalized == {item: "group" for item in recoded if item not in release.suppressed}
    added = {recoded.get(item, item) for item in set(release.suppressed) - first}
    whole = [frozenset(recoded.get(item, item) for item in row if item not in first) for row in data]
    for name in added:
        rows = [row - (added - {name}) for row in whole]
        left = {item for item in data.sensitive if any(item in row for row in rows)}
        assert not oracles.is_coherent(rows, left, Fraction(promise.share), promise.k, promise.p)
    again = vs.anonymize(data, promise, method="replay", **release.options)
    assert again.custodian_data == release.custodian_data


KEPT = {"keep": ["bun"], "weights": {"ale": 0.5, "bun": 3}}
THREE = [["ale", "bun"], *[["ale"]] * 4, *[["bun"]] * 2, ["figs"]]
"""Whoever has both ale and bun is alone: one of them goes. There are more of ale; figs are gone as before."""


def _made_with(folder: Path, **options) -> Path:
    data = vs.read(write_rows(folder / "earlier.csv", [["ale", "bun"], ["ale", "bun"], ["ale"], ["figs"]]))
    return vs.publish(vs.anonymize(data, vs.Coherence(k=2, p=2), **options), folder / "earlier").path


@pytest.mark.parametrize(("name", "value"), KEPT.items())
def test_keep_and_weights_of_the_earlier_release_hold_for_the_repair(tmp_path, capsys, name, value):
    data = vs.Transactions.from_lists(THREE)
    (tmp_path / "free").mkdir()
    free = vs.apply(_made_with(tmp_path / "free"), data, repair=True)
    assert set(free.suppressed) == {"bun", "figs"}
    earlier = _made_with(tmp_path, **{name: value})
    release = vs.apply(earlier, data, repair=True)
    assert (set(release.suppressed), release.certified) == ({"ale", "figs"}, True)
    later = write_rows(tmp_path / "later.csv", THREE)
    code, told = run(capsys, "apply", earlier, later, "--repair", "--out", tmp_path / "new", "--yes")
    assert (code, told["repair"]["suppressed"]) == (0, ["ale"])
    code, told = run(capsys, "publish", tmp_path / "new/custodian/recipe.toml", "--out", tmp_path / "again", "--yes")
    assert (code, told["repair"]["suppressed"]) == (0, ["ale"])
    once_more = vs.apply(
        tmp_path / "new", vs.Transactions.from_lists([*THREE, ["bun", "ale"], ["tart"]]), unknown="keep", repair=True
    )
    assert once_more.options[name] == release.options[name], "It holds for the month after, too."


def test_what_was_to_be_kept_and_cannot_be_is_named(tmp_path):
    earlier = _made_with(tmp_path, keep=["ale", "bun"])
    with refused(Infeasible, "ale", "bun"):
        vs.apply(earlier, vs.Transactions.from_lists(THREE), repair=True)
    without_bun = vs.Transactions.from_lists([["ale"], ["ale"], ["figs"]])
    assert vs.apply(earlier, without_bun, repair=True).certified, "What is not there need not be kept."


def test_weights_of_items_with_a_coarser_name_add_up():
    rows = [["ale", "bun"], ["mead"], ["wine"], ["bun"], ["bun"], ["bun"]]
    data = vs.Transactions.from_lists(rows)
    asked = {"method": "replay", "generalized": dict.fromkeys(["ale", "mead", "wine"], "drinks"), "repair": True}
    promise = vs.Coherence(k=2, p=2)
    assert set(vs.anonymize(data, promise, **asked, weights={"bun": 4}).suppressed) == {"ale", "mead", "wine"}
    assert set(vs.anonymize(data, promise, **asked, weights={"bun": 4, "ale": 2.5}).suppressed) == {"bun"}
    assert set(vs.anonymize(data, promise, **asked, keep=["ale"]).suppressed) == {"bun"}


def test_the_cost_of_each_limit_is_that_of_the_repair(earlier):
    made = Run.of(vs.apply(earlier, vs.Transactions.from_lists(LATER), unknown="keep", repair=True))
    assert not made.binding.why_not
    assert made.binding.curve[1] == pytest.approx(2 / 10), "fig as before, and bun, which one has."
    again = Run.of(vs.apply(earlier, vs.Transactions.from_lists(EARLIER)))
    assert again.binding.why_not, "Nothing was decided."
