"""What a party does in a run, with its tables at home: everything but the network.

A run has stages. First, neighbours find the keys they share. Then classes are propagated. Then the tree grows, a level
a stage. In each stage summaries pass between neighbours; `Links` says how: over the network, or from a checkpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
import numpy.typing as npt

from veilset.joins.columns import Codes
from veilset.joins.parties.guard import Guard
from veilset.joins.parties.home import Home, renumbered
from veilset.joins.parties.levels import Level
from veilset.joins.parties.split_lists import SplitList
from veilset.joins.parties.suppression import kept_keys
from veilset.joins.parties.together import together
from veilset.joins.propagation import Move, depth_first
from veilset.joins.site import ROOT, Criterion, Numbers, Site
from veilset.joins.summaries import ClassSummary, SplitSummary, Words, to_words
from veilset.joins.tree import Split

Shared = npt.NDArray[np.bool_]
"""Which of the different keys at one's end of an edge are shared."""


class Links(Protocol):
    """How summaries pass to neighbours and from them."""

    async def shared_keys(self, edge: int) -> Shared:
        """Which of our different keys on this edge the neighbour has, too."""

    async def exchange_kept(self, edge: int, ours: Shared) -> Shared:
        """Of the shared keys, those that the neighbour keeps, once it was told which we keep."""

    def kept_keys(self, edge: int, ours: Shared) -> Shared:
        """Of the shared keys, those that both keep in the end, remembered."""

    def check_classes(self, edge: int, site: Site, summary: ClassSummary) -> None:
        """Raise if a class summary must not be sent."""

    def check_splits(self, edge: int, site: Site, summary: SplitSummary) -> None:
        """Raise if a split summary must not be sent."""

    async def give(self, edge: int, summary: ClassSummary | SplitSummary) -> None:
        """Send a summary."""

    async def take_classes(self, edge: int) -> ClassSummary:
        """Receive the next class summary."""

    async def take_splits(self, edge: int, nodes: Numbers, children: Numbers) -> SplitSummary:
        """Receive the next split summary, of these nodes."""

    def blamed(self, edge: int, kind: str) -> AbstractContextManager[None]:
        """A block that raises ValueError if what the neighbour has sent contradicts what we know."""

    def criteria(self, ours: dict[int, Criterion]) -> dict[int, Criterion]:
        """The criteria by which this party splits nodes of a level, remembered."""


class Member:
    """A party's part in a run."""

    def __init__(self, home: Home, wide: bool) -> None:
        self.home, self.wide = home, wide
        self.tables = list(home.study.owners)
        self.sites: dict[str, Site] = {}
        self.keys: dict[str, dict[int, tuple[Codes, int]]] = {}
        self.kept: dict[int, Shared] = {}

    async def intersect(self, links: Links) -> None:
        """Stage 1: find the keys that are shared on each edge to another party, with all neighbours at once."""
        keys = {}
        neighbours = self.home.study.shared_edges(self.home.party)

        async def intersect_with(neighbour: str) -> None:
            for edge in (edge for edge, other in neighbours.items() if other == neighbour):
                keys[edge] = self.home.numbered(edge, await links.shared_keys(edge))

        await together(intersect_with(neighbour) for neighbour in dict.fromkeys(neighbours.values()))
        self.keys = await asyncio.to_thread(self.home.keys_by_table, keys)
        self.kept = {edge: np.ones(count, bool) for held in self.keys.values() for edge, (_, count) in held.items()}

    async def keep(self, links: Links) -> bool:
        """Leave out keys of few rows where the study says so, and tell neighbours; whether this changed anything."""
        before = self.kept
        now = {edge: mask.copy() for edge, mask in before.items()}
        for table, held in self.keys.items():
            alive = {edge: before[edge] for edge in held}
            classes = self.home.classes if table == self.home.study.target else None
            for edge, mask in kept_keys(held, self.home.floors, classes, alive).items():
                now[edge] &= mask
        for edge in self.home.study.shared_edges(self.home.party):
            now[edge] &= await links.exchange_kept(edge, now[edge])
        self.kept = now
        return any((now[edge] != before[edge]).any() for edge in now)

    def settle(self, links: Links) -> None:
        """End of stage 1: make the sites, with the keys that are kept."""
        self.kept = {edge: links.kept_keys(edge, mask) for edge, mask in self.kept.items()}
        keys = {
            table: {edge: renumbered(codes, self.kept[edge]) for edge, (codes, _) in held.items()}
            for table, held in self.keys.items()
        }
        self.sites = self.home.sites(keys, self.wide)

    async def propagate_classes(self, links: Links) -> tuple[int, ...]:
        """Stage 2: class propagation; the class counts of the root."""
        study, graph = self.home.study, self.home.study.graph
        for table, site in self.sites.items():
            if table == study.target:
                site.start(self.home.classes)
        phase_1 = depth_first(graph, study.target)
        for move in [*phase_1, *graph.visits(phase_1[-1][1])]:
            await self._pass_classes(move, links)
        return next(iter(self.sites.values())).counts(ROOT)

    async def best_splits(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        """Info of each node and each table of this party."""
        least = self.home.stop.min_leaf
        gains = [await asyncio.to_thread(site.best_splits, nodes, least) for site in self.sites.values()]
        return np.array(gains, np.int64).reshape(len(self.sites), len(nodes)).T.copy()

    def can_split(self, level: Level) -> bool:
        """Whether all nodes that tables of this party are said to have won have splits there."""
        return all(
            node in site.criteria
            for table, site in self.sites.items()
            for node in level.of(self.tables.index(table), onward=False)[0].tolist()
        )

    async def split(self, level: Level, links: Links) -> dict[int, tuple[int, ...]]:
        """Split the nodes that a table of this party has won; the class counts of their children."""
        counts: dict[int, tuple[int, ...]] = {}
        for table, site in self.sites.items():
            nodes, children = level.of(self.tables.index(table), onward=False)
            if len(nodes):
                ours = {node: site.criteria[node] for node in nodes.tolist() if node in site.criteria}
                site.criteria |= links.criteria(ours)
                counts |= zip(children.tolist(), await asyncio.to_thread(site.split, nodes, children), strict=True)
        return counts

    async def withheld(self, level: Level, guard: Guard) -> list[int]:
        """Nodes that this party has just split, and whose split it does not tell, since few rows would show."""
        found: set[int] = set()
        for table, site in self.sites.items():
            nodes, children = level.of(self.tables.index(table), onward=False)
            if len(nodes):
                found |= set(await asyncio.to_thread(guard.withheld, site, nodes, children))
        return sorted(found)

    async def follow(self, level: Level, links: Links) -> None:
        """Split propagation from each table that has split, outward; then forget what is done with.

        Summaries that are as far from the table that has split pass at once, in an order that all parties keep.
        """
        for moves in self._waves(level):
            await self._pass_splits(moves, links)
        for site in self.sites.values():
            site.forget(level.ended)

    async def _pass_classes(self, move: Move, links: Links) -> None:
        sender, receiver, edge = move
        summary = None
        if sender in self.sites:
            summary = await asyncio.to_thread(self.sites[sender].class_summary, edge)
            if receiver not in self.sites:
                await asyncio.to_thread(links.check_classes, edge, self.sites[sender], summary)
                await links.give(edge, summary)
        if receiver in self.sites:
            received = await links.take_classes(edge) if summary is None else summary
            with links.blamed(edge, "class summary"):
                await asyncio.to_thread(self.sites[receiver].receive, edge, received)

    def _waves(self, level: Level) -> list[list[tuple[Move, Numbers, Numbers]]]:
        """The moves of split propagation with the nodes that they are about, by the distance to the first sender."""
        waves: list[list[tuple[Move, Numbers, Numbers]]] = [[] for _ in self.tables]
        for number, winner in enumerate(self.tables):
            nodes, children = level.of(number, onward=True)
            distances = {winner: 0}
            for move in self.home.study.graph.visits(winner) if len(nodes) else ():
                distances[move[1]] = distances[move[0]] + 1
                waves[distances[move[0]]].append((move, nodes, children))
        return waves

    async def _pass_splits(self, moves: Sequence[tuple[Move, Numbers, Numbers]], links: Links) -> None:
        """Sum up what is told in a wave, then send it, while what others tell is taken in."""
        told, heard = [], []
        for (sender, receiver, edge), nodes, children in moves:
            if sender in self.sites:
                summary = await asyncio.to_thread(self.sites[sender].split_summary, edge, nodes, children)
                if receiver in self.sites:
                    await asyncio.to_thread(self.sites[receiver].follow, edge, summary)
                else:
                    await asyncio.to_thread(links.check_splits, edge, self.sites[sender], summary)
                    told.append((edge, summary))
            elif receiver in self.sites:
                heard.append((receiver, edge, nodes, children))

        async def take() -> None:
            for receiver, edge, nodes, children in heard:
                summary = await links.take_splits(edge, nodes, children)
                with links.blamed(edge, "split summary"):
                    await asyncio.to_thread(self.sites[receiver].follow, edge, summary)

        await together([*(links.give(*one) for one in told), take()])

    def split_list(self, kept: Mapping[int, str]) -> SplitList:
        """The criteria of this party at nodes that pruning has kept, given with the tables that split them.

        Those of all other nodes are forgotten.
        """
        found: dict[int, Split] = {}
        for table, site in self.sites.items():
            site.criteria = {node: one for node, one in site.criteria.items() if kept.get(node) == table}
            found |= {node: site.criterion(node) for node in site.criteria}
        asked = {split.name for split in found.values()}
        return SplitList(found, {name: of for name, of in self.home.types.items() if name in asked})


def words_of(counts: Sequence[tuple[int, ...]], width: int) -> Words:
    """Class counts of several nodes in words."""
    return to_words([count for one in counts for count in one], width)
