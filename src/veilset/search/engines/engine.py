"""What a search engine is here, so that others can be used, too: a class with these three things."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from veilset.search.asking import Answer, NoAnswer
from veilset.search.ranking import Result
from veilset.views import Count

MOST_RESULTS = 50
"""How many results are asked for and ranked anew (thesis §5.3.1)."""

_LONGEST_TITLE, _LONGEST_SNIPPET, _LONGEST_ADDRESS = 300, 2_000, 2_000
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Found:
    """What an engine found.

    Parameters
    ----------
    results : list of Result
        In the engine's order.
    notes : tuple of str
        What the user should know about them, a sentence each.
    """

    results: list[Result]
    notes: tuple[str, ...] = ()


class Engine(Protocol):
    """A search engine.

    Attributes
    ----------
    name : str
        What people call it.
    destination : str
        The host that queries are sent to; empty if they stay on this machine.
    """

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def destination(self) -> str:
        """The host that queries are sent to; empty if they stay on this machine."""
        ...

    def search(self, query: str, limit: int = MOST_RESULTS) -> Found:
        """At most *limit* results; an error of ours says why there can be none."""
        ...


def as_json(answer: Answer, who: str) -> Any:
    """An answer as JSON, if it says that all is well and is JSON."""
    if answer.status != 200:
        raise NoAnswer(f"{who} answered with the status {answer.status}.", "Check its address, and try again later.")
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        kind = answer.kind or "nothing that is named"
        raise NoAnswer(f"{who} answered with {kind}, not with JSON.", "Check that the address is its search.") from None


def results_of(entries: Iterable[Any], names: Mapping[str, str], who: str) -> Found:
    """The results in a list of an engine's answer.

    Parameters
    ----------
    entries : iterable
        What should be the results, each a JSON object.
    names : mapping
        What the engine calls title, snippet and address.
    who : str
        The engine, for messages.
    """
    results: list[Result] = []
    unusable = 0
    seen = set()
    for entry in entries:
        values = {key: _text(entry.get(name)) for key, name in names.items()} if isinstance(entry, Mapping) else {}
        address = values.get("address", "")
        if not (address.lower().startswith(("http://", "https://")) and len(address) <= _LONGEST_ADDRESS):
            unusable += 1
            continue
        if address in seen:
            continue  # the same page from another source of the engine
        seen.add(address)
        title = values["title"][:_LONGEST_TITLE] or address
        results.append(Result(title, values["snippet"][:_LONGEST_SNIPPET], address, len(results) + 1))
    if unusable and not results:
        raise NoAnswer(
            f"{who} answered with {unusable:,} results, none with an address.", "Check what its fields are called."
        )
    left_out = f"{unusable:,} {Count(unusable):result has|results have} no address of the web: left out."
    return Found(results, (left_out,) if unusable else ())


def _text(value: object) -> str:
    """A text in one line; anything else is none."""
    return encodable(_BLANKS.sub(" ", value).strip()) if isinstance(value, str) else ""


def encodable(text: str) -> str:
    """A text without halves of surrogate pairs, which JSON can hold and nothing can show.

    >>> encodable("a\\ud800b")
    'a?b'
    """
    return text.encode(errors="replace").decode()
