"""Losses before and after pre-processing, nuggets and rules: golden values, brute force, limits, reports."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
import veilset.run
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.golden import PROMISE, running_example
from tests.support.runs import run_of
from tests.support.shop import printed
from veilset import Coherence, Infeasible, InvalidArgument, Transactions, report
from veilset.limits import Limits
from veilset.models import PROMISES, RhoUncertainty
from veilset.release import Release
from veilset.run import Run, certify
from veilset.testing import check_metrics, oracles, strategies
from veilset.testing.checks import as_sets
from veilset.utility import UTILITIES, Account, coherence, losses, metrics_of
from veilset.utility.nuggets import nugget_support_of
from veilset.utility.rules import rules_left, strongest_rules

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

COUNTED = {
    "nuggets_lost",
    "nuggets_lost_after_preprocessing",
    "nuggets_kept_or_coarser",
    "top_rules_kept",
    "top_rules_kept_or_coarser",
}


def suppressing(data: Transactions, promise: Coherence, *items: str, withheld: tuple[int, ...] = ()) -> Release:
    rows = np.setdiff1d(np.arange(len(data)), np.array(withheld, dtype=np.int64))
    return Release(data, data.without(items).take(rows), promise, "by hand", {}, items, withheld=withheld)


def dense(rows: int = 800) -> Transactions:
    """Far more itemsets than anybody can count."""
    held = np.random.default_rng(0).random((rows, 60)) < 0.7
    return Transactions.from_lists([[f"i{item}" for item in np.flatnonzero(row)] for row in held])


def test_the_running_example():
    """Thesis Example 8: at k'=4 nuggets are a b e f g ab bg ef fg; without c, d, a and b, e f g ef fg are left."""
    release = suppressing(running_example(), PROMISE, "c", "d", "a", "b")
    found = vs.measure(release.original, release, nugget_support=4)
    assert found["nuggets_lost"] == found["nuggets_lost_after_preprocessing"] == pytest.approx(4 / 9)
    # 33 occurrences: 26 of public items, of which c and d are one each, a is 4 and b is 5
    assert found["items_lost"] == pytest.approx(11 / 33)
    assert found["items_lost_after_preprocessing"] == pytest.approx(9 / 31)
    assert found["public_lost"] == pytest.approx(11 / 26)
    assert vs.measure(release.original, release, nugget_support=4, nugget_size=1)["nuggets_lost"] == pytest.approx(
        2 / 5
    )
    assert vs.measure(release.original, release, nugget_support="4/7")["nuggets_lost"] == found["nuggets_lost"]


def test_before_preprocessing_nothing_is_hidden():
    """At k'=1, c and d are in nuggets; only the figure after pre-processing forgets them."""
    release = suppressing(running_example(), PROMISE, "c", "d", "a", "b")
    found = vs.measure(release.original, release, nugget_support=1)
    rows = as_sets(release.original)
    nuggets = oracles.frequent(rows, 1)
    left = {x for x in nuggets if x.isdisjoint("cd")}
    kept = {x for x in left if x.isdisjoint("ab")}
    assert found["nuggets_lost"] == float(1 - Fraction(len(kept), len(nuggets)))
    assert found["nuggets_lost_after_preprocessing"] == float(1 - Fraction(len(kept), len(left)))
    assert found["nuggets_lost_after_preprocessing"] < found["nuggets_lost"]


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """Any items suppressed, sensitive ones too, and some of the others recoded; any transactions withheld."""
    data = draw(strategies.transactions())
    promise = draw(strategies.coherence_promises())
    items = list(data.names)
    gone = tuple(draw(st.lists(st.sampled_from(items), unique=True))) if items else ()
    public = [item for item in data.public if item not in gone]
    group = draw(st.sampled_from(["group", *public]))  # a group may even take the name of one of its items
    generalized = dict.fromkeys(draw(st.lists(st.sampled_from(public), unique=True)), group) if public else {}
    withheld = tuple(sorted(draw(st.sets(st.integers(0, len(data) - 1), max_size=len(data) - 1))))
    kept = np.setdiff1d(np.arange(len(data)), np.array(withheld, dtype=np.int64))
    released = data.without(gone).renamed(generalized).take(kept)
    return Release(data, released, promise, "by hand", {}, gone, generalized, withheld=withheld)


@examples(400)
@given(releases(), st.integers(1, 4), st.one_of(st.none(), st.integers(1, 3)))
def test_losses_are_those_of_the_definitions(release, least, size):
    data, rows = release.original, as_sets(release.original)
    hidden = set(data.sensitive).intersection(release.suppressed)
    seen = [row - hidden for row in rows]
    question = (set(data.sensitive) - hidden, release.promise.share, release.promise.k)
    assume(not oracles.empty_set_breaks(seen, *question))
    found = vs.measure(data, release, nugget_support=least, nugget_size=size)
    assert set(found) == {metric.name for metric in metrics_of(release.promise)}
    other = {*release.generalized.values()}
    nuggets = {x for x in oracles.frequent(rows, least) if size is None or len(x) <= size}
    kept = {x for x in oracles.frequent(as_sets(release.custodian_data), least) if x in nuggets and x.isdisjoint(other)}
    alone = {item for mole in oracles.moles(seen, *question, 1) for item in mole}
    assert set(Account(release).unavoidable) == alone
    assert found["nuggets_lost"] == _lost(kept, nuggets)
    released, renamed = as_sets(release.custodian_data), release.generalized
    coarser = {
        x
        for x in nuggets
        if x.isdisjoint(release.suppressed) and oracles.support(released, {renamed.get(i, i) for i in x}) >= least
    }
    assert found["nuggets_kept_or_coarser"] == pytest.approx(1 - _lost(coarser, nuggets))
    assert found["nuggets_lost_after_preprocessing"] == _lost(
        {x for x in kept if x.isdisjoint(alone)}, {x for x in nuggets if x.isdisjoint(alone)}
    )
    occurrences = [(row, item) for row, items in enumerate(rows) for item in items]
    there = {(row, x) for row, x in occurrences if row not in release.withheld and x not in release.suppressed}
    for name, counted in (
        ("items_lost", lambda item: True),
        ("items_lost_after_preprocessing", lambda item: item not in alone),
        ("public_lost", lambda item: item not in data.sensitive),
    ):
        before = {pair for pair in occurrences if counted(pair[1])}
        assert found[name] == pytest.approx(_lost(there & before, before)), name


def _lost(kept: set, before: set) -> float:
    return float(Fraction(len(before) - len(kept), len(before))) if before else 0.0


@examples(400)
@given(releases(), st.integers(1, 4))
def test_top_rules_are_those_of_the_definitions(release, least):
    data = release.original
    half = Fraction(1, 2)
    expected = _strongest(data, least)
    assert [(rule.antecedent, rule.consequent) for rule in strongest_rules(data, least, limits=Limits())] == expected
    own = set(data.names).difference(release.generalized.values())
    after = oracles.rules(as_sets(release.custodian_data), least, half)
    kept = [(left, y) for left, y in expected if own.issuperset({*left, y}) and (frozenset(left), y) in after]
    assert rules_left(release, nugget_support=least)["top_rules_kept"] == (len(kept) / len(expected) if expected else 1)


def _strongest(data: Transactions, least: int) -> list[tuple[tuple[str, ...], str]]:
    rows, place = as_sets(data), {name: code for code, name in enumerate(data.names)}
    found = []
    for (left, y), (both, held) in oracles.rules(rows, least, Fraction(1, 2)).items():
        if len(left) < 3:
            lift = Fraction(both, held) / Fraction(oracles.support(rows, {y}), len(rows))
            ordered = sorted(left, key=place.__getitem__)
            found.append((-lift, -Fraction(both, held), -both, [place[x] for x in ordered], place[y], ordered, y))
    return [(tuple(left), y) for *_, left, y in sorted(found)[:100]]


def test_more_than_a_hundred_rules():
    """Pairs that always come together: 300 rules, of which the rarest pairs make the highest lift."""
    rows = [[f"l{pair}", f"r{pair}"] for pair in range(150) for _ in range(2 + pair % 3)]
    data = Transactions.from_lists(rows)
    strongest = strongest_rules(data, 2, limits=Limits())
    assert [(rule.antecedent, rule.consequent) for rule in strongest] == _strongest(data, 2)
    assert {rule.support for rule in strongest} == {2}
    release = suppressing(data, Coherence(k=2, p=2), "l0", "r3", "r1")  # pair 1 is in 3 rows: not among the strongest
    assert rules_left(release, nugget_support=2)["top_rules_kept"] == 0.96


def test_rules_that_withheld_rows_weaken_are_not_found_any_more():
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b"], ["a"], ["a"], ["c"]])
    whole = suppressing(data, Coherence(k=1, p=1), "c")
    assert rules_left(whole, nugget_support=2)["top_rules_kept"] == 1
    # With the first one gone, a → b is 2 of 4, still half; with two of them gone, it is 1 of 3.
    one, two = (suppressing(data, Coherence(k=1, p=1), "c", withheld=rows) for rows in ((0,), (0, 1)))
    assert rules_left(one, nugget_support=2)["top_rules_kept"] == 1
    assert rules_left(two, nugget_support=1)["top_rules_kept"] == 0.5


def test_the_support_of_nuggets():
    data = Transactions.from_lists([["a"]] * 1001)
    release = suppressing(data, Coherence(k=3, p=1))
    assert nugget_support_of(release) == 11
    assert nugget_support_of(replace(release, promise=Coherence(k=20, p=1))) == 20
    assert nugget_support_of(replace(release, promise=RhoUncertainty(rho=1))) == 11
    assert [nugget_support_of(release, asked) for asked in (7, 0.5, "1%")] == [7, 501, 11]
    with refused(InvalidArgument, "nugget_support", 0):
        vs.measure(data, release, nugget_support=0)
    with refused(InvalidArgument, "nugget_support", "'many'"):
        vs.measure(data, release, nugget_support="many")
    with refused(InvalidArgument, "nugget_size", 0):
        vs.measure(data, release, nugget_size=0)


def test_nothing_there_to_lose():
    data = Transactions.from_lists([[], []])
    found = vs.measure(data, suppressing(data, Coherence(k=1, p=1)))
    assert found["items_lost_after_preprocessing"] == found["public_lost"] == found["nuggets_lost"] == 0
    assert found["top_rules_kept"] == 1


def test_recoded_items_are_not_lost_but_their_nuggets_are():
    data = Transactions.from_lists([["ale", "bun"], ["ale", "bun"], ["rum", "bun"], ["rum", "bun"]])
    recoding = {"ale": "drinks", "rum": "drinks"}
    release = Release(data, data.renamed(recoding), Coherence(k=2, p=2), "by hand", {}, (), recoding)
    found = vs.measure(data, release, nugget_support=2)
    assert found["public_lost"] == found["items_lost_after_preprocessing"] == 0
    assert found["nuggets_lost"] == pytest.approx(4 / 5)  # of ale, rum, bun and two pairs, bun is left
    assert found["top_rules_kept"] == 0


@examples(400)
@given(releases())
def test_metrics_pass_their_battery(release):
    try:
        release.promise.check_feasible(release.original)
    except Infeasible:
        assume(False)
    check_metrics(metrics_of(release.promise), [release])


def test_what_cannot_be_counted_in_time_is_left_out():
    data = dense()
    release = suppressing(data, Coherence(k=2, p=1), "i0")
    told: set[str] = set()
    found = vs.measure(data, release, nugget_support=2, time_limit=1, progress=lambda what, done, total: told.add(what))
    assert not {"nuggets_lost", "nuggets_lost_after_preprocessing"}.intersection(found)
    assert "Counting frequent itemsets" in told
    assert found["kinds_lost"] == pytest.approx(1 / 60)
    found = vs.measure(data, release, nugget_support=2, nugget_size=1, time_limit=60)
    assert found["nuggets_lost"] == pytest.approx(1 / 60)
    assert set(found) >= COUNTED


def test_what_does_not_fit_into_memory_is_left_out():
    data = dense()
    found = vs.measure(data, suppressing(data, Coherence(k=2, p=1), "i0"), nugget_support=2, memory_limit=1)
    assert COUNTED.isdisjoint(found)


def test_what_does_not_exist_where_the_promise_cannot_be_kept_is_left_out():
    data = Transactions.from_lists([["a", "s"], ["s"], ["a"]], sensitive=["s"])
    release = suppressing(data, Coherence(h="1/2", k=2, p=1), "a")
    missing = {metric.name for metric in metrics_of(release.promise)} - set(vs.measure(data, release))
    assert missing == {metric.name for metric in metrics_of(release.promise) if metric.only_feasible}
    assert missing == {"items_lost_after_preprocessing", "items_lost_unavoidably", "nuggets_lost_after_preprocessing"}


def test_reports_say_what_was_not_counted(monkeypatch):
    monkeypatch.setattr(veilset.run, "_SECONDS_TO_COUNT", 0.2)
    data = dense()
    release = certify(suppressing(data, Coherence(k=2, p=1), "i0"))
    facts = report.release_facts(run_of(release))
    assert facts["loss"]["nuggets_lost"]["value"] is None
    assert facts["nugget_support"] == 8
    assert "not counted: over the time or memory limit" in report.custodian_report(run_of(release, before=None))
    text = printed(report.print_release, run_of(release))
    assert "of all item occurrences and 1.7% of the different items were lost" in text
    assert "itemsets held by" not in text


def test_a_run_counts_everything_once(monkeypatch):
    """Reports, files and the certificate all ask; the answer is worked out for the first of them."""
    counted = Counter()

    def once(module, name):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **given: counted.update([name]) or real(*args, **given))

    once(veilset.run, "audit")
    once(veilset.run, "what_binds")
    once(losses, "nugget_losses")
    once(losses, "rules_left")
    real = coherence.most_with_one
    monkeypatch.setattr(coherence, "most_with_one", lambda data: counted.update(["most_with_one"]) or real(data))
    run = Run(running_example(), PROMISE)
    for _ in range(2):
        report.release_facts(run)
        report.custodian_report(run)
        printed(report.print_release, run)
    assert counted == {"audit": 2, "what_binds": 1, "nugget_losses": 1, "rules_left": 1, "most_with_one": 1}


def test_five_numbers_decide_for_every_promise():
    for promise in PROMISES.values():
        decisive = UTILITIES.of(promise).decisive
        assert len({*decisive}) == 5
        assert {*decisive} <= {metric.name for metric in metrics_of(promise)}, promise.name


@pytest.mark.parametrize("size", [0, 2.5, True, "2"])
def test_the_size_of_a_nugget_is_a_whole_number(size):
    data = Transactions.from_lists([["a", "b"], ["a", "b"]])
    with refused(InvalidArgument, "nugget_size"):
        vs.measure(data, vs.anonymize(data, Coherence(k=2, p=2)), nugget_size=size)
