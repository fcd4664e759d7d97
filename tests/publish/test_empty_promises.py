"""A promise that excludes nothing: refused unless it is asked for, and then told wherever a verdict stands."""

import json
from fractions import Fraction
from functools import partial

import pytest

import veilset as vs
from tests.support.errors import names, refused
from tests.support.releases import ROWS, baskets, certificate
from tests.support.texts import as_read
from tests.support.typing_commands import typed
from veilset.errors import InvalidArgument
from veilset.models import EXCLUDES_NOTHING

run = partial(typed, "")
PUBLISH = "publish baskets.csv --sensitive sensitive.txt --out release"
EMPTY = [
    (vs.Coherence(k=1, p=2), {"k"}),
    (vs.Coherence(k=1, h=1, p=None), {"k", "h"}),
    (vs.LDiverseAnatomy(l=1), {"l"}),
]
STRICT = [
    vs.Coherence(k=2, p=2),
    vs.Coherence(k=2, h=1, p=2),
    vs.Coherence(k=1, h="999999/1000000", p=1),
    vs.LDiverseAnatomy(l=Fraction(11, 10)),
    vs.RhoUncertainty(rho=1),  # nobody may be completely sure: that is little, but something
    vs.HiddenPatterns([["ale"]], min_support=1),
]


@pytest.mark.parametrize(("promise", "blamed"), EMPTY, ids=[repr(promise) for promise, _ in EMPTY])
def test_what_excludes_nothing_names_its_parameters(promise, blamed):
    assert set(promise.excludes_nothing) == blamed
    with refused(InvalidArgument, *(promise.parameters()[letter] for letter in blamed)):
        promise.check_excludes()
    for letter, value in promise.excludes_nothing.items():  # each value that is proposed is enough
        better = {**promise.parameters(), letter: value}
        assert not type(promise)(**better).excludes_nothing
    assert promise.open_ends(sensitive=True, merged=True)[0] == EXCLUDES_NOTHING


@pytest.mark.parametrize("promise", STRICT, ids=repr)
def test_what_excludes_something_is_not_refused(promise):
    assert not promise.excludes_nothing
    promise.check_excludes()
    assert EXCLUDES_NOTHING not in promise.open_ends(sensitive=True, merged=True)


def test_certainty_is_broken_by_rho_of_one():
    data = vs.Transactions.from_lists([["tea", "flu"], ["milk"]], sensitive=["flu"])
    assert not vs.audit(data, vs.RhoUncertainty(rho=1)).holds
    assert "99%" in vs.RhoUncertainty(rho=1).not_promised()[0]


def test_python_refuses_it_unless_it_is_allowed(tmp_path):
    release = vs.anonymize(baskets(tmp_path), vs.Coherence(h=1, k=1, p=2))
    with refused(InvalidArgument, "k=1", "allow_empty_promise=True"):
        vs.publish(release, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    bundle = vs.publish(release, tmp_path / "out", allow_empty_promise=True)
    assert certificate(bundle.path)["not_promised"][0] == EXCLUDES_NOTHING
    for page in (bundle.public / "report.html", bundle.custodian / "report.html"):
        text = page.read_text()
        assert EXCLUDES_NOTHING in text
        assert "is left with at least" not in text.split("<h2>")[0]
    found = vs.verify(bundle.public)
    assert found.holds
    assert EXCLUDES_NOTHING in found.message


def test_h_is_empty_where_nothing_is_sensitive(tmp_path):
    data = vs.Transactions.from_lists(ROWS)
    release = vs.anonymize(data, vs.Coherence(h=0.4, k=1, p=2))
    with refused(InvalidArgument, "k=1"):
        vs.publish(release, tmp_path / "out", allow_empty_promise=True)  # h says nothing: leave it out first


@pytest.mark.parametrize("promise", ["--k 1 --h 1 --p 2", "--model l-diverse-anatomy --l 1 --columns 2"])
def test_the_command_line_refuses_it_before_reading(shop, capsys, promise):
    (shop / "baskets.csv").unlink()
    code, _, err = run(capsys, f"{PUBLISH} {promise}")
    assert code == 2
    assert names(err, "--yes")
    assert not (shop / "release").exists()


def test_the_command_line_says_so_with_yes(shop, capsys, terminal, snapshot):
    code, out, _ = run(capsys, f"{PUBLISH} --k 1 --h 1 --p 2 --yes")
    assert code == 0
    assert "safe" not in out
    assert as_read(out) == snapshot(name="publish")
    code, out, _ = run(capsys, "verify release/public")
    assert code == 0
    assert as_read(out) == snapshot(name="verify")
    code, out, _ = run(capsys, "audit baskets.csv --sensitive sensitive.txt --k 1 --h 1 --p 2")
    assert code == 0
    assert as_read(out) == snapshot(name="audit")
    code, _, err = run(capsys, "publish release/custodian/recipe.toml --out again")
    assert (code, names(err, "--yes"), names(err, "k=1")) == (2, True, True)
    assert run(capsys, "publish release/custodian/recipe.toml --out again --yes")[0] == 0


def test_json_says_so(shop, capsys):
    _, out, _ = run(capsys, f"{PUBLISH} --k 1 --h 1 --p 2 --yes")
    facts = json.loads(out)
    assert (facts["verdict"], facts["sentence"]) == ("EXCLUDES NOTHING", EXCLUDES_NOTHING)
    assert facts["audit"]["excludes_nothing"] is True
    _, out, _ = run(capsys, "verify release")
    facts = json.loads(out)
    assert (facts["verdict"], facts["audit"]["state"]) == ("holds", "EXCLUDES NOTHING")


ILL = [["hiv", "flu"], ["flu", "asthma"], ["asthma", "hiv", "ulcer"], ["ulcer"], ["flu", "ulcer", "gout"], ["gout"]]
RULE = [(["flu"], ["hiv"])]
EMPTY_HERE = [
    pytest.param(vs.Coherence(h=1, k=5, p=4), "glob: *", ("h='1'", "k=5"), id="nothing is public for k"),
    pytest.param(vs.HiddenPatterns([["flu", "hiv"]], min_support=1000), (), ("min_support=1000", 6), id="patterns"),
    pytest.param(vs.HiddenRules(RULE, min_support=7, min_confidence=0.5), (), ("min_support=7", 6), id="rules"),
]


@pytest.mark.parametrize(("promise", "sensitive", "blamed"), EMPTY_HERE)
def test_what_excludes_nothing_in_this_data_is_refused_unless_it_is_allowed(tmp_path, promise, sensitive, blamed):
    data = vs.Transactions.from_lists(ILL, sensitive=[sensitive] if sensitive else [])
    assert not promise.excludes_nothing
    release = vs.anonymize(data, promise)
    assert release.certified
    with refused(InvalidArgument, *blamed, "allow_empty_promise=True"):
        vs.publish(release, tmp_path / "out")
    with refused(InvalidArgument, *blamed):
        release.to_arrow()
    bundle = vs.publish(release, tmp_path / "out", allow_empty_promise=True)
    assert certificate(bundle.path)["not_promised"][0] == EXCLUDES_NOTHING
    for page in (bundle.public / "report.html", bundle.custodian / "report.html"):
        assert EXCLUDES_NOTHING in page.read_text()
    assert EXCLUDES_NOTHING in vs.verify(bundle.path).message


@pytest.mark.parametrize(
    "promise",
    [
        "--k 5 --p 4 --h 1 --sensitive-items 'glob: *'",
        "--model hidden-patterns --patterns patterns.txt --min-support 1000",
        "--model hidden-rules --rules rules.txt --min-support 7 --min-confidence 0.5",
    ],
)
def test_the_command_line_refuses_what_excludes_nothing_in_this_data(tmp_path, monkeypatch, capsys, promise):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ill.csv").write_text("".join(",".join(row) + "\n" for row in ILL))
    (tmp_path / "patterns.txt").write_text("flu,hiv\n")
    (tmp_path / "rules.txt").write_text("flu => hiv\n")
    code, _, err = run(capsys, f"publish ill.csv {promise} --out out")
    assert (code, names(err, "--yes")) == (2, True), err
    assert not (tmp_path / "out").exists()
    code, out, err = run(capsys, f"publish ill.csv {promise} --out out --yes")
    assert code == 0, err
    facts = json.loads(out)
    assert (facts["verdict"], facts["sentence"]) == ("EXCLUDES NOTHING", EXCLUDES_NOTHING)
    code, out, _ = run(capsys, f"audit ill.csv {promise}")
    facts = json.loads(out)
    assert (code, facts["state"], facts["excludes_nothing"]) == (0, "EXCLUDES NOTHING", True)


@pytest.mark.parametrize(
    ("promise", "sensitive"),
    [
        (vs.Coherence(h="2/3", k=5, p=4), ["glob: *"]),
        (vs.Coherence(h=1, k=2, p=1), ["flu"]),
        (vs.HiddenPatterns([["flu", "hiv"]], min_support=6), []),
        (vs.HiddenPatterns([["flu", "hiv"]], min_support="100%"), []),
    ],
)
def test_what_excludes_something_in_this_data_is_not_refused(promise, sensitive):
    data = vs.Transactions.from_lists(ILL, sensitive=sensitive)
    promise.check_excludes(data)
    assert not promise.excludes_nothing_in(data)
