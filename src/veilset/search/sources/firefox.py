"""Firefox's history: `moz_places` and `moz_historyvisits` of `places.sqlite`. Times are microseconds since 1970."""

from __future__ import annotations

from collections.abc import Iterator

from veilset.search.documents import Document
from veilset.search.sources.browser_files import BrowserFile, copied, find_file
from veilset.search.sources.pages import Visit, pages
from veilset.search.sources.source import Notes, Source, time_of

PER_SECOND = 1_000_000
FILE, WHOSE = "places.sqlite", "a Firefox profile"

_VISITED = """
SELECT substr(p.url, 1, 2001), substr(p.title, 1, 2001),
    coalesce(p.last_visit_date, (SELECT max(visit_date) FROM moz_historyvisits WHERE place_id = p.id))
FROM moz_places p WHERE p.visit_count > 0 AND p.hidden = 0
"""


def read_firefox(source: Source, notes: Notes) -> Iterator[Document]:
    """The pages that were visited; redirects and frames, which Firefox hides, are not among them."""
    with copied(find_file(source.path, FILE, WHOSE)) as file:
        file.require("moz_places", ("url", "title", "visit_count", "hidden", "last_visit_date"), "a Firefox history")
        file.require("moz_historyvisits", ("place_id", "visit_date"), "a Firefox history")
        yield from pages(visits_in(file, _VISITED, notes), source.name)


def visits_in(file: BrowserFile, statement: str, notes: Notes) -> Iterator[Visit]:
    """The rows of a statement that asks for address, title and time."""
    for address, title, stamp in file.ask(statement):
        if isinstance(address, str):
            yield Visit(address, title if isinstance(title, str) else "", time_of(stamp, PER_SECOND))
        else:
            notes.left_out["entry without an address"] += 1
