"""How summaries pass between neighbours: over the network, or, when a run is resumed, from its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.joins.parties.checkpoint import Checkpoint, Record
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.guard import Guard
from veilset.joins.parties.home import Home, Mask
from veilset.joins.parties.intersection import intersect
from veilset.joins.parties.key_bytes import encode_keys
from veilset.joins.parties.wire import Channel, Message
from veilset.joins.parties.workers import Workers
from veilset.joins.site import Criterion, Numbers, Site
from veilset.joins.summaries import ClassSummary, SplitSummary

_KEY, _NODE, _WORD = 4, 8, 8  # bytes
_Arrays = dict[str, npt.NDArray[Any]]

Recording = Callable[..., None]
"""Called before a message is sent: recording(to whom, kind, size=…, edge=…, nodes=…, entries=…, unknown=…)."""


def class_arrays(summary: ClassSummary) -> _Arrays:
    """A class summary as arrays."""
    return {"keys": summary.keys, "counts": summary.counts}


def split_arrays(summary: SplitSummary) -> _Arrays:
    """A split summary as arrays; its nodes are known to both sides."""
    return {"offsets": summary.offsets, "keys": summary.keys, "counts": summary.counts}


class LiveLinks:
    """Links over channels to neighbours. What is sent is logged before; what is received is noted in the checkpoint."""

    def __init__(
        self,
        home: Home,
        channels: Mapping[str, Channel],
        checkpoint: Checkpoint,
        record: Recording,
        workers: Workers,
        guard: Guard,
    ) -> None:
        self._home, self._channels, self._checkpoint, self._workers = home, channels, checkpoint, workers
        self._record = record
        self._guard = guard
        self._neighbours = home.study.shared_edges(home.party)
        self._counts: dict[int, int] = {}

    @property
    def _width(self) -> int:
        return 2 if self._checkpoint.wide else 1

    async def shared_keys(self, edge: int) -> Mask:
        """Private set intersection with the neighbour."""
        study, agreed = self._home.study, self._home.study.edges[edge]
        ends = study.graph.edges[edge]
        ours = self._home.end(edge)
        theirs = ends.right if ours == ends.left else ends.left
        keys = encode_keys(self._home.distinct(edge))
        self._note(edge, "intersection", len(keys), 32 * (agreed.keys[ours] if agreed.pad else len(keys)))
        shared = await intersect(
            self._channels[self._neighbours[edge]],
            keys,
            domain=f"{study.hash} {self._checkpoint.run} {edge}".encode(),
            declared=(agreed.keys[ours], agreed.keys[theirs]),
            pad=agreed.pad,
            workers=self._workers,
            again=lambda count: self._note(edge, "blinded again", count, 32 * count),
        )
        self._checkpoint.note("shared keys", {"edge": edge}, {"bits": np.packbits(shared)})
        self._counts[edge] = int(np.count_nonzero(shared))
        return shared

    async def exchange_kept(self, edge: int, ours: Mask) -> Mask:
        """Both sides say which shared keys they keep."""
        await self._send(edge, "kept keys", {"bits": np.packbits(ours)}, len(ours))
        bits = (await self._expect(edge, "kept keys", len(ours) // 8 + 1)).arrays.get("bits")
        if bits is None or bits.dtype != np.uint8 or len(bits) != (len(ours) + 7) // 8:
            raise self._garbage(edge, "kept keys")
        return np.unpackbits(bits, count=len(ours)).astype(bool)

    def kept_keys(self, edge: int, ours: Mask) -> Mask:
        """Note which keys both sides keep."""
        self._checkpoint.note("kept keys", {"edge": edge}, {"bits": np.packbits(ours)})
        self._counts[edge] = int(np.count_nonzero(ours))
        return ours

    def check_classes(self, edge: int, site: Site, summary: ClassSummary) -> None:
        """Raise if a class summary must not be sent."""
        self._guard.check_classes(edge, site, summary)

    def check_splits(self, edge: int, site: Site, summary: SplitSummary) -> None:
        """Raise if a split summary must not be sent."""
        self._guard.check_splits(edge, site, summary)

    async def give(self, edge: int, summary: ClassSummary | SplitSummary) -> None:
        """Send a summary to the neighbour."""
        if isinstance(summary, ClassSummary):
            await self._send(edge, "class summary", class_arrays(summary), len(summary.keys))
        else:
            await self._send(edge, "split summary", split_arrays(summary), len(summary.keys), len(summary.nodes))

    async def take_classes(self, edge: int) -> ClassSummary:
        """Receive a class summary from the neighbour."""
        classes, width, count = len(self._home.study.classes), self._width, self._counts[edge]
        message = await self._expect(edge, "class summary", count * (_KEY + _WORD * classes * width))
        try:
            summary = checked_classes(message.arrays, count, classes, width)
        except ValueError:
            raise self._garbage(edge, "class summary") from None
        self._checkpoint.note("class summary", {"edge": edge}, class_arrays(summary))
        return summary

    async def take_splits(self, edge: int, nodes: Numbers, children: Numbers) -> SplitSummary:
        """Receive a split summary from the neighbour."""
        classes, width, count = len(self._home.study.classes), self._width, self._counts[edge]
        entry = _KEY + 2 * _WORD * classes * width
        message = await self._expect(edge, "split summary", len(nodes) * count * entry + _NODE * (len(nodes) + 1))
        try:
            summary = checked_splits(message.arrays, nodes, children, count, classes, width)
        except ValueError:
            raise self._garbage(edge, "split summary") from None
        self._checkpoint.note("split summary", {"edge": edge}, split_arrays(summary))
        return summary

    @contextmanager
    def blamed(self, edge: int, kind: str) -> Iterator[None]:
        """A block whose ValueError says that a summary of the neighbour contradicts what we know."""
        try:
            yield
        except ValueError:
            raise self._garbage(edge, kind) from None

    def criteria(self, ours: dict[int, Criterion]) -> dict[int, Criterion]:
        """Note criteria of our own: the ranks of the values, not the values."""
        found = [(node, one.attribute, one.code) for node, one in ours.items()]
        self._checkpoint.note("criteria", {}, {"criteria": np.array(found, np.int64).reshape(-1, 3)})
        return ours

    def resumed(self, counts: Mapping[int, int]) -> None:
        """Go on after a replay that has found so many shared keys on each edge."""
        self._counts.update(counts)

    async def _send(self, edge: int, kind: str, arrays: _Arrays, entries: int, nodes: int | None = None) -> None:
        self._note(edge, kind, entries, sum(array.nbytes for array in arrays.values()), nodes)
        await self._channels[self._neighbours[edge]].send(kind, {"edge": edge}, arrays)

    def _note(self, edge: int, kind: str, entries: int, size: int, nodes: int | None = None) -> None:
        """Record what is about to be sent."""
        on = str(self._home.study.graph.edges[edge])
        self._record(self._neighbours[edge], kind, size=size, edge=on, nodes=nodes, entries=entries)

    async def _expect(self, edge: int, kind: str, most: int) -> Message:
        message = await self._channels[self._neighbours[edge]].expect(kind, most=most)
        if message.fields.get("edge") != edge:
            raise self._garbage(edge, kind)
        return message

    def _garbage(self, edge: int, kind: str) -> Disrupted:
        party = self._neighbours[edge]
        return Disrupted(
            f"{party} has sent a {kind} for {self._home.study.graph.edges[edge]} that makes no sense.",
            "Check that both parties run the same version, and train again.",
            party=party,
            fault="unexpected",
        )


class ReplayedLinks:
    """Links that give again what was received before, and send nothing."""

    def __init__(self, records: list[Record], home: Home, wide: bool, guard: Guard) -> None:
        self._guard = guard
        passed = [one for one in records if one.kind not in ("level", "criteria")]
        self._records = passed
        noted = [one.arrays["criteria"].tolist() for one in records if one.kind == "criteria"]
        self._criteria = {node: Criterion(at, code) for found in noted for node, at, code in found}
        self._home, self._classes, self._width = home, len(home.study.classes), 2 if wide else 1
        self.counts: dict[int, int] = {}

    async def shared_keys(self, edge: int) -> Mask:
        """The shared keys that were found."""
        return self._bits("shared keys", edge, len(self._home.distinct(edge)[0]))

    async def exchange_kept(self, edge: int, ours: Mask) -> Mask:
        """Nothing is left out that was not: the end is noted."""
        return ours

    def kept_keys(self, edge: int, ours: Mask) -> Mask:
        """The keys that were kept."""
        kept = self._bits("kept keys", edge, len(ours))
        self.counts[edge] = int(np.count_nonzero(kept))
        return kept

    def check_classes(self, edge: int, site: Site, summary: ClassSummary) -> None:
        """Nothing: nothing is sent."""

    def check_splits(self, edge: int, site: Site, summary: SplitSummary) -> None:
        """What is sent no more is still part of what the neighbour can put together."""
        self._guard.replay_splits(edge, site, summary)

    async def give(self, edge: int, summary: ClassSummary | SplitSummary) -> None:
        """Nothing: the neighbour has it."""

    async def take_classes(self, edge: int) -> ClassSummary:
        """A class summary that was received."""
        arrays = self._next("class summary", edge).arrays
        return ClassSummary(arrays["keys"], arrays["counts"], self._classes, self._width)

    async def take_splits(self, edge: int, nodes: Numbers, children: Numbers) -> SplitSummary:
        """A split summary that was received."""
        arrays = self._next("split summary", edge).arrays
        return SplitSummary(
            nodes, children, arrays["offsets"], arrays["keys"], arrays["counts"], self._classes, self._width
        )

    def blamed(self, edge: int, kind: str) -> AbstractContextManager[None]:
        """A block in which all is well, as it was before."""
        return nullcontext()

    def criteria(self, ours: dict[int, Criterion]) -> dict[int, Criterion]:
        """Criteria of our own that were noted."""
        return self._criteria

    def _bits(self, kind: str, edge: int, count: int) -> Mask:
        return np.unpackbits(self._next(kind, edge).arrays["bits"], count=count).astype(bool)

    def _next(self, kind: str, edge: int) -> Record:
        """The next record of an edge; those of several edges can be in any order."""
        found = (at for at, one in enumerate(self._records) if (one.kind, one.fields.get("edge")) == (kind, edge))
        if (at := next(found, None)) is None:
            raise ValueError(f"the checkpoint has no {kind} for edge {edge}")
        return self._records.pop(at)


def checked_classes(arrays: Mapping[str, Any], count: int, classes: int, width: int) -> ClassSummary:
    """A class summary from arrays, or a ValueError if they are none about so many join values."""
    keys, counts = arrays.get("keys"), arrays.get("counts")
    _check_keys(keys, count)
    if counts is None or counts.dtype != np.uint64 or len(counts) != len(arrays["keys"]) * classes * width:
        raise ValueError("counts")
    return ClassSummary(arrays["keys"], counts, classes, width)


def checked_splits(
    arrays: Mapping[str, Any], nodes: Numbers, children: Numbers, count: int, classes: int, width: int
) -> SplitSummary:
    """A split summary of these nodes from arrays, or a ValueError if they are none."""
    offsets, keys, counts = (arrays.get(name) for name in ("offsets", "keys", "counts"))
    if offsets is None or offsets.dtype != np.int64 or len(offsets) != len(nodes) + 1:
        raise ValueError("offsets")
    if keys is None or offsets[0] != 0 or offsets[-1] != len(keys) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets")
    _check_keys(keys, count, offsets)
    if counts is None or counts.dtype != np.uint64 or len(counts) != len(keys) * 2 * classes * width:
        raise ValueError("counts")
    return SplitSummary(nodes, children, offsets, keys, counts, classes, width)


def _check_keys(keys: Any, count: int, offsets: Any = ()) -> None:
    """Raise unless they are numbers of join values in increasing order, anew from each offset on."""
    if keys is None or keys.dtype != np.int32 or (len(keys) and (keys.min() < 0 or keys.max() >= count)):
        raise ValueError("keys")
    increasing = np.diff(keys) > 0
    anew = np.asarray(offsets, np.int64)
    increasing[anew[(anew > 0) & (anew < len(keys))] - 1] = True
    if not increasing.all():
        raise ValueError("keys")
