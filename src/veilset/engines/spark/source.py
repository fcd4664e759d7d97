"""What to read: from a DataFrame, a table or a path to one column with the list of items of each transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veilset.engines.spark.session import pyspark
from veilset.errors import InvalidArgument, UnreadableInput, said, unknown

ITEMS = "items"
"""The column that lists end up in."""

_FORMATS = ("parquet", "csv", "delta", "table")
_LONG = said("long", ("ID", "ITEM"))


def opened(session: Any, source: Any, *, column: str | None, long: tuple[str, str] | None, format: str | None) -> Any:  # noqa: A002
    """A DataFrame with the column `ITEMS`: of each transaction, the list of its items."""
    if long is not None and column is not None:
        raise InvalidArgument("A table has lists or one item per row.", f"Use {said('column')} or {said('long')}.")
    frame = _frame(session, source, format, long)
    return _lists(frame, column) if long is None else _grouped(frame, long)


def _frame(session: Any, source: Any, format: str | None, long: tuple[str, str] | None) -> Any:  # noqa: A002
    sql = pyspark()
    if isinstance(source, sql.DataFrame):
        if format is not None:
            raise InvalidArgument(f"{said('format', format)} does not apply to a DataFrame.", "Leave it out.")
        return source
    if not isinstance(source, (str, Path)):
        kind = f"{type(source).__module__}.{type(source).__name__}"
        raise InvalidArgument(f"Spark cannot read a {kind}.", "Give a Spark DataFrame, the name of a table, or a path.")
    path = str(source)
    chosen = format or _format_of(path)
    if chosen not in _FORMATS:
        raise unknown("format", chosen, list(_FORMATS))
    if chosen == "csv" and long is None:
        raise InvalidArgument(f"{path!r} is read on Spark in long form only.", f"Name its columns: {_LONG}.")
    try:
        if chosen == "table":
            return session.table(path)
        if chosen == "csv":
            return session.read.csv(path, header=True, quote='"', escape='"', multiLine=True)
        if chosen == "parquet" and _has_delta_log(session, path):
            chosen = "delta"
        return session.read.format(chosen).load(path)
    except Exception as error:
        raise _unreadable(path, chosen, error) from None


def _format_of(path: str) -> str:
    name = path.rstrip("/").lower()
    if name.endswith((".parquet", ".pq")) or Path(path).is_dir():
        return "parquet"
    if name.endswith((".csv", ".csv.gz")):
        return "csv"
    raise InvalidArgument(
        f"The name {path!r} does not say its format.", f"Set {said('format')} to one of {', '.join(_FORMATS)}."
    )


def _has_delta_log(session: Any, path: str) -> bool:
    """Whether a folder is a Delta table: its files alone would bring deleted rows back."""
    log = session._jvm.org.apache.hadoop.fs.Path(path, "_delta_log")
    return bool(log.getFileSystem(session._jsparkSession.sessionState().newHadoopConf()).exists(log))


def _unreadable(path: str, chosen: str, error: Exception) -> UnreadableInput:
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    if chosen == "delta" and ("DATA_SOURCE_NOT_FOUND" in reason or "ClassNotFound" in str(error)):
        return UnreadableInput(
            f"{path!r} is a Delta table, and this Spark session has no reader for Delta.",
            "Start the session with the package delta-spark, or give the DataFrame that your session reads.",
        )
    return UnreadableInput(f"Spark cannot read {path!r} as {chosen}: {reason[:300]}", f"Check {said('format')}.")


def _lists(frame: Any, column: str | None) -> Any:
    types = pyspark().types
    lists = [field.name for field in frame.schema.fields if isinstance(field.dataType, types.ArrayType)]
    if column is None:
        if len(lists) != 1:
            found = f"{len(lists)} columns contain lists" if lists else "No column contains lists"
            raise InvalidArgument(
                f"{found}: {', '.join(map(repr, frame.columns))}.",
                f"Choose one: {said('column', lists[0])}." if lists else f"For one item per row, use {_LONG}.",
            )
        column = lists[0]
    _require(frame, column)
    if column not in lists:
        raise InvalidArgument(f"The column {column!r} does not hold lists.", f"For one item per row, use {_LONG}.")
    _require_items(column, frame.schema[column].dataType.elementType)
    return frame.select(frame[_quoted(column)].alias(ITEMS))


def _grouped(frame: Any, long: tuple[str, str]) -> Any:
    """The items of each id; an id with a null item has none of it."""
    functions = pyspark().functions
    for name in long:
        _require(frame, name)
    owner, item = long
    _require_items(item, frame.schema[item].dataType)
    kind = frame.schema[owner].dataType
    if not isinstance(kind, _item_types(("DateType", "TimestampType"))):
        raise InvalidArgument(
            f"The column {owner!r} is of type {kind.simpleString()}, which cannot identify a transaction.",
            "Name a column of text, whole numbers or dates.",
        )
    nobody = functions.col(_quoted(owner)).isNull()
    if isinstance(kind, pyspark().types.StringType):
        nobody = nobody | (functions.col(_quoted(owner)) == "")
    if frame.filter(nobody).limit(1).count():
        raise UnreadableInput(f"Rows have no id in the column {owner!r}.", "Fill it in, or leave these rows out.")
    return (
        frame.groupBy(functions.col(_quoted(owner)))
        .agg(functions.collect_set(functions.col(_quoted(item))).alias(ITEMS))
        .select(ITEMS)
    )


def _require(frame: Any, name: str) -> None:
    if frame.columns.count(name) != 1:
        raise unknown("column", name, frame.columns)


def _require_items(name: str, kind: Any) -> None:
    if not isinstance(kind, _item_types()):
        raise InvalidArgument(
            f"The column {name!r} holds values of type {kind.simpleString()}, which are not items.",
            "Items are names (text) or ids (whole numbers).",
        )


def _item_types(others: tuple[str, ...] = ()) -> tuple[type, ...]:
    types = pyspark().types
    names = ("StringType", "ByteType", "ShortType", "IntegerType", "LongType", *others)
    return tuple(getattr(types, name) for name in names)


def _quoted(name: str) -> str:
    """A name as Spark takes it to the letter: dots and blanks have a meaning outside of backquotes."""
    return f"`{name.replace('`', '``')}`"
