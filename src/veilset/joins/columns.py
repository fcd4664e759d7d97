"""The columns of a table as attributes: distinct values in order, and for each row the rank of its value.

Ranking is the only sort of a column, and only its distinct values are sorted. Each node of the tree then counts by
rank, in linear time. A missing value (null, or not a number) is a value of its own and ranks last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, said, unknown
from veilset.io.columns import dense_codes, indices_of, is_number, is_text

Kind = Literal["number", "category"]
Codes = npt.NDArray[np.int32]

_SAMPLE = 1 << 14  # numbers
_EXACT = 2.0**53  # below it, floats without a fraction are integers


@dataclass(frozen=True, eq=False)
class Attribute:
    """A column that splits can ask about.

    Parameters
    ----------
    name : str
        The column.
    kind : {"number", "category"}
        Numbers, dates, times and durations are asked whether they are at most some value. Text and booleans are asked
        whether they are one value.
    codes : array of int32
        The rank of each row's value.
    values : pyarrow.Array
        The value of each rank: numbers by size, text by code point. If a row has no value, the last is null.
    """

    name: str
    kind: Kind
    codes: Codes
    values: Any


def attributes(table: pa.Table, columns: Sequence[str]) -> tuple[Attribute, ...]:
    """These columns of a table as attributes.

    >>> people = pa.table({"age": [30, 7, None, 30], "town": ["Ulm", "Bonn", "Ulm", "Ulm"]})
    >>> age, town = attributes(people, ["age", "town"])
    >>> age.kind, age.codes.tolist(), age.values.to_pylist()
    ('number', [1, 0, 2, 1], [7, 30, None])
    >>> town.kind, town.codes.tolist(), town.values.to_pylist()
    ('category', [1, 0, 1, 1], ['Bonn', 'Ulm'])
    """
    return tuple(_attribute(name, column_of(table, name)) for name in columns)


def column_of(table: pa.Table, name: str) -> Any:
    """A column by its name."""
    if name not in table.column_names:
        raise unknown("column", name, table.column_names)
    return table.column(name)


def _attribute(name: str, column: Any) -> Attribute:
    kind = kind_of(column.type)
    if kind is None:
        raise InvalidArgument(
            f"The column {name!r} is of type {column.type}, which no split can ask about.",
            f"Leave it out with {said('ignore', [name])}, or convert it to numbers, dates, booleans or text.",
        )
    codes, values = ranked(column)
    values = nameable(name, values)
    missing = codes < 0
    if missing.any():
        codes[missing] = len(values)
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Attribute(name, kind, codes, values)


def nameable(name: str, values: Any) -> Any:
    """Distinct values in order, as Python can name them, since splits and classes do.

    Times are in microseconds at the finest, and instants in UTC: clocks of other zones can show an hour twice.
    """
    of = values.type
    if not pa.types.is_temporal(of):
        return values
    try:
        values = values.cast(_nameable_type(of))
    except pa.ArrowInvalid:
        raise InvalidArgument(
            f"The column {name!r} is of type {of} and holds times finer than a microsecond.",
            f"Round them, or leave the column out with {said('ignore', [name])}.",
        ) from None
    for end in (values.slice(0, 1), values.slice(max(0, len(values) - 1))):
        try:
            end.to_pylist()
        except (OverflowError, ValueError):
            raise InvalidArgument(
                f"The column {name!r} is of type {of} and holds {_number_of(end[0])}, which is outside the years 1 to "
                "9999, or a duration of more than 10^9 days.",
                f"Correct it, convert the column to numbers, or leave it out with {said('ignore', [name])}.",
            ) from None
    return values


def _nameable_type(of: Any) -> Any:
    if pa.types.is_date(of):
        return of
    unit = "us" if of.unit == "ns" else of.unit
    if pa.types.is_timestamp(of):
        return pa.timestamp(unit, of.tz and "UTC")
    if pa.types.is_duration(of):
        return pa.duration(unit)
    return pa.time64("us") if of.unit == "ns" else of


def _number_of(time: Any) -> str:
    return f"{time.cast(pa.int32() if time.type.bit_width == 32 else pa.int64()).as_py():,} {time.type}"


def kind_of(of: Any) -> Kind | None:
    """The kind of attribute that a column of this type is; None: none."""
    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of):
        return kind_of(of.value_type)
    if is_number(of) or (pa.types.is_temporal(of) and not pa.types.is_interval(of)):
        return "number"
    return "category" if is_text(of) or pa.types.is_boolean(of) or pa.types.is_null(of) else None


def ranked(column: Any) -> tuple[Codes, Any]:
    """The rank of each value of a column, and its distinct values in order; rank -1: missing.

    Takes every type that an attribute or a key can have.

    >>> ranks, values = ranked(pa.chunked_array([[2.5, float("nan")], [None, 1.0]]))
    >>> ranks.tolist(), values.to_pylist()
    ([1, -1, -1, 0], [1.0, 2.5])
    """
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    of = column.type
    if pa.types.is_run_end_encoded(of):
        return ranked(run_end_decoded(column))
    if pa.types.is_dictionary(of):
        return _ranked_through_dictionary(column)
    if pa.types.is_floating(of):
        return _ranked_floats(column)
    if pa.types.is_integer(of) or pa.types.is_temporal(of):
        return _ranked_integers(column)
    return _ranked_hashed(column)


def run_end_decoded(column: Any) -> Any:
    """A column whose runs of equal values Arrow has encoded, value by value."""
    return pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], column.type.value_type)


def _ranked_through_dictionary(column: Any) -> tuple[Codes, Any]:
    """What Arrow has encoded: its dictionaries may differ, hold a value twice or a null, or values of no row."""
    dictionaries: list[Any] = []
    spans: list[slice] = []  # where the dictionary of each chunk is
    for chunk in column.chunks:
        if not dictionaries or not chunk.dictionary.equals(dictionaries[-1]):
            start = spans[-1].stop if spans else 0
            dictionaries.append(chunk.dictionary)
            spans.append(slice(start, start + len(chunk.dictionary)))
        else:
            spans.append(spans[-1])
    ranks, values = ranked(pa.chunked_array(dictionaries, column.type.value_type))
    codes = [through(ranks[span], indices_of(chunk)) for span, chunk in zip(spans, column.chunks, strict=True)]
    return without_unused(np.concatenate([np.empty(0, np.int32), *codes]), values)


def through(ranks: Codes, indices: Codes) -> Codes:
    """The rank at each index; -1 at index -1."""
    return np.append(ranks, np.int32(-1))[indices]


def without_unused(codes: Codes, values: Any) -> tuple[Codes, Any]:
    """The same ranks without values of no row.

    >>> without_unused(np.array([2, -1, 0], np.int32), pa.array(["a", "b", "c"]))[0]
    array([ 1, -1,  0], dtype=int32)
    """
    used = np.zeros(len(values) + 1, bool)
    used[codes] = True
    used[-1] = False
    if used[:-1].all():
        return codes, values
    new = np.where(used, np.cumsum(used, dtype=np.int32) - np.int32(1), np.int32(-1))
    return new[codes], values.filter(pa.array(used[:-1]))


def _ranked_floats(column: Any) -> tuple[Codes, Any]:
    of = column.type
    numbers = column.cast(pa.float64()).fill_null(np.nan).to_numpy() + 0.0  # there is one zero only
    present = ~np.isnan(numbers)
    if not present.all():
        numbers = numbers[present]
    codes, values = _ranked_numbers(numbers)
    return _spread(codes, present), pa.array(values).cast(of)


def _ranked_integers(column: Any) -> tuple[Codes, Any]:
    of = column.type
    plain = of if pa.types.is_integer(of) else pa.int32() if of.bit_width == 32 else pa.int64()
    numbers = column.cast(plain).drop_null().to_numpy()
    if numbers.dtype != np.uint64:
        numbers = numbers.astype(np.int64, copy=False)
    codes, values = _ranked_numbers(numbers)
    if column.null_count:
        codes = _spread(codes, column.is_valid().to_numpy())
    return codes, pa.array(values).cast(plain).view(of)


def _ranked_numbers(numbers: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]]:
    """Whole numbers of a dense range are found in a table; few others are hashed, and many sorted."""
    whole = _whole(numbers)
    dense = None if whole is None else dense_codes(whole)
    if dense is not None:
        return dense[0], dense[1].astype(numbers.dtype)
    sample = numbers[:: max(1, len(numbers) // _SAMPLE)]
    if 2 * len(np.unique(sample)) > len(sample):
        return _ranked_by_sorting(numbers)
    encoded = pa.array(numbers).dictionary_encode()
    distinct = encoded.dictionary.to_numpy()
    order = np.argsort(distinct)
    return _inverse(order)[encoded.indices.to_numpy()], distinct[order]


def _ranked_by_sorting(numbers: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]]:
    """Faster than to hash once most numbers are distinct, since a large table of them fits no cache."""
    order = np.argsort(numbers)
    numbers = numbers[order]
    first = np.append(True, numbers[1:] != numbers[:-1])
    codes = np.empty(len(order), np.int32)
    codes[order] = np.cumsum(first, dtype=np.int32) - np.int32(1)
    return codes, numbers[first]


def _whole(numbers: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """The numbers as integers, if they are."""
    if numbers.dtype.kind != "f":
        return numbers
    if not len(numbers) or not (np.abs(numbers).max() < _EXACT):
        return None
    whole = numbers.astype(np.int64)
    return whole if (whole == numbers).all() else None


def _ranked_hashed(column: Any) -> tuple[Codes, Any]:
    of = column.type
    if pa.types.is_string_view(of):
        column = column.cast(pa.large_string())  # Arrow hashes no views
    elif pa.types.is_null(of):
        column = column.cast(pa.string())
    elif pa.types.is_decimal(of) and of.bit_width < 128:
        column = column.cast(pa.decimal128(of.precision, of.scale))
    encoded = column.dictionary_encode()
    if not encoded.chunks:
        return np.empty(0, np.int32), pa.array([], column.type)
    distinct = encoded.chunks[-1].dictionary
    order = pc.sort_indices(distinct)
    indices = np.concatenate([indices_of(chunk) for chunk in encoded.chunks])
    return through(_inverse(order.to_numpy()), indices), distinct.take(order)


def _inverse(order: npt.NDArray[Any]) -> Codes:
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _spread(codes: Codes, present: npt.NDArray[np.bool_]) -> Codes:
    """The codes at the places that are present; -1 at the others."""
    if len(codes) == len(present):
        return codes
    spread = np.full(len(present), -1, np.int32)
    spread[present] = codes
    return spread
