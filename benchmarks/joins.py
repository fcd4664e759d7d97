"""Trees over a join: without the join, against DuckDB's join followed by scikit-learn, and by our own learner.

``make bench`` runs this; ``python benchmarks/joins.py`` runs it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import intersection
import numpy as np
import parties
import pyarrow as pa
from measuring import forget_peak, in_child, peak_memory, shown, timed
from sklearn.tree import DecisionTreeClassifier

from veilset.joins import JoinClassifier, generate
from veilset.joins.columns import attributes
from veilset.joins.generate import Made

__all__ = ["run"]

_HEADS = (
    "tables",
    "rows",
    "joined rows",
    "depth",
    "ours",
    "memory",
    "DuckDB's join",
    "memory",
    "scikit-learn on it",
    "memory",
    "ours on it",
    "memory",
    "ratio to join + scikit-learn",
    "ratio to join + ours",
    "target: at most",
)
_ABOUT = """
*Ours* is `JoinClassifier.fit` on the tables, both threads. The peer joins with DuckDB, columns being ordinal codes
already (made before the clock starts), and grows `sklearn.tree.DecisionTreeClassifier(criterion="entropy")` to the same
depth on one thread, as it always does; its array of 32-bit floats counts as memory. *Ours on it* is the same learner on
the joined table, which must give the identical tree: splits, counts and labels at all nodes, before pruning. It is
compared before anything is timed. scikit-learn splits text codes by order and not one value against the rest, so its
tree is another one of the same depth. Memory is what each step added at its peak, in a process of its own.
"""


@dataclass(frozen=True)
class Task:
    """Tables to be classified."""

    name: str
    make: Callable[[], Made]
    depth: int | None
    target: float


_TASKS = (
    Task("chain of six (Figure 8)", lambda: generate.chain(6, rows=1_000, keys=250), None, 0.01),
    Task("two, many-to-many", lambda: generate.chain(2, rows=1_000_000, keys=250_000), 8, 0.1),
    Task("star: 5,000,000 facts, four dimensions", lambda: generate.star(4, facts=5_000_000, rows=10_000), 8, 1.0),
)


def run(data: Path) -> list[str]:
    """A section of the results, as lines of Markdown."""
    rows = [_measured(place) for place in range(len(_TASKS))]
    return [
        *_ABOUT.strip().splitlines(),
        "",
        *(f"| {' | '.join(cells)} |" for cells in (_HEADS, ["---"] * len(_HEADS), *rows)),
        "",
        "### Private set intersection",
        "",
        *intersection.run(),
        "",
        "### Trees among parties",
        "",
        *parties.run(data),
    ]


def _measured(place: int) -> list[str]:
    task = _TASKS[place]
    tree, seconds, memory, rows = in_child(_ours, place)
    joined, join_seconds, join_memory = in_child(_join, place)
    peer_seconds, peer_memory = in_child(_sklearn, place, tree["depth"])
    same, our_seconds, our_memory = in_child(_ours_on_join, place)
    assert same == tree["nodes"], f"{task.name}: the trees differ"
    assert joined == tree["rows"]
    by_sklearn, by_ours = seconds / (join_seconds + peer_seconds), seconds / (join_seconds + our_seconds)
    return [
        task.name,
        f"{rows:,}",
        f"{joined:,}",
        str(tree["depth"]),
        *(shown(seconds), _megabytes(memory)),
        *(shown(join_seconds), _megabytes(join_memory)),
        *(shown(peer_seconds), _megabytes(peer_memory)),
        *(shown(our_seconds), _megabytes(our_memory)),
        f"{by_sklearn:.4f}",
        f"{by_ours:.4f}",
        f"{task.target}",
    ]


def _ours(place: int) -> tuple[dict[str, Any], float, int, int]:
    made = _TASKS[place].make()
    before = forget_peak()
    classifier, seconds = timed(lambda: _classifier(place).fit(made.tables, joins=made.joins, target=made.target))
    memory = peak_memory() - before
    tree = classifier.unpruned_tree_
    told = {"nodes": _nodes(tree, lambda split: split.name), "depth": tree.depth, "rows": tree.root.rows}
    return told, seconds, memory, sum(table.num_rows for table in made.tables.values())


def _join(place: int) -> tuple[int, float, int]:
    made, coded = _coded(place)
    before = forget_peak()
    joined, seconds = timed(lambda: _joined(coded, made.joins))
    return joined.num_rows, seconds, peak_memory() - before


def _sklearn(place: int, depth: int) -> tuple[float, int]:
    made, coded = _coded(place)
    joined = _joined(coded, made.joins)
    features = [name for name in joined.column_names if name != made.target]
    classes = joined[made.target].to_numpy()
    before = forget_peak()

    def fit() -> object:
        values = np.empty((joined.num_rows, len(features)), np.float32, order="F")
        for at, name in enumerate(features):
            values[:, at] = joined[name].to_numpy()
        return DecisionTreeClassifier(criterion="entropy", max_depth=depth, random_state=0).fit(values, classes)

    return timed(fit)[1], peak_memory() - before


def _ours_on_join(place: int) -> tuple[list[Any], float, int]:
    """The same learner on the joined table: its codes stand for the values, in their order."""
    made, coded = _coded(place)
    joined = _joined(coded, made.joins)
    values = {
        f"{name}.{one.name}": one.values for name in made.tables for one in _attributes(made, name, with_class=True)
    }
    table = pa.table({name: _with_order(joined[name], values[name]) for name in joined.column_names})
    before = forget_peak()
    classifier, seconds = timed(lambda: _classifier(place).fit({"J": table}, target=f"J.{made.target}"))
    memory = peak_memory() - before
    return _nodes(classifier.unpruned_tree_, lambda split: split.column, values), seconds, memory


def _with_order(codes: Any, values: Any) -> Any:
    """Codes of numbers are numbers in the same order; codes of text become text again."""
    if pa.types.is_integer(values.type):
        return codes
    return pa.DictionaryArray.from_arrays(codes.combine_chunks().cast(pa.int32()), values)


def _classifier(place: int) -> JoinClassifier:
    return JoinClassifier(max_depth=_TASKS[place].depth)


def _nodes(tree: Any, name_of: Callable[[Any], str], values: dict[str, Any] | None = None) -> list[Any]:
    """Split, counts and label of all nodes; a code of numbers stands for its value."""
    told = []
    for node in tree.root.walk():
        asked = None
        if node.split is not None:
            value = node.split.value
            if values is not None and node.split.kind == "number":
                value = values[name_of(node.split)][value].as_py()
            asked = (name_of(node.split), value)
        told.append((asked, node.counts, node.label))
    return told


def _attributes(made: Made, name: str, *, with_class: bool) -> Sequence[Any]:
    keys = {side.partition(".")[2] for pair in made.joins for side in pair if side.startswith(f"{name}.")}
    columns = [column for column in made.tables[name].column_names if column not in keys]
    return [one for one in attributes(made.tables[name], columns) if with_class or one.name != "Class"]


def _coded(place: int) -> tuple[Made, dict[str, pa.Table]]:
    """The tables with ordinal codes instead of values, as narrow as they can be."""
    made = _TASKS[place].make()
    coded = {}
    for name, table in made.tables.items():
        keys = {side.partition(".")[2] for pair in made.joins for side in pair if side.startswith(f"{name}.")}
        held = {column: table[column] for column in table.column_names if column in keys}
        held |= {one.name: pa.array(one.codes.astype(np.uint16)) for one in _attributes(made, name, with_class=True)}
        coded[name] = pa.table(held)
    return made, coded


def _joined(coded: dict[str, pa.Table], joins: Sequence[tuple[str, str]]) -> pa.Table:
    """The join by DuckDB, without keys; columns are called as in the tree: table.column."""
    keys = {side for pair in joins for side in pair}
    chosen = [
        f'"{name}"."{column}" AS "{name}.{column}"'
        for name, table in coded.items()
        for column in table.column_names
        if f"{name}.{column}" not in keys
    ]
    equal = " AND ".join(f"{left} = {right}" for left, right in joins)
    with duckdb.connect() as database:
        for name, table in coded.items():
            database.register(name, table)
        database.execute("SET enable_progress_bar = false")
        query = f"SELECT {', '.join(chosen)} FROM {', '.join(coded)} WHERE {equal}"  # noqa: S608
        return database.sql(query).to_arrow_table()


def _megabytes(of: int) -> str:
    return f"{of / 1e6:,.0f} MB"


if __name__ == "__main__":
    print("\n".join(run(Path(__file__).parents[2] / "shared" / "data")))
