"""Documents as rows of a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veilset.search.documents import Document
from veilset.search.schema import damaged

COLUMNS = ("source", "key", "title", "text", "place", "seen", "language")
_CHANGING = COLUMNS[2:]

PAGE = f"SELECT {', '.join(COLUMNS)} FROM documents WHERE (source, key) > (?, ?) ORDER BY source, key LIMIT 500"  # noqa: S608
"""The rows after those of a source and a key."""

PUT = (
    f"INSERT INTO documents ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) "  # noqa: S608
    f"ON CONFLICT (source, key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _CHANGING)} "
    f"WHERE {' OR '.join(f'documents.{name} IS NOT excluded.{name}' for name in _CHANGING)}"
)
"""Adds a row, or changes the one of the same source and key if it differs."""


def as_row(document: Document) -> tuple[str | None, ...]:
    """The values of a document, in the order of `COLUMNS`."""
    when = time_written(document.when)
    values = document.source, document.key, document.title, document.text, document.place, when, document.language
    return tuple(map(plain, values))


def time_written(when: datetime | None) -> str | None:
    """A time as a store has it, in UTC."""
    return None if when is None else when.astimezone(UTC).isoformat(timespec="seconds")


def plain(value: str | None) -> str | None:
    """Without zero characters and halves of surrogate pairs, which SQLite would cut off or refuse."""
    return None if value is None else value.replace("\0", " ").encode(errors="replace").decode()


def as_document(path: Path, row: Sequence[Any]) -> Document:
    """The document of a row; an error if the store at *path* cannot have written it."""
    source, key, title, text, place, seen, language = row
    if not all(isinstance(one, str) for one in (*row[:5], seen or "", language or "")):
        raise damaged(path, "a document in it has values of another kind")
    try:
        when = None if seen is None else datetime.fromisoformat(seen).astimezone(UTC)
    except (ValueError, OverflowError):
        raise damaged(path, f"a document in it has the time {seen!r}") from None
    return Document(key, source, title, text, place, when, language)
