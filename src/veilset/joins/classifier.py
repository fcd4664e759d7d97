"""`JoinClassifier`: a decision tree over several tables, identical to the one grown on their join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.errors import InvalidArgument, UnreadableInput, said
from veilset.io import atomic_folder
from veilset.joins.classes import class_array, class_codes, class_numbers
from veilset.joins.columns import Attribute
from veilset.joins.estimator import Estimator
from veilset.joins.graph import Place, resolved
from veilset.joins.growing import Grown, Stop, grow
from veilset.joins.keys import KEY_STEPS, KeyRule
from veilset.joins.linked import LinkedTables, read_records, with_counts
from veilset.joins.model_file import check_model_place, read_model, write_model
from veilset.joins.parameters import check_parameters
from veilset.joins.propagation import propagate_classes
from veilset.joins.pruning import pruned
from veilset.joins.site import ROOT
from veilset.joins.tree import Node, Tree
from veilset.joins.votes import Votes, count_votes, leaves_reached, winners
from veilset.joins.written import options_from, written_options
from veilset.limits import Limits, Progress
from veilset.options import Option

Given: TypeAlias = Mapping[str, Any] | LinkedTables
"""Tables by name, in any form, or tables that were read and linked before."""


class JoinClassifier(Estimator):
    """A decision tree over several tables, without computing their join (thesis ch. 3, MultiTbl).

    The tree is the one that would be grown on the join: the same splits, the same counts of joined rows. Time and
    memory depend on the tables, not on the join, which can be many orders of magnitude larger.

    Parameters
    ----------
    max_depth : int, optional
        Largest number of splits on the way to a leaf. None: no limit.
    min_leaf : int
        Minimum number of joined rows in a leaf.
    prune : float, optional
        Confidence level of pessimistic pruning. Lower prunes more; None does not prune.
    split_joins : bool
        Whether splits may ask about key columns.
    ignore : sequence of str
        Columns that splits may not ask about, as "table.column".
    keys : str or sequence of str
        How keys are written before they are compared: "nfc", "strip", "case", "zeros", "dates". None of them: exactly.
    threads, memory_limit, time_limit, progress
        As for every long function; see `Limits`.

    Attributes
    ----------
    tree_, unpruned_tree_ : Tree
        The tree, and the one before pruning.
    classes_ : array
        The classes, in order.
    feature_names_ : list of str
        The columns that splits may ask about, as "table.column".
    feature_types_ : dict
        Their types.
    class_counts_ : tuple of int
        How many rows of the target table each class has.
    joined_rows_ : int
        How many rows the join has.
    matches_ : tuple of Match
        How many rows of neighbouring tables match.
    feature_importances_, table_importances_ : dict
        The share of each column, and each table, in the information gained.
    rows_by_level_ : tuple of int
        How many rows of all tables reached each level of the tree; a row can reach several nodes.

    Examples
    --------
    >>> t1 = pa.table({"J1": ["a", "b", "b", "b"], "J2": ["x", "x", "y", "y"], "Class": ["C1", "C2", "C1", "C2"]})
    >>> t2 = pa.table({"J1": ["a", "c", "b", "a"], "Age": [3, 9, 7, 20]})
    >>> t3 = pa.table({"J2": ["x", "y", "x"]})
    >>> tables = {"T1": t1, "T2": t2, "T3": t3}
    >>> joins = [("T1.J1", "T2.J1"), ("T1.J2", "T3.J2")]
    >>> classifier = JoinClassifier().fit(tables, joins=joins, target="T1.Class")
    >>> print(classifier.tree_.to_text())
    T2.Age ≤ 3? (8 joined rows; C1: 5, C2: 3)
    ├─ yes → C1 (2 joined rows; C1: 2)
    └─ no:  T2.Age ≤ 7? (6 joined rows; C1: 3, C2: 3)
       ├─ yes → C2 (4 joined rows; C1: 1, C2: 3)
       └─ no  → C1 (2 joined rows; C1: 2)
    >>> classifier.predict(tables).tolist()
    ['C1', 'C2', 'C2', 'C2']
    """

    def __init__(
        self,
        *,
        max_depth: Annotated[
            int | None,
            Option("whole or unlimited", "Largest number of splits on the way to a leaf.", example="8", least=0),
        ] = None,
        min_leaf: Annotated[int, Option("whole", "Minimum number of joined rows in a leaf.", example="10")] = 1,
        prune: Annotated[
            float | None,
            Option("share or none", "Confidence level of pessimistic pruning. Lower prunes more.", example="0.25"),
        ] = 0.25,
        split_joins: Annotated[bool, Option("switch", "Let splits ask about key columns.")] = False,
        ignore: Annotated[
            Sequence[str],
            Option("texts", "Columns that splits may not ask about, as TABLE.COLUMN.", example="orders.note"),
        ] = (),
        keys: Annotated[
            str | Sequence[str],
            Option(
                "words",
                "How keys are written before they are compared. Default: exactly.",
                example="strip,case",
                choices=KEY_STEPS,
            ),
        ] = (),
        threads: int | None = None,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.prune = prune
        self.split_joins = split_joins
        self.ignore = ignore
        self.keys = keys
        self.threads = threads
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.progress = progress

    def fit(
        self,
        tables: Given,
        *,
        joins: Sequence[tuple[str, str] | str] = (),
        target: str,
        limits: Limits | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        tables : mapping
            The tables, by name: frames, Arrow tables, paths of files, or queries. Or tables that are linked already.
        joins : sequence
            Which columns are equal: pairs like ``("T1.J1", "T2.J1")``.
        target : str
            The column with the class, as "table.column".
        limits : Limits, optional
            Those of a longer run that this is a part of; otherwise those of the classifier.
        """
        limits, stop = limits or self.limits(), self.check()
        linked = LinkedTables.read(tables, joins, self.keys, limits)
        given, graph = linked.tables, linked.graph
        place = resolved(target, {name: table.column_names for name, table in given.items()})
        linked.check_matches()
        codes, classes = class_codes(given[place[0]], place[1])
        if not classes:
            raise InvalidArgument(
                f"The column {target!r} has no value in {len(codes):,} rows.", "Give the column that says the class."
            )
        asked = self._attributes(linked, place, limits)

        def run(wide: bool) -> Grown:
            sites = linked.sites(asked, len(classes), wide, limits)
            sites[place[0]].start(codes)
            propagate_classes(sites, graph, place[0])
            if not any(sites[place[0]].counts(ROOT)):
                raise InvalidArgument(
                    f"No row of {place[0]} that has a class matches rows in all other tables:\n{linked.described()}",
                    "Leave out the table that matches least.",
                )
            return grow(sites, graph, stop, limits)

        grown: Grown = with_counts(run)
        unpruned = Tree(tuple(classes), grown.root)
        tree = unpruned if self.prune is None else Tree(tuple(classes), pruned(grown.root, self.prune))
        # From here on nothing fails: an error leaves what was learned before.
        self.graph_, self.target_, self.matches_ = graph, place, linked.matches
        self.class_counts_ = tuple(np.bincount(codes[codes >= 0], minlength=len(classes)).tolist())
        self.feature_types_ = {f"{name}.{one.name}": str(one.values.type) for name in asked for one in asked[name]}
        self.rows_by_level_, self.unpruned_tree_ = grown.rows_by_level, unpruned
        self._learned(tree)
        return self

    def predict(self, tables: Given) -> npt.NDArray[Any]:
        """The class of each row of the target table: what most of its joined rows vote for.

        Of equal votes, the first class wins. A row that matches nothing gets the class that most rows of the target
        table had in training. `link` tells how many rows match.
        """
        votes = self.votes(tables)
        chosen: npt.NDArray[Any] = self.classes_[winners(votes, self.unmatched.label)]
        return chosen

    def predict_proba(self, tables: Given) -> npt.NDArray[np.float64]:
        """For each row of the target table and each class, the share of votes of its joined rows.

        A row that matches nothing gets the shares that the classes had in the target table in training.
        """
        votes = self.votes(tables)
        totals = votes.sum(axis=1)
        shares = np.tile(np.array(self.unmatched.shares), (len(votes), 1))
        matched = totals > 0
        shares[matched] = (votes[matched] / totals[matched, None]).astype(np.float64)
        return shares

    def votes(self, tables: Given, *, limits: Limits | None = None) -> Votes:
        """For each row of the target table and each class, how many of its joined rows vote for it."""
        limits = limits or self.limits()
        linked = self.link(tables, limits=limits)
        return count_votes(self.tree_.root, linked, self.target_[0], limits)

    def predict_joined(self, records: Mapping[str, Any]) -> npt.NDArray[Any]:
        """The class of each joined record; its parts have the same position in all tables."""
        tables = self._records(records)
        labels = np.empty(next(iter(tables.values())).num_rows, np.int64)
        for leaf, rows in leaves_reached(self.tree_.root, tables, len(labels)):
            labels[rows] = leaf.label
        chosen: npt.NDArray[Any] = self.classes_[labels]
        return chosen

    def predict_joined_proba(self, records: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        """For each joined record, the share of each class in its leaf."""
        tables = self._records(records)
        shares = np.empty((next(iter(tables.values())).num_rows, len(self.classes_)))
        for leaf, rows in leaves_reached(self.tree_.root, tables, len(shares)):
            shares[rows] = leaf.shares
        return shares

    def score(self, tables: Given) -> float:
        """The share of rows of the target table that are predicted right, of those with a class."""
        truth, votes = self._judged(tables)
        return float(np.mean(winners(votes, self.unmatched.label) == truth))

    def score_joined(self, tables: Given) -> float:
        """The share of joined rows that are predicted right, of those with a class."""
        truth, votes = self._judged(tables)
        if not votes.any():
            raise InvalidArgument(
                f"No row of {self.target_[0]} with a class matches rows in all other tables, so none can be judged.",
                f"Check {said('tables')}, or ask for the score of target rows.",
            )
        seen = truth >= 0
        return float(votes[seen, truth[seen]].sum() / votes.sum())

    def save(self, path: str | Path, *, replace: bool = False) -> None:
        """Write the trained classifier to a folder that only you can open, as JSON.

        The tree before pruning is not written.

        Parameters
        ----------
        path : path
            The folder. It must not exist, unless *replace* is true and it has a model.
        """
        check_model_place(Path(path), replace=replace)
        with atomic_folder(Path(path), replace=replace) as folder:
            self.write(folder)

    def write(self, folder: Path) -> None:
        """Write the trained classifier into a folder that exists."""
        self._check_fitted()
        options = {**self.get_params(), "ignore": list(self.ignore), "keys": list(KeyRule.of(self.keys).steps)}
        write_model(folder, self, written_options(type(self), options))

    @classmethod
    def load(cls, path: str | Path, **limits: Any) -> Self:
        """The classifier in a folder that `save` or ``veilset join train`` has written.

        *limits* are threads, memory_limit, time_limit and progress.
        """
        model, graph, tree = read_model(path)
        try:
            loaded = cls(**options_from(cls, model.options, "options"), **limits)
        except InvalidArgument as error:
            raise UnreadableInput(*error.args).within(f"{str(path)!r}: ") from None
        loaded.graph_, loaded.matches_, loaded.target_ = graph, model.matches, model.target
        loaded.feature_types_ = dict(model.feature_types)
        loaded.rows_by_level_, loaded.class_counts_ = model.rows_by_level, model.class_counts
        loaded._learned(tree)
        return loaded

    @property
    def unmatched(self) -> Node:
        """All rows of the target table in training, as a leaf: it stands for rows that match nothing."""
        self._check_fitted()
        return Node(self.class_counts_)

    def _learned(self, tree: Tree) -> None:
        self.tree_ = tree
        self.classes_ = class_array(tree.classes)
        self.feature_names_ = list(self.feature_types_)
        self.n_features_in_ = len(self.feature_names_)
        self.joined_rows_ = tree.root.rows
        self.feature_importances_ = tree.importances()
        self.table_importances_ = tree.table_importances()

    def _judged(self, tables: Given) -> tuple[npt.NDArray[np.int64], Votes]:
        """The class and the votes of each target row that has a class."""
        limits = self.limits()
        linked = self.link(tables, limits=limits)
        truth = class_numbers(linked.tables[self.target_[0]], self.target_[1], self.tree_.classes)
        if not (truth > -2).any():
            raise InvalidArgument(
                f"None of {len(truth):,} rows of {self.target_[0]} has a class, so none can be judged.",
                f"Give rows with a value of {'.'.join(self.target_)}.",
            )
        return truth[truth > -2], self.votes(linked, limits=limits)[truth > -2]

    def limits(self) -> Limits:
        """The limits of a run that begins now."""
        return Limits(self.threads, self.memory_limit, self.time_limit, self.progress)

    def check(self) -> Stop:
        """Raise if a parameter is not what it should be; else, when to stop."""
        check_parameters(self.get_params())
        return Stop(self.max_depth, self.min_leaf)

    def _attributes(self, linked: LinkedTables, target: Place, limits: Limits) -> dict[str, tuple[Attribute, ...]]:
        columns = {name: table.column_names for name, table in linked.tables.items()}
        left_out = {resolved(name, columns) for name in self.ignore} | {target} | linked.told_by(*target)
        if not self.split_joins:
            left_out |= {(name, column) for name in columns for column in linked.graph.join_columns(name)}
        return {
            name: linked.attributes(name, [column for column in there if (name, column) not in left_out], limits)
            for name, there in columns.items()
        }

    def link(self, given: Given, *, limits: Limits | None = None) -> LinkedTables:
        """Tables to predict for, read and linked like those of the training."""
        self._check_fitted()
        if isinstance(given, LinkedTables):
            return given
        rule, limits = KeyRule.of(self.keys), limits or self.limits()
        return LinkedTables.again(given, self.graph_, self._asked(), rule, limits, self._texts())

    def _asked(self) -> dict[str, dict[str, str]]:
        """The columns that the tree asks about, by table, with their types in training."""
        asked: dict[str, dict[str, str]] = {}
        for node in self.tree_.root.walk():
            if node.split is not None:
                asked.setdefault(node.split.table, {})[node.split.column] = self.feature_types_[node.split.name]
        return asked

    def _texts(self) -> set[tuple[str, str]]:
        """The columns, by table, that hold text: those that the tree asks about, and the class."""
        texts = {
            (name, column)
            for name, types in self._asked().items()
            for column, of in types.items()
            if of in ("string", "large_string", "string_view")
        }
        is_text = all(isinstance(label, str) for label in self.tree_.classes)
        return texts | {self.target_} if is_text else texts

    def _check_fitted(self) -> None:
        if not hasattr(self, "tree_"):
            raise InvalidArgument("This classifier has not been trained.", "Call fit first.")

    def _records(self, records: Mapping[str, Any]) -> dict[str, pa.Table]:
        self._check_fitted()
        return read_records(records, self._asked(), self.limits(), self._texts())
