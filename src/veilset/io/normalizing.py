"""Text that differs only in blanks, case or Unicode form made one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, get_args

Step = Literal["strip", "case", "nfc"]
STEPS: tuple[Step, ...] = get_args(Step)

_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u200e\u200f\u061c"))  # blanks of no width, marks of direction


def steps_of(given: Any, known: Sequence[str] = STEPS) -> Any:
    """The steps that a text with commas or a list names, each once and in one order; None: there are none."""
    words = [word.strip() for word in given.split(",") if word.strip()] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)):
        return given  # not ours to refuse
    return (*(step for step in known if step in words), *(word for word in words if word not in known)) or None


def normalized(name: str, steps: Sequence[str]) -> str:
    """A name after these steps; a second time they change nothing.

    >>> normalized(" Café\\u00a0 Crème ", ["strip"]), normalized("Straße", ["case"])
    ('Café Crème', 'strasse')
    """
    before = None
    while name != before:
        before = name
        if "nfc" in steps:
            name = unicodedata.normalize("NFC", name)
        if "strip" in steps:
            name = " ".join(name.translate(_UNSEEN).split())
        if "case" in steps:
            name = name.casefold()
    return name
