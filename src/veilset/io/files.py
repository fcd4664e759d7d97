"""Bytes of a file, unpacked and, for text, as UTF-8, in blocks; every failure says what to do about it."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from veilset.errors import InvalidArgument, UnreadableInput, near_misses, said
from veilset.limits import Limits

_LARGEST_BLOCK = 1 << 23
_SMALLEST_BLOCK = 1 << 16
_ROOM_FOR_RECORD = 4  # times its size
_PACKERS = {".gz": "gzip", ".zst": "zstd"}
_NOT_OF_FILES = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}  # Python's own notations
_OTHER_MARKS = {
    codecs.BOM_UTF16_LE: f"Try {said('encoding', 'utf-16')}.",
    codecs.BOM_UTF16_BE: f"Try {said('encoding', 'utf-16')}.",
    b"PAR1": f"It is a Parquet file: use {said('format', 'parquet')}.",
    b"ARROW1": f"It is an Arrow file: use {said('format', 'arrow')}.",
    b"PK\x03\x04": "It is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV.",
    b"\x1f\x8b": "It is gzip data: rename it to end in .gz.",
    b"\x28\xb5\x2f\xfd": "It is zstd data: rename it to end in .zst.",
}


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The file, open for reading; while it is read, what the system refuses is said in words."""
    with readable(Path(path)), Path(path).open("rb") as stream:
        yield stream


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say what is wrong with a path that cannot be opened or read, and what is there instead."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        neighbours = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
        held = f"Its folder contains: {', '.join(neighbours[:5])}{', …' * (len(neighbours) > 5)}."
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


def read_bytes(path: str | Path, limits: Limits | None = None) -> bytes:
    """The bytes of a file as they are."""
    with opened(path) as file:
        return _joined(iter(lambda: file.read(_LARGEST_BLOCK), b""), path, limits or Limits(), [])


def read_text_bytes(path: str | Path, encoding: str, limits: Limits | None = None) -> bytes:
    """The whole text of a file as UTF-8 bytes; see `TextBlocks`."""
    blocks, kept = TextBlocks(path, encoding, limits), list[bytes]()
    blocks.place = lambda: (1, b"".join(kept))
    return _joined(blocks, path, limits or Limits(), kept)


def _joined(blocks: Iterable[bytes], path: str | Path, limits: Limits, kept: list[bytes]) -> bytes:
    size = 0
    for block in blocks:
        kept.append(block)
        size += len(block)
        # All of them once more when they are joined.
        limits.require(size, f"Reading {str(path)!r}, after {size / 1e9:.2g} GB,", "split the file.")
    return b"".join(kept)


class TextBlocks:
    """The text of a file as blocks of UTF-8 bytes: unpacked by its name, without a byte-order mark or zero bytes.

    Blocks end between characters, not between lines. `sha256` is that of the file's bytes, once all were read. Who
    reads them counts the lines: `place` gives the number of a line and the text from there to the end of what was read.
    """

    def __init__(self, path: str | Path, encoding: str, limits: Limits | None = None) -> None:
        self._path = Path(path)
        self._limits = limits or Limits()
        self._codec = _codec(encoding)
        self._hash = hashlib.sha256()
        self.place: Callable[[], tuple[int, bytes]] = lambda: (1, b"")

    def require(self, size: int) -> None:
        """Raise if there is no memory for a record of this size: joined, and taken apart."""
        if size > _LARGEST_BLOCK:
            self._limits.require(_ROOM_FOR_RECORD * size, f"Reading {str(self._path)!r}", "check that its lines end.")

    @property
    def sha256(self) -> str:
        """The sha256 of what was read."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        something = False
        with opened(self._path) as file:
            utf8 = self._codec.name == "utf-8"
            for text in self._utf8(self._unpacked(file)) if utf8 else self._decoded(self._unpacked(file)):
                if b"\0" in text:
                    raise UnreadableInput(
                        f"{self._at(text[: text.index(0)])}: a zero byte. This is not text, or not in this encoding.",
                        f"Export the data as text, or set {said('encoding')} (utf-16 text is full of zero bytes).",
                    )
                something = True
                yield text
        if not something:
            raise UnreadableInput(f"{str(self._path)!r} is empty.", "Choose a file with data in it.")

    def _unpacked(self, file: IO[bytes]) -> Iterator[bytes]:
        """The file's bytes in blocks, unpacked; never empty ones."""
        size = max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, self._limits.bytes_left() // 32))
        hashed = _Hashed(file, self._hash)
        kind = self._path.suffix.lower()
        try:
            stream: Any = hashed
            if kind == ".gz":
                stream = gzip.GzipFile(fileobj=io.BufferedReader(hashed, 1 << 17))
            elif kind == ".zst":
                # Arrow's own read() never gives back the memory of a read that fails.
                stream = io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(hashed, mode="r"), "zstd"), 1 << 17)
            while block := stream.read(size):
                self._limits.check_time(f"Reading {str(self._path)!r}", "split the file.")
                yield block
        except EOFError:
            raise self._cut_off() from None
        except (gzip.BadGzipFile, zlib.error, pa.ArrowInvalid) as error:
            raise self._not_intact(kind, error) from None
        except OSError as error:
            if kind != ".zst" or error.errno is not None:
                raise
            # What Arrow's decompressor raises has no number. If it asked for more than there is, the end is missing.
            raise (self._cut_off() if hashed.is_at_end else self._not_intact(kind, error)) from None
        while hashed.read(size):
            pass  # the sum is that of the whole file, also of what a decompressor leaves at its end

    def _cut_off(self) -> UnreadableInput:
        return UnreadableInput(
            f"{str(self._path)!r} ends in the middle of its compressed data, after {self._path.stat().st_size:,} "
            "bytes.",
            "The file is truncated: copy or download it again. Nothing was read.",
        )

    def _not_intact(self, kind: str, error: Exception) -> UnreadableInput:
        return UnreadableInput(
            f"{str(self._path)!r} is named {kind} but is not valid {_PACKERS[kind]} data ({error}).",
            "Copy it again, or rename it if it is not compressed.",
        )

    def _utf8(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        rest, first = b"", True
        for block in blocks:
            text = rest + block if rest else block
            if first:
                self._check_mark(text)
                text, first = text.removeprefix(codecs.BOM_UTF8), False
            whole = _whole_characters(text)
            text, rest = text[:whole], text[whole:]
            if text:
                yield self._checked(text)
        if rest:
            yield self._checked(rest)

    def _checked(self, text: bytes) -> bytes:
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise self._not_text(error, text[: error.start]) from None
        return text

    def _check_mark(self, text: bytes) -> None:
        for mark, advice in _OTHER_MARKS.items():
            if text.startswith(mark):
                raise UnreadableInput(f"{str(self._path)!r} is not UTF-8 text.", advice)

    def _decoded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = self._codec.incrementaldecoder()
        first = True
        try:
            for block in blocks:
                text = decoder.decode(block)
                if first and text:
                    text, first = text.removeprefix("\ufeff"), False
                if text:
                    yield text.encode()
            if text := decoder.decode(b"", final=True):
                yield text.encode()
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(self._codec.name, "replace").encode("utf-8", "replace")
            raise self._not_text(error, before) from None
        except UnicodeError:  # such as UTF-16 without a byte-order mark, or halves of characters
            raise UnreadableInput(
                f"{str(self._path)!r} is not {self._codec.name} text.",
                f"Leave {said('encoding')} out for UTF-8, or name the encoding of the file.",
            ) from None

    def _not_text(self, error: UnicodeDecodeError, before: bytes) -> UnreadableInput:
        return UnreadableInput(
            f"{self._at(before)}: byte 0x{error.object[error.start]:02x} is not {error.encoding}.",
            f"It is often worth trying: {said('encoding', 'latin-1')}.",
        )

    def _at(self, before: bytes) -> str:
        line, rest = self.place()
        text = rest + before
        line += text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
        return f"{str(self._path)!r}, line {line}"


class _Hashed(io.RawIOBase):
    """A file that adds what is read to a hash."""

    def __init__(self, file: IO[bytes], into: Any) -> None:
        self._file, self._into = file, into
        self.is_at_end = False

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into *buffer*, as much as there is."""
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._into.update(memoryview(buffer)[:size])
        return int(size)

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes."""
        block = self._file.read(size)
        self._into.update(block)
        self.is_at_end = not block
        return block


def _whole_characters(text: bytes) -> int:
    """How many bytes of *text* come before a character that may go on in the next block."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:  # begins a character of this many bytes
            size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(text) - back if size > back else len(text)
    return len(text)


def _codec(encoding: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        raise _no_encoding(encoding) from None
    is_text = codec._is_text_encoding and codec.incrementaldecoder is not None  # unlike hex, rot13, ...
    if not is_text or codec.name in _NOT_OF_FILES:
        raise _no_encoding(encoding)
    return codec


def _no_encoding(encoding: str) -> InvalidArgument:
    return InvalidArgument(
        f"There is no text encoding {encoding!r}.", "Common ones: utf-8, latin-1, cp1252, utf-16, shift_jis, gb18030."
    )
