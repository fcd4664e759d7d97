"""Texts of files: plain text, Markdown, web pages, PDF and docx.

Run as a script, it is the process in which `extractor` reads what strangers may have made: its memory is bounded, it
has no network, and it can be ended. Therefore it imports nothing of ours.
"""

from __future__ import annotations

import importlib
import io
import json
import logging
import os
import re
import resource
import socket
import sys
import warnings
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

_MEMORY = 3 << 30  # bytes
_UNPACKED = 200 << 20  # bytes of a docx
_PAGES = 2000
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Unextractable(Exception):
    """Why there is no text of a file."""


class Extracted(NamedTuple):
    """What a file says."""

    title: str
    text: str


def extracted(suffix: str, content: bytes, most: int) -> Extracted:
    """Title and text of a file, by its suffix, up to so many characters."""
    if not content:
        raise Unextractable("it is empty")
    title, text = _READERS[suffix](content, most)
    return Extracted(" ".join(_clean(title).split())[:500], _clean(text[:most]))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _decoded(content: bytes) -> str:
    """Text in the encoding that its mark names, in UTF-8, or else in Windows-1252, which everything can be."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    if b"\0" in content[:8192]:
        raise Unextractable("it is no text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _plain(content: bytes, most: int) -> tuple[str, str]:
    return "", _decoded(content)


def _markdown(content: bytes, most: int) -> tuple[str, str]:
    text = re.sub(r"\A---\n.*?\n(?:---|\.\.\.)\n", "", _decoded(content), count=1, flags=re.DOTALL)
    text = re.sub(r"\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)", "]", text)
    text = re.sub(r"<[^<>\n]*>", " ", text)
    heading = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    return re.sub(r"[*_`]", "", heading[1]) if heading else "", text


def _html(content: bytes, most: int) -> tuple[str, str]:
    trafilatura: Any = importlib.import_module("trafilatura")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    text = _decoded(content)
    found = trafilatura.extract(text, include_comments=False) or trafilatura.html2txt(text) or ""
    title = re.search(r"<title[^>]{0,200}>([^<]{0,500})", text, re.IGNORECASE)
    unescape: Callable[[str], str] = importlib.import_module("html").unescape
    return unescape(title[1]) if title else "", found


def _pdf(content: bytes, most: int) -> tuple[str, str]:
    pypdf: Any = importlib.import_module("pypdf")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = pypdf.PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unextractable("it is encrypted")
    pieces: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages):
        if length >= most or number >= _PAGES:
            break
        pieces.append(page.extract_text() or "")
        length += len(pieces[-1])
    title = reader.metadata.title if reader.metadata is not None else None
    text = "\n".join(pieces)
    if not text.strip():
        raise Unextractable("it has no text: perhaps it is scanned")
    return title if isinstance(title, str) else "", text


def _docx(content: bytes, most: int) -> tuple[str, str]:
    if content.startswith(_OLD_OFFICE):
        raise Unextractable("it is encrypted, or of an older Word")
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if sum(entry.file_size for entry in packed.infolist()) > _UNPACKED:
            raise Unextractable(f"it unpacks to more than {_UNPACKED >> 20} MB")
    document: Any = importlib.import_module("docx").Document(io.BytesIO(content))
    pieces = [paragraph.text for paragraph in document.paragraphs]
    pieces += [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return document.core_properties.title or "", "\n".join(pieces)


_READERS: dict[str, Callable[[bytes, int], tuple[str, str]]] = {
    ".txt": _plain,
    ".text": _plain,
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".pdf": _pdf,
    ".docx": _docx,
}
SUFFIXES = frozenset(_READERS)
"""The files that have a text."""

SIMPLE = frozenset(suffix for suffix, reader in _READERS.items() if reader in (_plain, _markdown))
"""Those that need no process of their own."""


def main(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests: a line of JSON with suffix, size and most, then the bytes of the file."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    socket.socket = _Offline  # type: ignore[misc, assignment]
    while line := requests.readline():
        asked = json.loads(line)
        answers.write(_answer(asked["suffix"], requests.read(asked["size"]), asked["most"]) + b"\n")
        answers.flush()


class _Offline:
    def __init__(self, *arguments: object, **options: object) -> None:
        raise Unextractable("it would reach for the network")


def _answer(suffix: str, content: bytes, most: int) -> bytes:
    try:
        return json.dumps(extracted(suffix, content, most)._asdict()).encode()
    except Unextractable as error:
        refused = str(error)
    except MemoryError:
        refused = "it takes too much memory"
    except Exception as error:  # whatever a library raises for a damaged file: it is told
        refused = f"it is damaged: {type(error).__name__}: {error}"[:300]
    return json.dumps({"refused": refused}).encode()


if __name__ == "__main__":
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    main(sys.stdin.buffer, told)
