"""Arrow tables of any origin to rows, without a Python loop over values.

A table is lists (one transaction a row), long (one item a row) or wide (one column an item). It comes as record batches
and leaves as pieces of bounded size, so that it need not fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset import _native
from veilset.errors import InvalidArgument, UnreadableInput, said, unknown
from veilset.io.columns import Coded, coded_ids, coded_items, is_item, is_list, is_number, list_offsets, present_rows
from veilset.io.gaps import NAME_IT, NO_GAPS, SKIP_IT, Gaps
from veilset.io.layout import Layout
from veilset.io.people import proposing
from veilset.io.rows import Offsets, Rows, arrow_numbers

VALUES_AT_ONCE = 1 << 20
"""How many values, roughly, are turned into one piece where there is memory enough."""

WIDE_ROWS = 1024
"""How many rows of a wide table are taken at once at least: each piece goes through all columns."""

_COLUMNS = said("long", ("ID", "ITEM"))
_ABOVE = "{0:,} {0:cell has a value|cells have values} above 1; {0:it counts|they count} only as present."
_SHOWN = 20  # columns in an error


def completed(layout: Layout, schema: Any) -> Layout:
    """The layout with the columns it left open; raises if the columns of the table are not what it says.

    >>> completed(Layout("parquet"), pa.schema([("who", pa.string()), ("what", pa.list_(pa.string()))])).columns
    ('what',)
    """
    shape = layout.form.shape
    if shape == "lists" and not layout.columns:
        layout = replace(layout, columns=(_only_list(schema),))
    for name in (*layout.columns, *([layout.person] if layout.person else []), *layout.ignore):
        if name not in schema.names:
            raise unknown("column", name, schema.names)
        if schema.names.count(name) > 1:
            raise InvalidArgument(f"{schema.names.count(name)} columns are named {name!r}.", "Give each a unique name.")
    if shape == "lists":
        _check_items(schema, layout.columns[0], in_lists=True)
    elif shape == "long":
        _check_items(schema, layout.columns[1], in_lists=False)
    else:
        _check_wide(schema, _item_columns(schema, layout))
    return layout


def needed_columns(layout: Layout, schema: Any, gaps: Gaps = NO_GAPS) -> list[str]:
    """The columns of the table that a completed layout speaks of."""
    if layout.form.shape == "wide":
        return [*_item_columns(schema, layout), *([layout.person] if layout.person else [])]
    items = layout.columns[-1]
    owner = layout.person or (layout.columns[0] if layout.form.shape == "long" else None)
    ids = [layout.columns[0]] if gaps.needs_ids(layout) else []
    return [*ids, items] if owner in (None, items) else [*ids, owner, items]


def _item_columns(schema: Any, layout: Layout) -> list[str]:
    return [name for name in schema.names if name != layout.person and name not in layout.ignore]


def _only_list(schema: Any) -> str:
    lists = [field.name for field in schema if is_list(field.type)]
    if len(lists) == 1:
        return str(lists[0])
    shown = [f"{field.name!r} ({field.type})" for field in list(schema)[:_SHOWN]]
    more = f", and {len(schema) - _SHOWN:,} more" if len(schema) > _SHOWN else ""
    raise InvalidArgument(
        f"{f'{len(lists)} columns contain' if lists else 'No column contains'} lists: {', '.join(shown)}{more}.",
        f"Choose one: {said('column', lists[0])}."
        if lists
        else f"Use {said('column', 'COLUMN')} for lists, {_COLUMNS} for one item per row, "
        f"or {said('wide', True)} for one column per item.",
    )


def _check_items(schema: Any, name: str, *, in_lists: bool) -> None:
    kind = schema.field(name).type
    if in_lists and not is_list(kind):
        raise InvalidArgument(
            f"The column {name!r} is of type {kind}, not of lists.",
            f"Name a column of lists. For one item per row, use {_COLUMNS}.",
        )
    if not in_lists and is_list(kind):
        raise InvalidArgument(
            f"The column {name!r} contains lists, not one item per row.",
            f"Use {said('column', name)} instead of {said('long')}.",
        )
    inner = kind.value_type if in_lists else kind
    if not is_item(inner):
        raise InvalidArgument(
            f"The column {name!r} holds values of type {inner}, which are not items.",
            "Items are names (text) or ids (whole numbers).",
        )


def _check_wide(schema: Any, items: Sequence[str]) -> None:
    if not items:
        raise InvalidArgument("The table has no item columns.", f"Name fewer columns in {said('ignore')}.")
    if "" in items:
        raise InvalidArgument("A column has no name, so it cannot be an item.", "Give every column a name.")
    if len(items) > len(set(items)):
        twice = next(name for place, name in enumerate(items) if name in items[:place])
        raise InvalidArgument(
            f"{items.count(twice)} columns are called {twice!r}.", "Put every item into exactly one column."
        )
    kinds = dict(zip(schema.names, schema.types, strict=True))
    for name in items:
        kind = kinds[name]
        cells = kind.value_type if pa.types.is_run_end_encoded(kind) else kind
        if not (pa.types.is_boolean(cells) or is_number(cells)):
            raise InvalidArgument(
                f"The column {name!r} is of type {kind}, not yes or no.",
                f"If it is not an item, use {said('ignore', [name])}. If it identifies the person, use "
                f"{said('person', name)}.",
            )


def rows_of(
    batches: Iterable[Any],
    schema: Any,
    layout: Layout,
    at_once: int = VALUES_AT_ONCE,
    gaps: Gaps = NO_GAPS,
) -> Iterator[Rows]:
    """The rows of a table, piece by piece, about *at_once* values each.

    The batches have the `needed_columns` at least, the schema all columns of the table; what the layout leaves open is
    completed.
    """
    layout = completed(layout, schema)
    yield from proposing(_rows_of(batches, layout, at_once, gaps), schema.names, layout)


def _rows_of(batches: Iterable[Any], layout: Layout, at_once: int, gaps: Gaps) -> Iterator[Rows]:
    take = {"lists": _rows_of_lists, "long": _rows_of_long, "wide": _rows_of_wide}[layout.form.shape]
    row = 1
    for batch in _gathered(batches, layout, at_once):
        for piece in _pieces(batch, layout, at_once):
            yield take(piece, layout, row, gaps)
            row += len(piece)


def _values(batch: Any, layout: Layout) -> int:
    """How many values a batch has, roughly."""
    if layout.form.shape == "lists":
        return len(batch) + (pc.sum(pc.list_value_length(batch.column(layout.columns[0]))).as_py() or 0)
    return int(len(batch) * values_in_a_row(batch.schema)) if layout.form.shape == "wide" else len(batch)


def values_in_a_row(schema: Any) -> float:
    """What a row of a wide table counts: most cells of a sparse table say no, and take but a bit.

    Runs are as short as what they say; cutting them would only make more pieces.
    """
    bits = sum(1 for field in schema if pa.types.is_boolean(field.type))
    runs = sum(1 for field in schema if pa.types.is_run_end_encoded(field.type))
    return float(len(schema) - bits - runs) + bits / 16


def _gathered(batches: Iterable[Any], layout: Layout, at_once: int) -> Iterator[Any]:
    """Small batches joined, since the names of every piece have to be merged with those of the others."""
    held: list[Any] = []
    values = 0
    for batch in batches:
        more = _values(batch, layout)
        if held and values + more > at_once:
            yield from _joined(held)
            held, values = [], 0
        held.append(batch)
        values += more
    yield from _joined(held)


def _joined(batches: list[Any]) -> list[Any]:
    try:
        return [pa.concat_batches(batches)] if len(batches) > 1 else batches
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return batches  # their dictionaries together may be too large for their codes


def _pieces(batch: Any, layout: Layout, at_once: int) -> Iterator[Any]:
    """Slices of a batch with about so many values each."""
    count = -(-_values(batch, layout) // at_once)
    rows = -(-len(batch) // max(1, count))
    if layout.form.shape == "wide":
        rows = max(rows, WIDE_ROWS)
    for start in range(0, len(batch), max(1, rows)):
        yield batch.slice(start, rows)


def _rows_of_lists(batch: Any, layout: Layout, row: int, gaps: Gaps) -> Rows:
    name = layout.columns[0]
    lists = batch.column(name)
    if (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)) and not lists.null_count:
        offsets = lists.offsets.to_numpy().astype(np.int64)
        offsets -= offsets[0]
    else:
        offsets = list_offsets(lists)
    found = coded_items(lists.flatten(), name)

    def row_at(place: int) -> int:
        return row + int(np.searchsorted(offsets, place, side="right")) - 1

    found = _without_empty(found, name, row_at, gaps)
    if gaps.missing == "refuse" and _has_gaps(found):
        raise _wrong_item(row_at(int(np.argmax(found.codes < 0))), name, "that is null")
    owners = _owners(batch, layout.person, row, gaps) if layout.person else None
    return _rows(offsets, found, owners, name)


def _rows_of_long(batch: Any, layout: Layout, row: int, gaps: Gaps) -> Rows:
    """Neighbouring rows of one owner are one, unless there may be gaps; a null item is none."""
    name, owner = layout.columns[1], layout.person or layout.columns[0]
    ids = batch.column(owner)
    if gaps.tolerated:
        owners, starts = _owners(batch, owner, row, gaps), np.arange(len(batch))
    elif pa.types.is_integer(ids.type) and ids.null_count == 0:
        # Tables are often sorted by their ids, so fewer have to be coded.
        starts = _run_starts(ids.to_numpy())
        owners = coded_ids(ids.take(arrow_numbers(starts)), owner)
    else:
        owners = _owners(batch, owner, row, gaps)
        starts = _run_starts(owners.codes)
        owners = replace(owners, codes=owners.codes[starts])
    found = coded_items(batch.column(name), name)
    found = _without_empty(found, name, lambda place: row + place, gaps)
    rows = _rows(np.append(starts, len(batch)), found, owners, name)
    if gaps.needs_ids(layout):
        transactions = _owners(batch, layout.columns[0], row, gaps)
        rows = replace(rows, ids=transactions.codes, id_names=transactions.names)
    return rows


def _run_starts(values: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Where a value differs from the one before; the first always does."""
    return np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)


def _rows_of_wide(batch: Any, layout: Layout, row: int, gaps: Gaps) -> Rows:
    names = _item_columns(batch.schema, layout)
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))  # asking for one by name looks through all
    places, above = [], 0
    for name in names:
        cells = columns[name]
        rows, more, wrong = present_rows(cells, counts=layout.counts)
        if wrong is not None:
            raise UnreadableInput(
                f"Row {row + wrong:,} (counting from 1) of the column {name!r} holds {cells[wrong].as_py()}, "
                f"{'which is not a count' if layout.counts else 'neither 0 nor 1'}.",
                f"If the column is not an item, use {said('ignore', [name])}"
                + ("." if layout.counts else f". If it contains counts, use {said('counts', True)}."),
            )
        places.append(rows)
        above += more
    codes = np.repeat(np.arange(len(names), dtype=np.int32), [len(rows) for rows in places])
    offsets, codes = _native.core.group(np.concatenate(places), codes, len(batch))
    notes = {_ABOVE: above} if above else {}
    owners = _owners(batch, layout.person, row, gaps) if layout.person else None
    return _with_owners(Rows(offsets, codes, pa.array(names, pa.string()), notes=notes), owners)


def _has_gaps(found: Coded) -> bool:
    return len(found.codes) > 0 and int(found.codes.min()) < 0


def _without_empty(found: Coded, name: str, row_at: Callable[[int], int], gaps: Gaps) -> Coded:
    """An empty name is none, if items may be missing."""
    code = pc.index(found.names, "").as_py()
    if code < 0 or not len(at := np.flatnonzero(found.codes == code)):
        return found
    if gaps.missing == "refuse":
        raise _wrong_item(row_at(int(at[0])), name, "with an empty name")
    return replace(found, codes=np.where(found.codes == code, np.int32(-1), found.codes))


def _wrong_item(row: int, column: str, what: str) -> UnreadableInput:
    return UnreadableInput(f"Row {row:,} (counting from 1) holds an item {what}, in the column {column!r}.", SKIP_IT)


def _owners(batch: Any, name: str, row: int, gaps: Gaps) -> Coded:
    column = batch.column(name)
    try:
        found = coded_ids(column, name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidArgument(
            f"The column {name!r} is of type {column.type}, which cannot identify a person.",
            "Name a column of text, whole numbers or dates.",
        ) from None
    empty = pc.index(found.names, "").as_py()
    nobodys = (found.codes < 0) | (found.codes == empty)
    if gaps.tolerated:
        return replace(found, codes=np.where(nobodys, np.int32(-1), found.codes))
    missing = np.flatnonzero(nobodys)
    if len(missing):
        raise UnreadableInput(
            f"Row {row + int(missing[0]):,} (counting from 1) has no person id in column {name!r}.",
            NAME_IT,
        )
    return found


def _rows(offsets: Offsets, found: Coded, owners: Coded | None, name: str) -> Rows:
    shown = repr(name).replace("{", "{{").replace("}", "}}")  # the note is a format
    note = f"{{0:,}} {{0:item|items}} in the column {shown} {{0:is a number|are numbers}} like 3.0, read as 3."
    notes = {note: found.rounded} if found.rounded else {}
    rows = Rows(offsets, found.codes, found.names, notes=notes, in_order=found.in_order and not _has_gaps(found))
    return _with_owners(rows, owners)


def _with_owners(rows: Rows, owners: Coded | None) -> Rows:
    return rows if owners is None else replace(rows, owners=owners.codes, owner_names=owners.names)
