"""Mail of mbox files and Maildir folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from veilset.errors import UnreadableInput
from veilset.search.documents import Document
from veilset.search.sources.extractor import Extractor
from veilset.search.sources.messages import BROKEN, document_of, names_of
from veilset.search.sources.plain_files import opened
from veilset.search.sources.private_files import Refused, files_below
from veilset.search.sources.source import Notes, Source

_BEGINS = b"From "
_AT_ONCE = 1 << 16
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mail(source: Source, notes: Notes, extractor: Extractor) -> Iterator[Document]:
    """The messages of a mailbox; one that is broken or too large is noted, and the rest goes on."""
    for what, content in _messages(source, notes):
        try:
            yield document_of(content, source, notes, extractor)
        except BROKEN as error:
            notes.pass_over(what, f"the message is broken: {error}")


def correspondent_names(source: Source) -> set[str]:
    """The words of the names of all who wrote or received a message in a mailbox."""
    names: set[str] = set()
    for _, content in _messages(source, Notes()):
        try:
            names |= names_of(content)
        except BROKEN:
            continue  # it is noted when the message is read
    return names


def _messages(source: Source, notes: Notes) -> Iterator[tuple[str, bytes]]:
    """What each message is called in notes, and its bytes."""
    if source.kind == "mbox":
        for number, content in enumerate(_in_mbox(source.path, source.most_bytes), start=1):
            what = f"{source.path}, message {number}"
            if content is None:
                notes.pass_over(what, f"it is larger than {source.megabytes} MB")
            else:
                yield what, content
        return
    if not any((source.path / name).is_dir() for name in ("cur", "new")):
        raise UnreadableInput(f"{str(source.path)!r} is no Maildir: it has no folder 'cur'.", "Check the path.")
    for file in files_below(source.path, notes, hidden=True):
        if file.path.parent.name not in ("cur", "new"):
            continue
        try:
            yield str(file.path), file.read(source.most_bytes)
        except Refused as error:
            notes.pass_over(str(file.path), str(error))


def _in_mbox(path: Path, most: int) -> Iterator[bytes | None]:
    """The messages of an mbox file; None for one of more than *most* bytes.

    A message begins at a line "From …" at the top, or after an empty line.
    """
    try:
        with opened(path) as stream:
            held, size, at_start, after_blank = list[bytes](), -1, True, True
            while line := stream.readline(_AT_ONCE):
                if at_start and after_blank and line.startswith(_BEGINS):
                    if size >= 0:
                        yield _joined(held, size, most)
                    held, size = [], 0
                elif size < 0:
                    raise UnreadableInput(
                        f"{str(path)!r} is no mbox file: it does not begin with 'From '.",
                        "Check the path and the kind.",
                    )
                else:
                    size += len(line)
                    if size <= most:
                        held.append(line)
                after_blank = at_start and line in (b"\n", b"\r\n")
                at_start = line.endswith(b"\n")
            if size >= 0:
                yield _joined(held, size, most)
    except OSError as error:
        raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror}.", "Check the path.") from None


def _joined(held: list[bytes], size: int, most: int) -> bytes | None:
    return _ESCAPED.sub(rb"\1", b"".join(held)) if size <= most else None
