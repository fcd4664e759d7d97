"""Predictions by a secure tree (thesis §3.2.2): each record goes down the tree, and owners of splits answer for it.

Along the *path*, a party is asked about a record at one of its nodes only when the record gets there, level by level:
the coordinator learns the path of each record, a party learns which of its records reach which of its nodes. In *one
round* each party answers at all its nodes for all records: parties learn nothing about paths, the coordinator learns
answers also off the path.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument, unknown
from veilset.joins.parties.answering import FIRST, MOST, UNKNOWN, text_arrays
from veilset.joins.parties.control import hear, senseless, tell, truth
from veilset.joins.parties.coordinator import Coordinator
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel, check_study
from veilset.joins.parties.wire import Channel
from veilset.joins.tree import Node

Mode = Literal["path", "one round"]
_Answers = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Prediction:
    """The node where a record has ended; *missing* is the table whose answer was not to be had, if it is no leaf."""

    node: Node
    missing: str = ""


async def predict(
    coordinator: Coordinator,
    model: SecureModel,
    records: Mapping[str, Sequence[str]],
    *,
    mode: Mode = "path",
    without: Sequence[str] = (),
) -> list[Prediction]:
    """Predict for records that are named by an identifier in each table.

    Parameters
    ----------
    coordinator : Coordinator
        Who asks.
    model : SecureModel
        The tree.
    records : mapping
        For each table, the identifiers of the parts of all records.
    mode : str
        Whether parties are asked level by level, or about everything at once.
    without : sequence of str
        Parties that are not asked: a record that comes to one of their nodes ends there.
    """
    check_study(model, coordinator.study.hash)
    for name in without:
        if name not in coordinator.study.parties:
            raise unknown("party", name, coordinator.study.parties)
    asked = dict.fromkeys(node.split.table for node in model.tree().root.walk() if node.split is not None)
    parties = [name for name in dict.fromkeys(model.owners[table] for table in asked) if name not in without]
    if missing := [table for table in asked if table not in records and model.owners[table] in parties]:
        raise InvalidArgument(
            f"The tree asks about {missing[0]!r}, and no record has an identifier for it.",
            f"Add a column {missing[0]!r} to the records.",
        )
    if len({len(identifiers) for identifiers in records.values()}) > 1:
        sizes = ", ".join(f"{len(identifiers):,} for {table!r}" for table, identifiers in records.items())
        raise InvalidArgument(
            f"The tables have different numbers of identifiers: {sizes}.", "Give one for each record."
        )
    async with AsyncExitStack() as stack:
        channels = await coordinator.connect(model.run, secrets.randbits(31), stack, parties)
        for name, channel in channels.items():
            identifiers = {
                table: records[table] if table in asked else () for table in coordinator.study.parties[name].tables
            }
            await _announce(name, channel, identifiers)
        walk = _Walk(model, channels, len(next(iter(records.values()), ())))
        found = await (walk.along_paths() if mode == "path" else walk.in_one_round())
        for name, channel in channels.items():
            await tell(name, channel, "done")
    return found


async def _announce(name: str, channel: Channel, identifiers: Mapping[str, Sequence[str]]) -> None:
    """Tell a party what is wanted, and which of its records are meant."""
    await tell(name, channel, "predict")
    if not truth(name, await hear(name, channel, "ready"), "known"):
        raise Disrupted(
            f"{name} has no splits for this model: it was revoked, or its state folder is another one.",
            f"Ask {name}, or predict without it: records that come to its nodes end there.",
            party=name,
            fault="refused",
        )
    for table, texts in identifiers.items():
        await tell(name, channel, "records", {"table": table}, text_arrays(texts))


class _Walk:
    """Records on their way down the tree."""

    def __init__(self, model: SecureModel, channels: Mapping[str, Channel], count: int) -> None:
        self._owners, self._channels, self._count = model.owners, channels, count
        self._root = model.tree().root

    async def along_paths(self) -> list[Prediction]:
        """Ask the owners of the splits at each level, about the records that are there."""
        found = [Prediction(self._root)] * self._count
        level = {id(self._root): (self._root, np.arange(self._count))}
        while level:
            answers = await self._asked(level)
            below: dict[int, tuple[Node, npt.NDArray[np.int64]]] = {}
            for node, places in level.values():
                if node.split is None:
                    continue
                told = answers.get(id(node), np.full(len(places), UNKNOWN, np.uint8))
                missing = Prediction(node, node.split.table)
                for place in places[told == UNKNOWN].tolist():
                    found[place] = missing
                sides = (places[told == FIRST], places[(told != FIRST) & (told != UNKNOWN)])
                for child, there in zip(node.children, sides, strict=True):
                    for place in there.tolist():
                        found[place] = Prediction(child)
                    if len(there):
                        below[id(child)] = child, there
            level = below
        return found

    async def _asked(self, level: Mapping[int, tuple[Node, npt.NDArray[np.int64]]]) -> dict[int, _Answers]:
        found: dict[int, _Answers] = {}
        for name, channel in self._channels.items():
            here = [
                (node, places)
                for node, places in level.values()
                if node.split is not None and self._owners[node.split.table] == name
            ]
            if not here:
                continue
            nodes = np.concatenate([np.full(len(places), _number(node), np.int64) for node, places in here])
            places = np.concatenate([places for _, places in here])
            await tell(name, channel, "answer", {}, {"nodes": nodes, "places": places})
            told = await _answers(name, channel, len(places))
            cuts = np.cumsum([len(places) for _, places in here])[:-1]
            found |= {id(node): part for (node, _), part in zip(here, np.split(told, cuts), strict=True)}
        return found

    async def in_one_round(self) -> list[Prediction]:
        """Ask each party once, about all its nodes."""
        told: dict[int, _Answers] = {}
        for name, channel in self._channels.items():
            mine = [node for node in self._root.walk() if node.split and self._owners[node.split.table] == name]
            numbers = sorted(map(_number, mine))
            await tell(name, channel, "answer all")
            answers = (await _answers(name, channel, len(numbers) * self._count)).reshape(len(numbers), self._count)
            told |= dict(zip(numbers, answers, strict=True))
        return [self._descend(told, place) for place in range(self._count)]

    def _descend(self, told: Mapping[int, _Answers], place: int) -> Prediction:
        node = self._root
        while node.split is not None:
            answer = told[_number(node)][place] if _number(node) in told else UNKNOWN
            if answer == UNKNOWN:
                return Prediction(node, node.split.table)
            node = node.children[0 if answer == FIRST else 1]
        return Prediction(node)


def _number(node: Node) -> int:
    return node.split.number if isinstance(node.split, PrivateSplit) else -1


async def _answers(name: str, channel: Channel, count: int) -> _Answers:
    told = (await hear(name, channel, "answers", MOST)).arrays.get("answers")
    if told is None or told.dtype != np.uint8 or len(told) != count or (told > UNKNOWN).any():
        raise senseless(name, "answers")
    return told
