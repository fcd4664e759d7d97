"""A party's own record of what it has sent: a file that is only added to, and that only its owner can read.

Each line is a JSON object: the begin of a session, a message, the end of a session. A message is recorded before it is
sent, so nothing leaves that is not in the log; if the log cannot be written, the session has to stop. There are names
of parties and tables, hashes and numbers in it, and no values. A crash can tear a line; it is skipped when reading.

Two sessions tell more than each of them: if a table has changed in between, the difference between their summaries is
about the rows that have changed. `warnings_for` looks for this before a session.
"""

from __future__ import annotations

import datetime
import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from veilset.errors import CannotWrite
from veilset.joins.parties.files import private_folder
from veilset.views import Count

Outcome = Literal["finished", "stopped"]

NAME = "audit.jsonl"
"""Of the file, in the state folder of a party."""
_ADVICE = "Nothing was sent that is not recorded. Make room or choose another state folder, then resume."


def _utc() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True)
class Begin:
    """What a session starts from.

    Parameters
    ----------
    run, study : str
        The session, and the hash of its study.
    neighbours : mapping
        The party on the other side of each edge, by the equality of the edge.
    tables, rows : mapping
        For each of our tables a hash of all that takes part of it, and one of its keys and classes alone.
    policies : mapping
        What is done about what each edge tells.
    approvals : mapping
        What the owner has approved, by name: hashes, or names of parties.
    """

    run: str
    study: str
    neighbours: Mapping[str, str]
    tables: Mapping[str, str]
    rows: Mapping[str, str]
    policies: Mapping[str, str] = field(default_factory=dict)
    approvals: Mapping[str, str] = field(default_factory=dict)


_KNOWN = {one.name for one in fields(Begin)}


@dataclass
class Session:
    """A session as the log has it: from when to when, what was sent to whom, and what was done how often."""

    begin: Begin
    begun: str
    outcome: Outcome | None = None
    messages: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    attempts: int = 0
    compared: dict[str, int] = field(default_factory=dict)
    answers: int = 0
    unknown: int = 0

    def take_in(self, line: Mapping[str, Any]) -> None:
        """Add what a later line of the log says."""
        if line["event"] == "end":
            self.outcome = line["outcome"]
        elif line["event"] == "sent":
            to = line["to"]
            self.messages[to] = self.messages.get(to, 0) + 1
            self.bytes[to] = self.bytes.get(to, 0) + line["bytes"]
            self.attempts += line.get("kind") == "ready"
            if line.get("kind") == "answers":
                self.answers += line.get("entries", 0)
                self.unknown += line.get("unknown", 0)
            if line.get("kind") == "intersection":
                edge = line.get("edge", "")
                self.compared[edge] = self.compared.get(edge, 0) + 1


class AuditLog:
    """The log in a file; its folder is made if there is none.

    Parameters
    ----------
    path : Path
        The file.
    now : callable
        What time it is.
    """

    def __init__(self, path: Path, now: Callable[[], datetime.datetime] = _utc) -> None:
        self.path = path
        self._now = now
        self._file = self._opened()
        self._torn = not self._ends_a_line()

    def begin(self, begin: Begin) -> None:
        """Record that a session begins, or is resumed."""
        self._write("begin", **vars(begin))
        self.settle()

    def sending(
        self,
        begin: Begin,
        to: str,
        kind: str,
        *,
        size: int,
        edge: str | None = None,
        level: int | None = None,
        nodes: int | None = None,
        entries: int | None = None,
        unknown: int | None = None,
    ) -> None:
        """Record a message of this many bytes that is about to be sent."""
        about = {"edge": edge, "level": level, "nodes": nodes, "entries": entries, "unknown": unknown}
        told = {name: value for name, value in about.items() if value is not None}
        self._write("sent", run=begin.run, study=begin.study, to=to, kind=kind, **told, bytes=size)

    def end(self, begin: Begin, outcome: Outcome, error: BaseException | None = None) -> None:
        """Record that a session is over; of an error only its kind, since its sentence may name a value."""
        kind = {"error": type(error).__name__} if error else {}
        self._write("end", run=begin.run, study=begin.study, outcome=outcome, **kind)
        self.settle()

    def settle(self) -> None:
        """Flush to the disk what was recorded; due at the end of each stage."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._unwritable(error) from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def sessions(self) -> list[Session]:
        """All sessions in the log, in the order in which they began. Lines that a crash has torn are skipped."""
        with open(self._file, "rb", closefd=False) as stream:
            stream.seek(0)
            lines = [one for line in stream if (one := _object(line))]
        found: dict[str, Session] = {}
        for line in lines:
            if line.get("event") == "begin" and line.get("run") not in found and line.keys() >= _KNOWN:
                found[line["run"]] = Session(Begin(**{name: line[name] for name in _KNOWN}), line["time"])
            elif line.get("run") in found:
                found[line["run"]].take_in(line)
        return list(found.values())

    def session(self, run: str) -> Session | None:
        """What the log has of a session; None if it has not begun."""
        return next((one for one in self.sessions() if one.begin.run == run), None)

    def warnings_for(self, begin: Begin) -> tuple[str, ...]:
        """What earlier sessions with the same neighbours add to what a new one tells them, a sentence each.

        A table has changed if its keys or classes have, or, in the same study, anything that takes part of it. One that
        has another name now is known by the hash of its keys and classes.
        """
        earlier = [one for one in self.sessions() if one.begin.run != begin.run]
        sentences: list[str] = []
        for neighbour in dict.fromkeys(begin.neighbours.values()):
            told = [one for one in earlier if neighbour in one.messages and neighbour in one.begin.neighbours.values()]
            changed = {name: None for one in told for name in _changed(one.begin, begin)}
            same = [one for one in told if not _changed(one.begin, begin)]
            known = [one for one in same if _shared(one.begin, begin)]
            sentences += _differenced(neighbour, [one for one in told if one not in same], changed)
            sentences += _combined(neighbour, [one for one in known if one.begin.study != begin.study])
            sentences += _repeated(neighbour, [one for one in known if one.begin.study == begin.study])
            sentences += _unknown(neighbour, [one for one in same if one not in known])
        return tuple(sentences)

    def _opened(self) -> int:
        private_folder(self.path.parent)
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        if stat.S_IMODE(os.fstat(file).st_mode) & 0o077:
            os.close(file)
            raise CannotWrite(
                f"The audit log {str(self.path)!r} can be read or written by others.",
                f"Check that nobody has changed it, then: chmod 600 {self.path}",
            )
        return file

    def _ends_a_line(self) -> bool:
        size = os.fstat(self._file).st_size
        return size == 0 or os.pread(self._file, 1, size - 1) == b"\n"

    def _write(self, event: str, **fields: Any) -> None:
        time = self._now().astimezone(datetime.UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": time, "event": event, **fields}, ensure_ascii=False).encode() + b"\n"
        rest = b"\n" + line if self._torn else line
        self._torn = True
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise self._unwritable(error) from None
        self._torn = False

    def _unwritable(self, error: OSError) -> CannotWrite:
        return CannotWrite(f"Cannot write the audit log {str(self.path)!r}: {error.strerror or error}.", _ADVICE)


def _object(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if the line is torn."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _changed(then: Begin, now: Begin) -> list[str]:
    """Tables of the same name that were others then."""
    both = now.tables.keys() & then.tables.keys()
    others = {name for name in both if then.rows.get(name) != now.rows.get(name)}
    if then.study == now.study:
        others |= {name for name in both if then.tables[name] != now.tables[name]}
    return sorted(others)


def _shared(then: Begin, now: Begin) -> bool:
    """Whether a table was there then, perhaps by another name."""
    return not set(now.rows.values()).isdisjoint(then.rows.values())


def _when(sessions: Sequence[Session]) -> str:
    count = Count(len(sessions))
    return f"{count:,} earlier {count:session|sessions}, last on {sessions[-1].begun[:10]}"


def _listed(names: Collection[str]) -> str:
    return ", ".join(map(repr, names))


def _differenced(neighbour: str, sessions: Sequence[Session], names: Collection[str]) -> Iterator[str]:
    if sessions:
        was = "It was not the same" if len(names) == 1 else "They were not the same"
        yield (
            f"{neighbour} was told about {_listed(names)} in {_when(sessions)}. {was} then. The difference "
            "between what it was told then and what it would be told now is about the rows that have changed. If these "
            "are few, it can tell their class and on which side of a split they are."
        )


def _combined(neighbour: str, sessions: Sequence[Session]) -> Iterator[str]:
    if sessions:
        yield (
            f"{neighbour} was told about the same tables by another study, in {_when(sessions)}. Both studies together "
            "sort its join values into more cells than either of them."
        )


def _repeated(neighbour: str, sessions: Sequence[Session]) -> Iterator[str]:
    if sessions:
        yield (
            f"{neighbour} was told the results of this study on the same tables in {_when(sessions)}. Another session "
            "tells it more only if tables of other parties have changed."
        )


def _unknown(neighbour: str, sessions: Sequence[Session]) -> Iterator[str]:
    if sessions:
        names = dict.fromkeys(name for one in sessions for name in one.begin.tables)
        yield (
            f"{neighbour} was told about {_listed(names)} in {_when(sessions)}. This study has no such table. "
            "If it has a later version under another name, the difference is about the rows that have changed."
        )
