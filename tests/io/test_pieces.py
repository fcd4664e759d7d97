"""Large tables, written piece by piece: every name comes back from every format."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.tables import SCHEMA, read_back
from veilset.errors import CannotWrite, InvalidArgument
from veilset.io import TABLE_SUFFIXES, pieces_of, write_pieces

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ROWS = st.fixed_dictionaries(
    {
        "items": st.lists(NAMES, min_size=1),
        "support": st.integers(0, 2**63 - 1),
        "sure": st.none() | st.floats(0, 1),
        "sensitive": st.none() | NAMES,
    }
)


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@given(rows=st.lists(ROWS), pieces=st.integers(1, 4))
def test_every_name_comes_back(suffix, rows, pieces, tmp_path_factory):
    path = tmp_path_factory.mktemp("pieces") / f"table{suffix}"
    table = pa.Table.from_pylist(rows, SCHEMA)
    coded = table.set_column(0, "items", coded_lists(rows))
    with write_pieces(path, SCHEMA) as write:
        write(table.slice(0, 0))
        for piece in pieces_of(coded, SCHEMA, rows=pieces):
            assert 0 < len(piece) <= pieces
            write(piece)
    assert read_back(path) == rows


def coded_lists(rows: list[dict]) -> pa.LargeListArray:
    """Lists as the mining room gives them: codes of names, and here a slice of something longer."""
    lists = [["before"], *(row["items"] for row in rows), ["after"]]
    offsets = [0]
    for names in lists:
        offsets.append(offsets[-1] + len(names))
    flat = pa.array([name for names in lists for name in names], pa.string()).dictionary_encode()
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat).slice(1, len(rows))


@given(rows=st.lists(ROWS), most_rows=st.integers(1, 4), most_names=st.integers(0, 6))
def test_pieces_are_small(rows, most_rows, most_names):
    """Of rows with thousands of names, fewer are taken at once."""
    table = pa.Table.from_pylist(rows, SCHEMA).set_column(0, "items", coded_lists(rows))
    pieces = [piece.to_pylist() for piece in pieces_of(table, SCHEMA, rows=most_rows, names=most_names)]
    assert [row for piece in pieces for row in piece] == rows
    sizes = [sum(len(row["items"]) for row in piece) for piece in pieces]
    for piece, size in zip(pieces, sizes, strict=True):
        assert len(piece) == 1 or (len(piece) <= most_rows and size <= most_names)
    for piece, size, following in zip(pieces, sizes, pieces[1:], strict=False):  # and no smaller than need be
        assert len(piece) == most_rows or size + len(following[0]["items"]) > most_names


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_a_table_without_rows(suffix, tmp_path):
    path = tmp_path / f"Table{suffix.upper()}"
    with write_pieces(path, SCHEMA):
        pass
    assert read_back(path.rename(tmp_path / f"table{suffix}")) == []


def test_a_list_is_a_line_of_basket_csv(tmp_path):
    row = {"items": ["rye, dark", 'the "best"', "ale"], "support": 3, "sure": 0.5, "sensitive": None}
    with write_pieces(tmp_path / "table.csv", SCHEMA) as write:
        write(pa.Table.from_pylist([row], SCHEMA))
    line = '"""rye, dark"",""the """"best"""""",ale",3,0.5,\n'
    assert (tmp_path / "table.csv").read_text() == '"items","support","sure","sensitive"\n' + line


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.csv.gz", ".csv"])
def test_a_name_must_say_the_format(name, tmp_path):
    with refused(InvalidArgument, ".parquet", ".csv", ".json", ".jsonl"), write_pieces(tmp_path / name, SCHEMA):
        pytest.fail("the block must not run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_a_failure_leaves_the_old_file(suffix, tmp_path):
    path = tmp_path / f"table{suffix}"
    path.write_text("old")
    piece = pa.Table.from_pylist([{"items": ["a"], "support": 1, "sure": None, "sensitive": None}], SCHEMA)
    with pytest.raises(RuntimeError), write_pieces(path, SCHEMA, replace=True) as write:
        write(piece)
        raise RuntimeError
    with refused(InvalidArgument, "exists"), write_pieces(path, SCHEMA):
        pytest.fail("the block must not run")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@pytest.mark.parametrize("room", [0, 100_000])
def test_a_full_disk(suffix, room, tmp_path, monkeypatch):
    class Disk(io.FileIO):
        def write(self, content):
            if self.tell() + len(content) > room:
                raise OSError(28, "No space left on device")
            return super().write(content)

    def on_disk(path, mode):
        return Disk(path, mode)

    monkeypatch.setattr(Path, "open", on_disk)
    rows = [{"items": [str(i)], "support": i, "sure": i / 7, "sensitive": str(i)} for i in range(5000)]
    with refused(CannotWrite, "No space left on device"), write_pieces(tmp_path / f"table{suffix}", SCHEMA) as write:
        for _ in range(5):
            write(pa.Table.from_pylist(rows, SCHEMA))
    assert not list(tmp_path.iterdir())
