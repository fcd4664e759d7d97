"""Engines as users name them: ``local``, ``searxng:https://…``, ``opensearch:https://…/index?title=headline``."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from veilset.errors import InvalidArgument, unknown
from veilset.search.engines.embedded import Embedded
from veilset.search.engines.engine import Engine
from veilset.search.engines.opensearch import OpenSearch
from veilset.search.engines.searxng import SearXNG

LOCAL = "local"
_FIELDS = {"title": "title", "text": "text", "link": "url"}


def engine_named(name: str, store: Any = None) -> Engine:
    """The engine of this name.

    >>> engine_named("searxng:https://searx.example.org").destination
    'searx.example.org'
    """
    kind, _, address = name.strip().partition(":")
    if kind == LOCAL and not address:
        if store is None:
            raise InvalidArgument(
                "The engine 'local' searches your documents, and there are none here.", "Name another."
            )
        return Embedded(store)
    if kind == "searxng":
        return SearXNG(address)
    if kind == "opensearch":
        place, _, query = address.partition("?")
        fields = dict(parse_qsl(query, keep_blank_values=True))
        for field in fields:
            if field not in _FIELDS:
                raise unknown("field", field, _FIELDS)
        title, text, link = (fields.get(field, usual) for field, usual in _FIELDS.items())
        return OpenSearch(place, title, text, link)
    raise unknown("engine", kind, (LOCAL, "searxng:ADDRESS", "opensearch:ADDRESS"))


def check_engine(name: str) -> str:
    """The name, if it is one of an engine."""
    if name.strip() != LOCAL:
        engine_named(name)
    return name.strip()
