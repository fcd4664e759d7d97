"""What was forgotten, so that it does not come back when sources are read again: hashes of rules and of names.

The words themselves would be in the file for ever. A hash is keyed by the file's own key: with the
file one can still try words one by one, but reading it shows none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from veilset.search.documents import Document
from veilset.search.rules import KINDS, Rule, handles

_SIZE = 16
Mark = tuple[str, int, bytes]
"""A kind, how many words or folders in a row, and the hash."""

NAME = "name"


class Remembered:
    """Hashes of rules and of words of names.

    Parameters
    ----------
    key : bytes
        What the hashes are keyed by.
    marks : iterable of Mark
        The hashes.
    """

    def __init__(self, key: bytes, marks: Iterable[Mark] = ()) -> None:
        self._key = key
        self._hashes: dict[tuple[str, int], set[bytes]] = {}
        for kind, length, digest in marks:
            self._hashes.setdefault((kind, length), set()).add(digest)
        self._hash = lru_cache(maxsize=1 << 18)(self._hash_of)

    def mark(self, rule: Rule) -> Mark:
        """The hash of a rule without wildcards."""
        return rule.kind, rule.length, self._hash(rule.kind, rule.value)

    def mark_name(self, word: str) -> Mark:
        """The hash of a word of a name, in lower case."""
        return NAME, 1, self._hash(NAME, word)

    def why(self, document: Document) -> str | None:
        """Which kind of rule covers a document; None: none does."""
        for (kind, length), hashes in self._hashes.items():
            known = next((one for one in KINDS if one == kind), None)
            if known and any(self._hash(kind, handle) in hashes for handle in handles(document, known, length)):
                return f"{kind} that was forgotten"
        return None

    def is_name(self, word: str) -> bool:
        """Whether a word in lower case belongs to such a name."""
        names = self._hashes.get((NAME, 1))
        return names is not None and self._hash(NAME, word) in names

    def _hash_of(self, kind: str, value: str) -> bytes:
        return blake2b(f"{kind}\0{value}".encode(errors="surrogatepass"), key=self._key, digest_size=_SIZE).digest()
