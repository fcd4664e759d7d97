"""`Store`: documents, profile, settings and logs of one person, in one file that only this person can open."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from veilset.errors import InvalidArgument
from veilset.limits import Bounds
from veilset.search.checked_json import checked, with_digest
from veilset.search.database import Database, is_sealed
from veilset.search.document_rows import PAGE, PUT, as_document, as_row, plain, time_written
from veilset.search.documents import Document
from veilset.search.exclusions import Exclusions
from veilset.search.forgetting import Forgotten, compared
from veilset.search.homes import expanded
from veilset.search.profile import Profile
from veilset.search.ranking import Result
from veilset.search.records import Records
from veilset.search.rules import Rule
from veilset.search.traces import Traces
from veilset.search.weighing import Weighed, Weighing

_WORDS = 64  # of a query
_SNIPPET = 48  # words
_TERM_SETTINGS = ("hidden", "allowed", "sensitive", "frozen")


class Store(Records):
    """What a search profile is made from, and what was done with it.

    Use `create` or `open`, and close it, or use it in a ``with`` statement. Threads may share it.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._kept: tuple[str, Profile] | None = None

    @classmethod
    def create(cls, path: str | Path, *, passphrase: str | None = None) -> Self:
        """A new store. Folders above it are made for its owner only."""
        return cls(Database.create(expanded(path).absolute(), passphrase))

    @classmethod
    def open(cls, path: str | Path, *, passphrase: str | None = None) -> Self:
        """An existing store."""
        return cls(Database.open(expanded(path).absolute(), passphrase))

    @staticmethod
    def is_sealed(path: str | Path) -> bool:
        """Whether a store needs a passphrase."""
        return is_sealed(expanded(path))

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def close(self) -> None:
        """Close it. Whatever was changed is on the disk already."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def erase(self) -> None:
        """Delete the store with all that is in it."""
        self._database.erase()

    def put(self, documents: Iterable[Document]) -> int:
        """Add documents, or change those of the same source and key; how many are new or changed."""
        with self._database.changing():
            return self._put(documents)

    def replace(self, source: str, documents: Iterable[Document]) -> tuple[int, int]:
        """Make these all the documents of a source; how many are new or changed, and how many are no more."""
        with self._database.changing():
            self._database.do("CREATE TEMP TABLE kept (key TEXT PRIMARY KEY) WITHOUT ROWID")
            try:
                changed = self._put(self._noted(source, documents))
                gone = "source = ? AND key NOT IN (SELECT key FROM kept)"
                removed = self._database.do(f"DELETE FROM documents WHERE {gone}", source)  # noqa: S608
            finally:
                self._database.do("DROP TABLE kept")
            if removed:
                self._database.do("DELETE FROM profiles")
        if changed or removed:  # what a changed document said is still in the index
            self._database.shred()
        return changed, removed

    def exclude(self, exclusions: Exclusions, *, besides: Collection[str] = ()) -> int:
        """Remove documents that exclusions cover, and cut people out of the others; how many were removed.

        The sources *besides* were read with these exclusions.
        """
        going, changed = [], []
        for document in self.documents():
            if document.source in besides:
                continue
            if exclusions.why(document):
                going.append((document.source, document.key))
            elif (cleaned := exclusions.cleaned(document)) != document:
                changed.append(cleaned)
        with self._database.changing():
            self._put(changed)
            self._remove(going)
        if going or changed:
            self._database.shred()
        return len(going)

    def documents(self) -> Iterator[Document]:
        """All documents, by source and key. Those that are added or removed meanwhile may or may not be among them."""
        last = ("", "")
        while rows := self._database.ask(PAGE, *last):  # no statement stays open, which would forbid to forget
            yield from (as_document(self.path, row) for row in rows)
            last = rows[-1][:2]

    def __len__(self) -> int:
        ((count,),) = self._database.ask("SELECT count(*) FROM documents")
        return int(count)

    def sources(self) -> dict[str, int]:
        """The sources, and how many documents each has."""
        return dict(self._database.ask("SELECT source, count(*) FROM documents GROUP BY source ORDER BY source"))

    def titles(self, keys: Iterable[str]) -> dict[str, str]:
        """The titles of documents, by key."""
        found: dict[str, str] = {}
        for key in keys:
            for (title,) in self._database.ask(
                "SELECT title FROM documents WHERE key = ? ORDER BY source LIMIT 1", key
            ):
                found[key] = title
        return found

    def find(self, query: str, limit: int = 50) -> list[Result]:
        """The documents that have some word of the query, best first (BM25; titles count four times)."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)[:_WORDS])
        if not words:
            return []
        asked = limit
        while True:  # a document of several sources is found as often; by rank alone, as FTS5 sorts before it reads
            rows = self._database.ask(
                "SELECT d.key, d.title, snippet(found, 1, '', '', ' … ', ?) "
                "FROM found JOIN documents d ON d.id = found.rowid WHERE found MATCH ? ORDER BY rank LIMIT ?",
                _SNIPPET,
                words,
                asked,
            )
            best = {key: (title, snippet) for key, title, snippet in reversed(rows)}
            if len(rows) < asked or len(best) >= limit:
                break
            asked *= 2
        keys = list(dict.fromkeys(key for key, _, _ in rows))[:limit]
        return [
            Result(title=best[key][0] or key, snippet=best[key][1], address=key, rank=rank)
            for rank, key in enumerate(keys, start=1)
        ]

    def profile(self, **bounds: Any) -> Profile:
        """The profile of all documents, weighed by the settings of their sources; kept until one of these changes.

        *bounds* are those of `Profile.build`; those of the setting "profile" hold where none are given.
        """
        limits = {name: bounds.pop(name) for name in Bounds.__annotations__ if name in bounds}
        asked = {**self.get("profile", {}), **bounds}
        name = json.dumps(asked, sort_keys=True, default=str)
        with self._database.mutex:
            for (kept,) in self._database.ask("SELECT profile FROM profiles WHERE asked = ?", name):
                if self._kept is None or self._kept[0] != kept:
                    self._kept = kept, Profile.from_json(checked(self.path, kept))
                return self._kept[1]
            built = _built(self._weighed(self.documents()), asked, limits)
            self._kept = with_digest(built.to_json()), built
            with self._database.changing():
                self._database.do("INSERT OR REPLACE INTO profiles VALUES (?, ?)", name, self._kept[0])
        return built

    def _weighed(self, documents: Iterable[Document]) -> Weighed:
        return Weighing.of_setting(self.get("weighing", {})).weighed(documents)

    def weigh(self, weighing: Weighing) -> None:
        """Say how the documents of each source count, from now on."""
        self.set("weighing", weighing.to_setting())

    @property
    def version(self) -> int:
        """A number that grows when anybody changes the store; what was read before may no longer hold."""
        return self._database.version

    def to_json(self) -> dict[str, Any]:
        """Everything that is in the store, to take it elsewhere or to look at it."""
        logs = [name for (name,) in self._database.ask("SELECT DISTINCT log FROM entries ORDER BY log")]
        settings = self._database.ask("SELECT name, value FROM settings WHERE name <> 'remembering' ORDER BY name")
        return {
            "documents": [
                {**{name: getattr(document, name) for name in Document.__slots__}, "when": time_written(document.when)}
                for document in self.documents()
            ],
            "settings": {name: checked(self.path, value) for name, value in settings},
            "logs": {name: self.entries(name) for name in logs},
        }

    def forget(self, rule: Rule, *, dry_run: bool = False, remember: bool = True) -> Forgotten:
        """Remove what a rule covers, from the file and from the profile; or only say what would go.

        The profile is then the one that would have been built without these documents. The rule is remembered by its
        hash, so that a later build does not bring them back, unless *remember* is False or it has a wildcard.
        """
        with self._database.mutex:
            before = self.profile()
            going = [document for document in self.documents() if rule.matches(document)]
            keys = {(document.source, document.key) for document in going}
            after = self._without(before, keys) if going else before
            remembers = remember and not rule.has_wildcard
            traces = Traces(rule, before, after)
            judgements = self._judgements_without(traces, {key for _, key in keys})
            logs = {"sent": json.dumps(self.entries("sent"), ensure_ascii=False)}
            forgotten = compared(rule, going, before, after, remembered=remembers, logs=logs, judged=len(judgements))
            if not dry_run:
                self._forget(keys, after, forgotten, traces, judgements)
        return forgotten

    def _without(self, before: Profile, keys: Collection[tuple[str, str]]) -> Profile:
        """The profile without documents, as it would be built: if the others count as before, it need not be."""
        everything = self._weighed(self.documents())
        left = self._weighed(one for one in self.documents() if (one.source, one.key) not in keys)
        stay = {one.key for one in left.documents}
        unchanged = [pair for pair in zip(*everything, strict=True) if pair[0].key in stay]
        if unchanged != list(zip(*left, strict=True)):  # some are in another source, too, with another title or weight
            return _built(left, self.get("profile", {}), {})
        return before.without([one.key for one in everything.documents if one.key not in stay])

    def _forget(
        self,
        keys: Collection[tuple[str, str]],
        after: Profile,
        forgotten: Forgotten,
        traces: Traces,
        judgements: Mapping[int, dict[str, Any] | None],
    ) -> None:
        rule = forgotten.rule
        with self._database.changing():
            self._remove(sorted(keys))
            for name in _TERM_SETTINGS:
                if (value := self.get(name)) is not None:
                    self._set(name, traces.left_of(value))
            for number, left in judgements.items():
                if left is None:
                    self._database.do("DELETE FROM entries WHERE id = ?", number)
                else:
                    self._database.do("UPDATE entries SET entry = ? WHERE id = ?", with_digest(left), number)
            self._forget_sources({document.source for document in forgotten.documents} - self.sources().keys())
            if forgotten.remembered:
                self._remember([self.remembered().mark(rule)])
            self._database.do("DELETE FROM profiles")
            asked = json.dumps(self.get("profile", {}), sort_keys=True, default=str)
            self._database.do("INSERT INTO profiles VALUES (?, ?)", asked, with_digest(after.to_json()))
        self._database.shred()

    def _forget_sources(self, empty: Collection[str]) -> None:
        """Drop the names of sources that have no document any more: a name may be a path that says too much."""
        for name in empty:
            for number, entry in self._database.ask("SELECT id, entry FROM entries WHERE log = 'read'"):
                if checked(self.path, entry).get("source") == name:
                    self._database.do("DELETE FROM entries WHERE id = ?", number)
        if empty and (weighing := self.get("weighing")) is not None:
            left = {name: one for name, one in weighing["sources"].items() if name not in empty}
            self._set("weighing", {**weighing, "sources": left})

    def _put(self, documents: Iterable[Document]) -> int:
        changed = 0
        for document in documents:
            changed += self._database.do(PUT, *as_row(document))
        if changed:
            self._database.do("DELETE FROM profiles")
        return changed

    def _remove(self, keys: Sequence[tuple[str, str]]) -> None:
        """Remove documents by source and key."""
        self._database.do_all("DELETE FROM documents WHERE source = ? AND key = ?", keys)
        if keys:
            self._database.do("DELETE FROM profiles")

    def _noted(self, source: str, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            if document.source != source:
                raise InvalidArgument(
                    f"The document {document.key!r} is of source {document.source!r}, not {source!r}.",
                    "Replace the documents of one source at a time.",
                )
            self._database.do("INSERT OR IGNORE INTO kept VALUES (?)", plain(document.key))
            yield document


def _built(weighed: Weighed, asked: Mapping[str, Any], limits: Mapping[str, Any]) -> Profile:
    return Profile.build(weighed.documents, weights=weighed.weights, **asked, **limits)
