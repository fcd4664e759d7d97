"""Kinds of values that are rarely items: dates, e-mail addresses, UUIDs and numbers.

The expressions are those that both Python and Arrow (RE2) take.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from veilset.io.gather import strings_of
from veilset.io.rows import arrow_numbers, ends_of

_YEAR, _MONTH, _DAY = "(?:1[89]|20)[0-9]{2}", "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_NAMED = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_TIME = "(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?: ?[ap]m|Z|[+-][0-9]{2}:?[0-9]{2})?"
_DATES = (
    f"{_YEAR}[-/.]{_MONTH}(?:[-/.]{_DAY})?",
    f"{_DAY}[-/.]{_DAY}[-/.]{_YEAR}",  # the day or the month first
    "[0-3][0-9][-/.][0-3][0-9][-/.][0-9]{2}",
    "[0-3]?[0-9]/[0-3]?[0-9]/[0-9]{2}",
    f"{_DAY}[. -]{{1,2}}{_NAMED}[., -]{{1,2}}(?:{_YEAR}|[0-9]{{2}})",
    f"{_NAMED} {_DAY},? {_YEAR}",
    f"(?:{_MONTHS}) {_YEAR}",
)

LONG = "long numbers"

IDENTIFYING = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[a-z]{2,}",
    "UUIDs": "[{]?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}[}]?",
    "dates or times": f"(?:(?:{'|'.join(_DATES)})(?:[T ]{_TIME})?|{_TIME})",
    LONG: "(?:[a-z]{0,3}[-_#]?[+(]?(?:[0-9][ ()/-]{0,2}){6,}[0-9]|[a-z]{1,4}[-_#]?[0-9]{6,}[a-z]?)",
}
"""What may identify a person or a visit, in words, and how it is written; the first that fits counts."""

WHOLE, DECIMAL, TEXT = "whole numbers", "decimal numbers", "text"

_OTHERS = {WHOLE: "[-+]?[0-9]+", DECIMAL: "[-+]?[$€£]?[0-9]*[.,]?[0-9]+ ?[%€]?"}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    ordered = {**IDENTIFYING, **_OTHERS}
    return {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in ordered.items()}


def kind_of(value: str) -> str:
    """What a value looks like; a long number that is nothing but digits counts as a whole number.

    >>> [kind_of(value) for value in ("2024-01-03", "a@b.org", "7", "3.50", "E11.9", "whole milk")]
    ['dates or times', 'e-mail addresses', 'whole numbers', 'decimal numbers', 'text', 'text']
    """
    if value.isascii() and value.isdigit():
        return WHOLE
    return next((kind for kind, pattern in _patterns().items() if pattern.fullmatch(value)), TEXT)


def identifying(names: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """Where each kind of `IDENTIFYING` stands among the names; kinds that do not occur are left out.

    >>> identifying(["milk", "2024-01-03", "0660 1234567"])
    {'dates or times': array([1]), 'long numbers': array([2])}
    """
    texts = _texts(names)
    # Most names hold neither an @ nor two digits side by side: they are compared with one pattern only.
    left = _places(texts, "@|[0-9].{0,2}[0-9]|[0-9a-f]{8}")
    found = {}
    for kind, pattern in IDENTIFYING.items():
        fits = _places(texts.take(arrow_numbers(left)), f"^(?:{pattern})$")
        if len(fits):
            found[kind] = left[fits]
            left = np.delete(left, fits)
    return found


def numbered(names: Sequence[str]) -> list[npt.NDArray[np.int64]]:
    """Where the names with at least five digits stand, one array for each shape; all whole numbers have the same.

    >>> numbered(["milk", "85123A", "100015", "20727B", "9100016"])
    [array([1, 3]), array([2, 4])]
    """
    texts = _texts(names)
    places = _places(texts, "(?:[0-9][^0-9]*){5}")
    shapes = texts.take(arrow_numbers(places))
    for pattern, written in (("^[0-9]+$", "0"), ("[0-9]", "0"), ("[A-Za-z]", "A")):
        shapes = pc.replace_substring_regex(shapes, pattern, written)
    shape_of = shapes.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    ends = np.cumsum(np.bincount(shape_of))
    return np.split(places[np.argsort(shape_of, kind="stable")], ends[:-1]) if len(places) else []


def _texts(names: Sequence[str]) -> Any:
    encoded = [name.encode() for name in names]
    return strings_of((ends_of([len(name) for name in encoded]), np.frombuffer(b"".join(encoded), dtype=np.uint8)))


def _places(names: Any, pattern: str) -> npt.NDArray[np.int64]:
    fits = pc.indices_nonzero(pc.match_substring_regex(names, pattern, ignore_case=True))
    return np.frombuffer(fits.buffers()[1], dtype=np.int64)[: len(fits)]
