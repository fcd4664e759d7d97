"""Files of browsers as tests make them: with the tables that Firefox and Chromium create."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIREFOX = """
CREATE TABLE moz_origins ( id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, host TEXT NOT NULL, frecency INTEGER NOT NULL,
    UNIQUE (prefix, host) );
CREATE TABLE moz_places ( id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, rev_host LONGVARCHAR,
    visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL,
    frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT, foreign_count INTEGER DEFAULT 0 NOT NULL,
    url_hash INTEGER DEFAULT 0 NOT NULL, description TEXT, preview_image_url TEXT,
    origin_id INTEGER REFERENCES moz_origins(id));
CREATE INDEX moz_places_url_hashindex ON moz_places (url_hash);
CREATE INDEX moz_places_lastvisitdateindex ON moz_places (last_visit_date);
CREATE UNIQUE INDEX moz_places_guid_uniqueindex ON moz_places (guid);
CREATE TABLE moz_historyvisits ( id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER,
    visit_type INTEGER, session INTEGER);
CREATE INDEX moz_historyvisits_placedateindex ON moz_historyvisits (place_id, visit_date);
CREATE TABLE moz_bookmarks ( id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL, parent INTEGER,
    position INTEGER, title LONGVARCHAR, keyword_id INTEGER, folder_type TEXT, dateAdded INTEGER, lastModified INTEGER,
    guid TEXT, syncStatus INTEGER NOT NULL DEFAULT 0, syncChangeCounter INTEGER NOT NULL DEFAULT 1);
"""
CHROMIUM = """
CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT,url LONGVARCHAR,title LONGVARCHAR,visit_count INTEGER DEFAULT 0
    NOT NULL,typed_count INTEGER DEFAULT 0 NOT NULL,last_visit_time INTEGER NOT NULL,hidden INTEGER DEFAULT 0 NOT NULL);
CREATE INDEX urls_url_index ON urls (url);
CREATE TABLE visits(id INTEGER PRIMARY KEY AUTOINCREMENT,url INTEGER NOT NULL,visit_time INTEGER NOT NULL,from_visit
    INTEGER,external_referrer_url TEXT,transition INTEGER DEFAULT 0 NOT NULL,segment_id INTEGER,visit_duration INTEGER
    DEFAULT 0 NOT NULL,incremented_omnibox_typed_score BOOLEAN DEFAULT FALSE NOT NULL,opener_visit INTEGER,
    originator_cache_guid TEXT,originator_visit_id INTEGER,originator_from_visit INTEGER,
    originator_opener_visit INTEGER,is_known_to_sync BOOLEAN DEFAULT FALSE NOT NULL,
    consider_for_ntp_most_visited BOOLEAN DEFAULT FALSE NOT NULL,
    visited_link_id INTEGER DEFAULT 0 NOT NULL, app_id TEXT);
"""

LATELY = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
_WINDOWS = datetime(1601, 1, 1, tzinfo=UTC)

Page = tuple[str, str | None, datetime | None]
"""Address, title and time of the last visit; never visited if there is no time."""


def unix(when: datetime | None) -> int | None:
    """Microseconds since 1970, as Firefox has them."""
    return None if when is None else (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def windows(when: datetime | None) -> int:
    """Microseconds since 1601, as Chromium has them; 0 for never."""
    return 0 if when is None else (when - _WINDOWS) // timedelta(microseconds=1)


def firefox(
    path: Path, pages: list[Page], *, hidden: list[Page] = (), marked: list[Page] = (), wal: bool = False
) -> Path:
    """A ``places.sqlite``; with *wal*, the pages are in its log of writes only."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(FIREFOX)
        if wal:
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA wal_autocheckpoint = 0")
        for number, (address, title, when) in enumerate([*pages, *hidden, *marked], start=1):
            is_marked, is_hidden = number > len(pages) + len(hidden), len(pages) < number <= len(pages) + len(hidden)
            stamp = None if is_marked else unix(when)
            made.execute(
                "INSERT INTO moz_places (id, url, title, visit_count, hidden, last_visit_date, guid) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, address, title, stamp is not None, is_hidden, stamp, f"guid{number}"),
            )
            if stamp is not None:
                made.execute(
                    "INSERT INTO moz_historyvisits (place_id, visit_date, visit_type) VALUES (?, ?, 1)", (number, stamp)
                )
            if is_marked:
                made.execute(
                    "INSERT INTO moz_bookmarks (type, fk, title, dateAdded) VALUES (1, ?, ?, ?)",
                    (number, title, unix(when)),
                )
        made.execute("INSERT INTO moz_bookmarks (type, title, dateAdded) VALUES (2, 'a folder', 1)")
        made.commit()
        if wal:
            kept = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal")}
    if wal:  # closing it has merged the log
        for name, content in kept.items():
            Path(f"{path}{name}").write_bytes(content)
    return path


def chromium(path: Path, pages: list[Page], *, hidden: list[Page] = ()) -> Path:
    """A ``History``."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript(CHROMIUM)
        for number, (address, title, when) in enumerate([*pages, *hidden], start=1):
            made.execute(
                "INSERT INTO urls (id, url, title, visit_count, last_visit_time, hidden) VALUES (?, ?, ?, ?, ?, ?)",
                (number, address, title or "", when is not None, windows(when), number > len(pages)),
            )
            if when is not None:
                made.execute("INSERT INTO visits (url, visit_time) VALUES (?, ?)", (number, windows(when)))
        made.commit()
    return path


def chromium_bookmarks(path: Path, marked: list[Page]) -> Path:
    """A ``Bookmarks`` of Chromium: the second half is in a folder."""
    nodes = [
        {"type": "url", "name": title, "url": address, "date_added": str(windows(when)), "guid": "x"}
        for address, title, when in marked
    ]
    folder = {"type": "folder", "name": "More", "children": nodes[len(nodes) // 2 :], "date_added": "0"}
    bar = {"type": "folder", "name": "Bar", "children": [*nodes[: len(nodes) // 2], folder]}
    roots = {"bookmark_bar": bar, "other": {"children": []}, "sync_transaction_version": "1"}
    path.write_text(json.dumps({"checksum": "0", "roots": roots, "version": 1}))
    return path


def exported_bookmarks(path: Path, marked: list[Page]) -> Path:
    """Bookmarks as browsers export them."""
    links = "\n".join(
        f'<DT><A HREF="{address}" ADD_DATE="{(unix(when) or 0) // 10**6}">{title}</A>'
        for address, title, when in marked
    )
    head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p><DT><H3>Folder</H3><DL><p>\n"
    path.write_text(f"{head}{links}\n</DL><p></DL>")
    return path
