"""Item names: what may be one, and how a vocabulary is sorted."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from veilset.errors import InvalidArgument

_LONGEST_INTEGER = 4000  # Python refuses to convert much longer ones
_INTEGER = re.compile(rf"-?[0-9]{{1,{_LONGEST_INTEGER}}}", re.ASCII)


def item_names(values: Iterable[str | int], where: str) -> list[str]:
    """The names these values stand for; *where* says in an error where they came from."""
    return [item_name(value, where) for value in several(values, where)]


def several(values: Iterable[Any], where: str) -> Iterable[Any]:
    """The values, unless they are one text: its letters would be taken for items, '48' for 4 and 8."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{where} is {values!r}, not a list of items.", f"Write [{values!r}].")
    return values


def check_writable(names: Sequence[str]) -> None:
    """Names that no file could hold: empty, with a zero character, or half of a character."""
    together = "".join(names)
    if all(names) and "\0" not in together and together.isprintable():
        return
    for name in names:
        if not name or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
            raise InvalidArgument(f"The item name {name!r} cannot be written to a file.", "Rename it, or leave it out.")


def item_name(value: object, where: str) -> str:
    """The name a value stands for: a text, or an integer's digits."""
    if isinstance(value, bool) or not isinstance(value, (str, int, np.integer)):
        raise InvalidArgument(f"{where}: {value!r} is not an item.", "Items are names (text) or ids (integers).")
    name = str(value)
    if not name:
        raise InvalidArgument(f"{where}: an item has an empty name.", "Give it a name, or leave it out.")
    return name


def vocabulary_order(names: list[str]) -> Sequence[int]:
    """Positions of the names in sorted order: numerically if every name is an integer, else by code point."""
    if not are_integers(names):
        return sorted(range(len(names)), key=names.__getitem__)
    numbers = list(map(int, names))
    if all(map(operator.lt, numbers, numbers[1:])):
        return range(len(names))  # as every FIMI file gives them
    return sorted(range(len(names)), key=lambda i: (numbers[i], names[i]))


def are_integers(names: Sequence[str]) -> bool:
    """Whether every name is an integer."""
    together = "".join(names)
    if together.isascii() and together.isdigit():
        return max(map(len, names)) <= _LONGEST_INTEGER
    return bool(names) and all(map(_INTEGER.fullmatch, names))
