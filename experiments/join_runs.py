"""Runs of the thesis' experiments on join classification (§3.4): MultiTbl, SecureMultiTbl, and the join first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from join_data import mondial, uw
from join_parties import secure_costs
from paper import cpu, in_child, memory_growth

from veilset.joins import Accuracy, JoinClassifier, Split, evaluate, generate
from veilset.joins.generate import Made

WHOLE, PART, UNIVERSITY, CHAIN = "Mondial", "Mondial, 178 countries", "University", "chain"
MONDIAL, UW = Path("mondial/csv"), Path("rel-uw")
PERCENTAGE = "Religion.Percentage"
MOST = 100_000  # joined rows of a country in PART: its join can be made
TABLES = (2, 3, 4, 5, 6)
SHORT = 1_000  # rows of each table of Figure 8, whose join can be made
ROWS = (200_000, 400_000, 600_000, 800_000, 1_000_000)  # of each table of Figure 9
REACHING = (5_000, 15_000, 50_000, 150_000, 500_000, 1_500_000, 5_000_000)  # of each of two tables
DEPTH = 5
MIDDLE, MIDDLE_DEPTH = 50_000, 8  # rows of each party of a chain, and depth of the tree
PER_KEY = 4  # rows of a table that have the same key, on average
FOLDS = 5
SEEDS = 3
LONG_SEEDS = 1  # of long tables with parties, who take minutes to intersect their keys
JOINED = "join"
TEST = 1_000  # added to the seed of the data that trees are tried on


@dataclass(frozen=True)
class Setting:
    """What is run.

    Parameters
    ----------
    data : str
        "Mondial", the part of it whose join can be made, "University", or "chain".
    tables : int
        How many tables there are.
    rows : int
        Expected rows of each table of a chain; of real data 0.
    ignore : str
        A column that splits may not ask about; empty: they may ask about all.
    depth : int or None
        Largest depth of the tree.
    seed : int
        Of generated data, or of the folds.
    """

    data: str
    tables: int
    rows: int = 0
    ignore: str = ""
    depth: int | None = None
    seed: int = 0

    @property
    def is_joined(self) -> bool:
        """Whether the join can be made."""
        return self.data in (PART, UNIVERSITY) or self.rows == SHORT

    @property
    def is_private(self) -> bool:
        """Whether the tree is grown by parties, too."""
        is_one = self.data == WHOLE or (self.data == CHAIN and self.depth != DEPTH)
        return is_one and self.seed < (SEEDS if self.rows <= SHORT else LONG_SEEDS)


@dataclass(frozen=True)
class Result:
    """What came of it. Accuracies are shares of the rows of the target table, and of joined rows.

    Parameters
    ----------
    source_rows, joined_rows : int
        Rows of all tables, and of their join.
    nodes, unpruned_nodes : int
        Nodes of the tree, and before pruning.
    reached : int
        Rows of the tables that reached a node, summed over all nodes that were split or tried.
    seconds, megabytes : float
        CPU time of MultiTbl, and by how much memory grew at its peak.
    known_target, known_joined : float or None
        Accuracy on the rows that the tree was trained on.
    new_target, new_joined : float or None
        Accuracy on other rows: of folds left out of the training, or generated with another seed.
    alone_target, alone_joined : float or None
        The same, on other rows, of a tree over the target table alone.
    heaviest : float or None
        The share of the joined rows that the heaviest 1% of the target rows own.
    alike_target, alike_joined : float or None
        The largest accuracy on the rows of the training, if all religions of a country are predicted alike.
    join_seconds, join_megabytes : float or None
        The same costs of the join.
    build_seconds : float or None
        CPU time of the same learner on the joined table.
    both_megabytes : float or None
        By how much memory grew at the peak of join and learner together.
    fit_seconds, fit_cpu_seconds : float or None
        Elapsed and CPU time of MultiTbl on all cores, measured next to SecureMultiTbl.
    secure_seconds, secure_cpu_seconds : float or None
        Elapsed time of SecureMultiTbl without the intersection of keys, and the CPU time of all parties together.
    intersection_seconds, intersection_cpu_seconds : float or None
        The same of the intersection.
    secure_megabytes : float or None
        By how much the memory of a party grew at its peak, of the one that needs most.
    sent_megabytes, intersection_megabytes : float or None
        What all parties have sent without the intersection, and in it.
    levels, messages : int or None
        Levels of the tree before pruning, and how many messages all parties have sent.
    """

    source_rows: int
    joined_rows: int
    nodes: int
    unpruned_nodes: int
    reached: int
    seconds: float
    megabytes: float
    known_target: float | None = None
    known_joined: float | None = None
    new_target: float | None = None
    new_joined: float | None = None
    alone_target: float | None = None
    alone_joined: float | None = None
    heaviest: float | None = None
    alike_target: float | None = None
    alike_joined: float | None = None
    join_seconds: float | None = None
    join_megabytes: float | None = None
    build_seconds: float | None = None
    both_megabytes: float | None = None
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = None
    secure_seconds: float | None = None
    secure_cpu_seconds: float | None = None
    intersection_seconds: float | None = None
    intersection_cpu_seconds: float | None = None
    secure_megabytes: float | None = None
    sent_megabytes: float | None = None
    intersection_megabytes: float | None = None
    levels: int | None = None
    messages: int | None = None

    @property
    def both_seconds(self) -> float | None:
        """CPU time of join and learner."""
        if self.join_seconds is None or self.build_seconds is None:
            return None
        return self.join_seconds + self.build_seconds

    @property
    def ratio(self) -> float | None:
        """The same as a multiple of the time of MultiTbl."""
        return None if self.both_seconds is None else self.both_seconds / self.seconds

    @property
    def overhead(self) -> float | None:
        """Elapsed time of SecureMultiTbl without the intersection, as a multiple of MultiTbl's."""
        return self._times_fit("seconds")

    @property
    def cpu_overhead(self) -> float | None:
        """The same of CPU times."""
        return self._times_fit("cpu_seconds")

    def _times_fit(self, unit: str) -> float | None:
        secure, fit = getattr(self, f"secure_{unit}"), getattr(self, f"fit_{unit}")
        return None if secure is None else secure / fit

    @property
    def bytes_per_row(self) -> float | None:
        """What parties have sent without the intersection, for each row of a table."""
        return None if self.sent_megabytes is None else 1e6 * self.sent_megabytes / self.source_rows

    @property
    def bytes_per_joined_row(self) -> float | None:
        """The same for each joined row."""
        return None if self.sent_megabytes is None else 1e6 * self.sent_megabytes / self.joined_rows

    @property
    def microseconds_for_each(self) -> float:
        """CPU time for each row that reached a node."""
        return 1e6 * self.seconds / self.reached


def settings() -> Iterator[Setting]:
    """Figures 7 to 9, then time against the rows that reach a node."""
    for seed in range(SEEDS):
        for data, ignore in product((WHOLE, PART), (PERCENTAGE, "")):
            yield Setting(data, 12, ignore=ignore, seed=seed)
        yield Setting(UNIVERSITY, 5, seed=seed)
        for tables in TABLES:
            yield Setting(CHAIN, tables, SHORT, seed=seed)
        for rows in ROWS:
            yield Setting(CHAIN, 2, rows, seed=seed)
    for seed, tables in product(range(LONG_SEEDS), TABLES):
        yield Setting(CHAIN, tables, MIDDLE, depth=MIDDLE_DEPTH, seed=seed)
    for seed, rows in product(range(SEEDS), REACHING):
        yield Setting(CHAIN, 2, rows, depth=DEPTH, seed=seed)


def is_quick(setting: Setting) -> bool:
    """Whether it takes but seconds."""
    return setting.rows <= REACHING[4] and (setting.tables < TABLES[-2] or setting.data != CHAIN)


def run(setting: Setting, folder: Path) -> Result:
    """Grow the tree with MultiTbl and, if the join can be made, on the join: both must be the same."""
    result, trees = in_child(_multi_tbl, setting, folder)
    if setting.is_private:
        result = replace(result, **in_child(_secure_multi_tbl, setting, folder))
    if not setting.is_joined:
        return result
    joined_rows, costs, same = in_child(_join_then_build, setting, folder)
    assert joined_rows == result.joined_rows, setting
    assert same == trees, setting
    return replace(result, **costs)


def _multi_tbl(setting: Setting, folder: Path) -> tuple[Result, list[Any]]:
    made = _made(setting, folder)
    _trained(generate.chain(2, rows=100, keys=25))  # what is loaded with the first tree costs nothing
    growth = memory_growth()
    classifier, seconds = cpu(lambda: _trained(made, setting))
    result = Result(
        source_rows=sum(one.num_rows for one in made.tables.values()),
        joined_rows=classifier.joined_rows_,
        nodes=len(classifier.tree_),
        unpruned_nodes=len(classifier.unpruned_tree_),
        reached=sum(classifier.rows_by_level_),
        seconds=seconds,
        megabytes=growth(),
    )
    if setting.depth is None:
        result = replace(result, **_accuracies(setting, made, classifier))
    return result, _told(classifier)


def _secure_multi_tbl(setting: Setting, folder: Path) -> dict[str, float]:
    """The same tree, grown by a party for each table, none of which has the column that is ignored."""
    made = _made(setting, folder)
    table, _, column = setting.ignore.partition(".")
    tables = {name: one.drop_columns([column]) if name == table else one for name, one in made.tables.items()}
    return secure_costs(made._replace(tables=tables), {} if setting.depth is None else {"max_depth": setting.depth})


def _made(setting: Setting, folder: Path) -> Made:
    if setting.data == CHAIN:
        return _chain(setting, setting.seed)
    data = uw(folder / UW) if setting.data == UNIVERSITY else mondial(folder / MONDIAL)
    made = Made(data.tables, data.joins, data.target)
    if setting.data != PART:
        return made
    joined_rows = JoinClassifier(max_depth=0).fit(made.tables, joins=made.joins, target=made.target).votes(made.tables)
    countries = _countries(made)
    of_country = np.bincount(countries, joined_rows.sum(axis=1))[countries]
    return _with_targets(made, (of_country > 0) & (of_country <= MOST))


def _countries(made: Made) -> npt.NDArray[np.int64]:
    """The number of the country of each target row."""
    return np.unique(made.tables["Religion"]["Country"].to_numpy(zero_copy_only=False), return_inverse=True)[1]


def _chain(setting: Setting, seed: int) -> Made:
    return generate.chain(setting.tables, rows=setting.rows, keys=setting.rows // PER_KEY, random_state=seed)


def _with_targets(made: Made, chosen: npt.NDArray[np.bool_]) -> Made:
    """The same with some rows of the target table; the other tables stay as they are."""
    name = made.target.partition(".")[0]
    return made._replace(tables=made.tables | {name: made.tables[name].filter(pa.array(chosen))})


def _trained(made: Made, setting: Setting | None = None) -> JoinClassifier:
    ignore = (setting.ignore,) if setting and setting.ignore else ()
    classifier = JoinClassifier(max_depth=setting.depth if setting else None, ignore=ignore, threads=1)
    return classifier.fit(made.tables, joins=made.joins, target=made.target)


def _told(classifier: JoinClassifier) -> list[Any]:
    """All nodes before and after pruning; a column of the join is named after its table."""
    return [
        (node.split and _named(node.split), node.gain, node.counts, node.label)
        for tree in (classifier.unpruned_tree_, classifier.tree_)
        for node in tree.root.walk()
    ]


def _named(split: Split) -> tuple[str, object]:
    return split.column if split.table == JOINED else split.name, split.value


def _accuracies(setting: Setting, made: Made, classifier: JoinClassifier) -> dict[str, float | None]:
    """On the rows of the training, and on others: other folds of real data, another chain."""
    new: Accuracy | None
    alone: Accuracy | None
    alike: Accuracy | None = None
    if setting.data == CHAIN:
        found = evaluate(classifier, made.tables, folds=0)
        new, alone = _on_another_chain(setting, made, classifier)
    else:
        is_mondial = setting.data != UNIVERSITY
        groups = "Religion.Country" if is_mondial else None
        found = evaluate(classifier, made.tables, folds=FOLDS, groups=groups, random_state=setting.seed)
        new, alone = (found.by_row.tree, found.by_row.baseline) if found.by_row else (None, None)
        alike = _if_alike(made, classifier) if is_mondial else None
    tried = {"known": found.resubstitution, "new": new, "alone": alone, "alike": alike}
    shares: dict[str, float | None] = {"heaviest": found.heaviest.one_percent}
    for name, accuracy in tried.items():
        shares[f"{name}_target"] = accuracy and accuracy.target_rows
        shares[f"{name}_joined"] = accuracy and accuracy.joined_rows
    return shares


def _if_alike(made: Made, classifier: JoinClassifier) -> Accuracy:
    """The largest accuracy if all target rows of a country are predicted alike: of its largest class."""
    countries = _countries(made)
    is_christian = made.tables["Religion"]["Class"].to_numpy(zero_copy_only=False) == "Christian"
    shares = []
    for weights in (np.ones(len(countries)), classifier.votes(made.tables).sum(axis=1).astype(np.float64)):
        by_class = [np.bincount(countries, np.where(chosen, weights, 0)) for chosen in (is_christian, ~is_christian)]
        shares.append(float(np.maximum(*by_class).sum() / weights.sum()))
    return Accuracy(*shares)


def _on_another_chain(setting: Setting, made: Made, classifier: JoinClassifier) -> tuple[Accuracy, Accuracy | None]:
    """Accuracy of the tree, and of one over the target table alone."""
    tables = _chain(setting, setting.seed + TEST).tables
    new = Accuracy(classifier.score(tables), classifier.score_joined(tables))
    if setting.rows > SHORT:  # over a long table alone, a tree has tens of thousands of nodes
        return new, None
    alone = JoinClassifier(ignore=["T1.next"], threads=1).fit({"T1": made.tables["T1"]}, target=made.target)
    right = alone.predict({"T1": tables["T1"]}) == tables["T1"]["Class"].to_numpy()
    joined_rows = classifier.votes(tables).sum(axis=1)
    return new, Accuracy(float(right.mean()), float(joined_rows[right].sum() / joined_rows.sum()))


def _join_then_build(setting: Setting, folder: Path) -> tuple[int, dict[str, float], list[Any]]:
    """The same tree by computing the join. The clock starts when DuckDB has the tables."""
    made = _made(setting, folder)
    target = f"{JOINED}.{made.target}"
    _trained(generate.chain(2, rows=100, keys=25))
    with duckdb.connect() as database:
        database.execute("SET threads = 1; SET enable_progress_bar = false")
        query = _loaded(database, made, setting.ignore)
        growth = memory_growth()
        joined, join_seconds = cpu(lambda: database.sql(query).to_arrow_table())
        join_megabytes = growth()
        classifier, seconds = cpu(lambda: JoinClassifier(threads=1).fit({JOINED: joined}, target=target))
        costs = {"join_seconds": join_seconds, "join_megabytes": join_megabytes, "build_seconds": seconds}
        return joined.num_rows, costs | {"both_megabytes": growth()}, _told(classifier)


def _loaded(database: duckdb.DuckDBPyConnection, made: Made, ignore: str) -> str:
    """The query of the join, without keys; the tables are in the database, numbers and text as narrow as can be.

    Columns of the join are named "table.column", in the order of tables and columns.
    """
    left_out = {ignore}.union(*made.joins)
    chosen = []
    for name, given in made.tables.items():
        database.register("given", given)
        columns = [column for column in given.column_names if f"{name}.{column}" not in left_out]
        chosen += [f'"{name}"."{column}" AS "{name}.{column}"' for column in columns]
        database.execute(f'CREATE TABLE "{name}" AS FROM given')
        for column in columns:
            kind = _narrow_type(database, column, given[column])
            database.execute(f'ALTER TABLE "{name}" ALTER "{column}" TYPE {kind}')
        database.unregister("given")
    equal = " AND ".join(" = ".join(map(_quoted, pair)) for pair in made.joins)
    tables = ", ".join(f'"{name}"' for name in made.tables)
    return f"SELECT {', '.join(chosen)} FROM {tables} WHERE {equal}"  # noqa: S608


def _narrow_type(database: duckdb.DuckDBPyConnection, name: str, column: pa.ChunkedArray) -> str:
    """The type of a column of the table "given": a code for text, few bytes for small numbers."""
    if pa.types.is_string(column.type):
        kind = f'"{uuid4()}"'
        values = f'SELECT DISTINCT "{name}" FROM given WHERE "{name}" IS NOT NULL ORDER BY 1'  # noqa: S608
        database.execute(f"CREATE TYPE {kind} AS ENUM ({values})")
        return kind
    if pa.types.is_integer(column.type) and pc.max(pc.abs(column)).as_py() < 2**15:
        return "SMALLINT"
    return str(database.sql(f'SELECT "{name}" FROM given').types[0])  # noqa: S608


def _quoted(name: str) -> str:
    return ".".join(f'"{part}"' for part in name.split("."))
