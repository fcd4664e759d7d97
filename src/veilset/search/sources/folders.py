"""Folders of texts, web pages, Markdown, PDF and docx files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

from veilset.search.documents import Document
from veilset.search.sources.extracting import SUFFIXES, Unextractable
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.private_files import Refused, files_below
from veilset.search.sources.source import Notes, Source


def read_folder(source: Source, notes: Notes, extractor: Extractor) -> Iterator[Document]:
    """The files of a folder and those below it; one that cannot be read is noted, and the rest goes on."""
    now = datetime.now(UTC)
    for file in files_below(source.path, notes, hidden=False):
        suffix = file.path.suffix.lower()
        when = datetime.fromtimestamp(file.changed, UTC).replace(microsecond=0)
        if suffix not in SUFFIXES:
            notes.left_out["file of another kind"] += 1
            continue
        if source.is_old(when, now):
            notes.left_out["older than the time window"] += 1
            continue
        try:
            found = extractor.extracted(suffix, file.read(source.most_bytes), source.characters)
        except (Refused, Unextractable) as error:
            notes.pass_over(str(file.path), str(error))
            continue
        key = f"file://{quote(os.fsencode(file.path))}"
        place = os.fsencode(file.path.parent).decode("utf-8", "replace")
        name = os.fsencode(file.path.stem).decode("utf-8", "replace")
        yield Document(
            key, source.name, found.title or name.replace("_", " ").replace("-", " "), found.text, place, when
        )
