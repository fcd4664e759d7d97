"""Values of columns as JSON that gives them back with their types: what a tree compares with, and its classes."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

_DIGITS = 76  # of decimal numbers in Arrow


def to_json(value: Any) -> Any:
    """A value as JSON: text, whole numbers, booleans and None as they are, all others with their type.

    >>> to_json("a"), to_json(None), to_json(2.5), to_json(datetime.date(2024, 5, 1)), to_json(Decimal("1.50"))
    ('a', None, {'float': '2.5'}, {'date': '2024-05-01'}, {'decimal': '1.50'})
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    return _time(value)


def _time(value: Any) -> dict[str, Any]:
    if isinstance(value, datetime.timedelta):
        return {"microseconds": value // datetime.timedelta(microseconds=1)}
    if isinstance(value, datetime.datetime):
        return {"datetime": (value if value.tzinfo is None else value.astimezone(datetime.UTC)).isoformat()}
    return {"date" if isinstance(value, datetime.date) else "time": value.isoformat()}


def from_json(written: Any) -> Any:
    """The value that `to_json` has written; a ValueError if it has written no such thing.

    >>> [from_json(to_json(value)) for value in (True, 7, math.inf, datetime.time(8, 30), datetime.timedelta(days=2))]
    [True, 7, inf, datetime.time(8, 30), datetime.timedelta(days=2)]
    """
    if written is None or isinstance(written, (str, bool)):
        return written
    if isinstance(written, int):
        if not -(2**63) <= written < 2**64:
            raise ValueError(f"{written!r} is no whole number of 64 bits")
        return written
    if not isinstance(written, dict) or not written:
        raise ValueError(f"{written!r} is no value")
    (kind, inner), *more = written.items()
    if more or kind not in _READERS:
        raise ValueError(f"{kind!r} is no type of value")
    return _READERS[kind](inner)


def _text(written: Any) -> str:
    if not isinstance(written, str):
        raise ValueError(f"{written!r} is no text")
    return written


def _float(written: Any) -> float:
    if math.isnan(number := float(_text(written))):
        raise ValueError("not a number is no value")
    return number


def _decimal(written: Any) -> Decimal:
    try:
        number = Decimal(_text(written))
    except InvalidOperation:
        raise ValueError(f"{written!r} is no decimal number") from None
    if not number.is_finite() or abs(number.adjusted()) >= _DIGITS or len(number.as_tuple().digits) > _DIGITS:
        raise ValueError(f"{written!r} is no decimal number")
    return number


def _duration(written: Any) -> datetime.timedelta:
    if isinstance(written, bool) or not isinstance(written, int):
        raise ValueError(f"{written!r} is no whole number")
    try:
        return datetime.timedelta(microseconds=written)
    except OverflowError:
        raise ValueError(f"{written!r} microseconds are more than Python can hold") from None


def _time_of_day(written: Any) -> datetime.time:
    time = datetime.time.fromisoformat(_text(written))
    if time.tzinfo is not None:
        raise ValueError(f"{written!r} is no time of day without a zone")
    return time


def _datetime(written: Any) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(_text(written))
    try:
        return time if time.tzinfo is None else time.astimezone(datetime.UTC)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def family(value: Any) -> str:
    """What kind of value it is: values of one kind can be put in order, and are of one column.

    >>> family(7), family(True), family(datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC))
    ('int', 'bool', 'datetime with time zone')
    """
    zone = isinstance(value, datetime.datetime) and value.tzinfo is not None
    return f"{type(value).__name__}{' with time zone' * zone}"


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": _float,
    "decimal": _decimal,
    "date": lambda written: datetime.date.fromisoformat(_text(written)),
    "time": _time_of_day,
    "datetime": _datetime,
    "microseconds": _duration,
}
