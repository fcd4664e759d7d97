"""DuckDB files and PostgreSQL servers, each behind the same few questions. Their drivers are loaded when needed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from veilset.errors import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.io.files import readable
from veilset.limits import Limits
from veilset.views import installed

SQL_EXTRA = "'veilset[sql]'"
"""What to install for the drivers."""
DATABASE_TYPE = b"database type"
"""The metadata of a field under which its type in the database stands, if the server has a name for it."""
_ROWS_AT_ONCE = 1 << 16
_FIRST_ROWS = 1000  # until it is known how long rows are
_BYTES_AT_ONCE = 1 << 23
_DECLARE = 'DECLARE "veilset" CURSOR FOR '  # what psycopg puts before a query; positions count from its beginning
_TYPES = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float64(),
    "float8": pa.float64(),
}
"""Types of PostgreSQL that are not taken as the text it writes for them."""


class DuckDB:
    """A DuckDB file, opened so that nothing is written, in it or elsewhere."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._duckdb = installed("duckdb", "Reading DuckDB files", SQL_EXTRA)
        self._query = ""
        self._reader: Any = None
        with readable(path):
            path.open("rb").close()
        config = {
            "enable_external_access": "false",  # COPY and ATTACH could write elsewhere
            "memory_limit": f"{limits.bytes_left()}B",
            "temp_directory": "",  # the data goes to no disk
            "threads": str(limits.thread_count),
        }
        try:
            self._connection = self._duckdb.connect(str(path), read_only=True, config=config)
            self._connection.execute("SET enable_progress_bar = false")  # it would go to standard output
        except self._duckdb.Error as error:
            raise UnreadableInput(
                f"{str(path)!r} cannot be opened as a DuckDB file: {_one_line(error)}",
                "Check that it is one, written by this version or an earlier one, and that no other program is "
                "writing to it.",
            ) from None

    def rows(self, query: str) -> list[Any]:
        """All rows of a small result."""
        return list(self._connection.execute(query).fetchall())

    def start(self, query: str) -> Any:
        """Begin a query; the schema of its result."""
        statements = self._connection.extract_statements(query)
        if [statement.type for statement in statements] != [self._duckdb.StatementType.SELECT]:
            kinds = ", ".join(statement.type.name for statement in statements) or "nothing"
            raise InvalidArgument(
                f"The query is not a single SELECT statement, but: {kinds}.", "Give one statement that only reads."
            )
        self._query = query
        self._reader = self._connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE)
        return self._reader.schema

    def next_batch(self) -> Any:
        """The next batch; None after the last."""
        try:
            return next(self._reader, None)
        except (pa.ArrowException, OSError):
            self._reader = None
            self._check_memory()
            raise

    def _check_memory(self) -> None:
        """Raise if the query does not fit into memory.

        An error that comes through Arrow's stream has lost its class. So DuckDB runs the query again, without its rows.
        """
        try:
            self._connection.execute(f"EXPLAIN ANALYZE {self._query}")
        except self._duckdb.OutOfMemoryException:
            raise
        except self._duckdb.Error:
            return

    def interrupt(self) -> None:
        """End what is going on, from another thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """End the connection."""
        self._reader = None
        self._connection.close()

    def explained(self, error: Exception, limits: Limits) -> Exception:
        """The error in our form, or as it is."""
        if isinstance(error, self._duckdb.OutOfMemoryException):
            try:
                limits.require(1 << 62, "The query", "select or sort less.")
            except BudgetExceeded as stopped:
                return stopped
        if not isinstance(error, (self._duckdb.Error, pa.ArrowException, OSError)):
            return error
        return UnreadableInput(f"DuckDB rejected the query: {str(error).strip()}", "Correct it, and try again.")


class PostgreSQL:
    """A connection to a PostgreSQL server, in a transaction that only reads."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._psycopg = installed("psycopg", "Reading PostgreSQL databases", SQL_EXTRA)
        self._password = ""
        self._rows_at_once = _FIRST_ROWS
        self._schema: Any = None
        parameters = self._understood(url)
        patience = max(2, int(min(10, limits.seconds_left())))
        try:
            self._connection = self._psycopg.connect(url, connect_timeout=parameters.get("connect_timeout", patience))
        except self._psycopg.Error as error:
            raise UnreadableInput(
                f"Cannot connect to the PostgreSQL database {_place(parameters)}: {self._shown(_one_line(error))}",
                "Check the address and the server; a password comes from PGPASSWORD, ~/.pgpass or the address.",
            ) from None
        self._connection.read_only = True
        self._cursor: Any = None
        for info in self._psycopg.postgres.types:
            if info.name not in _TYPES:
                self._connection.adapters.register_loader(info.oid, self._psycopg.types.string.TextLoader)

    def _understood(self, url: str) -> dict[str, Any]:
        """The parts of an address. What libpq says about one that it does not understand could hold the password."""
        before, _, after = url.partition("://")[2].partition("@")
        try:
            parameters = dict(self._psycopg.conninfo.conninfo_to_dict(url))
        except self._psycopg.Error:
            parameters = None
        if parameters is None or "@" in after or (after and "/" in before):
            raise InvalidArgument(
                "The address of the PostgreSQL database is not valid.",
                "Write postgresql://USER@HOST:PORT/DATABASE, with @ / : and % inside names as %40 %2F %3A %25.",
            )
        self._password = parameters.get("password") or ""
        return parameters

    def _shown(self, text: str) -> str:
        return text.replace(self._password, "***") if self._password else text

    def rows(self, query: str) -> list[Any]:
        """All rows of a small result."""
        return list(self._connection.execute(query).fetchall())

    def start(self, query: str) -> Any:
        """Begin a query; the schema of its result."""
        self._cursor = self._connection.cursor(name="veilset")
        self._cursor.execute(query)
        self._schema = pa.schema([self._field(column) for column in self._cursor.description])
        return self._schema

    def _field(self, column: Any) -> Any:
        info = self._psycopg.postgres.types.get(column.type_code)
        named = info is not None and column.type_code == info.oid
        return pa.field(
            column.name, self._type_of(column), metadata={DATABASE_TYPE: info.name.encode()} if named else None
        )

    def _type_of(self, column: Any) -> Any:
        info = self._psycopg.postgres.types.get(column.type_code)
        if info is None:
            return pa.string()
        kind = _TYPES.get(info.name, pa.string())
        if column.type_code == info.array_oid:
            return pa.list_(kind)
        if info.name == "numeric" and column.precision and 0 <= column.scale <= column.precision <= 76:
            return pa.decimal256(column.precision, column.scale)
        return kind

    def next_batch(self) -> Any:
        """The next batch; None after the last."""
        rows = self._cursor.fetchmany(self._rows_at_once)
        if not rows:
            return None
        columns = zip(*rows, strict=True)
        batch = pa.record_batch(
            [_array(values, field) for values, field in zip(columns, self._schema, strict=True)], schema=self._schema
        )
        self._rows_at_once = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE * len(rows) // max(1, batch.nbytes)))
        return batch

    def interrupt(self) -> None:
        """End what is going on, from another thread."""
        with contextlib.suppress(self._psycopg.Error):  # out of reach: the connection is closed next, which ends it too
            self._connection.cancel_safe(timeout=5)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()  # without commit
        if self._cursor is not None:
            self._cursor.close()

    def explained(self, error: Exception, limits: Limits) -> Exception:
        """The error in our form, or as it is."""
        if not isinstance(error, self._psycopg.Error):
            return error
        message = self._shown(error.diag.message_primary or _one_line(error)).rstrip(".")
        place = int(error.diag.statement_position or 0) - len(_DECLARE)
        where = f", at character {place} of the query" if place > 0 else ""
        hint = error.diag.message_hint or "Correct it. Only a single read-only statement is allowed."
        return UnreadableInput(f"PostgreSQL rejected the query: {message}{where}.", hint)


Database = DuckDB | PostgreSQL


def _array(values: tuple[Any, ...], field: Any) -> Any:
    try:
        if pa.types.is_decimal(field.type):
            return pa.array(values, pa.string()).cast(field.type)
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError) as error:
        raise UnreadableInput(
            f"The column {field.name!r} contains a value that is not of type {field.type}: {_one_line(error)}",
            "Cast it in the query, for example with ::text or ::text[].",
        ) from None


def _place(parameters: dict[str, Any]) -> str:
    user = parameters.get("user") or os.environ.get("PGUSER") or os.environ.get("USER", "")
    host = parameters.get("host") or os.environ.get("PGHOST") or "this machine"
    port = parameters.get("port") or os.environ.get("PGPORT") or "5432"
    database = parameters.get("dbname") or os.environ.get("PGDATABASE") or user
    return f"{database!r} on {host}, port {port}, as {user!r}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") + "."
