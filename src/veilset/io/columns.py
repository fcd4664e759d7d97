"""A column of a table as codes and the names they stand for, without a Python loop over its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import UnreadableInput
from veilset.io.rows import Codes, Offsets, arrow_numbers, ends_of

_EXACT = 2**53  # above it, not every whole number has a float of its own


@dataclass(frozen=True)
class Coded:
    """A column as codes, -1 where there is no value, and the name of each code; distinct, some perhaps unused.

    *rounded* values were written as numbers with a fraction, such as 3.0. Names *in_order* are integers, all used, from
    the smallest to the largest.
    """

    codes: Codes
    names: Any
    rounded: int = 0
    in_order: bool = False


def is_text(kind: Any) -> bool:
    """Whether values of this type are strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether values of this type are numbers, with or without a fraction; booleans are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_list(kind: Any) -> bool:
    """Whether values of this type are lists, however Arrow holds them."""
    views = pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
    return bool(views or pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_item(kind: Any) -> bool:
    """Whether values of this type can be items: strings, numbers, and codes of them; or the column holds nothing."""
    if pa.types.is_dictionary(kind):
        return is_item(kind.value_type)
    return is_text(kind) or is_number(kind) or bool(pa.types.is_null(kind))


def coded_items(values: Any, column: str) -> Coded:
    """The values of an array whose type `is_item`; numbers must be whole."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _through_dictionary(values, coded_items(values.dictionary, column))
    if pa.types.is_null(kind):
        return Coded(np.full(len(values), -1, np.int32), pa.array([], pa.string()))
    if pa.types.is_integer(kind):
        return _coded_integers(values)
    if not is_text(kind):
        fraction = _first_fraction(values)
        if fraction is not None:
            raise UnreadableInput(
                f"The column {column!r} holds {fraction}, which is not an item.",
                "Items are names or whole numbers. If these numbers are names, convert the column to text first.",
            )
        return _coded_whole(values)
    return _coded_hashed(values)


def list_offsets(lists: Any) -> Offsets:
    """Where each list of an array begins; a null is an empty one."""
    return ends_of(pc.list_value_length(lists).fill_null(0).to_numpy())


def coded_ids(values: Any, column: str) -> Coded:
    """The values of an array of any type that can be written as text; floats must be whole."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _through_dictionary(values, coded_ids(values.dictionary, column))
    if isinstance(kind, pa.UuidType):
        return _coded_hashed(uuid_text(values.storage))
    if isinstance(kind, pa.BaseExtensionType):
        return coded_ids(values.storage, column)
    if pa.types.is_integer(kind):
        return _coded_integers(values)
    if pa.types.is_floating(kind):  # missing ids make whole numbers floats
        values = pc.if_else(pc.is_nan(values), None, values)
        if (fraction := _first_fraction(values)) is not None:
            raise UnreadableInput(
                f"The column {column!r} holds {fraction}, which is no id.",
                "Ids are text, dates or whole numbers below 2^53; turn this column into text first.",
            )
        return _coded_whole(values)
    return _coded_hashed(values if is_text(kind) else values.cast(pa.string()))


def _through_dictionary(values: Any, inner: Coded) -> Coded:
    """What Arrow has encoded already; its dictionary may hold a value twice, or a null."""
    codes = indices_of(values)
    distinct = len(inner.names) == len(values.dictionary)
    if not (distinct and (inner.codes == np.arange(len(inner.names))).all()):
        codes = np.append(inner.codes, np.int32(-1))[codes]  # code -1 finds the last
    return Coded(codes, inner.names, int((codes >= 0).sum()) if inner.rounded else 0)


def indices_of(encoded: Any) -> Codes:
    """The codes of an array that Arrow has encoded; -1 where there is no value."""
    indices = encoded.indices
    filled = indices if indices.null_count == 0 else pc.fill_null(indices.cast(pa.int64()), -1)
    found: Codes = filled.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return found


def _coded_integers(values: Any) -> Coded:
    """Integers of a dense range are their own codes, or found in a table; others are hashed."""
    numbers = values.drop_null().to_numpy(zero_copy_only=False)
    if numbers.dtype != np.uint64:
        numbers = numbers.astype(np.int64, copy=False)
    if (found := dense_codes(numbers)) is None:
        return _coded_hashed(values)
    codes, used = found
    if values.null_count:
        present = codes
        codes = np.full(len(values), -1, np.int32)
        codes[values.is_valid().to_numpy(zero_copy_only=False)] = present
    return Coded(codes, arrow_numbers(used).cast(pa.string()), in_order=True)


def dense_codes(numbers: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]] | None:
    """The rank of each integer among the distinct ones, and these in order; None if their range is too wide.

    >>> dense_codes(np.array([7, 5, 7, 9]))
    (array([1, 0, 1, 2], dtype=int32), array([5, 7, 9]))
    """
    if len(numbers) == 0:
        return None
    low = numbers.min()
    span = int(numbers.max()) - int(low) + 1
    if span > 4 * len(numbers) + 1024:
        return None
    places = numbers - low
    seen = np.zeros(span, bool)
    seen[places] = True
    used = np.flatnonzero(seen).astype(numbers.dtype)
    codes = places if len(used) == span else (np.cumsum(seen, dtype=np.int32) - np.int32(1))[places]
    return codes.astype(np.int32, copy=False), used + low


def _coded_hashed(values: Any) -> Coded:
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())  # Arrow hashes no views
    encoded = values.dictionary_encode()
    return Coded(indices_of(encoded), encoded.dictionary.cast(pa.string()))


def _coded_whole(values: Any) -> Coded:
    """Floats and decimals that `_first_fraction` has found whole, as the integers they are."""
    if pa.types.is_decimal(values.type):
        found = _coded_hashed(values.cast(pa.decimal256(76, 0)))
    else:
        found = _coded_integers(values.cast(pa.int64()))
    scale = getattr(values.type, "scale", 1)
    return Coded(found.codes, found.names, 0 if scale == 0 else len(values) - values.null_count, found.in_order)


def _first_fraction(values: Any) -> str | None:
    """The first value that is no whole number, or too large to be one for sure."""
    if pa.types.is_decimal(values.type):
        wrong = pc.not_equal(values, pc.round(values)).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(wrong == True)  # noqa: E712 - nulls are None here
    else:
        numbers = values.cast(pa.float64()).fill_null(0).to_numpy()
        wrong = np.flatnonzero(~((np.abs(numbers) < _EXACT) & (numbers == np.floor(numbers))))
    return str(values[int(wrong[0])].as_py()) if len(wrong) else None


def uuid_text(storage: Any) -> Any:
    """UUIDs as people write them: 8-4-4-4-12 hexadecimal digits."""
    raw = storage.fill_null(bytes(16)).cast(pa.binary())
    digits = np.frombuffer(b"".join(raw.to_pylist()).hex().encode(), np.uint8).reshape(-1, 32)
    written = np.insert(digits, [8, 12, 16, 20], ord("-"), axis=1)
    text = pa.array(np.ascontiguousarray(written).view("S36").ravel()).cast(pa.string())
    return pc.if_else(storage.is_valid(), text, None)


def present_rows(cells: Any, *, counts: bool) -> tuple[Codes, int, int | None]:
    """Where a column of a wide table says yes; how many of these rows hold more than 1; the first that is wrong.

    Cells are booleans or numbers, perhaps as runs. Null says no, 1 says yes; with *counts* any whole number above 0
    does. A cell that says neither is wrong.
    """
    lengths = None
    if pa.types.is_run_end_encoded(cells.type):
        lengths, cells = _runs(cells)
    if pa.types.is_boolean(cells.type) and lengths is None:
        yes = cells.fill_null(False) if cells.null_count else cells
        return _native.core.set_bits(np.frombuffer(yes.buffers()[1], np.uint8), yes.offset, len(yes)), 0, None
    if pa.types.is_boolean(cells.type):
        numbers = cells.fill_null(False).to_numpy(zero_copy_only=False)
        wrong = np.empty(0, np.int64)
    else:
        if not pa.types.is_integer(cells.type):
            cells = cells.cast(pa.float64())
        numbers = cells.fill_null(0).to_numpy(zero_copy_only=False)
        allowed = (numbers >= 0) & (numbers < np.inf) & (numbers == np.floor(numbers)) if counts else numbers == 1
        wrong = np.flatnonzero(~(allowed | (numbers == 0)))
    found = np.flatnonzero(numbers)
    above = numbers[found] > 1
    if lengths is None:
        return found.astype(np.int32), int(above.sum()), int(wrong[0]) if len(wrong) else None
    starts = np.cumsum(lengths) - lengths
    repeats = lengths[found]
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    rows = (np.repeat(starts[found], repeats) + within).astype(np.int32)
    return rows, int(repeats[above].sum()), int(starts[wrong[0]]) if len(wrong) else None


def _runs(cells: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """(length, value) of each run of an array that may be a slice of a longer one."""
    first, many = cells.find_physical_offset(), cells.find_physical_length()
    ends = cells.run_ends.to_numpy(zero_copy_only=False)[first : first + many].astype(np.int64) - cells.offset
    return np.diff(np.minimum(ends, len(cells)), prepend=0), cells.values.slice(first, many)
