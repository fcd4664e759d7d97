"""The first words of both sides: who they are, what they are here for, and whether they mean the same study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from veilset.joins.parties.certificates import CLOCK_TOLERANCE
from veilset.joins.parties.disrupted import Disrupted, Fault, one_line
from veilset.joins.parties.frames import Malformed

PROTOCOL = 1
"""The version of the messages that this Veilset speaks."""
_LONGEST = 200
_TYPES = {"attempt": (int,), "protocol": (int,), "time": (int, float)}


@dataclass(frozen=True)
class Hello:
    """What a party says first.

    Parameters
    ----------
    party : str
        Its name in the study.
    role : str
        Whether it coordinates the run or is a neighbour whose table joins.
    study : str
        The hash of the study that it has.
    run, attempt
        The run that it means, and how often it was begun.
    protocol : int
        The version of the messages. This field and the next have the same names in every version.
    version : str
        The version of Veilset.
    time : float
        Its clock, in seconds since 1970.
    """

    party: str
    role: Literal["coordinator", "neighbour"]
    study: str
    run: str
    attempt: int
    protocol: int
    version: str
    time: float


def hello_of(peer: str, given: Mapping[str, Any]) -> Hello:
    """What a peer said, if it is who its certificate says; raise `Malformed` if it makes no sense."""
    protocol = given.get("protocol")
    if type(protocol) is int and protocol != PROTOCOL:
        raise _refusal(
            peer,
            "version",
            f"{peer} has Veilset {one_line(str(given.get('version')))[:_LONGEST]}, which speaks version "
            f"{protocol} of the protocol; ours is {PROTOCOL}.",
            "Install the same version of Veilset at all parties.",
        )
    names = {one.name for one in fields(Hello)}
    if (
        set(given) != names
        or not all(type(given[name]) in _TYPES.get(name, (str,)) for name in names)
        or any(len(str(one)) > _LONGEST for one in given.values())
        or given["role"] not in ("coordinator", "neighbour")
    ):
        raise Malformed("a hello with other fields or values than ours")
    if given["party"] != peer:
        raise _refusal(
            peer,
            "certificate",
            f"{peer}, known by its certificate, calls itself {one_line(given['party'])!r}.",
            f"Ask {peer} to check party and identity in its party file.",
        )
    return Hello(**given)


def compare(peer: str, ours: Hello, theirs: Hello) -> None:
    """Raise unless the peer has our study and our time."""
    if theirs.study != ours.study:
        raise _refusal(
            peer,
            "study",
            f"{peer} has another study: its hash is {one_line(theirs.study)}, that of {ours.party} is {ours.study}.",
            "Compare the two files, agree on one, and let all parties approve it again.",
        )
    if abs(theirs.time - ours.time) > CLOCK_TOLERANCE.total_seconds():
        raise _refusal(
            peer,
            "clock",
            f"The clock of {peer} shows {_shown(theirs.time)}, that of {ours.party} {_shown(ours.time)}.",
            "Set both by a time server (NTP): with a wrong clock, nobody can tell whether a certificate has expired.",
        )


def _refusal(peer: str, fault: Fault, what: str, next_step: str) -> Disrupted:
    return Disrupted(what, next_step, party=peer, fault=fault)


def _shown(time: float) -> str:
    try:
        return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{time:g} seconds after 1970"
