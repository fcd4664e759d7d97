"""Which promises there are, and what each room keeps for one of them.

A room has one file a promise, which exports one object: an auditor, methods, words, a contract. `PerPromise` holds
those of a room. To add a promise, here or in a package of your own, call `register` and add an entry to each table.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from veilset.errors import InvalidArgument, lookalikes, near_misses
from veilset.models.promise import Promise
from veilset.options import declared

SEAL = "sealed"
"""What a certificate says instead of a promise that is secret."""

PROMISES: dict[str, type[Promise]] = {}
"""What a user may ask for, by name."""

Entry = TypeVar("Entry")


def register(kind: type[Promise]) -> None:
    """Make a promise one that recipes, certificates and the command line know."""
    if kind.secret and (not kind.listed or kind.secrets is Promise.secrets):
        raise InvalidArgument(
            f"{kind.__name__} is secret, but does not declare what it lists.",
            "Set listed, such as 'patterns', and secrets, their number. Nothing else about it is public.",
        )
    if PROMISES.setdefault(kind.name, kind) is not kind:
        raise InvalidArgument(f"There is already a promise named {kind.name!r}.", "Choose another name.")


def known_promise(name: str) -> type[Promise]:
    """The promise of this name; an error if there is none."""
    if name == SEAL:
        secret = " or ".join(repr(other) for other, kind in PROMISES.items() if kind.secret)
        raise InvalidArgument(
            f"{name!r} is how a certificate names a secret promise; you cannot ask for it.",
            f"Use {secret}, with the patterns or rules to hide.",
        )
    if name not in PROMISES:
        raise InvalidArgument(
            f"There is no promise {name!r}. Available: {', '.join(PROMISES)}.",
            near_misses(name, PROMISES) or "Name one of these; a newer version of Veilset may know more.",
        )
    return PROMISES[name]


def check_promise(promise: object) -> None:
    """Raise unless it is a promise; the error says how to make the one that seems to be meant.

    >>> check_promise({"rho": 0.5})
    Traceback (most recent call last):
        ...
    veilset.errors.InvalidArgument: The promise is a dict. Give RhoUncertainty(**promise).
    """
    if isinstance(promise, Promise):
        return
    if isinstance(promise, dict):
        for kind in PROMISES.values():
            names = {one.name: one.required for one in declared(kind)}
            if promise.keys() <= names.keys() and all(name in promise for name, needed in names.items() if needed):
                # Its values may be secret.
                raise InvalidArgument("The promise is a dict.", f"Give {kind.__name__}(**promise).")
    if isinstance(promise, type) and issubclass(promise, Promise):
        raise InvalidArgument(f"The promise is the class {promise.__name__}.", f"Give {_for_example(promise)}.")
    close = lookalikes(promise, PROMISES) if isinstance(promise, str) else []
    kinds = [PROMISES[name] for name in close[:1]] or PROMISES.values()
    what = repr(promise) if isinstance(promise, (str, int, float, type(None))) else f"a {type(promise).__name__}"
    raise InvalidArgument(
        f"The promise is {what}.", f"Pass a promise, such as {' or '.join(map(_for_example, kinds))}."
    )


def _for_example(kind: type[Promise]) -> str:
    """The call that makes such a promise."""
    given = (f"{one.name}={one.option.example or '…'}" for one in declared(kind) if one.required)
    return f"{kind.__name__}({', '.join(given)})"


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
            raise InvalidArgument(f"There is no {self._what} for {kind.__name__}.", f"Available: {self.listed}.")
        return self._entries[kind]

    @property
    def listed(self) -> str:
        """The promises that it has something for, as a sentence lists them."""
        return ", ".join(kind.__name__ for kind in self._entries)

    def __contains__(self, kind: object) -> bool:
        return kind in self._entries
