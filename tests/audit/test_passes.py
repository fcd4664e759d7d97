"""How much an auditor says it will do, and that its progress ends there."""

from itertools import pairwise

import pytest

from tests.support.errors import refused
from tests.support.explosive import LONG_AUDITS, explosive, explosive_rules
from veilset import BudgetExceeded, Coherence, HiddenPatterns, RhoUncertainty, Transactions, audit
from veilset.audit import PASSES, work_ahead

SOME = Transactions.from_lists([["a", "b", "s"], ["a", "b"], ["a"], ["b", "c"]] * 3, sensitive=["s"])
PUBLIC = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"]] * 3)
AUDITS = {
    "p = 1": (SOME, Coherence(h="1/2", k=2, p=1)),
    "p = 2, no row has more": (PUBLIC, Coherence(k=2, p=2)),
    "p = 3, a row of twenty": (Transactions.from_lists([range(20), [1, 2], [1]]), Coherence(k=2, p=3)),
    "any number, holds": (SOME, Coherence(h="1/2", k=2, p=None)),
    "any number, confidences": (SOME, Coherence(h="1/3", k=2, p=None)),
    "any number, too few": (PUBLIC, Coherence(k=9, p=None)),
    "any number, too many moles to count": (explosive(), Coherence(k=2, p=None)),
    "nothing is sensitive": (PUBLIC, RhoUncertainty(rho="1/2")),
    "rho holds": (SOME, RhoUncertainty(rho=1)),
    "rho is broken": (explosive_rules(), RhoUncertainty(rho="1/100")),
    "hidden patterns": (PUBLIC, HiddenPatterns([["a", "b"]], min_support=4)),
}


@pytest.mark.parametrize("question", AUDITS)
def test_progress_goes_on_to_the_end_that_it_told(question):
    data, promise = AUDITS[question]
    told = []
    audit(data, promise, progress=lambda *step: told.append(step))
    totals, done = {total for _, _, total in told}, [done for _, done, _ in told]
    assert {done[-1]} == {told[-1][2]}
    if type(promise) in PASSES:
        assert len(totals) == 1
        assert all(a <= b for a, b in pairwise(done))
        passes = PASSES.of(promise)(data, promise)
        assert told[-1][0] == [*passes.values()][-1]
        assert f" {len(passes)} pass" in work_ahead(data, promise)


def test_progress_of_a_long_audit_never_goes_back_or_beyond():
    data, promise = LONG_AUDITS["coherence"]()
    told = []
    with refused(BudgetExceeded, "time limit", "2"):
        audit(data, promise, time_limit=2, progress=lambda *step: told.append(step))
    assert len(told) > 3
    assert len({total for _, _, total in told}) == 1
    assert all(a[1] <= b[1] <= b[2] for a, b in pairwise(told))
