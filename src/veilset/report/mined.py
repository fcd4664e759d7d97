"""What a search for itemsets found: how many there are, which come first, and the sentences about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.exact import percent
from veilset.report.text import in_quotes, number, shares
from veilset.transactions import Transactions
from veilset.views import by_size

Kind = Literal["all", "closed", "maximal", "count", "rare", "rules"]

_ITEMSETS = pa.schema([("items", pa.list_(pa.string())), ("support", pa.int64())])
COLUMNS: dict[Kind, Any] = {
    "all": _ITEMSETS,
    "closed": _ITEMSETS,
    "maximal": _ITEMSETS,
    "rare": pa.schema([*_ITEMSETS, ("breach", pa.float64()), ("sensitive", pa.string())]),
    "rules": pa.schema(
        [
            ("antecedent", pa.list_(pa.string())),
            ("consequent", pa.string()),
            ("support", pa.int64()),
            ("antecedent_support", pa.int64()),
            ("confidence", pa.float64()),
            ("lift", pa.float64()),
        ]
    ),
}


def columns_for(kind: Kind, data: Transactions) -> Any:
    """The columns of what is found; in transactions that are cut, what is to be expected, too."""
    expected = () if data.anatomy is None else _EXPECTED.get(kind, ())
    return pa.schema([*COLUMNS[kind], *((name, pa.float64()) for name in expected)])


_BESIDES = {"closed": ", and no larger one has the same support", "maximal": ", and no larger one is"}
_EXPECTED: dict[Kind, tuple[str, ...]] = {  # what else is told of transactions that are cut
    "all": ("expected",),
    "closed": ("expected",),
    "maximal": ("expected",),
    "rules": ("expected", "expected_confidence"),
}
_LONGEST_COUNT = 10**24  # larger numbers are rounded where a person reads them


@dataclass(frozen=True)
class Asked:
    """What was searched for.

    Parameters
    ----------
    kind : {"all", "closed", "maximal", "count", "rare", "rules"}
        Which itemsets, or only their number; minimal moles; rules.
    min_support : int
        Transactions that hold each, at least (not for moles).
    min_size, max_size : int, optional
        Items of each.
    k, h
        What makes a mole.
    min_confidence : Fraction
        Of a rule, at least.
    """

    kind: Kind
    min_support: int = 1
    min_size: int = 1
    max_size: int | None = None
    k: int = 1
    h: Fraction | None = None
    min_confidence: Fraction = Fraction(1)


@dataclass(frozen=True)
class Mined:
    """What was found.

    Parameters
    ----------
    found : int
        How many in all.
    by_size : tuple of int
        How many of one item, of two items (both sides of a rule), and so on; not for a mere count.
    first : list of dict
        Those that come first, by the names of `columns_for`: of itemsets the most frequent, of moles the most severe,
        of rules the surest; then those of fewer items; then in the order of the vocabulary. In transactions that are
        cut, by what is to be expected.
    per_item : mapping
        For a mere count: how many hold each item, largest first.
    counted : array, optional
    count : int, optional
        How many transactions hold each item, and how many there are, if an engine holds them; *data* then has names and
        roles only.
    """

    data: Transactions
    asked: Asked
    found: int
    by_size: tuple[int, ...] = ()
    first: list[dict[str, Any]] = field(default_factory=list)
    per_item: Mapping[str, int] = field(default_factory=dict)
    counted: npt.NDArray[np.int64] | None = None
    count: int | None = None

    @property
    def transactions(self) -> int:
        """How many there are."""
        return len(self.data) if self.count is None else self.count

    @property
    def supports(self) -> npt.NDArray[np.int64]:
        """How many transactions hold each item."""
        return self.data.supports if self.counted is None else self.counted


class Tally:
    """Counts what a search finds, piece by piece, and keeps those that come first."""

    def __init__(self, data: Transactions, asked: Asked, *, top: int) -> None:
        self._data, self._asked, self._top = data, asked, top
        self._vocabulary = pa.array(data.names, pa.string())
        self._by_size = np.zeros(0, dtype=np.int64)
        self._first = columns_for(asked.kind, data).empty_table()

    def add(self, piece: Any) -> None:
        """Take in a table with the columns of `columns_for`."""
        counts = np.bincount(_sizes(piece) + (self._asked.kind == "rules"))
        self._by_size = np.pad(self._by_size, (0, max(0, len(counts) - len(self._by_size))))
        self._by_size[: len(counts)] += counts
        if self._top > 0:
            self._first = self._foremost(pa.concat_tables([self._first, piece]))

    def result(self) -> Mined:
        """What was found in all pieces."""
        by_size = tuple(self._by_size[1:].tolist())
        return Mined(self._data, self._asked, int(self._by_size.sum()), by_size, self._first.to_pylist())

    def _foremost(self, rows: Any) -> Any:
        keys = [*_order(rows, self._asked), _sizes(rows)]
        order = np.lexsort(keys[::-1])
        if len(order) > self._top:
            # Names decide which of those are in that are level with the last; they have one size.
            level = np.logical_and.reduce([key[order] == key[order[self._top - 1]] for key in keys])
            above, tied = order[: level.argmax()], order[level]
            by_name = np.lexsort(self._names(rows.take(tied))[::-1])
            order = np.concatenate([above, tied[by_name]])[: self._top]
        rows, keys = rows.take(order), [key[order] for key in keys]
        return rows.take(np.lexsort([*self._names(rows)[::-1], *keys[::-1]]))

    def _names(self, rows: Any) -> list[npt.NDArray[np.int64]]:
        """The items of each row as keys: their places in the vocabulary, -1 where there is none."""
        lists = rows.column(0).combine_chunks()
        sizes = _sizes(rows)
        places = np.full((len(rows), int(sizes.max(initial=0))), -1, dtype=np.int64)
        places[np.arange(places.shape[1]) < sizes[:, None]] = self._places(lists.flatten())
        keys = [*places.T]
        return [*keys, self._places(rows["consequent"])] if self._asked.kind == "rules" else keys

    def _places(self, names: Any) -> npt.NDArray[np.int64]:
        return _numbers(pc.index_in(names, self._vocabulary))


def _order(rows: Any, asked: Asked) -> list[npt.NDArray[Any]]:
    """What comes first, as numbers of which the smallest come first."""
    if "expected" in rows.column_names:
        by = reversed(_EXPECTED[asked.kind])  # how sure a rule is goes first; rounded, for sums of fractions
        return [-np.round(rows[name].to_numpy(zero_copy_only=False), 9) for name in by]
    support = _numbers(rows["support"])
    if asked.kind == "rules":
        return [-support / _numbers(rows["antecedent_support"]), -support]
    if asked.kind != "rare":
        return [-support]
    # As the auditor orders its witnesses: by how many times the limit is exceeded. Rounded, since what is exceeded as
    # many times in two ways is level.
    breach = rows["breach"].to_numpy(zero_copy_only=False)
    return [-np.round(np.where(support < asked.k, asked.k / support, breach / float(asked.h or 1)), 12)]


def _sizes(rows: Any) -> npt.NDArray[np.int64]:
    return _numbers(pc.list_value_length(rows.column(0)))


def _numbers(column: Any) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def sureness(row: Mapping[str, Any], transactions: int) -> Fraction:
    """The breach probability of a mole or the confidence of a rule, exactly."""
    if "confidence" in row:
        return Fraction(row["support"], row["antecedent_support"])
    return Fraction(row["breach"]).limit_denominator(max(1, transactions))  # it is a share of some of them


def found_sentence(mined: Mined) -> str:
    """How many there are of what, in one sentence; where rows are drawn by chance, that it is about these rows."""
    told = _found(mined)
    if mined.data.anatomy is None:
        return told
    told = f"In these rows, one arrangement of many: {told[0].lower()}{told[1:]}"
    if not mined.found or mined.asked.kind not in _EXPECTED:
        return told
    return f"{told.removesuffix('.')}; use {' and '.join(f'`{name}`' for name in _EXPECTED[mined.asked.kind])}."


def _found(mined: Mined) -> str:
    asked = mined.asked
    if asked.kind == "rare":
        return _rare(mined)
    held = f"at least {asked.min_support:,} of {number(mined.transactions, 'transaction')}{_share(mined)}"
    if asked.kind == "rules":
        sure = f"at least {percent(asked.min_confidence)} of the transactions with A also contain B"
        many = number(mined.found, "rule") if mined.found else "No rule"
        return f"{many} A → B: {held} contain{'s' * (asked.min_support == 1)} A and B, and {sure}."
    what = f"{asked.kind} itemset" if asked.kind in _BESIDES else "itemset"
    if not mined.found:
        return f"No {what}{_of_size(asked, 'item')} is in {held}.{_most_frequent(mined)}"
    many, each = ("1", "it") if mined.found == 1 else (large(mined.found), "each")
    what += "s" * (mined.found != 1)
    return f"{many} {what}{_of_size(asked, 'item')}: {each} is in {held}{_BESIDES.get(asked.kind, '')}."


def _rare(mined: Mined) -> str:
    asked, data = mined.asked, mined.data
    few = f"fewer than {asked.k:,} of {number(mined.transactions, 'transaction')}"
    of_items = _of_size(asked, "public item") or " of public items"
    limited = data.sensitive and asked.h not in (None, 1)
    sure = percent(asked.h or Fraction(1))
    if not mined.found:
        none = f", and none implies a sensitive item with a confidence above {sure}" if limited else ""
        return f"No set{of_items} that occurs is in {few}{none}."
    sets = "1 smallest set" if mined.found == 1 else f"{mined.found:,} smallest sets"
    or_gives = f", or implies a sensitive item with a confidence above {sure}" if limited else ""
    narrow, each = ("narrows", "It is") if mined.found == 1 else ("narrow", "Each is")
    return f"{sets}{of_items} {narrow} people down. {each} in {few}{or_gives}."


def notes(mined: Mined) -> list[str]:
    """What somebody may have overlooked who looks for rare itemsets, or into transactions that are cut."""
    told = []
    if mined.data.anatomy is not None:
        told.append(
            "These lines mix values of different people: counts of items from several columns result from one random "
            "arrangement."
            + (
                " Expected is the mean over all arrangements. The list is based on counts in these lines: to miss "
                "nothing, use a lower threshold than you need."
                if mined.asked.kind in _EXPECTED
                else ""
            )
        )
    if mined.asked.kind != "rare":
        return told
    if mined.data.sensitive and mined.asked.h is None:
        told.append("The confidence in a sensitive item is not limited here: add --h 0.4, for example.")
    if not mined.data.sensitive and mined.asked.h is not None:
        told.append("No item is sensitive, so h has no effect: name the sensitive items with --sensitive.")
    return told


def sizes_sentence(mined: Mined) -> str:
    """How many there are of each size; empty if that is no news."""
    counted = by_size(mined.by_size)
    return f"By size: {counted}." if counted else ""


def large(count: int) -> str:
    """A count as a person reads it; what has very many digits is rounded.

    >>> large(1234567), large(2**400)
    ('1,234,567', 'about 2.58 × 10^120')
    """
    if count < _LONGEST_COUNT:
        return f"{count:,}"
    mantissa, exponent = f"{Decimal(count):.2e}".split("e+")
    return f"about {mantissa} × 10^{exponent}"


def _share(mined: Mined) -> str:
    least, there = mined.asked.min_support, mined.transactions
    return f" ({shares(least / there)})" if 0 < least <= there else ""


def _of_size(asked: Asked, item: str) -> str:
    least, most = asked.min_size, asked.max_size
    if most is None:
        return f" of {least} or more {item}s" if least > 1 else ""
    if least == most:
        return f" of {number(most, item)}"
    return f" of {least} to {number(most, item)}" if least > 1 else f" of up to {number(most, item)}"


def _most_frequent(mined: Mined) -> str:
    """What to try where nothing is frequent."""
    supports = mined.supports
    if not len(supports) or supports.max() >= mined.asked.min_support:
        return ""
    most = int(supports.argmax())
    held = number(int(supports[most]), "transaction")
    return f" The most frequent item is {in_quotes(mined.data.names[most])}, with {held}."
