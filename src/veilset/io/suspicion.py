"""Is a file that is read as baskets, for no other reason than its name, a table?

The place of an item in a basket means nothing. In a table each column has its own kind of values, and the first line
may name the columns. Lines look like a table if all have the same number of fields, at least two, and

- the first line looks like column names: it repeats nowhere, and at least half of its fields are usual names of
  columns, or one ends in "id", or a column below holds only numbers, dates, e-mail addresses or UUIDs; or
- one column holds only dates, e-mail addresses, UUIDs or decimal numbers (two lines or more) or whole numbers (six or
  more), and another column mostly something else; or a column counts the lines, 1, 2, 3, … (six or more); or
- of ten lines or more, one column identifies lines: none of its values is in another column, and it differs on nearly
  all lines, or equal values stand together in groups; and another column has values that repeat and are not grouped.

A line that comes again counts once. After usual names of columns lines may also be longer than the first: text in the
last column may hold delimiters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from veilset.errors import UnreadableInput, said
from veilset.io.kinds import DECIMAL, TEXT, WHOLE, kind_of

Record = Sequence[str]

_DELIMITERS = ";\t|,"

_MOSTLY = 0.9  # of the values of a column; where there are fewer than ten, all
_FEWEST_WHOLE, _FEWEST_LINES = 6, 10
_FEW_REPEATED = 0.5  # different values to lines: fewer make a column of items
_FREE_TEXT = 4  # words on average
_FLAGS = frozenset({"0", "1", "true", "false"})

_WORDS = {
    "group": "basket bill booking cart case encounter episode invoice order purchase receipt sale session stay ticket "
    "transaction trans tx visit",
    "person": "account card client customer household member owner patient person student subject user who",
    "id": "id ids identifier key nr no num number uuid guid ref index",
    "item": "article atc category code description diagnosis dish drug icd icd10 item items label medication name page "
    "procedure product service sku song stockcode symptom test title url what",
    "other": "address age amount birth birthday city comment comments cost count country created date day dob email "
    "gender location month note notes phone postcode price qty quantity region remark sex state status store street "
    "text time timestamp total type unit updated value when year zip zipcode",
}  # of usual names of columns
_GROUP_WORDS, _PERSON_WORDS, _ID_WORDS, _ITEM_WORDS, _OTHER_WORDS = (set(words.split()) for words in _WORDS.values())
_USUAL_WORDS = _GROUP_WORDS | _PERSON_WORDS | _ID_WORDS | _ITEM_WORDS | _OTHER_WORDS


@dataclass(frozen=True)
class Column:
    """A column of a sample, by its values that are not empty."""

    name: str
    values: tuple[str, ...]

    @cached_property
    def kind(self) -> str | None:
        """What nearly all values look like; None where they are a mixture."""
        kind, count = next(iter(self.kinds.most_common(1)), (None, 0))
        return kind if count == len(self.values) or count >= max(10, _MOSTLY * len(self.values)) else None

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many values look like what."""
        kinds = Counter(kind_of(value) for value in self.values)
        if DECIMAL in kinds:  # some prices are whole
            kinds[DECIMAL] += kinds.pop(WHOLE, 0)
        return kinds

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(_words(self.name))

    @property
    def distinct(self) -> float:
        """Different values to values."""
        return len(set(self.values)) / max(1, len(self.values))

    @property
    def is_grouped(self) -> bool:
        """Whether values repeat, and equal ones follow each other."""
        runs = sum(1 for _ in groupby(self.values))
        return 2 < runs == len(set(self.values)) < len(self.values)

    @property
    def counts_lines(self) -> bool:
        """Whether each value is the one above plus 1."""
        whole = self.kind == WHOLE and all(value.isdigit() and len(value) < 19 for value in self.values)
        return whole and all(int(below) == int(above) + 1 for above, below in pairwise(self.values))

    @property
    def id_score(self) -> float:
        """How likely it says which transaction, or whose, a line is."""
        score = 3.0 * bool(self.words & _GROUP_WORDS) + 2 * bool(self.words & _PERSON_WORDS)
        score += bool(self.words & _ID_WORDS) + 0.5 * self.is_grouped
        score -= 4 * bool(self.words & _ITEM_WORDS) + 2 * bool(self.words & _OTHER_WORDS)
        return score if self.kind in (WHOLE, TEXT, "UUIDs", "long numbers", None) else -4

    @property
    def item_score(self) -> float:
        """How likely it holds the items."""
        score = 3.0 * bool(self.words & _ITEM_WORDS) + 2 * (self.kind in (TEXT, None)) - 2 * self.distinct
        score -= 3 * (self.words_a_value >= _FREE_TEXT) + 4 * bool(self.words & _OTHER_WORDS)
        return score - 3 * (self.id_score > 0 and not self.words & _ITEM_WORDS)

    @property
    def words_a_value(self) -> float:
        """Words on average."""
        return sum(len(value.split()) for value in self.values) / max(1, len(self.values))


@dataclass(frozen=True)
class Table:
    """The columns that lines seem to have, and why; whether the first line names them."""

    columns: tuple[Column, ...]
    named: bool
    why: str

    def ways(self, delimiter: str | None) -> str:
        """What to say to read it, with the delimiter if that has to be said too."""
        also = "" if delimiter is None else f" and {said('delimiter', delimiter)}"
        basket = f"If every field is an item, say {said('format', 'basket')}{also}."
        if not self.named:
            return (
                f"For a table, add a first line with the names of the columns and say {said('long', ['ID', 'ITEM'])} "
                f"(one item a line) or {said('wide', True)} (one column an item){also}. {basket}"
            )
        identity, item, person = _likely(self.columns)
        whose = "" if person is None else f" and {said('person', person)}"
        is_wide, not_items = _wide(self.columns)
        no_items = f" and {said('ignore', not_items)}" if is_wide and not_items else ""
        ways = [
            f"If each line holds one item, say {said('long', [identity, item])}{whose}{also}.",
            f"If each column is an item, say {said('wide', True)}{no_items}{also}.",
        ]
        if is_wide:
            ways.reverse()
        return " ".join([*ways, basket])


def likely_options(columns: Sequence[Column]) -> dict[str, object]:
    """What to tell `veilset.read` about a table of these columns, most likely; nothing if there are too few.

    >>> likely_options([Column("order_id", ("1", "1")), Column("product", ("tea", "milk"))])
    {'long': ('order_id', 'product')}
    """
    is_wide, not_items = _wide(columns)
    if is_wide:
        return {"wide": True, **({"ignore": tuple(not_items)} if not_items else {})}
    if len(columns) < 2:
        return {}
    identity, item, person = _likely(columns)
    return {"long": (identity, item), **({} if person is None else {"person": person})}


def _wide(columns: Sequence[Column]) -> tuple[bool, list[str]]:
    """Whether columns seem to be items, with 0 and 1; and the names of those that do not."""
    held = {column.name: {value.lower() for value in column.values} for column in columns}
    not_items = [name for name, values in held.items() if not values or not values <= _FLAGS]
    items = len(columns) - len(not_items)
    return items > 1 and items >= len(not_items), not_items


def _likely(columns: Sequence[Column]) -> tuple[str, str, str | None]:
    """The names of the likely columns of the ids, of the items and, if there is another, of the people."""
    by_id = sorted(columns, key=lambda column: -column.id_score)  # the first ones win
    identity = by_id[0]
    item = max((column for column in columns if column is not identity), key=lambda column: column.item_score)
    person = next(
        (column.name for column in by_id if column not in (identity, item) and column.words & _PERSON_WORDS), None
    )
    return identity.name, item.name, person if identity.words & (_GROUP_WORDS | _ID_WORDS) else None


def check_baskets(
    path: str,
    split: Callable[[str], Sequence[Record] | None],
    delimiter: str,
    header: Record = (),
    person: int = -1,
) -> None:
    """Refuse the first lines of a file if they look like a table, or have another delimiter.

    *split* gives their fields by a delimiter, None where quotes do not go with it. Another delimiter is the right one
    if by it all lines have the same number of fields, at least two, and by *delimiter* they have one each, or different
    numbers, or if by it alone they look like a table. Under a *header* that the user has named, the *person* column may
    hold anything.
    """
    records = [record for record in split(delimiter) or () if len(record)]
    widths = {len(record) for record in records}
    if widths != {1} and (table := find_table(records, header, person)):
        raise UnreadableInput(f"{path!r} looks like a table: {table.why}.", table.ways(None))
    if header or len(records) < 2:
        return
    fits = len(widths) == 1 and widths != {1}
    for other in _DELIMITERS.replace(delimiter, ""):
        parted = [record for record in split(other) or () if len(record)]
        if len({len(record) for record in parted}) != 1 or len(parted[0]) == 1:
            continue
        what = f"{path!r} is read with the delimiter {delimiter!r}, but all lines have the same number of {other!r}"
        if table := find_table(parted):
            raise UnreadableInput(f"{what}, and look like a table: {table.why}.", table.ways(other))
        if not fits:
            raise UnreadableInput(
                f"{what}.",
                f"Say {said('delimiter', other)}; or, if it is part of the items, {said('format', 'basket')}.",
            )


def find_table(records: Sequence[Record], header: Record = (), person: int = -1) -> Table | None:
    """The table that these lines look like, if they do; under a *header*, if one is given, with a *person* column."""
    records = list(dict.fromkeys(map(tuple, records)))  # a basket that comes again shows nothing new
    head, body = (header, records) if header else (records[0], records[1:]) if records else ((), ())
    width = len(head)
    usual = not header and _names_columns(head, body)
    same = all(len(record) == width for record in body)
    if width < 2 or not body or not (same or (usual and all(len(record) >= width for record in body))):
        return None
    below = _columns(head, body)
    if usual:
        return Table(below, named=True, why=f"its first line looks like the names of columns ({_listed(head)})")
    if header or _could_name(head, body):
        judged = [column for place, column in enumerate(below) if place != person]
        if typed := _typed(judged, whole=2, contrast=bool(header)):
            return Table(below, named=True, why=f"the column {typed.name!r} holds {typed.kind}")
    return None if header else _without_names(records)


def _without_names(records: Sequence[Record]) -> Table | None:
    """The table that lines look like by their columns alone."""
    columns = _columns([f"column {number + 1}" for number in range(len(records[0]))], records)
    why = None
    if typed := _typed(columns, whole=_FEWEST_WHOLE, contrast=True):
        why = f"{typed.name} holds {typed.kind}, and others do not"
    elif len(records) >= _FEWEST_WHOLE and (counter := next((one for one in columns if one.counts_lines), None)):
        why = f"{counter.name} counts the lines"
    elif len(records) >= _FEWEST_LINES and (key := _identifies(columns)):
        why = f"{key.name} seems to identify the lines"
    return None if why is None else Table(columns, named=False, why=why)


def _columns(names: Record, records: Sequence[Record]) -> tuple[Column, ...]:
    return tuple(
        Column(name, tuple(record[place] for record in records if record[place])) for place, name in enumerate(names)
    )


def _words(name: str) -> list[str]:
    """The words of a name, small: ``CustomerNo`` and ``customer_no`` have two."""
    return re.findall(r"[a-z]+[0-9]*", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())


def _could_name(head: Record, body: Sequence[Record]) -> bool:
    """Whether the fields of a line may be names of columns: text, all different, and none again below."""
    filled = [name for name in head if name]
    if len(set(filled)) < len(filled) or len(filled) < len(head) - 1 or any(kind_of(name) != TEXT for name in filled):
        return False
    below = {value for record in body for value in record}
    return below.isdisjoint(filled)


def _names_columns(head: Record, body: Sequence[Record]) -> bool:
    """Whether the fields of a line are usual names of columns, far more often than those below."""
    usual = sum(map(_is_usual, head)) / max(1, len(head))
    of_ids = any(_words(name)[-1:] in (["id"], ["uuid"], ["guid"]) for name in head)
    if not (of_ids or usual >= 0.5) or not _could_name(head, body):
        return False
    below = [value for record in body for value in record]
    return 2 * sum(map(_is_usual, below)) <= usual * len(below)  # items may be called "item 12"


def _is_usual(name: str) -> bool:
    words = _words(name)
    return bool(words) and (words[-1] in _USUAL_WORDS or words[0] in _USUAL_WORDS)


def _typed(columns: Sequence[Column], *, whole: int, contrast: bool) -> Column | None:
    """The first column whose values are no items, of whole numbers if there are so many.

    For a *contrast*, most values of some other column must look different.
    """
    strong = [one for one in columns if one.kind not in (None, TEXT, WHOLE) and len(one.values) > 1]
    numbers = [one for one in columns if one.kind == WHOLE and len(one.values) >= whole]
    for typed in [*strong, *numbers]:
        differ = (2 * one.kinds[typed.kind or ""] < len(one.values) for one in columns)
        if not contrast or any(differ):
            return typed
    return None


def _identifies(columns: Sequence[Column]) -> Column | None:
    """The first column that says which line, or whose, a line is."""
    held = [set(column.values) for column in columns]
    for place, column in enumerate(columns):
        others = [one for other, one in enumerate(columns) if other != place]
        apart = all(held[place].isdisjoint(values) for other, values in enumerate(held) if other != place)
        repeated = any(one.values and one.distinct <= _FEW_REPEATED and not one.is_grouped for one in others)
        enough = len(column.values) >= _FEWEST_LINES
        if enough and apart and repeated and (column.distinct >= 0.95 or column.is_grouped):
            return column
    return None


def _listed(names: Record) -> str:
    return ", ".join(map(repr, names[:6])) + ", …" * (len(names) > 6)
