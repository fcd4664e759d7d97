"""Everything that a party would send in a session: to whom, what, how large, before a connection is opened.

It follows from the study and from the party's own tables. What is *exact* has this size. All else has at most this
size, since only shared join values are sent, and the tree is not known yet. Sizes are those of the content, without
frames and encryption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.joins.columns import Codes
from veilset.joins.graph import JoinGraph
from veilset.joins.keys import KeyRule, Keys, key_column, shared_keys
from veilset.joins.parties.leakage import Mask
from veilset.joins.propagation import depth_first

POINT = 32
"""Bytes of a blinded join value."""

_KEY, _WORD = 4, 8  # bytes
_NODE = 5 * _WORD  # its number, those of its children, and where its entries begin and end
_SHOWN = 3  # join values
_MOST_LISTED = 16  # levels; where there can be more, it is said what is sent for each node


@dataclass(frozen=True, eq=False)
class OwnKeys:
    """The join values of one of our tables on an edge to a table of another party.

    Parameters
    ----------
    edge : int
        The number of the edge.
    table, to, on : str
        Our table, the other party, and the equality of the edge.
    codes : array of int32
        The number of each row's join value, -1: it has none.
    count : int
        How many join values there are.
    shown : tuple of str
        The first of them, as we see them.
    """

    edge: int
    table: str
    to: str
    on: str
    codes: Codes
    count: int
    shown: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: pa.Table, graph: JoinGraph, edge: int, name: str, to: str, rule: KeyRule) -> OwnKeys:
        """Those of the table *name*, by the columns that an edge of the graph has for it."""
        joined = graph.edges[edge]
        columns = joined.left_columns if joined.left == name else joined.right_columns
        keys = key_column(table, columns, rule)
        codes, _, count = shared_keys(keys, keys)
        return cls(edge, name, to, str(joined), codes, count, _first(keys, codes, count))


def _first(keys: Keys, codes: Codes, count: int) -> tuple[str, ...]:
    rows = [int(np.flatnonzero(codes == number)[0]) for number in range(min(count, _SHOWN))]
    parts = [part.values.take(part.codes[rows]).cast(pa.large_string()).to_pylist() for part in keys.parts]
    return tuple(map(" / ".join, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Sending:
    """Messages of one kind.

    Parameters
    ----------
    to, message, about : str
        The party that receives them, what they are, and which edge or level of the tree they are about.
    times : int or None
        How many of them there are; None: as many as the tree has nodes.
    entries, bytes : int
        The size of each.
    exact : bool
        Whether they have this size, or at most this size.
    """

    to: str
    message: str
    about: str
    times: int | None
    entries: int
    bytes: int
    exact: bool = False


@dataclass(frozen=True)
class Preview:
    """The first join values of a class summary, with our rows that have them.

    Their class *counts* are known beforehand only in the first summary of all, which the target table sends. In all
    others, they are what neighbours send, times these rows.
    """

    to: str
    on: str
    keys: tuple[str, ...]
    rows: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True)
class DryRun:
    """All that a party would send."""

    sendings: tuple[Sending, ...]
    previews: tuple[Preview, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Level:
    """A level of the tree.

    Parameters
    ----------
    name : str
        What it is called.
    times : int or None
        How many such levels there are; None: as many as the tree has nodes.
    nodes : int
        How many nodes it has at most.
    passed_on : bool
        Whether its splits are passed on to the other tables. Splits into leaves alone are not.
    """

    name: str
    times: int | None
    nodes: int
    passed_on: bool


@dataclass(frozen=True)
class Plan:
    """What the study says about a session.

    Parameters
    ----------
    graph : JoinGraph
        The tables and their edges.
    owners : mapping
        The party of each table.
    target : str
        The table with the class.
    coordinator : str
        The party that coordinates.
    classes : int
        How many classes there are.
    width : int
        Of how many words of 8 bytes a count is.
    max_depth : int or None
        Largest depth of the tree.
    declared : mapping
        How many join values the party on the other side of an edge declares at most, by edge.
    padded : mapping
        To how many join values ours are padded, for those edges where they are.
    secret : bool
        Whether gains are compared as secret shares, and not told to the coordinator.
    """

    graph: JoinGraph
    owners: Mapping[str, str]
    target: str
    coordinator: str
    classes: int
    width: int = 1
    max_depth: int | None = None
    declared: Mapping[int, int] = field(default_factory=dict)
    padded: Mapping[int, int] = field(default_factory=dict)
    secret: bool = False

    @property
    def wide_counts(self) -> int:
        """Bytes of the same for the coordinator, whose counts always have two words."""
        return 2 * _WORD * self.classes

    @property
    def counts(self) -> int:
        """Bytes of the class counts of one group."""
        return _WORD * self.width * self.classes

    def class_summaries(self) -> Counter[tuple[str, int]]:
        """How many class summaries a table sends on an edge."""
        phase_1 = depth_first(self.graph, self.target)
        last = phase_1[-1][1] if phase_1 else self.target
        return Counter((sender, edge) for sender, _, edge in [*phase_1, *self.graph.visits(last)])

    def levels(self) -> Iterator[Level]:
        """The levels of the tree that can be split."""
        if self.max_depth is None or self.max_depth > _MOST_LISTED:
            yield Level("each node", None, 1, True)
        else:
            last = self.max_depth - 1
            yield from (Level(f"level {depth + 1}", 1, 1 << depth, depth < last) for depth in range(self.max_depth))


def dry_run(party: str, plan: Plan, sides: Sequence[OwnKeys], classes: Codes | None = None) -> DryRun:
    """What a party would send, from its own tables.

    Parameters
    ----------
    party : str
        Who we are.
    plan : Plan
        What the study says.
    sides : sequence of OwnKeys
        Our join values on each edge to another party.
    classes : array of int32, optional
        If the target table is ours, the class of each of its rows, -1: it has none.
    """
    summaries = plan.class_summaries()
    sendings = [
        *(one for side in sides for one in _intersection(plan, side)),
        *(_class_summaries(plan, side, summaries[side.table, side.edge]) for side in sides),
        *_levels(party, plan, sides),
    ]
    notes = [
        f"{side.on}: the last class summary to {side.to}, divided by the first, tells how many partners these rows "
        "have in other tables."
        for side in sides
        if summaries[side.table, side.edge] > 1
    ]
    return DryRun(
        tuple(one for one in sendings if one.times != 0),
        tuple(_preview(plan, side, classes) for side in sides),
        tuple(notes),
    )


def _intersection(plan: Plan, side: OwnKeys) -> Iterator[Sending]:
    ours = plan.padded.get(side.edge, side.count)
    yield Sending(side.to, "join values, blinded", side.on, 1, ours, POINT * ours, exact=True)
    theirs = plan.declared.get(side.edge)
    if theirs is not None:
        yield Sending(side.to, "its join values, blinded again", side.on, 1, theirs, POINT * theirs)


def _class_summaries(plan: Plan, side: OwnKeys, times: int) -> Sending:
    return Sending(side.to, "class summary", side.on, times, side.count, side.count * (_KEY + plan.counts))


def _levels(party: str, plan: Plan, sides: Sequence[OwnKeys]) -> Iterator[Sending]:
    tables = sum(owner == party for owner in plan.owners.values())
    if party != plan.coordinator:
        yield Sending(plan.coordinator, "class counts of the join", "root", 1, 1, plan.wide_counts)
    for level in plan.levels():
        if party != plan.coordinator:
            gains, children = level.nodes * tables, 2 * level.nodes
            to, about = plan.coordinator, level.name
            if not plan.secret:
                yield Sending(to, "gain of the best split", about, level.times, gains, _WORD * gains)
            size = children * (_WORD + plan.wide_counts)  # with the number of each
            yield Sending(to, "class counts of children", about, level.times, children, size)
        if level.passed_on:
            yield from (_split_summary(plan, side, level) for side in sides)


def _split_summary(plan: Plan, side: OwnKeys, level: Level) -> Sending:
    entries = level.nodes * side.count
    size = entries * (_KEY + 2 * plan.counts) + level.nodes * _NODE
    return Sending(side.to, "split summary", f"{level.name}, {side.on}", level.times, entries, size)


def _preview(plan: Plan, side: OwnKeys, classes: Codes | None) -> Preview:
    labels = classes if side.table == plan.target else None
    counts = [_class_counts(side.codes == number, labels, plan.classes) for number in range(len(side.shown))]
    there = [number for number, one in enumerate(counts) if sum(one)]
    first = depth_first(plan.graph, plan.target)[:1]
    known = labels is not None and (side.table, side.edge) in {(sender, edge) for sender, _, edge in first}
    return Preview(
        side.to,
        side.on,
        tuple(side.shown[number] for number in there),
        tuple(sum(counts[number]) for number in there),
        tuple(counts[number] for number in there) if known else None,
    )


def _class_counts(rows: Mask, classes: Codes | None, count: int) -> tuple[int, ...]:
    """How many of these rows are in each class; where there are no classes, how many rows there are."""
    if classes is None:
        return (int(np.count_nonzero(rows)),)
    return tuple(np.bincount(classes[rows & (classes >= 0)], minlength=count).tolist())
