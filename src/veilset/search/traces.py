"""What settings and judgements say of documents that are forgotten: it goes with them, unless other documents say it.

What the user has hidden stays hidden. So a name goes only if no document has its term any more, not if the term is
merely too rare for the profile; of a label such as personalized/search only the part that went.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from veilset.search.documents import Document
from veilset.search.node import BETWEEN_WORDS
from veilset.search.profile import Profile
from veilset.search.rules import Rule, host_of, words_of


class Traces:
    """What goes with documents.

    Parameters
    ----------
    rule : Rule
        What is forgotten.
    before, after : Profile
        Of all documents, and of those that stay.
    """

    def __init__(self, rule: Rule, before: Profile, after: Profile) -> None:
        self._rule, self._before, self._after = rule, before, after
        self._words = {*words_of(rule.value)} if rule.kind == "word" else set()

    def left_of(self, value: Any) -> Any:
        """A setting without them: in lists, as keys, and first in pairs, which go as a whole."""
        if isinstance(value, dict):
            named = ((self._name(name), inner) for name, inner in value.items())
            return {name: self.left_of(inner) for name, inner in named if name}
        if isinstance(value, list):
            return [left for one in value if (left := self._entry(one)) is not None]
        return value

    def left_of_judgement(self, entry: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any] | None:
        """A judgement whose results of these keys, or that the rule covers, are blank; None if its query is covered."""
        if self._rule.matches(Document("", "", entry["query"], "")):
            return None
        results = [
            ["", "", "", rank] if address in keys or self._covers(title, snippet, address) else [*given, rank]
            for *given, rank in entry["results"]
            for title, snippet, address in [given]
        ]
        return {**entry, "results": results}

    def _covers(self, title: str, snippet: str, address: str) -> bool:
        return self._rule.matches(Document(address, "", title, snippet, host_of(address)))

    def _entry(self, one: Any) -> Any:
        if isinstance(one, str):
            return self._name(one) or None
        if isinstance(one, list) and one and isinstance(one[0], str):
            return one if self._name(one[0]) == one[0] else None
        return self.left_of(one)

    def _name(self, name: str) -> str:
        """What is left of a label, or of a phrase; empty: nothing."""
        parts = (self._part(part) for part in name.split(BETWEEN_WORDS))
        return BETWEEN_WORDS.join(part for part in parts if part)

    def _part(self, part: str) -> str:
        words = part.split()
        return self._word(part) if len(words) < 2 else " ".join(filter(None, map(self._word, words)))

    def _word(self, word: str) -> str:
        """The word, if it may stay; another one for the same term, if documents only have that; or nothing."""
        if left := self._after.known_as(word):
            return left
        went = self._before.known_as(word) is not None or bool(self._words.intersection(words_of(word)))
        return "" if went else word
