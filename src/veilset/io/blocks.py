"""Canonical rows to Arrow tables: lists (one transaction a row), long (one item a row) or wide (one column an item)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from veilset import _native
from veilset.errors import InvalidArgument
from veilset.io.layout import Layout
from veilset.io.rows import Codes, Offsets


def schema_of(names: Sequence[str], layout: Layout) -> Any:
    """The columns that `block_of` writes.

    >>> schema_of(["ale", "bun"], Layout("parquet-wide")).names
    ['ale', 'bun']
    """
    shape = layout.form.shape
    if shape == "lists":
        return pa.schema([(layout.columns[0] if layout.columns else "items", pa.list_(pa.string()))])
    if shape == "long":
        number, item = layout.columns or ("id", "item")
        return pa.schema([(number, pa.int64()), (item, pa.string())])
    if not len(names):
        raise InvalidArgument(
            "A wide table has one column per item, but there are no items.", "Write lists or a long table instead."
        )
    return pa.schema([(name, pa.bool_()) for name in names])


def block_of(offsets: Offsets, items: Codes, names: Sequence[str], layout: Layout, first_row: int) -> Any:
    """Some transactions as a table.

    Transaction r holds ``items[offsets[r]:offsets[r + 1]]``; the first offset may be above 0. A long table calls the
    transactions by their numbers, from *first_row* on; one without items is a row without an item there.

    >>> block = block_of(np.array([0, 1, 1]), np.array([0], np.int32), ["ale"], Layout("parquet-long"), 1)
    >>> block.to_pylist()
    [{'id': 1, 'item': 'ale'}, {'id': 2, 'item': None}]
    """
    schema = schema_of(names, layout)
    starts, codes = offsets - offsets[0], items[offsets[0] : offsets[-1]]
    count = len(offsets) - 1
    if layout.form.shape == "wide":
        rows = np.repeat(np.arange(count, dtype=np.int32), np.diff(starts))
        ends, rows = _native.core.group(np.ascontiguousarray(codes), rows, len(names))
        return pa.table([_cells(rows[a:b], count) for a, b in pairwise(ends.tolist())], schema=schema)
    vocabulary = pa.array(names, pa.string())
    if layout.form.shape == "lists":
        lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), vocabulary.take(pa.array(codes)))
        return pa.table([lists], schema=schema)
    lengths = np.maximum(np.diff(starts), 1)
    numbers = np.repeat(np.arange(first_row, first_row + count, dtype=np.int64), lengths)
    filled = np.repeat(np.diff(starts) > 0, lengths)
    places = np.zeros(len(numbers), np.int32)
    places[filled] = codes
    return pa.table([pa.array(numbers), vocabulary.take(pa.array(places, mask=~filled))], schema=schema)


def _cells(rows: Codes, count: int) -> Any:
    cells = np.zeros(count, bool)
    cells[rows] = True
    return pa.array(cells)
