"""SecureMultiTbl (thesis Figure 3): the coordinator's side. It grows the tree of the join, and sees no table.

At each level, every party tells the gain of the best split of each of its tables. The largest wins, the first of
equals. The winner splits and tells the class counts of the children; neighbours follow by split summaries, which the
coordinator does not see. All messages of a level go together, so the rounds grow with the depth of the tree.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veilset.errors import InvalidArgument
from veilset.joins.growing import UNIT, Stop
from veilset.joins.parties.checkpoint import Checkpoint, can_go_on
from veilset.joins.parties.control import (
    LARGEST,
    Failed,
    all_of,
    array,
    closing,
    hear,
    passing,
    senseless,
    tell,
    truth,
    whole,
)
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.gains import gain_of
from veilset.joins.parties.levels import Level
from veilset.joins.parties.party_file import PartyFile
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel, kept_splits
from veilset.joins.parties.server import own_hello
from veilset.joins.parties.session import INTERSECTED, PROPAGATED
from veilset.joins.parties.wire import Channel, Message, Tap, dial
from veilset.joins.site import ROOT, numbers_of
from veilset.joins.summaries import from_words
from veilset.joins.tree import Node, Tree

_PAUSE = 0.5  # seconds before an interrupted run goes on


@dataclass
class Growth:
    """A tree that grows, as its watchers see it.

    Parameters
    ----------
    stage : str
        What is going on.
    nodes : dict
        The nodes so far, by number.
    traffic : dict
        Bytes that each party has sent and received in all, by its own count.
    """

    stage: str = ""
    nodes: dict[int, Node] = field(default_factory=dict)
    traffic: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Trained:
    """A run that has ended with a tree."""

    model: SecureModel
    tree: Tree
    traffic: Mapping[str, tuple[int, int]]
    seconds: float


class Coordinator:
    """Grows the tree of a study.

    Parameters
    ----------
    file : PartyFile
        Of the party that coordinates.
    tell : callable
        Is told in words what happens.
    watch : callable
        Is shown the tree as it grows.
    tap : callable, optional
        Sees all frames, for tests.
    """

    def __init__(
        self,
        file: PartyFile,
        tell: Callable[[str], None],
        watch: Callable[[Growth], None] = lambda growth: None,
        tap: Tap | None = None,
    ) -> None:
        self._file, self._tell, self._watch, self._tap = file, tell, watch, tap
        self.study = file.study
        if self.study.coordinator != file.party:
            raise InvalidArgument(
                f"{file.party} wants to coordinate; by the study, {self.study.coordinator} does.",
                f"Run this at {self.study.coordinator}, or agree on another study.",
            )
        file.check_approval()
        self._classifier = self.study.classifier()
        self._stop: Stop = self._classifier.check()
        self._holders = [name for name, party in self.study.parties.items() if party.tables]
        self._tables = list(self.study.owners)
        self._growth = Growth()
        self._leaves: set[int] = set()  # nodes that are not split, since a party withholds it
        self._leaves_stage = 0  # in this stage
        self._anew = False  # whether a run was given up for another
        self._checkpoint = Checkpoint.find(
            file.state / "coordinator" / self.study.hash[:16], {"study": self.study.hash}
        )

    async def train(self) -> Trained:
        """Grow the tree; an interrupted run goes on from its last level, until a time-out passes without progress."""
        started = time.monotonic()
        if not self._checkpoint.stages:
            self._checkpoint.run = ""  # nothing is lost by a new run, and parties compare keys only so often in one
        stages, since = self._checkpoint.stages, None
        while True:
            try:
                model = await self._attempt()
            except Failed as failed:
                self._give_way(failed)
                continue
            except Disrupted as error:
                if self._checkpoint.stages > stages:
                    stages, since = self._checkpoint.stages, time.monotonic()
                elif since is None:
                    since = time.monotonic()
                # A party counts as unreachable once a whole time-out was spent on reaching it.
                waited = error.fault == "unreachable" or time.monotonic() - since > float(self.study.time_out)
                if waited or not passing(error):
                    raise
                self._tell(f"{error} Trying again.")
                await asyncio.sleep(_PAUSE)
                continue
            return Trained(model, model.tree(), dict(self._growth.traffic), time.monotonic() - started)

    def _give_way(self, failed: Failed) -> None:
        """Prepare an attempt in which a party can go on that could not: with wider counts, or without some splits."""
        point = self._checkpoint
        if failed.reason == "behind":
            self._begin_anew(failed.party)
        elif failed.reason == "wide" and not point.wide:
            point.begin(point.run, True, min(INTERSECTED, point.stages))
        elif failed.nodes - self._leaves and failed.nodes <= self._growth.nodes.keys():
            self._tell_withheld(len(failed.nodes - self._leaves))
            self._leaves |= failed.nodes
            self._leaves_stage = point.stages
        else:
            raise senseless(failed.party, "failed")

    def _tell_withheld(self, count: int) -> None:
        if count:
            nodes = "1 node remains a leaf" if count == 1 else f"{count:,} nodes remain leaves"
            self._tell(f"{nodes}: the best split would show a smaller group than a policy allows.")

    def _begin_anew(self, party: str) -> None:
        """Begin another run, since a party has lost what it had of this one, or its tables have changed; once."""
        if self._anew:
            raise Disrupted(
                f"{party} has lost again what it had of the run.",
                f"Check the state folder of {party}, and that its tables do not change, then train again.",
                party=party,
                fault="refused",
            )
        self._anew = True
        self._tell(f"{party} does not have what others have of the run: another begins from the start.")
        self._checkpoint.begin(secrets.token_hex(16), self._checkpoint.wide, 0)

    async def _attempt(self) -> SecureModel:
        run, attempt = self._checkpoint.run or secrets.token_hex(16), secrets.randbits(31)
        async with AsyncExitStack() as stack:
            channels = await self.connect(run, attempt, stack)
            await self._all(channels, "train")
            ready = await self._hear(channels, "ready")
            known = {name: whole(name, one, "stages") for name, one in ready.items()}
            known = {self.study.coordinator: self._checkpoint.stages} | known
            last = min(known, key=lambda name: known[name])
            stages = min(self._checkpoint.stages, known[last])
            if not can_go_on(stages, max(self._checkpoint.stages, *known.values())):
                raise Failed(last, "behind")
            self._checkpoint.begin(run, self._checkpoint.wide, stages)
            if self._checkpoint.stages != self._leaves_stage:
                self._leaves.clear()
            level, root = self._replay()
            fields = {"stages": self._checkpoint.stages, "wide": self._checkpoint.wide}
            await self._all(channels, "begin", fields)
            await self._hear(channels, "linked")
            if self._checkpoint.stages < INTERSECTED:
                self._show("Intersecting keys")
                await self._all(channels, "intersect")
                await self._hear(channels, "intersected")
                await self._settle(channels)
                self._checkpoint.complete()
            if self._checkpoint.stages < PROPAGATED:
                self._show("Propagating classes")
                await self._all(channels, "propagate")
            root = self._rooted(await self._hear(channels, "propagated", most=1 << 20), root)
            if self._checkpoint.stages < PROPAGATED:
                self._checkpoint.complete()
                level = {} if self._stop(root) else {ROOT: root}
            while level := {number: node for number, node in level.items() if number not in self._leaves}:
                level = await self._grow(channels, level)
            return await self._finish(channels, root, run)

    async def connect(
        self, run: str, attempt: int, stack: AsyncExitStack, parties: Sequence[str] | None = None
    ) -> dict[str, Channel]:
        """Channels to these parties, or to all with tables; they are closed with the stack."""
        found: dict[str, Channel] = {}

        async def one(name: str) -> None:
            party = self.study.parties[name]
            found[name] = await dial(
                party.address,
                name,
                self._file.identity,
                self.study.certificates[name],
                own_hello(self._file, "coordinator", run, attempt),
                time_out=float(self.study.time_out),
                others=self.study.certificates,
                tap=self._tap,
            )
            stack.push_async_exit(closing(found[name]))

        wanted = self._holders if parties is None else parties
        await all_of({name: one(name) for name in wanted})
        return {name: found[name] for name in wanted}

    async def _settle(self, channels: Mapping[str, Channel]) -> None:
        """Where keys of few rows are left out, parties do so until nothing changes."""
        changing = [*channels] if self.study.suppresses else []
        rounds = sum(sum(edge.keys.values()) for edge in self.study.edges)  # each but the last takes out a key
        while changing:
            if rounds < 0:
                raise senseless(changing[0], "kept")
            rounds -= 1
            await self._all(channels, "keep")
            told = await self._hear(channels, "kept")
            changing = [name for name, one in told.items() if truth(name, one, "changed")]
        await self._all(channels, "settle")
        await self._hear(channels, "settled")

    def _rooted(self, heard: Mapping[str, Message], known: Node | None) -> Node:
        """The root, whose class counts all parties must tell alike."""
        words = 2 * len(self.study.classes)
        counts = {
            name: tuple(from_words(array(name, one, "counts", np.uint64, words), 2)) for name, one in heard.items()
        }
        first = next(iter(counts.values()))
        for name, one in counts.items():
            if one != first:
                raise senseless(name, "propagated")
        if not any(first):
            raise InvalidArgument(
                "No row that has a class matches rows in all other tables.",
                "Check that the parties mean the same keys: type, steps and pattern of each join.",
            )
        root = known or Node(first)
        root.counts = first
        self._growth.nodes[ROOT] = root
        return root

    async def _grow(self, channels: Mapping[str, Channel], level: dict[int, Node]) -> dict[int, Node]:
        """Split the nodes of a level; the nodes of the next."""
        self._show(f"Growing level {self._checkpoint.stages - PROPAGATED + 1} of the tree")
        nodes = numbers_of(level)
        await self._all(channels, "level", {}, {"nodes": nodes})
        winners, gains = await self._winners(channels, level)
        won = {number: table for number, table in zip(level, winners, strict=True) if table is not None}
        split = self._proposed(won)
        await self._all(channels, "split", {}, vars(split))
        counts, withheld = await self._children(channels, split)
        self._tell_withheld(len(withheld))
        below = self._divide(level, split, counts, gains, withheld)
        decided = self._decided(level, split, below)
        await self._all(channels, "follow", {}, vars(decided))
        await self._hear(channels, "followed")
        self._note(decided, level)
        return below

    async def _winners(self, channels: Mapping[str, Channel], level: Mapping[int, Node]) -> tuple[list[Any], Any]:
        """The table that splits each node (None: nobody can), and the gain of each, if it was told."""
        if self.study.winner == "secret":
            heard = await self._hear(channels, "winners", most=LARGEST)
            told = [array(name, one, "tables", np.int32, len(level)).tolist() for name, one in heard.items()]
            for name, one in zip(heard, told, strict=True):
                if one != told[0] or not all(-1 <= table < len(self._tables) for table in one):
                    raise senseless(name, "winners")
            return [None if table < 0 else table for table in told[0]], None
        info = np.zeros((len(level), len(self._tables)), np.int64)
        for name, one in (await self._hear(channels, "info", most=LARGEST)).items():
            mine = [self._tables.index(table) for table in self.study.parties[name].tables]
            info[:, mine] = array(name, one, "gains", np.int64, len(level) * len(mine)).reshape(len(level), len(mine))
        winners = info.argmax(axis=1)  # the first of equals
        gains = info.max(axis=1)
        told_gains = {number: gain * UNIT for number, gain in zip(level, gains.tolist(), strict=True)}
        return [int(table) if gain > 0 else None for table, gain in zip(winners, gains, strict=True)], told_gains

    def _proposed(self, won: Mapping[int, int]) -> Level:
        """The nodes that are split, with new numbers for their children."""
        start = 1 + max(self._growth.nodes)
        children = np.arange(start, start + 2 * len(won), dtype=np.int64)
        none = np.zeros(len(won), np.uint8)
        return Level(numbers_of(won), children, np.array(list(won.values()), np.int32), none, numbers_of(()))

    async def _children(self, channels: Mapping[str, Channel], split: Level) -> tuple[dict[int, Any], set[int]]:
        """The class counts of all children, from those who split; and nodes whose split somebody withholds."""
        counts: dict[int, tuple[int, ...]] = {}
        withheld: set[int] = set()
        classes = len(self.study.classes)
        for name, one in (await self._hear(channels, "children", most=LARGEST)).items():
            silent = set(array(name, one, "withheld", np.int64).tolist())
            own = {
                node: pair
                for node, (table, *pair) in split.families.items()
                if self.study.owners[self._tables[table]] == name
            }
            expected = [child for node, pair in own.items() if node not in silent for child in pair]
            numbers = array(name, one, "children", np.int64, len(expected)).tolist()
            told = from_words(array(name, one, "counts", np.uint64, len(expected) * classes * 2), 2)
            if numbers != expected or not silent <= set(own):
                raise senseless(name, "children")
            counts |= {number: tuple(told[at * classes : (at + 1) * classes]) for at, number in enumerate(numbers)}
            withheld |= silent
        return counts, withheld

    def _divide(
        self, level: Mapping[int, Node], split: Level, counts: Mapping[int, Any], gains: Any, withheld: set[int]
    ) -> dict[int, Node]:
        """Give nodes their children; the children that are split further. A split that is withheld is none."""
        below: dict[int, Node] = {}
        for number, (table, *pair) in split.families.items():
            if number in withheld:
                continue
            node, name = level[number], self._tables[table]
            children = {child: Node(counts[child], node.depth + 1) for child in pair}
            sums = tuple(map(sum, zip(*(child.counts for child in children.values()), strict=True)))
            if sums != node.counts or not all(child.rows for child in children.values()):
                raise senseless(self.study.owners[name], "children")
            onward = {at: child for at, child in children.items() if not self._stop(child)}
            node.split, node.children = PrivateSplit(name, number=number), tuple(children.values())
            node.gain = gain_of(node) if gains is None else gains[number]
            self._growth.nodes |= children
            below |= onward
        return below

    def _decided(self, level: Mapping[int, Node], split: Level, below: Mapping[int, Node]) -> Level:
        """The level as everybody follows it: without what is withheld, and with what is done."""
        kept = np.array([level[number].split is not None for number in split.nodes.tolist()], bool)
        pairs = split.children.reshape(-1, 2)
        onward = np.asarray(np.isin(pairs, numbers_of(below)).any(axis=1))
        ended = [*level, *(child for child in split.children.tolist() if child not in below)]
        return Level(
            split.nodes[kept],
            pairs[kept].ravel(),
            split.tables[kept],
            onward[kept].astype(np.uint8),
            numbers_of(ended),
        )

    def _note(self, decided: Level, level: Mapping[int, Node]) -> None:
        """Remember a level, with the class counts of its children."""
        for number, pair in zip(decided.nodes.tolist(), decided.children.reshape(-1, 2).tolist(), strict=True):
            node = level[number]
            table = "" if node.split is None else node.split.table
            counts = [list(child.counts) for child in node.children]
            self._checkpoint.note(
                "node", {"number": number, "table": table, "gain": node.gain, "pair": pair, "counts": counts}, {}
            )
        below = decided.below
        self._checkpoint.note("below", {"nodes": [one for one in self._growth.nodes if one in below]}, {})
        self._checkpoint.complete()

    def _replay(self) -> tuple[dict[int, Node], Node | None]:
        """The tree as far as it is known: the level that is next, and the root, whose counts are told again."""
        self._growth.nodes.clear()
        if self._checkpoint.stages < PROPAGATED:
            return {}, None
        root = Node((0,))
        nodes = {ROOT: root}
        level = {ROOT: root}
        for number in range(PROPAGATED, self._checkpoint.stages):
            *split, below = self._checkpoint.stage(number)
            for one in (record.fields for record in split):
                node = nodes[one["number"]]
                node.split, node.gain = PrivateSplit(one["table"], number=one["number"]), one["gain"]
                node.children = tuple(Node(tuple(counts), node.depth + 1) for counts in one["counts"])
                nodes |= dict(zip(one["pair"], node.children, strict=True))
            level = {at: nodes[at] for at in below.fields["nodes"]}
        self._growth.nodes.update(nodes)
        return level, root

    async def _finish(self, channels: Mapping[str, Channel], root: Node, run: str) -> SecureModel:
        """Prune, tell all parties the tree that is left, and let them delete the rest."""
        tree, _ = kept_splits(root, self._classifier.prune)
        model = SecureModel.of(Tree(self.study.classes, tree), run, self.study, not self.study.suppresses)
        text = np.frombuffer(model.model_dump_json().encode(), np.uint8)
        await self._all(channels, "finish", {}, {"model": text})
        await self._hear(channels, "finished")
        self._checkpoint.delete()
        self._show("Finished")
        return model

    def _show(self, stage: str) -> None:
        self._growth.stage = stage
        self._watch(self._growth)

    async def _all(self, channels: Mapping[str, Channel], kind: str, fields: Any = None, arrays: Any = None) -> None:
        await all_of({name: tell(name, channel, kind, fields, arrays) for name, channel in channels.items()})

    async def _hear(self, channels: Mapping[str, Channel], kind: str, most: int = 0) -> dict[str, Message]:
        """The next message of every party, which must be of this kind."""
        heard = await all_of({name: hear(name, channel, kind, most) for name, channel in channels.items()})
        for name, message in heard.items():
            self._growth.traffic[name] = whole(name, message, "sent"), whole(name, message, "received")
        self._watch(self._growth)
        return heard
