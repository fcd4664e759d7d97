"""Twins: public items that would be sensitive but for case, blanks, Unicode form or punctuation.

A list that names "B20.3" does not take "b20.3" or " B20.3": to the letter, these are other items, and stay public.
Names are compared once such differences are folded away, in time linear in the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, normalize

if TYPE_CHECKING:
    from veilset.transactions.sensitive import Entry

_SIGNS = re.compile(r"[\W_]+", re.ASCII)
_PIECES = re.compile(r"(?P<set>\[!?+\]?+[^\]]*+\])|(?P<wild>[*?])|(?P<text>[^*?\[]+)")


class Twin(NamedTuple):
    """A public item, how many transactions hold it, and the sensitive item or the entry that it resembles."""

    item: str
    support: int
    resembles: str


def twins_of(public: Iterable[tuple[str, int]], sensitive: Sequence[str], sought: Sequence[Entry]) -> tuple[Twin, ...]:
    """The twins among *public* items, given with their supports; the most frequent first.

    *sought* are patterns, and names that the data does not have to the letter.

    >>> twins_of([("b20 3", 2), ("B 20", 5), ("milk", 7)], ["B20", "B20.3"], [])
    (Twin(item='B 20', support=5, resembles='B20'), Twin(item='b20 3', support=2, resembles='B20.3'))
    """
    if not sensitive and not sought:
        return ()
    folded = {fold(entry.text): entry.written for entry in reversed(sought) if entry.kind == "name"}
    folded |= {fold(name): name for name in reversed(sensitive)}
    globs = [entry for entry in sought if entry.kind == "glob"]
    patterns = [(_folded(entry.text), entry.written) for entry in globs if _bare(entry.text)]
    to_the_letter = [(re.compile(translate(entry.text)), entry.written) for entry in globs]
    found = []
    for item, support in public:
        bare = fold(item)
        like = folded.get(bare) or _taken(item, to_the_letter) or _taken(bare, patterns)
        if like is not None:
            found.append(Twin(item, support, like))
    return tuple(sorted(found, key=lambda twin: -twin.support))


def _taken(name: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str | None:
    """The first pattern that takes a name, as it was written."""
    return next((written for pattern, written in patterns if pattern.fullmatch(name)), None)


def fold(name: str) -> str:
    """A name without case, blanks, punctuation and Unicode form; one that has nothing else keeps its signs.

    >>> fold(" B20.3"), fold("Ｂ20\\u200b_3"), fold("+")
    ('b203', 'b203', '+')
    """
    return _bare(name) or _caseless(name)


def _bare(text: str) -> str:
    if text.isascii():
        return _SIGNS.sub("", text).lower()
    # Marks stay: they are vowels in many scripts.
    return "".join(letter for letter in _caseless(text) if letter.isalnum() or category(letter)[0] == "M")


def _caseless(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _folded(pattern: str) -> re.Pattern[str]:
    """A pattern for folded names: a sign that a wildcard stands for may be folded away."""
    parts = []
    for piece in _PIECES.finditer(pattern):
        if piece["set"]:
            may_be_sign = not piece["set"][1:-1].replace("-", "").isalnum()  # "!" too: [!a] takes signs
            parts.append(translate(piece["set"].casefold())[:-2] + "?" * may_be_sign)  # without \Z, the end
        else:
            parts.append({"*": ".*", "?": ".?"}.get(piece[0]) or re.escape(_bare(piece[0])))
    return re.compile("".join(parts), re.DOTALL)
