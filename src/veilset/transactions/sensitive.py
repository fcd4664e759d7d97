"""What is sensitive, said in one small language: exact names, patterns, branches of a taxonomy.

An entry is one line of a list, or one text on the command line or in a recipe:

    insulin             the item of exactly this name
    name: glob: x       the same for a name that looks like one of the others: here the item "glob: x"
    glob: insulin*      every item that matches: * any text, ? a character, [ab] or [a-z] one of these, [!ab] another
    branch: pharmacy    every item below this node of the taxonomy
    # why               a comment, in files only: a number sign and a blank

An entry that takes nothing that occurs is an error, and so is one that could be read in two ways: an item that is
missing from the list by mistake would be released as a public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from veilset.errors import InvalidArgument, UnreadableInput, near_misses, said
from veilset.io import read_text_bytes
from veilset.io.normalizing import Step, normalized
from veilset.transactions.vocabulary import item_name, several

if TYPE_CHECKING:
    from veilset.transactions.taxonomy import Taxonomy
    from veilset.transactions.transactions import Transactions

_Word = Literal["name", "glob", "branch"]
_WORDS: tuple[_Word, ...] = get_args(_Word)
_BEGINNINGS = tuple(f"{word}:" for word in _WORDS)
_COMMENT = re.compile(r"#($|[ \t])")  # "#5" is a name
_MOST_NAMES = 8


@dataclass(frozen=True)
class Entry:
    """One entry: its kind, what follows the word, the whole as it was written, and where that was."""

    kind: Literal["name", "glob", "branch", "comment"]
    text: str
    written: str
    place: str

    def wrong(self, what: str, next_step: str) -> InvalidArgument:
        """The error about this entry."""
        return InvalidArgument(f"{self.place}: {what}", next_step)


def mark_sensitive(data: Transactions, entries: Sequence[Entry], taxonomy: Taxonomy | None = None) -> Transactions:
    """The same transactions with what the entries name sensitive too; notes say what patterns and branches took."""
    found = resolved(data, entries, taxonomy)
    return data.marked({*data.sensitive, *found.names}, notes=found.notes, sought=[*data.sought, *found.sought])


def list_path(sensitive: object) -> str | None:
    """The file that has the list, where a path is given in place of entries: a text is one if there is such a file."""
    if isinstance(sensitive, PathLike):
        return str(sensitive)
    # Path.is_file raises if the text is too long for a path.
    return sensitive if isinstance(sensitive, str) and isfile(sensitive) else None  # noqa: PTH113


def names_and_entries(
    items: Iterable[str | int] | str | Path, data: Transactions | None = None, taxonomy: Taxonomy | None = None
) -> tuple[list[str], list[Entry]]:
    """What a Python user calls sensitive: names, to the letter; and what begins with a word, as entries.

    An item of *data* that is called like an entry is that item if the entry would take nothing. Names that *data* does
    not have, and entries that take nothing, are normalized as its items are.

    >>> names_and_entries(["# 5", " tea", "name: glob: x"])[0]
    ['# 5', ' tea']
    """
    steps = () if data is None or data.source is None else data.source.normalize
    if (path := list_path(items)) is not None:
        return [], [_like_items(entry, steps, data, taxonomy) for entry in read_entries(path)]
    if isinstance(items, str):
        raise InvalidArgument(
            f"{said('sensitive')} is {items!r}, which is no file.",
            f"For the item of this name write [{items!r}]; for a file with a list, check its path.",
        )
    names: list[str] = []
    entries: list[Entry] = []
    for number, item in enumerate(several(items, "sensitive"), start=1):  # type: ignore[arg-type]
        name = item_name(item, "sensitive")
        entry = _parsed(name, f"Sensitive entry {number}") if name.startswith(_BEGINNINGS) else None
        if entry is None or (data is not None and name in data.names and not _takes(entry, data, taxonomy)):
            names.append(name if data is None or name in data.names else normalized(name, steps))
        else:
            entries.append(_like_items(entry, steps, data, taxonomy))
    return names, entries


def _like_items(entry: Entry, steps: Sequence[Step], data: Transactions | None, taxonomy: Taxonomy | None) -> Entry:
    """An entry as it is if it takes an item; else normalized as the items are."""
    if not steps or data is None or _takes(entry, data, taxonomy):
        return entry
    return replace(entry, text=normalized(entry.text, steps))


def _takes(entry: Entry, data: Transactions, taxonomy: Taxonomy | None) -> bool:
    """Whether an entry would take an item."""
    if entry.kind == "glob":
        return any(map(re.compile(translate(entry.text)).match, data.names))
    if entry.kind == "branch":
        return taxonomy is not None and not set(_below(entry, taxonomy)).isdisjoint(data.names)
    return entry.text in data.names


def absent_names(data: Transactions, names: Iterable[str]) -> list[Entry]:
    """Those of the names that are no items of the data, as entries: an item may be meant that is spelled otherwise."""
    there = set(data.names)
    return [_absent(name, name) for name in names if name not in there]


def sought_lines(sought: Iterable[Entry]) -> tuple[str, ...]:
    """What was looked for, as a recipe records it: under the names that items have, each once."""
    return tuple(dict.fromkeys(f"{entry.kind}: {entry.text}" for entry in sought))


def sought_entries(lines: Iterable[str]) -> list[Entry]:
    """The same as entries.

    >>> [(entry.kind, entry.text) for entry in sought_entries(["glob: F*", "name:  tea"])]
    [('glob', 'F*'), ('name', ' tea')]
    """
    entries = []
    for line in lines:
        kind, _, text = line.partition(": ")
        if kind not in ("name", "glob") or not text:
            raise InvalidArgument(
                f"{said('sensitive_sought')} has {line!r}.", "Write 'glob: PATTERN' or 'name: NAME', as releases do."
            )
        entries.append(_absent(text, text) if kind == "name" else Entry("glob", text, line, ""))
    return entries


def parse_entries(texts: Iterable[str]) -> list[Entry]:
    """Entries that do not stand in a file."""
    entries = []
    for number, text in enumerate(texts, start=1):
        entry = _parsed(item_name(text, "entries"), f"Sensitive entry {number}")
        if entry is None:
            raise InvalidArgument(
                f"Sensitive entry {number} is blank.", "Write a name, 'glob: PATTERN' or 'branch: GROUP'."
            )
        if entry.kind == "comment":
            raise entry.wrong(
                f"{text!r} is a comment, which is only allowed in a file.",
                f"For an item, write 'name: {entry.written}'.",
            )
        entries.append(entry)
    return entries


def read_entries(path: str | Path, encoding: str = "utf-8") -> list[Entry]:
    """The entries of a list, one a line; blanks around an entry and empty lines do not count."""
    lines = re.split("\r\n|\n|\r", read_text_bytes(path, encoding).decode())
    places = (f"{str(path)!r}, line {number}" for number in range(1, len(lines) + 1))
    entries = [entry for line, place in zip(lines, places, strict=True) if (entry := _parsed(line, place))]
    if all(entry.kind == "comment" for entry in entries):
        raise UnreadableInput(
            f"{str(path)!r} lists no sensitive item.", "Write one entry per line, or leave the list out."
        )
    return entries


def list_line(name: str) -> str:
    """The line of a list that stands for the item of this name.

    >>> list_line("insulin"), list_line("glob: x"), list_line("# 5")
    ('insulin', 'name: glob: x', 'name: # 5')
    """
    if name != name.strip(" \t") or "\n" in name or "\r" in name:
        raise InvalidArgument(
            f"The item {name!r} cannot be listed in a file: it has a line break, or a space at one end.",
            f"Read with {said('normalize', 'strip')}, or name it in Python: data.with_sensitive([...]).",
        )
    is_plain = not _COMMENT.match(name) and not name.startswith(_BEGINNINGS)
    return name if is_plain else f"name: {name}"


def _parsed(line: str, place: str) -> Entry | None:
    written = line.strip(" \t")
    if not written:
        return None
    if _COMMENT.match(written):
        return Entry("comment", written[1:].strip(" \t"), written, place)
    for word in _WORDS:
        if written.startswith(f"{word}:"):
            entry = Entry(word, written.removeprefix(f"{word}:").strip(" \t"), written, place)
            _check(entry)
            return entry
    return Entry("name", written, written, place)


def _check(entry: Entry) -> None:
    """What can be said of an entry without the data."""
    if not entry.text:
        raise entry.wrong(
            f"nothing follows {entry.written!r}.",
            f"Write for example '{entry.kind}: insulin'. For the item with this name, write 'name: {entry.written}'.",
        )
    if entry.kind == "glob" and _has_open_bracket(entry.text):
        raise entry.wrong(
            f"{entry.written!r} has an unclosed '['.", "Close it, as in [0-9]. For the character itself, write [[]."
        )


def _has_open_bracket(pattern: str) -> bool:
    # A ']' right after '[' or '[!' is one of the characters, not the end.
    return "[" in re.sub(r"\[!?+\]?+[^\]]*+\]", "", pattern)


class Resolved(NamedTuple):
    """What entries come to."""

    names: tuple[str, ...]  # that occur and that entries take
    notes: list[str]  # one for each entry that may take several
    sought: list[Entry]  # patterns, and names below a branch that do not occur


def _absent(name: str, written: str) -> Entry:
    return Entry("name", name, written, "")


def resolved(data: Transactions, entries: Sequence[Entry], taxonomy: Taxonomy | None) -> Resolved:
    """What the entries take of *data*; an error if one takes nothing, or could be read in two ways."""
    if taxonomy is not None and not hasattr(taxonomy, "leaves_under"):
        raise InvalidArgument(
            f"{said('taxonomy')} is a {type(taxonomy).__name__}.",
            "Pass a Taxonomy, such as Taxonomy.from_frame(frame) or Taxonomy.read(path).",
        )
    if taxonomy is not None and all(entry.kind != "branch" for entry in entries):
        raise InvalidArgument(
            "A taxonomy is given, but no sensitive entry begins with 'branch:'.",
            "Leave the taxonomy out, or write an entry such as 'branch: pharmacy'.",
        )
    occurring = set(data.names)
    taken: set[str] = set()
    missing: list[Entry] = []
    notes = []
    sought: list[Entry] = []
    for entry in entries:
        if entry.kind != "name" and entry.written in occurring:
            raise entry.wrong(
                f"{entry.written!r} is a {entry.kind}, but the data also has an item with this name.",
                f"For the item, write 'name: {entry.written}'. Otherwise write the {entry.kind} differently.",
            )
        if entry.kind == "name":
            taken.add(entry.text)
            missing += [] if entry.text in occurring else [entry]
        elif entry.kind in ("glob", "branch"):
            listed = _matching(entry, data) if entry.kind == "glob" else _below(entry, taxonomy)
            found = [name for name in listed if name in occurring]
            if not found:
                raise entry.wrong(
                    f"no item below {entry.text!r} occurs in the data.",
                    "Check that the taxonomy belongs to this data, or remove the entry from the list.",
                )
            notes.append(_note(entry, found, len(listed)))
            absent = (_absent(name, entry.written) for name in listed if name not in occurring)
            sought += [entry] if entry.kind == "glob" else absent
            taken.update(found)
    if missing:
        first = missing[0]
        others = f"; {len(missing):,} listed names in total do not" if len(missing) > 1 else ""
        raise first.wrong(f"the sensitive item {first.text!r} does not occur in the data{others}.", _meant(first, data))
    return Resolved(data.in_order(taken), notes, sought)


def _matching(entry: Entry, data: Transactions) -> list[str]:
    """The items that match a pattern, capitals and small letters told apart."""
    pattern = translate(entry.text)
    if found := list(filter(re.compile(pattern).match, data.names)):
        return found
    otherwise = next(filter(re.compile(pattern, re.IGNORECASE).match, data.names), None)
    hint = (
        f"Patterns are case-sensitive; ignoring case, {otherwise!r} would match."
        if otherwise is not None
        else near_misses(re.sub(r"[*?\[\]!]", "", entry.text), data.names)
    )
    raise entry.wrong(
        f"no item of the data matches {entry.written!r}.", hint or "Check the pattern, or remove it from the list."
    )


def _below(entry: Entry, taxonomy: Taxonomy | None) -> tuple[str, ...]:
    """The items below a node of the tree, whether or not they occur."""
    if taxonomy is None:
        raise entry.wrong(f"{entry.written!r} needs a taxonomy.", f"Give {said('taxonomy')}.")
    try:
        return taxonomy.leaves_under(taxonomy.node(entry.text))
    except InvalidArgument as error:
        raise error.within(f"{entry.place}: ") from None


def _meant(entry: Entry, data: Transactions) -> str:
    """What somebody may have meant by a name that does not occur."""
    name = entry.text
    if not _has_open_bracket(name) and any(map(re.compile(translate(name)).match, data.names)):
        return f"For a pattern, write 'glob: {name}'."
    if name.startswith("#"):
        return "For a comment, write a space after the #."
    word, colon, rest = name.partition(":")
    if colon and word.strip().lower() in _WORDS:
        return f"If it is not a name, write '{word.strip().lower()}: {rest.strip()}', in lower case."
    return near_misses(name, data.names) or "Check its spelling, or remove it from the list."


def _note(entry: Entry, found: Sequence[str], of: int) -> str:
    many = f"{len(found):,} item{'s' * (len(found) != 1)}"
    if of != len(found):
        many = f"{len(found):,} of the {of:,} items below it (the others do not occur)"
    listed = ", ".join(map(repr, found[:_MOST_NAMES])) + ", …" * (len(found) > _MOST_NAMES)
    return f"{entry.written!r} matched {many}: {listed}."
