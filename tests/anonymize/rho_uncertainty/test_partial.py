"""Partial suppression for ρ-uncertainty: sensitive occurrences return where no rule gets too sure, here or in truth."""

import importlib

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.interrupting import ctrl_c_stops
from veilset import BudgetExceeded, InvalidArgument, RhoUncertainty, Transactions, anonymize
from veilset.anonymize.rho_uncertainty.partial import partial
from veilset.limits import Limits
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets

SOME, MANY = examples(300), examples(2000)
RHOS = st.sampled_from(["1/3", "1/2", "2/3", "1"])


@SOME
@given(strategies.transactions(), RHOS, st.booleans())
def test_partial_passes_the_battery(data, rho, truthful):
    assume(data.sensitive)
    check_anonymizer(lambda d, p: partial(d, p, truthful=truthful, limits=Limits()), data, RhoUncertainty(rho=rho))


@MANY
@given(strategies.transactions(), RHOS, st.booleans())
def test_no_occurrence_could_return_alone(data, rho, truthful):
    """Without breaking a rule of the release or, if it is to be truthful, of the original."""
    assume(data.sensitive)
    promise = RhoUncertainty(rho=rho)
    release = partial(data, promise, truthful=truthful, limits=Limits())
    before, after = as_sets(data), as_sets(release.custodian_data)
    for number, row in enumerate(before):
        for item in row - after[number]:
            rows = [*after[:number], after[number] | {item}, *after[number + 1 :]]
            assert oracles.rho_violations(rows, data.sensitive, promise.rho) or (
                truthful and oracles.rules_broken_in_original(before, rows, data.sensitive, promise.rho)
            ), f"{item} could return to row {number}."


def clinic() -> Transactions:
    rng = np.random.default_rng(2)
    popular = 1 / np.arange(1, 31)
    lengths = np.minimum(rng.geometric(0.3, 400), 28)
    rows = [rng.choice(30, size=n, replace=False, p=popular / popular.sum()).tolist() for n in lengths]
    rows.append(list(range(30)))
    return Transactions.from_lists(rows, sensitive=[str(n) for n in range(2, 30, 3)])


def test_less_is_lost_than_without_sensitive_items():
    data, promise = clinic(), RhoUncertainty(rho="1/2")
    release = anonymize(data, promise, method="partial")
    assert release.certified
    assert release.truthful
    assert release.loss < min(anonymize(data, promise, method=other).loss for other in ("suppress", "remove-sensitive"))
    loose = anonymize(data, promise, method="partial", truthful=False)
    assert loose.certified
    assert loose.in_original.counted == "rules"
    assert loose.in_original.broken > 0
    assert loose.loss < release.loss


def test_exchanges_lose_less_and_are_repeatable(monkeypatch):
    module = importlib.import_module("veilset.anonymize.rho_uncertainty.partial")
    data, promise = clinic(), RhoUncertainty(rho="1/2")
    release = anonymize(data, promise, method="partial")
    assert anonymize(data, promise, method="partial", threads=1).custodian_data == release.custodian_data
    monkeypatch.setattr(module, "_WORK", 0)
    without = anonymize(data, promise, method="partial")
    assert release.loss < without.loss


def test_what_goes_makes_no_rule_surer_that_only_a_long_row_holds():
    """i and j meet in the row of eleven items alone, where nothing is exchanged; i may go from the shorter ones."""
    rows = [
        "bk",
        "efgj",
        "efgl",
        "k",
        "k",
        "defgj",
        "efg",
        "efgil",
        "b",
        "befgil",
        "k",
        "m",
        "m",
        "bk",
        "acdefghijlm",
        "b",
    ]
    weights = dict(zip("abcdefghijklm", (98, 74, 69, 110, 1000, 766, 380, 24, 46, 325, 133, 476, 260), strict=True))
    data = Transactions.from_lists(map(list, rows), sensitive=list("abcdhijklm"))
    assert anonymize(data, RhoUncertainty(rho="1/2"), method="partial", weights=weights).certified


def test_limits_are_kept():
    with refused(BudgetExceeded, "time limit"):
        anonymize(clinic(), RhoUncertainty(rho="1/2"), method="partial", time_limit=0.0001)
    before = "from tests.anonymize.rho_uncertainty.test_partial import clinic\nfrom veilset import *"
    assert ctrl_c_stops('while True: anonymize(clinic(), RhoUncertainty(rho="1/2"), method="partial")', before=before)


def test_a_row_that_is_too_long_stays_without_sensitive_items():
    data = clinic()
    release = anonymize(data, RhoUncertainty(rho="1/2"), method="partial")
    assert not set(release.custodian_data[len(data) - 1]).intersection(data.sensitive)
    assert len(release.custodian_data[len(data) - 1]) == 20


def test_weights_decide_which_returns_first():
    rows = [["tea", "flu", "gout"], ["tea"], ["tea"]] + [["bun"]] * 5
    data, promise = Transactions.from_lists(rows, sensitive=["flu", "gout"]), RhoUncertainty(rho="1/2")
    for heavy in ("flu", "gout"):
        release = anonymize(data, promise, method="partial", weights={heavy: 5})
        assert release.custodian_data[0] == data.in_order(["tea", heavy])


def test_sensitive_items_cannot_all_be_kept():
    data = clinic()
    with refused(InvalidArgument, "'2'"):
        anonymize(data, RhoUncertainty(rho="1/2"), method="partial", keep=["0", "2"])
    assert anonymize(data, RhoUncertainty(rho="1/2"), method="partial", keep=["0"]).certified
