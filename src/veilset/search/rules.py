"""Rules on what is no part of a profile: sites, folders, senders, words, sources and single documents.

A rule speaks of a document's *handles*: names that can be read off the document alone. So the same rule works forwards,
when a source is read, and backwards, on what is stored; and what was forgotten can be remembered by hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import Literal, get_args
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from veilset.errors import InvalidArgument, unknown
from veilset.search.documents import Document
from veilset.search.homes import expanded

Kind = Literal["site", "folder", "sender", "word", "source", "document"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_EXAMPLES: dict[Kind, str] = {
    "site": "example.org",
    "folder": "taxes",
    "sender": "ann@example.org",
    "word": "divorce",
    "source": "mail",
    "document": "https://example.org/page",
}
_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case.

    >>> words_of("The Cat's toys")
    ['the', 'cat', 's', 'toys']
    """
    return _WORD.findall(normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Rule:
    """What is to be left out, or forgotten.

    Parameters
    ----------
    kind : str
        What it is about. A site covers its subdomains, and mail from and to it. A folder is a path, or names in a row
        anywhere in one. A sender is an address; the rule covers mail to it, too. A word may be several in a row.
    value : str
        Which one, as `of` writes it. ``*`` stands for any letters of a site, an address or a word.
    """

    kind: Kind
    value: str

    @classmethod
    def of(cls, kind: str, value: str) -> Rule:
        """The rule for what a user wrote.

        >>> Rule.of("site", "https://News.example.org/today"), Rule.of("word", "Custody  Battle")
        (Rule(kind='site', value='news.example.org'), Rule(kind='word', value='custody battle'))
        """
        if kind not in KINDS:
            raise unknown("kind of rule", kind, KINDS)
        known: Kind = next(one for one in KINDS if one == kind)
        cleaned = _CLEANED.get(known, str)(value.strip())
        if not cleaned.replace("*", ""):
            raise InvalidArgument(
                f"The {kind} {value!r} is no {kind}.", f"Write it like {kind} = {_EXAMPLES[known]!r}."
            )
        return cls(known, cleaned)

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"

    @property
    def has_wildcard(self) -> bool:
        """Whether it stands for several handles."""
        return "*" in self.value and self.kind not in ("folder", "source", "document")

    def matches(self, document: Document) -> bool:
        """Whether it covers a document."""
        if self.has_wildcard:
            return any(self._pattern.match(handle) for handle in handles(document, self.kind, self.length))
        return self.value in handles(document, self.kind, self.length)

    @property
    def length(self) -> int:
        """How many words or folders in a row it names."""
        if self.kind == "word":
            return len(self.value.split())
        return len(self.value.strip("/").split("/")) if self.kind == "folder" else 1

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(translate(self.value.replace("[", "[[]").replace("?", "[?]")))


def handles(document: Document, kind: Kind, length: int = 1) -> set[str]:
    """The names of this kind by which a rule of so many words, or folders in a row, can cover a document."""
    match kind:
        case "source":
            return {document.source}
        case "document":
            return {document.key}
        case "site":
            return {suffix for host in hosts_of(document) for suffix in _suffixes(host)}
        case "sender":
            return set(addresses_of(document))
        case "folder":
            return set(_folders(document, length))
        case "word":
            return set(_in_a_row(_all_words(document), length))


def hosts_of(document: Document) -> list[str]:
    """The host of a page, or those of the addresses of a message."""
    if document.key.startswith(("http:", "https:")):
        return [host] if (host := host_of(document.key)) else []
    return [address.rpartition("@")[2] for address in addresses_of(document)]


def host_of(address: str) -> str:
    """The host of a web address, in lower case; empty if it has none.

    >>> host_of("https://me@News.Example.org:8080/a?b"), host_of("mailto:ann@example.org")
    ('news.example.org', '')
    """
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:  # an address in brackets that is none
        return ""


def addresses_of(document: Document) -> list[str]:
    """Who wrote and who received a message; empty for anything else."""
    return document.place.split() if document.key.startswith("mid:") else []


def _suffixes(host: str) -> Iterator[str]:
    labels = host.split(".")
    for start in range(len(labels)):
        yield ".".join(labels[start:])


def _folders(document: Document, length: int) -> Iterator[str]:
    """Of a file: the paths above it, and the names in a row on the way to it."""
    if not document.key.startswith("file:"):
        return
    parts = [part for part in unquote(urlsplit(document.key).path).split("/")[:-1] if part]
    for end in range(1, len(parts) + 1):
        yield "/" + "/".join(parts[:end])
    yield from ("/".join(row.split("\0")) for row in _rows([part.casefold() for part in parts], length))


def _all_words(document: Document) -> list[str]:
    address = f" {unquote(document.key)}" if document.key.startswith(("http:", "https:", "file:")) else ""
    return words_of(f"{document.title} \n {document.text}{address}")


def _in_a_row(words: list[str], length: int) -> Iterator[str]:
    return (row.replace("\0", " ") for row in _rows(words, length))


def _rows(parts: list[str], length: int) -> Iterator[str]:
    return ("\0".join(parts[start : start + length]) for start in range(len(parts) - length + 1))


def _site(value: str) -> str:
    host = host_of(value) if "//" in value else value.partition("/")[0].casefold()
    return host.strip(".").removeprefix("*.")


def _folder(value: str) -> str:
    if value.startswith(("/", "~")):
        return str(expanded(value)).rstrip("/")
    return value.strip("/").casefold()


def _word(value: str) -> str:
    return " ".join(re.findall(r"[\w*]+", normalize("NFKC", value).casefold()))


_CLEANED = {"site": _site, "folder": _folder, "sender": str.casefold, "word": _word}
