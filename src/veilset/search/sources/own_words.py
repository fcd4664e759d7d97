"""The own words of a message: without what it quotes or forwards, and without its signature."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from veilset.search.sources.tame_html import tamed

_QUOTED = re.compile(r"\s*[>|]")
_ENDS = re.compile(
    r"-- $|_{10,}\s*$|\s*-{2,}\s*(original message|ursprüngliche nachricht|message d'origine|mensaje original)\s*-{2,}"
    r"|\s*-{5,}\s*forwarded message|\s*begin forwarded message:",
    re.IGNORECASE,
)
_HEADER = re.compile(r"\s*\*?(from|von|de|da)\s*:\*?\s.*(@|\S)", re.IGNORECASE)
_NEXT_HEADER = re.compile(
    r"\s*\*?(sent|gesendet|envoyé|enviado|date|datum|to|an|à|cc|subject|betreff)\s*:", re.IGNORECASE
)
_ATTRIBUTION = 3  # lines that can say who wrote what follows


def own_words(text: str) -> str:
    """The lines of a plain text that its sender wrote.

    >>> own_words("Yes, at noon.\\n\\nOn Monday, Ann wrote:\\n> Lunch?\\n\\nBring jazz!\\n-- \\nBob")
    'Yes, at noon.\\n\\n\\nBring jazz!'
    """
    kept: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _ENDS.match(line) or (_HEADER.match(line) and any(map(_NEXT_HEADER.match, lines[number + 1 : number + 3]))):
            break
        if not _QUOTED.match(line):
            kept.append(line)
        elif number == 0 or not _QUOTED.match(lines[number - 1]):
            _drop_attribution(kept)
    return "\n".join(kept)


def _drop_attribution(kept: list[str]) -> None:
    """Drop the lines right before a quotation that say whose words follow: they end in a colon."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    if end and kept[end - 1].rstrip().endswith(":"):
        start = end - 1
        while start > 0 and kept[start - 1].strip() and end - start < _ATTRIBUTION:
            start -= 1
        del kept[start:]


class _Html(HTMLParser):
    """The text of an HTML message without quotations, styles and scripts."""

    _SILENT = frozenset({"blockquote", "style", "script", "head", "title"})
    _BREAKS = frozenset({"br", "p", "div", "tr", "li", "h1", "h2", "h3", "td"})
    _VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent: list[str] = []  # elements that are open, from the one on that is left out
        self._open: Counter[str] = Counter()  # how many of each are among them
        self.ended = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ended |= given.get("id", "") in ("divRplyFwdMsg", "appendonsend")
        quoted = tag in self._SILENT or "quote" in given.get("class", "").lower().split("_")
        if tag not in self._VOID and (self._silent or quoted):
            self._silent.append(tag)
            self._open[tag] += 1
        if tag in self._BREAKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        closed = "" if self._open[tag] else tag
        while closed != tag:
            closed = self._silent.pop()
            self._open[closed] -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent and not self.ended:
            self.pieces.append(data)


def own_words_of_html(html: str) -> str:
    """The same of an HTML text.

    >>> own_words_of_html("<p>Yes &amp; no<br>Jazz</p><blockquote>Lunch?</blockquote>").split()
    ['Yes', '&', 'no', 'Jazz']
    """
    parser = _Html()
    parser.feed(tamed(html))
    parser.close()
    return own_words("".join(parser.pieces))
