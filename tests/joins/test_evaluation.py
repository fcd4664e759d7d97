"""Accuracies in rows of the target table and in joined rows, against what is counted on the join itself."""

import dataclasses
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.joins import studies
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.joins import Accuracy, Heaviest, JoinClassifier, LinkedTables, evaluate
from veilset.joins.evaluation import heaviest
from veilset.limits import Limits

PEOPLE = pa.table(
    {
        "id": [*"abcdefgh", None],
        "home": ["x", "x", "y", "y", "z", "z", "z", None, "x"],
        "age": [20, 30, 40, 50, 20, 30, 40, 50, 60],
        "rich": ["no", "no", "yes", "yes", "no", "yes", "yes", "yes", None],
    }
)
VISITS = pa.table(
    {"person": [*"aabbccddeeffgg", *"c" * 30], "cost": [1, 2, 1, 3, 8, 9, 7, 8, 2, 1, 9, 8, 7, 9, *[8] * 30]}
)
TABLES = {"people": PEOPLE, "visits": VISITS}
JOINS = ["people.id = visits.person"]


def trained(tables=TABLES, **options):
    return JoinClassifier(**options).fit(tables, joins=JOINS, target="people.rich")


def test_golden():
    """Of eight people with a class, seven match; c has 32 of the 44 joined rows."""
    found = evaluate(trained(), TABLES, folds=4)
    assert (found.target_rows, found.unmatched_rows, found.joined_rows) == (8, 1, 44)
    assert found.majority == Accuracy(5 / 8, 38 / 44)
    assert found.resubstitution == Accuracy(1.0, 1.0)
    assert found.heaviest == Heaviest(32 / 44, 32 / 44, 32 / 44)
    assert (found.folds, found.groups, found.random_state) == (4, None, 0)


@given(study=studies(most_tables=3), options=st.fixed_dictionaries({"split_joins": st.booleans()}))
@examples(100)
def test_accuracies_on_the_join_itself(study, options):
    joined = study.joined()
    assume(joined)
    classifier = study.fit(max_depth=2, **options)
    found = evaluate(classifier, study.frames, folds=0)
    names, (table, column) = list(study.tables), study.target
    records = {name: study.frames[name].take([row[at] for row in joined]) for at, name in enumerate(names)}
    truth = [study.tables[table][row[names.index(table)]][column] for row in joined]
    right = classifier.predict_joined(records) == np.array(truth)
    assert found.joined_rows == len(joined)
    assert found.resubstitution.joined_rows == pytest.approx(right.mean())
    assert found.resubstitution.target_rows == pytest.approx(classifier.score(study.frames))
    owned = [sum(row[names.index(table)] == place for row in joined) for place in range(len(study.tables[table]))]
    labelled = [count for count, row in zip(owned, study.tables[table], strict=True) if row[column] is not None]
    assert found.heaviest == heaviest(np.array(labelled))
    assert found.unmatched_rows == labelled.count(0)
    labels = [row[column] for row in study.tables[table]]
    usual = max(classifier.classes_.tolist(), key=labels.count)  # the first of equals
    assert found.majority.joined_rows == truth.count(usual) / len(truth)


def by_hand(fold_of, alone):
    """What is right, fold by fold, of trees that are trained on tables that were cut before they were read."""
    labelled = PEOPLE.slice(0, 8)
    weights = [VISITS.column("person").to_pylist().count(name) for name in labelled.column("id").to_pylist()]
    rows = joined = 0
    for fold in range(max(fold_of) + 1):
        here = np.array(fold_of) == fold
        tables = {"people": labelled.filter(pa.array(~here)), "visits": VISITS}
        tried = {"people": labelled.filter(pa.array(here)), "visits": VISITS}
        if alone:
            fitted = JoinClassifier(ignore=["people.id"]).fit({"people": tables["people"]}, target="people.rich")
        else:
            fitted = trained(tables)
        truth = tried["people"].column("rich").to_numpy(zero_copy_only=False)
        right = fitted.predict(tried) == truth
        rows += right.sum()
        if alone:
            joined += np.array(weights)[here][right].sum()
        else:
            pairs = zip(fitted.votes(tried), truth, strict=True)
            joined += sum(vote[list(fitted.classes_).index(label)] for vote, label in pairs)
    return Accuracy(rows / 8, joined / sum(weights))


def test_folds_are_by_target_row(monkeypatch):
    seen = []
    keeping = LinkedTables.keeping
    monkeypatch.setattr(
        LinkedTables, "keeping", lambda self, name, rows: seen.append((name, rows)) or keeping(self, name, rows)
    )
    found = evaluate(trained(), TABLES, folds=4, random_state=3)
    (table, labelled), *cuts = seen
    assert (table, labelled.tolist()) == ("people", [True] * 8 + [False])
    assert {name for name, _ in cuts} == {"people"}
    tried = [rows for _, rows in cuts[1::2]]
    assert [rows.sum() for rows in tried] == [2, 2, 2, 2]
    fold_of = np.argmax(tried, axis=0)
    assert found.cross_validated == by_hand(fold_of, alone=False)
    assert found.baseline == by_hand(fold_of, alone=True)


def test_rows_of_a_group_are_in_one_fold(monkeypatch):
    seen = []
    keeping = LinkedTables.keeping
    monkeypatch.setattr(
        LinkedTables, "keeping", lambda self, name, rows: seen.append(rows) or keeping(self, name, rows)
    )
    evaluate(trained(), TABLES, folds=4, groups="people.home")
    fold_of = np.argmax(seen[2::2], axis=0)
    homes = PEOPLE.column("home").to_pylist()[:8]
    assert len(set(zip(homes, fold_of.tolist(), strict=True))) == 4
    assert len(set(fold_of.tolist())) == 4


def test_folds_depend_on_the_seed_alone():
    crossed = {seed: [evaluate(trained(), TABLES, folds=2, random_state=seed) for _ in "ab"] for seed in range(8)}
    assert all(first == second for first, second in crossed.values())
    assert len({dataclasses.astuple(first.cross_validated) for first, _ in crossed.values()}) > 1


def test_without_folds():
    found = evaluate(trained(), TABLES, folds=0)
    assert (found.cross_validated, found.baseline, found.folds) == (None, None, 0)


def test_a_table_alone_is_its_own_baseline():
    fitted = JoinClassifier(ignore=["people.id"]).fit({"people": PEOPLE}, target="people.rich")
    found = evaluate(fitted, {"people": PEOPLE}, folds=3)
    assert found.cross_validated == found.baseline
    assert found.heaviest.one_row == 1 / 8


def test_a_class_that_is_never_trained_on_is_never_right():
    tables = {"people": pa.table({"x": [1, 2], "rich": ["yes", "no"]})}
    found = evaluate(JoinClassifier().fit(tables, target="people.rich"), tables, folds=2)
    assert found.cross_validated == found.baseline == Accuracy(0.0, 0.0)


def test_joins_of_more_rows_than_64_bits_count():
    copies = {f"T{number}": pa.table({"k": ["a"] * 1000 + ["b"] * 10}) for number in range(9)}
    people = pa.table({"k": ["a", "b", "b"], "rich": ["yes", "no", "no"]})
    tables, joins = {"people": people, **copies}, [f"people.k = {name}.k" for name in copies]
    found = evaluate(JoinClassifier().fit(tables, joins=joins, target="people.rich"), tables, folds=0)
    assert found.joined_rows == 10**27 + 2 * 10**9
    assert found.heaviest.one_row == pytest.approx(1)
    assert found.majority.target_rows == 2 / 3
    assert found.resubstitution.joined_rows == 10**27 / (10**27 + 2 * 10**9)
    assert found.majority.joined_rows == 2 * 10**9 / (10**27 + 2 * 10**9)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=300).filter(any))
@examples(100)
def test_the_heaviest_own_at_least_their_share(weights):
    found = heaviest(np.array(weights))
    assert found.one_row == max(weights) / sum(weights)
    assert found.one_row <= found.one_percent <= found.ten_percent <= 1
    assert found.ten_percent >= math.ceil(len(weights) / 10) / len(weights) - 1e-9


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({"folds": 1}, ["folds", 1]),
        ({"folds": -2}, ["folds", -2]),
        ({"folds": 2.5}, ["folds", 2.5]),
        ({"folds": 9}, ["folds", 9, 8]),
        ({"folds": 5, "groups": "people.home"}, ["folds", 5, 4, "people.home"]),
        ({"groups": "visits.cost"}, ["groups", "'visits.cost'", "'people'"]),
        ({"groups": "people.hom"}, ["'hom'", "'home'"]),
        ({"random_state": -1}, ["random_state", -1]),
    ],
)
def test_what_cannot_be_evaluated(options, values):
    with refused(InvalidArgument, *values):
        evaluate(trained(), TABLES, **options)


def test_a_fold_without_which_nothing_joins():
    tables = {"people": PEOPLE.slice(0, 4), "visits": VISITS.slice(0, 2)}
    with refused(InvalidArgument, "fold", 4):
        evaluate(trained(tables), tables, folds=4)


def test_limits_hold_for_all_folds(monkeypatch):
    steps = []
    classifier = trained(time_limit=1000.0, progress=lambda what, done, total: steps.append((what, done, total)))
    evaluate(classifier, TABLES, folds=4)
    assert [step for step in steps if step[0] == "Cross-validating"] == [("Cross-validating", at, 4) for at in range(4)]
    monkeypatch.setattr(Limits, "seconds_left", lambda self: 0.0)
    with refused(BudgetExceeded):
        evaluate(classifier, TABLES, folds=4)


def test_polars_frames():
    """Their text is in views, of which Arrow cannot choose rows; nor can it in lists of them, or in runs."""
    rows = 8
    left = pl.DataFrame({"k": ["1", "2"] * 4, "tags": [["a"], ["b"]] * 4, "y": ["a", "b"] * 4})
    runs = pc.run_end_encode(pa.array(["p"] * 5 + ["q"] * 3))
    tables = {"A": pa.table(left).append_column("runs", pa.chunked_array([runs])), "B": pl.DataFrame({"k": ["1", "2"]})}
    fitted = JoinClassifier(ignore=["A.tags"]).fit(tables, joins=["A.k = B.k"], target="A.y")
    assert evaluate(fitted, tables, folds=2).target_rows == rows


def test_the_target_table_under_a_second_name_does_not_tell_the_class():
    random = np.random.default_rng(0)
    visits = pa.table({"patient": random.integers(0, 200, 400), "back": random.choice(["no", "yes"], 400)})
    tables = {"visits": visits, "others": visits}
    classifier = JoinClassifier(prune=None).fit(tables, joins=["visits.patient = others.patient"], target="visits.back")
    assert classifier.feature_names_ == []
    assert evaluate(classifier, tables).by_row.tree.target_rows < 0.6
