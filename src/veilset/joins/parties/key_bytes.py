"""Keys as bytes: the encoding that all parties agree on, so that equal keys are equal bytes and no others are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument
from veilset.joins.keys import key_kind

_Bytes = npt.NDArray[np.uint8]

_CANONICAL = (
    *(pa.large_string(), pa.int64(), pa.uint64(), pa.bool_(), pa.date32(), pa.time64("us"), pa.duration("us")),
    *(pa.timestamp("us"), pa.timestamp("us", "UTC")),
)
_LARGEST = 2**63 - 1  # of signed integers
_DECIMAL = 32  # bytes


def encode_keys(parts: Sequence[Any]) -> list[bytes]:
    """Composite keys as bytes, the same at every party; different keys have different bytes.

    Parameters
    ----------
    parts : sequence of pyarrow.Array
        For each part of the key, its value in every key, in the canonical types of `keys.key_column`.

    Notes
    -----
    Each part is the name of its kind and then its value, both after their length in 8 bytes. Numbers are little-endian.
    Text is UTF-8. A decimal is 32 bytes, its digits without the point; its kind says where the point is. All else is a
    whole number of 8 bytes, after a byte that says whether it is too large for a signed one.

    Examples
    --------
    >>> encode_keys([pa.array(["Ulm"], pa.large_string())])
    [b'\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x00text\\x03\\x00\\x00\\x00\\x00\\x00\\x00\\x00Ulm']
    """
    separator = pa.scalar(b"", pa.large_binary())
    joined = pc.binary_join_element_wise(*(piece for values in parts for piece in _pieces(values)), separator)
    if not len(joined):
        return []
    _, offsets, data = joined.buffers()
    ends = np.frombuffer(offsets, np.int64)[joined.offset :][: len(joined) + 1]
    everything = data.to_pybytes()
    return [everything[start:end] for start, end in pairwise(ends.tolist())]


def _pieces(values: Any) -> Iterator[Any]:
    """What stands before the values of a part, and the values, all as Arrow's binary."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    of = values.type
    if not (of in _CANONICAL or (pa.types.is_decimal256(of) and of.scale > 0)) or values.null_count:
        raise InvalidArgument(
            f"Keys of type {of} with {values.null_count} missing values have no agreed encoding.",
            "Take canonical values from key_column, without missing ones.",
        )
    kind = key_kind("key", of).encode()
    if pa.types.is_large_string(of):
        yield _head(kind, pc.binary_length(values).to_numpy())
        yield values.cast(pa.large_binary())
    else:
        encoded = _encoded(values)
        yield _head(kind, np.full(len(values), encoded.shape[1]))
        yield _as_binary(encoded)


def _head(kind: bytes, lengths: npt.NDArray[Any]) -> Any:
    named = np.frombuffer(len(kind).to_bytes(8, "little") + kind, np.uint8)
    return _as_binary(np.hstack([np.broadcast_to(named, (len(lengths), len(named))), _little_endian(lengths)]))


def _encoded(values: Any) -> _Bytes:
    """Values of a fixed width, a row of bytes each."""
    of = values.type
    if pa.types.is_decimal256(of):
        held = np.frombuffer(values.buffers()[1], np.uint8).reshape(-1, _DECIMAL)
        return held[values.offset :][: len(values)]
    if pa.types.is_date32(of):
        values = values.cast(pa.int32())
    numbers = values.to_numpy() if pa.types.is_uint64(of) else values.cast(pa.int64()).to_numpy()
    large = (numbers > _LARGEST).astype(np.uint8)
    return np.hstack([large[:, np.newaxis], _little_endian(numbers)])


def _little_endian(numbers: npt.NDArray[Any]) -> _Bytes:
    wide = numbers.astype("<u8" if numbers.dtype == np.uint64 else "<i8")
    return wide.view(np.uint8).reshape(-1, 8)


def _as_binary(rows: _Bytes) -> Any:
    count, width = rows.shape
    ends = np.arange(count + 1, dtype=np.int64) * width
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), count, buffers)
