"""What the tests of tables share: rows read the slow way, tables of every shape and type, and files of them."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from hypothesis import strategies as st

from veilset.io.arrow import rows_of
from veilset.io.blocks import block_of, schema_of
from veilset.io.layout import Layout
from veilset.io.plain import write_table

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)
TRANSACTIONS = st.lists(st.lists(NAMES, max_size=4, unique=True), max_size=12)


def transactions_of(pieces) -> list[list[str]]:
    """The transactions in pieces, name by name: rows of one owner merged, names sorted."""
    plain, owned = [], {}
    for rows in pieces:
        names = rows.names.to_pylist()
        assert len(set(names)) == len(names)
        assert rows.offsets[0] == 0
        assert rows.offsets[-1] == len(rows.codes)
        assert rows.codes.dtype == np.int32
        assert not rows.in_order or (
            names == sorted(names, key=int) and set(rows.codes.tolist()) == set(range(len(names)))
        )
        for row in range(len(rows.offsets) - 1):
            codes = rows.codes[rows.offsets[row] : rows.offsets[row + 1]].tolist()
            items = {names[code] for code in codes if code >= 0}
            if rows.owners is None:
                plain.append(sorted(items))
            else:
                owned.setdefault(rows.owner_names[int(rows.owners[row])].as_py(), set()).update(items)
    return plain + [sorted(items) for items in owned.values()]


def read(table: pa.Table, layout: Layout, batch: int | None = None) -> list[list[str]]:
    """The transactions of an Arrow table."""
    return transactions_of(rows_of(table.to_batches(max_chunksize=batch), table.schema, layout))


def blocks_of(rows: list[list[str]], layout: Layout, size: int = 5) -> tuple[pa.Schema, list[pa.Table]]:
    """The schema and the blocks in which *rows* are written, *size* transactions each."""
    names = sorted({name for row in rows for name in row})
    offsets = np.cumsum([0, *map(len, rows)])
    items = np.array([names.index(name) for row in rows for name in sorted(row)], np.int32)
    starts = range(0, len(rows), size)
    blocks = [block_of(offsets[start : start + size + 1], items, names, layout, start + 1) for start in starts]
    return schema_of(names, layout), blocks


def written(rows: list[list[str]], layout: Layout, size: int = 5) -> bytes:
    """A Parquet or Arrow file with these transactions."""
    stream = io.BytesIO()
    schema, blocks = blocks_of(rows, layout, size)
    write_table(stream, blocks, schema, layout.form.container)
    return stream.getvalue()


def parquet(table: pa.Table, **options) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **options)
    return stream.getvalue()


def arrow(table: pa.Table, new=pyarrow.ipc.new_file, *, rows: int | None = None, **options) -> bytes:
    """An Arrow file or stream, in batches of so many rows."""
    stream = io.BytesIO()
    with new(stream, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return stream.getvalue()


def zstd(text: bytes) -> bytes:
    """A .zst file."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(text)
    return sink.getvalue().to_pybytes()


SCHEMA = pa.schema(
    [("items", pa.list_(pa.string())), ("support", pa.int64()), ("sure", pa.float64()), ("sensitive", pa.string())]
)


def read_back(path, schema=SCHEMA) -> list[dict]:
    """What a stranger reads with the most common tools."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    text = path.read_bytes().decode()
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".jsonl":
        assert not text or text.endswith("\n")
        return [json.loads(line) for line in text.split("\n")[:-1]]
    parse = {
        "items": lambda cell: next(csv.reader([cell])),
        "antecedent": lambda cell: next(csv.reader([cell])),
        **dict.fromkeys(("support", "antecedent_support"), int),
        **dict.fromkeys(("sure", "breach", "confidence", "lift"), float),
    }
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.splitlines()[0] == ",".join(f'"{name}"' for name in schema.names)
    return [{k: parse.get(k, str)(cell) if cell else None for k, cell in line.items()} for line in lines]


def a_file_of_many_rows(rows: int, groups: int) -> bytes:
    """A small Parquet file of so many lists, each with the item a, in equal groups of rows.

    The groups are all there, one by one. Those after the first are read from the first one's place, though, so that the
    footer can be put together from its own: writing each of them would take half a minute.
    """
    held = rows // groups
    codes = pa.array(np.zeros(held, np.int32))
    lists = pa.ListArray.from_arrays(np.arange(held + 1, dtype=np.int32), pa.DictionaryArray.from_arrays(codes, ["a"]))
    file, footer = io.BytesIO(), io.BytesIO()
    table = pa.table({"items": lists})
    pa.parquet.write_table(table, file, compression="zstd", row_group_size=held, write_statistics=False)
    whole, once = pa.parquet.read_metadata(file), pa.parquet.read_metadata(file)
    for _ in range(groups - 1):
        whole.append_row_groups(once)
    whole.write_metadata_file(footer)
    content, mark = file.getvalue(), b"PAR1"
    end = len(content) - 8 - once.serialized_size
    return mark + groups * content[4:end] + footer.getvalue()[4:]
