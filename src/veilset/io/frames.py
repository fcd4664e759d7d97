"""Frames and arrays of other libraries as streams of Arrow record batches."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.errors import InvalidArgument
from veilset.io.columns import is_list
from veilset.io.suspicion import Column, likely_options

_ROWS_AT_ONCE = 1 << 16
_ROWS_JUDGED = 1000


def table_reader(frame: Any) -> Any:
    """A `pyarrow.RecordBatchReader` over a frame.

    Parameters
    ----------
    frame : object
        A frame of pandas (its index is no column), polars, DuckDB or any library with the Arrow interface; an Arrow
        table, batch or reader; or a series or array of lists, which becomes a column called "items".

    Examples
    --------
    >>> table_reader(pa.array([["ale", "bun"], []])).read_all().to_pylist()
    [{'items': ['ale', 'bun']}, {'items': []}]
    """
    if isinstance(frame, pa.RecordBatchReader):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(frame.schema, [frame])
    if isinstance(frame, (pa.Array, pa.ChunkedArray)):
        return _table_reader(pa.table({"items": frame}))
    try:
        if type(frame).__module__.partition(".")[0] == "pandas":
            return _table_reader(_from_pandas(frame))
        if hasattr(frame, "__arrow_c_stream__"):
            return _from_stream(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise InvalidArgument(
            f"The {kind_of_object(frame)} cannot be converted to an Arrow table: {why}.",
            "Use one type of values in each column: names, whole numbers, booleans, or lists of names.",
        ) from None
    raise InvalidArgument(
        f"A {kind_of_object(frame)} is not a table that Arrow can read.",
        "Give a pandas or polars frame, an Arrow table, or another object with __arrow_c_stream__; "
        "collect a lazy frame first; for Python lists use from_lists.",
    )


def likely_reading(frame: Any) -> dict[str, Any] | None:
    """The options by which `veilset.read` most likely reads a frame, judged by its first rows; None: it is no frame.

    >>> likely_reading(pa.table({"when": ["2020-05-01"], "customer": [7], "article": ["tea"]}))
    {'long': ('customer', 'article')}
    """
    try:
        reader = table_reader(frame)
    except InvalidArgument:
        return None
    if lists := [field.name for field in reader.schema if is_list(field.type)]:
        return {} if len(lists) == 1 else {"column": lists[0]}
    taken = reader is frame  # a stream: what is read from it is gone
    sample = [] if taken else [batch.slice(0, _ROWS_JUDGED) for batch in islice(reader, 1)]
    columns = pa.Table.from_batches(sample, reader.schema).columns
    return likely_options(
        [Column(name, _as_text(values)) for name, values in zip(reader.schema.names, columns, strict=True)]
    )


def _as_text(values: Any) -> tuple[str, ...]:
    """The values as somebody would write them."""
    plain = (value for value in values.to_pylist() if value is not None)
    return tuple(f"{value:g}" if isinstance(value, float) else str(value) for value in plain)


def kind_of_object(frame: Any) -> str:
    """What an object is, with the library that it comes from.

    >>> kind_of_object(pa.table({})), kind_of_object([])
    ('pyarrow Table', 'list')
    """
    module = type(frame).__module__.partition(".")[0]
    return type(frame).__name__ if module == "builtins" else f"{module} {type(frame).__name__}"


def _table_reader(table: Any) -> Any:
    return table.to_reader(max_chunksize=_ROWS_AT_ONCE)


def _from_stream(frame: Any) -> Any:
    """A stream of batches; a series streams its values instead."""
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid:
        return _table_reader(pa.table({"items": pa.chunked_array(frame)}))


def _from_pandas(frame: Any) -> Any:
    if not hasattr(frame, "columns"):  # a series
        return pa.table({"items": _column(frame)})
    names = [str(name) for name in frame.columns]
    return pa.Table.from_arrays([_column(frame.iloc[:, place]) for place in range(len(names))], names=names)


def _column(series: Any) -> Any:
    import pandas as pd  # noqa: PLC0415 - there is one, since this is a series of it

    if isinstance(series.dtype, pd.SparseDtype):
        return _sparse(series.array)
    if series.dtype == object:
        # Arrow takes lists, tuples and sets for lists, but not frozen sets.
        series = series.map(lambda value: list(value) if isinstance(value, frozenset) else value)
    return pa.array(series, from_pandas=True)


def _sparse(array: Any) -> Any:
    """A sparse column as runs: one for each value that is there, one for each gap. It is never spread out."""
    if len(array) == 0:
        return pa.RunEndEncodedArray.from_arrays(pa.array([], pa.int32()), pa.array(array.sp_values, from_pandas=True))
    places = array.sp_index.indices.astype(np.int64)
    # Each value's run ends behind it, and the gap before it, if there is one, where it begins.
    ends = np.column_stack([places, places + 1]).ravel()
    values = np.column_stack([np.full(len(places), array.fill_value, array.sp_values.dtype), array.sp_values]).ravel()
    kept = np.diff(ends, prepend=0) > 0
    ends, values = ends[kept], values[kept]
    if not len(ends) or ends[-1] < len(array):
        ends, values = np.append(ends, len(array)), np.append(values, array.sp_values.dtype.type(array.fill_value))
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, from_pandas=True))
