"""The engine in the user's own file: full-text search over the local documents. Nothing leaves the machine."""

from __future__ import annotations

from typing import Protocol

from veilset.search.engines.engine import MOST_RESULTS, Found
from veilset.search.ranking import Result


class _Finds(Protocol):
    def find(self, query: str, limit: int = 50) -> list[Result]: ...


class Embedded:
    """Search in the documents of a store.

    Parameters
    ----------
    store : Store
        Where they are.
    """

    name = "Your documents"
    destination = ""

    def __init__(self, store: _Finds) -> None:
        self._store = store

    def search(self, query: str, limit: int = MOST_RESULTS) -> Found:
        """The documents that match best."""
        return Found(self._store.find(query, limit))
