"""Which promises there are, and what each room keeps for one of them.

A room has one file a promise, which exports one object: an auditor, methods, words, a contract. `PerPromise` holds
those of a room. To add a promise, here or in a package of your own, call `register` and add an entry to each table.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from veilset.errors import InvalidArgument, near_misses
from veilset.models.promise import Promise

SEAL = "sealed"
"""What a certificate says instead of a promise that is secret."""

PROMISES: dict[str, type[Promise]] = {}
"""What a user may ask for, by name."""

Entry = TypeVar("Entry")


def register(kind: type[Promise]) -> None:
    """Make a promise one that recipes, certificates and the command line know."""
    if kind.secret and (not kind.listed or kind.secrets is Promise.secrets):
        raise InvalidArgument(
            f"{kind.__name__} is secret, and does not say what it lists.",
            "Give it listed, such as 'patterns', and secrets, their number: this is all that is public of it.",
        )
    if PROMISES.setdefault(kind.name, kind) is not kind:
        raise InvalidArgument(f"There is another promise called {kind.name!r}.", "Choose another name.")


def known_promise(name: str) -> type[Promise]:
    """The promise of this name; an error if there is none."""
    if name == SEAL:
        secret = " or ".join(repr(other) for other, kind in PROMISES.items() if kind.secret)
        raise InvalidArgument(
            f"{name!r} is what a certificate says of a promise that is secret, not a promise to ask for.",
            f"Name {secret}, with what is to be hidden.",
        )
    if name not in PROMISES:
        raise InvalidArgument(
            f"There is no promise {name!r}. Available: {', '.join(PROMISES)}.",
            near_misses(name, PROMISES) or "Name one of these; perhaps a newer veilset knows more.",
        )
    return PROMISES[name]


class PerPromise(Generic[Entry]):
    """What a room keeps for each promise. *what* names it in the error for a promise that has none."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._entries: dict[type[Promise], Entry] = {}

    def add(self, kind: type[Promise], entry: Entry) -> None:
        """Keep *entry* for this promise."""
        self._entries[kind] = entry

    def of(self, promise: Promise | type[Promise]) -> Entry:
        """What is kept for this promise."""
        kind = promise if isinstance(promise, type) else type(promise)
        if kind not in self._entries:
            known = ", ".join(other.__name__ for other in self._entries)
            raise InvalidArgument(f"There is no {self._what} for {kind.__name__}.", f"Available: {known}.")
        return self._entries[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._entries
