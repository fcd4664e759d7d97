"""A trained tree on disk: a folder with ``model.json``. It is data, not code: a model of a stranger can be read safely.

The file has what predictions need, and what a report says of the training. The tree before pruning is not in it: it
tells more about the rows that it was grown on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import AfterValidator, BeforeValidator, Field, StrictFloat, StrictInt, StrictStr, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io import check_place, write_durably
from veilset.io.toml_files import Section
from veilset.joins.classes import class_values
from veilset.joins.columns import Kind
from veilset.joins.graph import Edge, JoinGraph
from veilset.joins.linked import Match
from veilset.joins.tree import Node, Split, Tree
from veilset.joins.values import family, from_json, to_json

MODEL = "model.json"
REPORT = "report.html"

_ADVICE = "Train it again: veilset join train."


def finite(gain: float) -> float:
    """An information gain, or a ValueError if it is none."""
    if not (math.isfinite(gain) and gain >= 0):
        raise ValueError("must be a number from 0")
    return gain


Count = Annotated[StrictInt, Field(ge=0)]
Value = Annotated[Any, BeforeValidator(from_json)]


class SplitPart(Section):
    """What a node asks."""

    table: StrictStr
    column: StrictStr
    kind: Kind
    value: Value


class NodePart(Section):
    """A node; *children* are the places of two others, further down in the list."""

    counts: tuple[Count, ...]
    split: SplitPart | None = None
    gain: Annotated[StrictFloat, AfterValidator(finite)] = 0.0
    children: tuple[Count, ...] = ()


class Model(Section):
    """The content of ``model.json``."""

    schema_version: Literal[1] = 1
    made_by: StrictStr
    target: tuple[StrictStr, StrictStr]
    options: dict[str, Any]
    tables: tuple[StrictStr, ...]
    edges: tuple[Edge, ...]
    matches: tuple[Match, ...]
    feature_types: dict[StrictStr, StrictStr]
    rows_by_level: tuple[Count, ...]
    classes: tuple[Value, ...]
    class_counts: tuple[Count, ...]
    nodes: tuple[NodePart, ...]

    @classmethod
    def of(cls, fitted: Any, options: dict[str, Any]) -> dict[str, Any]:
        """What the file says of a trained classifier, as JSON has it."""
        graph, tree = fitted.graph_, fitted.tree_
        return {
            "schema_version": 1,
            "made_by": f"veilset {version('veilset')}",
            "target": list(fitted.target_),
            "options": options,
            "tables": list(graph.tables),
            "edges": [vars(edge) for edge in graph.edges],
            "matches": [vars(match) for match in fitted.matches_],
            "feature_types": fitted.feature_types_,
            "rows_by_level": list(fitted.rows_by_level_),
            "classes": list(map(to_json, tree.classes)),
            "class_counts": list(fitted.class_counts_),
            "nodes": list(_written(tree)),
        }

    def graph(self) -> JoinGraph:
        """The join graph."""
        widths = [len(edge.left_columns) == len(edge.right_columns) > 0 for edge in self.edges]
        sides = [side for edge in self.edges for part in (edge.left_columns, edge.right_columns) for side in part]
        if not all(widths) or not all(sides) or not self._is_tree():
            raise ValueError("edges: they do not connect the tables")
        if self.target[0] not in self.tables:
            raise ValueError(f"target: there is no table {self.target[0]!r}")
        return JoinGraph(self.tables, self.edges)

    def _is_tree(self) -> bool:
        """Whether the edges connect all tables, each in one way."""
        known = set(self.tables)
        ends = [{edge.left, edge.right} for edge in self.edges]
        if not known or not len(known) == len(self.tables) == len(ends) + 1 or not all(pair <= known for pair in ends):
            return False
        reached = {self.tables[0]}
        for _ in ends:
            reached = reached.union(*(pair for pair in ends if pair & reached))
        return reached == known

    def tree(self) -> Tree:
        """The tree, checked: every node is the child of one above it, and its rows are those of its children."""
        self._check_classes()
        if len(self.class_counts) != len(self.classes) or not any(self.class_counts):
            raise ValueError("class_counts: each class needs one, and some must be above 0")
        self._check_asked()
        if not self.nodes:
            raise ValueError("nodes: there is none")
        places = [place for part in self.nodes for place in part.children]
        if sorted(places) != list(range(1, len(self.nodes))):
            raise ValueError("nodes: each but the first must be the child of one other")
        nodes: list[Node] = [Node(part.counts) for part in self.nodes]
        for number, (part, node) in enumerate(zip(self.nodes, nodes, strict=True)):
            self._check_node(number, part)
            node.children = tuple(nodes[place] for place in part.children)
            for child in node.children:
                child.depth = node.depth + 1
            if part.split is not None:
                node.split, node.gain = Split(**vars(part.split)), part.gain
        return Tree(self.classes, nodes[0])

    def _check_classes(self) -> None:
        if not self.classes or len(set(self.classes)) != len(self.classes) or None in self.classes:
            raise ValueError("classes: each must be there once")
        try:
            class_values(self.classes)
            kinds = set(map(family, self.classes))
        except (pa.ArrowException, OverflowError):
            kinds = set()
        if len(kinds) != 1:
            raise ValueError("classes: no column has all of them")

    def _check_asked(self) -> None:
        """Raise if splits of one column compare it with values that cannot be put in order."""
        kinds: dict[tuple[str, str], Kind] = {}
        families: dict[tuple[str, str], str] = {}
        for number, part in enumerate(self.nodes):
            if (split := part.split) is None:
                continue
            place, value = (split.table, split.column), split.value
            is_category = value is None or isinstance(value, (str, bool))
            if is_category != (split.kind == "category") or split.kind != kinds.setdefault(place, split.kind):
                raise ValueError(f"nodes.{number}.split.value: {value!r} is no {kinds.get(place, split.kind)}")
            if value is not None and (other := families.setdefault(place, family(value))) != family(value):
                raise ValueError(f"nodes.{number}.split.value: {value!r} is no {other}, as in other splits")

    def _check_node(self, number: int, part: NodePart) -> None:
        where = f"nodes.{number}"
        if len(part.counts) != len(self.classes) or not any(part.counts):
            raise ValueError(f"{where}.counts: {len(self.classes)} counts are needed, not all of them 0")
        if part.split is None and not part.children:
            return
        if part.split is None or len(part.children) != 2 or min(part.children) <= number:
            raise ValueError(f"{where}: a split and two children further down are needed, or neither")
        if f"{part.split.table}.{part.split.column}" not in self.feature_types or part.split.table not in self.tables:
            raise ValueError(f"{where}.split: {part.split.table}.{part.split.column} is no column of the training")
        below = zip(*(self.nodes[place].counts for place in part.children), strict=False)
        if tuple(map(sum, below)) != part.counts:
            raise ValueError(f"{where}.counts: the counts of its children do not add up to them")


def _written(tree: Tree) -> Iterator[dict[str, Any]]:
    for node, listed in zip(tree.root.walk(), tree.to_dict()["nodes"], strict=True):
        split = node.split
        asks = {} if split is None else {"split": {**vars(split), "value": to_json(split.value)}, "gain": node.gain}
        yield {"counts": listed["counts"], **asks, **({"children": listed["children"]} if node.children else {})}


def write_model(folder: Path, fitted: Any, options: dict[str, Any]) -> None:
    """Write a trained classifier, made with these options, into a folder."""
    write_durably(folder / MODEL, json.dumps(Model.of(fitted, options), indent=1, ensure_ascii=False) + "\n")


def read_model(path: str | Path) -> tuple[Model, JoinGraph, Tree]:
    """The model in a folder, or in the file itself; anything else is refused."""
    file = Path(path) / MODEL if Path(path).is_dir() else Path(path)
    try:
        content = json.loads(file.read_bytes())
        found = content.get("schema_version") if isinstance(content, dict) else None
        if isinstance(found, int) and found != 1:
            raise UnreadableInput(
                f"{str(file)!r} has schema version {found}; this version of Veilset reads 1.", "Update Veilset."
            )
        model = Model.model_validate(content)
        return model, model.graph(), model.tree()
    except OSError as error:
        raise UnreadableInput(
            f"{str(file)!r} cannot be read: {error.strerror}.", "Give the folder that veilset join train has written."
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise _damaged(file, f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    except RecursionError:
        raise _damaged(file, "values are nested too deeply") from None
    except ValueError as error:  # not JSON, or not a tree
        raise _damaged(file, str(error)) from None


def _damaged(file: Path, why: str) -> UnreadableInput:
    return UnreadableInput(f"{str(file)!r} is not a model of Veilset: {why}.", _ADVICE)


def check_model_place(out: Path, *, replace: bool) -> None:
    """Raise if *out* cannot be made, or holds anything but a model that is to be replaced."""
    check_place(out, replace=replace)
    if not out.is_dir() or not any(out.iterdir()):
        return
    strange = sorted(path.name for path in out.iterdir() if path.name not in (MODEL, REPORT))
    if strange or not (out / MODEL).is_file():
        raise InvalidArgument(
            f"{str(out)!r} contains {strange[0]!r}, which is not part of a model; replacing it would delete that."
            if strange
            else f"{str(out)!r} is not a model by Veilset; replacing it would delete it.",
            "Choose another folder.",
        )
