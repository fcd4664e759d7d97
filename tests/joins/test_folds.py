"""Folds of target rows, and partners that rows of several folds share."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset.joins import JoinClassifier, LinkedTables, evaluate
from veilset.joins.folds import Folds, Partners, dealt, folds_by_row, shared_partners, told_by_key
from veilset.limits import Limits

JOINS = ["orders.customer = customers.id", "orders.product = products.id"]


def shop(orders=1000, customers=200):
    """Orders whose class is a random one of their customer: nothing tells it for other customers."""
    random = np.random.default_rng(0)
    label = random.choice(["left", "stayed"], customers)
    customer = random.integers(0, customers, orders)
    return {
        "orders": pa.table({"customer": customer, "product": random.integers(0, 6, orders), "status": label[customer]}),
        "customers": pa.table({"id": np.arange(customers), "age": random.normal(size=customers)}),
        "products": pa.table({"id": np.arange(6), "price": random.normal(size=6)}),
    }


def evaluated(tables, **options):
    classifier = JoinClassifier().fit(tables, joins=JOINS, target="orders.status")
    return evaluate(classifier, tables, **options)


def test_customers_that_are_recognized_are_told_apart_from_new_ones():
    found = evaluated(shop())
    assert (found.sharing.table, found.sharing.on) == ("customers", "orders.customer = customers.id")
    assert found.sharing.share > 0.95
    assert found.by_row.tree.target_rows > 0.9
    assert found.by_row.better
    assert found.sharing.unseen.tree.target_rows < 0.6
    assert not found.sharing.unseen.better
    assert found.headline == found.sharing.unseen
    assert (found.cross_validated, found.baseline) == (found.headline.tree, found.headline.baseline)


def test_groups_that_are_given_decide():
    found = evaluated(shop(), groups="orders.customer")
    assert found.sharing is None
    assert found.headline == found.by_row
    assert found.by_row.tree.target_rows < 0.6


def test_partners_of_one_row_each_are_not_shared():
    tables = shop(200)
    tables["orders"] = tables["orders"].set_column(0, "customer", pa.array(np.arange(200)))
    joins = JOINS[:1]
    classifier = JoinClassifier().fit(
        {name: tables[name] for name in ("orders", "customers")}, joins=joins, target="orders.status"
    )
    assert evaluate(classifier, tables).sharing is None


def test_too_few_keys_to_try_new_ones():
    """Orders of the only customer cannot be tried without it."""
    tables = shop(50)
    tables["orders"] = tables["orders"].set_column(0, "customer", pa.array(np.zeros(50, np.int64)))
    tables = {name: tables[name] for name in ("orders", "customers")}
    classifier = JoinClassifier().fit(tables, joins=JOINS[:1], target="orders.status")
    found = evaluate(classifier, tables)
    assert (found.sharing.keys, found.sharing.unseen) == (1, None)
    assert found.headline == found.by_row


def test_without_time_for_both_new_partners_come_first(monkeypatch):
    left = [100.0]
    monkeypatch.setattr(Limits, "seconds_left", lambda self: min(left))
    tables = shop(200, 40)
    classifier = JoinClassifier().fit(tables, joins=JOINS, target="orders.status")
    limits = Limits(progress=lambda what, done, total: left.append(40.0) if what.endswith("by customers") else None)
    found = evaluate(classifier, tables, limits=limits)
    assert found.by_row is None
    assert found.headline == found.sharing.unseen


def keyed(keys):
    """Orders with these keys of customers, -1 for one without a partner."""
    tables = {"o": pa.table({"k": pa.array(keys)}), "c": pa.table({"k": pa.array(range(10))})}
    return LinkedTables.read(tables, ["o.k = c.k"], (), Limits())


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30))
@examples(200)
def test_shares_by_hand(rows):
    keys, fold_of, classes = map(np.array, zip(*rows, strict=True))
    found = shared_partners(keyed(keys), "o", Folds(fold_of, np.arange(len(rows))), classes)
    shared = [any(key == k and fold != f for k, f, _ in rows) for key, fold, _ in rows if key >= 0]
    assert (0.0 if found is None else found.share) == pytest.approx(
        sum(shared) / len(rows) if sum(shared) >= 0.1 * len(rows) else 0.0
    )
    right = 0
    for place, (key, _, label) in enumerate(rows):
        others = [c for at, (k, _, c) in enumerate(rows) if k == key and at != place]
        right += key >= 0 and others.count(label) > 0 and others.count(label) >= others.count(1 - label)
    assert told_by_key(keys, classes) == pytest.approx(right / len(rows))


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=40).filter(lambda keys: max(keys) >= 0), st.integers(2, 5))
@examples(100)
def test_a_key_is_in_one_fold(keys, folds):
    partners = Partners("c", "o.k = c.k", np.array(keys), 1.0)
    found = partners.folds(folds, 0)
    number = len({key for key in keys if key >= 0})
    assert partners.count == number
    assert len(set(found.fold_of[np.array(keys) >= 0])) == found.count == min(folds, number)
    for key in set(keys) - {-1}:
        assert len(set(found.fold_of[np.array(keys) == key])) == 1
    assert len(set(found.groups)) == number + keys.count(-1)


@given(st.integers(1, 50), st.integers(1, 9), st.integers(0, 3))
@examples(50)
def test_folds_are_of_like_size(rows, folds, seed):
    sizes = np.bincount(dealt(np.arange(rows), folds, seed).fold_of)
    assert sizes.max() - sizes.min() <= 1


def test_rows_are_their_own_groups():
    assert folds_by_row(keyed([1, 1, 2]), "o", 3, None, 0).groups.tolist() == [0, 1, 2]
    assert folds_by_row(keyed([1, 1, 2]), "o", 2, "o.k", 0).groups.tolist() == [0, 0, 1]
