"""The fields of a form, each read as what it is meant to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from veilset.errors import InvalidArgument, unknown

LONGEST = 10_000
"""Characters of a text."""


class Fields:
    """What a person filled in.

    Parameters
    ----------
    given : mapping of str to list of str
        For each name its values, as the guard has read them.
    """

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given

    def text(self, name: str) -> str:
        """The text of a field, without blanks around it; empty if it was not sent."""
        found = self._given.get(name, ())
        value = found[-1].strip() if found else ""
        if len(value) > LONGEST:
            raise InvalidArgument(f"{name} has {len(value):,} characters.", f"Give at most {LONGEST:,}.")
        return value

    def texts(self, name: str) -> list[str]:
        """All values of a field that can be given several times."""
        return list(self._given.get(name, ()))

    def ticked(self, name: str) -> bool:
        """Whether a box is ticked."""
        return bool(self._given.get(name))

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number between two others."""
        value = self.text(name)
        if not value.isascii() or not value.removeprefix("-").isdigit() or not least <= int(value[:12]) <= most:
            raise InvalidArgument(f"{name} is {value!r}.", f"Give a whole number from {least} to {most}.")
        return int(value)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """One of some values."""
        value = self.text(name)
        if value not in choices:
            raise unknown(name, value, choices)
        return value
