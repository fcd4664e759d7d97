"""What ends a session: who it is about, what happened, and what to do next, for each kind of fault."""

from __future__ import annotations

from typing import Any, Literal

from veilset.errors import VeilsetError

Fault = Literal[
    "unreachable",
    "certificate",
    "plaintext",
    "silent",
    "closed",
    "garbage",
    "unexpected",
    "version",
    "study",
    "refused",
    "clock",
]
"""What can happen to a connection."""
PASSING: frozenset[Fault] = frozenset(("unreachable", "silent", "closed", "garbage"))
"""Faults of the network, or of a process that ended: trying again may help. The others need a change somewhere."""
_LONGEST_SENTENCE = 2000


class Disrupted(VeilsetError):
    """A session with another party that ended before its work was done.

    Parameters
    ----------
    what, next_step : str
        As for all errors; the sentences name the party.
    party : str
        The party that it is about; empty for a caller who did not prove who they are.
    fault : str
        What happened, as a code.
    """

    def __init__(self, what: str, next_step: str = "", *, party: str = "", fault: Fault = "closed") -> None:
        super().__init__(what, next_step)
        self.party = party
        self.fault: Fault = fault
        self.exit_code = 4 if fault in PASSING else 2

    def within(self, where: str, next_step: str | None = None) -> Any:
        """The same error, met in some place."""
        return self._same(super().within(where, next_step))

    def calling(self, **names: str) -> Any:
        """The same error, for a place that has other names for these options."""
        return self._same(super().calling(**names))

    def _same(self, other: Disrupted) -> Disrupted:
        return Disrupted(*other.args, party=self.party, fault=self.fault)


def one_line(text: str) -> str:
    """What another party wrote, fit for a terminal: signs that steer one are replaced, and it ends somewhere."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_SENTENCE])
    return shown + "…" * (len(text) > _LONGEST_SENTENCE)
