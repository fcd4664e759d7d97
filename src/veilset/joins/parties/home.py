"""A party's tables at home: read, checked against the study, and made into sites."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, VeilsetError, near_misses, said
from veilset.joins.classes import class_numbers
from veilset.joins.columns import Attribute, Codes, attributes
from veilset.joins.graph import Edge
from veilset.joins.growing import Stop
from veilset.joins.keys import Keys, distinct_keys, key_column, key_kind, shared_keys
from veilset.joins.linked import of_table
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.shared_study import JoinSection
from veilset.joins.site import Site
from veilset.joins.tables import read_table
from veilset.limits import Limits

Mask = npt.NDArray[np.bool_]


class Home:
    """What a party has for a study: its tables, ready for a run.

    Parameters
    ----------
    file : PartyFile
        What it says about itself.
    limits : Limits
        How long it may take, on how many threads.
    """

    def __init__(self, file: PartyFile, limits: Limits) -> None:
        self.file, self.limits = file, limits
        self.party, self.study = file.party, file.study
        self.stop: Stop = self.study.classifier().check()
        self.tables = {name: self._read(name) for name in self.study.parties[self.party].tables}
        self.attributes: dict[str, tuple[Attribute, ...]] = {}
        for name, table in self.tables.items():
            with of_table(name):
                self.attributes[name] = attributes(table, self._offered(name))
        self.keys = {edge: self._keys(edge, table) for edge, table in self._ends().items()}
        self.classes = self._classes()

    @cached_property
    def types(self) -> dict[str, str]:
        """The types of all columns that are offered."""
        return {f"{name}.{one.name}": str(one.values.type) for name in self.tables for one in self.attributes[name]}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """For each table, a hash of all that takes part of it."""
        return {name: self._hash(name, self._used(name)) for name in self.tables}

    @cached_property
    def row_hashes(self) -> dict[str, str]:
        """For each table, a hash of its keys and classes: what neighbours are told before anything is split."""
        offered = {name: set(self.file.tables[name].columns) - self._key_names(name) for name in self.tables}
        return {
            name: self._hash(name, [one for one in self._used(name) if one not in offered[name]])
            for name in self.tables
        }

    @property
    def tables_hash(self) -> str:
        """One hash of all tables."""
        return hashlib.sha256(repr(sorted(self.hashes.items())).encode()).hexdigest()

    def distinct(self, edge: int) -> tuple[Any, ...]:
        """The different keys at this party's end of an edge, part by part, in canonical order."""
        return self.keys[edge][1]

    def numbered(self, edge: int, shared: Mask) -> tuple[Codes, int]:
        """The number of each row's key among the shared ones (-1: it is none of them), and how many they are."""
        return renumbered(self.keys[edge][0], shared)

    @cached_property
    def floors(self) -> dict[int, int]:
        """How many rows a key must have on each edge to another party where keys of fewer are left out."""
        agreed = {at: self.study.edges[at] for at in self.keys}
        return {at: one.floor for at, one in agreed.items() if one.policy == "suppress"}

    def end(self, edge: int) -> str:
        """The table at this party's end of an edge to another party."""
        return self._ends()[edge]

    def keys_by_table(self, shared: Mapping[int, tuple[Codes, int]]) -> dict[str, dict[int, tuple[Codes, int]]]:
        """For each table and edge, the numbers of its rows' keys; *shared* are those of edges to other parties."""
        held: dict[str, dict[int, tuple[Codes, int]]] = {name: {} for name in self.tables}
        for number, edge in enumerate(self.study.graph.edges):
            if number in shared:
                held[self.end(number)][number] = shared[number]
            elif edge.left in self.tables:  # both ends are at home
                left, right, count = shared_keys(*(self._key_column(edge, end) for end in (edge.left, edge.right)))
                held[edge.left][number], held[edge.right][number] = (left, count), (right, count)
        return held

    def sites(self, keys: Mapping[str, Mapping[int, tuple[Codes, int]]], wide: bool) -> dict[str, Site]:
        """A site for each table, with these keys on its edges."""
        classes = len(self.study.classes)
        return {
            name: Site(name, table.num_rows, self.attributes[name], keys[name], classes, wide, self.limits)
            for name, table in self.tables.items()
        }

    def _read(self, name: str) -> pa.Table:
        keys = [self._real(name, key) for key in sorted(self.study.graph.join_columns(name))]
        with as_in_party_file(f"tables.{name}"):
            table = read_table(name, self.file.source(name), keys=keys, limits=self.limits)
        for column in (*keys, *self.file.tables[name].columns, *filter(None, [self.file.tables[name].label])):
            if column not in table.column_names:
                raise InvalidArgument(
                    f"Table {name!r} has no column {column!r}. Available: {', '.join(map(repr, table.column_names))}.",
                    near_misses(column, table.column_names) or f"Correct [tables.{name}] of the party file.",
                )
        return table

    def _real(self, table: str, key: str) -> str:
        return self.file.key_columns(table, ((key,),))[0][0]

    def _key_names(self, name: str) -> set[str]:
        return {self._real(name, key) for key in self.study.graph.join_columns(name)}

    def _hash(self, name: str, columns: list[str]) -> str:
        sink = _Hashing()
        plain = self.tables[name].select(columns).combine_chunks().replace_schema_metadata()
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), plain.schema) as stream:
            stream.write_table(plain)
        return sink.digest()

    def _offered(self, name: str) -> list[str]:
        """The columns that splits may ask about, as the owner lists them, in the order of the table."""
        section = self.file.tables[name]
        keys = self._key_names(name)
        if section.label is not None and section.label in section.columns:
            raise InvalidArgument(f"tables.{name}.columns has the class {section.label!r}.", "Leave it out.")
        listed = {one for one in section.columns if one not in keys}
        if self.study.options.get("split_joins"):
            listed |= keys
        elif inside := keys & set(section.columns):
            raise InvalidArgument(
                f"tables.{name}.columns has the key {min(inside)!r}, which splits may not ask about.",
                "Leave it out, or agree on split_joins = true: then split summaries tell criteria on keys.",
            )
        return [one for one in self.tables[name].column_names if one in listed]

    def _used(self, name: str) -> list[str]:
        section = self.file.tables[name]
        used = {*self._key_names(name), *section.columns, *filter(None, [section.label])}
        return [one for one in self.tables[name].column_names if one in used]

    def _ends(self) -> dict[int, str]:
        """The table at this party's end of each edge to another party."""
        edges = self.study.graph.edges
        shared = self.study.shared_edges(self.party)
        return {
            number: next(end for end in (edges[number].left, edges[number].right) if end in self.tables)
            for number in shared
        }

    def _key_column(self, edge: Edge, table: str) -> Keys:
        names = edge.left_columns if edge.left == table else edge.right_columns
        return key_column(self.tables[table], self.file.key_columns(table, names), self.study.rule)

    def _keys(self, number: int, table: str) -> tuple[Codes, tuple[Any, ...]]:
        """The keys at this party's end of an edge, checked against what is agreed about it."""
        edge, agreed = self.study.graph.edges[number], self.study.edges[number]
        with of_table(table):
            codes, parts = distinct_keys(self._key_column(edge, table))
            for part, form in zip(parts, self.study.forms(number), strict=True):
                _check_form(edge, part, *form)
        self._check_number(table, edge, agreed, len(parts[0]))
        return codes, parts

    def _check_number(self, table: str, edge: Edge, agreed: JoinSection, count: int) -> None:
        if count > agreed.keys[table]:
            raise InvalidArgument(
                f"{table} has {count:,} different keys on {edge}, and the study allows {agreed.keys[table]:,}.",
                "Agree on a larger number, or leave out rows.",
            )

    def _classes(self) -> Codes:
        """The class of each row of the target table (-1: it has none); empty at other parties."""
        target = self.study.target
        if target not in self.tables:
            return np.empty(0, np.int32)
        column = str(self.file.tables[target].label)
        numbers = class_numbers(self.tables[target], column, self.study.classes)
        if (numbers == -1).any():
            value = self.tables[target].column(column)[int(np.argmax(numbers == -1))].as_py()
            raise InvalidArgument(
                f"{target}.{column} has the value {value!r}, which is none of the classes of the study: "
                f"{', '.join(map(repr, self.study.classes))}.",
                "Correct it, or agree on a study that has this class.",
            )
        return np.maximum(numbers, -1).astype(np.int32)


def renumbered(codes: Codes, kept: Mask) -> tuple[Codes, int]:
    """Numbers of keys among those that are kept (-1: it is none of them), and how many they are."""
    numbers = np.where(kept, np.cumsum(kept, dtype=np.int32) - np.int32(1), np.int32(-1))
    return np.append(numbers, np.int32(-1))[codes], int(np.count_nonzero(kept))


def _check_form(edge: Edge, values: Any, kind: str, pattern: str) -> None:
    """Raise if keys are not in the form that was agreed on."""
    found = key_kind(str(edge), values.type)
    if found != kind:
        raise InvalidArgument(
            f"The keys of {edge} are of kind {found!r}, and the study says {kind!r}.",
            "Convert the column, or agree on another type.",
        )
    if pattern:
        texts = values.cast(pa.large_string())
        fits = pc.match_substring_regex(texts, f"^(?:{pattern})$")
        if not pc.all(fits).as_py():
            wrong = texts.filter(pc.invert(fits))
            raise InvalidArgument(
                f"{len(wrong):,} of {len(texts):,} keys of {edge} do not match the pattern {pattern!r} of the "
                f"study; the first is {wrong[0].as_py()!r}.",
                "Write keys as it was agreed, or agree on another pattern.",
            )


class _Hashing:
    """A file that is only hashed."""

    closed = False

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def write(self, content: Any) -> int:
        self._hash.update(content)
        return len(content)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def digest(self) -> str:
        return self._hash.hexdigest()


@contextmanager
def as_in_party_file(section: str) -> Iterator[None]:
    """Errors name the encoding and the delimiter of a file as they stand in its section."""

    def spell(name: str, *value: object) -> str:
        if name in ("encoding", "delimiter") and value:
            return f"{name} = {json.dumps(value[0])} in [{section}]"
        return said(name, *value)

    try:
        yield
    except VeilsetError as error:
        raise type(error)(*error.spelled(spell)) from None
