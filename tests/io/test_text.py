"""Text as it comes: what is too fine for docs/formats.md, whose lines are tested in `test_formats`."""

from __future__ import annotations

import encodings.aliases
import os
from pathlib import Path

import pytest

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput
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
    "ids around the table": (
        b"4194304 4194303 4194305 12345678 99999999 1234567\n",
        "a.dat",
        [["1234567", "4194303", "4194304", "4194305", "12345678", "99999999"]],
    ),
    "long names": (
        b"12345678,123456789,1234567890\n12345678\n",
        "a.csv",
        [["12345678", "123456789", "1234567890"], ["12345678"]],
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_names_at_the_edges_of_a_kernel(case: str, file) -> None:
    content, name, expected = GOOD[case]
    assert rows(file(content, name)) == expected


# case: (content, name, options, kind of error, what it names)
BAD = {
    "id far too large": (b"1" * 99, "a.dat", {}, UnreadableInput, ("line 1", "'" + "1" * 40 + "...'", "format")),
    "digits, letters": (b"12345678x\n", "a.dat", {}, UnreadableInput, ("'12345678x'", "format", "basket")),
    "long unicode name": (
        ("x" + "ä" * 30).encode(),
        "a.dat",
        {},
        UnreadableInput,
        ("'x" + "ä" * 19 + "...'", "format"),
    ),
    "open quote, crlf": (b'"a\r\nb"\r\n"c', "a.csv", {}, UnreadableInput, ("line 3", "quote")),
    "unlike sensitive": (b"beer\n", "a.csv", {"sensitive": ["x", "y"]}, InvalidArgument, ("'x'", 2)),
    "sensitive with zeros": (b"48 39\n", "a.dat", {"sensitive": ["048"]}, InvalidArgument, ("'048'", "'48'")),
    "sensitive text": (b"48 4 8\n", "a.dat", {"sensitive": "48"}, InvalidArgument, ("sensitive", "['48']")),
    "half a character": (b"a\n", "a.csv", {"delimiter": "\udca7"}, InvalidArgument, ("delimiter", r"'\udca7'")),
    "zero delimiter": (b"a\n", "a.csv", {"delimiter": "\0"}, InvalidArgument, ("delimiter", r"'\x00'")),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_advice(case: str, file, snapshot) -> None:
    content, name, options, kind, named = BAD[case]
    with refused(kind, *named) as caught:
        read(file(content, name), **options)
    assert str(caught.value) == f"{caught.value.what} {caught.value.next_step}" == snapshot


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


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig"])
def test_other_encodings(encoding: str, file) -> None:
    assert rows(file("käse,öl\n".encode(encoding), "a.csv"), encoding=encoding) == [["käse", "öl"]]


@pytest.mark.parametrize("encoding", ["utf-16", "UTF-32"])
def test_text_that_is_not_in_the_encoding(encoding: str, file) -> None:
    """The encoding exists, so the file is at fault, although a codec may not say at which byte."""
    with refused(UnreadableInput, "a.csv", encoding.lower()):
        rows(file(b"tea..,milk\n" * 9, "a.csv"), encoding=encoding)


NOT_OF_FILES = [
    "idna",
    "punycode",
    "undefined",
    "unicode_escape",
    "raw_unicode_escape",
    "base64",
    "rot13",
    "bz2",
    "hex",
]


@pytest.mark.parametrize("encoding", [*NOT_OF_FILES, "IDNA", "nix", "utf\0"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str, file) -> None:
    """Some of them Python calls text encodings, and reads nothing, or something else, with them."""
    with refused(InvalidArgument, repr(encoding), "utf-8", "latin-1"):
        read(file(b"ale,bun\nale\n", "a.csv"), encoding=encoding)


@pytest.mark.parametrize("encoding", sorted({*encodings.aliases.aliases.values()} - {*NOT_OF_FILES}))
def test_every_encoding_of_python_reads_text_or_is_refused(encoding: str, file) -> None:
    try:
        written = "ale,bun\nale\n".encode(encoding)
    except (LookupError, UnicodeError):  # no encoding of text, or one of another system
        with refused(InvalidArgument, repr(encoding)):
            read(file(b"ale\n", "a.csv"), encoding=encoding)
    else:
        assert rows(file(written, "a.csv"), encoding=encoding) == [["ale", "bun"], ["ale"]]


def test_notes_tell_what_a_careful_reader_wants_to_know(file, snapshot) -> None:
    assert notes(file(b"1 2\n3\n", "a.dat")) == ""
    assert notes(file(b"1\n\n\n", "a.dat")) == snapshot
    assert "is not the delimiter" not in notes(file(b"a,b\nc\nd\n", "a.csv"))


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
