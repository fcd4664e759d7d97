"""``rows.parquet``: where in the release each original transaction is, for the custodian alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from veilset.io import arrow_numbers, atomic_file
from veilset.release import Release

ROWS = "rows.parquet"
_ROWS_AT_ONCE = 1 << 17


def write_row_map(path: Path, release: Release, order: npt.NDArray[np.int64] | None) -> None:
    """Write which released row, or bucket, was which original row, and what the file calls it.

    Rows and buckets count from 1; original rows in the order in which the transactions (persons, ids) first appear in
    the file. A withheld one has no released row. *order* says at which place of the release's data each released row
    stands; None: the rows are in buckets. Which row of a bucket an original one became has no answer then: each column
    has an order of its own, so that there is a bucket instead of a released row.
    """
    if order is None:
        assert release.partition is not None and release.custodian_data.anatomy is not None  # noqa: S101 - see publish
        originals, where = release.partition.members, release.custodian_data.anatomy.buckets + 1
        called, there = "bucket", np.ones(len(originals), dtype=bool)
    else:
        originals = order
        if release.withheld:
            kept = np.delete(np.arange(len(release.original)), release.withheld)
            originals = np.concatenate([kept[order], np.array(release.withheld, dtype=np.int64)])
        called, where = "released_row", np.arange(1, len(originals) + 1)
        there = where <= len(order)
    named = _named(release)
    fields = [(called, pa.int64()), ("original_row", pa.int64())]
    schema = pa.schema([*fields, *((column, names.type) for column, names in named.items())])
    # Every value is there once: a dictionary would only take memory.
    with atomic_file(path) as stream, pq.ParquetWriter(stream, schema, use_dictionary=False) as writer:
        for first in range(0, len(originals), _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            released = arrow_numbers(where[some][there[some]])
            absent = pa.nulls(len(where[some]) - len(released), pa.int64())  # they come last
            columns = [pa.concat_arrays([released, absent]), arrow_numbers(originals[some] + 1)]
            columns += [names.take(arrow_numbers(originals[some])) for names in named.values()]
            writer.write_table(pa.table(columns, schema=schema))


def _named(release: Release) -> dict[str, Any]:
    """What the original calls its transactions."""
    source, persons = release.original.source, release.original.persons
    named: dict[str, Any] = {}
    if persons is not None:
        named["person"] = pa.array(persons, type=pa.string())
    if source is not None and source.ids is not None:
        named["id"] = source.ids
    return named
