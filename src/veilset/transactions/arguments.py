"""What to do where something else is given instead of transactions: asked here for all functions that take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veilset.errors import InvalidArgument, in_python
from veilset.io.frames import kind_of_object, likely_reading
from veilset.transactions.transactions import Transactions


def check_transactions(data: object) -> None:
    """Raise unless these are `Transactions`; the error says how to make them of what was given.

    >>> check_transactions("visits.csv")
    Traceback (most recent call last):
        ...
    veilset.errors.InvalidArgument: The data is 'visits.csv', not Transactions. Read it first: vs.read('visits.csv').
    """
    if not isinstance(data, Transactions):
        what = repr(str(data)) if isinstance(data, (str, Path)) else _with_article(data)
        raise InvalidArgument(f"The data is {what}, not Transactions.", _how_to_make_them(data))


def _with_article(given: object) -> str:
    return "None" if given is None else f"a {kind_of_object(given)}"


def _how_to_make_them(given: Any) -> str:
    if isinstance(given, (str, Path)):
        return f"Read it first: vs.read({str(given)!r})."
    if isinstance(given, (list, tuple)):
        return "Make them first: vs.Transactions.from_lists(rows)."
    if isinstance(getattr(given, "custodian_data", None), Transactions):
        return "Pass release.custodian_data or release.original."
    if isinstance(getattr(given, "vocabulary", None), Transactions):
        return (
            "What an engine holds can be audited, anonymized, and mined by frequent, rules and minimal_rare. "
            "For the rest, read it with vs.read."
        )
    options = likely_reading(given)
    if options is None:
        return "Pass the result of vs.read or vs.Transactions.from_lists."
    said = ", ".join(["frame", *(in_python(name, value) for name, value in options.items())])
    choice = " (or name other columns)" if "long" in options else ""
    return f"Read it first: data = vs.read({said}){choice}."
