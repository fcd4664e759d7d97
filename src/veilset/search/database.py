"""The file of a store: opened by its owner only, changed as a whole or not at all.

It is an SQLite database; or, under a passphrase, one that is in memory only, and sealed as a whole whenever it changes.
Nothing plain of it touches the disk.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.io import atomic_file
from veilset.search import schema
from veilset.search.sealed import MAGIC, Seal


class Database:
    """The database of a store. Threads may share it; use `create` or `open`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, seal: Seal | None, lock: int | None) -> None:
        self.path = path
        self.mutex = threading.RLock()
        self._connection, self._seal, self._lock = connection, seal, lock

    @classmethod
    def create(cls, path: Path, passphrase: str | None) -> Self:
        """A new one. Folders above it are made for its owner only."""
        seal = None if passphrase is None else Seal.new(passphrase)
        _make_empty(path)
        lock = None if seal is None else _locked(path)
        with schema.told(path):
            connection = schema.connect(str(path) if seal is None else ":memory:")
            schema.make_tables(connection)
        made = cls(connection, path, seal, lock)
        made._save()
        return made

    @classmethod
    def open(cls, path: Path, passphrase: str | None) -> Self:
        """An existing one."""
        sealed = is_sealed(path)
        if sealed and passphrase is None:
            raise InvalidArgument(f"{str(path)!r} needs a passphrase.", "Give the one that it was made with.")
        if not sealed and passphrase is not None:
            raise InvalidArgument(f"{str(path)!r} has no passphrase.", "Open it without one.")
        lock = _locked(path) if sealed else None
        try:
            path.chmod(0o600)
            with schema.told(path):
                connection = schema.connect(":memory:" if sealed else str(path))
                seal = None if passphrase is None else _unsealed(connection, path, passphrase)
                schema.check_tables(connection, path)
        except BaseException as error:
            if lock is not None:
                os.close(lock)
            if isinstance(error, OSError):
                raise CannotWrite(f"{str(path)!r}: {error.strerror}.", "Open a file of your own.") from None
            raise
        return cls(connection, path, seal, lock)

    def close(self) -> None:
        """Close it. Whatever was changed is on the disk already."""
        with self.mutex:
            self._connection.close()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def erase(self) -> None:
        """Delete the file."""
        self.close()
        for path in (self.path, _lock_of(self.path)):
            path.unlink(missing_ok=True)

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows of an answer."""
        with self.mutex, schema.told(self.path):
            return self._connection.execute(statement, values).fetchall()

    @property
    def version(self) -> int:
        """A number that grows with every change: SQLite counts those of other connections, and those of this one."""
        ((number,),) = self.ask("PRAGMA data_version")
        return int(number) + self._connection.total_changes

    def do(self, statement: str, *values: Any) -> int:
        """Change something within `changing`; how many rows are changed."""
        return max(0, self._connection.execute(statement, values).rowcount)

    def do_all(self, statement: str, rows: Iterable[Any]) -> None:
        """The same for many rows."""
        self._connection.executemany(statement, rows)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make changes all together, or none of them; within another such block, they belong to that."""
        with self.mutex, schema.told(self.path):
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
            self._save()

    def shred(self) -> None:
        """Write everything anew, so that nothing of what was deleted is left in the file."""
        with self.mutex, schema.told(self.path):
            schema.shred(self._connection)
            self._save()

    def _save(self) -> None:
        if self._seal is not None:
            with atomic_file(self.path, replace=True) as stream:
                stream.write(self._seal.closed(self._connection.serialize()))


def _make_empty(path: Path) -> None:
    """An empty file that only its owner can open."""
    if os.path.lexists(path):
        raise InvalidArgument(f"{str(path)!r} already exists.", "Open it, or choose another path.")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise CannotWrite(f"{str(path)!r} cannot be made: {error.strerror}.", "Choose another path.") from None


def is_sealed(path: Path) -> bool:
    """Whether a store needs a passphrase; an error if this is no store."""
    try:
        with path.open("rb") as stream:
            head = stream.read(len(MAGIC))
    except OSError as error:
        raise UnreadableInput(
            f"There is no search profile at {str(path)!r}: {error.strerror}.",
            "Make one: veilset search profile build. See docs/search-sources.md.",
        ) from None
    if head == MAGIC:
        return True
    if head != schema.PLAIN:
        raise UnreadableInput(
            f"{str(path)!r} is no search profile, or it is damaged.",
            "Name the file that veilset search profile build has written, or restore it from a backup.",
        )
    return False


def _unsealed(connection: sqlite3.Connection, path: Path, passphrase: str) -> Seal:
    content = path.read_bytes()
    seal = Seal.of(path, content, passphrase)
    connection.deserialize(seal.opened(path, content))
    return seal


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _locked(path: Path) -> int:
    """The lock on a sealed file: two processes would each have a copy in memory, and lose what the other writes."""
    lock = os.open(_lock_of(path), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise CannotWrite(
            f"{str(path)!r} is in use by another process.", "End it, such as veilset search serve, and try again."
        ) from None
    return lock
