"""What a policy does about an edge, and what it says."""

import json

import numpy as np
import pytest

from tests.support.errors import refused
from veilset.errors import Infeasible, InvalidArgument
from veilset.joins.parties.leakage import leakage_of
from veilset.joins.parties.policies import POLICIES, decide, floor_of, policy_of


def leakage(*rows, classes=None, floor=5):
    """Join values that so many rows have."""
    keys = np.repeat(np.arange(len(rows)), rows).astype(np.int32)
    return leakage_of(keys, len(rows), None if classes is None else np.array(classes, np.int32), floor=floor)


UNIQUE, NEARLY, MIXED, LARGE = leakage(1, 1, 1), leakage(*[1] * 9, 2), leakage(1, 5, 7), leakage(5, 9)
EDGE = {"to": "bank", "on": "visits.patient = accounts.owner"}


@pytest.mark.parametrize(
    ("told", "default", "refuse", "suppress"),
    [
        (UNIQUE, "refuse", True, True),
        (NEARLY, "refuse", True, True),
        (MIXED, "report", True, False),
        (LARGE, "report", False, False),
        (leakage(), "report", False, False),
    ],
)
def test_what_is_refused(told, default, refuse, suppress):
    """Suppressing refuses where nothing is left."""
    chosen = decide(told, None, **EDGE)
    assert (chosen.policy, chosen.default, chosen.refused) == (default, True, default == "refuse")
    assert decide(told, "report", **EDGE).refused is False
    assert decide(told, "refuse", **EDGE).refused is refuse
    assert decide(told, "suppress", **EDGE).refused is suppress


def test_pure_groups_that_are_small_are_refused_and_large_ones_reported():
    """Rows without a class take no part: of seven rows with the join value, three have one, and the same."""
    small = leakage(7, classes=[0, 0, 0, -1, -1, -1, -1])
    assert (small.few_pure.rows, decide(small, "refuse", **EDGE).refused) == (3, True)
    large = leakage(7, classes=[0] * 7)
    assert (large.pure.rows, decide(large, "refuse", **EDGE).refused) == (7, False)
    assert any("the class of 7 rows" in sentence for sentence in decide(large, "refuse", **EDGE).told)


@pytest.mark.parametrize("policy", [None, *POLICIES])
def test_sentences(policy, snapshot):
    for told in (UNIQUE, MIXED, LARGE):
        decision = decide(told, policy, **EDGE)
        assert (decision.reason, decision.advice) == snapshot


def test_check_raises_what_was_decided():
    decide(MIXED, "report", **EDGE).check()
    with refused(Infeasible, "bank", EDGE["on"], 1, 3, 5):
        decide(MIXED, "refuse", **EDGE).check()


def test_plain_values():
    decision = decide(MIXED, None, **EDGE)
    assert json.loads(json.dumps(decision.to_dict()))["told"] == list(decision.told)


def test_policies_and_floors_by_name():
    assert [policy_of(given) for given in (None, *POLICIES)] == [None, *POLICIES]
    with refused(InvalidArgument, "'supress'", "'suppress'"):
        policy_of("supress")
    assert floor_of(2) == 2
    for wrong in (1, 2.5, "5", True, None):
        with refused(InvalidArgument, repr(wrong)):
            floor_of(wrong)
