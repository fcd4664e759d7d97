"""A run: everything once, what it leaves out, and what it refuses before anything takes long."""

from collections import Counter
from dataclasses import replace

import pytest

import veilset as vs
from tests.support.errors import refused
from tests.support.golden import PROMISE, running_example
from veilset.anonymize import METHODS, binding
from veilset.anonymize.coherence import auto
from veilset.audit.auditors import AUDITORS
from veilset.cli import main
from veilset.models import PROMISES
from veilset.run import Run
from veilset.utility.utilities import UTILITIES


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """What is shown does not depend on how fast the machine is."""
    monkeypatch.setattr(binding, "_LEAST", 600.0)
    monkeypatch.setattr(auto, "_LISTING", 600.0)


CLINIC = vs.Transactions.from_lists([["tea", "flu"], ["tea", "flu"], ["tea"], ["tea", "rye"], []], sensitive=["flu"])


def test_a_run_is_worked_out_when_asked_for():
    run = Run(running_example(), PROMISE)
    run.check()
    assert run.seconds == {}
    assert run.release.certified
    assert list(run.seconds) == ["method", "audit of the release"]
    assert not run.before.holds
    assert run.account.unavoidable == ("c", "d")
    assert set(run.seconds) == {"method", "audit of the release", "audit of the original", "account"}


def test_the_curve_can_be_left_out(tmp_path):
    assert Run(running_example(), PROMISE, with_what_if=False).binding.curve == {}
    release = vs.anonymize(running_example(), PROMISE)
    pages = {}
    for with_what_if in (True, False):
        bundle = vs.publish(release, tmp_path / str(with_what_if), with_what_if=with_what_if)
        pages[with_what_if] = (bundle.custodian / "report.html").read_text()
    assert "Loss for each p" in pages[True]
    assert "Loss for each p" not in pages[False]


def test_a_choice_that_is_repeated_is_not_asked_again():
    release = vs.anonymize(running_example(), PROMISE)
    assert set(Run.of(release).binding.curve) == {1, 2, 3, 4}
    again = vs.anonymize(running_example(), PROMISE, chosen=release.suppressed)
    assert again.suppressed == release.suppressed
    assert Run.of(again).binding.curve == {}


@pytest.mark.parametrize("method", ["auto", "tree", "optimal"])
def test_the_curve_is_what_the_method_loses_at_each_p(method):
    data = vs.generate.quest(transactions=300, average_length=4, pattern_length=2, items=25, random_state=1)
    run = Run(data, vs.Coherence(k=4, p=2), method=method)
    for p, lost in run.binding.curve.items():
        assert lost == pytest.approx(vs.anonymize(data, vs.Coherence(k=4, p=p), method=method).loss)
    assert set(run.binding.curve) == {1, 2, 3, 4}


@pytest.mark.parametrize("method", ["auto", "tree", "optimal"])
def test_a_p_that_is_not_decided_in_time_is_left_out_of_the_curve(method):
    data = vs.generate.quest(transactions=4000, average_length=8, pattern_length=4, items=200, random_state=1)
    release = vs.anonymize(data, vs.Coherence(k=5, p=1), method=method)
    assert Run.of(release, time_limit=1e-6).binding.curve == {1: release.loss}


@pytest.mark.parametrize("p", [1, 2])
def test_a_p_at_which_what_must_stay_cannot_takes_no_other_with_it(p):
    together = [["a", "b", "c"]] * 2 + [["a", "b", "d"]] * 2 + [["a", "c", "d"]] * 2 + [["b", "c", "d"]] * 2
    data = vs.Transactions.from_lists([*together, ["a", "b", "c", "d"]])
    keep = {"keep": ["a", "b", "c", "d"]}
    with pytest.raises(vs.Infeasible):
        vs.anonymize(data, vs.Coherence(k=2, p=4), **keep)
    release = vs.anonymize(data, vs.Coherence(k=2, p=p), **keep)
    assert Run.of(release).binding.curve == {1: 0, 2: 0, 3: 0}


def test_a_release_made_with_switches_is_one_of_a_run():
    release = vs.anonymize(CLINIC, vs.Coherence(h="1/4", k=2, p=1), allow_sensitive=True, drop_empty=True)
    run = Run.of(release)
    run.check()
    assert run.release is release
    assert Run(
        CLINIC, run.promise, method=run.method, options=run.options, allow_sensitive=True, drop_empty=True
    ).release


def test_an_original_that_is_not_audited_in_time_is_no_reason_to_stop():
    run = Run(running_example(), PROMISE, time_limit=1e-9)
    assert run.before is None
    assert isinstance(run.why_not_before, vs.BudgetExceeded)


@pytest.mark.parametrize("option", ["data", "promise", "limits", "speed"])
def test_what_is_no_option_is_refused_before_anything_runs(option):
    with refused(vs.InvalidArgument, option):
        Run(running_example(), PROMISE, options={option: 1}).check()


def test_progress_does_not_tell_a_secret():
    data = vs.Transactions.from_lists([["milk", "tea"]] * 4 + [["milk"]] * 2)
    told = []
    promise = vs.HiddenPatterns([["milk", "tea"], ["milk"]], min_support=1)
    run = Run(data, promise, progress=lambda what, *_: told.append(what))
    assert run.binding.limits
    assert told
    assert not [what for what in told if "milk" in what]


@pytest.mark.parametrize(
    ("rows", "sensitive", "promise", "left"),
    [
        ([["flu", "tea"], ["tea"], ["x"], ["y"], ["z"]], ["flu"], vs.Coherence(h="2/5", k=2, p=1), 3),
        ([["x"], ["y"], ["z"]], [], vs.Coherence(k=2, p=1), 2),
        ([["flu"], ["flu"]], ["flu"], vs.RhoUncertainty(rho="1/2"), 1),
    ],
    ids=["h", "k", "nobody is left"],
)
def test_empty_transactions_stay_if_the_promise_needs_them(rows, sensitive, promise, left):
    data = vs.Transactions.from_lists(rows, sensitive=sensitive)
    release = vs.anonymize(data, promise, drop_empty=True)
    assert (release.certified, len(release.custodian_data)) == (True, left), release
    assert len(release.withheld) == len(rows) - left
    assert release.notes


class Counted:
    """Counts what one publish asks of a promise, by what is asked, and the size of the data that it is about."""

    def __init__(self, monkeypatch, kind):
        self.times = Counter()
        method, utility = next(iter(METHODS.of(kind).by_name)), UTILITIES.of(kind)
        monkeypatch.setitem(METHODS.of(kind).by_name, method, self.of("method", METHODS.of(kind).by_name[method]))
        monkeypatch.setitem(AUDITORS._entries, kind, self.of("audit", AUDITORS.of(kind)))
        monkeypatch.setattr(kind, "refuse_infeasible", self.of("feasible", kind.refuse_infeasible, place=1))
        counted = {
            name: self.of(name, function)
            for name in ("unavoidable", "side_effects")
            if (function := getattr(utility, name)) is not None
        }
        monkeypatch.setitem(UTILITIES._entries, kind, replace(utility, **counted))

    def of(self, name, function, place=0):
        def counted(*arguments, **options):
            about = arguments[place]
            data = about.original if isinstance(about, vs.Release) else about
            self.times[name, len(data), len(data.items)] += 1
            return function(*arguments, **options)

        counted.__wrapped__ = function  # options are declared there
        return counted


@pytest.mark.parametrize("model", ["coherence", "rho-uncertainty", "hidden-patterns"])
def test_one_publish_asks_everything_once(model, tmp_path, monkeypatch, capsys):
    data = vs.generate.grocery_pharmacy(transactions=300)
    data.write(tmp_path / "data.csv")
    (tmp_path / "sensitive.txt").write_text("\n".join(data.sensitive))
    (tmp_path / "patterns.txt").write_text(data.public[0])
    flags = {
        "coherence": ["--k", "5", "--p", "2", "--h", "0.9", "--sensitive", "sensitive.txt"],
        "rho-uncertainty": ["--rho", "0.9", "--sensitive", "sensitive.txt"],
        "hidden-patterns": ["--patterns", "patterns.txt", "--min-support", "5"],
    }
    monkeypatch.chdir(tmp_path)
    counted = Counted(monkeypatch, PROMISES[model])
    told = main(["publish", "data.csv", "--model", model, *flags[model], "--no-what-if", "--yes", "--out", "out"])
    assert told == 0, capsys.readouterr().err
    original = (len(data), len(data.items))
    asked = {name: times for (name, *size), times in counted.times.items() if tuple(size) == original}
    hides = {"side_effects": 1} if model == "hidden-patterns" else {}
    assert asked == {"feasible": 1, "method": 1, "audit": 1, "unavoidable": 1, **hides}


WITH_FLU = vs.Transactions.from_lists([["flu"]] * 3 + [["tea"]] + [[]] * 4, sensitive=["flu"])


@pytest.mark.parametrize("method", ["suppress", "top-down"])
def test_what_must_be_kept_is_not_lost_with_empty_transactions(method):
    """Of 8 people 3 have the flu; of those who are left without the empty ones, 3 of 4."""
    promise = vs.RhoUncertainty(rho="1/2")
    assert vs.anonymize(WITH_FLU, promise, method=method, drop_empty=True).suppressed == ("flu",)
    assert vs.anonymize(WITH_FLU, promise, method=method, keep=["flu"]).suppressed == ()
    assert vs.anonymize(WITH_FLU, promise, method=method, keep=["tea"], drop_empty=True).suppressed == ("flu",)
    with refused(vs.Infeasible, "'flu'", "drop_empty=True", "keep"):
        vs.anonymize(WITH_FLU, promise, method=method, keep=["flu"], drop_empty=True)
