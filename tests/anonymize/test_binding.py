"""What each limit of a promise costs: measured by the method, told in full, and in time."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations

import pytest

import veilset as vs
from tests.support.shop import printed
from veilset import report
from veilset.anonymize import METHODS, binding
from veilset.anonymize.coherence import auto
from veilset.report import binding_lines, release_facts
from veilset.run import Run
from veilset.testing.oracles import is_coherent

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """What is shown does not depend on how fast the machine is."""
    monkeypatch.setattr(binding, "_LEAST", 600.0)
    monkeypatch.setattr(auto, "_LISTING", 600.0)


# Ten buy tea and eight bread. Half of those with tea and rye have plasters; nobody can be inferred to have a cold.
SHOP = vs.Transactions.from_lists(
    [["tea", "rye", "plasters"]] * 3
    + [["tea", "rye"]] * 3
    + [["tea", "bread", "cold"]]
    + [["tea", "bread"]] * 3
    + [["bread"]] * 4
    + [["fig", "bread"], ["fig"]],
    sensitive=["plasters", "cold"],
)
PROMISE = vs.Coherence(h="2/5", k=3, p=2)


def least_loss(data, promise):
    """By brute force: the smallest share of occurrences that has to go."""
    rows = [frozenset(row) for row in data]
    public = data.public
    losses = []
    for gone in chain.from_iterable(combinations(public, size) for size in range(len(public) + 1)):
        left = [row.difference(gone) for row in rows]
        if is_coherent(left, data.sensitive, promise.share, promise.k, promise.p):
            losses.append(1 - sum(map(len, left)) / sum(map(len, rows)))
    return min(losses)


def by_name(run):
    return {limit.eased.items or limit.eased.name: limit for limit in run.binding.limits}


def test_what_a_limit_costs_is_what_the_method_loses_without_it():
    run = Run(SHOP, PROMISE, method="optimal")
    assert run.release.loss == pytest.approx(least_loss(SHOP, PROMISE))
    found = by_name(run)
    for name, milder, without in (
        ("k", vs.Coherence(h="2/5", k=2, p=2), vs.Coherence(h="2/5", k=1, p=2)),
        ("h", vs.Coherence(h="1/2", k=3, p=2), vs.Coherence(h=1, k=3, p=2)),
        ("p", vs.Coherence(h="2/5", k=3, p=1), None),
    ):
        assert found[name].loss == pytest.approx(least_loss(SHOP, milder))
        assert found[name].without == (None if without is None else pytest.approx(least_loss(SHOP, without)))
    assert run.binding.now == run.release.loss


def test_one_sensitive_item_binds_alone(snapshot):
    run = Run(SHOP, PROMISE)
    found = by_name(run)
    without = SHOP.without(["plasters"])
    left = (1 - least_loss(without, PROMISE)) * len(without.items)
    assert found["plasters",].without == pytest.approx(1 - left / len(SHOP.items))  # itself is lost then
    assert found["h"].without < run.release.loss
    assert binding_lines(run) == snapshot  # cold is not named: nothing is lost for it


def test_what_a_limit_costs_is_the_difference_that_is_shown(monkeypatch):
    run = Run(SHOP, PROMISE)
    (k,) = (limit for limit in run.binding.limits if limit.eased.name == "k")
    run.__dict__["binding"] = replace(run.binding, now=0.2364, limits=(replace(k, without=0.2346, losses={}),))
    assert binding_lines(run) == ["k = 3 costs 0.1% of occurrences: 23.5% lost without it."]


def test_limits_that_forbid_the_same_cost_nothing_alone():
    """Fig is too rare, and tells of a cold: without one of the limits it has to go for the other."""
    data = vs.Transactions.from_lists([["fig", "cold"], *[["tea"]] * 5], sensitive=["cold"])
    run = Run(data, vs.Coherence(h="2/5", k=3, p=1))
    told = [line for line in binding_lines(run) if "other limits" in line]
    assert [line.split(":")[0] for line in told] == ["h = 40%", "k = 3"]
    run.__dict__["binding"] = replace(run.binding, stand_in="a quicker method")  # it may have missed a saving
    assert "k = 3: no saving found without it." in binding_lines(run)


def test_groups_are_left_out_as_one():
    data = vs.Transactions.from_lists(
        [["tea", "hiv"], ["tea", "aids"], ["tea"], ["rye"], ["rye"], ["rye", "flu"]], sensitive=["hiv", "aids", "flu"]
    )
    run = Run(data, vs.Coherence(h="1/2", k=2, p=1, sensitive_groups=[["hiv", "aids"]]))
    assert run.release.suppressed == ("tea",)
    assert by_name(run)["hiv", "aids"].without == pytest.approx(2 / len(data.items))


@pytest.mark.parametrize("method", ["auto", "tree", "border", "generalize"])
def test_the_method_is_the_same_and_so_are_its_options(method):
    shelves = {"taxonomy": {"rye": ["food"], "bread": ["food"], "fig": ["food"], "tea": ["drink"]}}
    options = shelves if method == "generalize" else {}
    run = Run(SHOP, PROMISE, method=method, options=options)
    for name, milder in (("k", vs.Coherence(h="2/5", k=2, p=2)), ("p", vs.Coherence(h="2/5", k=3, p=1))):
        again = vs.anonymize(SHOP, milder, method=method, **options)
        assert by_name(run)[name].loss == pytest.approx(again.loss)
    assert run.binding.stand_in == ""


def test_switches_and_items_that_are_left_out_go_together():
    """What is too common for the milder promise goes first, as it did for the promise."""
    asked = {"weights": {"tea": 2}, "keep": ("bread",)}
    run = Run(SHOP, vs.Coherence(h="1/8", k=3, p=1), options=asked, allow_sensitive=True, drop_empty=True)
    again = vs.anonymize(SHOP, vs.Coherence(h="1/5", k=3, p=1), **asked, allow_sensitive=True, drop_empty=True)
    assert "plasters" in run.release.suppressed
    assert "plasters" not in again.suppressed
    found = by_name(run)
    assert found["h"].losses[Fraction(1, 5)] == pytest.approx(again.loss)
    assert found["cold",].without is not None


def test_options_do_not_name_items_that_are_left_out():
    data = vs.Transactions.from_lists(
        [["tea", "flu"]] * 3 + [["tea"]] * 4 + [["rye", "hiv"]] + [["rye"]] * 4, sensitive=["flu", "hiv"]
    )
    run = Run(data, vs.RhoUncertainty(rho="1/2"), method="suppress", options={"weights": {"flu": 3}, "keep": ["flu"]})
    assert by_name(run)["flu",].without is not None


def test_what_must_be_kept_may_be_impossible_at_a_milder_value(snapshot):
    """With a larger h, plasters may stay; but then tea may not."""
    promise = vs.Coherence(h="1/8", k=3, p=1)
    run = Run(SHOP, promise, options={"keep": ["tea"]}, allow_sensitive=True)
    assert Fraction(1, 5) in by_name(run)["h"].infeasible
    assert binding_lines(run) == snapshot


def test_a_slow_method_is_measured_by_its_quick_part(monkeypatch, snapshot):
    monkeypatch.setattr(binding, "_LEAST", 0.0)
    run = Run.of(replace(vs.anonymize(SHOP, PROMISE), seconds=60.0))
    assert run.binding.stand_in
    quick = auto.quick_auto(SHOP, vs.Coherence(h="2/5", k=2, p=2), limits=run.limits())
    assert by_name(run)["k"].loss == quick.loss
    assert binding_lines(run)[-1] == snapshot


def test_what_was_not_decided_in_time_is_said(snapshot):
    release = vs.anonymize(SHOP, PROMISE)
    run = Run.of(release, time_limit=1e-6)
    assert [(limit.loss, limit.without) for limit in run.binding.limits] == [(None, None)] * len(run.binding.limits)
    assert run.binding.curve == {2: release.loss}
    assert binding_lines(run) == snapshot


def test_what_is_repeated_or_not_wanted_is_not_computed(snapshot):
    release = vs.anonymize(SHOP, PROMISE)
    again = vs.anonymize(SHOP, PROMISE, chosen=release.suppressed)
    said = [binding_lines(Run.of(again)), binding_lines(Run.of(release, with_what_if=False))]
    assert "what if" not in Run.of(again).seconds
    assert said == snapshot


def test_a_release_that_does_not_keep_its_promise_says_what_is_in_the_way(snapshot):
    """The changes of an earlier release, and one more customer with a fig."""
    few = vs.anonymize(vs.Transactions.from_lists([["tea"]] * 3 + [["fig"]] * 3), vs.Coherence(k=3, p=1))
    later = vs.Transactions.from_lists([["tea"]] * 3 + [["fig"]] * 2)
    run = Run(later, few.promise, method="replay", options={"suppressed": (), "known": ("tea", "fig")})
    assert not run.release.certified
    assert by_name(run)["k"].losses == {2: 1}
    assert run.binding.half == {"k": 2}
    assert binding_lines(run) == snapshot


def test_rho_and_the_items_it_costs_most_for():
    data = vs.Transactions.from_lists(
        [["tea", "flu"]] * 3 + [["tea"]] * 2 + [["rye", "hiv"]] + [["rye"]] * 4, sensitive=["flu", "hiv"]
    )
    run = Run(data, vs.RhoUncertainty(rho="1/2"), method="suppress")
    found = by_name(run)
    for rho, lost in found["rho"].losses.items():
        assert lost == pytest.approx(vs.anonymize(data, vs.RhoUncertainty(rho=rho), method="suppress").loss)
    assert found["rho"].eased.milder == Fraction(3, 5)
    assert found["flu",].without == pytest.approx(3 / len(data.items))


def test_hidden_patterns_and_the_one_that_costs_most():
    data = vs.Transactions.from_lists([["milk", "tea"]] * 8 + [["milk", "rye"]] * 3 + [["rye"]] * 4)
    listed = [["milk", "tea"], ["milk", "rye"]]
    run = Run(data, vs.HiddenPatterns(listed, min_support=2), options={"margin": "1/100", "random_state": 1})
    found = by_name(run)
    for items, other in ((("milk", "tea"), listed[1]), (("milk", "rye"), listed[0])):
        again = vs.anonymize(data, vs.HiddenPatterns([other], min_support=2), margin="1/100", random_state=1)
        assert found[items].without == pytest.approx(again.loss)
    assert found["min_support"].eased.milder == 4
    assert any("'milk' and 'tea'" in line for line in binding_lines(run))
    assert "milk" not in str(release_facts(run))


def test_a_smaller_l_makes_smaller_buckets(snapshot):
    data = vs.generate.quest(transactions=200, average_length=5, pattern_length=2, items=20, random_state=1)
    run = Run(data, vs.LDiverseAnatomy(3), options={"columns": 3, "random_state": 1})
    (limit,) = run.binding.limits
    again = vs.anonymize(data, vs.LDiverseAnatomy(2), columns=3, random_state=1)
    assert limit.loss == METHODS.of(vs.LDiverseAnatomy).cost(again) == 200 / again.custodian_data.anatomy.count
    assert limit.loss < run.binding.now
    assert binding_lines(run) == snapshot


GROUPS = {
    "ale": ["drinks"],
    "mead": ["drinks"],
    "rum": ["drinks"],
    "wine": ["drinks"],
    "bun": ["food"],
    "pie": ["food"],
}
DRUNK = [["ale", "bun"], ["mead", "bun"], ["rum", "pie"], ["wine", "pie"], ["ale", "pie"], ["mead", "bun"], ["ale"]]


@pytest.mark.parametrize(
    ("promise", "sensitive", "options"),
    [
        (vs.Coherence(k=3, p=2), [], {"method": "generalize", "taxonomy": GROUPS}),
        (vs.RhoUncertainty(rho="1/3"), ["pie"], {"method": "top-down"}),
    ],
)
def test_methods_that_recode_measure_the_average_loss(promise, sensitive, options):
    data = vs.Transactions.from_lists(DRUNK, sensitive=sensitive)
    made = Run.of(vs.anonymize(data, promise, **options))
    assert made.release.certified
    assert made.binding.now == pytest.approx(made.account.values["average_loss"])
    facts = report.release_facts(made)
    assert facts["binding"]["of"] == "average loss"
    for point in facts["loss_by_p"]:
        milder = vs.anonymize(data, vs.Coherence(k=3, p=point["p"]), **options)
        assert point["average_loss"] == pytest.approx(vs.measure(data, milder)["average_loss"])
    lines = [line for line in report.binding_lines(made) if "%" in line]
    assert all("average loss" in line for line in lines)
    curve = bool(made.binding.curve)
    assert ("Average loss by p" in printed(report.print_release, made)) is curve
    assert ("Average loss" in report.custodian_report(made)) >= curve
