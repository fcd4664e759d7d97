"""What rows answer to the splits of a tree: each value is searched once among the splits that ask about its column.

Comparisons are exact, also between types. A threshold is rounded down to the next value of the column's type, which
changes no answer: a whole number is at most 2.5 if and only if it is at most 2. Times are compared as instants,
whatever their unit and zone.
"""

from __future__ import annotations

import datetime
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument
from veilset.io.columns import is_number, is_text
from veilset.joins.columns import Codes, ranked
from veilset.joins.tree import Node, Split

_SECOND = 10**6  # microseconds
_DAY = 86_400 * _SECOND
_UNITS = {"s": (1, _SECOND), "ms": (1, 1000), "us": (1, 1), "ns": (1000, 1)}
"""How many of a unit are a microsecond, as a fraction."""


def splits_of(root: Node, table: str) -> dict[str, list[Split]]:
    """What a tree asks about each column of a table, each question once; of numbers, by size."""
    return by_column(node.split for node in root.walk() if node.split is not None and node.split.table == table)


def by_column(splits: Iterable[Split]) -> dict[str, list[Split]]:
    """Splits of one table by their columns, each once; of numbers, by size."""
    found: dict[str, dict[Split, None]] = {}
    for split in splits:
        found.setdefault(split.column, {})[split] = None
    return {
        column: sorted(asked, key=lambda split: split.value) if next(iter(asked)).kind == "number" else list(asked)
        for column, asked in found.items()
    }


def answers(column: Any, splits: Sequence[Split]) -> Codes:
    """For each value of a column, the number of the first of its splits that it satisfies; their count if none.

    A value that was never seen in training satisfies no split of a category. A missing one satisfies no threshold.

    >>> thresholds = [Split("T", "x", "number", 2), Split("T", "x", "number", 5)]
    >>> answers(pa.array([1, 2, 3, 9, None]), thresholds).tolist()
    [0, 0, 1, 2, 2]
    >>> answers(pa.array([2.5, 2.0]), thresholds).tolist()
    [1, 0]
    """
    of, values = column.type, [split.value for split in splits]
    missing = values.index(None) if None in values else len(values)
    if pa.types.is_null(of):
        return np.full(len(column), missing, np.int32)
    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of) or pa.types.is_string_view(of):
        codes, distinct = ranked(column)
        return np.append(answers(distinct, splits), np.int32(missing))[codes]
    if all(value is None for value in values):
        return np.where(np.asarray(pc.is_null(column, nan_is_null=True)), np.int32(0), np.int32(1))
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if splits[0].kind == "category":
        found = _among_categories(column, values)
    elif is_number(of):
        found = _among_numbers(column, values)
    else:
        found = _among_times(column, values)
    if found is None:
        raise InvalidArgument(
            f"The column {splits[0].name} is of type {of}, and cannot be compared with {splits[0].value!r}, as the "
            "tree does.",
            "Give it the type that it had in training.",
        )
    return found.astype(np.int32)


def _among_categories(column: Any, values: Sequence[Any]) -> npt.NDArray[Any] | None:
    of, is_one = column.type, type(next(value for value in values if value is not None))
    if not (is_text(of) if is_one is str else pa.types.is_boolean(of)):
        return None
    places = pc.index_in(column, value_set=pa.array(values, of))
    return np.asarray(places.fill_null(len(values)))


def _among_numbers(column: Any, values: Sequence[Any]) -> npt.NDArray[Any] | None:
    if not isinstance(values[0], (int, float, Decimal)):
        return None
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64()).fill_null(np.nan).to_numpy()  # NaN is beyond all others
        return np.asarray(np.searchsorted([_float_up_to(value) for value in values], numbers))
    if pa.types.is_integer(column.type):
        return _among_integers(column, [_whole_up_to(value) for value in values])
    ranks, distinct = ranked(column)
    known = distinct.to_pylist()
    reached = np.searchsorted([bisect_right(known, value) for value in values], ranks, side="right")
    return np.where(ranks < 0, len(values), reached)


def _float_up_to(value: Any) -> float:
    """The largest float up to a number."""
    near = float(Decimal(value))  # of a large integer, Python gives no float
    return math.nextafter(near, -math.inf) if near > value else near


def _whole_up_to(value: Any) -> int:
    """The largest whole number up to a number; of infinite ones, one beyond all that a column can have."""
    return math.floor(value) if math.isfinite(value) else int(math.copysign(2**65, value))


def _among_integers(column: Any, values: Sequence[int]) -> npt.NDArray[Any]:
    of = np.uint64 if pa.types.is_uint64(column.type) else np.int64
    least, largest = int(np.iinfo(of).min), int(np.iinfo(of).max)
    below = sum(value < least for value in values)  # which nothing satisfies
    numbers = column.fill_null(0).to_numpy().astype(of, copy=False)
    thresholds = np.array([min(value, largest) for value in values[below:]], of)
    reached = below + np.searchsorted(thresholds, numbers)
    return np.where(column.is_valid().to_numpy(), reached, len(values)) if column.null_count else reached


def _among_times(column: Any, values: Sequence[Any]) -> npt.NDArray[Any] | None:
    of = column.type
    family, (many, few) = _family_of_type(of)
    times = [_time(value) for value in values]
    if any(time[0] != family for time in times):
        return None
    plain = column.cast(pa.int32() if of.bit_width == 32 else pa.int64())
    return _among_integers(plain, [microseconds * many // few for _, microseconds in times])


def _family_of_type(of: Any) -> tuple[str, tuple[int, int]]:
    """What times of a type can be compared with, and their unit."""
    if pa.types.is_date(of):
        return "day", (1, _DAY) if pa.types.is_date32(of) else _UNITS["ms"]
    if pa.types.is_timestamp(of):
        return "instant" if of.tz else "day", _UNITS[of.unit]
    if pa.types.is_time(of) or pa.types.is_duration(of):
        return "time" if pa.types.is_time(of) else "duration", _UNITS[of.unit]
    return "", (1, 1)


def _time(value: Any) -> tuple[str, int]:
    """What a time can be compared with, and its microseconds."""
    if isinstance(value, datetime.time):
        since = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
        return "time", _time(since)[1]
    if isinstance(value, datetime.timedelta):
        return "duration", value // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.datetime):
        zone = None if value.tzinfo is None else datetime.UTC
        since_1970 = value - datetime.datetime(1970, 1, 1, tzinfo=zone)
        return "day" if zone is None else "instant", _time(since_1970)[1]
    if isinstance(value, datetime.date):
        return "day", (value - datetime.date(1970, 1, 1)).days * _DAY
    return "number", 0
