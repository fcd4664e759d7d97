"""Tables, linked by their keys: what matches, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.joins import studies
from veilset import _native
from veilset.errors import BudgetExceeded, InvalidArgument
from veilset.joins import JoinClassifier
from veilset.joins.columns import attributes
from veilset.joins.linked import LinkedTables, Match, read_tables, with_counts
from veilset.limits import Limits

A = pa.table({"k": [1, 2, 2, None], "x": [1, 2, 3, 4]})
B = pa.table({"key": [2, 2, 3], "y": ["p", "q", "r"]})


def linked(left=A, right=B, joins=("A.k = B.key",), keys=()):
    return LinkedTables.read({"A": left, "B": right}, joins, keys, Limits())


def test_matches():
    assert linked().matches == (Match("A", "B", "A.k = B.key", 4, 2, 3, 2, 1),)
    assert linked().described() == ("A.k = B.key: 2 of 4 rows of A (50%) and 2 of 3 rows of B (67%) match, on 1 key")


def test_an_iterator_of_joins():
    assert linked(joins=iter(["A.k = B.key"])).matches == linked().matches


def test_equals_signs_in_names_of_csv_columns(tmp_path):
    """Keys are read as text, and a column whose name is the beginning of a key's is not."""
    (tmp_path / "a.csv").write_text("k=1,k,x\n007,08,1\n7,09,2\n")
    (tmp_path / "b.csv").write_text("key\n007\n")
    found = linked(tmp_path / "a.csv", tmp_path / "b.csv", ["A.k=1 = B.key"])
    assert found.tables["A"].to_pydict() == {"k=1": ["007", "7"], "k": [8, 9], "x": [1, 2]}
    assert found.matches[0].left_matched == 1


def test_tables_without_a_common_key():
    """The first keys of both are shown, so that one sees why."""
    texts = pa.table({"k": [" a", "b "]}), pa.table({"key": ["a", "b"]})
    with refused(InvalidArgument, "A", "B", "' a'", "'a'"):
        linked(*texts).check_matches()
    linked(*texts, keys="strip").check_matches()
    with refused(InvalidArgument, 4, 0, "none"):
        linked(right=B.slice(0, 0)).check_matches()


def test_first_keys_that_python_cannot_hold():
    days = pa.array([4_000_000, None], pa.int32()).view(pa.date32())
    with refused(InvalidArgument, "12921-08-18", "None"):
        linked(pa.table({"k": days}), pa.table({"key": days.slice(1)})).check_matches()


@pytest.mark.parametrize("wrong", [[A], None, A, {1: A}], ids=["list", "None", "table", "a number as a name"])
def test_tables_that_are_not_given_by_name(wrong):
    with refused(InvalidArgument):
        read_tables(wrong, (), Limits())


def test_some_rows_of_one_table_and_one_table_alone():
    some = linked().keeping("A", A.column("x").to_numpy() > 2)
    assert some.tables["A"].column("x").to_pylist() == [3, 4]
    assert (some.matches[0].left_rows, some.matches[0].left_matched, some.matches[0].right_matched) == (2, 1, 2)
    alone = linked().alone("A")
    assert (list(alone.tables), alone.matches) == (["A"], ())


def test_counts_of_64_bits_then_128_then_none():
    tried = []

    def run(wide):
        tried.append(wide)
        if len(tried) < 2 or enough is False:
            raise _native.joins.TooManyRows
        return "done"

    enough = True
    assert with_counts(run) == "done"
    assert tried == [False, True]
    enough, tried = False, []
    with refused(InvalidArgument, "10^38"):
        with_counts(run)


def test_columns_are_ranked_once(monkeypatch):
    seen = []
    rank = attributes
    monkeypatch.setattr(
        "veilset.joins.linked.attributes", lambda table, names: seen.append(names) or rank(table, names)
    )
    tables = linked()
    tables.attributes("A", ["x"], Limits())
    tables.attributes("B", ["y"], Limits())
    cut = tables.keeping("A", np.array([False, True, True, False]))
    assert cut.attributes("A", ["x"], Limits())[0].codes.tolist() == [1, 2]
    assert cut.attributes("B", ["y"], Limits())[0].codes.tolist() == [0, 1, 2]
    assert cut.alone("A").attributes("A", ["x"], Limits())[0].values.to_pylist() == [1, 2, 3, 4]
    assert seen == [["x"], ["y"]]


def test_time_is_checked_after_each_column(monkeypatch):
    tables = linked()
    monkeypatch.setattr(Limits, "seconds_left", lambda self: 0.0)
    with refused(BudgetExceeded, "A.x"):
        tables.attributes("A", ["x", "k"], Limits(time_limit=5.0))


@given(study=studies(most_tables=3), data=st.data())
@examples(100)
def test_ranks_of_all_rows_give_the_same_tree(study, data):
    classifier = study_fitted(study)
    tables, (target, _) = classifier.link(study.frames), classifier.target_
    rows = tables.tables[target].num_rows
    cut = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), bool)
    options = {"target": ".".join(classifier.target_)}
    try:
        expected = JoinClassifier(prune=None).fit(tables.keeping(target, cut), **options).tree_
    except InvalidArgument:
        assume(False)
    JoinClassifier(prune=None).fit(tables, **options)  # ranks all columns
    assert JoinClassifier(prune=None).fit(tables.keeping(target, cut), **options).tree_ == expected


def study_fitted(study):
    assume(study.joined())
    return study.fit(max_depth=2)


def test_the_class_under_another_name():
    left = pa.table({"k": [1, 2, 2], "y": ["a", "b", None]})
    tables = LinkedTables.read(
        {"A": left, "B": left.select(["y", "k"]), "C": left.slice(1)}, ["A.k = B.k", "A.k = C.k"], (), Limits()
    )
    assert tables.told_by("A", "y") == {("B", "y")}
    assert linked().told_by("A", "x") == set()
