"""Cuts people out of titles and texts: their names, their addresses, and numbers that belong to them.

Names come from two places: the people whom the user writes to or hears from, as headers of mail spell them, and given
names that many people have, together with the capitalised words that follow. This finds most names, not all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from unicodedata import normalize

from veilset.search.name_words import GIVEN_NAMES, NOT_PEOPLE
from veilset.search.rules import words_of

_LETTER = r"[^\W\d_]"
_WORD = rf"{_LETTER}+(?:['’-]{_LETTER}+)*"
_NAME = re.compile(_WORD)
_JOINS, _JOINS_INITIAL = re.compile(r"[ \t]+"), re.compile(r"\.?[ \t]+")
_FULL_NAME = re.compile(r"(?:[ \t]+[A-ZÀ-ÖØ-Þ]\.)?[ \t]+[A-ZÀ-ÖØ-ÞĀ-ſ]")
_E_MAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){6,30}(?![\w])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_STREET = re.compile(
    rf"\b\d{{1,5}}[a-z]?\s+(?:{_WORD}\s+){{1,3}}(?:street|st|road|rd|avenue|ave|lane|ln|drive|boulevard|blvd|square)\b\.?"
    rf"|\b{_LETTER}*(?:straße|strasse|str\.|weg|platz|allee|gasse)\s+\d{{1,4}}[a-z]?\b"
    rf"|\b\d{{1,4}},?\s+(?:rue|avenue|boulevard|place|chemin|calle|via|piazza)\s+{_WORD}(?:\s+{_WORD}){{0,3}}",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}[:.]?\d{2})?")


def names_in(display_name: str, address: str) -> set[str]:
    """The words of a correspondent's name; none if a company or a machine writes under it.

    >>> sorted(names_in("Ann Miller", "ann@miller.org")), names_in("GitHub", "noreply@github.com")
    (['ann', 'miller'], set())
    """
    local, _, domain = address.casefold().partition("@")
    words = words_of(display_name) if display_name and "@" not in display_name else words_of(local)
    if NOT_PEOPLE & {*words, *words_of(local.replace("-", "")), *words_of(local)}:
        return set()
    if not words or len(words) > 5 or all(word in words_of(domain) for word in words):
        return set()
    return {word for word in words if len(word) > 1 and not any(letter.isdigit() for letter in word)}


class People:
    """Cuts people out of texts.

    Parameters
    ----------
    names : iterable of str
        Words of names, in lower case, that are cut out wherever they stand.
    also : callable, optional
        Says of a word in lower case whether it is such a name, too.
    """

    def __init__(self, names: Iterable[str] = (), also: Callable[[str], bool] | None = None) -> None:
        self.names = frozenset(names)
        self._also = also or (lambda word: False)

    def cut_from(self, text: str) -> str:
        """The text without people.

        >>> People({"ann"}).cut_from("Ann: ask Robert J. Brown, bob@example.org or +1 555 123-4567, about jazz")
        ': ask ,  or , about jazz'
        """
        text = normalize("NFC", text)  # files of some systems write ü as u and two dots
        for pattern in (_E_MAIL, _IBAN, _STREET):
            text = pattern.sub("", text)
        text = _NUMBER.sub(lambda found: found[0] if _ISO_DATE.fullmatch(found[0]) else "", text)
        return "".join(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        """What stays of a text: all but the names, with what stood between them."""
        kept_from, left, joins = 0, 0, _JOINS  # left: words that may follow in the full name that is being cut out
        for found in _NAME.finditer(text):
            word = found[0]
            if left and word[0].isupper() and joins.fullmatch(text, kept_from, found.start()):
                left -= 1
            elif word[0].isupper() and word.casefold() in GIVEN_NAMES and _FULL_NAME.match(text, found.end()):
                left = 2
                yield text[kept_from : found.start()]
            elif any(part in self.names or self._also(part) for part in words_of(word)):
                left = 0
                yield text[kept_from : found.start()]
            else:
                left = 0
                continue
            kept_from, joins = found.end(), _JOINS_INITIAL if len(word) == 1 else _JOINS
        yield text[kept_from:]
