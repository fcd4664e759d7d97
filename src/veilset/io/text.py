"""The text formats: FIMI, SPMF, delimited text and JSON lines. Parsing and formatting run in the native layer.

A file is read block by block, so that it need not fit into memory; a record that goes on in the next block waits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.errors import UnreadableInput, near_misses, said, unknown
from veilset.io.files import TextBlocks
from veilset.io.gaps import NAME_IT, NO_GAPS, Gaps
from veilset.io.gather import strings_of
from veilset.io.layout import Layout
from veilset.io.people import proposing
from veilset.io.rows import Rows, arrow_numbers
from veilset.io.suspicion import check_baskets

_EMPTY_FIELDS = "{0:,} empty {0:field|fields} between delimiters {0:was|were} skipped."
_BLANK_LINES = "{0:,} blank {0:line was|lines were} skipped."
_SEQUENCES = "{0:,} {0:line is a sequence|lines are sequences} (with -1 and -2): the order of items was dropped."
_COUNTS = "{0:,} {0:cell has a value|cells have values} above 1; {0:it counts|they count} only as present."

_SAMPLE = 1 << 16  # bytes from which to tell a table from baskets

_OF_IDS = (
    f"For names instead of ids, use {said('format', 'basket')}, with {said('delimiter', ' ')} if spaces separate them."
)
_IGNORE = said("ignore", ["COLUMN"])
_ADVICE = {
    "fimi": _OF_IDS,
    "spmf": _OF_IDS,
    "basket": f"Check the quotes and {said('delimiter')}.",
    "long": f"Check the line and {said('delimiter')}.",
    "wide": f"If the column is not an item, use {_IGNORE}; if it contains counts, use {said('counts', True)}. "
    f"Check {said('delimiter')}.",
    "jsonl": f"Write one JSON value per line. {said('column')} names the key of the items; "
    f"{said('long', ('ID', 'ITEM'))} is for one item per line.",
    "jsonl-long": "Write one JSON object per line, with both keys. "
    f"{said('missing', 'skip')} skips lines that lack one.",
    "anatomy": "Give every line a bucket, and one cell per column, written like a line of a basket file.",
    "jsonl-anatomy": "Write one JSON object per line, with a bucket and a list for each column.",
}

_Parse = Callable[[bytes, int, int, bool], tuple[Rows, int, int]]
"""Of a text from a position and its line on, perhaps to the end: the rows, and where the first record not taken is."""


def open_text(
    path: str | Path,
    blocks: Iterable[bytes],
    layout: Layout,
    gaps: Gaps = NO_GAPS,
) -> tuple[Layout, Iterator[Rows]]:
    """The layout, made complete by what the file says, and the rows, piece by piece.

    Errors name *path* and the line at fault.
    """
    source = TextSource(path, layout, blocks, gaps)
    with source.errors():
        layout, parse = _PARSERS[layout.format](source)
    return layout, proposing(source.pieces(parse), source.columns, layout)


class TextSource:
    """A text in blocks, of which the beginning may be looked at."""

    def __init__(
        self,
        path: str | Path,
        layout: Layout,
        blocks: Iterable[bytes],
        gaps: Gaps = NO_GAPS,
    ) -> None:
        self.path, self.layout, self.gaps = str(path), layout, gaps
        self.line = 1
        self.columns: list[str] = []
        self._text, self._at, self._last = b"", 0, False
        self._require: Callable[[int], None] = lambda size: None
        if isinstance(blocks, TextBlocks):
            blocks.place = lambda: (self.line, self._text[self._at :])
            self._require = blocks.require
        self._blocks = iter(blocks)
        self._next = next(self._blocks, b"")
        self.more()

    def more(self) -> None:
        """Take another block."""
        self._require(len(self._text) - self._at + len(self._next))
        self._text = self._text[self._at :] + self._next
        self._at = 0
        self._next = next(self._blocks, b"")
        self._last = not self._next

    def header(self) -> list[str]:
        """The fields of the first record, which is taken off the text."""
        while True:
            fields, self._at, self.line = _native.text.parse_record(self._text, self.layout.delimiter, self._last)
            if self._at or self._last:
                break
            self.more()
        names = [field.decode() for field in fields]
        twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
        if twice is not None:
            raise self.error(f"line 1: the header contains {twice!r} twice", "Give every column a unique name.")
        self.columns = names
        return names

    def keys(self) -> None:
        """Take the keys of the first line for columns, if it holds a JSON object."""
        self.first_character()
        try:
            first = json.loads(self._text.lstrip().partition(b"\n")[0] or b"null")
        except (ValueError, RecursionError):
            return  # the parser says what is wrong with it, or the line goes on in the next block
        if isinstance(first, dict):
            self.columns = [*first]

    def first_character(self) -> str:
        """The first character that is no blank."""
        while not self._text.strip() and not self._last:
            self.more()
        return self._text.lstrip()[:1].decode("utf-8", "replace")

    def beginning(self, size: int) -> tuple[bytes, bool]:
        """What is left of so many bytes, at least, or of all, and whether it is all."""
        while len(self._text) - self._at < size and not self._last:
            self.more()
        text = self._text[self._at : self._at + size]
        return text, self._last and self._at + len(text) == len(self._text)

    def pieces(self, parse: _Parse) -> Iterator[Rows]:
        """The rows of each block, with what the block before it left over."""
        while True:
            with self.errors():
                rows, self._at, self.line = parse(self._text, self._at, self.line, self._last)
            yield rows
            if self._last:
                return
            left = len(self._text) - self._at
            self.more()
            while len(self._text) < 2 * left and not self._last:  # a long record is not begun again for each block
                self.more()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns what a parser raises into an error that names the file."""
        try:
            yield
        except _native.text.ParseError as error:
            raise self.error(str(error), _advice(error, self.layout)) from None

    def error(self, what: str, advice: str) -> UnreadableInput:
        """An error that names the file."""
        return UnreadableInput(f"Cannot read {self.path!r}, {what}.", advice)

    def column(self, header: Sequence[str], name: str) -> int:
        """Where a column stands."""
        if name not in header:
            alone = f"Set {said('delimiter')} if the columns are separated by something else."
            raise unknown("column", name, header, "Check its spelling." if len(header) > 1 else alone)
        return header.index(name)


def _advice(error: _native.text.ParseError, layout: Layout) -> str:
    """What to do about what a kernel says."""
    if isinstance(error, _native.text.NoPerson):
        return NAME_IT
    if isinstance(error, _native.text.WrongWidth):
        return _ADVICE["long"]
    return f"If the column is not an item, use {_IGNORE}." if layout.counts else _ADVICE[layout.format]


def _fimi(source: TextSource) -> tuple[Layout, _Parse]:
    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        offsets, codes, ids, at, line = _native.text.parse_fimi(text, at, line, last)
        return Rows(offsets, codes, arrow_numbers(ids).cast(pa.string()), in_order=True), at, line

    return source.layout, parse


def _spmf(source: TextSource) -> tuple[Layout, _Parse]:
    named = _SpmfNames(source)

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        offsets, codes, ids, at, line, metadata, sequences = _native.text.parse_spmf(text, at, line, last)
        names = named.of(ids, metadata, rows=len(offsets) > 1)
        notes = _noted({_SEQUENCES: sequences})
        return Rows(offsets, codes, names, notes=notes, in_order=not named.name_of), at, line

    return source.layout, parse


class _SpmfNames:
    """The names that the lines ``@ITEM=id=name`` give to ids."""

    def __init__(self, source: TextSource) -> None:
        self._source = source
        self.name_of: dict[int, str] = {}
        self._began = False

    def of(self, ids: npt.NDArray[np.int64], metadata: list[tuple[int, bytes]], *, rows: bool) -> Any:
        """The names of these ids, after what these lines say."""
        for line, text in metadata:
            if (match := re.fullmatch(rb"@ITEM=([0-9]{1,19})=(.+)", text)) is None:
                continue
            number, name = int(match[1]), match[2].strip(b" \t").decode()
            if self._began:
                raise self._source.error(
                    f"line {line}: the id {number} is named after the transactions began",
                    "Move all lines that begin with @ above the transactions.",
                )
            if self.name_of.setdefault(number, name) != name:
                raise self._source.error(
                    f"line {line}: the id {number} is named {name!r} here and {self.name_of[number]!r} above",
                    "Use one name.",
                )
        self._began |= rows
        if not self.name_of:
            return arrow_numbers(ids).cast(pa.string())
        names = [self.name_of.get(number) or str(number) for number in ids.tolist()]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise self._source.error(f"several ids are named {twice[0]!r}", "Give every id a unique name.")
        return pa.array(names, type=pa.string())


def _basket(source: TextSource) -> tuple[Layout, _Parse]:
    layout = source.layout
    header = source.header() if layout.header else []
    person = -1 if layout.person is None else source.column(header, layout.person)
    if layout.assumed:
        _check_baskets(source, header, person)

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        with _named_columns(header):
            offsets, codes, strings, at, line, whose = _native.text.parse_basket(
                text, layout.delimiter, at, line, last, person, source.gaps.tolerated
            )
        notes = _noted({_EMPTY_FIELDS: int(np.count_nonzero(codes < 0))})
        return Rows(offsets, codes, strings_of(strings), *_owners(whose, layout), notes=notes), at, line

    return layout, parse


def _check_baskets(source: TextSource, header: list[str], person: int) -> None:
    """Refuse a file whose first lines look like a table."""
    text, whole = source.beginning(_SAMPLE)

    def split(delimiter: str) -> list[list[str]] | None:
        try:
            offsets, codes, strings, *_ = _native.text.parse_basket(text, delimiter, 0, 1, whole)
        except _native.text.ParseError:
            return None  # with the delimiter of the layout, reading the lines says so
        names = ["", *strings_of(strings).to_pylist()]
        fields = [names[code + 1] for code in codes.tolist()]
        return [fields[first:last] for first, last in pairwise(offsets.tolist())]

    check_baskets(source.path, split, source.layout.delimiter, header, person)


def _owners(whose: Any, layout: Layout) -> tuple[npt.NDArray[np.int32] | None, Any]:
    """Whose rows are, as a kernel says it, if there is a column for it."""
    return (None, None) if layout.person is None else (whose[0], strings_of(whose[1]))


def _long(source: TextSource) -> tuple[Layout, _Parse]:
    layout = source.layout
    header = source.header()
    identity, item = layout.columns
    key = layout.person or identity
    columns = [source.column(header, name) for name in (key, item)]
    by_id = source.column(header, identity)
    if source.gaps.needs_ids(layout):
        columns.append(by_id)
    person = -1 if source.gaps.tolerated else columns[0]

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        with _named_columns(header):
            parsed, blank, at, line = _native.text.parse_table(
                text, layout.delimiter, at, line, last, columns, len(header), person
            )
        return _long_rows(parsed, blank, source.gaps), at, line

    return layout, parse


def _json_long(source: TextSource) -> tuple[Layout, _Parse]:
    layout = source.layout
    source.keys()
    key, item = layout.person or layout.columns[0], layout.columns[1]
    named, first_keys = False, list[str]()

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        nonlocal named, first_keys
        begin = at, line
        gaps = source.gaps.tolerated
        parsed, blank, at, line, here, keys = _native.text.parse_json_long(text, *begin, last, key, item, gaps)
        if source.gaps.needs_ids(layout):
            (ids, _), *_ = _native.text.parse_json_long(text, *begin, last, layout.columns[0], item, gaps)
            parsed.append(ids)
        named, first_keys = named or here, first_keys or keys
        # A line without an item may leave out its key, but if all do, the key is misspelled.
        if last and first_keys and not named:
            raise source.error(
                f"no line has the key {item!r}; the first has {', '.join(map(repr, first_keys))}",
                near_misses(item, first_keys) or f"Name the item's key in {said('long', ('ID', 'ITEM'))}.",
            )
        return _long_rows(parsed, blank, source.gaps), at, line

    return layout, parse


def _long_rows(parsed: Any, blank_lines: int, gaps: Gaps) -> Rows:
    """One row for each run of lines of one owner, or for each line if there may be gaps."""
    (owners, owner_strings), (codes, strings), *others = parsed
    begins = np.arange(len(owners)) if gaps.tolerated else np.flatnonzero(np.diff(owners, prepend=-1))
    offsets = np.append(begins, len(owners)).astype(np.int64)
    notes = _noted({_BLANK_LINES: blank_lines})
    rows = Rows(offsets, codes, strings_of(strings), owners[begins], strings_of(owner_strings), notes=notes)
    if not others:
        return rows
    ((ids, id_strings),) = others
    return replace(rows, ids=ids, id_names=strings_of(id_strings))


def _wide(source: TextSource) -> tuple[Layout, _Parse]:
    layout = source.layout
    header = source.header()
    person = -1 if layout.person is None else source.column(header, layout.person)
    skip = np.zeros(len(header), dtype=np.uint8)
    skip[[source.column(header, name) for name in layout.ignore]] = 1
    if person >= 0:
        skip[person] = 1
    for number, name in enumerate(header):
        if not name and not skip[number]:
            raise source.error(
                f"line 1: column {number + 1} has no name",
                f"If it is not an item, such as the index of a frame, use {said('ignore', [''])}.",
            )
    if skip.all():
        raise source.error("line 1: there is no item column", f"Name fewer columns in {said('ignore')}.")
    names = pa.array([name or f"{number}" for number, name in enumerate(header)])

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        with _named_columns(header):
            offsets, codes, at, line, blank, above, whose = _native.text.parse_wide(
                text, layout.delimiter, at, line, last, len(header), skip, person, layout.counts, source.gaps.tolerated
            )
        notes = _noted({_BLANK_LINES: blank, _COUNTS: above})
        return Rows(offsets, codes, names, *_owners(whose, layout), notes=notes), at, line

    return layout, parse


@contextmanager
def _named_columns(header: Sequence[str]) -> Iterator[None]:
    """An error of a kernel has the name of the column instead of its number."""
    try:
        yield
    except _native.text.ParseError as error:
        if error.column is not None:
            error.args = (f"line {error.line}: column {header[error.column]!r}: {error.reason}",)
        raise


def _json_lists(source: TextSource) -> tuple[Layout, _Parse]:
    layout = source.layout
    source.keys()
    if not layout.columns and source.first_character() == "{":
        layout = replace(layout, columns=("items",))
    key = layout.columns[0] if layout.columns else None

    def parse(text: bytes, at: int, line: int, last: bool) -> tuple[Rows, int, int]:
        offsets, codes, strings, at, line, blank, whose = _native.text.parse_json_lines(
            text, at, line, last, key, layout.person, source.gaps.tolerated
        )
        notes = _noted({_BLANK_LINES: blank})
        return Rows(offsets, codes, strings_of(strings), *_owners(whose, layout), notes=notes), at, line

    return layout, parse


_PARSERS: dict[str, Callable[[TextSource], tuple[Layout, _Parse]]] = {
    "fimi": _fimi,
    "spmf": _spmf,
    "basket": _basket,
    "long": _long,
    "wide": _wide,
    "jsonl": _json_lists,
    "jsonl-long": _json_long,
}


def _noted(notes: dict[str, int]) -> dict[str, int]:
    return {note: count for note, count in notes.items() if count}
