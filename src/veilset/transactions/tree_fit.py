"""Whether a tree fits data: every public item is a leaf."""

from __future__ import annotations

from collections.abc import Sequence

from veilset.errors import InvalidArgument, near_misses
from veilset.transactions.transactions import Transactions


def notes_on_fit(leaves: Sequence[str], groups: Sequence[str], data: Transactions) -> tuple[str, ...]:
    """Notes on leaves that play no part; an error if a public item of *data* is not a leaf."""
    known, occurring = set(leaves), set(data.names)
    if missing := [name for name in data.public if name not in known]:
        verb, them = ("is not a leaf", "it") if len(missing) == 1 else ("are not leaves", "them")
        raise InvalidArgument(
            f"{len(missing):,} of {len(data.public):,} public items {verb} of the taxonomy: {_few(missing)}.",
            _hint(missing[:3], leaves, set(groups)) or f"Add {them} to the taxonomy, or use another one.",
        )
    notes = []
    if absent := [name for name in leaves if name not in occurring]:
        verb = "leaf does" if len(absent) == 1 else "leaves do"
        notes.append(f"{len(absent):,} {verb} not occur in the data: {_few(absent)}.")
    if sensitive := [name for name in data.sensitive if name in known]:
        verb = "item is among the leaves and is" if len(sensitive) == 1 else "items are among the leaves and are"
        notes.append(f"{len(sensitive):,} sensitive {verb} not generalized: {_few(sensitive)}.")
    return tuple(notes)


def _hint(missing: Sequence[str], leaves: Sequence[str], groups: set[str]) -> str:
    """What may be meant by names that are no leaves."""
    if group := next((name for name in missing if name in groups), None):
        return f"{group!r} is a group of the tree: add an item with this name below it."
    return next((hint for name in missing if (hint := near_misses(name, leaves))), "")


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
