"""Methods where an attacker may know any number of items."""

import pytest
from hypothesis import given

from tests.support.explosive import explosive
from veilset import Coherence, Transactions, anonymize
from veilset.anonymize.coherence import tree
from veilset.testing import strategies


@given(strategies.transactions(min_rows=4), strategies.coherence_promises())
def test_auto_is_never_worse_than_k_anonymity(data, promise):
    promise = Coherence(h=promise.h, k=promise.k, p=None)
    if not promise.as_seen_by_attacker(data).public or not _feasible(data, promise):
        return
    best, base = anonymize(data, promise), anonymize(data, promise, method="k-anonymity")
    assert best.certified
    assert best.attempts[0].name == "classes"
    assert best.loss <= base.loss


@pytest.mark.parametrize("restore", [True, False])
def test_tree_where_moles_are_too_many_to_list(restore, monkeypatch):
    """Its recipe says up to which size they were listed, so that it is repeated without a clock."""
    data = explosive(items=12, rows=18)
    promise = Coherence(k=2, p=None)
    whole = anonymize(data, promise, method="tree", restore=restore)
    assert "largest_listed" not in whole.options
    monkeypatch.setattr(tree, "_PATIENCE", 0.0)
    release = anonymize(data, promise, method="tree", restore=restore)
    assert release.certified
    assert release.options["largest_listed"] == 3
    monkeypatch.undo()
    assert anonymize(data, promise, method="tree", **release.options).suppressed == release.suppressed


def _feasible(data: Transactions, promise: Coherence) -> bool:
    seen = promise.as_seen_by_attacker(data)
    most = seen.supports[seen.is_sensitive == 1].max(initial=0)
    return len(data) >= promise.k and most * promise.share.denominator <= len(data) * promise.share.numerator
