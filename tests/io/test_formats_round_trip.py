"""Any transactions survive every format, packed or not; a release in every format is verified, and only as written."""

import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import veilset as vs
from tests.support.bundles import edit_certificate
from tests.support.effort import repeats
from tests.support.errors import refused
from veilset.io import FORMATS, as_written, sha256_of, write_rows
from veilset.io.plain import write_table

pytestmark = pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them")

LOOKS_LIKE = ["null", "true", "NaN", "0", "007", "-1", "-2", "1e5", "1.0", "[1]", '{"a":1}', "@ITEM=1=a", "# x", "%"]
NAMES = st.one_of(
    st.sampled_from([*LOOKS_LIKE, "id", "item", "items", "\ufeff", " ", "\t", '"', "\n", "9223372036854775808"]),
    st.text(st.sampled_from(' \t\n\r",;:=@#%-\\{}[]\ufeff\u2028\x0b\x85\x7f01aéß茶😀'), min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8),
)
IDS = st.integers(0, 2**63 - 1).map(str) | st.integers(0, 20).map(str)


def rows_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(names, max_size=5), min_size=1, max_size=8)


def can_hold(kind: str, rows: list[list[str]]) -> bool:
    """Whether the format has room for these names."""
    names = {name for row in rows for name in row}
    if kind == "spmf" and not all(name.isascii() and name.isdigit() and name == str(int(name)) for name in names):
        return all(name == name.strip(" \t") and not {"\n", "\r"} & set(name) for name in names)
    return bool(names) or FORMATS[kind].shape != "wide"


def packings(kind: str) -> list[str]:
    return [""] if FORMATS[kind].container in ("parquet", "arrow") else ["", ".gz", ".zst"]


@pytest.mark.parametrize("kind", FORMATS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # every example writes over the last
@example(data=None)
@given(data=st.data())
def test_what_is_written_is_read(kind: str, tmp_path: Path, data: st.DataObject | None) -> None:
    rows = [["1"], [], ["2", "1"]] if data is None else data.draw(rows_of(IDS if kind == "fimi" else NAMES))
    transactions = vs.Transactions.from_lists(rows)
    options = {"long": ("id", "item")} if FORMATS[kind].shape == "long" else {}
    for packing in packings(kind):
        path, again = (tmp_path / f"{name}{FORMATS[kind].suffix}{packing}" for name in "ab")
        if not can_hold(kind, rows):
            with refused(vs.InvalidArgument, "Write"):
                transactions.write(tmp_path / f"refused{packing}", format=kind)
            assert not (tmp_path / f"refused{packing}").exists()
            continue
        transactions.write(path, format=kind)
        assert vs.read(path, format=kind, **options) == transactions
        transactions.write(again, format=kind)
        assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("kind", ["fimi", "spmf"])
def test_names_that_are_no_ids(kind: str, tmp_path: Path) -> None:
    transactions = vs.Transactions.from_lists([["milk\n", "1"]])
    with refused(vs.InvalidArgument, "'milk\\n'"):
        transactions.write(tmp_path / "a", format=kind)
    assert list(tmp_path.iterdir()) == []


# Releases

TRICKY = ['say "x", y', "käse 茶", "@ITEM=1=a", "# 5", "\ufeffmark", "007", "null"]


def released(kind: str, folder: Path, name: str = "out") -> Path:
    """A release in this format: nothing has to go, so that all names are in it."""
    names = [str(number) for number in range(7)] if kind == "fimi" else TRICKY
    rows = [names, names[:3], [], names[2:], names[1:2], names]
    data = vs.Transactions.from_lists(rows, sensitive=names[-1:])
    release = vs.anonymize(data, vs.Coherence(h="1", k=1, p=1))
    bundle = vs.publish(release, folder / name, out_format=kind, random_state=7, allow_empty_promise=True)
    assert bundle.verification.holds
    (file,) = bundle.public.glob("data.*")
    return file


def reseal(file: Path, content: bytes) -> vs.Verification:
    """What verify says of another content with all sums set right, as a forger would set them."""
    file.write_bytes(content)
    edit_certificate(file.parent, lambda c: c["data"].update(sha256=sha256_of(file)), fix_sums=True)
    return vs.verify(file.parent)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_release_in_every_format(kind: str, tmp_path: Path) -> None:
    file, again = released(kind, tmp_path), released(kind, tmp_path, "again")
    assert file.read_bytes() == again.read_bytes()
    assert vs.verify(file.parent).holds
    assert json.loads((file.parent / "certificate.json").read_text())["data"]["format"] == kind
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert vs.verify(file.parent).verdict == "altered"


@pytest.mark.parametrize("kind", FORMATS)
def test_a_changed_byte_with_sums_set_right(kind: str, tmp_path: Path) -> None:
    """It is refused, or the file is what would be written for other transactions: a release like any other."""
    file = released(kind, tmp_path)
    content, dice = file.read_bytes(), random.Random(kind)
    options = {"long": ("row", "item")} if FORMATS[kind].shape == "long" else {}
    found_out = 0
    for _ in range(repeats(60)):
        changed = bytearray(content)
        changed[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        found = reseal(file, bytes(changed))
        found_out += not found.holds
        assert found.verdict in ("holds", "unchecked", "altered", "malformed", "broken")
        if found.verdict in ("holds", "unchecked"):
            assert all(said.startswith("report.html") for said in found.unchecked)  # the page is about other data
            data = vs.read(file, format=kind, **options)
            written = io.BytesIO()
            write_rows(written, data.offsets, data.items, data.names, as_written(data.source.layout))
            assert written.getvalue() == changed
    assert found_out > repeats(10)
    assert reseal(file, content).holds


def _table(change: Callable[[pa.Table], pa.Table]) -> Callable[[str, bytes], bytes]:
    """A change of a table, written as we would write it."""

    def forge(kind: str, content: bytes) -> bytes:
        stream = io.BytesIO(content)
        is_parquet = FORMATS[kind].container == "parquet"
        table = pyarrow.parquet.read_table(stream) if is_parquet else pyarrow.ipc.open_file(stream).read_all()
        changed, forged = change(table), io.BytesIO()
        write_table(forged, [changed], changed.schema, FORMATS[kind].container)
        return forged.getvalue()

    return forge


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[str, bytes], bytes]:
    return lambda kind, content: b"".join(change(content.splitlines(keepends=True)))


_MORE_COLUMNS = _table(lambda x: x.append_column("more", pa.array(["x"] * len(x))))
_NO_ITEM = _table(lambda x: x.append_column("zz", pa.array([False] * len(x))))
_LISTS_BACKWARDS = _table(lambda x: pa.table({"items": [row[::-1] for row in x["items"].to_pylist()]}, x.schema))
_ROWS_BACKWARDS = _table(lambda x: x.take(list(range(len(x)))[::-1]))
_COLUMNS_BACKWARDS = _table(lambda x: x.select(x.column_names[::-1]))

FORGED: dict[str, list[Callable[[str, bytes], bytes]]] = {
    "fimi": [_lines(lambda x: [line.replace(b"\n", b" \n") for line in x]), _lines(lambda x: [b"5 0\n", *x[1:]])],
    "spmf": [_lines(lambda x: [*x, b"# ann bought this\n"]), _lines(lambda x: [b"@WHO=ann\n", *x])],
    "basket": [_lines(lambda x: [x[0].replace(b"\n", b",\n"), *x[1:]]), _lines(lambda x: [b"null,007\n", *x[1:]])],
    "long": [_lines(lambda x: [line.replace(b"\n", b",x\n") for line in x]), _lines(lambda x: [x[0], *x[:0:-1]])],
    "wide": [_lines(lambda x: [x[0].replace(b"\n", b",zz\n"), *(line.replace(b"\n", b",0\n") for line in x[1:])])],
    "jsonl": [_lines(lambda x: [x[0].replace(b"]", b" ]"), *x[1:]]), _lines(lambda x: [*x, b"\n"])],
    "jsonl-long": [_lines(lambda x: [line.replace(b"}", b', "n": 1}') for line in x]), _lines(lambda x: x[::-1])],
    **{kind: [_MORE_COLUMNS, _LISTS_BACKWARDS] for kind in ("parquet", "arrow")},
    **{kind: [_MORE_COLUMNS, _ROWS_BACKWARDS, _COLUMNS_BACKWARDS] for kind in ("parquet-long", "arrow-long")},
    **{kind: [_NO_ITEM, _COLUMNS_BACKWARDS] for kind in ("parquet-wide", "arrow-wide")},
}


@pytest.mark.parametrize("kind", FORMATS)
def test_more_columns_or_another_order_with_sums_set_right(kind: str, tmp_path: Path) -> None:
    file = released(kind, tmp_path)
    content = file.read_bytes()
    for forge in FORGED[kind]:
        forged = forge(kind, content)
        assert forged != content
        assert reseal(file, forged).verdict in ("altered", "malformed")
