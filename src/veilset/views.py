"""How objects show themselves, and what higher rooms make of those of lower ones.

An object says what there is to say, as a `Summary`. Its text is made here; its card, as the table of a release that may
be handed over, by a higher room, which registers the function.
"""

from __future__ import annotations

import importlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from types import ModuleType
from typing import Any

from veilset.errors import InvalidArgument

MOST_ROWS = 5
"""How many rows of a table an object shows of itself."""

_LINES, _WIDTH = 10, 160
_AFTER_A_BLANK = re.compile(r"(?<= ) ")


class Count(int):
    """A number to be told in a sentence: after a bar stands what is said of many.

    >>> [f"{n:,} {n:line was|lines were} skipped." for n in (Count(1), Count(2000))]
    ['1 line was skipped.', '2,000 lines were skipped.']
    """

    def __format__(self, spec: str) -> str:
        one, bar, many = spec.partition("|")
        if not bar:
            return super().__format__(spec)
        return one if self == 1 else many


@dataclass(frozen=True)
class Summary:
    """What an object says about itself, in a few lines or on a card.

    Parameters
    ----------
    name : str
        What it is.
    says : str
        The most important thing in a phrase; empty: its numbers.
    good : bool or None
        Whether that is good news; None: neither.
    facts : sequence of (number, noun)
        Its numbers, each with its noun, in which "(s)" makes the plural.
    notes : sequence of str
        What else there is to say, a sentence each.
    head, rows
        The first rows of a table; the rest are counted.
    count : int or None
        How many rows there are in all; None: these.
    """

    name: str
    says: str = ""
    good: bool | None = None
    facts: Sequence[tuple[float, str]] = ()
    notes: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    count: int | None = None

    @property
    def more(self) -> str:
        """How many rows are not shown; empty if all are."""
        left = 0 if self.count is None else self.count - len(self.rows)
        return f"… and {left:,} more" if left > 0 else ""

    def tiles(self) -> list[tuple[str, str]]:
        """The numbers as text, and what they are numbers of.

        >>> Summary("Itemsets", facts=[(2000, "itemset(s)"), (1, "item(s)"), (1.5, "item(s) on average")]).tiles()
        [('2,000', 'itemsets'), ('1', 'item'), ('1.5', 'items on average')]
        """
        return [(f"{value:,}", noun.replace("(s)", "" if value == 1 else "s")) for value, noun in self.facts]

    def __str__(self) -> str:
        """At most ten lines of at most 160 characters; nothing in them steers a terminal.

        >>> print(Summary("Groups", facts=[(6, "group(s)")], head=["group", "size"], rows=[["food", "2"]], count=6))
        <Groups: 6 groups>
          food: 2
          … and 5 more
        """
        numbers = ", ".join(map(" ".join, self.tiles()))
        first = clipped(self.says or numbers, _WIDTH - len(self.name) - len("<: >"))
        further = [numbers] if self.says and numbers else []
        further += [*self.notes, *map(self._line, self.rows), *([self.more] if self.more else [])]
        return "\n".join(
            [f"<{self.name}: {first}>", *(f"  {clipped(line, _WIDTH - 2)}" for line in further[: _LINES - 1])]
        )

    def _line(self, row: Sequence[str]) -> str:
        if len(row) == 2:
            return ": ".join(row)
        named = (f"{head} {cell}" for head, cell in zip(self.head[1:], row[1:], strict=True) if cell)
        return f"{row[0]}: {', '.join(named)}"


class Shown:
    """An object that shows itself by its summary: in a few lines, and in a notebook as a card."""

    __slots__ = ()

    @abstractmethod
    def _summary(self) -> Summary:
        """What there is to say."""

    def __repr__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return card(self._summary())


class Tabular:
    """An object that is a table: libraries that read Arrow take it as it is."""

    __slots__ = ()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of `to_arrow`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[attr-defined]


@singledispatch
def card(summary: object) -> str:
    """A summary as a piece of HTML; registered by `veilset.report`."""
    raise TypeError(f"A {type(summary).__name__} is not a summary.")


@singledispatch
def handed_over(release: object, random_state: int | str | None) -> Any:
    """The Arrow table of a release that may leave the custodian; registered by `veilset.publish`."""
    raise TypeError(f"A {type(release).__name__} is not a release.")


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first of some names, and how many there are if not all are shown.

    >>> listed(["ale", "bun"]), listed("abcdefghi"), listed([])
    ('ale, bun', 'a, b, c, d, e, f, g, h, … (9 items)', '(empty)')
    """
    shown = ", ".join(map(legible, names[:most]))
    return (shown + (f", … ({len(names):,} items)" if len(names) > most else "")) or "(empty)"


def by_size(counts: Iterable[int]) -> str:
    """How many itemsets there are of one item, of two items, and so on; empty if none.

    >>> by_size((3, 0, 1))
    '3 of 1 item, 1 of 3 items'
    """
    found = ((size, count) for size, count in enumerate(counts, start=1) if count)
    return ", ".join(f"{count:,} of {size:,} item{'s' * (size != 1)}" for size, count in found)


def clipped(text: str, width: int = _WIDTH) -> str:
    """A text in one line of so many characters, made `visible`.

    >>> clipped("bread and butter", 9)
    'bread an…'
    """
    text = visible(text[: width + 1])
    return text if len(text) <= width else text[: width - 1] + "…"


def visible(text: str) -> str:
    """A text in which nothing steers a terminal or turns text around; what would is spelled out."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def installed(name: str, what: str, package: str) -> ModuleType:
    """A library that not everybody has; an error says what needs it, and how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InvalidArgument(
            f"{what} needs the package {name}, which is not installed.", f"Install it: pip install {package}."
        ) from None


def legible(name: str) -> str:
    """A name as people read it: in quotes, with escapes, if blanks or other signs in it could be overlooked.

    >>> print(legible("B20.3"), legible(" B20.3"), legible("B20\\u00a03"), legible("B  20"))
    B20.3 ' B20.3' 'B20\\xa03' 'B \\x2020'
    """
    if name.isprintable() and name == name.strip() and "  " not in name:
        return name
    return "'" + _AFTER_A_BLANK.sub(r"\\x20", visible(name)) + "'"
