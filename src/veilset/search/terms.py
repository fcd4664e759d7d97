"""From text to terms: words, without those that say nothing, reduced to their stems (thesis §5.2.1, preprocessing).

A stem stands for all its words; people are shown words. A host such as nytimes.com is one term: visited sites are
interests, too. The language of a text is the one whose stop-words it has most of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unicodedata import normalize

from veilset.errors import unknown
from veilset.views import installed

SEARCH_EXTRA = "'veilset[search]'"
_NEEDED_FOR = "Private personalised search"

LANGUAGES = {
    "en": "english",
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Languages with both a stemmer and a list of stop-words, by their code."""

_LONGEST = 40  # longer ones are keys and encoded data, not words
_ENOUGH = 1000  # words that tell the language of any text
_BARE_HOSTS = "com|org|net|edu|gov|int|info|io|eu|uk|de|fr|nl|ch|at|it|es|se|no|dk|pl|ca|au|jp|cn|ru|br"
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"  # bounded, like all below: any text takes time in proportion
_TOKENS = re.compile(
    rf"(?:https?://|\bwww\.)(?P<site>{_LABEL}(?:\.{_LABEL}){{1,9}})\S*"  # what follows the host may be anything
    r"|(?P<person>(?>[\w.+%-]{1,64})@\w[\w.-]*)"
    rf"|(?<![\w.])(?P<host>(?:{_LABEL}\.){{1,9}}(?:{_BARE_HOSTS}))(?!\w)"
    r"|(?P<word>[^\W_]+(?:['’][^\W_]+)*)"
)
_HOST = re.compile(rf"(?:www\.)?(?P<host>{_LABEL}(?:\.{_LABEL}){{0,9}}\.[a-z][a-z0-9-]{{0,61}}[a-z0-9])", re.IGNORECASE)

_TOPICS = {
    "en": frozenset(
        [
            "computer",
            "home",
            "homepage",
            "information",
            "invention",
            "man",
            "member",
            "members",
            "men",
            "microsoft",
            "netscape",
            "novel",
            "research",
            "room",
            "rooms",
            "state",
            "states",
            "system",
            "test",
            "text",
            "web",
            "webpage",
            "website",
            "world",
        ]
    )
}
"""What the library's lists have besides words that say nothing: people are interested in these."""

Unit = tuple[str, str]
"""A stem, and a word that it came from."""


def host_of(place: str) -> str:
    """The host that a place is, without "www."; empty if it is a folder, a sender or anything else.

    >>> host_of("www.nytimes.com"), host_of("/home/me/notes"), host_of("me@example.org")
    ('nytimes.com', '', '')
    """
    found = _HOST.fullmatch(place)
    return found["host"].lower() if found else ""


def check_languages(languages: Iterable[str] | None) -> tuple[str, ...]:
    """The languages to expect, by code; all if none are given. The first stands in where a text does not tell."""
    given = tuple(dict.fromkeys(LANGUAGES if languages is None else languages))
    for code in given:
        if code not in LANGUAGES:
            raise unknown("language", code, LANGUAGES)
    return given or tuple(LANGUAGES)


@dataclass(frozen=True)
class Terms:
    """Texts to terms, in the languages that are expected.

    Parameters
    ----------
    languages : tuple of str
        Codes such as ``"en"``. The first is taken for texts in which no stop-word tells the language.

    Examples
    --------
    >>> terms = Terms(("en", "de"))
    >>> terms.units("Searching for searches on www.nytimes.com")
    [('search', 'searching'), ('search', 'searches'), ('nytimes.com', 'nytimes.com')]
    >>> terms.language_of("Die Katze ist nicht auf dem Dach")
    'de'
    """

    languages: tuple[str, ...] = tuple(LANGUAGES)
    _units: dict[tuple[str, str], Unit | None] = field(default_factory=dict, repr=False, compare=False)

    def language_of(self, text: str) -> str:
        """The language whose stop-words the text has most of. A word of several languages counts in part for each."""
        return self._detected([token for token, is_word in _found(text) if is_word])

    def units(self, text: str, language: str | None = None) -> list[Unit]:
        """The stem and the word of each term in the text, in order; stop-words, numbers and single signs are not."""
        tokens = list(_found(text))
        if language not in LANGUAGES:
            language = self._detected([token for token, is_word in tokens if is_word])
        units = (self._unit(token, language) if is_word else (token, token) for token, is_word in tokens)
        return [unit for unit in units if unit is not None]

    def tokens(self, text: str) -> list[str]:
        """All words and hosts of the text, in order; addresses of people are none."""
        return [token for token, _ in _found(text)]

    def stem(self, token: str, language: str) -> str:
        """The stem of a word in a language; a host is its own."""
        return token if "." in token else _stemmer(language)(token)

    def _detected(self, words: Sequence[str]) -> str:
        if len(self.languages) == 1:
            return self.languages[0]
        votes = dict.fromkeys(self.languages, 0.0)
        shares = _stop_word_votes(self.languages)
        for word in words[:_ENOUGH]:
            codes = shares.get(word, ())
            for code in codes:
                votes[code] += 1 / len(codes)
        return max(self.languages, key=votes.__getitem__)

    def _unit(self, word: str, language: str) -> Unit | None:
        asked = (language, word)
        if asked not in self._units:
            self._units[asked] = _unit(word, language)
        return self._units[asked]


def _found(text: str) -> Iterator[tuple[str, bool]]:
    """The words and hosts of a text, and whether each is a word."""
    for found in _TOKENS.finditer(normalize("NFKC", text).lower()):
        if word := found["word"]:
            yield word.replace("’", "'"), True
        elif host := found["site"] or found["host"]:
            yield host.removeprefix("www."), False


def _unit(word: str, language: str) -> Unit | None:
    if len(word) > _LONGEST or (len(word) == 1 and word.isascii()) or _is_number(word):
        return None
    if word in _stop_words(language) and word not in _TOPICS.get(language, ()):
        return None
    return _stemmer(language)(word), word


def _is_number(word: str) -> bool:
    """A number, or a code that is mostly digits; mp3 and covid19 are words."""
    digits = sum(map(str.isnumeric, word))
    return digits == len(word) or (len(word) > 4 and 2 * digits >= len(word))


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    library: Any = installed("Stemmer", _NEEDED_FOR, SEARCH_EXTRA)
    stem: Callable[[str], str] = library.Stemmer(LANGUAGES[language]).stemWord
    return stem


@cache
def _stop_words(language: str) -> frozenset[str]:
    library: Any = installed("stop_words", _NEEDED_FOR, SEARCH_EXTRA)
    return frozenset(word.lower().replace("’", "'") for word in library.get_stop_words(LANGUAGES[language]))


@cache
def _stop_word_votes(languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The languages in which a word is a stop-word."""
    found: dict[str, list[str]] = {}
    for code in languages:
        for word in _stop_words(code):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
