"""Slow parsers of the text formats, plain to read: each gives the records of a text, or raises Wrong with the line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

LINE_END = re.compile("\r\n|\n|\r")


class Wrong(Exception):
    """A twin refuses a line."""


class Count(NamedTuple):
    """No record: adds one to the count at a place."""

    place: int


class Metadata(NamedTuple):
    """No record: a line of metadata."""

    line: int
    text: bytes


def lines_of(text: str) -> list[str]:
    lines = LINE_END.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def fimi_twin(text: str) -> Iterator[Any]:
    for number, line in enumerate(lines_of(text), 1):
        yield [item_id(word, number) for word in re.split("[ \t]+", line) if word]


def item_id(word: str, line: int) -> int:
    if not re.fullmatch("[0-9]+", word) or int(word) >= 2**63:
        raise Wrong(line)
    return int(word)


def spmf_twin(text: str) -> Iterator[Any]:
    for number, line in enumerate(lines_of(text), 1):
        if line[:1] in ("#", "%", "@"):
            if line[0] == "@":
                yield Metadata(number, line.encode())
            continue
        words = [word for word in re.split("[ \t]+", line) if word]
        if "-2" in words[:-1]:
            raise Wrong(number)
        yield [item_id(word, number) for word in words if word not in ("-1", "-2")]
        if "-1" in words or "-2" in words:
            yield Count(0)


def csv_records(
    text: str, check: Callable[[int, int, str], object] = lambda line, column, field: None
) -> Iterator[tuple[int, list[str]]]:
    """The line each record begins on, and its fields; each field is checked as it comes."""
    at, line, fields = 0, 1, []
    first = line
    while at < len(text) or fields:
        if found := re.compile('[ \t]*"').match(text, at):
            at = found.end()
            if not (found := re.compile('((?:[^"]|"")*+)"[ \t]*').match(text, at)):
                raise Wrong(line)
            line += len(LINE_END.findall(found[1]))
            fields.append(found[1].replace('""', '"'))
            if text[found.end() : found.end() + 1] not in ("", ",", "\r", "\n"):
                raise Wrong(line)
        else:
            found = re.compile("[^,\r\n]*").match(text, at)
            fields.append(found[0].strip(" \t"))
        check(first, len(fields) - 1, fields[-1])
        at = found.end()
        if text[at : at + 1] == ",":
            at += 1
            continue
        yield first, fields
        if end := LINE_END.match(text, at):
            at, line = end.end(), line + 1
        fields, first = [], line


def basket_twin(text: str) -> Iterator[Any]:
    for _, fields in csv_records(text):
        yield [] if fields == [""] else [field or None for field in fields]


def table_twin(text: str) -> Iterator[Any]:
    for line, fields in csv_records(text):
        if fields == [""]:
            yield Count(0)
        elif len(fields) != 3:
            raise Wrong(line)
        else:
            yield fields[2] or None, fields[0] or None


def wide_twin(text: str, counts: bool = False) -> Iterator[Any]:
    """Five columns: the second says whose a line is, the fourth is no item."""

    def value(line: int, column: int, field: str) -> int:
        return cell(line, field, counts) if column in (0, 2, 4) else 0

    for line, fields in csv_records(text, value):
        if fields == [""]:
            yield Count(0)
        elif len(fields) != 5 or not fields[1]:
            raise Wrong(line)
        else:
            values = [value(line, column, field) for column, field in enumerate(fields)]
            yield from (Count(1) for number in values if number > 1)
            yield fields[1], [column for column, number in enumerate(values) if number > 0]


def wide_counts_twin(text: str) -> Iterator[Any]:
    return wide_twin(text, counts=True)


def cell(line: int, field: str, counts: bool = False) -> int:
    known = {"": 0, "0": 0, "1": 1, "true": 1, "false": 0}
    if field.lower() in known:
        return known[field.lower()]
    if counts and re.fullmatch("[0-9]+", field):
        return int(field)
    raise Wrong(line)


def narrow_twin(text: str) -> Iterator[Any]:
    """One column, of items."""
    for line, fields in csv_records(text, lambda line, column, field: cell(line, field) if column == 0 else 0):
        if len(fields) > 1:
            raise Wrong(line)
        yield [0] * cell(line, fields[0])


class Whole(str):
    """A whole number as it is written."""


class Other:
    """A number that is not whole."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def json_values(text: str) -> Iterator[tuple[int, Any]]:
    """The value on each line; a blank line is counted."""
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip(" \t"):
            yield number, Count(0)
            continue
        try:
            value = json.loads(
                line, parse_int=Whole, parse_float=lambda _: Other(), parse_constant=int, object_pairs_hook=once
            )
        except ValueError:
            raise Wrong(number) from None
        if re.search("[\0\ud800-\udfff]", "".join(strings_in(value))):
            raise Wrong(number)
        yield number, value


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings_in(inner)


def json_names(values: Any, line: int) -> list[str]:
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise Wrong(line)
    return [str(value) for value in values]


def arrays_twin(text: str) -> Iterator[Any]:
    for line, value in json_values(text):
        yield value if isinstance(value, Count) else json_names(value, line)


def objects_twin(text: str) -> Iterator[Any]:
    for line, value in json_values(text):
        if isinstance(value, Count):
            yield value
        elif not isinstance(value, dict) or "items" not in value or "who" not in value:
            raise Wrong(line)
        else:
            yield json_names([value["who"]], line)[0], json_names(value["items"], line)


def json_long_twin(text: str) -> Iterator[Any]:
    for line, value in json_values(text):
        if isinstance(value, Count):
            yield value
        elif not isinstance(value, dict) or "id" not in value:
            raise Wrong(line)
        else:
            item = value.get("item")
            yield json_names([value["id"]], line)[0], None if item is None else json_names([item], line)[0]
