"""The second audit, over the original and a release, against its definition: any part of any small data."""

from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset import Coherence, RhoUncertainty, Transactions
from veilset.audit import audit, in_original
from veilset.testing import oracles, strategies
from veilset.testing.checks import as_sets

THOUSANDS = examples(2000)
RHOS = st.sampled_from(["1/3", "1/2", "2/3", "1"])


@st.composite
def thinned(draw, *, sensitive_too: bool) -> tuple[Transactions, Transactions, dict[str, str]]:
    """An original, what single occurrences leave of it, perhaps under coarser names and without some rows."""
    data = draw(strategies.transactions())
    public = draw(st.sets(st.sampled_from(data.public), max_size=3)) if data.public else set()
    coarser = dict.fromkeys(public, "group") if len(public) > 1 else {}
    kept = np.array(draw(st.lists(st.booleans(), min_size=len(data.items), max_size=len(data.items))), dtype=bool)
    if not sensitive_too:
        kept |= data.is_sensitive[data.items] == 1
    left = data.thinned(kept)
    left = left.renamed({item: name for item, name in coarser.items() if item in left.names})
    if draw(st.booleans()):
        left = left.take(np.flatnonzero(left.lengths > 0))
    return data, left, coarser


def named(data: Transactions, left: Transactions, coarser: dict[str, str]) -> list[frozenset[str]]:
    """The original as sets, without the sensitive items that are gone, under the names of the release."""
    gone = set(data.sensitive).difference(left.names)
    return [frozenset(coarser.get(item, item) for item in row if item not in gone) for row in data]


@THOUSANDS
@given(thinned(sensitive_too=False), strategies.coherence_promises())
def test_what_limits_of_coherence_the_original_exceeds_is_counted_as_defined(made, promise):
    data, left, coarser = made
    found = in_original(data, left, promise, generalized=coarser)
    if found is None:
        assert promise.share == 1 or not left.sensitive
        return
    before, after = named(*made), as_sets(left)
    assert found.counted == "itemsets"
    assert found.broken == oracles.broken_in_original(before, after, left.sensitive, promise.share, promise.p)
    for witness in found.witnesses:
        assert witness.support == oracles.support(before, witness.itemset)
        with_it = oracles.support(before, [*witness.itemset, witness.sensitive])
        assert witness.confidence == Fraction(with_it, witness.support)
        assert witness.confidence > promise.share
    if audit(left, promise).holds:  # then the walk may leave out what cannot be in the release
        assert in_original(data, left, promise, generalized=coarser, least=promise.k).broken == found.broken


@THOUSANDS
@given(thinned(sensitive_too=True), RHOS)
def test_the_rules_that_are_too_sure_in_the_original_are_counted_as_defined(made, rho):
    data, left, coarser = made
    promise = RhoUncertainty(rho=rho)
    found = in_original(data, left, promise, generalized=coarser)
    if found is None:
        assert not left.sensitive
        return
    before, after = named(*made), as_sets(left)
    assert found.counted == "rules"
    assert found.broken == oracles.rules_broken_in_original(before, after, left.sensitive, promise.rho)
    for witness in found.witnesses:
        with_it = oracles.support(before, [*witness.itemset, witness.sensitive])
        assert witness.confidence == Fraction(with_it, oracles.support(before, witness.itemset)) >= promise.rho


@examples(500)
@given(strategies.transactions(), strategies.coherence_promises(), RHOS)
def test_what_is_whole_is_as_true_as_it_is_safe(data, promise, rho):
    """Where nothing went, both audits say the same of what is inferred."""
    assume(data.sensitive)
    for one in (promise, RhoUncertainty(rho=rho)):
        found = in_original(data, data, one, generalized={})
        if found is not None and audit(data, one).holds:
            assert found.holds
    loose = Coherence(h=promise.share, k=1, p=promise.p)
    found, answer = in_original(data, data, loose, generalized={}), audit(data, loose)
    assert found is None or not answer.feasible or found.holds == answer.holds
