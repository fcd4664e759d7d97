"""Bytes of a file, decompressed and, for text, as UTF-8; every failure says what to do about it."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from pathlib import Path
from typing import IO

from veilset.errors import UnreadableInput, WrongUsage, near_misses
from veilset.limits import Limits

__all__ = ["read_bytes", "read_text_bytes", "text_of"]

_CHUNK = 1 << 24
_UTF8_MARK = codecs.BOM_UTF8
_OTHER_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", b"PAR1": ""}


def read_bytes(path: str | Path, limits: Limits | None = None) -> bytes:
    """The bytes of a file as they are."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            return _read_within(stream, path, limits)
    except (FileNotFoundError, NotADirectoryError):
        neighbours = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
        held = f"Its folder holds: {', '.join(neighbours[:5])}{', …' * (len(neighbours) > 5)}."
        raise UnreadableInput(
            f"There is no file {str(path)!r}.",
            near_misses(path.name, neighbours) or (held if neighbours else "Its folder does not exist or is empty."),
        ) from None
    except IsADirectoryError:
        raise UnreadableInput(f"{str(path)!r} is a folder.", "Name a file inside it.") from None
    except OSError as error:
        raise UnreadableInput(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", "Check its name and permissions."
        ) from None


def read_text_bytes(path: str | Path, encoding: str, limits: Limits | None = None) -> bytes:
    """The text of a file as UTF-8 bytes, unpacked if its name ends in ``.gz``, without a byte-order mark."""
    return text_of(path, read_bytes(path, limits), encoding, limits)


def text_of(path: str | Path, raw: bytes, encoding: str, limits: Limits | None = None) -> bytes:
    """What `read_text_bytes` makes of the bytes of the file *path*."""
    path = Path(path)
    if path.suffix == ".gz" and raw:
        raw = _unpacked(path, raw, limits)
    text = _as_utf8(path, raw, encoding)
    if not text:
        raise UnreadableInput(f"{str(path)!r} is empty.", "A file needs at least one transaction, one a line.")
    if b"\0" in text:
        line = _line_after(text[: text.index(0)])
        raise UnreadableInput(
            f"{str(path)!r}, line {line}: a zero byte. This is not a text file, or not in this encoding.",
            "Export the data as text, or name its encoding with --encoding (utf-16 text is full of zero bytes).",
        )
    return text


def _read_within(stream: IO[bytes] | gzip.GzipFile, path: Path, limits: Limits | None) -> bytes:
    limits = limits or Limits()
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        # The next chunk, and all of them once more when they are joined.
        limits.require(size + _CHUNK, f"Reading {str(path)!r}, after {size / 1e9:.2g} GB of text,", "split the file.")
    return b"".join(chunks)


def _unpacked(path: Path, raw: bytes, limits: Limits | None) -> bytes:
    try:
        with gzip.open(io.BytesIO(raw)) as stream:
            return _read_within(stream, path, limits)
    except EOFError:
        raise UnreadableInput(
            f"{str(path)!r} ends in the middle of its compressed data, after {len(raw):,} bytes.",
            "It was cut off: copy or download it again. Nothing was read.",
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableInput(
            f"{str(path)!r} is named .gz but is not intact gzip data ({error}).",
            "Copy it again, or rename it if it is not compressed.",
        ) from None


def _as_utf8(path: Path, raw: bytes, encoding: str) -> bytes:
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise _no_encoding(encoding) from None
    try:
        if codec.name != "utf-8":
            return raw.decode(encoding).removeprefix("\ufeff").encode()
        for mark, name in _OTHER_MARKS.items():
            if raw.startswith(mark):
                advice = (
                    f"Try --encoding {name}."
                    if name
                    else "It is a Parquet file, which is not read yet: export it as CSV."
                )
                raise UnreadableInput(f"{str(path)!r} is not UTF-8 text.", advice)
        raw = raw.removeprefix(_UTF8_MARK)
        if not raw.isascii():
            raw.decode()
    except UnicodeDecodeError as error:
        line = _line_after(raw[: error.start].decode(encoding, "replace").encode())
        raise UnreadableInput(
            f"{str(path)!r}, line {line}: byte 0x{raw[error.start]:02x} is not {error.encoding}.",
            "It is often worth trying: --encoding latin-1.",
        ) from None
    except (LookupError, UnicodeError):  # codecs that are no encodings of text: hex, idna, ...
        raise _no_encoding(encoding) from None
    return raw


def _no_encoding(encoding: str) -> WrongUsage:
    return WrongUsage(f"There is no encoding {encoding!r}.", "Common ones: utf-8, latin-1, cp1252, utf-16.")


def _line_after(text: bytes) -> int:
    return len(re.findall(rb"\r\n|\n|\r", text)) + 1
