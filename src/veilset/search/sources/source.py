"""A source that the user has chosen, and notes on what was read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

from veilset.errors import VeilsetError
from veilset.search.documents import Document

SourceKind = Literal["firefox", "chromium", "bookmarks", "mbox", "maildir", "folder"]
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

MOST = 20_000
CHARACTERS = 20_000
MEGABYTES = 20


@dataclass(frozen=True)
class Source:
    """A source, and how much of it counts.

    Parameters
    ----------
    name : str
        What the user calls it.
    kind : str
        What it is.
    path : Path
        Where it is.
    days : int, optional
        How far back it is read.
    half_life : int, optional
        Days after which a document counts half as much.
    weight : Fraction
        How much each document counts.
    most : int
        How many documents are taken, the newest first.
    characters : int
        How much of each document is read.
    megabytes : int
        Larger files and messages are passed over.
    attachments : bool
        Whether attachments of messages are read, too.
    """

    name: str
    kind: SourceKind
    path: Path
    days: int | None = None
    half_life: int | None = None
    weight: Fraction = Fraction(1)
    most: int = MOST
    characters: int = CHARACTERS
    megabytes: int = MEGABYTES
    attachments: bool = False

    @property
    def most_bytes(self) -> int:
        """The size of the largest file that is read."""
        return self.megabytes * 10**6

    def is_old(self, when: datetime | None, now: datetime) -> bool:
        """Whether something of this time lies before the time window; what has no time never does."""
        return self.days is not None and when is not None and when < now - timedelta(days=self.days)


@dataclass
class Notes:
    """What was read of a source, and what was not.

    Parameters
    ----------
    read : int
        Documents that were read and taken.
    left_out : Counter
        How many were left out, by the reason.
    passed_over : list of (str, str)
        Files and messages that could not be read, each with the reason.
    failed : VeilsetError, optional
        Why nothing at all could be read.
    documents : list of Document
        The documents, without their texts, if they were asked for.
    """

    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    failed: VeilsetError | None = None
    documents: list[Document] = field(default_factory=list)

    def pass_over(self, what: str, why: str) -> None:
        """Note that something was not read."""
        self.passed_over.append((what, why))

    def to_json(self) -> dict[str, Any]:
        """What a program is told."""
        return {
            "read": self.read,
            "left_out": dict(self.left_out.most_common()),
            "passed_over": [{"what": what, "why": why} for what, why in self.passed_over],
            "failed": None if self.failed is None else str(self.failed),
        }


Reader = Callable[[Source, Notes], Iterator[Document]]
"""Reads the documents of a source; raises if it cannot be read at all, and notes what of it cannot."""


def whole_number(text: object) -> int:
    """The number that a text of digits stands for; 0 if it is none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20 else 0


def time_of(stamp: object, per_second: int, epoch: datetime = datetime(1970, 1, 1, tzinfo=UTC)) -> datetime | None:
    """The time that a number stands for; None if it is no number, or no time that a document can have."""
    if not isinstance(stamp, (int, float)) or isinstance(stamp, bool) or not 0 < stamp < 1e18:
        return None
    try:
        when = epoch + timedelta(seconds=stamp / per_second)
    except OverflowError:
        return None
    return when.replace(microsecond=0) if when.year < 9000 else None
