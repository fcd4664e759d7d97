"""Options of the hiding methods: what is stored, what is drawn, and what cannot be meant."""

from fractions import Fraction
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.hiding_questions import METHODS, questions, rule_questions, run
from tests.support.memory import leaving
from veilset.anonymize import find_method
from veilset.testing import check_anonymizer
from veilset.transactions import Transactions

ROWS = [["ale", "bun", "fig"]] * 5 + [["ale", "bun"]] * 3 + [["fig", "rum"]] * 2
SHOP = Transactions.from_lists(ROWS)
FEWER = examples(66)
PROMISE = vs.HiddenPatterns([["ale", "bun"]], min_support=3)


def hide(method: str = "hpcme", **options) -> vs.Release:
    return run(SHOP, PROMISE, method, **options)


def test_what_the_methods_store():
    common = {"certify": True, "random_state": 4}
    assert hide("hpcme", random_state=4).options == {**common, "p_r": "7/20"}
    assert hide("non-hidden-first", random_state=4).options == common
    assert hide("hidden-first", random_state=4).options == {**common, "spare_shared_pairs": False}


@pytest.mark.parametrize("method", METHODS)
def test_a_secret_that_is_not_given_is_drawn_and_stored(method):
    drawn = [hide(method).options["random_state"] for _ in range(3)]
    assert len(set(drawn)) == 3
    assert all(isinstance(seed, int) and 0 <= seed < 2**64 for seed in drawn)


def test_the_default_method_is_hpcme():
    rules = vs.HiddenRules([("ale", "bun")], min_support=3, min_confidence="1/2")
    for promise in (PROMISE, rules):
        assert find_method(promise, None) is find_method(promise, "hpcme")


NO_SEEDS = [-1, 2**64, 0.5, True, "7", [1]]
NO_SHARES = [-0.1, 1.5, "many", True, float("nan"), None]


@pytest.mark.parametrize(
    ("method", "option", "wrong"),
    [
        *product(METHODS, ["random_state"], NO_SEEDS),
        *product(METHODS, ["margin"], [wrong for wrong in NO_SHARES if wrong is not None]),
        *product(["hpcme"], ["p_r"], NO_SHARES),
    ],
)
def test_bad_seeds_and_shares(method, option, wrong):
    with refused(vs.InvalidArgument, option):
        hide(method, **{option: wrong})


@pytest.mark.parametrize("nothing", [0, 0.0, "0", " 0.0", "0%", Fraction(0)])
def test_nothing_is_a_share_however_it_is_written(nothing):
    options = hide(p_r=nothing, margin=nothing).options
    assert (options["p_r"], options["margin"]) == ("0", "0")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("keep", [[["ale", "bun"]], [["fig"], ["bun", "fig", "ale"]]])
def test_a_pattern_to_keep_must_not_contain_a_hidden_one(method, keep):
    with refused(vs.InvalidArgument, "ale"):
        hide(method, keep_patterns=keep)


@pytest.mark.parametrize("method", METHODS)
def test_items_of_patterns_to_keep_must_be_in_the_data(method):
    with refused(vs.InvalidArgument, "'figg'", "'fig'"):
        hide(method, keep_patterns=[["figg", "rum"]])


@pytest.mark.parametrize("method", METHODS)
def test_items_of_hidden_patterns_must_be_in_the_data(method):
    with refused(vs.InvalidArgument, "'allee'", "'ale'"):
        vs.anonymize(SHOP, vs.HiddenPatterns([["allee", "bun"]], min_support=2), method=method)
    rules = vs.HiddenRules([("bun", "allee")], min_support=2, min_confidence=0.5)
    with refused(vs.InvalidArgument, "'allee'", "'ale'"):
        vs.anonymize(SHOP, rules, method=method)


@pytest.mark.parametrize("keep", ["fig", ["fig"], [["fig"], []], [[3]], 7])
def test_patterns_to_keep_are_lists_of_items(keep):
    with pytest.raises(vs.InvalidArgument):
        hide(keep_patterns=keep)


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("hidden-first", "p_r"),
        ("non-hidden-first", "p_r"),
        ("hpcme", "spare_shared_pairs"),
        ("non-hidden-first", "spare_shared_pairs"),
    ],
)
def test_options_of_other_methods_are_refused(method, option):
    with refused(vs.InvalidArgument, f"'{method}'", option):
        vs.anonymize(SHOP, PROMISE, method=method, **{option: 0})


@pytest.mark.parametrize("method", METHODS)
def test_no_patterns_to_keep_is_not_the_same_as_none_given(method):
    release = hide(method, keep_patterns=[], random_state=3)
    assert release.sanitization.keep_patterns == ()
    assert "keep_patterns" in release.options
    assert hide(method, random_state=3).sanitization.keep_patterns != ()


@pytest.mark.parametrize("method", METHODS)
def test_a_plain_release_that_leaves_a_pattern_is_not_certified(method):
    data = Transactions.from_lists([["a", "b"]] * 4)
    release = vs.anonymize(data, vs.HiddenPatterns([["a"]], min_support=2), method=method, certify=False)
    assert not release.certified
    assert vs.anonymize(data, vs.HiddenPatterns([["a"]], min_support=2), method=method).certified


@FEWER
@pytest.mark.parametrize("method", METHODS)
@given(questions(), st.integers(0, 2**64 - 1))
def test_the_battery_on_patterns(method, question, seed):
    """Audited, accounted for, kept by brute force, nothing new, nothing that could return."""
    check_anonymizer(partial(run, method=method, random_state=seed), question.data, question.promise, maximal=True)


@FEWER
@pytest.mark.parametrize("method", METHODS)
@given(rule_questions(), st.integers(0, 2**64 - 1))
def test_the_battery_on_rules(method, question, seed):
    check_anonymizer(partial(run, method=method, random_state=seed), *question, maximal=True)


def many_to_keep(pairs: int) -> tuple[Transactions, vs.HiddenPatterns]:
    """All that is frequent is in one itemset with so many hidden pairs: what may be kept has one item of each."""
    items = [f"i{number:02}" for number in range(2 * pairs)]
    hidden = [items[at : at + 2] for at in range(0, len(items), 2)]
    return Transactions.from_lists([items] * 4), vs.HiddenPatterns(hidden, min_support=2)


def test_as_many_patterns_to_keep_as_there_are():
    assert len(run(*many_to_keep(8), "hpcme").sanitization.keep_patterns) == 2**8


def test_limits_stop_the_search_for_patterns_to_keep():
    with refused(vs.BudgetExceeded, "time limit", "keep_patterns"):
        vs.anonymize(*many_to_keep(13), time_limit=0.2)
    with refused(vs.BudgetExceeded, 40, "10,000"):
        vs.anonymize(*many_to_keep(40))


@pytest.mark.parametrize("method", METHODS)
def test_roles_and_names_stay(method):
    data = Transactions.from_lists(ROWS, sensitive=["bun"])
    release = run(data, PROMISE, method, random_state=1)
    assert release.custodian_data.sensitive == ("bun",)
    assert release.custodian_data.names == data.names


def test_an_item_that_is_named_twice_is_a_slip():
    with refused(vs.InvalidArgument, "Pattern 2", "'bun'"):
        vs.HiddenPatterns([["ale"], ["bun", "bun"]], 2)
    with refused(vs.InvalidArgument, "Rule 1", "'ale'"):
        vs.HiddenRules([(["ale", "ale"], "bun")], 2, 0.5)


def test_what_is_plain_says_that_it_may_point_at_patterns():
    data = Transactions.from_lists(ROWS)
    assert "may be conspicuous" in vs.anonymize(data, PROMISE, certify=False).notes[0]
    assert vs.anonymize(data, PROMISE).notes == ()


@pytest.mark.parametrize("option", ["p_r", "margin"])
def test_nothing_is_a_probability_and_more_than_all_is_none(option):
    data = Transactions.from_lists(ROWS)
    for nothing in (0, 0.0, "0", "0.0", "0%", "0/1"):
        assert vs.anonymize(data, PROMISE, **{option: nothing}).options[option] == "0"
    with refused(vs.InvalidArgument, option, 2):
        vs.anonymize(data, PROMISE, **{option: 2})


def test_the_matrix_heeds_limits():
    """One transaction of many items is one pattern to keep, with all their pairs in the matrix."""
    data = Transactions.from_lists([range(6000)])
    with refused(vs.BudgetExceeded, "memory limit", "keep_patterns"):
        vs.anonymize(data, vs.HiddenPatterns([["1", "2"]], 1), memory_limit=leaving(100_000_000))


def test_a_release_without_an_item_of_a_pattern_can_be_audited():
    data = Transactions.from_lists([["ale", "bun"]] * 3 + [["bun"]])
    promise = vs.HiddenPatterns([["ale"]], min_support=1)
    release = vs.anonymize(data, promise)
    assert release.suppressed == ("ale",)
    assert vs.audit(release.custodian_data, promise).holds


def test_rules_that_were_mined_can_be_hidden_as_they_are():
    data = Transactions.from_lists(ROWS)
    found = list(vs.mining.rules(data, 2, "1/2"))
    assert found
    promise = vs.HiddenRules(found, 2, "1/2")
    assert promise.rules[0] == (found[0].antecedent, (found[0].consequent,))
    assert vs.anonymize(data, promise).certified
