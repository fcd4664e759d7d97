"""The study that parties share: who takes part, which tables are joined on which keys, and what is learned.

It is the same file at every party, and each approves its hash. It has no paths and no names of private columns: key
columns go by names that are agreed on. For example:

    target = "visits"
    classes = ["no", "yes"]
    coordinator = "clinic"

    [parties.clinic]
    address = "clinic.example:9701"
    certificate = "MIIB…"
    tables = ["visits"]

    [parties.registry]
    address = "registry.example:9701"
    certificate = "MIIB…"
    tables = ["patients"]

    [[joins]]
    on = "visits.patient = patients.id"
    type = "text"
    keys = { visits = 4000, patients = 10000 }

    [options]
    max_depth = 8
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError, unknown
from veilset.io.toml_files import Section, read_toml, refusal
from veilset.joins.classifier import JoinClassifier
from veilset.joins.graph import JoinGraph, equalities_of
from veilset.joins.keys import KeyRule
from veilset.joins.parties.certificates import from_text
from veilset.joins.study import as_in_study
from veilset.joins.written import options_from

ADVICE = "Compare it with the study in docs/private-joins.md."

Policy = Literal["report", "refuse", "suppress"]
"""What a party does about a summary that pins somebody: tell its owner, end the session, or leave the key out."""

FLOOR = 5
"""Rows of a key below which a summary is taken to be about single people."""

_OPTIONS = ("max_depth", "min_leaf", "prune", "split_joins", "keys")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):([0-9]{1,5})")


def as_list(given: Any) -> Any:
    """A text alone as a list of one, for a field that takes several."""
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given


Texts = Annotated[tuple[StrictStr, ...], BeforeValidator(as_list), Field(min_length=1)]
Positive = Annotated[StrictInt, Field(ge=1)]


class PartySection(Section):
    """A party: where it listens, the certificate that it is known by, and its tables."""

    address: StrictStr
    certificate: StrictStr
    tables: Annotated[tuple[StrictStr, ...], BeforeValidator(as_list)] = ()


class JoinSection(Section):
    """An edge of the join: equalities between two tables, the form of their keys, and how many each may have.

    Parameters
    ----------
    on : texts
        Equalities between agreed names of columns; several are one composite key.
    type : texts
        The kind of each key: "text", "whole number", "date" …
    pattern : texts
        Regular expressions that all keys match, as text; "" for none.
    keys : table
        How many different keys each side has at most. This is also how many values it can test against the other side.
    pad : bool
        Whether the intersection hides how many keys each side has, by filling up to its limit.
    policy, floor
        What happens if a summary would pin people: rows of a key that has fewer rows than the floor.
    """

    on: Texts
    type: Texts
    pattern: Annotated[tuple[StrictStr, ...], BeforeValidator(as_list)] = ()
    keys: dict[StrictStr, Positive]
    pad: StrictBool = False
    policy: Policy | None = None
    floor: Annotated[StrictInt, Field(ge=2)] = FLOOR

    def ends(self, equality: int) -> list[tuple[str, str]]:
        """Both sides of an equality: a table, and the agreed name of a column."""
        parts = [side.strip().partition(".") for side in self.on[equality].split("=")]
        return [(table, column) for table, _, column in parts]

    def sides(self) -> list[tuple[str, str]]:
        """The sides of all equalities."""
        return [side for equality in range(len(self.on)) for side in self.ends(equality)]


class SharedStudy(Section):
    """What the parties agree on."""

    title: StrictStr = ""
    target: StrictStr
    classes: Annotated[tuple[StrictBool | StrictInt | StrictStr, ...], BeforeValidator(as_list), Field(min_length=1)]
    coordinator: StrictStr
    winner: Literal["info", "secret"] = "info"
    time_out: Annotated[StrictInt | StrictFloat, Field(gt=0, le=86_400)] = 60
    parties: Annotated[dict[StrictStr, PartySection], Field(min_length=2)]
    joins: Annotated[tuple[JoinSection, ...], Field(min_length=1)]
    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> SharedStudy:
        """The study in a file, checked."""
        path = Path(path)
        content = read_toml(path, ADVICE)
        try:
            study = cls.model_validate(content)
            study._check()
        except ValidationError as error:
            raise refusal(error, cls, {"parties": PartySection, "joins": JoinSection}, ADVICE).within(
                f"{str(path)!r}: "
            ) from None
        except VeilsetError as error:
            raise error.within(f"{str(path)!r}: ") from None
        return study

    @staticmethod
    def is_one(path: str | Path) -> bool:
        """Whether a file is of TOML and names parties."""
        try:
            return "parties" in read_toml(Path(path), ADVICE)
        except UnreadableInput:
            return False

    @cached_property
    def hash(self) -> str:
        """What parties approve: a hash of what the file says, whatever its layout."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=False, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def owners(self) -> dict[str, str]:
        """The party that has each table, in the order in which ties between tables are decided."""
        return {table: name for name, party in self.parties.items() for table in party.tables}

    @cached_property
    def certificates(self) -> dict[str, bytes]:
        """The certificate (DER) of each party."""
        return {name: from_text(party.certificate) for name, party in self.parties.items()}

    @cached_property
    def graph(self) -> JoinGraph:
        """The join graph, on the agreed names of key columns."""
        columns: dict[str, dict[str, None]] = {table: {} for table in self.owners}
        for join in self.joins:
            for table, column in join.sides():
                if table not in columns:
                    raise unknown("table", table, columns, ADVICE).within(f"joins.on is {list(join.on)!r}: ")
                columns[table][column] = None
        listed = {table: list(names) for table, names in columns.items()}
        return JoinGraph.of(listed, equalities_of([one for join in self.joins for one in join.on]))

    @cached_property
    def edges(self) -> list[JoinSection]:
        """What is agreed about each edge of the graph, in the order of its edges."""
        listed = {frozenset(join.keys): join for join in self.joins}
        found = []
        for edge in self.graph.edges:
            if frozenset((edge.left, edge.right)) not in listed:
                raise InvalidArgument(
                    f"The equalities join {edge.left} and {edge.right} ({edge}); no entry of joins is about these two.",
                    "Give each pair of neighbouring tables an entry with all their equalities.",
                )
            found.append(listed[frozenset((edge.left, edge.right))])
        return found

    def forms(self, number: int) -> list[tuple[str, str]]:
        """The kind and the pattern of each part of the keys on an edge, in the order of the parts."""
        edge, agreed = self.graph.edges[number], self.edges[number]
        patterns = agreed.pattern or ("",) * len(agreed.on)
        found = {
            side: form for at, form in enumerate(zip(agreed.type, patterns, strict=True)) for side in agreed.ends(at)
        }
        return [
            next(found[edge.left, column] for column in columns if (edge.left, column) in found)
            for columns in edge.left_columns
        ]

    @property
    def rule(self) -> KeyRule:
        """How keys are written before they are compared."""
        return KeyRule.of(self.options.get("keys", ()))

    def classifier(self) -> JoinClassifier:
        """The learner whose tree the parties grow."""
        return JoinClassifier(**options_from(JoinClassifier, self.options, "options"))

    def shared_edges(self, party: str) -> dict[int, str]:
        """The edges between a party's tables and those of others: which other party, by the number of the edge."""
        found = {}
        for number, edge in enumerate(self.graph.edges):
            ends = self.owners[edge.left], self.owners[edge.right]
            if party in ends and ends[0] != ends[1]:
                found[number] = ends[1] if ends[0] == party else ends[0]
        return found

    @property
    def suppresses(self) -> bool:
        """Whether keys of few rows are left out on an edge between parties: the tree is then another one."""
        crossing = {edge for party in self.parties for edge in self.shared_edges(party)}
        return any(self.edges[edge].policy == "suppress" for edge in crossing)

    def _check(self) -> None:
        self._check_parties()
        _check_names(self.owners, "table")
        if self.target not in self.owners:
            raise unknown("table", self.target, self.owners, "The target is the table with the class.").within(
                "target: "
            )
        if len(set(map(repr, self.classes))) != len(self.classes) or len(set(map(type, self.classes))) != 1:
            raise InvalidArgument(f"classes is {list(self.classes)!r}.", "Give each class once, all of one type.")
        for name in self.options:
            if name not in _OPTIONS:
                raise unknown("option", name, _OPTIONS).within("options: ")
        with as_in_study():
            self.classifier().check()
        self._check_joins()

    def _check_parties(self) -> None:
        _check_names(self.parties, "party")
        if self.coordinator not in self.parties:
            raise unknown("party", self.coordinator, self.parties, "One of the parties coordinates.").within(
                "coordinator: "
            )
        seen: dict[str, str] = {}
        shown: dict[str, str] = {}
        for name, party in self.parties.items():
            if (other := shown.setdefault(party.certificate.rstrip("="), name)) != name:
                raise InvalidArgument(
                    f"{other!r} and {name!r} have the same certificate.",
                    "Each party makes its own (veilset join keygen) and keeps its key to itself.",
                )
            found = _ADDRESS.fullmatch(party.address)
            if not found or int(found[2]) > 65_535:
                raise InvalidArgument(f"parties.{name}.address is {party.address!r}.", "Give HOST:PORT.")
            if not party.tables and name != self.coordinator:
                raise InvalidArgument(
                    f"The party {name!r} has no table.", "Give its tables; only a coordinator may have none."
                )
            for table in party.tables:
                if table in seen:
                    raise InvalidArgument(
                        f"The table {table!r} is listed twice: by {seen[table]!r} and {name!r}.",
                        "Give each table a name of its own.",
                    )
                seen[table] = name
        holders = [name for name, party in self.parties.items() if party.tables]
        if len(holders) < 2:
            raise InvalidArgument(
                f"Only {', '.join(map(repr, holders))} has tables.",
                "A study of one party needs no partners: name its tables in [tables].",
            )
        if self.winner == "secret" and len(holders) < 3:
            raise InvalidArgument(
                "winner is 'secret', with two parties that have tables: each could tell the other's gain from its own.",
                "Leave it out, or have three parties with tables at least.",
            )

    def _check_joins(self) -> None:
        for number, join in enumerate(self.joins):
            where = f"joins.{number}: "
            tables = dict.fromkeys(table for table, _ in join.sides())
            if set(tables) != set(join.keys) or len(tables) != 2:
                raise InvalidArgument(
                    f"{where}keys names {', '.join(map(repr, join.keys))}; on joins {', '.join(map(repr, tables))}.",
                    "Each entry is about two tables, and says how many different keys each has at most.",
                )
            if len(join.type) != len(join.on) or len(join.pattern) not in (0, len(join.on)):
                raise InvalidArgument(
                    f"{where}there are {len(join.on)} equalities, {len(join.type)} types and {len(join.pattern)} "
                    "patterns.",
                    "Give a type, and if any a pattern, for each equality.",
                )
            for pattern in join.pattern:
                _check_pattern(where, pattern)
        pairs = [frozenset(join.keys) for join in self.joins]
        if len(set(pairs)) != len(pairs):
            raise InvalidArgument("Two entries of joins are about the same two tables.", 'Unite them: on = ["…", "…"].')
        if len(self.edges) != len(self.joins):
            raise InvalidArgument(
                f"There are {len(self.joins)} joins, and {len(self.edges)} connect the tables.",
                "Leave out those that follow from others.",
            )


def _check_pattern(where: str, pattern: str) -> None:
    try:
        pc.match_substring_regex(pa.scalar(""), f"(?:{pattern})")
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"{where}the pattern {pattern!r} is no regular expression: {error}.", "Correct it; RE2 says how."
        ) from None


def _check_names(names: Any, what: str) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise InvalidArgument(
                f"{name!r} cannot be the name of a {what}.", "Use letters, digits, _ and -, at most 64 of them."
            )
