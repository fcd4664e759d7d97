"""Keys: one canonical way to write them, and the numbers of keys that two tables share.

Keys match exactly or not at all. By default they are compared as they are; a `KeyRule` says which differences in
writing do not count. Missing keys match nothing. Floats are refused, and so are two columns of different types.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, said, unknown
from veilset.io.columns import is_text, uuid_text
from veilset.io.normalizing import normalized, steps_of
from veilset.joins.columns import Codes, column_of, ranked, through, without_unused
from veilset.joins.graph import Edge

KeyStep = Literal["nfc", "strip", "case", "zeros", "dates"]
KEY_STEPS: tuple[KeyStep, ...] = get_args(KeyStep)

_Ranks = npt.NDArray[Any]

_ZEROS = re.compile("(-?)0+(?=[0-9])")
_MIDNIGHT = re.compile("([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]00:00(?::00(?:[.]0+)?)?)?")
_WRITTEN_AS_TEXT = {"whole number": "zeros", "date": "dates"}
_LARGEST = 2**63 - 1  # of signed integers
_DECIMAL = 76  # digits


@dataclass(frozen=True)
class KeyRule:
    """How keys are written before they are compared.

    Parameters
    ----------
    steps : tuple of str
        "nfc": one Unicode form. "strip": no blanks at the ends, single blanks inside. "case": upper and lower case are
        the same. "zeros": no leading zeros, also after a minus; whole numbers match their digits in text. "dates":
        dates match text like 2024-05-01, also if the time 00:00 follows. Without steps, keys are compared exactly.

    Examples
    --------
    >>> rule = KeyRule.of("strip, zeros")
    >>> print(rule, KeyRule(), rule.written(" 007 "), sep="; ")
    strip, zeros; exact; 7
    """

    steps: tuple[KeyStep, ...] = ()

    @classmethod
    def of(cls, given: KeyRule | str | Sequence[str] | None) -> KeyRule:
        """The rule that a user names: steps, or text with commas; nothing or "exact": none."""
        if isinstance(given, KeyRule):
            return given
        steps = steps_of(given, KEY_STEPS) or ()
        if not isinstance(steps, tuple):
            raise InvalidArgument(
                f"{said('keys')} is {given!r}, not a list of steps.", f"For example: {said('keys', ['strip', 'case'])}."
            )
        wrong = [step for step in steps if step not in KEY_STEPS]
        if wrong and steps != ("exact",):
            raise unknown("step of keys", str(wrong[0]), KEY_STEPS, "Leave them out for exact keys.")
        return cls(() if wrong else steps)

    def __str__(self) -> str:
        return ", ".join(self.steps) or "exact"

    def written(self, text: str) -> str:
        """The canonical form of a key that is text; its own canonical form is itself."""
        text = normalized(text, self.steps)
        if "dates" in self.steps and (day := _day(text)):
            return day
        return _ZEROS.sub(r"\1", text, count=1) if "zeros" in self.steps and _ZEROS.match(text) else text


def _day(text: str) -> str | None:
    found = _MIDNIGHT.fullmatch(text)
    try:
        return found and datetime.date.fromisoformat(found[1]).isoformat()
    except ValueError:
        return None  # such as February 30


@dataclass(frozen=True, eq=False)
class Part:
    """One column of a key: the rank of each row's value, -1 if missing, and the distinct canonical values in order."""

    codes: Codes
    values: Any


@dataclass(frozen=True, eq=False)
class Keys:
    """The composite keys of a table's rows, part by part."""

    parts: tuple[Part, ...]


def key_column(table: pa.Table, columns: Sequence[Sequence[str]], rule: KeyRule) -> Keys:
    """The keys of a table's rows by the columns of an `Edge`.

    A row without a value in some part has no key. Neither has a row that differs in columns of one part.
    """
    return Keys(tuple(_part(table, names, rule) for names in columns))


def shared_keys(left: Keys, right: Keys) -> tuple[Codes, Codes, int]:
    """The number of each row's key among the keys that both sides have (-1: only one side has it), and their count.

    Keys are numbered in the order of their canonical values, part by part: numbers by size, dates by time, text by code
    point. Two parties that each know the shared keys therefore number them alike.

    >>> left = key_column(pa.table({"id": [7, 3, None, 5, 7]}), [["id"]], KeyRule())
    >>> right = key_column(pa.table({"key": [5, 7, 9]}), [["key"]], KeyRule())
    >>> ids, others, count = shared_keys(left, right)
    >>> ids.tolist(), others.tolist(), count
    ([1, -1, -1, 0, 1], [0, 1, -1], 2)
    """
    matched = [_matched(one, other) for one, other in zip(left.parts, right.parts, strict=True)]
    return reduce(_both, matched)


def distinct_keys(keys: Keys) -> tuple[Codes, tuple[Any, ...]]:
    """The number of each row's key among the different ones (-1: it has none), and these keys, part by part.

    They come in the order in which `shared_keys` numbers keys.

    >>> table = pa.table({"a": ["x", "x", "w", None, "x"], "b": [2, 1, 9, 1, 2]})
    >>> codes, parts = distinct_keys(key_column(table, [["a"], ["b"]], KeyRule()))
    >>> codes.tolist(), [part.to_pylist() for part in parts]
    ([2, 1, 0, -1, 2], [['w', 'x', 'x'], [9, 1, 2]])
    """
    codes, values = keys.parts[0].codes, [keys.parts[0].values]
    for part in keys.parts[1:]:
        pairs = codes.astype(np.int64) * len(part.values) + part.codes
        codes, found = ranked(pa.array(pairs, mask=(codes < 0) | (part.codes < 0)))
        major, minor = np.divmod(found.to_numpy(), max(1, len(part.values)))
        values = [*(one.take(pa.array(major)) for one in values), part.values.take(pa.array(minor))]
    return codes, tuple(values)


def _both(first: tuple[Codes, Codes, int], second: tuple[Codes, Codes, int]) -> tuple[Codes, Codes, int]:
    """The numbers of keys with two parts that are numbered already."""
    sides = []
    for major, minor in zip(first[:2], second[:2], strict=True):
        pairs = major.astype(np.int64) * second[2] + minor
        sides.append(Part(*ranked(pa.array(pairs, mask=(major < 0) | (minor < 0)))))
    return _matched(*sides)


def _matched(left: Part, right: Part) -> tuple[Codes, Codes, int]:
    ours, theirs = _ranks_of_shared(*_comparable(left.values, right.values))
    # Both sides are in order, so the shared values come in the same order on both.
    return _numbered(left, ours), _numbered(right, theirs), len(ours)


def _ranks_of_shared(values: Any, others: Any) -> tuple[_Ranks, _Ranks]:
    """The ranks that shared values have on either side."""
    if not pa.types.is_integer(values.type):
        places = pc.index_in(values, value_set=others)
        return np.flatnonzero(places.is_valid()), places.drop_null().to_numpy()
    numbers, other_numbers = values.to_numpy(), others.to_numpy()
    at = np.searchsorted(other_numbers, numbers)  # fast, since both are in order
    within = at < len(other_numbers)
    within[within] = other_numbers[at[within]] == numbers[within]
    return np.flatnonzero(within), at[within]


def _numbered(part: Part, shared: _Ranks) -> Codes:
    """The number of each row's value among the shared ones; -1 if it is none of them."""
    numbers = np.full(len(part.values) + 1, -1, np.int32)  # the last is that of rank -1
    numbers[shared] = np.arange(len(shared), dtype=np.int32)
    return numbers[part.codes]


def _comparable(left: Any, right: Any) -> tuple[Any, Any]:
    """Of whole numbers, one side may exceed what the other's type can hold: these, the largest, match nothing."""
    if left.type == right.type:
        return left, right
    small = (side.filter(pc.less_equal(side, pa.scalar(_LARGEST, side.type))) for side in (left, right))
    one, other = (side.cast(pa.int64()) for side in small)
    return one, other


def _part(table: pa.Table, names: Sequence[str], rule: KeyRule) -> Part:
    parts = [_canonical(name, column_of(table, name), rule) for name in names]
    part = parts[0]
    for other in parts[1:]:
        mine, others, _ = _matched(part, other)
        agreed = np.where((mine == others) & (mine >= 0), part.codes, np.int32(-1))
        part = Part(*without_unused(agreed, part.values))
    return part


def _canonical(name: str, column: Any, rule: KeyRule) -> Part:
    kind = key_kind(name, column.type)
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    codes, values = ranked(column)
    values = _in_one_type(name, kind, values)
    if kind in _WRITTEN_AS_TEXT and _WRITTEN_AS_TEXT[kind] in rule.steps:
        return _ranked_again(codes, values.cast(pa.large_string()))
    if kind == "text" and rule.steps:
        return _ranked_again(codes, pa.array([rule.written(text) for text in values.to_pylist()], pa.large_string()))
    return Part(codes, values)


def _ranked_again(codes: Codes, values: Any) -> Part:
    """The same rows under other values, of which some may now be equal."""
    ranks, distinct = ranked(values)
    return Part(through(ranks, codes), distinct)


def _in_one_type(name: str, kind: str, values: Any) -> Any:
    """Distinct values in the type in which values of their kind are compared; their order stays the same."""
    if kind == "text" and pa.types.is_fixed_size_binary(values.type):
        return uuid_text(values).cast(pa.large_string())
    if pa.types.is_uint64(values.type) and len(values) and values[-1].as_py() > _LARGEST:
        return values
    kinds = {"text": pa.large_string(), "whole number": pa.int64(), "boolean": pa.bool_(), "date": pa.date32()}
    kinds |= {"time": pa.time64("us"), "timestamp": pa.timestamp("us"), "duration": pa.duration("us")}
    kinds["timestamp with time zone"] = pa.timestamp("us", "UTC")
    one = kinds.get(kind) or pa.decimal256(_DECIMAL, values.type.scale)
    try:
        return values.cast(one)
    except pa.ArrowInvalid:
        raise InvalidArgument(
            f"The key column {name!r} is of type {values.type} and holds values that {one} cannot hold exactly.",
            "Round it, or convert it to text or whole numbers.",
        ) from None


_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (is_text, "text"),
    (lambda of: pa.types.is_integer(of) or pa.types.is_decimal(of), "whole number"),  # decimals without a fraction
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (pa.types.is_duration, "duration"),
)


def key_kind(name: str, of: Any) -> str:
    """The kind of a key column, or an error if its type cannot be a key. Types of one kind differ only in their width.

    >>> key_kind("id", pa.int8()), key_kind("id", pa.dictionary(pa.int8(), pa.string()))
    ('whole number', 'text')
    """
    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of):
        return key_kind(name, of.value_type)
    if isinstance(of, pa.UuidType):
        return "text"
    if isinstance(of, pa.BaseExtensionType):
        return key_kind(name, of.storage_type)
    if pa.types.is_timestamp(of):
        return "timestamp with time zone" if of.tz else "timestamp"
    if pa.types.is_decimal(of) and of.scale > 0:
        return f"decimal with {of.scale} digits after the point"
    kind = next((kind for is_kind, kind in _KINDS if is_kind(of)), None)
    if kind is None:
        if pa.types.is_floating(of):
            raise InvalidArgument(
                f"The key column {name!r} is of type {of}: two floats that look equal may differ.",
                'Convert it to whole numbers: in pandas by astype("Int64"), in SQL by CAST(… AS BIGINT); or to text.',
            )
        raise InvalidArgument(
            f"The key column {name!r} is of type {of}: such values cannot be compared.",
            "Convert it to whole numbers, text or dates.",
        )
    return kind


def check_types(edge: Edge, left: pa.Schema, right: pa.Schema, rule: KeyRule) -> None:
    """Raise if columns that an edge compares are of different types, which would match nothing."""
    for ours, theirs in zip(edge.left_columns, edge.right_columns, strict=True):
        places = [(f"{edge.left}.{name}", left.field(name).type) for name in ours]
        places += [(f"{edge.right}.{name}", right.field(name).type) for name in theirs]
        kinds = [key_kind(*place) for place in places]
        for place, kind in zip(places, kinds, strict=True):
            if kind != kinds[0] and not _written_alike(kind, kinds[0], rule):
                raise _different(places[0], place, {kinds[0], kind})


def _written_alike(kind: str, other: str, rule: KeyRule) -> bool:
    kinds = {kind, other}
    return any(kinds == {"text", typed} and step in rule.steps for typed, step in _WRITTEN_AS_TEXT.items())


def _different(one: tuple[str, Any], other: tuple[str, Any], kinds: set[str]) -> InvalidArgument:
    steps = [step for typed, step in _WRITTEN_AS_TEXT.items() if kinds == {"text", typed}]
    written = f", or compare both as text with {said('keys', steps)}" if steps else ""
    return InvalidArgument(
        f"The key columns {one[0]!r} ({one[1]}) and {other[0]!r} ({other[1]}) have different types: none would match.",
        f"Convert one of them to the type of the other{written}.",
    )
