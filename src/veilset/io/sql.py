"""Queries of DuckDB files and PostgreSQL servers, as streams of Arrow batches.

Databases are only read: a DuckDB file is opened so, and may touch no other file; a PostgreSQL query runs in a read-only
transaction, over a cursor on the server. A password is never stored or shown.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, Protocol, TypeVar

from veilset.errors import InvalidArgument, said
from veilset.io.databases import Database, DuckDB, PostgreSQL
from veilset.limits import Limits

_SERVERS = ("postgresql://", "postgres://")
_FILE = "duckdb:///"
_SUFFIXES = (".duckdb", ".ddb")
ROOM = 1 << 26  # bytes; DuckDB does not start with much less
_LOOK = 0.1  # seconds between two looks at the clock
_SHOWN = 20  # tables in an error
_TABLES = """
    SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_schema, table_name, ordinal_position
"""

_T = TypeVar("_T")


def is_database(source: str) -> bool:
    """Whether *source* names a database rather than a file of transactions.

    >>> is_database("postgresql://ann@shop.example/sales"), is_database("sales.duckdb"), is_database("sales.csv")
    (True, True, False)
    """
    return source.startswith((*_SERVERS, _FILE)) or Path(source).suffix.lower() in _SUFFIXES


def without_password(source: str) -> str:
    """The address of a database without its password.

    >>> without_password("postgresql://ann:secret@shop.example/sales?sslmode=require&password=secret")
    'postgresql://ann@shop.example/sales?sslmode=require'
    """
    if not source.startswith(_SERVERS):
        return source
    address, mark, parameters = re.sub(r"(?s)(://[^:@/]*):.*@", r"\1@", source, count=1).partition("?")
    kept = [part for part in parameters.split("&") if part.partition("=")[0] not in ("password", "sslpassword")]
    return address + (mark + "&".join(kept) if any(kept) else "")


def located(source: str, folder: Path) -> str:
    """The same database from wherever one stands: the path of a file is one in *folder*.

    >>> located("sales.duckdb", Path("/data")), located("postgresql://shop.example/sales", Path("/data"))
    ('/data/sales.duckdb', 'postgresql://shop.example/sales')
    """
    if source.startswith(_SERVERS):
        return source
    prefix = _FILE if source.startswith(_FILE) else ""
    return prefix + str(folder / source.removeprefix(_FILE))


def open_query(source: str, query: str | None, limits: Limits) -> tuple[Any, Iterator[Any]]:
    """The schema of a query's result, and its rows as `pyarrow.RecordBatch` after `pyarrow.RecordBatch`.

    A query is one statement that reads. Without one, the error says which tables there are. Time limit and Ctrl-C end
    it in the database; DuckDB keeps to what is left of the memory limit.
    """
    limits.require(ROOM, "Opening a database", "use a machine with more memory.")
    if source.startswith(_SERVERS):
        database: Database = PostgreSQL(source, limits)
    else:
        database = DuckDB(Path(source.removeprefix(_FILE)), limits)
    batches = Batches(database, limits)
    if query is None or not query.strip():
        raise batches.close(_no_query(without_password(source), batches.ask(lambda: database.rows(_TABLES))))
    schema = batches.ask(lambda: database.start(query))
    return schema, batches


def _no_query(source: str, columns: list[tuple[str, str, str, str]]) -> InvalidArgument:
    tables: dict[str, list[str]] = {}
    for schema, table, column, kind in columns:
        name = _quoted(table) if schema in ("main", "public") else f"{_quoted(schema)}.{_quoted(table)}"
        tables.setdefault(name, []).append(f"{_quoted(column)} {kind}")
    if not tables:
        return InvalidArgument(
            f"{source!r} needs a query, but has no readable tables.", "Check that it is the right database."
        )
    shown = "; ".join(f"{name} ({', '.join(listed)})" for name, listed in list(tables.items())[:_SHOWN])
    more = f"; and {len(tables) - _SHOWN:,} more" if len(tables) > _SHOWN else ""
    return InvalidArgument(
        f"{source!r} is a database and needs a query. Its tables: {shown}{more}.",
        f"For example: {said('query', f'SELECT * FROM {next(iter(tables))}')}.",  # noqa: S608 - for the user to run
    )


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


class Asked(Protocol):
    """What is asked in a thread of its own."""

    def next_batch(self) -> Any:
        """The next batch; None after the last."""

    def interrupt(self) -> None:
        """End what is going on, from another thread."""

    def close(self) -> None:
        """End the connection."""

    def explained(self, error: Exception, limits: Limits) -> Exception:
        """The error in our form, or as it is."""


class Batches(Iterator[Any]):
    """The batches of a query that runs in a thread of its own, so that Ctrl-C and the clock are heard meanwhile."""

    def __init__(self, database: Asked, limits: Limits) -> None:
        self._database = database
        self._limits = limits
        self._closing = weakref.finalize(self, database.close)

    def __next__(self) -> Any:
        batch = self.ask(self._database.next_batch)
        if batch is None:
            self._closing()
            raise StopIteration
        return batch

    def ask(self, question: Callable[[], _T]) -> _T:
        """The database's answer. Whatever goes wrong, the query is ended and the connection closed."""
        answer: Future[_T] = Future()
        thread = threading.Thread(target=_settle, args=(answer, question), daemon=True)
        thread.start()
        try:
            while not answer.done():
                self._limits.check_time("The query", "select less.")
                wait([answer], timeout=_LOOK)
        except BaseException:
            self._database.interrupt()
            thread.join(timeout=5)
            self._closing()
            raise
        try:
            return answer.result()
        except Exception as error:
            raise self.close(self._database.explained(error, self._limits)) from None

    def close(self, error: Exception) -> Exception:
        """The error, after closing the connection."""
        self._closing()
        return error


def _settle(answer: Future[_T], question: Callable[[], _T]) -> None:
    try:
        answer.set_result(question())
    except Exception as error:  # raised again by who asked
        answer.set_exception(error)
