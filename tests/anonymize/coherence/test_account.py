"""What is told about releases of coherent data: to readers, to the custodian, and to a later run."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import veilset as vs
from tests.support.errors import refused
from tests.support.releases import replayed
from veilset import Coherence, Transactions, anonymize
from veilset.anonymize.coherence import auto, optimal
from veilset.cli import main
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.limits import Limits
from veilset.run import Run
from veilset.transactions import generate

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

CLINIC = Transactions.from_lists(
    [["tea", "hiv"], ["tea", "hiv"], ["tea", "hiv", "rye"], ["tea", "aids"], ["tea"], ["tea"], ["tea"], ["tea"]],
    sensitive=["hiv", "aids"],
)


def test_sensitive_items_that_went_are_not_named_in_public(tmp_path):
    """Who reads that a group has a member that the file lacks would know that more people than h had it."""
    promise = Coherence(h="1/4", k=2, p=2, sensitive_groups=[["hiv", "aids"]])
    release = anonymize(CLINIC, promise, allow_sensitive=True)
    assert "hiv" in release.suppressed
    bundle = vs.publish(release, tmp_path / "out")
    assert bundle.verification.holds
    assert [file.name for file in bundle.public.iterdir() if b"hiv" in file.read_bytes()] == []
    assert "hiv" in (bundle.custodian / "recipe.toml").read_text()


def test_groups_that_are_complete_are_named_and_verified(tmp_path):
    promise = Coherence(h="1/2", k=2, p=2, sensitive_groups=[["hiv", "aids"]])
    bundle = vs.publish(anonymize(CLINIC, promise), tmp_path / "out")
    certificate = json.loads((bundle.public / "certificate.json").read_text())
    assert certificate["promise"]["parameters"]["sensitive_groups"] == [["hiv", "aids"]]
    assert "hiv or aids" in (bundle.public / "report.html").read_text()


def test_a_coarser_name_does_not_stand_for_a_sensitive_item_that_went():
    data = Transactions.from_lists(
        [["ale", "flu"], ["rum", "flu"], ["ale", "flu"], ["rum"], ["fig"], ["fig"]], sensitive=["flu"]
    )
    shelves = {"ale": ["shelf"], "rum": ["shelf"], "flu": ["shelf"], "fig": ["food"]}
    promise = Coherence(h="1/4", k=3, p=2)
    release = anonymize(data, promise, method="generalize", allow_sensitive=True, taxonomy=shelves)
    assert release.suppressed == ("fig", "flu")
    assert release.stands_for == {"shelf": ("ale", "rum")}
    reached = [attempt.loss for attempt in release.attempts]
    assert min(reached) == pytest.approx(vs.measure(data, release)["average_loss"])


@pytest.mark.parametrize("groups", [(), [["hiv", "aids"]]])
def test_what_is_said_of_the_loss_is_the_loss(groups):
    data = Transactions.from_lists([*CLINIC.to_lists(), ["hiv", "aids", "tea", "rye"]], sensitive=["hiv", "aids"])
    promise = Coherence(h="1/4", k=3, p=2, sensitive_groups=groups)
    release = anonymize(data, promise, allow_sensitive=True)
    assert {"hiv", "rye"} <= set(release.suppressed)
    assert [attempt.loss for attempt in release.attempts] == pytest.approx([release.loss] * 4)
    proven = anonymize(data, promise, allow_sensitive=True, method="optimal")
    assert proven.bound.proven
    assert proven.bound.reached == pytest.approx(proven.loss)
    equal = anonymize(data, promise, allow_sensitive=True, method="optimal", weights="equal")
    assert equal.bound.reached == pytest.approx(1 / 2)  # of the public items, rye


def test_a_p_at_which_what_must_be_kept_cannot_be_is_left_out_of_the_curve(tmp_path):
    data = Transactions.from_lists([["a", "b"], ["a"], ["a"], ["b"], ["b"], ["a", "c"]])
    release = anonymize(data, Coherence(k=2, p=1), keep=["a", "b"])
    assert Run.of(release).binding.curve == {1: release.loss}
    assert vs.publish(release, tmp_path / "out").verification.holds


NAMES = ["😀", 'quo"te', "new\nline", "a.b", "back\\slash", "del\x7f"]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("auto", {"weights": dict.fromkeys(NAMES, 0.1), "keep": NAMES[:1]}),
        ("tree", {"weights": dict.fromkeys(NAMES[2:], 3)}),
        ("optimal", {"weights": {"😀": 1e-6}}),
        ("generalize", {"taxonomy": {name: [f"{name}!" if name == "😀" else "group"] for name in NAMES}}),
    ],
)
def test_recipes_with_any_names_are_read_back(tmp_path, method, options):
    path = tmp_path / "in.csv"
    rows = [[name] * 1 + NAMES[:2] for name in NAMES] * 2 + [NAMES[3:]]
    Transactions.from_lists([sorted(set(row)) for row in rows]).write(path)
    data = vs.read(path)
    release = anonymize(data, Coherence(k=2, p=2), method=method, **options)
    assert replayed(vs.publish(release, tmp_path / "first"), tmp_path / "second").verification.holds


SHOP = Transactions.from_lists(
    [["ale", "bun"], ["ale", "bun"], ["rum", "bun"], ["rum"], ["fig"], ["fig", "ale"], ["rum", "fig"]]
)
SHELVES = {"ale": ["drinks"], "rum": ["drinks"], "bun": ["food"], "fig": ["food"]}


def test_a_cut_is_replayed_and_not_searched_again():
    """The search depends on how long moles take to list: a slower machine might find another cut."""
    promise = Coherence(k=3, p=2)
    release = anonymize(SHOP, promise, method="generalize", taxonomy=SHELVES)
    assert release.generalized
    assert anonymize(SHOP, promise, method="generalize", **release.options).custodian_data == release.custodian_data
    other = anonymize(SHOP, promise, method="generalize", taxonomy=SHELVES, chosen=["food"])
    assert (other.suppressed, other.attempts, other.certified) == (("ale", "rum"), (), True)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"chosen": ["shelf"]}, ("'shelf'",)),
        ({"chosen": ["food", "bun"]}, ("'bun'", "group")),
        ({"chosen": ["food"], "keep": ["ale"]}, ("'ale'", "chosen")),
        ({"chosen": "food"}, ("chosen", "'food'")),
    ],
)
def test_cuts_that_cannot_be(options, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        anonymize(SHOP, Coherence(k=2, p=1), method="generalize", taxonomy=SHELVES, **options)


def out_of_time(*_, **__):
    raise BudgetExceeded("No time is left.")


def test_optimal_keeps_what_it_has_when_time_is_up(monkeypatch):
    """A restore pass that does not end in time must not cost what the portfolio has found."""
    monkeypatch.setattr(optimal, "restore_coherence", out_of_time)
    monkeypatch.setattr(Limits, "seconds_left", lambda _: 0.0 if called else 1e9)
    called = []
    real = auto.best_of_all

    def then_no_time(task):
        found = real(task)
        called.append(True)
        return found

    monkeypatch.setattr(optimal, "best_of_all", then_no_time)
    question = auto.Task.of(SHOP, Coherence(k=2, p=2), limits=Limits())
    best, _ = real(question)
    release = optimal.optimal(SHOP, Coherence(k=2, p=2), limits=Limits(time_limit=5))
    assert release.suppressed == best != SHOP.public
    assert not release.bound.proven


def test_optimal_goes_on_where_the_portfolio_was_out_of_time(monkeypatch):
    monkeypatch.setattr(optimal, "best_of_all", out_of_time)
    part = Limits.part
    monkeypatch.setattr(Limits, "part", lambda self, *given: part(self, 0.0, *given[1:]))
    release = optimal.optimal(SHOP, Coherence(k=2, p=2), limits=Limits(time_limit=60))
    assert release.bound.proven


def test_options_that_a_method_would_not_look_at():
    promise = Coherence(k=2, p=2)
    with refused(InvalidArgument, "weights", "auto", "tree", "optimal"):
        anonymize(SHOP, promise, method="border", weights="equal")
    with refused(InvalidArgument, "nugget_support", "'5%'"):
        anonymize(SHOP, promise, method="optimal", nugget_support="5%")
    with refused(InvalidArgument, "nugget_support", "'many'"):
        anonymize(SHOP, promise, method="optimal", utility="nuggets", nugget_support="many")
    with refused(InvalidArgument, "nugget_size", 0):
        anonymize(SHOP, promise, method="optimal", utility="nuggets", nugget_size=0)
    assert anonymize(SHOP, promise, method="optimal", utility="nuggets", nugget_support=Fraction(1, 3)).certified


def test_weights_without_a_header(tmp_path, capsys):
    SHOP.write(tmp_path / "in.csv")
    weights = tmp_path / "weights.csv"
    weights.write_text("ale,5\nrum,2\n")
    question = ["publish", str(tmp_path / "in.csv"), "--k", "2", "--p", "2", "--out", str(tmp_path / "out")]
    assert main([*question, "--weights", str(weights)]) == 2
    assert "'ale' the weight 5, but line 1 is read as a header" in capsys.readouterr().err


def test_audit_reads_groups_in_the_encoding_of_the_data(tmp_path):
    (tmp_path / "in.csv").write_bytes("tea,grün\ntea,blau\ntea\n".encode("latin-1"))
    (tmp_path / "group.txt").write_bytes("grün\nblau\n".encode("latin-1"))
    group = str(tmp_path / "group.txt")
    asked = ["audit", str(tmp_path / "in.csv"), "--k", "1", "--p", "1", "--h", "1/2", "--encoding", "latin-1"]
    assert main([*asked, "--sensitive", group]) == 0
    assert main([*asked, "--sensitive", group, "--sensitive-group", group]) == 3


def test_k_anonymity_at_a_time_limit():
    with refused(BudgetExceeded, "time limit", "1e-06"):
        anonymize(SHOP, Coherence(k=1, p=2), method="k-anonymity", time_limit=1e-6)


def test_artificial_private_items_take_nobodys_name():
    data = Transactions.from_lists([["tea", "bun"], ["private tea"], ["tea"], ["rye"], ["rye"]])
    with refused(InvalidArgument, "'private tea'"):
        generate.with_private_items(data, cap="1/2")
