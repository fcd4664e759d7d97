"""The dry run of a party: what it would send, from its tables at home and the study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from veilset.joins.parties.dry_run import DryRun, OwnKeys, Plan, Sending, dry_run
from veilset.joins.parties.home import Home

_SHOWN = 3  # join values


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
    return replace(told, sendings=(*told.sendings, *_kept(home, sides)), notes=(*told.notes, *_notes(home)))


def _kept(home: Home, sides: Sequence[OwnKeys]) -> Iterator[Sending]:
    """Where small groups are left out on any edge, all neighbours tell each other which join values stay."""
    if home.study.suppresses:
        for side in sides:
            size = (side.count + 7) // 8
            yield Sending(side.to, "which join values stay, each round", side.on, None, side.count, size)


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
