"""The tree is the one that is grown on the join: at each node the same split, the same counts, the same label."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.joins import Study, nodes_of, studies
from veilset.errors import InvalidArgument
from veilset.joins import JoinClassifier
from veilset.joins.tree import Node
from veilset.testing import oracles_joins as oracle

STOPS = st.fixed_dictionaries({"max_depth": st.sampled_from([None, 0, 1, 2, 4]), "min_leaf": st.integers(1, 6)})
CONFIDENCE = st.sampled_from([0.05, 0.25, 0.5, 0.9])


def same_tree(fitted: JoinClassifier, expected: oracle.Tree) -> None:
    assert nodes_of(fitted.unpruned_tree_) == nodes_of(expected)
    assert nodes_of(fitted.tree_) == nodes_of(oracle.pruned(expected, fitted.prune))


@examples(3000)
@given(studies(), st.booleans(), STOPS, CONFIDENCE)
def test_tree_of_a_nested_loop_join(study: Study, split_joins, stop, confidence):
    joined = study.joined()
    if not joined:
        with pytest.raises(InvalidArgument):
            study.fit()
        return
    fitted = study.fit(split_joins=split_joins, prune=confidence, **stop)
    assert fitted.joined_rows_ == len(joined)
    assert fitted.feature_names_ == [".".join(place) for place in study.places(split_joins)]
    same_tree(fitted, study.join_then_build(joined, split_joins, **stop))


@examples(300)
@given(studies(most_rows=12), st.booleans(), STOPS)
def test_tree_of_a_join_by_duckdb(study: Study, split_joins, stop):
    """The order of values is its own, too."""
    places = study.places(split_joins)
    with duckdb.connect() as database:
        _join_in(database, study)
        labels = [label for (label,) in database.execute(f'SELECT "{".".join(study.target)}" FROM j').fetchall()]  # noqa: S608
        assume(labels)
        columns = [_ranked_by(database, study, place) for place in places]
    classes = np.array([study.classes.index(label) for label in labels])
    expected = oracle.join_then_build(columns, classes, len(study.classes), **stop)
    same_tree(study.fit(split_joins=split_joins, **stop), expected)


def _join_in(database: duckdb.DuckDBPyConnection, study: Study) -> None:
    """The view ``j``: the joined rows that have a class, with columns like ``T0.A1``."""
    for name, table in study.frames.items():
        database.register(name, table)
    names = [(table, one) for table, schema in study.schemas.items() for one in schema]
    chosen = ", ".join(
        f"{f'nullif({table}.{one.name}, $nan$NaN$nan$)' if pa.types.is_floating(one.type) else f'{table}.{one.name}'}"
        f' AS "{table}.{one.name}"'
        for table, one in names
    )
    equal = [f"{'.'.join(left)} = {'.'.join(right)}" for left, right in study.predicates]
    condition = " AND ".join([*equal, f"{'.'.join(study.target)} IS NOT NULL"])
    database.execute(f"CREATE TABLE j AS SELECT {chosen} FROM {', '.join(study.tables)} WHERE {condition}")  # noqa: S608


def _ranked_by(database: duckdb.DuckDBPyConnection, study: Study, place: tuple[str, str]) -> oracle.Column:
    name = f'"{".".join(place)}"'
    codes = database.execute(f"SELECT dense_rank() OVER (ORDER BY {name} NULLS LAST) - 1, rowid FROM j").fetchall()  # noqa: S608
    values = database.execute(f"SELECT DISTINCT {name} FROM j ORDER BY {name} NULLS LAST").fetchall()  # noqa: S608
    ranks = [code for code, _ in sorted(codes, key=lambda one: one[1])]
    return oracle.Column(*place, study.kind(*place), np.array(ranks), [value for (value,) in values])


@examples(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["chain", "star"]), st.booleans(), st.integers(1, 50))
def test_tree_of_the_join_as_one_table(seed, shape, split_joins, min_leaf):
    """Larger joins, of some ten thousand rows: the classifier itself grows their tree, from one table."""
    tables, joins = _larger(np.random.default_rng(seed), shape)
    options: dict[str, Any] = {"min_leaf": min_leaf, "max_depth": 8, "split_joins": split_joins}
    fitted = JoinClassifier(**options).fit(tables, joins=joins, target="T0.Class")
    with duckdb.connect() as database:
        for name, table in tables.items():
            database.register(name, table)
        chosen = ", ".join(
            f'{name}.{column} AS "{name}.{column}"' for name in tables for column in tables[name].column_names
        )
        conditions = " AND ".join(f"{left} = {right}" for left, right in joins)
        join = database.sql(f"SELECT {chosen} FROM {', '.join(tables)} WHERE {conditions}").to_arrow_table()  # noqa: S608
    ignored = [] if split_joins else [f"J.{side}" for pair in joins for side in pair]
    alone = JoinClassifier(**options, ignore=ignored).fit({"J": join}, target="J.T0.Class")
    assert fitted.joined_rows_ == len(join)
    assert _names(fitted) == _names(alone)


def _names(fitted: JoinClassifier) -> list[Any]:
    nodes = [*fitted.unpruned_tree_.root.walk(), *fitted.tree_.root.walk()]
    return [(node.counts, node.gain, node.split and str(node.split).removeprefix("J.")) for node in nodes]


def _larger(rng: np.random.Generator, shape: str) -> tuple[dict[str, pa.Table], list[tuple[str, str]]]:
    sizes = rng.integers(100, 300, 3)
    key_count = int(rng.integers(10, 30))
    tables, joins = {}, []
    for number, rows in enumerate(sizes.tolist()):
        columns: dict[str, Any] = {f"K{edge}": rng.integers(0, key_count, rows) for edge in (0, 1)}
        lead = columns["K0"] % 3 + rng.normal(0, 1, rows)
        columns["x"] = pa.array(np.round(lead, 1), mask=rng.random(rows) < 0.1)
        columns["n"] = rng.integers(0, 10_000, rows)
        columns["c"] = pa.array([f"c{value}" for value in rng.integers(0, 30, rows).tolist()])
        if number == 0:
            columns["Class"] = np.array(["a", "b", "c"])[np.digitize(lead, [0.5, 1.5])]
        else:
            parent = 0 if shape == "star" else number - 1
            joins.append((f"T{parent}.K{number - 1}", f"T{number}.K{number - 1}"))
        tables[f"T{number}"] = pa.table(columns)
    return tables, joins


def answers(node: Node, record: dict[tuple[str, str], Any]) -> Node:
    """The leaf of a joined record."""
    while node.split is not None:
        value, asked = record[node.split.table, node.split.column], node.split.value
        smaller = node.split.kind == "number" and value is not None and asked is not None and value < asked
        node = node.children[0 if smaller or value == asked else 1]
    return node


@examples(500)
@given(studies(), st.booleans(), st.booleans())
def test_votes_are_those_of_all_joined_rows(study: Study, split_joins, only_others):
    """Trained on half the rows, so that values occur that were never seen, and rows or whole tables match nothing."""
    half = study.every_second_row(0)
    assume(half.joined())
    fitted = half.fit(split_joins=split_joins)
    study = study.every_second_row(1) if only_others else study
    joined = oracle.nested_loop_join(study.tables, study.predicates)
    at = list(study.tables).index(study.target[0])
    records = [
        {
            (table, name): value
            for (table, rows), place in zip(study.tables.items(), row, strict=True)
            for name, value in rows[place].items()
        }
        for row in joined
    ]
    leaves = [answers(fitted.tree_.root, record) for record in records]
    votes = np.zeros((len(study.tables[study.target[0]]), len(fitted.classes_)), np.int64)
    for row, leaf in zip(joined, leaves, strict=True):
        votes[row[at], leaf.label] += 1
    assert fitted.votes(study.frames).tolist() == votes.tolist()
    labels = [row["Class"] for row in half.tables[half.target[0]]]
    usual = Node(tuple(labels.count(name) for name in fitted.classes_))
    winners = [int(one.argmax()) if one.any() else usual.label for one in votes]
    assert fitted.predict(study.frames).tolist() == fitted.classes_[winners].tolist()
    shares = [one / one.sum() if one.any() else np.array(usual.shares) for one in votes]
    assert np.allclose(fitted.predict_proba(study.frames), np.reshape(shares, votes.shape), rtol=1e-15)
    truth = [row["Class"] for row in study.tables[study.target[0]]]
    known = [place for place, label in enumerate(truth) if label is not None]
    right = [fitted.classes_[winners[place]] == truth[place] for place in known]
    if known:
        assert fitted.score(study.frames) == pytest.approx(np.mean(right))
    if joined:
        parts = {
            name: table.take([row[place] for row in joined]) for place, (name, table) in enumerate(study.frames.items())
        }
        assert fitted.predict_joined(parts).tolist() == [fitted.classes_[leaf.label] for leaf in leaves]
        assert fitted.predict_joined_proba(parts).tolist() == [leaf.shares for leaf in leaves]


@examples(300)
@given(studies(), st.booleans(), STOPS)
def test_wide_counts_and_threads_change_nothing(study: Study, split_joins, stop):
    assume(study.joined())
    plain = study.fit(split_joins=split_joins, threads=1, **stop)
    threaded = study.fit(split_joins=split_joins, threads=2, **stop)
    with pytest.MonkeyPatch.context() as patch:
        for room in ("classifier", "votes"):
            patch.setattr(f"veilset.joins.{room}.with_counts", lambda run: run(True))
        wide = study.fit(split_joins=split_joins, **stop)
        wide_votes = wide.votes(study.frames).tolist()
    assert nodes_of(plain.unpruned_tree_) == nodes_of(threaded.unpruned_tree_) == nodes_of(wide.unpruned_tree_)
    assert plain.votes(study.frames).tolist() == threaded.votes(study.frames).tolist() == wide_votes


def test_a_join_of_more_rows_than_there_are_atoms_in_a_person():
    """Ten tables of 1,000 rows: their joined rows are counted by multiplying."""
    keys = {0: 300, 1: 300, 2: 400}
    key = np.repeat([*keys], [*keys.values()])
    classes = np.where(key == 0, "a", np.where(np.arange(1000) % 2, "b", "a"))
    tables = {"T0": pa.table({"k": key, "Class": classes})}
    tables |= {f"T{number}": pa.table({"k": key, "x": key, "y": np.arange(1000) % 2}) for number in range(1, 10)}
    joins = [(f"T{number}.k", f"T{number + 1}.k") for number in range(9)]
    fitted = JoinClassifier(prune=None).fit(tables, joins=joins, target="T0.Class")
    first, rest = 300**10, (300**10 + 400**10) // 2
    assert fitted.joined_rows_ == 2 * 300**10 + 400**10
    counts = (first + rest, rest), (first, 0), (rest, rest)
    assert [node.counts for node in fitted.tree_.root.walk()] == list(counts)
    assert str(fitted.tree_.root.split) == "T1.x ≤ 0"
    assert fitted.tree_.root.gain == oracle.gain(counts[1], counts[0]) * 2.0**-48
    assert fitted.votes(tables)[:, 0].tolist() == [size**9 for size in keys.values() for _ in range(size)]
    whole = {name: table.filter(pa.array(key < 1)) for name, table in tables.items()}
    assert fitted.score_joined(whole) == 1
