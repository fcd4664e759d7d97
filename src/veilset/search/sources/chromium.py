"""The history of Chrome, Chromium, Edge and their like: `urls` and `visits` of `History`.

Times are microseconds since 1601.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from veilset.search.documents import Document
from veilset.search.sources.browser_files import copied, find_file
from veilset.search.sources.pages import Visit, pages
from veilset.search.sources.source import Notes, Source, time_of

EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
PER_SECOND = 1_000_000

_VISITED = """
SELECT substr(u.url, 1, 2001), substr(u.title, 1, 2001),
    max(u.last_visit_time, coalesce((SELECT max(visit_time) FROM visits WHERE url = u.id), 0))
FROM urls u WHERE u.visit_count > 0 AND u.hidden = 0
"""


def read_chromium(source: Source, notes: Notes) -> Iterator[Document]:
    """The pages that were visited; those that the browser hides are not among them."""
    with copied(find_file(source.path, "History", "a profile of Chrome, Chromium or Edge")) as file:
        file.require("urls", ("id", "url", "title", "visit_count", "hidden", "last_visit_time"), "a Chromium history")
        file.require("visits", ("url", "visit_time"), "a Chromium history")
        visits = []
        for address, title, stamp in file.ask(_VISITED):
            if isinstance(address, str):
                when = time_of(stamp, PER_SECOND, EPOCH)
                visits.append(Visit(address, title if isinstance(title, str) else "", when))
            else:
                notes.left_out["entry without an address"] += 1
    yield from pages(visits, source.name)
