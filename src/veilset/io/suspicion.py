"""Is a file that is read as baskets, for no other reason than its name, a table?

The place of an item in a basket means nothing. In a table each column has its own kind of values, and the first line
may name the columns. Lines look like a table if they have the same number of fields, at least two, and

- the first line could name the columns (text that repeats nowhere), and
  - its fields are usual names of columns, if that is no coincidence: one ends in "id", or one names people or
    transactions and another items, or there are ten lines or more, or values repeat in their own column only; or
  - a column below holds only numbers, dates, e-mail addresses, UUIDs or long numbers; or
  - of 20 lines or more, no other value is rare or in two columns; or
- one column holds only dates, e-mail addresses, UUIDs, long numbers or decimal numbers (two lines or more) or whole
  numbers (six or more), and another column mostly something else; or a column counts the lines, 1, 2, 3, … (six or
  more); or
- of ten lines or more, one column identifies lines: none of its values is in another column, and it differs on nearly
  all lines, or equal values stand together in groups; and another column has values that repeat and are not grouped.

A line that comes again counts once. A title above the names, a footer, and one line in five may have another number of
fields; any number of lines may be longer, since text may hold delimiters and the last fields may be left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from veilset.errors import UnreadableInput, said
from veilset.io.kinds import DECIMAL, IDENTIFYING, LONG, TEXT, WHOLE, kind_of

Record = Sequence[str]

_DELIMITERS = ";\t|,"

_MOSTLY = 0.9  # of the values of a column; where there are fewer than ten, all
_FEWEST_WHOLE, _FEWEST_LINES = 6, 10
_FEW_REPEATED = 0.5  # different values to lines: fewer make a column of items
_FREE_TEXT = 4  # words on average
_REGULAR, _FEWEST_REGULAR = 0.8, 4  # of the lines have at least the usual number of fields, unless all do
_FEWEST_BELOW = 20  # lines that show that the first one is of another kind
_TITLES = 3  # lines above the names of columns, at most
_LONG_ID = 5  # digits
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
        if LONG in kinds:  # some ids have no prefix
            kinds[LONG] += kinds.pop(WHOLE, 0)
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
    def has_long_numbers(self) -> bool:
        """Whether it holds whole numbers of five digits or more."""
        return self.kind == WHOLE and min(map(len, self.values)) >= _LONG_ID

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
    """The columns that lines seem to have, and why; whether a line names them, and how many lines are above that."""

    columns: tuple[Column, ...]
    named: bool
    why: str
    above: int = 0

    @property
    def holds_ids(self) -> bool:
        """Whether a column holds ids or dates for sure, so that it is no word of an item."""
        return any(
            (self.named and column.kind == WHOLE and _ends_in_id(column.name))
            or (len(column.values) >= _FEWEST_LINES and (column.kind in IDENTIFYING or column.has_long_numbers))
            for column in self.columns
        )

    def ways(self, delimiter: str | None) -> str:
        """What to say to read it, with the delimiter if that has to be said too."""
        also = "" if delimiter is None else f" and {said('delimiter', delimiter)}"
        basket = f"If every field is an item, use {said('format', 'basket')}{also}."
        if not self.named:
            return (
                f"For a table, add a first line with the column names and use {said('long', ['ID', 'ITEM'])} "
                f"(one item per line) or {said('wide', True)} (one column per item){also}. {basket}"
            )
        identity, item, person = _likely(self.columns)
        whose = "" if person is None else f" and {said('person', person)}"
        is_wide, not_items = _wide(self.columns)
        no_items = f" and {said('ignore', not_items)}" if is_wide and not_items else ""
        ways = [
            f"For one item per line, use {said('long', [identity, item])}{whose}{also}.",
            f"For one column per item, use {said('wide', True)}{no_items}{also}.",
        ]
        if is_wide:
            ways.reverse()
        if self.above:
            ways.insert(0, "Remove the lines above the names of the columns.")
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
    blank = " " * (_usual_width(records) == 1)
    for other in _DELIMITERS.replace(delimiter, "") + blank:
        parted = [record for record in split(other) or () if len(record)]
        same = len({len(record) for record in parted}) == 1 and len(parted[0]) > 1
        many = "all" if same else "nearly all"
        what = f"{path!r} is read with the delimiter {delimiter!r}, but {many} lines have the same number of {other!r}"
        table = find_table(parted)
        if table and (other != blank or table.holds_ids):  # words of a name are no columns
            raise UnreadableInput(f"{what}, and look like a table: {table.why}.", table.ways(other))
        if same and not fits and other != blank:
            raise UnreadableInput(
                f"{what}.",
                f"Use {said('delimiter', other)}; or, if it is part of the items, {said('format', 'basket')}.",
            )


def find_table(records: Sequence[Record], header: Record = (), person: int = -1) -> Table | None:
    """The table that these lines look like, if they do; under a *header*, if one is given, with a *person* column."""
    records = list(dict.fromkeys(map(tuple, records)))  # a basket that comes again shows nothing new
    if header:
        return _typed_under(header, records, person, given=True)
    above = int(bool(records) and _tells_delimiter(records[0]))
    records = records[above:]
    for place, head in enumerate(records[: _TITLES + 1]):
        body = records[place + 1 :]
        if _could_name(head, body) and (table := _under_names(head, body, above + place)):
            return table
        if len(head) == _usual_width(records):  # it is no title
            break
    return _without_names(records)


def _usual_width(records: Sequence[Record]) -> int:
    return next((width for width, _ in Counter(map(len, records)).most_common(1)), 0)


def _tells_delimiter(record: Record) -> bool:
    """Whether it is a line for Excel, such as ``sep=;``."""
    return record[0].lower().startswith("sep=") and not any(record[1:])


def _at_least(width: int, records: Sequence[Record]) -> list[Record]:
    """The lines with so many fields, if few others would be left out."""
    found = [record for record in records if len(record) >= width]
    enough = len(found) >= max(_FEWEST_REGULAR, _REGULAR * len(records))
    return found if enough or len(found) == len(records) else []


def _under_names(head: Record, body: Sequence[Record], above: int) -> Table | None:
    """The table that lines look like below a line that could name its columns."""
    width = min(len(head), _usual_width(body))
    lines = _at_least(width, body)
    if width < 2 or not lines:
        return None
    columns = _columns(head, lines)
    filled = columns[:width]
    names = f"{'a line near the beginning' if above else 'its first line'} looks like column names"
    why = f"{names} ({_listed(head)})"
    if _names_columns(head, body) and (
        len(lines) >= _FEWEST_LINES or _has_roles(columns) or (_are_apart(filled) and any(map(_repeats, filled)))
    ):
        return Table(columns, named=True, why=why, above=above)
    if len(head) < _usual_width(body):
        return None
    if typed := _typed_under(head, body):
        return Table(columns, named=True, why=typed.why, above=above)
    few = all(column.distinct <= _FEW_REPEATED for column in filled)
    if len(lines) >= _FEWEST_BELOW and few and _are_apart(filled):
        return Table(columns, named=True, why=why, above=above)
    return None


def _typed_under(head: Record, body: Sequence[Record], person: int = -1, *, given: bool = False) -> Table | None:
    """The table below names if a column, other than that of the *person*, holds no items."""
    width = min(len(head), _usual_width(body))
    lines = _at_least(width, body)
    if width < 2 or not lines:
        return None
    same = all(len(record) == len(head) for record in body)
    columns = _columns(head, lines)
    judged = [column for place, column in enumerate(columns[:width]) if place != person]
    typed = _typed(judged, whole=2 if same else _FEWEST_WHOLE, contrast=given or not same)
    return Table(columns, named=True, why=f"the column {typed.name!r} holds {typed.kind}") if typed else None


def _without_names(records: Sequence[Record]) -> Table | None:
    """The table that lines look like by their columns alone."""
    width = _usual_width(records)
    lines = _at_least(width, records)
    if width < 2 or len(lines) < 2:
        return None
    columns = _columns([f"column {number + 1}" for number in range(width)], lines)
    regular = sum(len(record) == width for record in records) >= _MOSTLY * len(records)
    why = None
    if typed := _typed(columns, whole=_FEWEST_WHOLE if regular else len(records) + 1, contrast=True):
        why = f"{typed.name} holds {typed.kind}, and the others do not"
    elif not regular:
        return None
    elif len(lines) >= _FEWEST_WHOLE and (counter := next((one for one in columns if one.counts_lines), None)):
        why = f"{counter.name} counts the lines"
    elif len(lines) >= _FEWEST_LINES and (key := _identifies(columns)):
        why = f"{key.name} seems to identify the lines"
    return None if why is None else Table(columns, named=False, why=why)


def _columns(names: Record, records: Sequence[Record]) -> tuple[Column, ...]:
    return tuple(
        Column(name, tuple(record[place] for record in records if len(record) > place and record[place]))
        for place, name in enumerate(names)
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
    if not (usual >= 0.5 or any(map(_ends_in_id, head))):
        return False
    below = [value for record in body for value in record]
    return 2 * sum(map(_is_usual, below)) <= usual * len(below)  # items may be called "item 12"


def _ends_in_id(name: str) -> bool:
    return _words(name)[-1:] in (["id"], ["uuid"], ["guid"])


def _has_roles(columns: Sequence[Column]) -> bool:
    """Whether names say who or which transaction, and what; or one is that of an id."""
    if any(_ends_in_id(column.name) for column in columns):
        return True
    owners = [column for column in columns if column.words & (_PERSON_WORDS | _GROUP_WORDS)]
    return any(column.words & _ITEM_WORDS for column in columns if column not in owners[:1]) and bool(owners)


def _repeats(column: Column) -> bool:
    return len(set(column.values)) < len(column.values)


def _are_apart(columns: Sequence[Column]) -> bool:
    """Whether no value is in two columns."""
    held = [set(column.values) for column in columns]
    return sum(map(len, held)) == len(set().union(*held))


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
