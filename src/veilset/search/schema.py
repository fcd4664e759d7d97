"""The tables of a store, and how its database is opened: nothing that was deleted stays in the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veilset.errors import CannotWrite, UnreadableInput

APPLICATION = 0x5653_5052
VERSION = 1
PLAIN = b"SQLite format 3\0"
_PATIENCE = 10.0  # seconds to wait for another process

_TABLES = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    place TEXT NOT NULL, seen TEXT, language TEXT, UNIQUE (source, key)
);
CREATE INDEX documents_by_key ON documents (key);
CREATE VIRTUAL TABLE found USING fts5 (
    title, text, place, content='documents', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO found (found, rank) VALUES ('rank', 'bm25(4.0, 1.0, 1.0)');
CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    INSERT INTO found (rowid, title, text, place) VALUES (new.id, new.title, new.text, new.place);
END;
CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    INSERT INTO found (found, rowid, title, text, place) VALUES ('delete', old.id, old.title, old.text, old.place);
END;
CREATE TRIGGER document_changed AFTER UPDATE ON documents BEGIN
    INSERT INTO found (found, rowid, title, text, place) VALUES ('delete', old.id, old.title, old.text, old.place);
    INSERT INTO found (rowid, title, text, place) VALUES (new.id, new.title, new.text, new.place);
END;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT, log TEXT NOT NULL, at TEXT NOT NULL, entry TEXT NOT NULL);
CREATE TABLE profiles (asked TEXT PRIMARY KEY, profile TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE remembered (
    kind TEXT NOT NULL, length INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (kind, length, digest)
) WITHOUT ROWID;
"""


def connect(address: str) -> sqlite3.Connection:
    """A connection to a file, or to memory; what is deleted is overwritten, and nothing goes to a temporary file.

    The journal of a transaction holds what it changes; it is deleted at its end, unlike a log of writes (WAL).
    """
    connection = sqlite3.connect(address, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def make_tables(connection: sqlite3.Connection) -> None:
    """Make an empty database into that of a store."""
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless this is the database of a store that this version understands."""
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION:
        raise UnreadableInput(
            f"{str(path)!r} is a database, but not one of a search profile.",
            "Name the file that veilset search profile build has written.",
        )
    if version != VERSION:
        raise UnreadableInput(
            f"{str(path)!r} has version {version}; this Veilset reads version {VERSION}.",
            "Install the Veilset that wrote it, or build the profile again in another file.",
        )


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What SQLite refuses, as an error of ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise CannotWrite(
                f"{str(path)!r} is in use by another process.", "Wait until it has ended, and try again."
            ) from None
        if _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
            raise CannotWrite(
                f"{str(path)!r} cannot be written: {error}.", "Check the disk space and the permissions, and try again."
            ) from None
        raise damaged(path, error) from None
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from None
    except UnicodeDecodeError:  # in SQLite's own message, which quotes the file
        raise damaged(path, "a name in it is no text") from None


def _code(error: sqlite3.Error) -> int:
    """The kind of an error; 0 for those of Python's own, such as text that is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def damaged(path: Path, error: object) -> UnreadableInput:
    """The error for a store that cannot be what was written."""
    return UnreadableInput(
        f"{str(path)!r} is damaged: {error}.",
        "Restore it from a backup, or delete it and build the profile again from its sources.",
    )


def shred(connection: sqlite3.Connection) -> None:
    """Write the index and the whole database anew, so that nothing of what was deleted is left in the file."""
    connection.execute("INSERT INTO found (found) VALUES ('rebuild')")
    connection.execute("VACUUM")
