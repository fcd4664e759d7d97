"""The text formats: FIMI ``.dat``, basket CSV, long CSV. Parsing and formatting run in the native layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.errors import UnreadableInput, WrongUsage, unknown
from veilset.io.files import read_text_bytes
from veilset.io.rows import Rows

__all__ = [
    "FORMATS",
    "Format",
    "TextOptions",
    "count_fields",
    "delimiter_of",
    "format_text",
    "parse_text",
    "quoted",
    "read_item_list",
    "strings_of",
]

Format = Literal["fimi", "basket", "long"]
FORMATS: tuple[str, ...] = get_args(Format)

_LARGEST_ID = 2**63 - 1
_BLANK = " "  # how the ids of a FIMI file are separated

_BY_SUFFIX: dict[str, tuple[Format, str]] = {
    ".dat": ("fimi", _BLANK),
    ".csv": ("basket", ","),
    ".tsv": ("basket", "\t"),
}


@dataclass(frozen=True)
class TextOptions:
    """How a text file is laid out.

    Parameters
    ----------
    format : {"fimi", "basket", "long"}
        ``fimi``: ids separated by blanks; ``basket``: one transaction a line, names; ``long``: one item a line.
    delimiter : str
        One character.
    header : bool
        Whether the first line of a basket file holds column names (a long file always has a header).
    columns : (str, str), optional
        Names of the id and the item column of a long file.
    person : str, optional
        The column that says whose a line is.
    """

    format: Format
    delimiter: str
    header: bool = False
    columns: tuple[str, str] | None = None
    person: str | None = None

    @classmethod
    def choose(
        cls,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the word users type
        delimiter: str | None = None,
        header: bool = False,
        long: tuple[str, str] | None = None,
        person: str | None = None,
    ) -> TextOptions:
        """The layout of *path*: what the caller says, else what its name says; never a guess from its content."""
        name = Path(path).name.removesuffix(".gz")
        by_name = _BY_SUFFIX.get(Path(name).suffix.lower())
        if format is None and long is not None:
            format = "long"  # noqa: A001
        if format is None and by_name is None:
            raise WrongUsage(
                f"The name {Path(path).name!r} does not say how the file is laid out.",
                "Say --format fimi (ids), --format basket (names) or --long ID,ITEM.",
            )
        chosen = format or (by_name[0] if by_name else "")
        if chosen not in FORMATS:
            raise unknown("format", chosen, FORMATS)
        if delimiter is None:
            delimiter = _BLANK if chosen == "fimi" else by_name[1] if by_name and by_name[0] == "basket" else ","
        _check_together(chosen, delimiter, header=header, long=long, person=person)
        return cls(chosen, delimiter, header or chosen == "long", long, person)  # type: ignore[arg-type]


def _check_together(
    chosen: str, delimiter: str, *, header: bool, long: tuple[str, str] | None, person: str | None
) -> None:
    """Options that contradict each other are refused: none is ignored silently."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0':
        raise WrongUsage(f"The delimiter is {delimiter!r}.", "Give one plain character, for example ';' or a tab.")
    if chosen == "fimi" and delimiter != _BLANK:
        raise WrongUsage(
            f"The delimiter is {delimiter!r}, but blanks separate the ids of a FIMI file.",
            "Say --format basket for another delimiter.",
        )
    if chosen == "long" and long is None:
        raise WrongUsage(
            "A long file needs the names of its columns.", "Say --long ID,ITEM with the names in its header."
        )
    if chosen != "long" and long is not None:
        raise WrongUsage(f"--long {','.join(long)} does not go with --format {chosen}.", "Leave one of them out.")
    if long is not None and long[0] == long[1]:
        raise WrongUsage(f"The column {long[0]!r} cannot be the id and the item.", "Name two columns.")
    if chosen == "fimi" and (person or header):
        raise WrongUsage("A FIMI file has no header and no person column.", "Use basket or long CSV for that.")
    if chosen == "basket" and person and not header:
        raise WrongUsage(f"The person column {person!r} can only be found in a header.", "Add --header.")


def delimiter_of(path: str | Path) -> str:
    """The delimiter a file's name says: a tab for ``.tsv``, else a comma."""
    return "\t" if Path(path).name.removesuffix(".gz").lower().endswith(".tsv") else ","


def count_fields(text: bytes, options: TextOptions) -> int:
    """How many fields a text has, at most: cheap to know before it is parsed."""
    separators = (b" ", b"\t") if options.format == "fimi" else (options.delimiter.encode(),)
    return sum(map(text.count, (*separators, b"\n", b"\r"))) + 1


def parse_text(text: bytes, options: TextOptions) -> Rows:
    """Rows of a text; raises `UnreadableInput` with the line that is at fault."""
    try:
        if options.format == "fimi":
            rows = _parse_fimi(text)
        elif options.format == "basket":
            rows = _parse_basket(text, options)
        else:
            rows = _parse_long(text, options)
    except _native.ParseError as error:
        advice = {
            "fimi": "For names instead of ids use --format basket, with --delimiter ' ' if blanks separate them.",
            "basket": "Check the quotes, and that --delimiter is right.",
            "long": "Check the line, and that --delimiter is right.",
        }[options.format]
        raise UnreadableInput(f"Cannot read the file, {error}.", advice) from None
    if len(rows.offsets) == 1:
        raise UnreadableInput("The file holds a header and no transaction.", "A file needs at least one.")
    return rows


def _parse_fimi(text: bytes) -> Rows:
    offsets, codes, ids = _native.parse_fimi(text)
    return Rows(offsets, codes, list(map(str, ids.tolist())), notes=_empty_rows(offsets, codes), in_order=True)


def _parse_basket(text: bytes, options: TextOptions) -> Rows:
    header, start, line = _header(text, options) if options.header else ([], 0, 1)
    offsets, codes, strings = _native.parse_basket(text, options.delimiter, start, line)
    names = strings_of(strings)
    notes: list[str] = []
    persons = None
    if options.person is not None:
        column = _column(header, options.person)
        offsets, codes, persons = _split_person(offsets, codes, names, column)
    if (empty := int(np.count_nonzero(codes < 0))) > 0:
        notes.append(f"{empty:,} empty fields between delimiters were passed over.")
    if options.person is None and len(offsets) > 3 and int(np.diff(offsets).max()) == 1:
        notes.append(
            f"No line holds more than one item: if that is wrong, {options.delimiter!r} is not the right delimiter."
        )
    return Rows(offsets, codes, names, persons, notes=tuple(notes) + _empty_rows(offsets, codes, persons))


def _parse_long(text: bytes, options: TextOptions) -> Rows:
    header, start, line = _header(text, options)
    id_name, item_name = options.columns or ("", "")
    key = options.person or id_name
    columns = [_column(header, key), _column(header, item_name)]
    if columns[0] == columns[1]:
        raise WrongUsage(f"The column {item_name!r} cannot be the id and the item.", "Name two columns.")
    _column(header, id_name)
    parsed, blank_lines = _native.parse_table(text, options.delimiter, start, line, columns, len(header))
    (groups, group_strings), (values, value_strings) = parsed
    if (missing := np.flatnonzero(groups < 0)).size:
        raise UnreadableInput(
            f"Record {int(missing[0]) + 1} after the header has no {key!r}.", "Every line must say whose it is."
        )
    ids = strings_of(group_strings)
    offsets, codes = _native.group(groups, values, len(ids))
    notes = [f"{blank_lines:,} blank lines were passed over."] if blank_lines else []
    notes += _empty_rows(offsets, codes)
    names = strings_of(value_strings)
    if options.person:
        return Rows(offsets, codes, names, persons=ids, notes=tuple(notes))
    return Rows(offsets, codes, names, ids=ids, notes=tuple(notes))


def _header(text: bytes, options: TextOptions) -> tuple[list[str], int, int]:
    fields, start, line = _native.parse_record(text, options.delimiter)
    names = [field.decode() for field in fields]
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise UnreadableInput(f"The header names {twice!r} twice.", "Give every column a name of its own.")
    return names, start, line


def _column(header: list[str], name: str) -> int:
    if name not in header:
        alone = "Say --delimiter if something else separates the columns."
        raise unknown("column", name, header, "Check its spelling." if len(header) > 1 else alone)
    return header.index(name)


def _split_person(
    offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], names: list[str], column: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], list[str]]:
    short = np.flatnonzero(np.diff(offsets) <= column)
    at = offsets[:-1] + column
    missing = short if short.size else np.flatnonzero(codes[at] < 0)
    if missing.size:
        raise UnreadableInput(f"Transaction {int(missing[0]) + 1} has no person.", "Every line must say whose it is.")
    persons = [names[code] for code in codes[at].tolist()]
    rest = np.delete(codes, at)
    return offsets - np.arange(len(offsets)), rest, persons


def _empty_rows(
    offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], persons: Sequence[str] | None = None
) -> tuple[str, ...]:
    filled = np.diff(offsets) > 0
    if codes.size and codes.min() < 0:  # fields that hold nothing do not fill a row
        filled = np.diff(np.append(0, np.cumsum(codes >= 0))[offsets]) > 0
    if persons is None:
        empty = int(np.count_nonzero(~filled))
    else:
        empty = len(set(persons)) - len({person for person, full in zip(persons, filled.tolist(), strict=True) if full})
    return (f"{empty:,} transactions are empty; they count as people.",) if empty else ()


def strings_of(parts: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]) -> list[str]:
    """Strings as the kernels give them: offsets into one block of bytes."""
    starts, data = parts
    array = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data))
    strings: list[str] = array.to_pylist()
    return strings


def format_text(
    offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], names: Sequence[str], options: TextOptions
) -> bytes:
    """The text of canonical rows; what `parse_text` reads back exactly."""
    if options.format == "fimi":
        wrong = next((name for name in names if not _is_id(name)), None)
        if wrong is not None:
            raise WrongUsage(
                f"The item {wrong!r} is not an id and cannot be written as FIMI.", "Write basket CSV instead."
            )
        encoded = [name.encode() for name in names]
        delimiter = " "
    else:
        delimiter = options.delimiter
        encoded = [quoted(name, delimiter).encode() for name in names]
    starts = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(name) for name in encoded], out=starts[1:])
    blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    head = b""
    if options.format == "long":
        head = delimiter.join(quoted(name, delimiter) for name in options.columns or ("id", "item")).encode() + b"\n"
    return head + _native.format_rows(offsets, items, starts, blob, delimiter, options.format == "long")


def _is_id(name: str) -> bool:
    plain = name.isascii() and name.isdigit() and len(name) <= len(str(_LARGEST_ID))
    return plain and str(int(name)) == name and int(name) <= _LARGEST_ID


def quoted(name: str, delimiter: str) -> str:
    """A name as a field of delimited text: quoted where it must be."""
    # A byte-order mark in front would be taken for the file's.
    if name != name.strip(" \t\ufeff") or any(c in name for c in (delimiter, '"', "\n", "\r")):
        return '"' + name.replace('"', '""') + '"'
    return name


def read_item_list(path: str | Path, encoding: str = "utf-8") -> list[str]:
    """Names from a file, one a line; blanks around a name and empty lines do not count."""
    lines = re.split("\r\n|\n|\r", read_text_bytes(path, encoding).decode())
    names = [line.strip(" \t") for line in lines]
    return [name for name in names if name]
