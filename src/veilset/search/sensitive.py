"""Terms to ask about before they are first sent: those that may say something about health, love, faith or the like.

Self-information tells how rare a term is, not how private: "frequent and general" can be sensitive all the same (thesis
§5.2.2). A list of words cannot know what is private for whom either, so every term is shown before it is sent; those of
this list, and those that the user adds, are left out until the user has said yes to each.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from veilset.search.node import BETWEEN_WORDS

_TOPIC = re.compile(r"\[(.+)\]")
_PARTS = re.compile(r"[.\s-]+")
OWN = "your own list"


@cache
def _listed() -> tuple[tuple[str, frozenset[str], tuple[str, ...]], ...]:
    """For each topic, its words and the beginnings of words."""
    words: dict[str, list[str]] = {}
    for line in (files("veilset.search") / "sensitive_words.txt").read_text(encoding="utf-8").splitlines():
        if found := _TOPIC.fullmatch(line.strip()):
            words[found[1]] = []
        elif line.strip() and not line.startswith("#"):
            words[list(words)[-1]] += line.split()
    return tuple(
        (
            topic,
            frozenset(word for word in listed if not word.endswith("*")),
            tuple(sorted({word[:-1] for word in listed if word.endswith("*")})),
        )
        for topic, listed in words.items()
    )


def topic_of(term: str) -> str:
    """What a term may say something about; empty if it is on no list. One word of several is enough.

    >>> topic_of("diabetes/insulin"), topic_of("Jazz")
    ('health', '')
    """
    words = [part for word in term.casefold().split(BETWEEN_WORDS) for part in (word, *_PARTS.split(word)) if part]
    for topic, whole, beginnings in _listed():
        if any(word in whole or word.startswith(beginnings) for word in words):
            return topic
    return ""
