"""Bad and odd input: each case that docs/formats.md lists has a defined answer."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from veilset.errors import UnreadableInput, WrongUsage
from veilset.io import read_item_list
from veilset.transactions import read


@pytest.fixture
def file(tmp_path: Path):
    """Writes a file and gives its path."""

    def make(content: bytes, name: str) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


def rows(path: Path, **options: object) -> list[list[str]]:
    return read(path, **options).to_lists()


def notes(path: Path, **options: object) -> str:
    source = read(path, **options).source
    assert source is not None
    return " ".join(source.notes)


GOOD = {
    "plain": (b"1 2\n3\n", "a.dat", [["1", "2"], ["3"]]),
    "crlf": (b"1 2\r\n3\r\n", "a.dat", [["1", "2"], ["3"]]),
    "lone cr": (b"1 2\r3\r", "a.dat", [["1", "2"], ["3"]]),
    "mark": (b"\xef\xbb\xbf1 2\n3\n", "a.dat", [["1", "2"], ["3"]]),
    "blanks and tabs": (b" 1\t2  \n\t3 \n", "a.dat", [["1", "2"], ["3"]]),
    "no newline at the end": (b"1 2\n3", "a.dat", [["1", "2"], ["3"]]),
    "repeated items": (b"2 1 2 1\n", "a.dat", [["1", "2"]]),
    "empty lines": (b"1\n\n \n", "a.dat", [["1"], [], []]),
    "one newline": (b"\n", "a.dat", [[]]),
    "leading zeros": (b"007 7 0\n", "a.dat", [["0", "7"]]),
    "largest id": (b"9223372036854775807 0000000000000000000012\n", "a.dat", [["12", "9223372036854775807"]]),
    "ids around the table": (
        b"4194304 4194303 4194305 12345678 99999999 1234567\n",
        "a.dat",
        [["1234567", "4194303", "4194304", "4194305", "12345678", "99999999"]],
    ),
    "gzip": (gzip.compress(b"1 2\n3\n"), "a.dat.gz", [["1", "2"], ["3"]]),
    "upper case suffix": (b"1 2\n", "a.DAT", [["1", "2"]]),
    "basket": (b"milk,beer\nwhole milk\n", "a.csv", [["beer", "milk"], ["whole milk"]]),
    "basket crlf, mark, blanks": (b"\xef\xbb\xbfmilk , beer\t\r\ntea\r\n", "a.csv", [["beer", "milk"], ["tea"]]),
    "basket lone cr": (b"b,a\rc\r", "a.csv", [["a", "b"], ["c"]]),
    "basket tabs": (b"whole milk\tbeer, dark\n", "a.tsv", [["beer, dark", "whole milk"]]),
    "quotes": (b'"a ""b"" c", "x,y" ,z\n', "a.csv", [['a "b" c', "x,y", "z"]]),
    "quoted blanks stay": (b'" a ",b \n', "a.csv", [[" a ", "b"]]),
    "newlines in quotes": (b'"a\nb","c\r\nd"\ne\n', "a.csv", [["a\nb", "c\r\nd"], ["e"]]),
    "quote inside a name": (b"6\" nails,5'\n", "a.csv", [["5'", '6" nails']]),
    "unicode": ("käse,茶,\u2028x\n".encode(), "a.csv", [["käse", "\u2028x", "茶"]]),
    "long names": (
        b"12345678,123456789,1234567890\n12345678\n",
        "a.csv",
        [["12345678", "123456789", "1234567890"], ["12345678"]],
    ),
    "empty fields": (b"a,,b\n,,\n", "a.csv", [["a", "b"], []]),
    "blank line": (b"a\n\nb\n", "a.csv", [["a"], [], ["b"]]),
}


@pytest.mark.parametrize("case", GOOD)
def test_odd_files_that_are_fine(case: str, file) -> None:
    content, name, expected = GOOD[case]
    assert rows(file(content, name)) == expected


HEADER = {"header": True}

# case: (content, name, options, what the error says, what it advises)
UNREADABLE = {
    "empty": (b"", "a.dat", {}, "a.dat' is empty", "something in it"),
    "only a mark": (b"\xef\xbb\xbf", "a.dat", {}, "a.dat' is empty", "something in it"),
    "empty gzip": (gzip.compress(b""), "a.dat.gz", {}, "is empty", "something in it"),
    "utf-16": ("1 2\n".encode("utf-16"), "a.dat", {}, "not UTF-8", "--encoding utf-16"),
    "utf-16, no mark": ("a\nb\n".encode("utf-16-le"), "a.csv", {}, "line 1: a zero byte", "--encoding"),
    "parquet": (b"PAR1\x15", "a.dat", {}, "not UTF-8", "Parquet"),
    "latin-1": ("a\nkäse\n".encode("latin-1"), "a.csv", {}, "line 2: byte 0xe4", "--encoding latin-1"),
    "latin-1, cr": ("a\rb\rä,".encode("latin-1"), "a.csv", {}, "line 3: byte 0xe4", "--encoding latin-1"),
    "zero byte": (b"1\n2\n\0\n", "a.dat", {}, "line 3: a zero byte", "Export the data as text"),
    "id too large": (b"1\n9223372036854775808 5\n", "a.dat", {}, "line 2: '9223372036854775808' is lar", "--format"),
    "id far too large": (b"1" * 99, "a.dat", {}, "line 1: '" + "1" * 40 + "...' is larger", "--format"),
    "negative": (b"1 -1 2 -1 -2\n", "a.dat", {}, "line 1: '-1' is not an item id", "--format basket"),
    "names in a .dat": (b"1\nmilk 2\n", "a.dat", {}, "line 2: 'milk'", "--format basket"),
    "commas in a .dat": (b"1,2\n", "a.dat", {}, "'1,2'", "--format basket"),
    "digits, letters": (b"12345678x\n", "a.dat", {}, "'12345678x'", "--format basket"),
    "long unicode name": (("x" + "ä" * 30).encode(), "a.dat", {}, "'x" + "ä" * 19 + "...'", "--format basket"),
    "text after a quote": (b'a\n"b"c,d\n', "a.csv", {}, "line 2: text follows", "Check the quotes"),
    "open quote": (b'a\n\n"b\nc\n', "a.csv", {}, "line 3: a quote is opened here", "Check the quotes"),
    "open quote, crlf": (b'"a\r\nb"\r\n"c', "a.csv", {}, "line 3: a quote", "Check the quotes"),
    "only a header": (b"a,b\n", "a.csv", HEADER, "no transaction in", "At least one"),
    "header twice": (b"a,b,a\n1,2\n", "a.csv", HEADER, "names 'a' twice", "a name of its own"),
    "cut gzip": (gzip.compress(b"1 2\n" * 99)[:-9], "a.dat.gz", {}, "ends amid", "again. Nothing was read"),
    "damaged gzip": (gzip.compress(b"1\n")[:-8] + b"12345678", "a.dat.gz", {}, "not intact gzip", "Copy it again"),
    "plain .gz": (b"1 2\n", "a.dat.gz", {}, "not intact gzip", "rename it"),
}

# case: (content, name, options, what the error says, what it advises)
WRONG_USAGE = {
    "unknown suffix": (b"1\n", "a.txt", {}, "'a.txt'", "--format fimi"),
    "unknown format": (b"1\n", "a.txt", {"format": "fim"}, "'fim'", "Did you mean 'fimi'?"),
    "unknown encoding": (b"1\n", "a.dat", {"encoding": "latin-99"}, "'latin-99'", "latin-1"),
    "no text encoding": (b"ab\n", "a.csv", {"encoding": "hex"}, "'hex'", "latin-1"),
    "delimiter of a .dat": (b"1;2\n", "a.dat", {"delimiter": ";"}, "';'", "--format basket"),
    "long and basket": (b"a,b\n", "a.csv", {"format": "basket", "long": ("a", "b")}, "--long does", "Leave one"),
    "another delimiter": (b"a;b\n1;2\n", "a.csv", {"long": ("a", "b")}, "no column 'a'", "--delimiter"),
    "header of a .dat": (b"1\n", "a.dat", HEADER, "A header does not go with FIMI", "--header"),
    "unknown sensitive": (b"beer,tea\n", "a.csv", {"sensitive": ["bear"]}, "'bear'", "Did you mean 'beer'?"),
    "unlike sensitive": (b"beer\n", "a.csv", {"sensitive": ["x", "y"]}, "in all, 2 do not", "spelling"),
    "sensitive with zeros": (b"48 39\n", "a.dat", {"sensitive": ["048"]}, "'048'", "'48'"),
    "sensitive text": (b"48 4 8\n", "a.dat", {"sensitive": "48"}, "sensitive is '48'", "['48']"),
    **{
        f"delimiter {wrong!r}": (b"a\n", "a.csv", {"delimiter": wrong}, repr(wrong), "one plain character")
        for wrong in ["", ";;", "§", "\udca7", '"', "\n", "\0", "1"]
    },
}


@pytest.mark.parametrize("case", [*UNREADABLE, *WRONG_USAGE])
def test_bad_input_is_refused_with_advice(case: str, file) -> None:
    content, name, options, what, advice = {**UNREADABLE, **WRONG_USAGE}[case]
    with pytest.raises(UnreadableInput if case in UNREADABLE else WrongUsage) as caught:
        read(file(content, name), **options)
    assert what in caught.value.what
    assert advice in caught.value.next_step
    assert caught.value.exit_code == 2
    assert str(caught.value) == f"{caught.value.what} {caught.value.next_step}"


def test_places_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").touch()
    with pytest.raises(UnreadableInput, match=r"no file .*retial\.dat'. Did you mean 'retail\.dat'"):
        read(tmp_path / "retial.dat")
    with pytest.raises(UnreadableInput, match="Its folder does not exist or is empty"):
        read(tmp_path / "nowhere" / "a.dat")
    with pytest.raises(UnreadableInput, match="Its folder does not exist or is empty"):
        read(tmp_path / "retail.dat" / "a.dat")
    with pytest.raises(UnreadableInput, match=r"is a folder\. Name a file inside it"):
        read(tmp_path, format="fimi")
    with pytest.raises(UnreadableInput, match=r"cannot be read: File name too long\. Check its name"):
        read(tmp_path / ("a" * 300 + ".dat"))


def test_a_pipe_is_read_once(tmp_path: Path, file) -> None:
    content = b"1 2\n3\n"
    receiver, sender = os.pipe()
    os.write(sender, content)
    os.close(sender)
    piped = read(f"/dev/fd/{receiver}", format="fimi")
    os.close(receiver)
    plain = read(file(content, "a.dat"))
    assert piped == plain
    assert piped.source is not None
    assert plain.source is not None
    assert piped.source.sha256 == plain.source.sha256


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_other_encodings(encoding: str, file) -> None:
    assert rows(file("käse,öl\n".encode(encoding), "a.csv"), encoding=encoding) == [["käse", "öl"]]


def test_notes_tell_what_a_careful_reader_wants_to_know(file) -> None:
    assert notes(file(b"1 2\n3\n", "a.dat")) == ""
    assert notes(file(b"1\n\n\n", "a.dat")) == "2 transactions are empty; they count as people."
    assert "3 empty fields between delimiters" in notes(file(b"a,,b\n,c\n,d\n", "a.csv"))
    assert "1 transactions are empty" in notes(file(b"a,b\n,,\n", "a.csv"))
    assert "',' is not the right delimiter" in notes(file(b"a;b\nc;d\ne\n", "a.csv"))
    assert "is not the right delimiter" not in notes(file(b"a,b\nc\nd\n", "a.csv"))
    assert "1 blank lines" in notes(file(b"id,item\n1,a\n\n1,b\n", "a.csv"), long=("id", "item"))


def test_header_and_unnamed_columns(file) -> None:
    path = file(b"first,second,,\nmilk,beer\n", "a.csv")
    assert rows(path, header=True) == [["beer", "milk"]]
    assert rows(path) == [["first", "second"], ["beer", "milk"]]


def test_several_sensitive_items(file) -> None:
    data = read(file(b"48 39 1\n2\n", "a.dat"), sensitive=[48, "39", 48])
    assert data.sensitive == ("39", "48")
    assert data.public == ("1", "2")


def test_item_list(file) -> None:
    path = file("\ufeffbeer\r\n\n  whole milk\t\n茶\u2028x".encode(), "sensitive.txt")
    assert read_item_list(path) == ["beer", "whole milk", "茶\u2028x"]


def test_a_line_of_ten_million_items(file) -> None:
    path = file(b" ".join(b"%d" % i for i in range(1000)) + b" " + b"7 " * 10_000_000, "a.dat")
    data = read(path, memory_limit="4GB")
    assert data.to_lists() == [[str(i) for i in range(1000)]]
    path = file(b"a,b," * 5_000_000 + b"c", "a.csv")
    assert rows(path) == [["a", "b", "c"]]
