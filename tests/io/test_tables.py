"""Parquet and Arrow files: what is written comes back and nothing else is in it; damaged files are refused."""

import io
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import names, refused
from tests.support.tables import TRANSACTIONS, arrow, blocks_of, parquet, transactions_of, written
from veilset.errors import BudgetExceeded, InvalidArgument, UnreadableInput
from veilset.io import plain
from veilset.io.arrow import VALUES_AT_ONCE
from veilset.io.blocks import schema_of
from veilset.io.layout import FORMATS, Layout
from veilset.io.plain import check_plain, write_table
from veilset.io.tables import open_table
from veilset.limits import Limits

TABLES = [name for name, form in FORMATS.items() if form.container in ("parquet", "arrow")]
ROWS = [["ale", "bun"], [], ["bun"], ["ale", "cod", "dill"], ["bun"], ["cod"], ["ale"]]
NAMES = ["ale", "bun", "cod", "dill"]


def layout_of(kind: str) -> Layout:
    return Layout(kind, columns=("id", "item") if kind.endswith("long") else ())


def rows_in(path: Path, layout: Layout, **limits) -> list[list[str]]:
    return transactions_of(open_table(path, layout, Limits(**limits))[1])


def saved(content: bytes, folder: Path, suffix: str = ".parquet") -> Path:
    path = folder / f"table{suffix}"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", TABLES)
@given(rows=TRANSACTIONS, size=st.integers(1, 6))
def test_what_is_written_comes_back_and_is_plain(kind, rows, size, tmp_path_factory):
    layout = layout_of(kind)
    rows = [*rows, ["a"]]
    content = written(rows, layout, size)
    path = saved(content, tmp_path_factory.mktemp("tables"), layout.form.suffix)
    assert rows_in(path, layout) == [sorted(row) for row in rows]
    assert written(rows, layout, size) == content
    schema, _ = blocks_of(rows, layout)
    assert check_plain(content, schema, layout.form.container) is None
    assert check_plain(path, schema, layout.form.container) is None


@pytest.mark.parametrize("kind", TABLES)
def test_strangers_read_what_we_write(kind, tmp_path):
    layout = layout_of(kind)
    path = saved(written(ROWS, layout), tmp_path, layout.form.suffix)
    if layout.form.container == "parquet":
        table = pyarrow.parquet.read_table(path)
    else:
        table = pyarrow.ipc.open_file(path).read_all()
    assert table.to_pylist() == pa.concat_tables(blocks_of(ROWS, layout)[1]).to_pylist()


FILES = {
    "parquet by pyarrow": (".parquet", lambda table: parquet(table, row_group_size=2)),
    "parquet without dictionary": (".parquet", lambda table: parquet(table, use_dictionary=False)),
    "parquet with pages of version 2": (
        ".pq",
        lambda table: parquet(table, data_page_version="2.0", compression="none"),
    ),
    "arrow": (".arrow", lambda table: arrow(table, rows=3)),
    "arrow stream": (".arrow", lambda table: arrow(table, pyarrow.ipc.new_stream, rows=3)),
    "arrow lz4": (".feather", lambda table: arrow(table, rows=3, compression="lz4")),
    "arrow zstd": (".arrow", lambda table: arrow(table, pyarrow.ipc.new_stream, rows=3, compression="zstd")),
}
VALUES = {
    "strings": pa.list_(pa.string()),
    "large": pa.large_list(pa.large_string()),
    "codes": pa.list_(pa.dictionary(pa.int32(), pa.string())),
}


@pytest.mark.parametrize("kind", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("suffix", "write"), FILES.values(), ids=FILES)
def test_files_of_others(suffix, write, kind, tmp_path):
    """With columns before and after, of which one says whose a row is."""
    who = [1, 2, 1, 3, 4, 5, 6]
    items = pa.array(ROWS, kind)
    table = pa.table({"note.x": [{"a": i} for i in who], "bought.x": items, "who": who, "text": ["z"] * 7})
    path = saved(write(table), tmp_path, suffix)
    assert rows_in(path, Layout("parquet" if suffix in (".parquet", ".pq") else "arrow")) == ROWS
    layout, _ = open_table(path, Layout.choose(path, person="who"), Limits())
    assert layout.columns == ("bought.x",)
    merged = [["ale", "bun"], [], ["ale", "cod", "dill"], ["bun"], ["cod"], ["ale"]]
    assert rows_in(path, layout) == merged
    with refused(InvalidArgument, "'whom'", "'who'"):
        open_table(path, Layout.choose(path, person="whom"), Limits())


def test_dictionaries_that_grow_too_large(tmp_path):
    """Parquet then goes on without codes, in the middle of a row group."""
    rows = [[f"{'long name ' * 20}{number}"] for number in range(9000)]
    path = saved(parquet(pa.table({"items": rows})), tmp_path)
    encodings = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).encodings
    assert {"RLE_DICTIONARY", "PLAIN"} <= set(encodings)
    assert rows_in(path, Layout("parquet")) == rows


def test_pieces_of_a_large_file_are_bounded(tmp_path):
    lists = [["a", "b", "c", "d"] * 500] * 3000
    path = saved(parquet(pa.table({"items": lists})), tmp_path)
    pieces = list(open_table(path, Layout("parquet"), Limits())[1])
    assert len(pieces) > 3
    assert max(len(rows.codes) for rows in pieces) <= VALUES_AT_ONCE


@pytest.mark.no_sanitizer("memory is measured")
def test_a_row_group_need_not_fit_into_memory(tmp_path):
    """One row group of 400 MB is read with less than half of that."""
    script = """
        import sys
        import numpy as np, pyarrow as pa, pyarrow.parquet as pq
        from pathlib import Path
        from veilset.io.layout import Layout
        from veilset.io import arrow, tables
        from veilset.limits import Limits
        arrow.VALUES_AT_ONCE = tables.VALUES_AT_ONCE = 1 << 16  # so that pieces take next to nothing
        def anonymous():
            status = Path("/proc/self/status").read_text()
            return int(status.split("RssAnon:")[1].split()[0]) // 1024
        before, most, count = anonymous(), 0, 0
        layout = Layout("parquet-long", columns=("id", "item"))
        for rows in tables.open_table(sys.argv[1], layout, Limits(memory_limit=10**9))[1]:
            count += len(rows.codes)
            most = max(most, anonymous())
        print(count, most - before)
    """
    count = 25_000_000
    path = tmp_path / "large.parquet"
    schema = pa.schema([("id", pa.int64()), ("item", pa.int64())])
    numbers = pa.chunked_array([list(range(1000)) * 2500] * 10, pa.int64())
    table = pa.table({"id": numbers, "item": numbers}, schema=schema)
    pyarrow.parquet.write_table(table, path, row_group_size=count, use_dictionary=False, compression="none")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), path], capture_output=True, text=True, check=True
    )
    read, megabytes = map(int, done.stdout.split())
    assert read == count
    assert megabytes < 200


def test_limits(tmp_path):
    path = saved(written(ROWS, Layout("parquet")), tmp_path)
    with refused(BudgetExceeded, "table.parquet'", "memory limit"):
        rows_in(path, Layout("parquet"), memory_limit=1)
    arrow_path = saved(written([["a" * 100]] * 20_000, Layout("arrow"), 20_000), tmp_path, ".arrow")
    with refused(BudgetExceeded, "memory limit", "batches"):
        rows_in(arrow_path, Layout("arrow"), memory_limit=1)
    _, pieces = open_table(path, Layout("parquet"), Limits(time_limit=1e-9))
    with refused(BudgetExceeded, "time limit"):
        next(pieces)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_progress(kind, tmp_path):
    seen = []
    layout = Layout(kind)
    path = saved(written(ROWS, layout, 2), tmp_path, layout.form.suffix)
    rows_in(path, layout, progress=lambda what, done, total: seen.append((what, done <= total)))
    assert seen == [(f"Reading {'rows' if kind == 'parquet' else 'bytes'}", True)] * 4


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.parquet", b"id,item\n1,a\n", ("a.parquet'", "Parquet")),
        ("a.pq", b"ARROW1\0\0", (".pq", "Parquet", "Arrow", "format")),
        ("a.data", b"", ("Parquet",)),
        ("a.arrow", b"PAR1", (".arrow", "Arrow", "Parquet", "format")),
        ("a.feather", b"FEA1\0\0\0\0FEA1", (".feather", "Arrow", "version 1")),
        ("a.parquet", b"PAR1", ("a.parquet'", "valid", "Parquet")),
        ("a.arrow", b"ARROW1\0\0", ("a.arrow'", "valid", "Arrow")),
        ("a.arrow", b"\xff\xff\xff\xff", ("a.arrow'", "valid", "Arrow")),
    ],
)
def test_what_is_no_such_file(name, content, named, tmp_path):
    (tmp_path / name).write_bytes(content)
    with refused(UnreadableInput, *named):
        open_table(tmp_path / name, Layout("parquet" if name in ("a.parquet", "a.pq", "a.data") else "arrow"), Limits())


def test_paths_that_lead_nowhere(tmp_path):
    saved(b"", tmp_path)
    with refused(UnreadableInput, "tabel.parquet'", "'table.parquet'"):
        open_table(tmp_path / "tabel.parquet", Layout("parquet"), Limits())
    with refused(UnreadableInput, "tabel.parquet'"):
        check_plain(tmp_path / "tabel.parquet", SCHEMA, "parquet")
    with refused(UnreadableInput, "folder"):
        open_table(tmp_path, Layout("parquet"), Limits())


def test_errors_in_rows_name_the_file(tmp_path):
    path = saved(parquet(pa.table({"items": [["a"], [None]]})), tmp_path)
    with refused(UnreadableInput, "table.parquet'", "Row 2", "null"):
        rows_in(path, Layout("parquet"))
    latin = pa.array([["caf\xe9".encode("latin-1")]], pa.list_(pa.binary())).view(pa.list_(pa.string()))
    for suffix, content in (
        (".parquet", parquet(pa.table({"items": latin}))),
        (".arrow", arrow(pa.table({"items": latin}))),
    ):
        path = saved(content, tmp_path, suffix)
        with refused(UnreadableInput, "valid", "UTF8"):
            rows_in(path, Layout(suffix[1:]))


LISTS = pa.table({"items": pa.array(ROWS, pa.list_(pa.string()))})
SCHEMA = schema_of(NAMES, Layout("parquet"))


def parquet_with(table=LISTS, **options) -> bytes:
    """A file as we would write it but for some options."""
    usual = {
        "version": "2.6",
        "data_page_version": "1.0",
        "compression": "zstd",
        "compression_level": 3,
        "write_statistics": False,
        "store_schema": False,
    }
    return parquet(table, **{**usual, **options})


def test_our_options_are_plain():
    assert check_plain(parquet_with(), SCHEMA, "parquet") is None


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (parquet_with(pa.table({"item": LISTS["items"]})), ("'item'", "'items'")),
        (parquet_with(LISTS.append_column("x", pa.array(range(7)))), ("'items'", "'x' (int64)")),
        (parquet_with(LISTS.cast(pa.schema([("items", pa.list_(pa.large_binary()))]))), ("binary",)),
        (parquet_with(LISTS.replace_schema_metadata({"by": "ann"}), store_schema=True), ("metadata", "'by'")),
        (parquet_with(store_schema=True), ("metadata", "'ARROW:schema'")),
        (parquet_with(write_statistics=True), ("'items.list.element'", "row group 1", "statistics")),
        (parquet_with(write_page_index=True), ("row group 1", "page index")),
        (parquet_with(bloom_filter_options={"items.list.element": True}), ("row group 1", "Bloom filter")),
        (parquet_with(sorting_columns=[pyarrow.parquet.SortingColumn(0)]), ("row group 1", "sort order")),
        (parquet_with(compression_level=9, compression="gzip"), ("differs",)),
        (parquet_with(use_dictionary=False), ("differs",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("same_version", [True, False])
def test_what_else_a_parquet_file_can_hold(content, named, same_version, monkeypatch):
    if not same_version:
        monkeypatch.setattr(plain, "_THIS_WRITER", "parquet-cpp-arrow version 1.2.3")
    found = check_plain(content, SCHEMA, "parquet")
    if "differs" in named and not same_version:
        assert found is None  # the bytes of other versions differ
    else:
        assert all(names(found or "", value) for value in named)


@pytest.mark.parametrize("same_version", [True, False])
def test_hidden_parts_of_a_parquet_file(same_version, monkeypatch):
    """Bytes between the parts, another writer's name, names in a dictionary that no row has, words in the footer."""
    if not same_version:
        monkeypatch.setattr(plain, "_THIS_WRITER", "parquet-cpp-arrow version 1.2.3")
    content = written(ROWS, Layout("parquet"), 100)
    assert check_plain(content, SCHEMA, "parquet") is None
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    between = content[:footer] + b"ann has insulin" + content[footer:]
    assert names(check_plain(between, SCHEMA, "parquet") or "", f"byte {footer}")
    renamed = content.replace(b"parquet-cpp-arrow", b"parquet-ann-arrow")
    assert names(check_plain(renamed, SCHEMA, "parquet") or "", "'parquet-ann-arrow version")
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["ale", "bun", "insulin"]))
    hidden = parquet_with(pa.table({"items": pa.ListArray.from_arrays(pa.array([0, 1, 3]), codes)}))
    expected = "differs" if same_version else "dictionary of row group 1"
    assert names(check_plain(hidden, SCHEMA, "parquet") or "", expected)
    # A field that pyarrow does not know, after the last one it does: a compact Thrift text of five bytes.
    unknown = content[footer:-9] + b"\x78\x05hello" + content[-9:-8]
    longer = content[:footer] + unknown + len(unknown).to_bytes(4, "little") + b"PAR1"
    assert pyarrow.parquet.read_table(io.BytesIO(longer)).to_pylist() == LISTS.to_pylist()
    assert names(check_plain(longer, SCHEMA, "parquet") or "", "footer")


def test_what_else_an_arrow_file_can_hold():
    def found(content: bytes) -> str:
        return check_plain(content, SCHEMA, "arrow") or ""

    one = LISTS.combine_chunks()
    stream = io.BytesIO()
    write_table(stream, [one], SCHEMA, "arrow")
    content = stream.getvalue()
    assert found(content) == ""
    assert names(found(arrow(one, pyarrow.ipc.new_stream)), "file format")
    assert names(found(arrow(one.rename_columns(["x"]))), "'x' (list<item: string>)")
    assert names(found(arrow(one.replace_schema_metadata({"by": "ann"}))), "metadata")
    noted = pa.schema([SCHEMA.field(0).with_metadata({"by": "ann"})])
    assert names(found(arrow(one.cast(noted))), "metadata")
    assert names(found(arrow(one, compression="zstd")), "differs")
    with refused(UnreadableInput, "valid", "Arrow"):
        check_plain(content + b"ann", SCHEMA, "arrow")
    batch = one.to_batches()[0]
    stream = io.BytesIO()
    with pyarrow.ipc.new_file(stream, SCHEMA) as writer:
        writer.write_batch(batch, custom_metadata={"by": "ann"})
    assert names(found(stream.getvalue()), "differs")


def test_hidden_values_of_an_arrow_file():
    """Text behind a null, between lists, in the padding: it would not be read, but it would be there."""
    schema = pa.schema([("id", pa.int64()), ("item", pa.string())])
    text = pa.StringArray.from_buffers(
        2, pa.array([0, 3, 10], pa.int32()).buffers()[1], pa.py_buffer(b"aleinsulin"), pa.py_buffer(b"\x01"), 1
    )
    assert text.to_pylist() == ["ale", None]
    behind = pa.table([pa.array([1, 2]), text], schema=schema)
    assert "it differs" in (check_plain(arrow(behind), schema, "arrow") or "")
    part = pa.table({"items": [["ale"], ["insulin"]]}).slice(0, 1)
    assert b"insulin" in arrow(part)  # so does pyarrow write a slice
    assert "it differs" in (check_plain(arrow(part), SCHEMA, "arrow") or "")
    for container in ("arrow", "parquet"):
        stream = io.BytesIO()
        write_table(stream, [part], SCHEMA, container)
        assert b"insulin" not in stream.getvalue()
        assert check_plain(stream.getvalue(), SCHEMA, container) is None
    content = written(ROWS[:1], Layout("arrow"))
    assert check_plain(content, SCHEMA, "arrow") is None
    place = content.index(b"alebun") + len(b"alebun")
    assert content[place] == 0
    padded = content[:place] + b"!" + content[place + 1 :]
    assert "it differs" in (check_plain(padded, SCHEMA, "arrow") or "")


@pytest.mark.parametrize("container", ["parquet", "arrow"])
def test_a_damaged_file_is_not_plain(container, tmp_path):
    content = written(ROWS, Layout(container))
    with refused(UnreadableInput, "valid", container.title()):
        check_plain(content[:-20], SCHEMA, container)
    path = saved(content[:-20], tmp_path)
    with refused(UnreadableInput, "table.parquet'", "valid", container.title()):
        check_plain(path, SCHEMA, container)
