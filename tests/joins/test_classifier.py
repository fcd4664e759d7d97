"""`JoinClassifier`: what it refuses, scikit-learn's manners, and limits.

Checks of scikit-learn that pass X and y themselves make no sense where several tables are joined. Those of them that
have a meaning for tables are written out here: fit returns the classifier, fitting twice gives the same, predictions
change no attribute, rows in another order get the same answers, pickling keeps the answers. Without one are those on
sparse and memory-mapped arrays, dtypes and shapes of X, sample and class weights, several outputs, NaN and infinity (a
value of its own, and a number), one feature or one sample, decision functions, and names of columns of one frame.
"""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.utils.estimator_checks as scikit
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from tests.support.errors import first_progress, refused
from tests.support.interrupting import ctrl_c_stops
from tests.support.joins import nodes_of
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.joins import JoinClassifier, generate
from veilset.joins.linked import LinkedTables
from veilset.limits import Limits

T1 = pa.table({"J1": ["a", "b", "b", "b"], "J2": ["x", "x", "y", "y"], "Class": ["C1", "C2", "C1", "C2"]})
T2 = pa.table({"J1": ["a", "c", "b", "a"], "Age": [3, 9, 7, 20]})
T3 = pa.table({"J2": ["x", "y", "x"]})
TABLES = {"T1": T1, "T2": T2, "T3": T3}
JOINS = ["T1.J1 = T2.J1", ("T1.J2", "T3.J2")]


def fit(tables=TABLES, joins=JOINS, target="T1.Class", **options):
    return JoinClassifier(**options).fit(tables, joins=joins, target=target)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max_depth", [-1, 1.5, True, "3"]),
        ("min_leaf", [0, -2, 1.5, None, "1"]),
        ("prune", [0, 1, -0.25, float("nan"), "0.25", True]),
        ("split_joins", ["yes", 1, None]),
        ("ignore", ["T2.Age", [5], 5, None]),
        ("keys", ["upper", 5]),
        ("threads", [0]),
        ("time_limit", [0, -1]),
        ("memory_limit", ["much"]),
    ],
)
def test_wrong_parameters(name, values):
    """Told when it is trained, not before: scikit-learn sets parameters unseen."""
    for value in values:
        classifier = JoinClassifier(**{name: value})
        with refused(InvalidArgument):
            classifier.fit(TABLES, joins=JOINS, target="T1.Class")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"tables": {}}, []),
        ({"tables": [T1]}, ["list"]),
        ({"tables": {1: T1}}, [1]),
        ({"joins": None}, ["None"]),
        ({"joins": "T1.J1 = T2.J1"}, ["'T1.J1 = T2.J1'"]),
        ({"joins": [5]}, [5]),
        ({"joins": [("T1.J1", 2)]}, ["('T1.J1', 2)"]),
        ({"joins": ["T1.J1 = T2.J1"]}, ["'T3'"]),
        ({"joins": [*JOINS, "T1.J1 = T4.J1"]}, ["'T4'"]),
        ({"joins": [*JOINS, "T1.J9 = T2.J1"]}, ["'J9'"]),
        ({"joins": ["T1.J1 = T2.Age", "T1.J2 = T3.J2"]}, ["string", "int64"]),
        ({"target": "T1.Klass"}, ["'Klass'"]),
        ({"target": "T9.Class"}, ["'T9'"]),
        ({"target": 5}, [5]),
        ({"ignore": ["T2.Size"]}, ["'Size'"]),
        ({"tables": TABLES | {"T3": T3.slice(0, 0)}}, ["T1", "T3", 0]),
        ({"tables": TABLES | {"T1": T1.slice(0, 0)}}, ["T1", "T2", 0]),
        ({"tables": TABLES | {"T2": T2.append_column("l", [[[1]] * 4])}}, ["'l'"]),
    ],
    ids=str,
)
def test_what_cannot_be_trained_on(given, named):
    with refused(InvalidArgument, *named):
        fit(**given)


def test_a_join_of_which_no_row_is_left():
    """Each two neighbours match, and the shares of all edges are told."""
    tables = {"A": pa.table({"k": [1, 2], "l": [1, 2], "Class": ["n", "y"]}), "B": pa.table({"k": [1]})}
    tables |= {"C": pa.table({"l": [2]})}
    with refused(InvalidArgument, "A.k = B.k", "A.l = C.l", "50%"):
        fit(tables, ["A.k = B.k", "A.l = C.l"], "A.Class")


def test_a_target_without_a_class():
    nobody = T1.set_column(2, "Class", pa.nulls(4, pa.string()))
    with refused(InvalidArgument, "T1.Class", 4):
        fit(TABLES | {"T1": nobody})
    with refused(InvalidArgument, "T1", 4):
        fit().score(TABLES | {"T1": nobody})
    with refused(InvalidArgument, "T1"):
        fit().score_joined(TABLES | {"T2": T2.slice(0, 0)})


def test_a_join_of_more_rows_than_can_be_counted():
    key = np.zeros(1000, np.int64)
    tables = {"T0": pa.table({"k": key, "Class": ["a", "b"] * 500})}
    tables |= {f"T{number}": pa.table({"k": key}) for number in range(1, 13)}
    with refused(InvalidArgument, "10^38"):
        fit(tables, [f"T0.k = T{number}.k" for number in range(1, 13)], "T0.Class")


def test_joined_records_get_the_label_of_their_leaf():
    """Its share is that of the other class, in floats: there are 10^18 of one and 10^18 + 1 of the other."""
    many = pa.table({"l": ["a"] * 1000 + ["b"], "r": ["a"] * 1000 + ["b"]})
    tables = {"T": pa.table({"k": ["a", "a", "b"], "Class": ["A", "B", "B"]})}
    tables |= {f"M{number}": many for number in range(6)}
    joins = [("T.k", "M0.l"), *((f"M{number}.r", f"M{number + 1}.l") for number in range(5))]
    fitted = JoinClassifier(prune=None).fit(tables, joins=joins, target="T.Class")
    assert fitted.tree_.root.counts == (10**18, 10**18 + 1)
    assert fitted.predict_joined({name: table.slice(0, 1) for name, table in tables.items()}).tolist() == ["B"]


ODD_CLASSES = [pa.array([2**64 - 1, 1], pa.uint64()), pa.array(["a", "a\0"])]


@pytest.mark.parametrize("classes", ODD_CLASSES, ids=["large", "NUL"])
def test_classes_stay_what_they_are(classes):
    """NumPy would make floats of the numbers, and drop the end of the text."""
    tables = {"T": pa.table({"x": [1, 2], "Class": classes})}
    fitted = JoinClassifier(prune=None).fit(tables, target="T.Class")
    assert fitted.predict(tables).tolist() == classes.to_pylist()
    assert (fitted.score(tables), fitted.score_joined(tables)) == (1, 1)


def test_a_failed_training_leaves_the_one_before():
    fitted = fit()
    before = dict(vars(fitted))
    with refused(InvalidArgument, "T9"):
        fitted.fit({"T1": T1, "T9": pa.table({"J1": ["nobody"], "x": [1]})}, joins=["T1.J1 = T9.J1"], target="T1.J2")
    assert vars(fitted) == before
    assert fitted.predict(TABLES).tolist() == fit().predict(TABLES).tolist()


def test_tables_that_are_linked_already():
    linked = LinkedTables.read(TABLES, JOINS, "strip", Limits())
    assert nodes_of(JoinClassifier(keys="strip").fit(linked, target="T1.Class").tree_) == nodes_of(fit().tree_)
    with refused(InvalidArgument, "joins", "T1.J1"):
        JoinClassifier(keys="strip").fit(linked, joins=JOINS, target="T1.Class")
    with refused(InvalidArgument, "keys", "exact", "strip"):
        JoinClassifier().fit(linked, target="T1.Class")


@pytest.mark.parametrize("joins", [None, 5, "T1.J1 = T2.J1", [5], [("T1.J1", 3)], [("T1.J1",)]])
def test_joins_that_are_no_equalities(joins):
    with refused(InvalidArgument, repr(joins[0] if isinstance(joins, list) else joins)):
        fit(joins=joins)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "votes", "score", "score_joined", "predict_joined"])
def test_not_trained(method):
    with refused(InvalidArgument):
        getattr(JoinClassifier(), method)(TABLES)


def test_tables_to_predict_for_that_lack_something():
    fitted = fit()
    with refused(InvalidArgument, "'T3'"):
        fitted.predict({"T1": T1, "T2": T2})
    with refused(InvalidArgument, "'Age'"):
        fitted.predict(TABLES | {"T2": T2.drop_columns("Age")})
    with refused(InvalidArgument, "'J1'"):
        fitted.predict(TABLES | {"T2": T2.drop_columns("J1")})
    with refused(InvalidArgument, "'T2'"):
        fitted.predict_joined({"T1": T1})
    with refused(InvalidArgument, 4, 3):
        fitted.predict_joined({"T2": T2, "T3": T3})
    with refused(InvalidArgument, "list"):
        fitted.predict([T1])
    assert fitted.predict(TABLES | {"T1": T1.drop_columns("Class")}).tolist() == ["C1", "C2", "C2", "C2"]


def test_in_a_notebook():
    assert "not trained" in JoinClassifier()._repr_html_()
    shown = fit(max_depth=3)._repr_html_()
    assert all(text in shown for text in ("JoinClassifier(max_depth=3)", "T2.Age", "100%", "joined rows"))


LACKING = {
    "a table": lambda: fit().predict({"T1": T1, "t2": T2, "T3": T3}),
    "no tables": lambda: fit().predict({}),
    "a column that the tree asks about": lambda: fit().predict(TABLES | {"T2": T2.rename_columns(["J1", "age"])}),
    "a key column": lambda: fit().predict(TABLES | {"T2": T2.drop_columns("J1")}),
    "a table of records": lambda: fit().predict_joined({"T1": T1}),
    "types of columns": lambda: fit(TABLES | {"T3": T3.append_column("place", pa.array([{"x": 1}] * len(T3)))}),
    "whole keys": lambda: fit(
        {"A": pa.table({"id": [1.0, None], "c": ["x", "y"]}), "B": pa.table({"id": [1, 2]})}, ["A.id = B.id"], "A.c"
    ),
    "a table that is one": lambda: fit(TABLES | {"T3": {"J2": ["x"]}}),
    "a table of rows": lambda: fit(TABLES | {"T3": [{"J2": "x"}]}),
    "a collected frame": lambda: fit(TABLES | {"T3": pl.from_arrow(T3).lazy()}),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_is_lacking_is_said_with_a_cure(what, snapshot):
    with refused(InvalidArgument) as caught:
        LACKING[what]()
    assert str(caught.value) == snapshot


def test_what_was_learned():
    fitted = fit(ignore=["T2.J1"], split_joins=True)
    assert fitted.feature_names_ == ["T1.J1", "T1.J2", "T2.Age", "T3.J2"]
    assert fitted.n_features_in_ == 4
    assert fitted.classes_.tolist() == ["C1", "C2"]
    assert fitted.joined_rows_ == 8
    assert [match.keys for match in fitted.matches_] == [2, 2]
    assert fitted.feature_importances_ == {"T1.J1": 1.0}
    assert fitted.table_importances_ == {"T1": 1.0}
    assert fitted.rows_by_level_ == (4 + 3 + 3, 3 + 1 + 3, 2 + 1 + 1)


@pytest.mark.parametrize("form", [pa.table, lambda t: t.to_pandas(), pl.from_arrow], ids=["Arrow", "pandas", "polars"])
def test_frames(form):
    tables = {name: form(table) for name, table in TABLES.items()}
    fitted = fit(tables)
    assert nodes_of(fitted.tree_) == nodes_of(fit().tree_)
    assert fitted.predict(tables).tolist() == fit().predict(TABLES).tolist()
    assert isinstance(tables["T1"], (pa.Table, pd.DataFrame, pl.DataFrame))


def test_one_table_under_two_names():
    people = pa.table(
        {"id": [1, 2, 3, 4], "boss": [3, 3, 4, 4], "age": [20, 30, 40, 50], "Class": ["n", "n", "y", "y"]}
    )
    fitted = fit(
        {"staff": people, "boss": people}, ["staff.boss = boss.id"], "staff.Class", ignore=["boss.Class", "staff.id"]
    )
    assert str(fitted.tree_.root.split) == "staff.age ≤ 30"


CHECKS = [
    scikit.check_no_attributes_set_in_init,
    scikit.check_estimator_cloneable,
    scikit.check_estimator_repr,
    scikit.check_estimator_tags_renamed,
    scikit.check_valid_tag_types,
    scikit.check_mixin_order,
    scikit.check_parameters_default_constructible,
    scikit.check_get_params_invariance,
    scikit.check_set_params,
    scikit.check_do_not_raise_errors_in_init_or_set_params,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn(check):
    check("JoinClassifier", JoinClassifier())


def test_parameters():
    classifier = JoinClassifier(max_depth=3, keys=["strip"])
    assert repr(classifier) == "JoinClassifier(max_depth=3, keys=['strip'])"
    assert clone(classifier).get_params() == classifier.get_params()
    assert classifier.set_params(max_depth=5, prune=None) is classifier
    assert (classifier.max_depth, classifier.prune) == (5, None)
    with refused(InvalidArgument, "'depth'"):
        classifier.set_params(depth=5)


def test_a_clone_has_learned_nothing():
    fitted = fit()
    assert is_classifier(fitted)
    check_is_fitted(fitted)
    with pytest.raises(ValueError):
        check_is_fitted(clone(fitted))


def test_fit_returns_the_classifier_and_changes_no_parameter_and_no_table():
    classifier = JoinClassifier()
    before, tables = classifier.get_params(), dict(TABLES)
    assert classifier.fit(tables, joins=JOINS, target="T1.Class") is classifier
    assert classifier.get_params() == before
    assert all(tables[name].equals(TABLES[name]) for name in TABLES)


def test_fitting_twice_gives_the_same_and_other_tables_leave_no_trace():
    classifier = fit()
    once = nodes_of(classifier.tree_)
    assert nodes_of(classifier.fit(TABLES, joins=JOINS, target="T1.Class").tree_) == once
    other = pa.table({"x": [1, 2], "Class": [True, False]})
    classifier.fit({"T": other}, target="T.Class")
    assert set(vars(classifier)) == set(vars(fit()))
    assert (classifier.feature_names_, classifier.classes_.tolist()) == (["T.x"], [False, True])


def test_predictions_change_no_attribute():
    fitted = fit()
    before = dict(vars(fitted))
    fitted.predict(TABLES), fitted.predict_proba(TABLES), fitted.score(TABLES), fitted.score_joined(TABLES)
    assert all(vars(fitted)[name] is value for name, value in before.items())
    assert set(vars(fitted)) == set(before)


def test_order_and_choice_of_rows_do_not_matter():
    fitted = fit()
    answers = fitted.predict_proba(TABLES)
    order = [3, 1, 0, 2]
    shuffled = {"T1": T1.take(order), "T2": T2.take(order), "T3": T3.take([2, 0, 1])}
    assert fitted.predict_proba(shuffled).tolist() == answers[order].tolist()
    assert nodes_of(fit(shuffled).tree_) == nodes_of(fitted.tree_)
    for row in range(4):
        assert fitted.predict_proba(TABLES | {"T1": T1.slice(row, 1)}).tolist() == answers[row : row + 1].tolist()


def test_shares_fit_predictions():
    fitted = fit()
    shares = fitted.predict_proba(TABLES)
    assert np.allclose(shares.sum(axis=1), 1)
    assert fitted.classes_[shares.argmax(axis=1)].tolist() == fitted.predict(TABLES).tolist()


def test_pickles():
    fitted = pickle.loads(pickle.dumps(fit(split_joins=True)))  # noqa: S301 (our own)
    assert nodes_of(fitted.tree_) == nodes_of(fit(split_joins=True).tree_)
    assert fitted.predict_proba(TABLES).tolist() == fit(split_joins=True).predict_proba(TABLES).tolist()
    assert pickle.loads(pickle.dumps(JoinClassifier(min_leaf=7))).min_leaf == 7  # noqa: S301 (our own)


@pytest.mark.parametrize("limits", [{"time_limit": 1e-9}, {"memory_limit": 1}], ids=str)
def test_limits(limits):
    made = generate.chain(3, rows=20_000, keys=5_000)
    with refused(BudgetExceeded):
        fit(*made, **limits)


def test_progress():
    def work(progress):
        fit(progress=progress)

    assert first_progress(work) == ("Growing level 1 of the tree", 0, 1)


@pytest.mark.no_sanitizer(reason="nothing new for the kernels, and slow")
def test_ctrl_c_is_answered():
    before = """
        from veilset.joins import JoinClassifier, generate
        made = generate.chain(2, rows=500_000, keys=125_000)
    """
    assert ctrl_c_stops("JoinClassifier().fit(made.tables, joins=made.joins, target=made.target)", before=before)


def from_csv(folder, trained, **options):
    (folder / "trained.csv").write_text(trained)
    return JoinClassifier(prune=None, **options).fit({"t": folder / "trained.csv"}, target="t.y")


@pytest.mark.parametrize(
    ("trained", "new", "expected"),
    [
        ("code,y\n1,a\n2,b\nx,a\n2,b\n", "code\n1\n2\n", ["a", "b"]),
        ("code,y\n007,a\n8,b\nx,b\n", "code\n007\n7\n", ["a", "b"]),
        ("code,y\nfalse,a\nno,b\ntrue,b\n", "code\nfalse\ntrue\n", ["a", "b"]),
        ("size,y\n1,a\n2,b\n", "size\n1.0\n2.5\n", ["a", "b"]),
        ("size,y\n1.5,a\n2.5,b\n", "size\n1\n2\n", ["a", "b"]),
        ("size,y\n1.5,a\n2.5,b\n", 'size\n""\n""\n', ["b", "b"]),
        ("day,y\n2024-05-01,a\n2024-05-02,b\n", "day\n2024-05-01 00:00:00\n2024-05-02 10:00:00\n", ["a", "b"]),
    ],
)
def test_columns_of_csv_files_keep_their_types(trained, new, expected, tmp_path):
    fitted = from_csv(tmp_path, trained)
    (tmp_path / "new.csv").write_text(new)
    assert fitted.predict({"t": tmp_path / "new.csv"}).tolist() == expected
    assert fitted.predict_joined({"t": tmp_path / "new.csv"}).tolist() == expected


def test_classes_of_csv_files_stay_text(tmp_path):
    fitted = from_csv(tmp_path, "size,y\n1,1\n2,2\n3,x\n")
    (tmp_path / "new.csv").write_text("size,y\n1,1\n2,1\n")
    assert fitted.score({"t": tmp_path / "new.csv"}) == 0.5


def test_text_where_numbers_were(tmp_path):
    fitted = from_csv(tmp_path, "size,y\n1,a\n2,b\n")
    (tmp_path / "new.csv").write_text('size\n1\n""\nlarge\n')
    with refused(InvalidArgument, "t.size", "string", "int64", 3, "'large'"):
        fitted.predict({"t": tmp_path / "new.csv"})
    with refused(InvalidArgument, "t.size", "string"):
        fitted.predict({"t": pa.table({"size": ["1"]})})
