"""Pages that were visited or marked: title and host of each distinct address, without its query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from veilset.search.documents import Document

_LONGEST_ADDRESS, _LONGEST_TITLE = 2000, 500
_START = datetime(1, 1, 1, tzinfo=UTC)


class Visit(NamedTuple):
    """An address as a browser has it."""

    address: str
    title: str
    when: datetime | None


def pages(visits: Iterable[Visit], source: str) -> Iterator[Document]:
    """A document for each distinct address, as it was titled last, and seen last; only addresses of the web."""
    latest: dict[str, Visit] = {}
    for visit in visits:
        if not (address := plain_address(visit.address)):
            continue
        title = " ".join(visit.title.split())[:_LONGEST_TITLE]
        known = latest.get(address)
        if known is None:
            latest[address] = Visit(address, title, visit.when)
        elif (visit.when or _START) >= (known.when or _START):
            latest[address] = Visit(address, title or known.title, visit.when)
        elif not known.title:
            latest[address] = known._replace(title=title)
    for address, title, when in latest.values():
        yield Document(address, source, title, "", host_without_www(address), when)


def plain_address(address: str) -> str:
    """An address of the web without its user, query and fragment; empty if it is none.

    >>> plain_address("HTTPS://me:secret@Example.org/a?q=b#c"), plain_address("file:///home/me")
    ('https://example.org/a', '')
    """
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or len(address) > _LONGEST_ADDRESS:
        return ""
    place = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, f"{place}:{port}" if port else place, parts.path.strip() or "/", "", ""))


def host_without_www(address: str) -> str:
    """The host of an address of the web."""
    return (urlsplit(address).hostname or "").removeprefix("www.")
