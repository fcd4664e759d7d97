"""Fills a store from sources: each is read by itself, and one that fails leaves the others, and what it had, alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from veilset.errors import VeilsetError
from veilset.limits import Limits
from veilset.search.documents import Document
from veilset.search.exclusions import Exclusions
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.reading import names_of_correspondents, read_source
from veilset.search.sources.source import Notes, Source
from veilset.search.store import Store
from veilset.search.weighing import SourceWeight, Weighing


@dataclass
class Built:
    """What became of sources.

    Parameters
    ----------
    notes : dict
        What was read of each source, by its name.
    changed, removed : int
        How many documents of the store are new or changed, and how many are no more in their sources.
    excluded : int
        How many documents of earlier builds are covered by rules of now, and were removed.
    """

    notes: dict[str, Notes] = field(default_factory=dict)
    changed: int = 0
    removed: int = 0
    excluded: int = 0

    def to_json(self) -> dict[str, Any]:
        """What a program is told."""
        return {
            "sources": {name: notes.to_json() for name, notes in self.notes.items()},
            "changed": self.changed,
            "removed": self.removed,
            "excluded": self.excluded,
        }


def preview(sources: Sequence[Source], exclusions: Exclusions, store: Store | None, limits: Limits) -> Built:
    """Read sources and keep nothing: what `build` would take is in the notes, document by document."""
    built = Built()
    for source, notes, documents in _read(sources, _complete(exclusions, sources, store), limits):
        notes.documents = [replace(document, text="") for document in documents]
        built.notes[source.name] = notes
    return built


def build(sources: Sequence[Source], exclusions: Exclusions, store: Store, limits: Limits) -> Built:
    """Read sources into the store. Each one's documents take the place of those that it had; others stay.

    Rules also hold for what is stored: documents of earlier builds that they cover are removed.
    """
    built = Built()
    complete = _complete(exclusions, sources, store)
    if "people" in exclusions.subjects:
        store.remember_names(complete.names)
    for source, notes, documents in _read(sources, complete, limits):
        built.notes[source.name] = notes
        if notes.failed is None:
            changed, removed = store.replace(source.name, documents)
            built.changed += changed
            built.removed += removed
        store.append("read", {"source": source.name, "kind": source.kind, **_counts(notes)})
    built.excluded = store.exclude(complete, besides=[name for name, notes in built.notes.items() if not notes.failed])
    weighing = Weighing.of_setting(store.get("weighing", {})).sources
    own = {source.name: SourceWeight(source.weight, source.half_life) for source in sources}
    store.weigh(Weighing(sources={**weighing, **own}))
    return built


def _complete(exclusions: Exclusions, sources: Iterable[Source], store: Store | None) -> Exclusions:
    """The exclusions with the names of correspondents, and with what is to stay forgotten."""
    names = names_of_correspondents(sources) if "people" in exclusions.subjects else set()
    complete = exclusions.knowing(names)
    if store is None:
        return complete
    remembered = store.remembered()
    return replace(complete, forgotten=remembered.why, is_name=remembered.is_name)


def _read(
    sources: Sequence[Source], exclusions: Exclusions, limits: Limits
) -> Iterable[tuple[Source, Notes, list[Document]]]:
    now = datetime.now(UTC)
    with Extractor() as extractor:
        for number, source in enumerate(sources):
            notes = Notes()

            def progress(done: int, name: str = source.name, number: int = number) -> None:
                limits.step(f"Reading {name}: {done:,} documents", number, len(sources))

            progress(0)
            try:
                documents = read_source(source, exclusions, notes, extractor, progress, now)
            except VeilsetError as error:
                notes.failed, notes.read, documents = error, 0, []
            yield source, notes, documents


def _counts(notes: Notes) -> dict[str, Any]:
    left_out = sum(notes.left_out.values())
    return {
        "read": notes.read,
        "left_out": left_out,
        "passed_over": len(notes.passed_over),
        "failed": bool(notes.failed),
    }
