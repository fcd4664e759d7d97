"""Parquet and Arrow files, read piece by piece.

A file may be damaged or lie about its sizes. What it asks to be read is bounded by what it has, what its metadata say
it takes is compared with the memory limit, and every batch is checked before anybody looks at its values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pyarrow.parquet

from veilset.errors import UnreadableInput, said
from veilset.io.arrow import VALUES_AT_ONCE, WIDE_ROWS, completed, needed_columns, rows_of, values_in_a_row
from veilset.io.claims import claims_of
from veilset.io.files import readable
from veilset.io.gaps import NO_GAPS, Gaps
from veilset.io.layout import FORMATS, Layout
from veilset.io.rows import Rows
from veilset.io.suspect import CONTAINER_WORDS, SuspectFile
from veilset.io.where import Condition
from veilset.limits import Limits
from veilset.views import Count

_PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_OTHERS = {
    _PARQUET: f"It is a Parquet file: use {said('format', 'parquet')}.",
    _ARROW_FILE: f"It is an Arrow file: use {said('format', 'arrow')}.",
    b"FEA1": "It is a Feather file of version 1: convert it to Arrow.",
}
_BUFFER = 1 << 18  # bytes of a column that are read at once
_FIRST_ROWS = 1000
_FEWEST_VALUES = 1 << 16  # at once; fewer would be slow
_BYTES_A_ROW, _BYTES_AN_ITEM = 40, 12  # of what is made of a file
_MOST_PER_BYTE = 500  # that a byte of a file stands for; what compresses better is made to
_BYTES_A_VALUE = 512  # of the memory that is left, for each value that is read at once, with all that is made of it


def open_table(
    path: str | Path,
    layout: Layout,
    limits: Limits,
    gaps: Gaps = NO_GAPS,
    condition: Condition | None = None,
) -> tuple[Layout, Iterator[Rows]]:
    """The completed layout of a Parquet or Arrow file, and its rows, piece by piece.

    An Arrow file may be in the file or in the stream format. Progress counts rows (Parquet) or bytes (Arrow).
    """
    path = Path(path)
    with _opened(path, layout, limits) as (source, schema), source.intact():
        layout = completed(layout, schema)  # the names of columns may be damaged too
    return layout, _rows(path, layout, limits, gaps, condition)


@contextlib.contextmanager
def _opened(path: Path, layout: Layout, limits: Limits) -> Iterator[tuple[SuspectFile, Any]]:
    """The file and its schema."""
    with readable(path):
        stream = path.open("rb")
    with stream:
        source = SuspectFile(stream, repr(str(path)), layout.form.container, limits)
        with source.intact():
            schema = _schema(source, path, layout)
        yield source, schema


def _rows(path: Path, layout: Layout, limits: Limits, gaps: Gaps, condition: Condition | None) -> Iterator[Rows]:
    # The file is opened here once more, so that it is closed also if nobody asks for the rows.
    with _opened(path, layout, limits) as (source, schema):
        wanted = needed_columns(completed(layout, schema), schema, gaps)
        if condition is not None:
            wanted += [name for name in condition.mentioned(schema.names) if name not in wanted]
        batches = _batches(source, layout, wanted, limits)
        if condition is not None:
            batches = condition.batches(batches, schema.names)
        with _naming(source):
            yield from rows_of(batches, schema, layout, _values_at_once(limits), gaps)


def open_columns(path: Path, layout: Layout, choose: Callable[[Any], list[str]], limits: Limits) -> Iterator[Any]:
    """The batches of those columns of a Parquet file that *choose* names when it sees the schema."""
    with _opened(path, layout, limits) as (source, schema), _naming(source):
        yield from _batches(source, layout, choose(schema), limits)


@contextlib.contextmanager
def _naming(source: SuspectFile) -> Iterator[None]:
    """Errors about what a table holds name its file; that the file is damaged, it says itself."""
    try:
        yield
    except UnreadableInput as error:
        if source.is_damaged:
            raise
        raise error.within(f"{source.name}: ") from None


def _values_at_once(limits: Limits) -> int:
    return max(_FEWEST_VALUES, min(VALUES_AT_ONCE, limits.bytes_left() // _BYTES_A_VALUE))


def _check_claims(source: SuspectFile, layout: Layout, wanted: list[str], limits: Limits) -> None:
    """Raise before anything is unpacked if a small file claims more than memory can hold.

    Other files may be larger than memory: they are kept on disk. Most cells of a wide table are no item, and free.
    """
    rows, values, unpacked = claims_of(source, layout.form.container, wanted)
    takes = _BYTES_A_ROW * rows
    if layout.form.shape != "wide":
        takes += _BYTES_AN_ITEM * values + unpacked
    if takes > max(_MOST_PER_BYTE * source.size, limits.bytes_left()):
        many = Count(rows)
        raise UnreadableInput(
            f"{source.size:,} bytes claim to be {many:,} {many:row|rows} with {values:,} values, which take about "
            f"{takes / 1e9:,.1f} GB of memory.",
            f"Check where the file comes from. If the numbers are right, use for example "
            f"{said('memory_limit', f'{-(-2 * takes // 10**9)}GB')}.",
        )


def _batches(source: SuspectFile, layout: Layout, wanted: list[str], limits: Limits) -> Iterator[Any]:
    """The batches, after looking at all their offsets, codes and characters: no later step then meets a wrong one."""
    _check_claims(source, layout, wanted, limits)
    batches = _parquet(source, wanted, layout, limits) if _is_parquet(layout) else _arrow(source, wanted, limits)
    while True:
        limits.check_time(f"Reading {source.name}", "split the file.")
        with source.intact():
            batch = next(batches, None)
            if batch is not None:
                batch.validate(full=True)
        if batch is None:
            return
        yield batch


def _is_parquet(layout: Layout) -> bool:
    return layout.form.container == "parquet"


def _schema(source: SuspectFile, path: Path, layout: Layout) -> Any:
    start = source.read(len(_ARROW_FILE))
    if not start.startswith((_PARQUET,) if _is_parquet(layout) else (_ARROW_FILE, _ARROW_STREAM)):
        raise _no_such(path, layout.form.container, start)
    source.seek(0)
    return pyarrow.parquet.ParquetFile(source).schema_arrow if _is_parquet(layout) else _ipc_reader(source).schema


def _no_such(path: Path, container: str, held: bytes) -> UnreadableInput:
    words = CONTAINER_WORDS[container]
    suffixes = {form.suffix for form in FORMATS.values() if form.container == container} | {".pq", ".feather", ".ipc"}
    called = f"is named {path.suffix}" if path.suffix.lower() in suffixes else f"is declared as {words}"
    known = (advice for mark, advice in _OTHERS.items() if held.startswith(mark))
    advice = next(known, f"Check the file, and set {said('format')}.")
    return UnreadableInput(f"{str(path)!r} {called} but is not {words} data.", advice)


def _parquet(source: SuspectFile, wanted: list[str], layout: Layout, limits: Limits) -> Iterator[Any]:
    file = _open_parquet(source, wanted)
    limits.require(16 * _FEWEST_VALUES, f"Reading {source.name}", "use a machine with more memory.")
    rows = _rows_at_once(file, wanted, layout, _values_at_once(limits))
    done, total = 0, file.metadata.num_rows
    groups = range(file.metadata.num_row_groups)
    # The names of each row group have a dictionary of its own; numbers have none.
    together = [list(groups)] if layout.form.shape == "wide" and not layout.person else [[group] for group in groups]
    for some in together:
        for batch in file.iter_batches(rows, row_groups=some, columns=wanted):
            limits.step("Reading rows", done, total)
            yield batch
            done += len(batch)


def _open_parquet(source: SuspectFile, wanted: list[str]) -> Any:
    """The file, read page by page; a row group need not fit into memory.

    Strings arrive as codes: Parquet holds them so, and nothing has to be hashed.
    """
    source.seek(0)
    schema = pyarrow.parquet.ParquetFile(source).schema
    leaves = [schema.column(place) for place in range(len(schema))]
    text = [
        leaf.path
        for leaf in leaves
        if leaf.physical_type == "BYTE_ARRAY" and any(f"{leaf.path}.".startswith(f"{name}.") for name in wanted)
    ]
    source.seek(0)
    return pyarrow.parquet.ParquetFile(source, read_dictionary=text, pre_buffer=False, buffer_size=_BUFFER)


def _rows_at_once(file: Any, wanted: list[str], layout: Layout, at_once: int) -> int:
    if layout.form.shape == "wide":
        fields = {field.name: field for field in file.schema_arrow}
        return max(WIDE_ROWS, int(at_once / values_in_a_row([fields[name] for name in wanted])))
    if layout.form.shape == "long" or file.metadata.num_row_groups == 0:
        return at_once
    # How long lists are is not asked of the metadata: pyarrow ends the process where those of a column are damaged.
    lists = list(layout.columns) or wanted[1:]  # of an anatomized table, all but the bucket
    first = next(file.iter_batches(_FIRST_ROWS, row_groups=[0], columns=lists), None)
    if first is None or len(first) == 0:
        return at_once
    return max(1, at_once * len(first) // sum(len(first) + len(column.flatten()) for column in first.columns))


def _arrow(source: SuspectFile, wanted: list[str], limits: Limits) -> Iterator[Any]:
    kept = set(wanted)
    places = [place for place, name in enumerate(_ipc_reader(source).schema.names) if name in kept]
    reader = _ipc_reader(source, included_fields=places)
    numbered = isinstance(reader, pyarrow.ipc.RecordBatchFileReader)
    for batch in map(reader.get_batch, range(reader.num_record_batches)) if numbered else reader:
        limits.step("Reading bytes", source.tell(), source.size)
        yield batch


def _ipc_reader(source: SuspectFile, **options: Any) -> Any:
    """A reader of Arrow's file format, or of its stream format."""
    source.seek(0)
    is_file = source.read(len(_ARROW_FILE)) == _ARROW_FILE
    source.seek(0)
    open_format = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    return open_format(source, options=pyarrow.ipc.IpcReadOptions(**options))
