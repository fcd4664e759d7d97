"""What a profile is built from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the user: a page that was visited, a message, a file.

    Parameters
    ----------
    key : str
        Which document this is. A source gives the same document the same key whenever it is read.
    source : str
        The name of the source, such as ``"firefox"`` or ``"mail"``.
    title : str
        Its title or subject.
    text : str
        What it says; empty for pages of a browser's history, of which only addresses and titles are known.
    place : str
        The site, folder or sender that rules can exclude.
    when : datetime, optional
        When it was last visited, sent or changed, in UTC.
    language : str, optional
        Its language (``"en"``), if the source says so; otherwise it is detected.
    """

    key: str
    source: str
    title: str
    text: str = ""
    place: str = ""
    when: datetime | None = None
    language: str | None = None
