"""The secure decision tree (thesis §3.2): structure, class counts and the table that splits each node; no criteria."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictFloat, StrictInt, StrictStr, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io import write_durably
from veilset.io.toml_files import Section
from veilset.joins.model_file import MODEL, finite
from veilset.joins.pruning import pruned
from veilset.joins.tree import Node, Split, Tree

_ADVICE = "Train it again: veilset join train."

Count = Annotated[StrictInt, Field(ge=0)]


@dataclass(frozen=True)
class PrivateSplit(Split):
    """A split that only the owner of its table knows.

    >>> print(PrivateSplit("visits", number=3))
    visits: private split 3
    """

    column: str = ""
    kind: Literal["number", "category"] = "category"
    value: Any = None
    number: int = 0

    @property
    def name(self) -> str:
        """Its table: the column is not known."""
        return self.table

    def __str__(self) -> str:
        return f"{self.table}: private split {self.number}"


class NodePart(Section):
    """A node: its number, by which the owner of its split knows it, its counts, and its children."""

    number: Count
    counts: tuple[Count, ...]
    table: StrictStr | None = None
    gain: Annotated[StrictFloat, AfterValidator(finite)] = 0.0
    children: tuple[Count, ...] = ()


class SecureModel(Section):
    """The content of ``model.json`` of a secure tree: what every party knows."""

    schema_version: Literal[1] = 1
    kind: Literal["secure tree"] = "secure tree"
    made_by: StrictStr
    run: StrictStr
    study: StrictStr
    owners: dict[StrictStr, StrictStr]
    classes: tuple[bool | int | str, ...]
    identical: bool = True
    nodes: Annotated[tuple[NodePart, ...], Field(min_length=1)]

    @classmethod
    def of(cls, tree: Tree, run: str, study: Any, identical: bool) -> SecureModel:
        """The model of a tree that was grown in a run of a study."""
        nodes = list(tree.root.walk())
        numbers = {id(node): place for place, node in enumerate(nodes)}  # for leaves, which nobody asks about
        parts = [
            NodePart(
                number=node.split.number if isinstance(node.split, PrivateSplit) else 0,
                counts=node.counts,
                table=None if node.split is None else node.split.table,
                gain=node.gain,
                children=tuple(numbers[id(child)] for child in node.children),
            )
            for node in nodes
        ]
        return cls(
            made_by=f"veilset {version('veilset')}",
            run=run,
            study=study.hash,
            owners=study.owners,
            classes=study.classes,
            identical=identical,
            nodes=tuple(parts),
        )

    def tree(self) -> Tree:
        """The tree, checked."""
        nodes = [Node(part.counts) for part in self.nodes]
        places = [place for part in self.nodes for place in part.children]
        if sorted(places) != list(range(1, len(nodes))):
            raise ValueError("nodes: each but the first must be the child of one other")
        for at, (part, node) in enumerate(zip(self.nodes, nodes, strict=True)):
            if len(part.counts) != len(self.classes) or not any(part.counts):
                raise ValueError(f"nodes.{at}.counts: {len(self.classes)} counts are needed, not all of them 0")
            if (part.table is None) != (not part.children) or len(part.children) not in (0, 2):
                raise ValueError(f"nodes.{at}: a table and two children are needed, or neither")
            if part.table is not None:
                if part.table not in self.owners or min(part.children) <= at:
                    raise ValueError(f"nodes.{at}: its table or its children do not exist")
                node.split, node.gain = PrivateSplit(part.table, number=part.number), part.gain
                node.children = tuple(nodes[place] for place in part.children)
                below = zip(*(child.counts for child in node.children), strict=False)
                if tuple(map(sum, below)) != node.counts:
                    raise ValueError(f"nodes.{at}.counts: the counts of its children do not add up to them")
            for child in node.children:
                child.depth = node.depth + 1
        return Tree(self.classes, nodes[0])

    def write(self, folder: Path) -> None:
        """Write it into a folder that exists."""
        write_durably(folder / MODEL, json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> SecureModel:
        """The model in a folder, checked."""
        file = Path(path) / MODEL if Path(path).is_dir() else Path(path)
        try:
            model = cls.model_validate_json(file.read_bytes())
            model.tree()
        except OSError as error:
            raise UnreadableInput(f"{str(file)!r} cannot be read: {error.strerror}.", _ADVICE) from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise UnreadableInput(f"{str(file)!r} is not a secure tree: {where}: {first['msg']}.", _ADVICE) from None
        except ValueError as error:
            raise UnreadableInput(f"{str(file)!r} is not a secure tree: {error}.", _ADVICE) from None
        return model

    @staticmethod
    def is_one(path: Path) -> bool:
        """Whether a folder has a secure tree."""
        try:
            content = json.loads((path / MODEL).read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(content, dict) and content.get("kind") == "secure tree"


def kept_splits(root: Node, confidence: float | None) -> tuple[Node, dict[int, str]]:
    """The tree after pruning, and the numbers of nodes that are still split, with their tables."""
    tree = root if confidence is None else pruned(root, confidence)
    kept = {node.split.number: node.split.table for node in tree.walk() if isinstance(node.split, PrivateSplit)}
    return tree, kept


def check_study(model: SecureModel, study_hash: str) -> None:
    """Raise if a model was not trained by this study."""
    if model.study != study_hash:
        raise InvalidArgument(
            f"The model was trained by the study {model.study[:16]}…; this one is {study_hash[:16]}….",
            "Give the study that it was trained by.",
        )
