"""Makes HTML of strangers safe to parse: Python's parser takes quadratic time for tags and comments that never end."""

from __future__ import annotations

import re

_LONGEST_TAG = 20_000  # characters; inline images have long ones
_DECLARATION = re.compile(r"<[!?][^<>]*>?")


def tamed(html: str) -> str:
    """The text without comments and declarations, and without the ``<`` of what is no whole tag.

    >>> tamed("<!-- a > b --><p>1 < 2</p><!doctype x><b")
    '<p>1   2</p> b'
    """
    return "".join(_whole_tags(_DECLARATION.sub("", _without_comments(html))))


def _without_comments(html: str) -> str:
    pieces, at = [], 0
    while (start := html.find("<!--", at)) >= 0 and (end := html.find("-->", start + 2)) >= 0:
        pieces.append(html[at:start])
        at = end + 3
    return "".join([*pieces, html[at:]])


def _whole_tags(html: str) -> list[str]:
    """The text in pieces; a ``<`` is left where a ``>`` comes within the length of a tag."""
    first, *others = html.split("<")
    pieces, end, at = [first], -1, len(first)
    never = len(html) + _LONGEST_TAG + 1
    for piece in others:
        if end < at:
            found = html.find(">", at)
            end = found if found >= 0 else never
        whole = end - at <= _LONGEST_TAG and piece[:1].strip()
        pieces.append(f"{'<' if whole else ' '}{piece}")
        at += len(piece) + 1
    return pieces
