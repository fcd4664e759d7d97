"""A party's side of a training: what the coordinator asks, step by step, and what it is told.

The coordinator hears the gain of the best split of each table (Info), class counts, and that a step is done. It hears
no keys. It also hears how many bytes were sent, which depends on how many keys are shared: in coarse steps as long as
the tree grows, exactly at the end. A message that is not expected in a state ends the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import numpy as np

from veilset import _native
from veilset.joins.linked import too_many_rows
from veilset.joins.parties.argmax import secret_argmax
from veilset.joins.parties.checkpoint import Checkpoint, can_go_on
from veilset.joins.parties.control import LARGEST, senseless, truth, whole
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.followed import Followed
from veilset.joins.parties.guard import Guard
from veilset.joins.parties.home import Home
from veilset.joins.parties.levels import Level, asked_nodes, decided_level, proposed_level
from veilset.joins.parties.links import LiveLinks, Recording, ReplayedLinks
from veilset.joins.parties.member import Links, Member, words_of
from veilset.joins.parties.secure_tree import SecureModel
from veilset.joins.parties.wire import Channel, Message
from veilset.joins.parties.workers import Workers
from veilset.joins.site import ROOT
from veilset.joins.tree import Node

INTERSECTED, PROPAGATED = 1, 2
"""Stages: after the first keys are intersected, after the second classes are propagated; then a level each."""
_MOST_COMPARISONS = 3
"""How often keys of an edge are compared in a run: each time, the neighbour can test as many values as it declares."""
_STEP = 64 << 10
"""Bytes are told in multiples of this until the end, since the exact number after each step counts shared keys."""


class TooManyRows(Exception):
    """The counts of this run need more than 64 bits."""

    def __str__(self) -> str:
        return "The join has more than 1.8·10^19 rows: the coordinator begins again with wider counts."


class Session:
    """A training as a party takes part in it.

    Parameters
    ----------
    home : Home
        Its tables.
    control : Channel
        To the coordinator.
    connect : callable
        Makes the channels to neighbours.
    checkpoint, record, workers
        Where it notes what it receives, and what it sends; who multiplies for the intersection.
    guard : Guard
        What checks summaries before they are sent.
    tell : callable
        Is told in words where the session is.
    """

    def __init__(
        self,
        home: Home,
        control: Channel,
        connect: Callable[[], Awaitable[Mapping[str, Channel]]],
        checkpoint: Checkpoint,
        record: Recording,
        workers: Workers,
        guard: Guard,
        tell: Callable[[str], None],
    ) -> None:
        self._home, self._control, self._connect = home, control, connect
        self._checkpoint, self._record, self._workers, self._tell = checkpoint, record, workers, tell
        self._guard = guard
        self._channels: Mapping[str, Channel] = {}
        self._alive = {ROOT}  # nodes that may be split
        self._followed = Followed(list(home.study.owners))

    async def train(self, run: str, compared: Mapping[str, int]) -> SecureModel:
        """Take part in a run, from where it was left to its end; the tree, as all parties know it.

        *compared* says how often keys were compared in this run before, by the equality of the edge.
        """
        known = self._checkpoint.stages if self._checkpoint.run == run else 0
        await self._say("ready", {"stages": known})
        begin = await self._control.expect("begin")
        stages, wide = whole(self._control.peer, begin, "stages"), truth(self._control.peer, begin, "wide")
        if stages > known or (wide != self._checkpoint.wide and stages > INTERSECTED):
            raise senseless(self._control.peer, "begin")
        over = (self._home.file.state / "models" / run).exists() and known == 0
        if over or not can_go_on(stages, known):
            raise self._goes_back()
        if stages < INTERSECTED:
            self._compare_again(compared)
        self._checkpoint.begin(run, wide, stages)
        try:
            return await self._stages(Member(self._home, wide))
        except _native.joins.TooManyRows:
            raise (too_many_rows() if wide else TooManyRows()) from None

    def _goes_back(self) -> Disrupted:
        peer = self._control.peer
        return Disrupted(
            f"{peer} wants to do stages of a run again that are done: this would tell more than a run tells.",
            f"Ask {peer} why. A new run can begin from the start; parties are then warned of what it adds.",
            party=peer,
            fault="refused",
        )

    def _compare_again(self, compared: Mapping[str, int]) -> None:
        """Say how often keys were compared before in this run; raise if it was too often."""
        study = self._home.study
        for edge, other in study.shared_edges(self._home.party).items():
            on, ours = study.graph.edges[edge], self._home.end(edge)
            times = 1 + compared.get(str(on), 0)
            declared = study.edges[edge].keys[on.right if ours == on.left else on.left]
            if times > _MOST_COMPARISONS:
                raise Disrupted(
                    f"Keys of {on} were compared with {other} {_MOST_COMPARISONS} times in this run, and it did not "
                    "go on. No more are compared in it, since each time others can be tested.",
                    "Find out what interrupts the run, then train again: that is a new run.",
                    party=other,
                    fault="refused",
                )
            if times > 1:
                self._tell(
                    f"{other} compares keys of {on} again, for the {times}. time in this run: so far, it can have "
                    f"tested {times * declared:,} values."
                )

    def _tell_shared(self, member: Member) -> None:
        """Say how many keys are shared on each edge: few mean that the tree is about few."""
        study = self._home.study
        for edge, other in study.shared_edges(self._home.party).items():
            shared, ours = len(member.kept[edge]), len(self._home.distinct(edge)[0])
            self._tell(f"{study.graph.edges[edge]}: {other} has {shared:,} of this party's {ours:,} keys.")

    async def _stages(self, member: Member) -> SecureModel:
        counts, root = await self._replay(member)
        self._channels = channels = await self._connect()
        links = LiveLinks(self._home, channels, self._checkpoint, self._record, self._workers, self._guard)
        links.resumed(counts)
        await self._say("linked")
        if self._checkpoint.stages < INTERSECTED:
            await self._control.expect("intersect")
            self._tell("Intersecting keys with neighbours")
            await member.intersect(links)
            self._tell_shared(member)
            await self._say("intersected")
            while (await self._control.expect("keep", "settle")).kind == "keep":
                await self._say("kept", {"changed": await member.keep(links)})
            await asyncio.to_thread(member.settle, links)
            await asyncio.to_thread(self._checkpoint.complete)
            await self._say("settled")
        if self._checkpoint.stages < PROPAGATED:
            await self._control.expect("propagate")
            self._tell("Propagating classes")
            root = await member.propagate_classes(links)
            await asyncio.to_thread(self._checkpoint.complete)
        self._followed.begin(root)
        await self._say("propagated", {}, {"counts": words_of([root], 2)})
        while (asked := await self._control.expect("level", "finish", most=LARGEST)).kind == "level":
            await self._level(member, links, channels, asked)
        return await self._finish(member, asked)

    async def _replay(self, member: Member) -> tuple[dict[int, int], tuple[int, ...]]:
        """Do again what was done before, with what was received then; the shared keys of each edge, and the root."""
        counts: dict[int, int] = {}
        root: tuple[int, ...] = ()
        for number in range(self._checkpoint.stages):
            records = await asyncio.to_thread(self._checkpoint.stage, number)
            if number < PROPAGATED:
                links = ReplayedLinks(records, self._home, member.wide, self._guard)
                if number == 0:
                    await member.intersect(links)
                    await asyncio.to_thread(member.settle, links)
                    counts = links.counts
                else:
                    root = await member.propagate_classes(links)
            else:
                level = Level(**next(one for one in records if one.kind == "level").arrays)
                links = ReplayedLinks(records, self._home, member.wide, self._guard)
                self._followed.add(level, await member.split(level, links))
                await member.follow(level, links)
                self._alive = level.below
        return counts, root

    async def _level(self, member: Member, links: Links, channels: Mapping[str, Channel], asked: Message) -> None:
        peer, tables = self._control.peer, len(member.tables)
        nodes = asked_nodes(peer, asked, self._alive)
        if self._depth == self._home.stop.max_depth:
            raise senseless(peer, "level")
        self._tell(f"Growing level {self._depth + 1} of the tree")
        gains = await member.best_splits(nodes)
        winners: dict[int, int] | None = None
        if self._home.study.winner == "secret":
            won = await self._argmax(gains, channels)
            winners = {node: one for node, one in zip(nodes.tolist(), won, strict=True) if one is not None}
            await self._say("winners", {}, {"tables": np.array([-1 if one is None else one for one in won], np.int32)})
        else:
            await self._say("info", {}, {"gains": gains.ravel()}, nodes=len(nodes))
        split = await self._control.expect("split", most=LARGEST)
        level = proposed_level(peer, split, nodes, self._alive, tables)
        split_by = {node: table for node, (table, *_) in level.families.items()}
        if not member.can_split(level) or not self._followed.is_new(level) or winners not in (None, split_by):
            raise senseless(peer, "split")
        if not self._checkpoint.promise(split_by):
            raise self._goes_back()
        counts = await member.split(level, links)
        withheld = await member.withheld(level, self._guard)
        silent = {child for node in withheld for child in level.families[node][1:]}
        order = [child for child in level.children.tolist() if child in counts and child not in silent]
        told = {"children": np.array(order, np.int64), "counts": words_of([counts[child] for child in order], 2)}
        await self._say("children", {}, {**told, "withheld": np.array(withheld, np.int64)}, nodes=len(order))
        decided = decided_level(peer, await self._control.expect("follow", most=LARGEST), level, self._alive)
        if self._goes_too_far(decided, counts):
            raise senseless(peer, "follow")
        self._checkpoint.note("level", {}, vars(decided))
        await member.follow(decided, links)
        self._followed.add(decided, counts)
        self._alive = decided.below
        await asyncio.to_thread(self._checkpoint.complete)
        await self._say("followed")

    @property
    def _depth(self) -> int:
        """The depth of the nodes that can be split."""
        return self._checkpoint.stages - PROPAGATED

    def _goes_too_far(self, level: Level, counts: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether children that this party has made are split further, although they are leaves by the study.

        Neighbours would then be told how such a split divides their keys. Only who has made them knows their counts.
        """
        return any(self._home.stop(Node(counts[child], self._depth + 1)) for child in level.below & counts.keys())

    async def _argmax(self, gains: Any, channels: Mapping[str, Channel]) -> list[int | None]:
        holders = [name for name, party in self._home.study.parties.items() if party.tables]
        tables = list(self._home.study.owners)
        return await secret_argmax(
            gains.tolist(),
            mine=[tables.index(name) for name in self._home.tables],
            tables=len(tables),
            me=holders.index(self._home.party),
            channels={holders.index(name): channel for name, channel in channels.items()},
            time_out=float(self._home.study.time_out),
        )

    async def _finish(self, member: Member, asked: Message) -> SecureModel:
        text = asked.arrays.get("model")
        try:
            model = SecureModel.model_validate_json(b"" if text is None else text.tobytes())
            model.tree()
        except ValueError:
            raise senseless(self._control.peer, "finish") from None
        study = self._home.study
        expected = self._checkpoint.run, study.hash, study.owners, study.classes, not study.suppresses
        told = model.run, model.study, model.owners, model.classes, model.identical
        if told != expected or not self._followed.fits(model, study.classifier().prune):
            raise senseless(self._control.peer, "finish")
        kept = {part.number: part.table for part in model.nodes if part.table is not None}
        member.split_list(kept).write(self._home.file.state, self._checkpoint.run)
        model.write(self._home.file.state / "models" / self._checkpoint.run)
        self._checkpoint.delete()
        await self._say("finished")
        return model

    async def _say(self, kind: str, fields: Any = None, arrays: Any = None, nodes: int | None = None) -> None:
        """Tell the coordinator something, and log it before."""
        size = sum(array.nbytes for array in (arrays or {}).values())
        self._record(self._control.peer, kind, size=size, nodes=nodes)
        traffic = [channel.traffic for channel in (self._control, *self._channels.values())]
        step = 1 if kind == "finished" else _STEP
        sums = {"sent": sum(one.sent for one in traffic), "received": sum(one.received for one in traffic)}
        volume = {name: -(-count // step) * step for name, count in sums.items()}
        await self._control.send(kind, {**(fields or {}), **volume}, arrays or {})
