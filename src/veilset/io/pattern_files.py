"""Lists of patterns and of rules in files, as people write them and as ``veilset mine`` does.

A ``.csv`` file is a table with a header, of which the column ``items`` (for rules: ``antecedent`` and
``consequent``) is taken; ``.json``, ``.jsonl`` and ``.parquet`` hold the same. Any other file has a pattern a line,
``milk, tea``, or a rule, ``bread, butter -> milk``; names are quoted as in basket files. There, as in lists of
sensitive items, a line that begins with a number sign and a blank is a comment. Nothing is guessed: a name that is no
item of the data, a comment that begins like one, or a name that is there twice is an error that names the place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from veilset.errors import InvalidArgument, UnreadableInput, near_misses, unknown
from veilset.io.files import read_text_bytes, readable
from veilset.io.layout import unpacked_name

_ARROWS = "->|=>|→"
_LINE_END = "\r\n|\n|\r"
_COMMENT = re.compile(rf"[ \t]*+(?P<text>#(?![^ \t\r\n])[^\r\n]*+)(?P<end>{_LINE_END}|\Z)")  # "#5" is a name


@dataclass(frozen=True)
class Listed:
    """A pattern, or the two sides of a rule, and where a file lists it; or a comment, which has no sides."""

    place: str
    sides: tuple[tuple[str, ...], ...]
    comment: str = ""


def read_patterns(path: str | Path, encoding: str = "utf-8") -> list[Listed]:
    """The patterns that a file lists: a table with the column ``items``, or a pattern a line."""
    return _read(path, encoding, ("items",))


def read_rules(path: str | Path, encoding: str = "utf-8") -> list[Listed]:
    """The rules that a file lists: a table with the columns ``antecedent`` and ``consequent``, or a rule a line."""
    return _read(path, encoding, ("antecedent", "consequent"))


def check_listed(listed: Iterable[Listed], names: Collection[str]) -> None:
    """Raise, with the place, if a name is not among *names*, the items of the data, or a comment begins with one."""
    known = set(names)
    for entry in listed:
        for name in (re.split(ends, entry.comment)[0].strip(" \t") for ends in (",", f",|{_ARROWS}")):
            if name in known:
                raise InvalidArgument(
                    f"{entry.place}: this line is a comment, but the data has an item {name!r}.",
                    "For the item, put it in quotes. Otherwise reword the comment.",
                )
        for name in (name for side in entry.sides for name in side if name not in known):
            raise InvalidArgument(
                f"{entry.place}: there is no item {name!r} in the data.",
                _meant(name, known) or near_misses(name, names) or "Check its spelling.",
            )


def _meant(name: str, known: Collection[str]) -> str:
    """What somebody may have meant by a name that is none; empty if nothing comes to mind."""
    for between in (r"[ \t]+", "[ \t]*;[ \t]*"):
        parts = re.split(between, name)
        if len(parts) > 1 and all(part in known for part in parts):
            return f"Separate several items with commas: {', '.join(parts)}."
    if name.startswith("#"):
        return "For a comment, use a separate line of a .txt file, with a space after the #."
    if re.search(_ARROWS, name):
        return "If it is a rule, use the promise hidden-rules. Put a name that contains an arrow in quotes."
    if name in ("items", "antecedent"):
        return "If it is a table with a header, rename the file to end in .csv."
    return ""


def _read(path: str | Path, encoding: str, columns: tuple[str, ...]) -> list[Listed]:
    read = _READERS.get(Path(unpacked_name(path)).suffix.lower(), _lines)
    listed = [_checked(entry) for entry in read(path, encoding, columns)]
    if not any(entry.sides for entry in listed):
        raise UnreadableInput(f"{str(path)!r} contains no {_kind(columns)}.", f"Write one {_kind(columns)} per line.")
    return listed


def _kind(columns: tuple[str, ...]) -> str:
    return "pattern" if len(columns) == 1 else "rule"


def _checked(entry: Listed) -> Listed:
    """The same, if there is something in it, and nothing twice."""
    if not all(entry.sides):
        what = "one side of the rule has no items" if len(entry.sides) > 1 else "there is no item"
        raise UnreadableInput(f"{entry.place}: {what}.", "Name at least one.")
    if any(not name for side in entry.sides for name in side):
        raise UnreadableInput(f"{entry.place}: a name is empty.", "Remove the extra comma, or add the missing name.")
    if both := set(entry.sides[0]).intersection(*entry.sides[1:]) if len(entry.sides) > 1 else set():
        raise UnreadableInput(f"{entry.place}: {min(both)!r} is on both sides.", "Remove it from one side.")
    for name, times in Counter(name for side in entry.sides for name in side).items():
        if times > 1:
            raise UnreadableInput(f"{entry.place}: {name!r} is listed twice.", "Remove or correct one of them.")
    return entry


def _lines(path: str | Path, encoding: str, columns: tuple[str, ...]) -> Iterator[Listed]:
    """A pattern, a rule or a comment a line; blank lines are passed over."""
    text = read_text_bytes(path, encoding).decode()
    for line, sides, comment in _records(path, text, rules=len(columns) > 1, comments=True):
        place = f"{str(path)!r}, line {line}"
        if comment:
            yield Listed(place, (), comment)
            continue
        if sides == [[""]]:
            continue
        if len(sides) != len(columns):
            raise UnreadableInput(
                f"{place}: a rule has one arrow, not {len(sides) - 1}.",
                "Write it like bread, butter -> milk. Put a name that contains an arrow in quotes.",
            )
        yield Listed(place, tuple(tuple(() if side == [""] else side) for side in sides))


def _records(
    path: str | Path, text: str, *, rules: bool = False, comments: bool = False
) -> Iterator[tuple[int, list[list[str]], str]]:
    """Each line's number with its fields, before and after each arrow, or its comment; quotes as in basket files."""
    field = _RULE_FIELD if rules else _PATTERN_FIELD
    line, at, sides = 1, 0, [list[str]()]
    while True:
        if comments and sides == [[]] and (comment := _COMMENT.match(text, at)):
            yield line, [], comment["text"]
            line, at = line + 1, comment.end()
            if at == len(text):
                return
            continue
        found = field.match(text, at)
        bare = None if found is None else found["bare"]
        if found is None or (bare is not None and bare.lstrip(" \t").startswith('"')):
            raise UnreadableInput(
                f"{str(path)!r}, line {line}: a quote is never closed, or there is text after it.",
                "Check the quotes on this line: put commas around a quoted name, and double the quotes inside it.",
            )
        quoted = found["quoted"]
        sides[-1].append(quoted.replace('""', '"') if bare is None else bare.strip(" \t"))
        at, end = found.end(), found["end"]
        if end == ",":
            continue
        if re.fullmatch(_ARROWS, end):
            sides.append([])
            continue
        yield line, sides, ""
        if not end or at == len(text):
            return
        line += 1 + sum(len(re.findall(_LINE_END, name)) for side in sides for name in side)
        sides = [[]]


def _field(arrows: str) -> re.Pattern[str]:
    """A field and what ends it. A field that begins with a quote and is not all quoted is found as a bare one."""
    stop = f"(?!{arrows})" if arrows else ""
    ends = "|".join([",", *([arrows] if arrows else []), _LINE_END, r"\Z"])
    quoted = r'[ \t]*+"(?P<quoted>(?:[^"]|"")*+)"[ \t]*+'
    return re.compile(rf"(?:{quoted}|(?P<bare>(?:{stop}[^,\r\n])*+))(?P<end>{ends})")


_PATTERN_FIELD, _RULE_FIELD = _field(""), _field(_ARROWS)


def _table(path: str | Path, encoding: str, columns: tuple[str, ...]) -> Iterator[Listed]:
    """A CSV table: a list is one cell, which is itself a line of a basket file; the consequent is a name as it is."""
    records = _records(path, read_text_bytes(path, encoding).decode())
    _, [header], _ = next(records)
    if missing := [column for column in columns if column not in header]:
        raise UnreadableInput(
            f"{str(path)!r}, line 1: the header has no column {missing[0]!r}.",
            f"Write the header that veilset mine writes. If the file has one {_kind(columns)} per line, rename it to "
            "end in .txt.",
        )
    at = [header.index(column) for column in columns]
    for line, [row], _ in records:
        place = f"{str(path)!r}, line {line}"
        if row == [""]:
            continue
        if len(row) != len(header):
            raise UnreadableInput(
                f"{place}: the header has {len(header)} columns, not {len(row)}.", "Put a list of items in quotes."
            )
        names, *others = (row[i] for i in at)
        yield Listed(place, (_names_in(names, place), *((name,) if name else () for name in others)))


def _names_in(cell: str, place: str) -> tuple[str, ...]:
    """The names in a cell of a table."""
    try:
        [(_, [names], _)] = _records("", cell)
    except (UnreadableInput, ValueError):
        raise UnreadableInput(
            f"{place}: {cell!r} is not a list of items.", "Write it as veilset mine does: names separated by commas."
        ) from None
    return () if names == [""] else tuple(names)


def _json(path: str | Path, encoding: str, columns: tuple[str, ...]) -> Iterator[Listed]:
    """An array of objects."""
    content = _parsed(read_text_bytes(path, encoding).decode(), repr(str(path)))
    if not isinstance(content, list):
        raise UnreadableInput(f"{str(path)!r} is not an array.", f'Write it like [{{"{columns[0]}": ["milk"]}}].')
    for number, entry in enumerate(content, start=1):
        yield _object(entry, f"{str(path)!r}, entry {number}", columns)


def _json_lines(path: str | Path, encoding: str, columns: tuple[str, ...]) -> Iterator[Listed]:
    """An object a line."""
    lines = re.split(_LINE_END, read_text_bytes(path, encoding).decode())
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{str(path)!r}, line {number}"
            yield _object(_parsed(line, place), place, columns)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(
            f"{place} is not valid JSON: {error}.", "Compare it with what veilset mine writes."
        ) from None


def _object(entry: Any, place: str, columns: tuple[str, ...]) -> Listed:
    if not isinstance(entry, dict):
        raise UnreadableInput(f"{place}: this is not an object.", f'Write it like {{"{columns[0]}": ["milk"]}}.')
    sides = []
    for column in columns:
        names = entry.get(column)
        names = [names] if isinstance(names, str) and column == "consequent" else names
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UnreadableInput(
                f"{place}: {column!r} is {'missing' if names is None else repr(names)}.",
                "Give a list of names, each in quotes.",
            )
        sides.append(tuple(names))
    return Listed(place, tuple(sides))


def _parquet(path: str | Path, encoding: str, columns: tuple[str, ...]) -> Iterator[Listed]:
    """A table with lists of text."""
    try:
        with readable(Path(path)):
            names = pyarrow.parquet.read_schema(path).names
            if missing := [column for column in columns if column not in names]:
                what = unknown("column", missing[0], names).what
                raise UnreadableInput(f"{str(path)!r}: {what}", "Compare it with what veilset mine writes.")
            rows = pyarrow.parquet.read_table(path, columns=list(columns)).to_pylist()
    except pa.ArrowInvalid as error:
        raise UnreadableInput(f"{str(path)!r} is not a valid Parquet file ({error}).", "Write it again.") from None
    for number, row in enumerate(rows, start=1):
        yield _object(row, f"{str(path)!r}, row {number}", columns)


_Reader = Callable[[str | Path, str, tuple[str, ...]], Iterator[Listed]]
_READERS: Mapping[str, _Reader] = {
    ".csv": _table,
    ".json": _json,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
