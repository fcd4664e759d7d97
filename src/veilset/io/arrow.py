"""Arrow list columns to rows and back, without a Python loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import WrongUsage
from veilset.io.rows import Rows

__all__ = ["rows_from_arrow", "rows_to_arrow"]


def rows_from_arrow(lists: Any, persons: Any = None) -> Rows:
    """Rows of an Arrow list array (chunked or not) of strings or integers; a null list is an empty transaction."""
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    if not isinstance(lists, pa.Array):
        raise WrongUsage(
            f"{type(lists).__name__!r} is not an Arrow array or table.", "For Python lists use from_lists."
        )
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise WrongUsage(
            f"The Arrow column is of type {lists.type}.", "Give a column of lists: one list of items a transaction."
        )
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    values = lists.flatten()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_integer(values.type) or pa.types.is_null(values.type):
        values = values.cast(pa.string())
    elif not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        raise WrongUsage(f"The items are of type {values.type}.", "Items are names (strings) or ids (integers).")
    if values.null_count:
        raise WrongUsage(f"{values.null_count:,} items are null.", "Remove them, or leave their lists empty.")
    encoded = values.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return Rows(offsets, codes, encoded.dictionary.to_pylist(), None if persons is None else _owners(persons))


def _owners(persons: Any) -> list[str]:
    names = ["" if person is None else str(person) for person in persons.to_pylist()]
    if "" in names:
        raise WrongUsage(f"Transaction {names.index('') + 1} has no person.", "Every row must say whose it is.")
    return names


def rows_to_arrow(offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], names: Sequence[str]) -> Any:
    """A ``large_list<dictionary<int32, string>>`` array over the same buffers."""
    values = pa.DictionaryArray.from_arrays(pa.array(items, type=pa.int32()), pa.array(names, type=pa.string()))
    return pa.LargeListArray.from_arrays(pa.array(offsets, type=pa.int64()), values)
