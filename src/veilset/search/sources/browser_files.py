"""Databases of browsers, read on a copy: a browser that runs keeps them locked, and has part of them in a second file.

The copy lies in memory if the system has a place for that. It is deleted when it has been read, and also if the process
is ended or its terminal is closed meanwhile. SQLite never opens the original.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from veilset.errors import UnreadableInput
from veilset.search.schema import PLAIN

_LARGEST = 4 << 30  # bytes
_LONGEST_VALUE = 1 << 24  # bytes
_PATIENCE = 120.0  # seconds of work for one database
_STEPS = 100_000  # of SQLite's machine, between two looks at the clock
_ATTEMPTS = 5
_COMPANIONS = ("-wal", "-journal")  # what is to be merged, or to be taken back


class BrowserFile:
    """A copy of a browser's database."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def require(self, table: str, columns: tuple[str, ...], whose: str) -> None:
        """Raise unless there is this table, with these columns."""
        found = {row[1] for row in self.ask(f"SELECT * FROM pragma_table_info('{table}')")}  # noqa: S608 - ours
        ((count,),) = self.ask("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table)
        if not count or not found.issuperset(columns):
            what = f"no table {table!r}" if not count else f"no column {min({*columns} - found)!r} in {table!r}"
            raise UnreadableInput(f"{str(self.path)!r} is not {whose}: it has {what}.", "Check the path and the kind.")

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows of an answer."""
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise UnreadableInput(f"{str(self.path)!r} takes too long to read.", _ADVICE) from None
            raise self._damaged(error) from None
        except UnicodeDecodeError:  # in SQLite's own message, which quotes the file
            raise self._damaged("a name in it is no text") from None
        except (sqlite3.DatabaseError, OverflowError, MemoryError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: object) -> UnreadableInput:
        return UnreadableInput(f"{str(self.path)!r} is damaged: {error}.", _ADVICE)


_ADVICE = "Let the browser repair it, or leave this source out."


@contextmanager
def copied(path: Path) -> Iterator[BrowserFile]:
    """A copy of a database, with what its browser has not merged into it yet."""
    with (
        _ending_as_usual(),
        tempfile.TemporaryDirectory(prefix="veilset-", dir=_in_memory(), ignore_cleanup_errors=True) as folder,
    ):
        copy = Path(folder) / "copy.sqlite"
        _copy(path, copy)
        with closing(_connected(copy)) as connection:
            file = BrowserFile(path, connection)
            file.ask("SELECT count(*) FROM sqlite_master")
            yield file


@contextmanager
def _ending_as_usual() -> Iterator[None]:
    """Signals that end the process at once raise `SystemExit` instead, so that what must be cleaned up is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    sudden = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_DFL]
    for one in sudden:
        signal.signal(one, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for one in sudden:
            signal.signal(one, signal.SIG_DFL)


def find_file(path: Path, name: str, whose: str) -> Path:
    """The file of this name, if *path* is the folder of a browser's profile; else *path*."""
    if not path.is_dir():
        return path
    if not (path / name).is_file():
        raise UnreadableInput(f"{str(path)!r} has no file {name!r}.", f"Name the folder of {whose}, or the file.")
    return path / name


def _copy(path: Path, copy: Path) -> None:
    """Copy the database with what belongs to it, so that they fit: nothing of it may change meanwhile.

    The user may name a link. What belongs to the database is beside the file itself, and is no link.
    """
    try:
        real = os.path.realpath(path)
        files = {Path(f"{real}{suffix}"): Path(f"{copy}{suffix}") for suffix in ("", *_COMPANIONS)}
        for _ in range(_ATTEMPTS):
            before = _states(*files)
            _check(path, before)
            for state, (original, copied) in zip(before, files.items(), strict=True):
                copied.unlink(missing_ok=True)
                if state is not None:
                    shutil.copyfile(original, copied)
            if _states(*files) == before:
                return
            time.sleep(0.2)
    except OSError as error:
        raise UnreadableInput(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from None
    raise UnreadableInput(f"{str(path)!r} changes while it is read.", "Close the browser, and try again.")


def _check(path: Path, states: tuple[tuple[int, int] | None, ...]) -> None:
    """Raise if there is no such file, or one that is too large or something else."""
    if states[0] is None:
        raise UnreadableInput(f"There is no file {str(path)!r}.", "Check the path.")
    if sum(state[1] for state in states if state) > _LARGEST:
        raise UnreadableInput(f"{str(path)!r} is larger than {_LARGEST >> 30} GB.", _ADVICE)
    with path.open("rb") as stream:
        if stream.read(len(PLAIN)) != PLAIN:
            raise UnreadableInput(f"{str(path)!r} is no database of a browser.", "Check the path and the kind.")


def _states(*paths: Path) -> tuple[tuple[int, int] | None, ...]:
    """When each file was changed, and its size; None if there is no such file."""
    found: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            state = path.lstat()
        except FileNotFoundError:
            found.append(None)
        else:
            if not stat.S_ISREG(state.st_mode):
                raise OSError(None, "it is no file", str(path))
            found.append((state.st_mtime_ns, state.st_size))
    return tuple(found)


def _connected(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    deadline = time.monotonic() + _PATIENCE
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    return connection


def _in_memory() -> str | None:
    """The user's own folder in memory, if the system has one."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return folder if folder and os.access(folder, os.W_OK) else None
