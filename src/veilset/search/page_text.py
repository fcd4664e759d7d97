"""The texts of pages that were fetched, read in a process of its own: strangers have written them."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from veilset.search.asking import NoAnswer
from veilset.search.sources.extracting import Unextractable
from veilset.search.sources.extractor import Extractor

_MOST = 200_000  # characters
_SUFFIXES = {"text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt"}


class PageTexts:
    """Reads pages one after the other; use it in a ``with`` statement, which ends the process."""

    def __init__(self, patience: float = 10) -> None:
        self._extractor = Extractor(patience)

    def __enter__(self) -> Self:
        self._extractor.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._extractor.__exit__(kind, error, trace)

    def __call__(self, body: bytes, kind: str) -> str:
        """What a page of this kind says; an error if it says nothing."""
        try:
            text = self._extractor.extracted(_SUFFIXES[kind], body, _MOST).text
        except Unextractable as why:
            raise NoAnswer(f"The page has no text: {why}.", "Open it yourself.") from None
        if not text.strip():
            raise NoAnswer("The page has no text.", "Open it yourself.")
        return text
