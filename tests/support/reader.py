"""A person with a profile: somebody who reads about research, sport and an illness, and mails a little."""

from veilset.search import Document
from veilset.search.store import Store

TEXTS = [
    *["research on search engines", "research: personalized search", "research on learning machines"] * 6,
    *["football: the cup final", "football and tennis results", "tennis racket strings"] * 4,
    *["diabetes: insulin and diet", "diabetes recipes"] * 4,
    *["jazz concert in town", "jazz trumpet lesson"] * 2,
]


def documents():
    """Some forty short documents, as a folder of notes."""
    return [
        Document(f"file:///notes/{at}.txt", "folder", text.partition(":")[0].title(), text, "/notes", language="en")
        for at, text in enumerate(TEXTS)
    ]


def reader_store(folder, **settings):
    """A store of this person, with some choices made."""
    store = Store.create(folder / "search.db")
    store.put(documents())
    store.set("profile", {"min_support": 3, "languages": ["en"]})
    for name, value in settings.items():
        store.set(name, value)
    return store
