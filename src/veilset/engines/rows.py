"""Rows of codes as bytes, so that Arrow can compare, group and move them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.engines.engine import Numbers, Piece, Work

_BYTES = 4  # of a code


def packed(offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]) -> Any:
    """One binary value a row."""
    ends, codes = np.ascontiguousarray(offsets * _BYTES), np.ascontiguousarray(values, dtype=np.int32)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(ends), pa.py_buffer(codes)]
    )


def unpacked(rows: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Offsets and values of packed rows, which have no nulls."""
    rows = rows.cast(pa.large_binary())
    _, ends, values = rows.buffers()
    offsets = (
        np.frombuffer(ends, np.int64)[rows.offset : rows.offset + len(rows) + 1] if ends else np.zeros(1, np.int64)
    )
    held = np.frombuffer(values, np.int32) if values else np.zeros(0, np.int32)
    return (offsets - offsets[0]) // _BYTES, held[offsets[0] // _BYTES : offsets[-1] // _BYTES]


def grouped(offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Any, Any]:
    """Rows whose first value is their share: of the different ones, the share, the rest packed, and how often it is."""
    found = pc.value_counts(packed(offsets, values))
    starts, codes = unpacked(found.field("values"))
    rest = np.ones(len(codes), dtype=bool)
    rest[starts[:-1]] = False
    return codes[starts[:-1]], packed(starts - np.arange(len(starts)), codes[rest]), found.field("counts")


def changed(piece: Piece, code: npt.NDArray[np.int32], width: int) -> Piece:
    """The rows with other codes, as `Held.changed` says, below *width*. Codes ascend, and none comes twice."""
    becomes = np.atleast_2d(code.T).T[piece.items].astype(np.int64)
    rows = np.repeat(np.arange(len(piece.offsets) - 1), np.diff(piece.offsets))
    there = np.unique((rows[:, None] * width + becomes)[becomes >= 0])
    lengths = np.bincount(there // max(1, width), minlength=len(piece.offsets) - 1)
    return Piece(np.append(0, np.cumsum(lengths)), (there % max(1, width)).astype(np.int32))


def numbered(kinds: Any, rows: Any) -> Numbers:
    """For each packed row its number among those of its kind, in the order of their bytes."""
    keys: Any = [("kind", "ascending"), ("row", "ascending")]
    order = pc.sort_indices(pa.table({"kind": kinds, "row": rows}), sort_keys=keys).to_numpy()
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = in_runs(kinds.take(pa.array(order)))
    return numbers


def in_runs(values: Any) -> Numbers:
    """For each value its number among the equal ones that stand beside it."""
    begins = np.ones(len(values), dtype=bool)
    begins[1:] = pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    places = np.arange(len(values))
    return places - np.maximum.accumulate(np.where(begins, places, 0))


def only(piece: Piece, rows: Numbers) -> Piece:
    """Some of the rows, by their numbers."""
    begins, lengths = piece.offsets[rows], piece.offsets[rows + 1] - piece.offsets[rows]
    ends = np.append(0, np.cumsum(lengths))
    return Piece(ends, piece.items[np.arange(ends[-1]) + np.repeat(begins - ends[:-1], lengths)])


def thinned(piece: Piece, kept: npt.NDArray[np.bool_]) -> Piece:
    """The rows with the occurrences that are kept."""
    return Piece(np.append(0, np.cumsum(kept))[piece.offsets], piece.items[kept])


def united(parts: Iterable[Any]) -> Work:
    """The rows of one share: tables with the columns ``row`` and ``weight``, in which a row may be several times.

    The rows come in the order of their bytes, so that the same share is the same wherever its rows came from.
    """
    table = merged(parts).sort_by("row").combine_chunks()
    if not len(table):
        return Work(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    offsets, values = unpacked(_one_chunk(table["row"]))
    return Work(offsets, values, _one_chunk(table["weight"]).to_numpy().astype(np.int64))


def merged(parts: Iterable[Any]) -> Any:
    """The different rows of these tables, with the sums of their weights, in no order."""
    table = pa.concat_tables([_ROWS.empty_table(), *(part.select(_ROWS.names).cast(_ROWS) for part in parts)])
    if not len(table):
        return table
    return table.group_by("row", use_threads=False).aggregate([("weight", "sum")]).rename_columns(_ROWS.names)


def different(piece: Piece) -> Work:
    """The different rows of a piece, as a share of all of them would have them."""
    ones = np.ones(len(piece.offsets) - 1, dtype=np.int64)
    return united([pa.table({"row": packed(*piece), "weight": ones})])


_ROWS = pa.schema([("row", pa.large_binary()), ("weight", pa.int64())])


def _one_chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def added(totals: dict[str, Numbers], more: dict[str, Numbers]) -> None:
    """Add numbers to those of the same name; the shorter array counts as filled up with zeros."""
    for name, numbers in more.items():
        sums = np.zeros(max(len(numbers), len(totals.get(name, ()))), dtype=np.int64)
        sums[: len(numbers)] = numbers
        if name in totals:
            sums[: len(totals[name])] += totals[name]
        totals[name] = sums
