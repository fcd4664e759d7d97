"""Finds what could be a source on this machine, by names of files only: nothing is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from veilset.search.sources.source import SourceKind

_PATTERNS: tuple[tuple[SourceKind, str], ...] = (
    ("firefox", ".mozilla/firefox/*/places.sqlite"),
    ("firefox", "snap/firefox/common/.mozilla/firefox/*/places.sqlite"),
    ("firefox", ".var/app/org.mozilla.firefox/.mozilla/firefox/*/places.sqlite"),
    ("firefox", "Library/Application Support/Firefox/Profiles/*/places.sqlite"),
    ("chromium", ".config/chromium/*/History"),
    ("chromium", ".config/google-chrome/*/History"),
    ("chromium", ".config/microsoft-edge/*/History"),
    ("chromium", ".config/vivaldi/*/History"),
    ("chromium", ".config/BraveSoftware/Brave-Browser/*/History"),
    ("chromium", "snap/chromium/common/chromium/*/History"),
    ("chromium", "Library/Application Support/Google/Chrome/*/History"),
    ("chromium", "Library/Application Support/Microsoft Edge/*/History"),
    ("bookmarks", ".config/chromium/*/Bookmarks"),
    ("bookmarks", ".config/google-chrome/*/Bookmarks"),
    ("bookmarks", ".config/microsoft-edge/*/Bookmarks"),
    ("mbox", ".thunderbird/*/Mail/*/Inbox"),
    ("mbox", ".thunderbird/*/Mail/*/Sent"),
    ("mbox", ".thunderbird/*/ImapMail/*/INBOX"),
    ("maildir", "Maildir"),
    ("folder", "Documents"),
)


def candidates(home: Path) -> Iterator[tuple[SourceKind, Path]]:
    """Kind and path of what is where programs usually have it."""
    for kind, pattern in _PATTERNS:
        for path in sorted(home.glob(pattern)):
            yield kind, path
