"""Bookmarks: Firefox's tables, Chromium's JSON, and the HTML that every browser exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from veilset.errors import UnreadableInput
from veilset.search.documents import Document
from veilset.search.schema import PLAIN
from veilset.search.sources import chromium, firefox
from veilset.search.sources.browser_files import copied
from veilset.search.sources.firefox import visits_in
from veilset.search.sources.pages import Visit, pages
from veilset.search.sources.plain_files import opened
from veilset.search.sources.source import Notes, Source, time_of, whole_number
from veilset.search.sources.tame_html import tamed

_FILES = ("Bookmarks", firefox.FILE)
_BOOKMARK = 1  # of Firefox: 2 is a folder, 3 a line between others
_MARKED = f"""
SELECT substr(p.url, 1, 2001), substr(coalesce(b.title, p.title), 1, 2001), b.dateAdded
FROM moz_bookmarks b JOIN moz_places p ON p.id = b.fk
WHERE b.type = {_BOOKMARK}
"""  # noqa: S608 - a number of ours


def read_bookmarks(source: Source, notes: Notes) -> Iterator[Document]:
    """The pages that were marked, as the user has called them."""
    path = source.path
    if path.is_dir():
        path = next((path / name for name in _FILES if (path / name).is_file()), path / _FILES[0])
    head = _read(path, len(PLAIN))
    if head == PLAIN:
        with copied(path) as file:
            file.require("moz_places", ("id", "url", "title"), "a Firefox profile's file")
            file.require("moz_bookmarks", ("type", "fk", "title", "dateAdded"), "a Firefox profile's file")
            yield from pages(visits_in(file, _MARKED, notes), source.name)
        return
    text = _read(path, source.most_bytes + 1).decode("utf-8-sig", "replace")
    if len(text) > source.most_bytes:
        raise UnreadableInput(
            f"{str(path)!r} is larger than {source.megabytes} MB.", "Raise megabytes, or leave this source out."
        )
    found = _in_json(path, text) if text.lstrip().startswith("{") else _in_html(path, text)
    yield from pages(found, source.name)


def _in_json(path: Path, text: str) -> Iterator[Visit]:
    try:
        roots = json.loads(text)["roots"]
        waiting: list[Any] = list(roots.values())[::-1]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnreadableInput(f"{str(path)!r} has no bookmarks of Chromium.", "Check the path and the kind.") from None
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue  # the sums and versions that stand between folders
        children = node.get("children")
        waiting.extend(reversed(children) if isinstance(children, list) else ())
        if isinstance(address := node.get("url"), str) and node.get("type") == "url":
            added, title = node.get("date_added"), node.get("name")
            when = time_of(whole_number(added), chromium.PER_SECOND, chromium.EPOCH)
            yield Visit(address, title if isinstance(title, str) else "", when)


class _Links(HTMLParser):
    """The links of an exported file, with their texts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Visit] = []
        self._open: tuple[str, str] | None = None
        self._title: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._close()
        given = dict(attrs)
        if tag == "a" and (address := given.get("href")):
            self._open = address, given.get("add_date") or ""

    def handle_endtag(self, tag: str) -> None:
        self._close()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._title.append(data)

    def _close(self) -> None:
        if self._open:
            address, added = self._open
            self.found.append(Visit(address, "".join(self._title), time_of(whole_number(added), 1)))
        self._open, self._title = None, []


def _in_html(path: Path, text: str) -> list[Visit]:
    if "<a " not in text[:100_000].lower() and "netscape-bookmark-file" not in text[:1000].lower():
        raise UnreadableInput(
            f"{str(path)!r} has no bookmarks: it is neither Chromium's JSON nor an exported page of links.",
            "Export the bookmarks as HTML, or name the browser's own file.",
        )
    links = _Links()
    links.feed(tamed(text))
    links.close()
    return links.found


def _read(path: Path, most: int) -> bytes:
    with opened(path) as stream:
        try:
            return stream.read(most)
        except OSError as error:
            raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None
