"""Item names that differ only in blanks, case or Unicode form made one: `normalize` of `Reading`."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from veilset.errors import UnreadableInput, said
from veilset.transactions.anatomy import Anatomy

if TYPE_CHECKING:
    from veilset.transactions.transactions import Transactions

Step = Literal["strip", "case", "nfc"]
STEPS: tuple[Step, ...] = get_args(Step)

_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u200e\u200f\u061c"))  # blanks of no width, marks of direction
_MOST_NAMES = 5


def steps_of(given: Any) -> Any:
    """The steps that a text with commas or a list names, each once and in one order; None: there are none."""
    words = [word.strip() for word in given.split(",") if word.strip()] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)):
        return given  # not ours to refuse
    return (*(step for step in STEPS if step in words), *(word for word in words if word not in STEPS)) or None


def normalized(name: str, steps: Sequence[Step]) -> str:
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


def with_normalized_names(data: Transactions, steps: Sequence[Step]) -> Transactions:
    """The same transactions under normalized names: items that are now the same are one. Notes say how many."""
    assert data.source is not None  # noqa: S101 - everything that is read has one
    new = {name: now for name in data.names if (now := normalized(name, steps)) != name}
    if empty := [name for name, now in new.items() if not now]:
        listed = ", ".join(map(repr, empty[:_MOST_NAMES])) + ", …" * (len(empty) > _MOST_NAMES)
        raise UnreadableInput(
            f"The item {listed} consists of spaces only.",
            f"Give it a name in the data, or remove 'strip' from {said('normalize')}.",
        )
    source = replace(data.source, normalize=tuple(steps))
    if not new:
        return data.with_source(source)
    changed = data.renamed(new)
    if data.anatomy is not None:
        columns = ({new.get(item, item) for item in column} for column in data.anatomy.columns)
        changed = changed.anatomized(Anatomy.of(map(changed.in_order, columns), data.anatomy.buckets))
    merged = len(data.names) - len(changed.names)
    names = f"{len(new):,} name{'s' * (len(new) != 1)} normalized ({', '.join(steps)})"
    note = f"{names}; {len(data.names):,} different items became {len(changed.names):,}." if merged else f"{names}."
    return changed.with_source(replace(source, noted=(*source.noted, note)))
