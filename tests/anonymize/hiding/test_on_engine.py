"""Hiding on an engine, in this process: the rows and the account of the methods in memory."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.hiding_questions import METHODS, questions, rule_questions
from veilset import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.anonymize.hiding import certified
from veilset.engines import Local
from veilset.transactions import Transactions

SEEDS = st.integers(0, 2**64 - 1)
HOW = st.fixed_dictionaries(
    {"certify": st.booleans(), "margin": st.sampled_from([None, 0, "1/4"]), "random_state": SEEDS}
)


def rows(data):
    return sorted(map(tuple, data))


def account(release):
    """All that is told of a release but its rows; patterns to keep that were searched for come in another order."""
    done = release.sanitization
    told = done.p_r, done.levels, done.by_matrix, done.by_victims, done.put_back
    attempts = [(one.name, one.loss, one.note, one.state) for one in release.attempts]
    return release.suppressed, release.loss, release.notes, release.options, told, sorted(done.keep_patterns), attempts


def same(data, promise, method, pieces=3, **options):
    """Hides here and on an engine, and compares; gives the release on the engine."""
    here = vs.anonymize(data, promise, method=method, **options)
    there = vs.anonymize(Local(pieces=pieces).read(data), promise, method=method, **options)
    assert rows(there.custodian_data.to_transactions()) == rows(here.custodian_data)
    assert there.custodian_data.vocabulary.names == here.custodian_data.names
    assert account(there) == account(here)
    assert (there.sanitization.matrix != here.matrix).nnz == 0
    assert there.audit == here.audit
    assert there.certified == here.certified
    return there


@examples(100)
@given(questions(), st.sampled_from(METHODS), HOW, st.booleans(), st.integers(1, 4))
def test_patterns_are_hidden_as_in_memory(question, method, how, given_keep, pieces):
    keep = question.keep if given_keep else None
    same(question.data, question.promise, method, pieces, keep_patterns=keep, **how)


@examples(100)
@given(rule_questions(), st.sampled_from(METHODS), HOW, st.integers(1, 4))
def test_rules_are_hidden_as_in_memory(question, method, how, pieces):
    same(*question, method, pieces, **how)


@given(questions(), st.sampled_from(METHODS), HOW, st.randoms(use_true_random=False))
def test_the_order_of_transactions_changes_nothing_but_their_order(question, method, how, draw):
    listed = question.data.to_lists()
    draw.shuffle(listed)
    both = [
        vs.anonymize(data, question.promise, method=method, **how)
        for data in (question.data, Transactions.from_lists(listed))
    ]
    assert rows(both[0].custodian_data) == rows(both[1].custodian_data)
    assert account(both[0]) == account(both[1])


def shop():
    return vs.generate.pos_like(
        transactions=3000, average_length=6, maximum_length=30, items=300, random_state=1, threads=1
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_shop(method):
    """Levels are drawn again there, as pairs stand out."""
    data = shop()
    pairs = sorted(pair for pair, _ in vs.mining.pairs(data, min_support=40))
    promise = vs.HiddenPatterns(random.Random(4).sample(pairs, 10), min_support=40)
    release = same(data, promise, method, random_state=5)
    assert release.certified
    assert 0 < release.loss < 0.1


def test_what_it_says_of_itself():
    data = Transactions.from_lists([["ale", "bun"]] * 5 + [["ale"]])
    release = vs.anonymize(Local(pieces=2).read(data), vs.HiddenPatterns([["ale", "bun"]], 3), margin=0, random_state=1)
    assert "8 occurrences of 11" in str(release)
    assert release.removed.sum() == 3
    plain = vs.anonymize(Local(pieces=2).read(data), vs.HiddenPatterns([["ale", "bun"]], 3), certify=False)
    assert plain.notes
    assert plain.certified, "The matrix breaks up the only pair."


def test_a_source_that_changes_is_refused(monkeypatch):
    """What is decided for rows cannot be done to others."""
    data, other = (Transactions.from_lists([["a", "b"]] * count) for count in (5, 6))
    held, kinds = Local().read(data), certified.different
    monkeypatch.setattr(certified, "different", lambda _, mark, limits: kinds(held, mark, limits))
    with refused(UnreadableInput, "has changed"):
        vs.anonymize(Local().read(other), vs.HiddenPatterns([["a", "b"]], 3))


def test_kinds_keep_to_the_memory_of_the_driver():
    held = Local(pieces=2).read(shop())
    with refused(BudgetExceeded, "memory limit"):
        vs.anonymize(held, vs.HiddenPatterns([[held.vocabulary.names[0]]], 3), memory_limit="1MB")


def test_a_time_limit_stops_it():
    held = Local().read(Transactions.from_lists([["a", "b"]]))
    with refused(BudgetExceeded, "time limit"):
        vs.anonymize(held, vs.HiddenPatterns([["a", "b"]], 1), time_limit=1e-9)


def test_what_memory_refuses_is_refused():
    held = Local().read(Transactions.from_lists([["a", "b"]]))
    with refused(InvalidArgument, "must be kept"):
        vs.anonymize(held, vs.HiddenPatterns([["a"]], 1), keep_patterns=[["a", "b"]])
