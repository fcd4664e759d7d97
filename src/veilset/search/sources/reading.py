"""Reads a source: within its time window, without what is left out, and no more of it than the user wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from heapq import nlargest

from veilset.errors import VeilsetError
from veilset.search.documents import Document
from veilset.search.exclusions import Exclusions
from veilset.search.sources.bookmarks import read_bookmarks
from veilset.search.sources.chromium import read_chromium
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.firefox import read_firefox
from veilset.search.sources.folders import read_folder
from veilset.search.sources.mailboxes import correspondent_names, read_mail
from veilset.search.sources.source import Notes, Source, SourceKind

Progress = Callable[[int], None]
"""Called with the number of documents that were read so far."""

_EVERY = 100  # documents
_START = datetime(1, 1, 1, tzinfo=UTC)

_READERS: dict[SourceKind, Callable[[Source, Notes, Extractor], Iterator[Document]]] = {
    "firefox": lambda source, notes, _: read_firefox(source, notes),
    "chromium": lambda source, notes, _: read_chromium(source, notes),
    "bookmarks": lambda source, notes, _: read_bookmarks(source, notes),
    "mbox": read_mail,
    "maildir": read_mail,
    "folder": read_folder,
}


def read_source(
    source: Source,
    exclusions: Exclusions,
    notes: Notes,
    extractor: Extractor,
    progress: Progress = lambda done: None,
    now: datetime | None = None,
) -> list[Document]:
    """The documents of a source that are to be in the profile, by key.

    If there are more than the user wants, the newest are taken. Raises if the source cannot be read at all.
    """
    taken = _taken(_READERS[source.kind](source, notes, extractor), source, exclusions, notes, now or datetime.now(UTC))
    newest = nlargest(source.most + 1, _counted(taken, progress), key=lambda one: (one.when or _START, one.key))
    if len(newest) > source.most:
        newest.pop()
        notes.left_out[f"beyond the newest {source.most:,}"] += notes.read - source.most
    notes.read = len(newest)
    return sorted(newest, key=lambda one: one.key)


def names_of_correspondents(sources: Iterable[Source]) -> set[str]:
    """The words of the names of all whom the user wrote to or heard from; a mailbox that cannot be read has none."""
    names: set[str] = set()
    for source in sources:
        if source.kind in ("mbox", "maildir"):
            try:
                names |= correspondent_names(source)
            except VeilsetError:
                continue  # it is told when the source is read
    return names


def _taken(
    documents: Iterable[Document], source: Source, exclusions: Exclusions, notes: Notes, now: datetime
) -> Iterator[Document]:
    for document in documents:
        if source.is_old(document.when, now):
            notes.left_out["older than the time window"] += 1
        elif why := exclusions.why(document):
            notes.left_out[why] += 1
        else:
            notes.read += 1
            cleaned = exclusions.cleaned(document)
            yield replace(cleaned, text=cleaned.text[: source.characters])


def _counted(documents: Iterable[Document], progress: Progress) -> Iterator[Document]:
    for done, document in enumerate(documents, start=1):
        if done % _EVERY == 0:
            progress(done)
        yield document
