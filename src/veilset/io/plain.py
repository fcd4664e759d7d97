"""Parquet and Arrow files that hold nothing but their rows: how they are written, and how others are told apart.

A file can say more than its rows: metadata, names of its writer, minima and maxima, dictionaries with names that no row
has, bytes between its parts. We write none of it, and `check_plain` looks for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from veilset import _native
from veilset.io.columns import list_offsets
from veilset.io.files import opened
from veilset.io.suspect import SuspectFile
from veilset.limits import Limits

_MAGIC = b"PAR1"
_WRITER = re.compile(r"parquet-cpp-arrow version [0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_THIS_WRITER = f"parquet-cpp-arrow version {pa.cpp_version}"


def write_table(stream: IO[bytes], blocks: Iterable[Any], schema: Any, container: str) -> None:
    """Write the blocks of a table: the same bytes for the same blocks, and nothing but their rows.

    Each block becomes a row group (Parquet, compressed by zstd) or a batch (Arrow, not compressed).
    """
    with _writer(stream, schema.remove_metadata(), container) as writer:
        for block in blocks:
            if len(block):
                _write_block(writer, block)


def _writer(stream: Any, schema: Any, container: str) -> Any:
    if container == "arrow":
        return pyarrow.ipc.new_file(stream, schema)
    return pyarrow.parquet.ParquetWriter(
        stream,
        schema,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        # Nobody could tell whether minima, maxima and page indexes are those of the rows.
        write_statistics=False,
        write_page_index=False,
        store_schema=False,
    )


def _write_block(writer: Any, block: Any) -> None:
    if isinstance(writer, pyarrow.parquet.ParquetWriter):
        writer.write_table(block, row_group_size=len(block))
    else:
        # A slice would be written with all the text of what it is a slice of.
        writer.write_batch(_rebuilt_batch(block.combine_chunks().to_batches()[0]))


def check_plain(source: str | Path | bytes, schema: Any, container: str, limits: Limits | None = None) -> str | None:
    """What a file holds besides rows with the columns of *schema*; None if nothing is found.

    A Parquet file of the pyarrow version in use, and any Arrow file, must be byte for byte what `write_table` writes
    for its rows. The bytes of Parquet differ between versions; of another version's file all parts are looked at
    except for the inside of pages and their headers, where anything may be hidden.

    Raises `UnreadableInput` if the file is not intact.
    """
    with _suspect(source, container, limits or Limits()) as file:
        look = _more_in_parquet if container == "parquet" else _more_in_arrow
        return look(file, schema.remove_metadata())


@contextlib.contextmanager
def _suspect(source: str | Path | bytes, container: str, limits: Limits) -> Iterator[SuspectFile]:
    """The file, to be read with suspicion."""
    name = "The file" if isinstance(source, bytes) else repr(str(source))
    with contextlib.ExitStack() as stack:
        stream = io.BytesIO(source) if isinstance(source, bytes) else stack.enter_context(opened(source))
        file = SuspectFile(stream, name, container, limits)
        with file.intact():
            yield file


def batches_of(path: Path, container: str, limits: Limits) -> Iterator[Any]:
    """The rows of a file that `check_plain` has nothing against."""
    with _suspect(path, container, limits) as file:
        if container == "parquet":
            yield from pyarrow.parquet.ParquetFile(file, pre_buffer=False).iter_batches()
        else:
            reader = pyarrow.ipc.open_file(file)
            yield from map(reader.get_batch, range(reader.num_record_batches))


def other_writer(path: Path, container: str, limits: Limits) -> str:
    """Why a file with the same rows, and nothing else that `check_plain` finds, has other bytes."""
    grouped = "its rows are grouped in another way than this version of Veilset writes them"
    if container == "arrow":
        return grouped
    with _suspect(path, container, limits) as file:
        by = pyarrow.parquet.ParquetFile(file, pre_buffer=False).metadata.created_by
    return grouped if by == _THIS_WRITER else f"it was written by {by!r}, here is {_THIS_WRITER!r}"


def sum_if_just(path: Path, blocks: Iterable[Any], schema: Any, container: str, limits: Limits) -> str | None:
    """The sha256 of a file that is byte for byte what `write_table` writes for these blocks; None of another one."""
    with opened(path) as stream:
        comparison = _Comparison(SuspectFile(stream, repr(str(path)), container, limits))
        write_table(cast(IO[bytes], comparison), blocks, schema, container)
        return comparison.sha256() if comparison.result() is None else None


class _Comparison:
    """A stream that compares what is written to it with a file, and sums it."""

    def __init__(self, file: SuspectFile) -> None:
        self._file = file
        self._at = 0
        self._differs_at: int | None = None
        self._digest = hashlib.sha256()
        self.closed = False

    def write(self, data: Any) -> int:
        """Compare the next bytes."""
        data = bytes(data)
        self._file.seek(self._at)
        held = self._file.read(len(data))
        if self._differs_at is None and held != data:
            pairs = enumerate(zip(held, data, strict=False))
            same = next((i for i, (a, b) in pairs if a != b), min(len(held), len(data)))
            self._differs_at = self._at + same
        self._at += len(data)
        self._digest.update(data)
        return len(data)

    def tell(self) -> int:
        """The place in the file."""
        return self._at

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Compare no more."""
        self.closed = True

    def sha256(self) -> str:
        """The sum of what was written."""
        return self._digest.hexdigest()

    def result(self) -> str | None:
        """What differs."""
        at = self._differs_at
        if at is None and self._at < self._file.size:
            at = self._at
        return None if at is None else f"it differs from what is written for its rows, at byte {at:,}"


def _other_columns(found: Any, expected: Any) -> str | None:
    def said(schema: Any) -> str:
        return ", ".join(f"{field.name!r} ({field.type})" for field in schema)

    return None if found == expected else f"its columns are {said(found)}, not {said(expected)}"


def _more_in_arrow(file: SuspectFile, schema: Any) -> str | None:
    if file.read(6) != b"ARROW1":
        return "it is not in Arrow's file format"
    file.seek(0)
    reader = pyarrow.ipc.open_file(file)
    if other := _other_columns(reader.schema, schema):
        return other
    if any([reader.schema.metadata, *(field.metadata for field in reader.schema), reader.metadata]):
        return "it contains metadata"
    comparison = _Comparison(file)
    with _writer(comparison, schema, "arrow") as writer:
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            batch.validate(full=True)
            writer.write_batch(_rebuilt_batch(batch))
    return comparison.result()


def _rebuilt_batch(batch: Any) -> Any:
    return pa.record_batch([_rebuilt(column) for column in batch.columns], schema=batch.schema)


def _rebuilt(array: Any) -> Any:
    """The same values without what can stand behind nulls, between them, or after the last."""
    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(list_offsets(array).astype(np.int32), _rebuilt(array.flatten()))
    if pa.types.is_string(array.type):
        encoded = array.dictionary_encode()
        return encoded.dictionary.take(encoded.indices)
    filled = array.fill_null(pa.scalar(0, pa.int8()).cast(array.type))
    return pa.array(filled.to_numpy(zero_copy_only=False), array.type)


def _more_in_parquet(file: SuspectFile, schema: Any) -> str | None:
    expected = io.BytesIO()
    write_table(expected, [], schema, "parquet")
    expected_schema = pyarrow.parquet.ParquetFile(io.BytesIO(expected.getvalue())).schema
    reader = pyarrow.parquet.ParquetFile(file, pre_buffer=False)
    metadata = reader.metadata
    if _said(reader.schema) != _said(expected_schema):
        return _other_columns(reader.schema_arrow, schema) or "its schema is not the one Veilset writes"
    if metadata.metadata:
        keys = [repr(key.decode(errors="replace")) for key in sorted(metadata.metadata)]
        return f"it contains metadata: {', '.join(keys)}"
    if not _WRITER.fullmatch(metadata.created_by):
        return f"it was written by {metadata.created_by!r}"
    # Reading a damaged chunk raises, but asking for its metadata first would end the process.
    if metadata.created_by == _THIS_WRITER:
        more = _difference(reader, file, schema)
        return more and (_more_in_chunks(metadata) or _more_between_chunks(metadata, file) or more)
    more = _more_in_dictionaries(file, expected_schema)
    return more or _more_in_chunks(metadata) or _more_between_chunks(metadata, file)


def _said(schema: Any) -> str:
    """All of a Parquet schema in words; `equals` passes over the names of lists."""
    return str(schema).partition("\n")[2]


def _difference(reader: Any, file: SuspectFile, schema: Any) -> str | None:
    comparison = _Comparison(file)
    with _writer(comparison, schema, "parquet") as writer:
        for number in range(reader.metadata.num_row_groups):
            _write_block(writer, reader.read_row_group(number).cast(schema))
    return comparison.result()


def _more_in_dictionaries(file: SuspectFile, schema: Any) -> str | None:
    """Names in the dictionaries of row groups that no row has."""
    leaves = [schema.column(place) for place in range(len(schema))]
    text = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    file.seek(0)
    reader = pyarrow.parquet.ParquetFile(file, read_dictionary=text, pre_buffer=False)
    for number in range(reader.metadata.num_row_groups):
        if unused := _unused_names(reader.read_row_group(number)):
            return f"the dictionary of row group {number + 1} holds {unused:,} names that occur in no row"
    return None


def _more_in_chunks(metadata: Any) -> str | None:
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.sorting_columns:
            return f"row group {number + 1} contains a sort order"
        for place in range(group.num_columns):
            chunk = group.column(place)
            found = {
                "metadata": chunk.metadata,
                "statistics": chunk.is_stats_set,
                "a file name": chunk.file_path,
                "a page index": chunk.has_column_index or chunk.has_offset_index,
                "a Bloom filter": chunk.bloom_filter_offset is not None,
            }
            if what := next((what for what, there in found.items() if there), None):
                return f"the column {chunk.path_in_schema!r} of row group {number + 1} has {what}"
    return None


def _more_between_chunks(metadata: Any, file: SuspectFile) -> str | None:
    """Bytes that belong to no column, and things in the footer that pyarrow passes over."""
    at = len(_MAGIC)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            if start != at:
                return f"it contains bytes outside any column, at byte {min(at, start):,}"
            at = start + chunk.total_compressed_size
    footer = file.size - len(_MAGIC) - 4 - metadata.serialized_size
    if at != footer:
        return f"it contains bytes outside any column, at byte {min(at, footer):,}"
    again = io.BytesIO()
    metadata.write_metadata_file(again)
    file.seek(footer)
    if again.getvalue()[len(_MAGIC) :] != file.read():
        return "its footer contains unknown fields, or is not the one Veilset writes"
    return None


def _unused_names(table: Any) -> int:
    unused = 0
    for column in table.columns:
        values = column.combine_chunks()
        values = values.flatten() if pa.types.is_list(values.type) else values
        if pa.types.is_dictionary(values.type):
            codes = values.indices.drop_null().to_numpy().astype(np.int32)
            unused += len(values.dictionary) - int(_native.core.occurring(codes, len(values.dictionary)).sum())
    return unused
