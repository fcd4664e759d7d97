"""A party's side of a prediction: it answers, for records of its own, on which side of its splits they are.

The coordinator names records by their identifiers. In path mode it asks about a record at a node only if the record has
got there; in one round the party answers for all its nodes and all records, and sees no paths. A session has questions
of one kind only. Along the path, a record is answered for once at each node, and not at nodes that it cannot have
reached by the party's own answers: this would tell as much as one round, without saying so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, near_misses
from veilset.joins.answers import answers, by_column
from veilset.joins.columns import column_of
from veilset.joins.parties.control import array, senseless
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.home import Home, as_in_party_file
from veilset.joins.parties.links import Recording
from veilset.joins.parties.party_file import NewTable
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel
from veilset.joins.parties.split_lists import SplitList
from veilset.joins.parties.wire import Channel, Message
from veilset.joins.tables import read_table
from veilset.joins.tree import Node, Split
from veilset.views import Count

SECOND, FIRST, UNKNOWN = 0, 1, 2
"""Answers: which child a record goes to; that there is no such record, or several."""

MOST = 256 << 20  # bytes of a message
_Bits = npt.NDArray[np.uint8]
_NOWHERE = -1


async def answer(home: Home, control: Channel, run: str, record: Recording, tell: Callable[[str], None]) -> None:
    """Answer the coordinator's questions about one list of records."""
    splits = SplitList.read(home.file.state, run)
    await control.send("ready", {"known": splits is not None})
    if splits is None:
        tell(f"{control.peer} asks for predictions of the model {run}, which this party has no splits of.")
        await control.expect("done")
        return
    tree = SecureModel.load(home.file.state / "models" / run).tree()
    above = _above(tree.root, splits.splits)
    questions = await _Questions.heard(home, control, splits, above, tell)

    async def send(bits: _Bits) -> None:
        unknown = int((bits == UNKNOWN).sum())
        record(control.peer, "answers", size=bits.nbytes, entries=len(bits), unknown=unknown)
        await control.send("answers", {}, {"answers": bits})

    asked = await control.expect("answer", "answer all", "done", most=MOST)
    if asked.kind == "answer all":
        await send(questions.everywhere())
        await control.expect("done")
        return
    while asked.kind != "done":
        await send(questions.along_paths(asked))
        asked = await control.expect("answer", "done", most=MOST)


def _above(root: Node, own: Mapping[int, Split]) -> dict[int, tuple[int, int]]:
    """For each of this party's nodes, the last of its nodes on the way there, and the answer that leads on."""
    found: dict[int, tuple[int, int]] = {}
    waiting = [(root, (_NOWHERE, FIRST))]
    while waiting:
        node, last = waiting.pop()
        number = node.split.number if isinstance(node.split, PrivateSplit) else _NOWHERE
        if number in own:
            found[number] = last
        for child, side in zip(node.children, (FIRST, SECOND), strict=False):
            waiting.append((child, (number, side) if number in own else last))
    return found


class _Questions:
    """Questions about one list of records: the answer of each at each node of this party, and where each has got."""

    def __init__(self, peer: str, truths: Mapping[int, _Bits], above: Mapping[int, tuple[int, int]]) -> None:
        counts = {len(one) for one in truths.values()}
        if len(counts) > 1:
            raise senseless(peer, "records")
        self._peer, self._truths, self._above = peer, truths, above
        self.count = counts.pop() if counts else 0
        self._last = np.full(self.count, _NOWHERE, np.int64)

    @classmethod
    async def heard(
        cls,
        home: Home,
        control: Channel,
        splits: SplitList,
        above: Mapping[int, tuple[int, int]],
        tell: Callable[[str], None],
    ) -> _Questions:
        """Hear which records are meant."""
        truths: dict[int, _Bits] = {}
        unknown: dict[str, Count] = {}
        for table in home.tables:
            message = await control.expect("records", most=MOST)
            if message.fields.get("table") != table:
                raise senseless(control.peer, "records")
            identifiers = texts_of(control.peer, message)
            asked = {node: split for node, split in splits.splits.items() if split.table == table and node in above}
            if asked:
                _check_number(home, control.peer, table, len(identifiers))
                told = await asyncio.to_thread(_table_truths, home, table, asked, splits.types, identifiers)
                unknown[table] = Count((next(iter(told.values())) == UNKNOWN).sum())
                truths |= told
        questions = cls(control.peer, truths, above)
        missing = "".join(
            f" {number:,} of the identifiers for {table} {number:names|name} no record, or several."
            for table, number in unknown.items()
            if number
        )
        count = Count(questions.count)
        tell(f"{control.peer} asks for predictions for {count:,} {count:record|records}.{missing}")
        return questions

    def everywhere(self) -> _Bits:
        """The answers at all nodes, in the order of their numbers, for all records."""
        ordered = [self._truths[node] for node in sorted(self._truths)]
        return np.concatenate(ordered) if ordered else np.empty(0, np.uint8)

    def along_paths(self, asked: Message) -> _Bits:
        """The answers at nodes for the records that have got there."""
        nodes = array(self._peer, asked, "nodes", np.int64)
        places = array(self._peer, asked, "places", np.int64, len(nodes))
        outside = (places < 0).any() or (places >= self.count).any()
        if outside or any(node not in self._truths for node in set(nodes.tolist())):
            raise senseless(self._peer, "answer")
        told = np.empty(len(places), np.uint8)
        fits = len(np.unique(places)) == len(places)
        for node in set(nodes.tolist()):
            here = nodes == node
            fits = fits and self._led(node, places[here])
            told[here] = self._truths[node][places[here]]
        if not fits:
            raise Disrupted(
                f"{self._peer} asks about a record at a node that it cannot have reached, or asks twice.",
                f"No more answers were given. Ask {self._peer} why. In one round, all nodes are asked about openly.",
                party=self._peer,
                fault="unexpected",
            )
        self._last[places] = nodes
        return told

    def _led(self, node: int, places: npt.NDArray[np.int64]) -> bool:
        """Whether the answers so far lead these records to a node."""
        before, side = self._above[node]
        if not (self._last[places] == before).all():
            return False
        return before == _NOWHERE or bool((self._truths[before][places] == side).all())


def _check_number(home: Home, peer: str, table: str, count: int) -> None:
    """Raise if more records are asked about than the party file allows."""
    most = _section(home, table).most
    if count > most:
        raise Disrupted(
            f"{peer} asks {home.party} about {count:,} records of {table} at once; {home.party} answers for {most:,}.",
            f"Ask about fewer; {home.party} can allow more: most = {count} in [predict.{table}] of its party file.",
            party=home.party,
            fault="refused",
        )


def _section(home: Home, table: str) -> NewTable:
    if table not in home.file.predict:
        raise InvalidArgument(
            f"The party file does not say which records of {table} are predicted for.",
            f"Add [predict.{table}] with a path and the id column.",
        )
    return home.file.predict[table]


def _table_truths(
    home: Home, table: str, asked: Mapping[int, Split], types: Mapping[str, str], identifiers: Any
) -> dict[int, _Bits]:
    records, column = _records(home, table, {split.column for split in asked.values()}, types)
    rows = _rows(column, identifiers)
    found: dict[int, _Bits] = {}
    for name, splits in by_column(asked.values()).items():
        codes = answers(column_of(records, name), splits)
        for place, split in enumerate(splits):
            true = codes <= place if split.kind == "number" else codes == place
            told = np.append(true.astype(np.uint8), np.uint8(UNKNOWN))[rows]
            found |= {node: told for node, one in asked.items() if one == split}
    return found


def _records(home: Home, table: str, needed: set[str], types: Mapping[str, str]) -> tuple[pa.Table, Any]:
    """The records of a table to predict for, and their identifiers."""
    identifier = _section(home, table).id
    texts = [name for name in needed if types.get(f"{table}.{name}") in ("string", "large_string")]
    with as_in_party_file(f"predict.{table}"):
        records = read_table(table, home.file.new_source(table), keys=[identifier, *texts], limits=home.limits)
    for name in (identifier, *sorted(needed)):
        if name not in records.column_names:
            raise InvalidArgument(
                f"The records of {table} have no column {name!r}. Available: {', '.join(records.column_names)}.",
                near_misses(name, records.column_names) or f"Correct [predict.{table}] of the party file.",
            )
    return records, records.column(identifier)


def _rows(column: Any, identifiers: Any) -> npt.NDArray[np.int64]:
    """The row that each identifier names; -1: none, or several."""
    texts = column.cast(pa.large_string()).combine_chunks()
    texts = texts.chunk(0) if isinstance(texts, pa.ChunkedArray) else texts
    encoded = texts.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy()
    first = np.full(len(encoded.dictionary), -1, np.int64)
    first[places[places >= 0]] = np.flatnonzero(places >= 0)
    first[np.bincount(places[places >= 0], minlength=len(first)) > 1] = -1
    at = pc.index_in(identifiers, value_set=encoded.dictionary).fill_null(-1).to_numpy()
    rows: npt.NDArray[np.int64] = np.append(first, -1)[at]
    return rows


def text_arrays(texts: Any) -> dict[str, npt.NDArray[Any]]:
    """Texts as arrays: their bytes, and how many each has."""
    plain = [text.encode() for text in texts]
    return {
        "bytes": np.frombuffer(b"".join(plain), np.uint8),
        "lengths": np.array([len(one) for one in plain], np.int64),
    }


def texts_of(peer: str, message: Message) -> Any:
    """The texts in a message."""
    content, lengths = message.arrays.get("bytes"), message.arrays.get("lengths")
    if content is None or lengths is None or lengths.dtype != np.int64 or content.dtype != np.uint8:
        raise senseless(peer, message.kind)
    if (lengths < 0).any() or int(lengths.sum()) != len(content):
        raise senseless(peer, message.kind)
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    try:
        texts = pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(content))
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raise senseless(peer, message.kind) from None
    return texts
