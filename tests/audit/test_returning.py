"""Why a suppressed item cannot return: what the auditor finds, against the definition."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset import Coherence, Transactions
from veilset.audit import SEARCHES, why_not_back
from veilset.limits import Limits
from veilset.testing import oracles, strategies


def asked(data, promise, gone, **others):
    """What the auditor answers about each of these items, all of which are suppressed."""
    return why_not_back(data, promise, list(gone), suppressed=gone, limits=Limits(), **others)


def with_back(data, gone, item):
    """The rows in which only this one of the suppressed items has returned."""
    out = set(gone) - {item}
    return [frozenset(row) - out for row in data]


def breaks_by_itself(rows, itemset, sensitive, promise):
    """Whether this itemset is a mole, whatever its subsets are: those without the item are no reason to keep it out."""
    held = oracles.support(rows, itemset)
    with_each = (oracles.support(rows, {*itemset, one}) for one in sensitive)
    return held < promise.k or any(Fraction(both, held) > promise.share for both in with_each)


@examples(300)
@given(strategies.transactions(), strategies.coherence_promises(), st.data())
def test_the_smallest_set_that_breaks_coherence(data, promise, draw):
    gone = tuple(draw.draw(st.sets(st.sampled_from(data.names))) if data.names else ())
    found = asked(data, promise, gone)
    assert set(found) == set(gone)
    h = promise.share
    for item, witness in found.items():
        rows = with_back(data, gone, item)
        if item in data.sensitive:
            public = [row.difference(data.sensitive) for row in rows]
            known = {frozenset(), *(one for one in oracles.occurring(public, (), promise.p))}
            breaks = {one for one in known if rows and oracles.breach_probability(rows, one, {item}) > h}
        else:
            left = {name for name in data.sensitive if any(name in row for row in rows)}
            with_it = {one for one in oracles.occurring(rows, left, promise.p) if item in one}
            breaks = {one for one in with_it if breaks_by_itself(rows, one, left, promise)}
        if witness is None:
            assert not breaks
            continue
        itemset = frozenset(witness.itemset)
        assert itemset in breaks
        assert len(itemset) == min(map(len, breaks)), "The fewest partners explain best."
        assert witness.support == oracles.support(rows, itemset)
        if witness.sensitive is not None:
            held = Fraction(oracles.support(rows, {*itemset, witness.sensitive}), witness.support)
            assert witness.confidence == held > h
        else:
            assert witness.support < promise.k


@examples(200)
@given(strategies.transactions(), strategies.rho_promises(), st.data())
def test_a_rule_that_breaks_rho_uncertainty(data, promise, draw):
    gone = tuple(draw.draw(st.sets(st.sampled_from(data.names))) if data.names else ())
    for item, witness in asked(data, promise, gone).items():
        rows = with_back(data, gone, item)
        left = {name for name in data.sensitive if any(name in row for row in rows)}
        broken = {
            (known, other)
            for (known, other), (both, held) in oracles.sensitive_rules(rows, left).items()
            if Fraction(both, held) >= promise.rho and (item in known or item == other)
        }
        if witness is None:
            assert not broken
        else:
            assert (frozenset(witness.itemset), witness.sensitive) in broken
            both = oracles.support(rows, {*witness.itemset, witness.sensitive})
            assert witness.confidence == Fraction(both, witness.support)


def test_partners_have_the_names_they_are_released_under():
    data = Transactions.from_lists([["ale", "fig"], ["rum", "fig"], ["ale"], ["rum"], ["fig", "bun"], ["bun"]])
    recoded = {"ale": "drinks", "rum": "drinks"}
    (witness,) = asked(data, Coherence(k=2, p=2), ("fig",), generalized=recoded).values()
    assert (witness.itemset, witness.support) == (("bun", "fig"), 1)
    drinks = asked(data.without(["bun"]), Coherence(k=3, p=2), ("fig",), generalized=recoded)["fig"]
    assert (drinks.itemset, drinks.support) == (("drinks", "fig"), 2)


def test_groups_of_sensitive_items_count_as_one():
    rows = [["tea", "hiv"], ["tea", "aids"], ["tea"], [], [], []]
    data = Transactions.from_lists(rows, sensitive=["hiv", "aids"])
    promise = Coherence(h="1/2", k=1, p=1, sensitive_groups=[["hiv", "aids"]])
    witness = asked(data, promise, ("tea",))["tea"]
    assert (witness.sensitive, witness.confidence) == ("hiv or aids", Fraction(2, 3))
    witness = asked(data, promise, ("hiv",))["hiv"]
    assert (witness.itemset, witness.sensitive, witness.confidence) == (("tea",), "hiv or aids", Fraction(2, 3))


def test_withheld_transactions_count_only_if_the_item_brings_them_back():
    data = Transactions.from_lists([["flu"], ["flu", "tea"], ["tea"], [], [], []], sensitive=["flu"])
    promise = Coherence(h="1/2", k=1, p=1)
    assert asked(data, promise, ("flu",), withheld=(0, 3, 4, 5))["flu"].confidence == Fraction(2, 3)
    assert asked(data.without(["tea"]), promise, ("flu",))["flu"] is None


def test_a_promise_without_a_search_of_its_own_is_audited_as_a_whole(monkeypatch):
    monkeypatch.delitem(SEARCHES._entries, Coherence)
    data = Transactions.from_lists([["a"], ["a"], ["b"], ["c"], ["c"]])
    found = asked(data, Coherence(k=2, p=1), ("b", "c"))
    assert (found["b"].itemset, found["b"].support, found["c"]) == (("b",), 1, None)


def test_what_takes_too_long_is_not_told():
    data = Transactions.from_lists([["a"], ["a"], ["b"]])
    late = Limits(time_limit=1e-9)
    assert why_not_back(data, Coherence(k=2, p=1), ["b"], suppressed=("b",), limits=late) == {}
