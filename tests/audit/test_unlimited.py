"""Any number of known items: distinct rows decide, and moles are counted as far as a number of steps goes.

A limited number: the same, where counting itemsets takes too many steps.
"""

import dataclasses
import random
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.auditing import kernel
from tests.support.effort import examples
from tests.support.explosive import endless_rules, explosive, lacking, no_small_cover
from tests.support.memory import leaving
from veilset import Coherence, Transactions, audit
from veilset.audit import coherence
from veilset.models import Margin
from veilset.testing import check_audit, oracles, strategies
from veilset.testing.checks import as_sets

LONG = [f"i{number:03}" for number in range(200)]
KNOWN = LONG[::20]  # ten of them


@st.composite
def grouped(draw):
    """Promises for any number of known items, some with a group of sensitive items, and data for them."""
    data = draw(strategies.transactions(max_rows=9))
    promise = draw(strategies.coherence_promises())
    groups = [data.sensitive[:2]] if len(data.sensitive) > 1 and draw(st.booleans()) else []
    return data, Coherence(h=promise.h, k=promise.k, p=None, sensitive_groups=groups)


@examples(600)
@given(grouped())
def test_equals_the_oracle(asked):
    data, promise = asked
    seen = promise.as_seen_by_attacker(data)
    alone = Coherence(h=promise.h, k=promise.k, p=None)
    check_audit(seen, alone, dataclasses.replace(audit(data, promise, witnesses=1000), promise=alone))


@examples(600)
@given(grouped(), st.integers(0, 150))
def test_with_few_steps_it_tells_some_minimal_moles(asked, steps):
    """The verdict and the margins are the same; what is told is true, and said to be incomplete if it is."""
    data, promise = asked
    rows, names = as_sets(promise.as_seen_by_attacker(data)), promise.as_seen_by_attacker(data).sensitive
    expected = oracles.minimal_moles(rows, names, promise.share, promise.k, None)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(coherence, "_WORK", steps)
        answer = audit(data, promise, witnesses=1000)
    whole = audit(data, promise, witnesses=1000)
    assert (answer.holds, answer.feasible) == (whole.holds, whole.feasible)
    if answer.holds:
        assert answer.margins == whole.margins
    if not answer.feasible:
        return
    told = {frozenset(witness.itemset) for witness in answer.witnesses}
    assert len(told) == answer.found == sum(answer.found_by_size)
    assert bool(told) == bool(expected)
    assert told <= expected
    assert told == expected or not answer.complete


@examples(600)
@given(grouped(), st.integers(1, 5), st.integers(0, 100))
def test_with_few_steps_a_limited_p_is_decided_by_whole_rows_or_by_counting_on(asked, p, steps):
    """Margins that are said to be extreme are; the others are met by some itemset of up to p items."""
    data, promise = asked
    assume(data.without(set(data.sensitive)).lengths.max(initial=0) > p)  # else it is no limit
    promise = Coherence(h=promise.h, k=promise.k, p=p, sensitive_groups=promise.sensitive_groups)
    whole = audit(data, promise, witnesses=1000)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(coherence, "_WORK", steps)
        answer = audit(data, promise, witnesses=1000)
    margins = answer.margins
    assert dataclasses.replace(answer, margins=whole.margins, checked=whole.checked) == whole
    if not answer.holds:
        return
    seen = promise.as_seen_by_attacker(data)
    rows, names = as_sets(seen), {*seen.sensitive}
    assert margins.keys() == whole.margins.keys()
    for name, margin in margins.items():
        known = [row for row in rows if {*margin.itemset} <= row]
        with_any = sum(not names.isdisjoint(row) for row in known)
        with_one = max((sum(s in row for row in known) for s in names), default=0)
        met = {
            "smallest_support": len(known),
            "largest_breach": Fraction(with_one, len(known)),
            "largest_any_breach": Fraction(with_any, len(known)),
        }
        assert margin.value == met[name]
        assert len(margin.itemset) <= p
        assert not margin.is_extreme or margin.value == whole.margins[name].value


@given(
    strategies.transactions(max_rows=15),
    strategies.shares(),
    st.integers(1, 4),
    st.integers(0, 120),
    st.integers(1, 900),
    st.none() | st.integers(2, 5),
)
def test_few_steps_give_the_same_answer_in_any_batches_and_threads(data, h, k, steps, batch_limit, p):
    promise = Coherence(h=h, k=k, p=p)
    answer = kernel(data, promise, work_limit=steps)
    assert kernel(data, promise, work_limit=steps, batch_limit=batch_limit, threads=3) == answer


def planted_identity() -> tuple[Transactions, Coherence]:
    """One person has all items. Three people lack one of the ten known items, for each of these."""
    rows = [LONG, *([item for item in LONG if item != gone] for gone in KNOWN * 3)]
    return Transactions.from_lists(rows), Coherence(k=3, p=None)


def planted_attribute() -> tuple[Transactions, Coherence]:
    """Three people with all items have the flu; for each of ten known items, four healthy people lack it alone."""
    rows = [[*LONG, "flu"]] * 3 + [[item for item in LONG if item != gone] for gone in KNOWN * 4]
    return Transactions.from_lists(rows, sensitive=["flu"]), Coherence(h="1/2", k=3, p=None)


@pytest.mark.parametrize("plant", [planted_identity, planted_attribute])
def test_a_violation_at_ten_of_two_hundred_items_is_found(plant):
    data, promise = plant()
    answer = audit(data, promise)
    assert [witness.itemset for witness in answer.witnesses] == [tuple(KNOWN)]
    assert answer.found_by_size == (0,) * 9 + (1,)
    assert (answer.holds, answer.found) == (False, 1)


def test_the_same_data_without_the_violation_holds():
    data, promise = planted_identity()
    answer = audit(data, Coherence(k=1, p=promise.p))
    assert answer.holds
    assert answer.margins["smallest_support"].value == 1
    assert answer.margins["smallest_support"].itemset == tuple(KNOWN), "of all parts of the row, one that tells as much"
    data, promise = planted_attribute()
    answer = audit(data, Coherence(h=Fraction(1), k=3, p=None))
    assert answer.holds
    breach = answer.margins["largest_breach"]
    assert (breach.value, breach.sensitive, breach.itemset) == (1, "flu", tuple(KNOWN))


def test_rows_that_lack_one_item_each_have_moles_of_all_others():
    """There are 2^40 itemsets, nearly all of them safe. Each row that nobody shares has a mole of 39 items."""
    answer = audit(explosive(), Coherence(k=2, p=None))
    assert not answer.holds
    assert not answer.complete
    assert (answer.found, answer.found_by_size[-1], len(answer.found_by_size)) == (20, 20, 39)
    assert "at least" in str(answer)
    assert audit(explosive(rows=80), Coherence(k=2, p=None)).holds


@pytest.mark.parametrize("p", [10, 20])
@pytest.mark.parametrize("ill", [0, 40])
def test_a_large_p_is_decided_where_every_number_of_known_items_would_be_safe(ill, p, monkeypatch):
    """Four rows each lack the same item, of forty. Counting itemsets of ten ends nowhere; the fewest are not known."""
    monkeypatch.setattr(coherence, "_WORK", 0)
    rows = [[*row, "flu"] if number < ill else row for number, row in enumerate(explosive(rows=160).to_lists())]
    data = Transactions.from_lists(rows, sensitive=["flu"] if ill else [])
    answer = audit(data, Coherence(h="1/2", k=2, p=p))
    assert (answer.holds, answer.complete) == (True, True)
    fewest = answer.margins["smallest_support"]
    assert fewest.value == sum({*fewest.itemset} <= {*row} for row in data) >= 160 - 4 * p
    assert not fewest.is_extreme
    if ill:
        assert answer.margins["largest_breach"] == Margin(Fraction(1, 4), (), "flu")
        assert answer.margins["largest_any_breach"] == Margin(Fraction(1, 4), ())


def test_a_limited_p_is_decided_where_any_number_takes_too_long(monkeypatch):
    data, promise = endless_rules(), Coherence(h="1/2", k=1, p=3)
    whole = audit(data, promise)
    assert all(margin.is_extreme for margin in whole.margins.values())
    monkeypatch.setattr(coherence, "_WORK", 0)
    answer = audit(data, promise)
    assert dataclasses.replace(answer, checked=whole.checked, margins=whole.margins) == whole
    assert not any(margin.is_extreme for margin in answer.margins.values())


def test_nearly_equal_rows_are_decided_for_a_large_p(monkeypatch):
    """There are 10^11 itemsets of up to twenty items, and nearly all are safe; each row is told apart by 39 items."""
    monkeypatch.setattr(coherence, "_WORK", 100_000_000)
    answer = audit(explosive(), Coherence(k=2, p=20))
    assert (answer.holds, answer.complete) == (True, True)
    fewest = answer.margins["smallest_support"]
    assert (fewest.value, len(fewest.itemset), fewest.is_extreme) == (60 - 2 * 20, 20, True)
    ill = [[*row, "flu"] if number < 10 else row for number, row in enumerate(explosive().to_lists())]
    sick = audit(Transactions.from_lists(ill, sensitive=["flu"]), Coherence(h="1/3", k=2, p=20))
    assert sick.holds, "a row has the flu among thirty at least, and twenty items lack it: ten with all of those"
    breach = sick.margins["largest_breach"]
    assert (breach.value, breach.is_extreme) == (Fraction(1, 3), True)
    assert not audit(Transactions.from_lists(ill, sensitive=["flu"]), Coherence(h="3/10", k=2, p=20)).holds


@pytest.mark.parametrize("known", [10, 15])
@pytest.mark.parametrize("harm", ["too few", "the flu"])
def test_what_is_planted_among_nearly_equal_rows_is_found_for_a_large_p(known, harm, monkeypatch):
    """Only who knows all of so many items tells the row with everything from the others, which lack one each."""
    monkeypatch.setattr(coherence, "_WORK", 1_000_000)
    planted = LONG[:: 200 // known][:known]
    whole = [LONG] if harm == "too few" else [[*LONG, "flu"]] * 2 + [LONG]
    rows = whole + lacking(planted, [name for name in LONG if name not in planted])
    data = Transactions.from_lists([*rows, []], sensitive=[] if harm == "too few" else ["flu"])
    promise = {"h": "1/3", "k": 3 if harm == "the flu" else 2}
    for fewer in (2, 1):
        answer = audit(data, Coherence(**promise, p=known - fewer))
        assert (answer.holds, answer.complete) == (True, True)
    for more in (0, 2):
        answer = audit(data, Coherence(**promise, p=known + more))
        assert not answer.holds
        assert [witness.itemset for witness in answer.witnesses] == [tuple(planted)]
        assert answer.witnesses[0].sensitive == (None if harm == "too few" else "flu")
        assert answer.found_by_size == (0,) * (known - 1) + (1,)


@pytest.mark.no_sanitizer(reason="the sanitizer's own memory counts too")
def test_the_search_keeps_no_itemsets():
    """Those of a level do not fit into the memory; the answer needs none of them."""
    answer = audit(explosive(), Coherence(k=2, p=20), memory_limit=leaving(20_000_000))
    assert answer.holds


def test_moles_are_counted_for_longer_than_they_are_looked_for(monkeypatch):
    """One is met while there are steps to look for some; counting all takes more, and may."""
    monkeypatch.setattr(coherence, "_WORK", 20_000)
    draw = random.Random(2)
    data = Transactions.from_lists([[i for i in range(16) if draw.random() < 0.6] for _ in range(200)])
    answer = audit(data, Coherence(k=3, p=6), witnesses=0)
    monkeypatch.undo()
    whole = audit(data, Coherence(k=3, p=6), witnesses=0)
    assert dataclasses.replace(answer, checked=whole.checked) == whole
    assert answer.complete
    assert answer.found > 10


@examples(300)
@given(grouped(), st.integers(3, 5), st.integers(0, 60), st.integers(0, 120), st.integers(1, 900))
def test_a_search_with_few_steps_tells_the_truth_in_any_batches_and_threads(asked, p, steps, batch_limit, k):
    data, promise = asked
    promise = Coherence(h=promise.h, k=1 + k % 4, p=p, sensitive_groups=promise.sensitive_groups)
    answer = kernel(data, promise, work_limit=steps)
    assert kernel(data, promise, work_limit=steps, batch_limit=batch_limit, threads=3) == answer
    seen = promise.as_seen_by_attacker(data)
    moles = oracles.minimal_moles(as_sets(seen), seen.sensitive, promise.share, promise.k, p)
    if answer["feasible"]:
        assert bool(moles) == bool(sum(answer["identity_by_size"]) + sum(answer["attribute_by_size"]))


@pytest.mark.parametrize("limit", [{"time_limit": 1.5}, {"threads": 2, "time_limit": 1.5}])
def test_what_is_known_to_be_broken_when_a_limit_strikes_is_an_answer(limit, monkeypatch):
    """One person has an item that nobody else has. To count what else breaks the promise takes too long."""
    monkeypatch.setattr(coherence, "_WORK", 1 << 50)
    rows = [*no_small_cover().to_lists(), [0, 1, "rare"]]
    answer = audit(Transactions.from_lists(rows), Coherence(k=2, p=20), **limit)
    assert (answer.holds, answer.complete) == (False, False)
    assert answer.witnesses[0].itemset == ("rare",)
    assert answer.found == sum(answer.found_by_size) >= 1


def test_rows_of_any_length_do_not_nest_calls():
    rows = [list(range(20_000)), list(range(1, 20_000))]
    answer = audit(Transactions.from_lists(rows), Coherence(k=2, p=None))
    assert [witness.itemset for witness in answer.witnesses] == [("0",)]
    assert audit(Transactions.from_lists(rows * 2), Coherence(k=2, p=None)).holds
