"""How messages of the library spell an option for a user of the command line: as its flag."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote as shell_quote
from typing import Any

from veilset.anonymize import METHODS
from veilset.errors import VeilsetError, in_python
from veilset.models import PROMISES
from veilset.options import Declared, declared
from veilset.transactions import Reading

_METHODS = [method for kind in PROMISES.values() for method in METHODS.of(kind).by_name.values()]
_TAKERS: list[Callable[..., Any]] = [*_METHODS, *PROMISES.values(), Reading]
_DECLARED: dict[str, Declared] = {option.name: option for taker in _TAKERS for option in declared(taker)}


def in_flags(name: str, *value: object) -> str:
    """An option with its value, if one is given, as somebody types it.

    >>> in_flags("min_support"), in_flags("header", True), in_flags("long", ["ID", "ITEM"]), in_flags("p", None)
    ('--min-support', '--header', '--long ID,ITEM', '--p unlimited')
    >>> in_flags("ignore", ["age", "home town"]), in_flags("certify", False)
    ("--ignore age --ignore 'home town'", '--no-certify')
    >>> in_flags("delimiter", "\\t"), in_flags("delimiter", ";")
    ('--delimiter tab', "--delimiter ';'")
    >>> print(in_flags("where", "Country = 'France'"))
    --where "Country = 'France'"
    """
    option = _DECLARED.get(name)
    flag = f"--{name.replace('_', '-') if option is None else option.flag}"
    if not value:
        return flag
    given = value[0]
    form, means = ("text", True) if option is None else (option.option.form, option.option.means)
    if isinstance(given, bool):
        return flag if given == means else f"no {flag}"
    if given is None:
        return f"{flag} unlimited" if form == "whole or unlimited" else f"no {flag}"
    if form == "character" and given == "\t":
        return f"{flag} tab"
    if isinstance(given, list) and form not in ("pair", "names", "words", "listed"):
        return " ".join(f"{flag} {_quoted(str(one))}" for one in given)
    return f"{flag} {_quoted(','.join(map(str, given)) if isinstance(given, list) else str(given))}"


def _quoted(text: str) -> str:
    """A word of a command; between double quotes if it holds single ones and nothing that a shell replaces."""
    return f'"{text}"' if "'" in text and not {*text} & {*'"$`\\!'} else shell_quote(text)


@contextmanager
def as_in_files(place: str = "") -> Iterator[None]:
    """Errors name options as a recipe or a study does, which is as Python does: flags do not go with one.

    *place* is put after each, where a file could be given and was not.
    """

    def spell(name: str, *value: object) -> str:
        return f"{in_python(name, *value)} {place}".rstrip()

    try:
        yield
    except VeilsetError as error:
        raise type(error)(*error.spelled(spell)) from None
