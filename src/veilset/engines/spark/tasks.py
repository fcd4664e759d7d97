"""What runs in the workers: functions of the Arrow batches of one partition.

A task may run again, perhaps on another machine, so nothing here depends on anything but its arguments.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import errors
from veilset.engines.engine import Deal, Mark, Measure, Numbers, Piece, Thin, Work
from veilset.engines.rows import added, grouped, in_runs, merged, only, packed, united, unpacked
from veilset.engines.rows import changed as changed_rows
from veilset.engines.rows import thinned as thinned_rows
from veilset.errors import UnreadableInput, VeilsetError
from veilset.io.columns import Coded, coded_items, list_offsets
from veilset.transactions import Transactions, row_blocks

NAMES, CODED, KINDS, LISTS, SHARES, ANSWERS = (
    "name string, rows long",
    "row binary",
    "kind binary, row binary",
    "items array<string>",
    "share int, row binary, weight long",
    "share int, answer binary",
)
NO_ROWS = united([])

_NAMES = pa.schema([("name", pa.string()), ("rows", pa.int64())])
_CODED = pa.schema([("row", pa.binary())])
_KINDS = pa.schema([("kind", pa.binary()), ("row", pa.binary())])
_SHARES = pa.schema([("share", pa.int32()), ("row", pa.binary()), ("weight", pa.int64())])
_ANSWERS = pa.schema([("share", pa.int32()), ("answer", pa.binary())])
_AT_ONCE = 1 << 20  # codes that are dealt out together
_MERGED = 64 << 20  # bytes of rows of a share; when more have come, equal ones become one
_TOLD = re.compile(r"veilset says (\[.*\])")


def names_of(batches: Iterator[Any]) -> Iterator[Any]:
    """The names in a partition, and without a name how many transactions it has."""
    names: set[str] = set()
    rows = 0
    for batch in batches:
        names.update(_items(batch.column(0))[1].names.to_pylist())
        rows += len(batch)
    counts = pa.array([rows, *[0] * len(names)], pa.int64())
    yield pa.record_batch([pa.array([None, *sorted(names)], pa.string()), counts], schema=_NAMES)


def coded(batches: Iterator[Any], *, names: tuple[str, ...]) -> Iterator[Any]:
    """Each transaction as the codes of its items, ascending and without repetitions."""
    vocabulary = pa.array(names, pa.string())
    for batch in batches:
        offsets, found = _items(batch.column(0))
        code = pc.index_in(found.names, vocabulary).to_numpy(zero_copy_only=False).astype(np.int64)
        row = np.repeat(np.arange(len(batch)), np.diff(offsets))
        width = max(1, len(names))
        occurrences = np.unique(row * width + code[found.codes])
        lengths = np.bincount(occurrences // width, minlength=len(batch))
        rows = packed(np.append(0, np.cumsum(lengths)), (occurrences % width).astype(np.int32))
        yield pa.record_batch([rows.cast(pa.binary())], schema=_CODED)


def _items(lists: Any) -> tuple[Numbers, Coded]:
    with _telling():
        found = coded_items(lists.flatten(), "items")
        if len(found.codes) and (found.codes.min() < 0 or pc.index(found.names, "").as_py() >= 0):
            raise UnreadableInput(
                "An item of a transaction is null or has an empty name.",
                "Fill it in, or leave it out.",
            )
    return list_offsets(lists), found


def changed(batches: Iterator[Any], *, code: npt.NDArray[np.int32], width: int) -> Iterator[Any]:
    """Each transaction with other codes."""
    for batch in batches:
        rows = packed(*changed_rows(Piece(*unpacked(batch.column(0))), code, width))
        yield pa.record_batch([rows.cast(pa.binary())], schema=_CODED)


def unmarked(batches: Iterator[Any], *, mark: Mark) -> Iterator[Any]:
    """The transactions that nothing is to be taken from."""
    for batch in batches:
        others = np.ones(len(batch), dtype=bool)
        with _telling():
            others[mark(Piece(*unpacked(batch.column(0))))[0]] = False
        yield batch.filter(pa.array(others))


def marked(batches: Iterator[Any], *, mark: Mark) -> Iterator[Any]:
    """The others, each with its kind."""
    for batch in batches:
        piece = Piece(*unpacked(batch.column(0)))
        with _telling():
            rows, kinds = mark(piece)
        columns = [packed(*kinds).cast(pa.binary()), packed(*only(piece, rows)).cast(pa.binary())]
        yield pa.record_batch(columns, schema=_KINDS)


def thinned(batches: Iterator[Any], *, thin: Thin) -> Iterator[Any]:
    """These without some occurrences; they are in the order of their kinds and of their bytes."""
    last, count = None, 0  # the kind that the batch before ended with, and how many of it there were
    for batch in batches:
        if not len(batch):
            continue
        kinds, piece = batch["kind"], Piece(*unpacked(batch["row"]))
        numbers = in_runs(kinds)
        if kinds[0] == last:
            numbers[: np.append(np.flatnonzero(numbers[1:] == 0) + 1, len(numbers))[0]] += count
        last, count = kinds[-1], int(numbers[-1]) + 1
        with _telling():
            rows = packed(*thinned_rows(piece, thin(piece, numbers)))
        yield pa.record_batch([rows.cast(pa.binary())], schema=_CODED)


def named(batches: Iterator[Any], *, names: tuple[str, ...]) -> Iterator[Any]:
    """Each transaction as a list of names."""
    vocabulary = pa.array(names, pa.string())
    for batch in batches:
        yield _lists(*unpacked(batch.column(0)), vocabulary)


def done(batches: Iterator[Any], *, things: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
    """What *work* makes of the things whose numbers are in this partition."""
    for number in _numbers(batches):
        with _telling():
            yield _answer(number, work(things[number]))


def found(batches: Iterator[Any], *, things: Sequence[Any], rows: Callable[[Any], Transactions]) -> Iterator[Any]:
    """The transactions of the things whose numbers are in this partition, as lists of names."""
    for number in _numbers(batches):
        with _telling():
            data = rows(things[number])
        vocabulary = pa.array(data.names, pa.string())
        for first, last in row_blocks(data.offsets, _AT_ONCE):
            offsets = data.offsets[first : last + 1]
            yield _lists(offsets - offsets[0], data.items[offsets[0] : offsets[-1]], vocabulary)


def _numbers(batches: Iterator[Any]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _lists(offsets: Numbers, items: Any, vocabulary: Any) -> Any:
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), vocabulary.take(pa.array(items)))
    return pa.record_batch([lists], names=["items"])


def measured(batches: Iterator[Any], *, measure: Measure) -> Iterator[Any]:
    """The numbers of a partition, added up."""
    sums: dict[str, Numbers] = {}
    for batch in batches:
        added(sums, dict(measure(Piece(*unpacked(batch.column(0))))))
    yield _answer(0, sums)


def dealt(batches: Iterator[Any], *, deal: Deal) -> Iterator[Any]:
    """The rows for each share; what is equal in a stretch of the partition is one row."""
    for piece in _stretches(batches):
        with _telling():
            shares, rows, weights = grouped(*deal(piece))
        columns = [pa.array(shares), rows.cast(pa.binary()), weights]
        yield pa.record_batch(columns, schema=_SHARES)


def _stretches(batches: Iterator[Any]) -> Iterator[Piece]:
    """Small batches together."""
    held: list[Any] = []
    size = 0
    for batch in batches:
        held.append(batch.column(0))
        size += batch.column(0).nbytes // 4
        if size >= _AT_ONCE:
            yield Piece(*unpacked(pa.concat_arrays(held)))
            held, size = [], 0
    if held:
        yield Piece(*unpacked(pa.concat_arrays(held)))


def brought_together(batches: Iterator[Any]) -> Iterator[Any]:
    """The different rows of a share, which is all of its partition.

    They come from many tasks that dealt, and are merged while they come: no more than three times what is different
    is held.
    """
    share, parts, size, most = 0, list[Any](), 0, _MERGED
    for batch in batches:
        if len(batch):
            share = batch["share"][0].as_py()
            parts.append(pa.table({"row": batch["row"], "weight": batch["weight"]}))
            size += parts[-1].nbytes
        if size > most:
            parts = [merged(parts)]
            size = parts[0].nbytes
            most = max(_MERGED, 3 * size)
    rows = united(parts)
    if len(rows.weights):
        shares = np.full(len(rows.weights), share, dtype=np.int32)
        columns = [pa.array(shares), packed(rows.offsets, rows.items).cast(pa.binary()), pa.array(rows.weights)]
        yield pa.record_batch(columns, schema=_SHARES)


def worked(batches: Iterator[Any], *, work: Callable[[int, Work], Any]) -> Iterator[Any]:
    """What *work* makes of the share that is this partition."""
    share, rows, weights = 0, [], []
    for batch in batches:
        if len(batch):
            share = batch["share"][0].as_py()
            rows.append(batch["row"])
            weights.append(batch["weight"])
    if rows:
        mine = Work(*unpacked(pa.concat_arrays(rows)), pa.concat_arrays(weights).to_numpy())
        with _telling():
            yield _answer(share, work(share, mine))


def _answer(share: int, answer: Any) -> Any:
    return pa.record_batch([pa.array([share], pa.int32()), pa.array([pickle.dumps(answer)])], schema=_ANSWERS)


def opened(answer: Any) -> Any:
    """What a task of ours answered."""
    return pickle.loads(answer)  # noqa: S301 - written by `_answer`


@contextmanager
def _telling() -> Iterator[None]:
    """An error of ours, in a form that survives the way through Spark, which keeps its text only."""
    try:
        yield
    except VeilsetError as error:
        raise RuntimeError(f"veilset says {json.dumps([type(error).__name__, *error.args])}") from None


def told(text: str) -> VeilsetError | None:
    """The error of ours in what Spark tells of a failed task, if it is one."""
    found = _TOLD.search(text)
    if found is None:
        return None
    kind, what, next_step = json.loads(found[1])
    known: type[VeilsetError] = getattr(errors, kind, VeilsetError)
    return known(what, next_step)
