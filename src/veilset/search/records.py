"""Settings and logs of a store, and what is to stay forgotten."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from veilset.search.checked_json import checked, with_digest
from veilset.search.database import Database
from veilset.search.remembered import Mark, Remembered
from veilset.search.rules import Rule
from veilset.search.traces import Traces

_OF_PROFILES = ("profile", "weighing")  # settings that make another profile of the same documents


class Records:
    """Named settings, logs that only grow, and hashes of what is to stay forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str, default: Any = None) -> Any:
        """A setting; *default* if it was never set."""
        for (value,) in self._database.ask("SELECT value FROM settings WHERE name = ?", name):
            return checked(self._database.path, value)
        return default

    def set(self, name: str, value: Any) -> None:
        """Change a setting to something that JSON has."""
        with self._database.changing():
            self._set(name, value)

    def append(self, log: str, entry: Mapping[str, Any]) -> None:
        """Add an entry to a log, with the time (UTC). Nothing changes or removes what was sent."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._database.changing():
            self._database.do(
                "INSERT INTO entries (log, at, entry) VALUES (?, ?, ?)", log, now, with_digest(dict(entry))
            )

    def entries(self, log: str) -> list[dict[str, Any]]:
        """The entries of a log, oldest first, each with its time as ``"at"``."""
        rows = self._database.ask("SELECT at, entry FROM entries WHERE log = ? ORDER BY id", log)
        return [{"at": at, **checked(self._database.path, entry)} for at, entry in rows]

    def remembered(self) -> Remembered:
        """What is to stay forgotten."""
        key = self.get("remembering")
        if key is None:
            key = secrets.token_hex(32)
            self.set("remembering", key)
        marks = self._database.ask("SELECT kind, length, digest FROM remembered")
        return Remembered(bytes.fromhex(key), marks)

    def remember_names(self, words: Iterable[str]) -> None:
        """Cut these words of names, in lower case, out of whatever is read from now on."""
        remembered = self.remembered()
        with self._database.changing():
            self._remember([remembered.mark_name(word) for word in sorted(set(words))])

    def readmit(self, rule: Rule) -> bool:
        """Let a later build bring back what a rule covers; whether it was to stay forgotten."""
        mark = self.remembered().mark(rule)
        where = "kind = ? AND length = ? AND digest = ?"
        with self._database.changing():
            return bool(self._database.do(f"DELETE FROM remembered WHERE {where}", *mark))  # noqa: S608

    def _judgements_without(self, traces: Traces, keys: Collection[str]) -> dict[int, dict[str, Any] | None]:
        """The judgements that change, by their numbers, and what becomes of each; None: it goes."""
        found = {}
        for number, written in self._database.ask("SELECT id, entry FROM entries WHERE log = 'judgements'"):
            entry = checked(self._database.path, written)
            if (left := traces.left_of_judgement(entry, keys)) != entry:
                found[number] = left
        return found

    def _remember(self, marks: Sequence[Mark]) -> None:
        self._database.do_all("INSERT OR IGNORE INTO remembered VALUES (?, ?, ?)", marks)

    def _set(self, name: str, value: Any) -> None:
        self._database.do("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, with_digest(value))
        if name in _OF_PROFILES:
            self._database.do("DELETE FROM profiles")
