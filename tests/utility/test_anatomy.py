"""What an anatomy costs: hand-computed values on Table I(D) of the paper, brute force, limits."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from tests.support.anatomies import permuted
from tests.support.counting import anatomized, by_definition
from veilset import Anatomy, Coherence, LDiverseAnatomy, Transactions
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.release import Partition, Release
from veilset.testing import check_metrics
from veilset.testing.checks import as_sets
from veilset.testing.strategies import transactions
from veilset.utility import Account, metrics_of
from veilset.utility.anatomy_metrics import (
    ANATOMY_METRICS,
    ln_possible_records,
    ln_records_by_bucket,
    rules_found,
    support_errors,
)

pytestmark = pytest.mark.no_sanitizer(reason="kernels see nothing that other tests do not show them")

# Table I: (A) is the original, one letter an item; (D) has these columns and five transactions a bucket.
TABLE_A = ("abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg")
COLUMNS = ("defh", "abcg")
# (D) with the values of the first column one place further down inside each bucket.
PERMUTED = ("dabcg", "defhab", "dehabc", "fhab", "fhabc", "dabc", "eag", "efb", "fh", "fhg")


def table_d() -> Release:
    original = Transactions.from_lists(map(list, TABLE_A))
    data = Transactions.from_lists(map(list, PERMUTED)).anatomized(Anatomy.of(COLUMNS, [0] * 5 + [1] * 5))
    cut = Partition(np.arange(10), wished=3, medoids=(), merges=(), left_over=0, joined=0)
    return Release(original, data, LDiverseAnatomy(2), "by hand", {}, (), partition=cut)


def released(original: Transactions, data: Transactions) -> Release:
    return Release(original, data, LDiverseAnatomy(1), "by hand", {}, ())


def test_the_shape_of_table_d():
    found = {metric.name: metric.of(Account(table_d())) for metric in ANATOMY_METRICS[:4]}
    assert found == {"columns_requested": 3, "columns_reached": 2, "buckets": 2, "mean_bucket_size": 5}


def test_possible_records_of_table_d():
    """Bucket 1: defh, deh, fh and d with abcg, ab and abc. Bucket 2: e, ef, fh and d with abc, ag, b, g and nothing."""
    assert ln_records_by_bucket(table_d().custodian_data).tolist() == pytest.approx([log(4 * 3), log(4 * 5)])
    assert ln_possible_records(table_d()) == pytest.approx(log(4 * 3 + 4 * 5))


def test_supports_of_table_d():
    """Of the pairs that six transactions hold, ab and fh lie in a column, and af, bf, bh reach over two.

    Expected af: 3/5 of 5 in bucket 1, where all hold a, and 5 * 3/5 * 2/5 in bucket 2: 4.2, and 4 in the original.
    """
    data = table_d().custodian_data
    asked = [["a", "b"], ["f", "h"], ["a", "f"], ["b", "h"]]
    assert vs.mining.expected_supports(data, asked).tolist() == pytest.approx([6, 5, 4.2, 4.8])
    assert vs.mining.supports(data, asked).tolist() == [6, 5, 3, 4]
    assert vs.mining.supports(table_d().original, asked).tolist() == [6, 5, 4, 5]


def test_errors_of_table_d():
    """Nuggets with a support of 5 and at most 2 items: a, b, f, h, ab, fh and bh; only bh is wrong.

    Expected bh: 4 in bucket 1, where all hold b, and 5 * 2/5 * 2/5 in bucket 2: 4.8 for 5. In the rows: 4.
    """
    nuggets = vs.mining.frequent(table_d().original, 5, max_size=2)
    assert sorted("".join(names) for names, _ in nuggets) == ["a", "ab", "b", "bh", "f", "fh", "h"]
    found = support_errors(table_d(), nugget_support=5, size=2)
    assert found["expected_support_error"] == pytest.approx(0.2 / 5 / 7)
    assert found["counted_support_error"] == pytest.approx(1 / 5 / 7)


def test_rules_of_table_d():
    """With a support of 5 and a confidence of 3/4: a → b (6/7), b → a (6/7), f → h (5/6), h → f (5/6), h → b (5/6).

    In the release, h → b has 4.8 by expectation and 4 in the rows: not frequent.
    """
    found = rules_found(table_d(), nugget_support=5, size=2).at(Fraction(3, 4))
    assert found == {"rules_before": 5, "rules_after": 4, "accuracy_ratio": 0.8, "expected_accuracy_ratio": 0.8}
    # With a support of 4: h → b, expected in 4.8 of 6, and 4 in the rows; e → a, expected in 2.8, and 3 in the rows.
    before = vs.mining.rules(table_d().original, 4, "3/4", max_size=2)
    named = sorted("".join(rule.antecedent) + rule.consequent for rule in before)
    assert named == ["ab", "ba", "ca", "cb", "ea", "fh", "hb", "hf"]
    found = rules_found(table_d(), nugget_support=4, size=2).at(Fraction(3, 4))
    assert (found["accuracy_ratio"], found["expected_accuracy_ratio"]) == (6 / 8, 7 / 8)


def test_measure_has_what_is_true_of_permuted_rows():
    release = table_d()
    found = vs.measure(release.original, release, nugget_support=4, nugget_size=2)
    assert set(found) == {metric.name for metric in metrics_of(release.promise)}
    left_out = {"nuggets_lost", "nuggets_lost_after_preprocessing", "transactions_emptied"}
    assert left_out.isdisjoint(found)
    gone = ("items_lost", "public_lost", "average_loss", "items_lost_after_preprocessing", "items_lost_unavoidably")
    assert [found[name] for name in (*gone, "kinds_lost", "items_recoded", "transactions_withheld")] == [0.0] * 8
    assert found["length_before"] == found["length_after"] == 4.1
    assert (found["longest_before"], found["longest_after"]) == (8, 6)
    errors = support_errors(release, nugget_support=4, size=2)
    assert found["expected_support_error"] == errors["expected_support_error"]
    assert found["accuracy_ratio"] == rules_found(release, nugget_support=4).at(Fraction(1, 2))["accuracy_ratio"]


@st.composite
def any_release(draw):
    original = draw(transactions())
    anatomy = draw(anatomized(original)).anatomy
    rows = map(sorted, permuted(draw, original, anatomy))
    data = Transactions.from_lists(rows, sensitive=original.sensitive).anatomized(anatomy)
    return released(original, data)


@given(any_release())
def test_possible_records_equal_brute_force(release):
    rows, anatomy = as_sets(release.custodian_data), release.custodian_data.anatomy
    count = 0
    for first, last in pairwise(anatomy.starts.tolist()):
        records = {frozenset()}
        for column in anatomy.columns:
            records = {record | row.intersection(column) for record in records for row in rows[first:last]}
        count += len(records)
    assert exp(ln_possible_records(release)) == pytest.approx(count)


@given(any_release(), st.integers(1, 4), st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
def test_rules_and_errors_equal_brute_force(release, least, confidence):
    before, after = as_sets(release.original), as_sets(release.custodian_data)
    count = lambda rows, items: sum(set(items) <= row for row in rows)  # noqa: E731
    expected = lambda items: by_definition(release.custodian_data, items)  # noqa: E731
    nuggets = [
        items
        for size in (1, 2, 3)
        for items in combinations(release.original.names, size)
        if count(before, items) >= least
    ]
    rules = [(items, y) for items in nuggets for y in items if len(items) > 1]

    def is_rule(support, items, y):
        left = support([item for item in items if item != y])
        return left > 0 and support(items) >= least and Fraction(support(items)) >= confidence * left

    true = [rule for rule in rules if is_rule(lambda items: count(before, items), *rule)]
    kept = [rule for rule in true if is_rule(lambda items: count(after, items), *rule)]
    likely = [rule for rule in true if is_rule(expected, *rule)]
    found = rules_found(release, nugget_support=least, confidence=confidence).at(confidence)
    # all at once, and then those that are sure enough
    assert found == rules_found(release, nugget_support=least, confidence=Fraction(1, 3)).at(confidence)
    assert found["rules_before"] == len(true)
    assert found["accuracy_ratio"] == pytest.approx(len(kept) / len(true) if true else 1)
    assert found["expected_accuracy_ratio"] == pytest.approx(len(likely) / len(true) if true else 1)
    errors = support_errors(release, nugget_support=least)
    off = [abs(expected(items) - count(before, items)) / count(before, items) for items in nuggets]
    assert errors["expected_support_error"] == pytest.approx(float(sum(off) / max(1, len(off))), abs=1e-12)
    off = [Fraction(abs(count(after, items) - count(before, items)), count(before, items)) for items in nuggets]
    assert errors["counted_support_error"] == pytest.approx(float(sum(off) / max(1, len(off))), abs=1e-12)


@given(any_release())
def test_the_battery_of_metrics(release):
    check_metrics(metrics_of(release.promise), [release])


def test_a_tie_is_not_lost_to_rounding():
    """Ten buckets of ten rows: a and b are expected in 10 * 10 * 3/10 * 9/10 = 27 of them, in floats a little less."""
    rows = [["a"] * (at < 3) + ["b"] * (at >= 1) for at in range(10)] * 10
    cut = Anatomy.of([["a"], ["b"]], np.repeat(np.arange(10), 10))
    data = Transactions.from_lists(rows).anatomized(cut)
    assert vs.mining.expected_supports(data, [["a", "b"]])[0] < 27
    original = Transactions.from_lists([["a", "b"]] * 27 + [["a"]] * 3 + [["b"]] * 63 + [[]] * 7)
    found = rules_found(released(original, data), nugget_support=27).at(Fraction(9, 10))
    assert (found["rules_before"], found["accuracy_ratio"], found["expected_accuracy_ratio"]) == (1, 0, 1)


def test_many_columns_do_not_overflow():
    """Two values in each of 2,000 columns: 2 to the power of 2,000 records."""
    rows = [[str(item) for item in range(4000) if item % 2 == row] for row in range(2)]
    columns = [[str(item), str(item + 1)] for item in range(0, 4000, 2)]
    data = Transactions.from_lists(rows).anatomized(Anatomy.of(columns, [0, 0]))
    assert ln_possible_records(released(data, data)) == pytest.approx(2000 * log(2))


@pytest.mark.parametrize("rows", [[], [[]], [["a"]]], ids=["none", "empty", "one"])
def test_corners(rows):
    data = Transactions.from_lists(rows)
    found = Account(released(data, data)).values
    assert set(found) == {metric.name for metric in metrics_of(LDiverseAnatomy(1))}
    assert found["buckets"] == len(rows)
    assert (found["ln_possible_records"], found["accuracy_ratio"], found["expected_support_error"]) == (0, 1, 0)


def test_what_takes_too_long_is_left_out():
    release = table_d()
    late = Limits(time_limit=1e-9)
    for counted in (ln_possible_records, rules_found, support_errors):
        with pytest.raises(BudgetExceeded):
            counted(release, limits=late)
    found = vs.measure(release.original, release, time_limit=1e-9)
    names = [metric.name for metric in ANATOMY_METRICS]
    assert [name for name in names if name in found] == names[:4]


def test_other_promises_have_no_columns():
    release = replace(table_d(), promise=Coherence(k=1, p=1))
    assert not set(metrics_of(release.promise)).intersection(ANATOMY_METRICS)
    assert "columns_reached" not in vs.measure(release.original, release)
