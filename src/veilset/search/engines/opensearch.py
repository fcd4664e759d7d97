"""OpenSearch and Elasticsearch: one index of a server, such as that of a company or a library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veilset.errors import InvalidArgument
from veilset.search.asking import Message, NoAnswer, ask, checked_url
from veilset.search.engines.engine import MOST_RESULTS, Found, as_json, results_of
from veilset.views import clipped

_LARGEST = 20_000_000  # bytes of an answer: a field can hold a whole document


@dataclass(frozen=True)
class OpenSearch:
    """An index of OpenSearch or Elasticsearch.

    Parameters
    ----------
    address : str
        The index, such as ``https://search.example.org:9200/articles``. A name and a password can stand in it.
    title, text, link : str
        The fields of its documents that hold the title, the text and the address.
    seconds : float
        How long it may take.
    """

    address: str
    title: str = "title"
    text: str = "text"
    link: str = "url"
    seconds: float = 10

    name = "OpenSearch"

    def __post_init__(self) -> None:
        if checked_url(self.address).path.strip("/") == "":
            raise InvalidArgument(
                f"{Message('GET', self.address).host} is named without an index.",
                "Add the index to the address, such as https://search.example.org:9200/articles.",
            )

    @property
    def destination(self) -> str:
        """Where queries go."""
        return Message("GET", self.address).host

    def message(self, query: str, limit: int = MOST_RESULTS) -> Message:
        """What is sent. The query is text: nothing in it is an operator."""
        asked = {
            "size": limit,
            "_source": [self.title, self.text, self.link],
            "query": {"multi_match": {"query": query, "fields": [f"{self.title}^2", self.text]}},
        }
        body = json.dumps(asked, ensure_ascii=False).encode()
        return Message("POST", f"{self.address.rstrip('/')}/_search", kind="application/json", body=body)

    def search(self, query: str, limit: int = MOST_RESULTS) -> Found:
        """The documents of the index that match best."""
        who = f"OpenSearch at {self.destination}"
        answer = ask(self.message(query, limit), seconds=self.seconds, most=_LARGEST)
        if answer.status in (401, 403):
            raise NoAnswer(
                f"{who} does not let you in.", "Give a name and a password in the address: https://name:password@…."
            )
        if answer.status == 404:
            raise NoAnswer(f"{who} has no index of that name.", "Check the end of the address.")
        told = as_json(answer, who)
        hits = told.get("hits") if isinstance(told, Mapping) else None
        entries = hits.get("hits") if isinstance(hits, Mapping) else None
        if not isinstance(entries, list):
            raise NoAnswer(f"{who} answered without hits.", "Check that the address is an index of OpenSearch.")
        names = {"title": self.title, "snippet": self.text, "address": self.link}
        found = results_of([_source(entry) for entry in entries[:limit]], names, who)
        return Found(found.results, (*found.notes, *_incomplete(told, who)))


def _source(entry: Any) -> Any:
    return entry.get("_source") if isinstance(entry, Mapping) else None


def _incomplete(told: Mapping[str, Any], who: str) -> list[str]:
    """A sentence if not all of the index was searched."""
    shards = told.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else 0
    if told.get("timed_out") is True or (isinstance(failed, int) and failed > 0):
        return [f"{clipped(who)} did not search all of its index."]
    return []
