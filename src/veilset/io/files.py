"""Bytes of a file, decompressed and, for text, as UTF-8; every failure says what to do about it."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from veilset.errors import BudgetExceeded, UnreadableInput, WrongUsage
from veilset.limits import Limits

__all__ = ["read_bytes", "read_text_bytes"]

_CHUNK = 1 << 22
_UTF8_MARK = codecs.BOM_UTF8
_OTHER_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", b"PAR1": ""}


def read_bytes(path: str | Path, limits: Limits | None = None) -> bytes:
    """The bytes of a file; of what is inside it, if its name ends in ``.gz``."""
    path = Path(path)
    if not path.exists():
        neighbours = ", ".join(sorted(p.name for p in path.parent.glob("*"))[:5]) if path.parent.is_dir() else ""
        raise UnreadableInput(
            f"There is no file {str(path)!r}.",
            f"Its folder holds: {neighbours}." if neighbours else "Its folder does not exist or is empty.",
        )
    if path.is_dir():
        raise UnreadableInput(f"{str(path)!r} is a folder.", "Name a file inside it.")
    budget = (limits or Limits()).bytes_left()
    chunks: list[bytes] = []
    size = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                # Joining the chunks and parsing them takes a few times the size of the text.
                if 4 * size > budget:
                    raise BudgetExceeded(
                        f"Reading {str(path)!r} stopped at the memory limit after {size / 1e9:.2g} GB of text.",
                        "Raise the memory limit, or split the file.",
                    )
    except EOFError:
        raise UnreadableInput(
            f"{str(path)!r} ends in the middle of its compressed data after {size:,} bytes of text.",
            "It was cut off: copy or download it again. Nothing was read.",
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableInput(
            f"{str(path)!r} is named .gz but is not intact gzip data ({error}).",
            "Copy it again, or rename it if it is not compressed.",
        ) from None
    except OSError as error:
        raise UnreadableInput(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from None
    return b"".join(chunks)


def read_text_bytes(path: str | Path, encoding: str, limits: Limits | None = None) -> bytes:
    """The text of a file as UTF-8 bytes, without a byte-order mark."""
    raw = read_bytes(path, limits)
    if not raw:
        raise UnreadableInput(f"{str(path)!r} is empty.", "A file needs at least one transaction, one a line.")
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise WrongUsage(
            f"There is no encoding {encoding!r}.", "Common ones: utf-8, latin-1, cp1252, utf-16."
        ) from None
    for mark, name in _OTHER_MARKS.items():
        if raw.startswith(mark) and codec.name == "utf-8":
            advice = (
                f"Try --encoding {name}." if name else "It is a Parquet file, which is not read yet: export it as CSV."
            )
            raise UnreadableInput(f"{str(path)!r} is not UTF-8 text.", advice)
    if codec.name != "utf-8":
        try:
            raw = raw.decode(encoding).removeprefix("\ufeff").encode()
        except UnicodeDecodeError as error:
            raise _undecodable(path, raw, error) from None
    elif not raw.isascii():
        raw = raw.removeprefix(_UTF8_MARK)
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            raise _undecodable(path, raw, error) from None
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise UnreadableInput(
            f"{str(path)!r}, line {line}: a zero byte. This is not a text file, or not in this encoding.",
            "Export the data as text, or name its encoding with --encoding (utf-16 text is full of zero bytes).",
        )
    return raw


def _undecodable(path: str | Path, raw: bytes, error: UnicodeDecodeError) -> UnreadableInput:
    line = raw.count(b"\n", 0, error.start) + 1
    return UnreadableInput(
        f"{str(path)!r}, line {line}: byte 0x{raw[error.start]:02x} is not {error.encoding}.",
        "It is often worth trying: --encoding latin-1.",
    )
