"""Studies of random tables that join, and trees as plain values, so that those of two learners can be compared."""

import datetime
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from veilset.joins import JoinClassifier, JoinGraph, Tree
from veilset.joins.classes import class_codes
from veilset.joins.keys import KeyRule
from veilset.joins.linked import LinkedTables
from veilset.joins.site import Site
from veilset.limits import Limits
from veilset.testing import oracles_joins as oracle

_DAY = datetime.date(2024, 2, 28)
_DOMAINS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int64(), [-7, 0, 3, 2**40]),
    "float": (pa.float64(), [-0.5, 0.0, 2.25, math.inf]),
    "text": (pa.string(), ["", "a", "é", "\U0001f600"]),
    "boolean": (pa.bool_(), [False, True]),
    "date": (pa.date32(), [_DAY + datetime.timedelta(days) for days in range(4)]),
}
_CATEGORIES = (pa.string(), pa.bool_())


@dataclass(frozen=True)
class Study:
    """Tables as lists of dicts, with their types; which columns are equal; where the class is."""

    tables: dict[str, list[dict[str, Any]]]
    schemas: dict[str, pa.Schema]
    predicates: list[tuple[tuple[str, str], tuple[str, str]]]
    target: tuple[str, str]

    @property
    def frames(self) -> dict[str, pa.Table]:
        """As Arrow has them. Of missing floats every second is not a number, which is the same."""
        return {name: pa.Table.from_pylist(self._written(name), self.schemas[name]) for name in self.tables}

    def _written(self, table: str) -> list[dict[str, Any]]:
        floats = [one.name for one in self.schemas[table] if pa.types.is_floating(one.type)]
        nans = [{name: math.nan for name in floats if row[name] is None} for row in self.tables[table]]
        return [
            row | (nan if at % 2 else {}) for at, (row, nan) in enumerate(zip(self.tables[table], nans, strict=True))
        ]

    @property
    def joins(self) -> list[tuple[str, str]]:
        return [(".".join(left), ".".join(right)) for left, right in self.predicates]

    @property
    def classes(self) -> list[Any]:
        table, column = self.target
        return sorted({row[column] for row in self.tables[table]} - {None})

    def places(self, split_joins: bool) -> list[tuple[str, str]]:
        """The columns that splits may ask about."""
        left_out = {self.target} | (set() if split_joins else {side for pair in self.predicates for side in pair})
        every = [(table, name) for table, schema in self.schemas.items() for name in schema.names]
        return [place for place in every if place not in left_out]

    def joined(self) -> list[tuple[int, ...]]:
        """The joined rows that have a class: the place of a row in each table."""
        at = list(self.tables).index(self.target[0])
        labels = [row[self.target[1]] for row in self.tables[self.target[0]]]
        rows = oracle.nested_loop_join(self.tables, self.predicates)
        return [row for row in rows if labels[row[at]] is not None]

    def every_second_row(self, start: int) -> "Study":
        """The same tables with every second row, from this one on."""
        return replace(self, tables={name: rows[start::2] for name, rows in self.tables.items()})

    def column(self, joined: list[tuple[int, ...]], table: str, name: str) -> list[Any]:
        """A column of the join."""
        at = list(self.tables).index(table)
        return [self.tables[table][row[at]][name] for row in joined]

    def join_then_build(self, joined: list[tuple[int, ...]], split_joins: bool, **stop: Any) -> oracle.Tree:
        columns = [
            oracle.Column(table, name, self.kind(table, name), *oracle.ranked(self.column(joined, table, name)))
            for table, name in self.places(split_joins)
        ]
        classes = np.array([self.classes.index(label) for label in self.column(joined, *self.target)])
        return oracle.join_then_build(columns, classes, len(self.classes), **stop)

    def kind(self, table: str, name: str) -> str:
        return "category" if self.schemas[table].field(name).type in _CATEGORIES else "number"

    def linked(self) -> LinkedTables:
        frames = self.frames
        graph = JoinGraph.of({name: table.column_names for name, table in frames.items()}, self.joins)
        return LinkedTables.of(frames, graph, KeyRule())

    def sites(self, linked: LinkedTables) -> dict[str, Site]:
        """A site for each table, before class propagation."""
        asked: dict[str, list[str]] = {name: [] for name in self.tables}
        for table, column in self.places(split_joins=False):
            asked[table].append(column)
        attributes = {name: linked.attributes(name, columns, Limits()) for name, columns in asked.items()}
        sites = linked.sites(attributes, max(1, len(self.classes)), False, Limits())
        sites[self.target[0]].start(self.class_codes())
        return sites

    def class_codes(self) -> Any:
        return class_codes(self.frames[self.target[0]], self.target[1])[0]

    def fit(self, **options: Any) -> JoinClassifier:
        return JoinClassifier(**options).fit(self.frames, joins=self.joins, target=".".join(self.target))


def nodes_of(tree: Tree | oracle.Tree) -> list[tuple[Any, ...]]:
    """Counts, label, gain and split of each node, each before its children; a tree can be deeper than Python recurses.

    Since a leaf has no split, the order says all of the structure.
    """
    if isinstance(tree, Tree):
        return [
            (one.counts, one.label, one.gain, one.split and tuple(vars(one.split).values())) for one in tree.root.walk()
        ]
    return [(one["counts"], one["label"], one["gain"] * 2.0**-48, one["split"]) for one in oracle.walk(tree)]


@st.composite
def studies(draw: st.DrawFn, most_tables: int = 5, most_rows: int = 6, least_tables: int = 1) -> Study:
    """Chains, stars and trees; composite keys; dangling rows; duplicates; missing keys, values and classes; ties."""
    count = draw(st.integers(least_tables, most_tables))
    schemas: dict[str, dict[str, pa.DataType]] = {f"T{number}": {} for number in range(count)}
    keys: dict[str, list[str]] = {name: [] for name in schemas}
    domains: dict[tuple[str, str], list[Any]] = {}
    predicates = []
    for number in range(1, count):
        child, parent = f"T{number}", f"T{draw(st.integers(0, number - 1))}"
        for part in range(draw(st.integers(1, 2))):
            shared = draw(st.sampled_from([None, *keys[parent]]))
            name, other = f"K{number}{part}", shared or f"P{number}{part}"
            if shared is None:
                kind, values = _DOMAINS[draw(st.sampled_from(["whole", "text"]))]
                domains[parent, other] = [*values[: draw(st.integers(1, 3))], None]
                schemas[parent][other] = kind
                keys[parent].append(other)
            schemas[child][name], domains[child, name] = schemas[parent][other], domains[parent, other]
            keys[child].append(name)
            predicates.append(((parent, other), (child, name)))
    for table, columns in schemas.items():
        for number in range(draw(st.integers(0, 3))):
            kind, values = _DOMAINS[draw(st.sampled_from(sorted(_DOMAINS)))]
            columns[f"A{number}"] = kind
            domains[table, f"A{number}"] = [*values[: draw(st.integers(1, 4))], None]
    target = draw(st.sampled_from(sorted(schemas))), "Class"
    schemas[target[0]]["Class"] = pa.string()
    domains[target] = [*["no", "yes", "maybe", "never"][: draw(st.integers(2, 4))], None]
    tables = {
        table: draw(
            st.lists(
                st.fixed_dictionaries({name: st.sampled_from(domains[table, name]) for name in columns}),
                min_size=1,
                max_size=most_rows,
            )
        )
        for table, columns in schemas.items()
    }
    return Study(
        tables, {table: pa.schema(list(columns.items())) for table, columns in schemas.items()}, predicates, target
    )


def _study(columns: dict[str, dict[str, list[Any]]], joins: list[str], target: str) -> Study:
    frames = {name: pa.table(one) for name, one in columns.items()}
    return Study(
        {name: frame.to_pylist() for name, frame in frames.items()},
        {name: frame.schema for name, frame in frames.items()},
        [tuple(tuple(side.split(".")) for side in join.split(" = ")) for join in joins],  # type: ignore[misc]
        tuple(target.split(".")),  # type: ignore[arg-type]
    )


THESIS = _study(
    {
        "T1": {"J1": ["a", "b", "b", "b"], "J2": ["x", "x", "y", "y"], "Class": ["C1", "C2", "C1", "C2"]},
        "T2": {"J1": ["a", "c", "b", "a"], "Age": [3, 9, 7, 20]},
        "T3": {"J2": ["x", "y", "x"]},
    },
    ["T1.J1 = T2.J1", "T1.J2 = T3.J2"],
    "T1.Class",
)
"""The example of figures 2 and 4 to 6."""


def random_study(rng: np.random.Generator, count: int, rows: int = 40) -> Study:
    """Larger tables, so that trees are deep: a few keys, some of them of two columns, and attributes that tell."""
    schemas: dict[str, list[pa.Field]] = {}
    tables: dict[str, list[dict[str, Any]]] = {}
    predicates = []
    size = int(rng.integers(3, 7))
    for number in range(count):
        name, parent = f"T{number}", f"T{rng.integers(0, max(1, number))}"
        tables[name] = [
            {
                "x": int(rng.integers(0, 9)),
                "y": None if rng.random() < 0.1 else float(rng.integers(0, 20)) / 4,
                "c": f"c{rng.integers(0, 4)}",
            }
            for _ in range(rows)
        ]
        schemas[name] = [pa.field("x", pa.int64()), pa.field("y", pa.float64()), pa.field("c", pa.string())]
        for part in range(int(rng.integers(1, 3)) if number else 0):
            side, other = f"p{number}{part}", f"q{number}{part}"
            text = bool(rng.integers(0, 2))
            for table, column in ((parent, side), (name, other)):
                schemas[table].append(pa.field(column, pa.string() if text else pa.int64()))
                for row in tables[table]:
                    key = int(rng.integers(0, 2 if part else size))
                    row[column] = f"k{key}" if text else key
                    row["x"] += 3 * key
            predicates.append(((parent, side), (name, other)))
    schemas["T0"].append(pa.field("Class", pa.string()))
    for row in tables["T0"]:
        row["Class"] = ["no", "yes", "maybe"][(row["x"] // 6 + int(rng.integers(0, 2))) % 3]
        row["x"] = int(rng.integers(0, 9))
    return Study(tables, {name: pa.schema(fields) for name, fields in schemas.items()}, predicates, ("T0", "Class"))
