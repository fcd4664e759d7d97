"""The tables that users give, in any form, as Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError
from veilset.io.csv_tables import read_csv_table
from veilset.io.databases import DATABASE_TYPE
from veilset.io.frames import table_reader
from veilset.io.layout import Layout, delimiter_of, unpacked_name
from veilset.io.sql import is_database, open_query, without_password
from veilset.io.tables import open_columns
from veilset.joins.columns import run_end_decoded
from veilset.limits import Limits
from veilset.views import Count

_LAYOUTS = {
    ".parquet": "parquet-long",
    ".pq": "parquet-long",
    ".arrow": "arrow-long",
    ".feather": "arrow-long",
    ".ipc": "arrow-long",
}
_TEXT = (".csv", ".tsv")
_NOTES = b"veilset.notes"
_TYPED = {
    b"date": pa.date32(),
    b"time": pa.time64("us"),
    b"timestamp": pa.timestamp("us"),
    b"timestamptz": pa.timestamp("us", "UTC"),
    b"numeric": pa.float64(),
}
"""Types of PostgreSQL that come as text."""


@dataclass(frozen=True)
class Query:
    """A table that a database answers: a query of a DuckDB file or a PostgreSQL server.

    >>> Query("postgresql://ann:secret@shop.example/sales", "SELECT * FROM orders")
    Query('postgresql://ann@shop.example/sales', 'SELECT * FROM orders')
    """

    source: str
    sql: str

    def __repr__(self) -> str:
        return f"Query({without_password(self.source)!r}, {self.sql!r})"


@dataclass(frozen=True)
class Csv:
    """A CSV file that is not UTF-8 text, or whose fields are not separated by commas (in ``.tsv`` files: by tabs)."""

    path: str | Path
    encoding: str = "utf-8"
    delimiter: str | None = None


def read_table(name: str, given: Any, *, keys: Sequence[str], limits: Limits) -> pa.Table:
    """The table called *name*.

    Parameters
    ----------
    name : str
        What errors call it.
    given : object
        A frame (pandas, polars, DuckDB, Arrow, or any object with the Arrow interface); the path of a Parquet, Arrow,
        CSV or TSV file; a `Csv`, which says more about such a file; or a `Query`.
    keys : sequence of str
        Its key columns. In a CSV file these are read as text, so that "007" stays "007".
    limits : Limits
        Of memory and time.

    Examples
    --------
    >>> read_table("T3", pa.table({"J2": ["x", "y"]}), keys=["J2"], limits=Limits()).num_rows
    2
    """
    try:
        table = _table(given, set(keys), limits)
        _check_names(table.column_names)
    except VeilsetError as error:
        raise error.within(f"Table {name!r}: ") from None
    return _plain(table)


def _plain(table: pa.Table) -> pa.Table:
    """The same table without views, as polars has them, and encoded runs: Arrow cannot choose rows of these."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_run_end_encoded(field.type):
            column = run_end_decoded(column)
        if (of := _without_views(column.type)) != column.type:
            column = column.cast(of)
        if column.type != field.type:
            table = table.set_column(place, field.name, column)
    return table


def _without_views(of: Any) -> Any:
    if pa.types.is_string_view(of):
        return pa.large_string()
    if pa.types.is_binary_view(of):
        return pa.large_binary()
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return (pa.list_ if pa.types.is_list(of) else pa.large_list)(_without_views(of.value_type))
    if pa.types.is_fixed_size_list(of):
        return pa.list_(_without_views(of.value_type), of.list_size)
    if pa.types.is_struct(of):
        return pa.struct([field.with_type(_without_views(field.type)) for field in of])
    return of


def notes_of(table: pa.Table) -> tuple[str, ...]:
    """What is worth knowing about how a table was read.

    >>> notes_of(pa.table({"a": [1]}))
    ()
    """
    return tuple(json.loads((table.schema.metadata or {}).get(_NOTES, b"[]")))


def _table(given: Any, keys: set[str], limits: Limits) -> pa.Table:
    if isinstance(given, str) and is_database(given):
        given = Query(given, "")  # the error says which tables there are
    if isinstance(given, Query):
        return _from_query(given, keys, limits)
    if isinstance(given, Csv):
        return _from_csv(given, keys, limits)
    if isinstance(given, (str, Path)):
        return _from_file(Path(given), keys, limits)
    _check_frame(given)
    reader = table_reader(given)
    return _collected(reader, lambda: reader.schema, limits)


def _check_frame(given: Any) -> None:
    """Raise at what is often mistaken for a table."""
    if hasattr(given, "collect") and not hasattr(given, "__arrow_c_stream__"):
        raise InvalidArgument(f"A {type(given).__name__} is not a table yet.", "Collect it first: .collect().")
    if isinstance(given, (dict, list, tuple)):
        raise InvalidArgument(
            f"A {type(given).__name__} is not a table.",
            "Make one of it: pyarrow.table(…) of lists by column, or pyarrow.Table.from_pylist(…) of rows.",
        )


def _check_names(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidArgument(f"{names.count(twice)} columns are named {twice!r}.", "Give each a unique name.")
    if not names:
        raise InvalidArgument("There are no columns.", "Give a table with one at least.")


def _collected(batches: Iterable[Any], schema: Callable[[], Any], limits: Limits) -> pa.Table:
    kept = []
    for batch in batches:
        limits.check_time("Reading", "use smaller tables.")
        limits.require(batch.nbytes, "Reading", "use smaller tables.")
        kept.append(batch)
    return pa.Table.from_batches(kept, kept[0].schema if kept else schema())


def _from_file(path: Path, keys: set[str], limits: Limits) -> pa.Table:
    suffix = path.suffix.lower()
    if suffix in _LAYOUTS:
        schemas: list[Any] = []

        def all_columns(schema: Any) -> list[str]:
            schemas.append(schema)
            _check_names(schema.names)
            return list(schema.names)

        batches = open_columns(path, Layout(_LAYOUTS[suffix]), all_columns, limits)
        return _collected(batches, schemas.pop, limits)
    if Path(unpacked_name(path)).suffix.lower() not in _TEXT:
        raise InvalidArgument(
            f"The name {path.name!r} does not indicate a format.",
            f"Name a file that ends in {', '.join((*_LAYOUTS, *_TEXT))}, .csv.gz or .csv.zst.",
        )
    return _from_csv(Csv(path), keys, limits)


def _from_csv(given: Csv, keys: set[str], limits: Limits) -> pa.Table:
    path = Path(given.path)
    delimiter = delimiter_of(path) if given.delimiter is None else given.delimiter
    table = read_csv_table(path, keys, given.encoding, delimiter, limits)
    missing = Count(sum(column.null_count for column in table.columns))
    note = f"{missing:,} empty {missing:field was|fields were} read as missing." if missing else ""
    return table.replace_schema_metadata({_NOTES: json.dumps([note])}) if note else table


def _from_query(query: Query, keys: set[str], limits: Limits) -> pa.Table:
    try:
        schema, batches = open_query(query.source, query.sql, limits)
    except InvalidArgument as error:
        raise error.calling(query="sql") from None
    table = _collected(batches, lambda: schema, limits)
    for place, field in enumerate(schema):
        of = _TYPED.get((field.metadata or {}).get(DATABASE_TYPE, b""))
        if of is not None and pa.types.is_string(field.type) and not (field.name in keys and pa.types.is_floating(of)):
            table = table.set_column(place, field.name, _typed(table.column(place), field.name, of))
    return table


def _typed(column: Any, name: str, of: Any) -> Any:
    try:
        if pa.types.is_time(of):  # Arrow reads times of some day only
            return pc.binary_join_element_wise("1970-01-01", column, " ").cast(pa.timestamp("us")).cast(of)
        return column.cast(of)
    except pa.ArrowInvalid as error:
        raise UnreadableInput(
            f"The column {name!r} has a value that is not of type {of}: {str(error).splitlines()[0]}.",
            "Replace it in the query, or cast the column with ::text.",
        ) from None
