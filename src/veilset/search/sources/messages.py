"""A message of mail as a document: subject, own words, and who wrote and who received it."""

from __future__ import annotations

import codecs
import email
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from veilset.search.documents import Document
from veilset.search.people import names_in
from veilset.search.sources.extracting import SUFFIXES, Unextractable
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.own_words import own_words, own_words_of_html
from veilset.search.sources.source import Notes, Source

_CORRESPONDENTS = ("from", "sender", "to", "cc")
_MOST_ADDRESSES, _LONGEST_HEADER = 50, 10_000
_SLOW_CODECS = ("punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined")
_LONGEST_HTML = 500_000  # characters
_DEEPEST = 20  # parts within parts
_REPLIES = re.compile(r"^(?:(?:re|aw|antw|antwort|fw|fwd|wg|sv|vs|rv|tr)(?:\[\d{1,3}\])? ?: ?)+", re.IGNORECASE)


class _ShortHeaders(Compat32):
    """Headers without what exceeds any use: Python takes quadratic time to read the parameters of one."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


_SHORT = _ShortHeaders()

BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError, MessageError, AssertionError)
"""What Python's parser of mail raises where a message breaks the rules in a way of its own."""


def document_of(content: bytes, source: Source, notes: Notes, extractor: Extractor) -> Document:
    """The document of a message; attachments that cannot be read are noted."""
    message = email.message_from_bytes(content, policy=_SHORT)
    subject = _REPLIES.sub("", _decoded(message.get("subject")))
    text = "\n".join(_texts(message, source, notes, extractor, subject))[: source.characters]
    name = _decoded(message.get("message-id")).strip().strip("<>") or sha256(content).hexdigest()
    addresses = " ".join(dict.fromkeys(address for _, address in correspondents(message)))
    return Document(f"mid:{quote(name, safe='@')}", source.name, subject, text, addresses, _sent(message))


def names_of(content: bytes) -> set[str]:
    """The words of the names of who wrote and who received a message."""
    headers = BytesHeaderParser(policy=_SHORT).parsebytes(content)
    return {word for name, address in correspondents(headers) for word in names_in(name, address)}


def correspondents(message: Message[Any, Any]) -> list[tuple[str, str]]:
    """The names and addresses in a message's headers; who wrote it comes first."""
    found: list[tuple[str, str]] = []
    for header in _CORRESPONDENTS:
        values = [str(value)[:_LONGEST_HEADER] for value in message.get_all(header, [])[:_MOST_ADDRESSES]]
        for name, address in getaddresses(values):
            cleaned = "".join(address.casefold().split())
            if "@" in cleaned:
                found.append((_decoded(name), cleaned))
    return found[:_MOST_ADDRESSES]


def _texts(
    message: Message[Any, Any], source: Source, notes: Notes, extractor: Extractor, subject: str
) -> Iterator[str]:
    plain, html = [], []
    for part in _parts(message):
        name = part.get_filename()
        if name is not None or part.get_content_disposition() == "attachment":
            if source.attachments and name is not None:
                yield from _attached(part, _decoded(name), source, notes, extractor, subject)
        elif part.get_content_type() == "text/plain":
            plain.append(own_words(_text(part)))
        elif part.get_content_type() == "text/html":
            html.append(own_words_of_html(_text(part)[:_LONGEST_HTML]))
    yield from plain if any(text.strip() for text in plain) else html


def _attached(
    part: Message[Any, Any], name: str, source: Source, notes: Notes, extractor: Extractor, subject: str
) -> Iterator[str]:
    content = part.get_payload(decode=True)
    suffix = PurePath(name).suffix.lower()
    if not isinstance(content, bytes) or suffix not in SUFFIXES:
        notes.left_out["attachment of another kind"] += 1
        return
    try:
        yield extractor.extracted(suffix, content, source.characters).text
    except Unextractable as error:
        notes.pass_over(f"{name}, attached to {subject!r}", str(error))


def _parts(message: Message[Any, Any], depth: int = 0) -> Iterator[Message[Any, Any]]:
    """The parts that have content, without those of messages that are attached: these are words of others."""
    if message.get_content_maintype() == "message" or depth > _DEEPEST:
        return
    if not message.is_multipart():
        yield message
        return
    for part in message.get_payload():
        if isinstance(part, Message):
            yield from _parts(part, depth + 1)


def _text(part: Message[Any, Any]) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    charset = part.get_content_charset("utf-8")
    try:
        codec = codecs.lookup(charset).name
        return content.decode("utf-8" if codec in _SLOW_CODECS else codec, "replace")
    except (LookupError, ValueError):  # a character set that nobody knows
        return content.decode("utf-8", "replace")


def _decoded(value: object) -> str:
    """A header as people read it; as it stands if its encoding is broken."""
    raw = str(value or "")[:_LONGEST_HEADER]
    try:
        text = str(make_header(decode_header(raw)))
    except BROKEN:
        text = raw
    return re.sub(r"\s+", " ", text.encode("utf-8", "replace").decode()).strip()


def _sent(message: Message[Any, Any]) -> datetime | None:
    try:
        when = parsedate_to_datetime(str(message.get("date")))
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return when if 1970 <= when.year < 9000 else None
