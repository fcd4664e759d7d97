"""SearXNG, which asks many engines of the web: its JSON interface.

Queries are sent as forms, not in the address: addresses are what servers and everything in between write into logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from veilset.search.asking import Message, NoAnswer, ask, checked_url
from veilset.search.engines.engine import MOST_RESULTS, Found, as_json, results_of
from veilset.views import clipped

_NAMES = {"title": "title", "snippet": "content", "address": "url"}
_LARGEST = 5_000_000  # bytes of an answer
_MOST_PAGES = 5  # of ten results or more


@dataclass(frozen=True)
class SearXNG:
    """An instance of SearXNG.

    Parameters
    ----------
    address : str
        Where it is, such as ``https://searx.example.org``.
    seconds : float
        How long it may take for each page of results.
    """

    address: str
    seconds: float = 10

    name = "SearXNG"

    def __post_init__(self) -> None:
        checked_url(self.address)

    @property
    def destination(self) -> str:
        """Where queries go."""
        return Message("GET", self.address).host

    def message(self, query: str, page: int = 1) -> Message:
        """What is sent for a page of results."""
        body = urlencode({"q": query, "format": "json", "pageno": page}).encode()
        return Message(
            "POST", f"{self.address.rstrip('/')}/search", kind="application/x-www-form-urlencoded", body=body
        )

    def search(self, query: str, limit: int = MOST_RESULTS) -> Found:
        """Its results, from as many pages as it takes."""
        entries: list[Any] = []
        silent: list[str] = []
        for page in range(1, _MOST_PAGES + 1):
            more, unresponsive = self._page(query, page)
            silent += [name for name in unresponsive if name not in silent]
            if _addresses(more) <= _addresses(entries):  # the last page again, or an empty one
                entries = entries or more
                break
            entries += more
            if len(entries) >= limit:
                break
        found = results_of(entries[:limit], _NAMES, self._who)
        if not silent:
            return found
        if not found.results:
            raise NoAnswer(
                f"{self._who} got no answer from: {', '.join(silent)}.", "Try again later, or other engines in it."
            )
        return Found(found.results, (*found.notes, f"{self._who} got no answer from: {', '.join(silent)}."))

    @property
    def _who(self) -> str:
        return f"SearXNG at {self.destination}"

    def _page(self, query: str, page: int) -> tuple[list[Any], list[str]]:
        """The entries of a page, and the engines that did not answer."""
        answer = ask(self.message(query, page), seconds=self.seconds, most=_LARGEST)
        if answer.status == 403:
            raise NoAnswer(
                f"{self._who} refuses to answer with JSON.",
                "Let whoever runs it add json to search.formats in its settings.yml, or use another instance.",
            )
        if answer.status == 429:
            raise NoAnswer(f"{self._who} has been asked too often.", "Wait a minute, or use another instance.")
        told = as_json(answer, self._who)
        entries = told.get("results") if isinstance(told, Mapping) else None
        if not isinstance(entries, list):
            raise NoAnswer(f"{self._who} answered without results.", "Check that the address is one of SearXNG.")
        pairs = told.get("unresponsive_engines")
        named = (
            [pair[0] if isinstance(pair, list) and pair else pair for pair in pairs] if isinstance(pairs, list) else []
        )
        return entries, [clipped(name, 40) for name in named if isinstance(name, str)]


def _addresses(entries: list[Any]) -> set[str]:
    return {str(entry.get("url")) for entry in entries if isinstance(entry, Mapping)}
