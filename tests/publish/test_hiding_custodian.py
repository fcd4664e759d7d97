"""Hidden patterns and rules: what the custodian is told, and what goes with them and what does not."""

import csv
from fractions import Fraction

import pytest

import veilset as vs
from tests.support.commands import refusal
from tests.support.errors import refused
from tests.support.pharmacy import BOTH, RULES, by_hand, read
from tests.support.releases import answer, edits, files
from veilset.errors import InvalidArgument, NotCertified
from veilset.run import Run
from veilset.utility import Account


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> vs.Bundle:
    """A release in which lancets are gone from five of seven transactions; to be looked at only."""
    folder = tmp_path_factory.mktemp("pharmacy")
    return vs.publish(by_hand(read(folder)), folder / "release")


def ledger(bundle: vs.Bundle) -> list[dict[str, str]]:
    with (bundle.custodian / "patterns.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_edits_tell_what_was_thinned(bundle, snapshot):
    rows = edits(bundle.path)
    assert {item: (row["action"], row["loss"]) for item, row in rows.items()} == {
        "bread": ("kept", "0"),
        "insulin": ("kept", "0"),
        "lancets": ("thinned", "0.7143"),  # from five of seven transactions
    }
    assert rows["lancets"]["why"] == snapshot


def test_items_that_are_gone_are_suppressed(tmp_path):
    alone = vs.HiddenPatterns([["lancets"]], min_support=1)
    release = vs.anonymize(read(tmp_path), alone)
    assert release.suppressed == Account(release).unavoidable == ("lancets",)
    bundle = vs.publish(release, tmp_path / "release")
    rows = edits(bundle.path)
    assert (rows["lancets"]["action"], rows["lancets"]["loss"]) == ("suppressed", "1")
    assert rows["lancets"]["why"]


def test_what_is_unavoidable(tmp_path):
    data = read(tmp_path)

    def of(*patterns: list[str], min_support: int | str) -> tuple[str, ...]:
        return Account(by_hand(data, vs.HiddenPatterns(patterns, min_support=min_support))).unavoidable

    assert of(["lancets"], ["bread"], ["insulin", "lancets"], min_support=1) == ("bread", "lancets")
    assert of(["lancets"], min_support="1/10") == ("lancets",)
    assert of(["lancets"], min_support="1/9") == ()
    assert Account(by_hand(data, vs.HiddenRules([("bread", "insulin")], 1, 1))).unavoidable == ()


def test_the_ledger(tmp_path):
    odd = 'needles, "fine"'
    data = vs.Transactions.from_lists([["insulin", odd]] * 60 + [["bread", "insulin"]] * 40)
    promise = vs.HiddenPatterns([["insulin", odd]], min_support=20)
    release = vs.anonymize(data, promise, keep_patterns=[["bread", "insulin"]])
    bundle = vs.publish(release, tmp_path / "release")
    hidden, keep = ledger(bundle)
    assert next(csv.reader([hidden["pattern"]])) == ["insulin", odd]
    assert (hidden["kind"], hidden["fate"], hidden["support_before"]) == ("hidden", "hidden", "60")
    assert int(hidden["support_after"]) < 20
    assert 0.5 < float(hidden["level"]) <= 1
    assert keep == {
        "pattern": "bread,insulin",
        "kind": "keep",
        "fate": "kept",
        "support_before": "40",
        "support_after": "40",
        "level": "",
        "antecedent": "",
        "consequent": "",
        "rank_by_lift": "",
        "rank_by_shortfall": "",
        "pairs_compared": "",
    }
    assert (hidden["rank_by_lift"], hidden["rank_by_shortfall"], hidden["pairs_compared"]) == ("2", "2", "3")


def test_the_ledger_of_rules(tmp_path):
    bundle = vs.publish(by_hand(read(tmp_path), RULES), tmp_path / "release")
    told = ledger(bundle)
    assert [(row["pattern"], row["antecedent"], row["consequent"]) for row in told] == [
        ("insulin,lancets", "insulin", "lancets"),
        ("insulin,lancets", "lancets", "insulin"),
    ]
    assert {(row["fate"], row["support_before"], row["support_after"]) for row in told} == {("hidden", "7", "2")}


def test_there_is_no_ledger_where_nothing_is_hidden(tmp_path):
    bundle = vs.publish(vs.anonymize(read(tmp_path), vs.Coherence(k=2, p=1)), tmp_path / "release")
    assert "patterns.csv" not in files(bundle.custodian)


def test_such_changes_are_not_applied_to_other_data(bundle, tmp_path):
    with refused(InvalidArgument, "hidden-patterns", "recipe.toml"):
        vs.apply(bundle.path, read(tmp_path))


def test_dropping_what_is_empty(tmp_path):
    data = vs.Transactions.from_lists([["lancets"]] * 5 + [["bread"]] * 3)
    for promise in (vs.HiddenPatterns([["lancets"]], "1/8"), vs.HiddenRules([("bread", "lancets")], 0.5, 1)):
        with refused(InvalidArgument, "drop_empty", "min_support", str(promise.min_support)):
            vs.anonymize(data, promise, drop_empty=True)
    release = vs.anonymize(data, vs.HiddenPatterns([["lancets"]], 1), drop_empty=True)
    assert (release.withheld, release.certified) == ((0, 1, 2, 3, 4), True)
    bundle = vs.publish(release, tmp_path / "release")
    assert (bundle.public / "data.csv").read_text() == "bread\n" * 3
    assert answer(bundle.path) == ("holds", 0)


@BOTH
def test_sensitive_items_need_no_leave(tmp_path, promise):
    with refused(InvalidArgument, "allow_sensitive", promise.name):
        vs.anonymize(read(tmp_path), promise, allow_sensitive=True)


def test_the_auditor_decides_what_may_be_published(tmp_path):
    data, items = read(tmp_path), ["bread", "insulin", "lancets"]
    # Every pair of the three is to be spared, so that the matrix removes nothing.
    pairs = [["bread", "insulin"], ["bread", "lancets"], ["insulin", "lancets"]]
    plain = {"certify": False, "keep_patterns": pairs, "method": "non-hidden-first"}
    release = vs.anonymize(data, vs.HiddenPatterns([items], min_support=2), **plain)
    with refused(NotCertified, "NO-GO", "certify"):
        vs.publish(release, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    rarer = vs.anonymize(data, vs.HiddenPatterns([items], min_support=3), **plain)
    assert rarer.loss == 0
    assert answer(vs.publish(rarer, tmp_path / "release").path) == ("holds", 0)


def test_a_milder_promise_that_keeps_half():
    data = vs.Transactions.from_lists([["lancets"]] * 20 + [["bread"]] * 5)
    for asked, found in ((1, 16), ("1/25", Fraction(16, 25))):
        release = vs.anonymize(data, vs.HiddenPatterns([["lancets"]], asked), margin="1/100")
        assert release.loss > 0.5
        assert Run.of(release).binding.half == {"min_support": found}
    rare = vs.anonymize(vs.Transactions.from_lists([["a"]] * 3), vs.HiddenPatterns([["a"]], 3), margin="1/100")
    assert Run.of(rare).binding.half == {}


def test_a_costly_release_is_asked_about_first(tmp_path, capsys, snapshot):
    (tmp_path / "shop.csv").write_text("lancets\n" * 20 + "bread\n" * 5)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[input]\npath = "shop.csv"\n[promise]\nmodel = "hidden-patterns"\npatterns = [["lancets"]]\nmin_support = 1\n'
        '[method.options]\nmargin = "1/100"\n'
    )
    said = refusal(capsys, "publish", recipe, "--out", tmp_path / "release", values=("20%", "--min-support 16"))
    assert said == snapshot
    assert not (tmp_path / "release").exists()
