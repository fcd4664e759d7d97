"""The dry run of a party: what it would send, from its tables at home and the study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from veilset.joins.parties.dry_run import DryRun, OwnKeys, Plan, Sending, dry_run
from veilset.joins.parties.home import Home
from veilset.joins.parties.secure_tree import NodePart, SecureModel
from veilset.joins.parties.shared_study import SharedStudy
from veilset.joins.tree import Node, Tree

_SHOWN = 3  # join values
_DECISION = 53
"""Bytes of a node in the largest message about a level: which table splits it, its children, and what is done with."""
_LARGEST = 2**63 - 1  # of numbers of nodes
_LONGEST_GAIN = 1.2345678901234567e-100  # as text


def planned(home: Home) -> DryRun:
    """All that a party would send in a training."""
    study = home.study
    ours = {edge: home.end(edge) for edge in home.keys}
    declared = {
        edge: next(most for table, most in study.edges[edge].keys.items() if table != own) for edge, own in ours.items()
    }
    plan = Plan(
        graph=study.graph,
        owners=study.owners,
        target=study.target,
        coordinator=study.coordinator,
        classes=len(study.classes),
        max_depth=home.stop.max_depth,
        declared=declared,
        padded={edge: study.edges[edge].keys[own] for edge, own in ours.items() if study.edges[edge].pad},
        secret=study.winner == "secret",
    )
    neighbours = study.shared_edges(home.party)
    sides = [
        OwnKeys(edge, ours[edge], neighbours[edge], str(study.graph.edges[edge]), codes, len(parts[0]), _first(parts))
        for edge, (codes, parts) in home.keys.items()
    ]
    told = dry_run(home.party, plan, sides, home.classes)
    more = [*_kept(home, sides), *(_coordinated(study, plan) if home.party == study.coordinator else ())]
    return replace(told, sendings=(*told.sendings, *more), notes=(*told.notes, *_notes(home)))


def _kept(home: Home, sides: Sequence[OwnKeys]) -> Iterator[Sending]:
    """Where small groups are left out on any edge, all neighbours tell each other which join values stay."""
    if home.study.suppresses:
        for side in sides:
            size = (side.count + 7) // 8
            yield Sending(side.to, "which join values stay, each round", side.on, None, side.count, size)


def _coordinated(study: SharedStudy, plan: Plan) -> Iterator[Sending]:
    """What the coordinator tells all others: which nodes are next, who splits them, and the tree in the end."""
    head, node = _model_bytes(study)
    levels = list(plan.levels())
    listed = all(level.times is not None for level in levels)
    nodes = 1 + 2 * sum(level.nodes for level in levels) if listed else 1
    for to in [name for name, party in study.parties.items() if party.tables and name != study.coordinator]:
        for level in levels:
            times = None if level.times is None else 3 * level.times
            yield Sending(to, "who splits which nodes", level.name, times, level.nodes, _DECISION * level.nodes)
        about, times = ("all nodes", 1) if listed else ("each node", None)
        yield Sending(to, "the tree, without criteria", about, times, nodes, head + nodes * node)


def _model_bytes(study: SharedStudy) -> tuple[int, int]:
    """How many bytes a tree has as text at most: without nodes, and for each node."""
    counts = (2**64 - 1,) * len(study.classes)
    table = max(study.owners, key=len)
    part = NodePart(number=_LARGEST, counts=counts, table=table, gain=_LONGEST_GAIN, children=(_LARGEST, _LARGEST))
    model = SecureModel.of(Tree(study.classes, Node(counts)), "0" * 32, study, identical=False)
    head = len(model.model_dump_json().encode()) - len(model.nodes[0].model_dump_json())
    return head, len(part.model_dump_json()) + 1  # a comma


def _notes(home: Home) -> Iterator[str]:
    yield (
        "Besides these, a few short messages are sent: who you are, the number of your keys, a hash of what is blinded "
        "again, how far you are, and how many bytes you have sent."
    )
    yield "The split summary of a level can pass in parts, one for each table that has split nodes."
    holders = [name for name, party in home.study.parties.items() if party.tables and name != home.party]
    if home.study.winner == "secret" and home.tables:
        yield (
            f"Secret shares of the gains of all nodes go to {', '.join(holders)}, in messages that tell nothing unless "
            f"more than {len(holders) // 2} of all parties with tables put theirs together."
        )
    yield "If the join has more than 2^64 rows, counts take twice as many bytes."


def _first(parts: tuple[Any, ...]) -> tuple[str, ...]:
    texts = [part.slice(0, _SHOWN).cast(pa.large_string()).to_pylist() for part in parts]
    return tuple(map(" / ".join, zip(*texts, strict=True)))
