"""`Transactions`: sets of items, one per person, as an immutable sparse matrix.

Row r holds the item codes ``items[offsets[r]:offsets[r + 1]]``, sorted and unique; a code is an index into `names`, the
sorted vocabulary of the items that occur. Everything else in Veilset reads these three arrays and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.errors import InvalidArgument, near_misses
from veilset.io import ANATOMIES, AnatomizedRows, Layout, Rows, as_written, atomic_file, gather, packed, write_rows
from veilset.io.gather import canonical_rows, same_array, taken_rows
from veilset.limits import Limits
from veilset.transactions.anatomy import Anatomy
from veilset.transactions.canonical import canonical, check_sensitive, encoded
from veilset.transactions.identifiers import Identifiers, find_identifiers
from veilset.transactions.sensitive import Entry, names_and_entries, resolved
from veilset.transactions.twins import Twin, twins_of
from veilset.transactions.vocabulary import are_integers, item_name, several
from veilset.views import Count, Shown, Summary, Tabular, listed

if TYPE_CHECKING:
    from veilset.transactions.opening import Source
    from veilset.transactions.taxonomy import Taxonomy

_ROWS_AT_ONCE = 1 << 16
_PARTS = ("offsets", "items", "names", "is_sensitive", "persons", "source", "anatomy", "sought")


class Transactions(Shown, Tabular):
    """Transactions of public and sensitive items, immutable.

    Made by `from_lists` or `veilset.read`; the vocabulary holds exactly the items that occur, sorted
    numerically if every name is an integer, else by code point.

    Examples
    --------
    >>> data = Transactions.from_lists([["milk", "beer"], ["milk", "insulin"]], sensitive=["insulin"])
    >>> data.names, data.sensitive
    (('beer', 'insulin', 'milk'), ('insulin',))
    >>> data.without(["beer"]).to_lists()
    [['milk'], ['insulin', 'milk']]
    """

    __slots__ = ("__dict__", *_PARTS)

    offsets: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]
    names: tuple[str, ...]
    is_sensitive: npt.NDArray[np.uint8]
    persons: tuple[str, ...] | None
    source: Source | None
    anatomy: Anatomy | None
    sought: tuple[Entry, ...]
    """The patterns that sensitive items were chosen by, and names on the lists that do not occur to the letter."""

    def __init__(self) -> None:
        raise TypeError("Use Transactions.from_lists or veilset.read.")

    @classmethod
    def from_lists(
        cls,
        rows: Iterable[Iterable[str | int]],
        *,
        sensitive: Iterable[str | int] | str | Path = (),
        persons: Sequence[str | int] | None = None,
    ) -> Transactions:
        """Transactions from lists of names; integers are taken as names. Rows of the same person are merged.

        *sensitive* are names, or patterns such as ``"glob: insulin*"``: see `with_sensitive`.
        """
        gathered = gather([encoded(rows, persons)], Limits())
        return cls.from_gathered(gathered, merged=persons is not None).with_sensitive(sensitive)

    @classmethod
    def from_codes(
        cls,
        offsets: npt.NDArray[np.int64],
        codes: npt.NDArray[np.int32],
        names: Sequence[str],
        *,
        sensitive: Iterable[str] = (),
    ) -> Transactions:
        """Transactions from rows of codes: row r holds ``codes[offsets[r]:offsets[r + 1]]``, in any order.

        A code is a place in *names*, which are distinct; those that do not occur are left out.
        """
        return cls._canonical(offsets, codes, names, frozenset(sensitive))

    @classmethod
    def from_gathered(
        cls, rows: Rows, *, sensitive: Iterable[str] = (), merged: bool = False, source: Source | None = None
    ) -> Transactions:
        """Transactions from what a reader gives: vocabulary and rows sorted, repetitions removed.

        *merged*: the owners of rows are persons, not just ids of transactions.
        """
        persons = tuple(rows.owner_names.to_pylist()) if merged else None
        names = rows.names.to_pylist()
        known = frozenset(sensitive)
        return cls._canonical(rows.offsets, rows.codes, names, known, persons, source, in_order=rows.in_order)

    @classmethod
    def _canonical(
        cls,
        offsets: npt.NDArray[np.int64],
        codes: npt.NDArray[np.int32],
        names: Sequence[str],
        sensitive: Collection[str],
        persons: tuple[str, ...] | None = None,
        source: Source | None = None,
        sought: tuple[Entry, ...] = (),
        *,
        in_order: bool = False,
        must_occur: bool = True,
    ) -> Transactions:
        offsets, items, ordered = canonical(offsets, codes, names, in_order=in_order)
        if must_occur:
            check_sensitive(sensitive, ordered)
        roles = np.zeros(len(ordered), dtype=np.uint8)
        if sensitive:
            roles[:] = [name in sensitive for name in ordered]
        return cls._of(offsets, items, ordered, roles, persons, source, sought=sought)

    @classmethod
    def _of(
        cls,
        offsets: npt.NDArray[np.int64],
        items: npt.NDArray[np.int32],
        names: tuple[str, ...],
        is_sensitive: npt.NDArray[np.uint8],
        persons: tuple[str, ...] | None,
        source: Source | None,
        anatomy: Anatomy | None = None,
        sought: tuple[Entry, ...] = (),
    ) -> Transactions:
        data = object.__new__(cls)
        for array in (offsets, items, is_sensitive):
            array.setflags(write=False)
        parts = (offsets, items, names, is_sensitive, persons, source, anatomy, sought)
        for part, value in zip(_PARTS, parts, strict=True):
            object.__setattr__(data, part, value)
        return data

    def _with(self, **changed: Any) -> Transactions:
        """The same with some parts changed; where rows change, the caller drops the anatomy."""
        return self._of(**{part: getattr(self, part) for part in _PARTS} | changed)

    def _with_rows(
        self,
        offsets: npt.NDArray[np.int64],
        items: npt.NDArray[np.int32],
        persons: tuple[str, ...] | None,
        source: Source | None,
    ) -> Transactions:
        """Other rows of the same items, of which some may occur no more."""
        if _native.core.occurring(items, len(self.names)).all():
            return self._of(offsets, items, self.names, self.is_sensitive, persons, source, sought=self.sought)
        sensitive = frozenset(self.sensitive)
        return self._canonical(offsets, items, self.names, sensitive, persons, source, self.sought, must_occur=False)

    @property
    def has_unknown(self) -> bool:
        """Whether rows were merged by person, except those of unknown people: each of their transactions is one."""
        return self.persons is not None and self.source is not None and self.source.unknown > 0

    def without(self, items: Iterable[str]) -> Transactions:
        """The same transactions without these items; transactions that become empty stay."""
        keep = np.ones(len(self.names), dtype=bool)
        keep[self.codes(items)] = False
        return self._filtered(keep)

    def only(self, items: Iterable[str]) -> Transactions:
        """The same transactions with only these items."""
        keep = np.zeros(len(self.names), dtype=bool)
        keep[self.codes(items)] = True
        return self._filtered(keep)

    def thinned(self, kept: npt.NDArray[np.bool_]) -> Transactions:
        """The same transactions with only those occurrences that are kept: a mask over `items`.

        >>> data = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"]])
        >>> data.thinned(np.array([True, False, True, True, False])).to_lists()
        [['a'], ['a'], ['b']]
        """
        kept = np.asarray(kept)
        if kept.dtype != np.bool_ or kept.shape != self.items.shape:
            raise InvalidArgument(
                f"thinned got {kept.dtype} of shape {kept.shape}.",
                f"Give a bool for each of the {len(self.items):,} occurrences.",
            )
        if kept.all():
            return self
        before = np.zeros(len(kept) + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        return self._with_rows(before[self.offsets], self.items[kept], self.persons, self.source)

    def _filtered(self, keep: npt.NDArray[np.bool_]) -> Transactions:
        if keep.all():
            return self
        # Deleting whole items keeps the others occurring and in order, unless only integers remain, which are sorted in
        # another way.
        names = tuple(compress(self.names, keep.tolist()))
        new_code = np.where(keep, np.cumsum(keep, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
        offsets, items = canonical_rows(self.offsets, self.items, new_code)
        if are_integers(names) and not are_integers(self.names):
            sensitive = set(self.sensitive).intersection(names)
            return self._canonical(offsets, items, names, sensitive, self.persons, self.source, self.sought)
        roles = self.is_sensitive[keep]
        return self._of(offsets, items, names, roles, self.persons, self.source, sought=self.sought)

    def renamed(self, mapping: Mapping[str, str]) -> Transactions:
        """The same transactions with items renamed; items with the same new name become one (generalization).

        A sensitive item and a public one cannot become the same.
        """
        self.codes(mapping)
        renamed = [item_name(mapping.get(name, name), "renamed") for name in self.names]
        roles: dict[str, bool] = {}
        for name, sensitive in zip(renamed, self.is_sensitive.tolist(), strict=True):
            if roles.setdefault(name, bool(sensitive)) != bool(sensitive):
                raise InvalidArgument(
                    f"A public and a sensitive item would both become {name!r}.", "Give them different names."
                )
        if tuple(renamed) == self.names:
            return self
        sensitive_names = {name for name, is_sensitive in roles.items() if is_sensitive}
        return self._canonical(
            self.offsets, self.items, renamed, sensitive_names, self.persons, self.source, self.sought
        )

    def with_sensitive(
        self, items: Iterable[str | int] | str | Path, *, taxonomy: Taxonomy | None = None
    ) -> Transactions:
        """The same transactions with these items sensitive, and no others.

        Parameters
        ----------
        items : names, or path
            Names, or entries as in a list: ``"glob: PATTERN"``, ``"branch: LABEL"``; ``"name: NAME"`` for a name that
            begins like one of these. Each must match an item. A path names a file with one entry per line.
        taxonomy : Taxonomy, optional
            The tree that has the branches.

        Examples
        --------
        >>> data = Transactions.from_lists([["milk", "beer"], ["milk", "insulin"], ["insulin pump"]])
        >>> data.with_sensitive(["insulin"]).sensitive
        ('insulin',)
        >>> data.with_sensitive(["glob: insulin*"]).sensitive
        ('insulin', 'insulin pump')
        """
        names, entries = names_and_entries(items, self, taxonomy)
        found = resolved(self, entries, taxonomy)
        return self.marked({*names, *found.names}, notes=found.notes, sought=found.sought)

    def marked(
        self, sensitive: Collection[str], *, notes: Iterable[str] = (), sought: Iterable[Entry] = ()
    ) -> Transactions:
        """The same with the items of exactly these names sensitive, and no others, and what they were chosen by."""
        check_sensitive(sensitive, self.names)
        roles = np.zeros(len(self.names), dtype=np.uint8)
        roles[self.codes(sensitive)] = 1
        source = self.source
        if source is not None:
            source = replace(source, noted=(*source.noted, *notes))
        return self._with(is_sensitive=roles, source=source, sought=tuple(sought))

    def anatomized(self, anatomy: Anatomy) -> Transactions:
        """The same transactions, cut into these columns and buckets; what changes them loses the anatomy again.

        >>> data = Transactions.from_lists([["milk", "beer"], ["figs"], ["milk"]])
        >>> data.anatomized(Anatomy.of([["milk", "figs"], ["beer"]], [0, 0, 1])).anatomy
        <Anatomy: 2 columns, 2 buckets of 3 transactions>
        """
        if len(anatomy.buckets) != len(self):
            raise InvalidArgument(
                f"There are {len(self):,} transactions, but buckets for {len(anatomy.buckets):,}.",
                "Give each transaction a bucket.",
            )
        listed = {item for column in anatomy.columns for item in column}
        if wrong := sorted(listed.symmetric_difference(self.names)):
            where = "no column" if wrong[0] in self.names else "a column, but in no transaction"
            raise InvalidArgument(f"{wrong[0]!r} is in {where}.", "Put every item that occurs into exactly one column.")
        return self._with(anatomy=anatomy)

    def take(self, rows: npt.NDArray[np.int64]) -> Transactions:
        """The transactions at these positions, in this order."""
        rows = np.asarray(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise InvalidArgument(f"take got {rows.dtype} of shape {rows.shape}.", "Give a list of row numbers.")
        if rows.size and not (rows.min() >= 0 and rows.max() < len(self)):
            raise InvalidArgument(
                f"take got rows {rows.min()} to {rows.max()}.", f"Rows are numbered 0 to {len(self) - 1}."
            )
        rows = rows.astype(np.int64, copy=False)
        offsets, items = taken_rows(self.offsets, self.items, rows)
        persons = None if self.persons is None else tuple(self.persons[i] for i in rows.tolist())
        source = None if self.source is None else self.source.taken(rows)
        return self._with_rows(offsets, items, persons, source)

    def anonymous(self) -> Transactions:
        """The same transactions without persons and source: what may be published of them."""
        return self._with(persons=None, source=None, sought=())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> tuple[str, ...]:
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no transaction {row}; there are {len(self):,}.")
        row %= len(self)
        return tuple(self.names[i] for i in self.items[self.offsets[row] : self.offsets[row + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self[row] for row in range(len(self)))

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive items, in vocabulary order."""
        return tuple(compress(self.names, self.is_sensitive.tolist()))

    @property
    def public(self) -> tuple[str, ...]:
        """Names of the public items, in vocabulary order."""
        return tuple(compress(self.names, (self.is_sensitive == 0).tolist()))

    @cached_property
    def twins(self) -> tuple[Twin, ...]:
        """Public items that would be sensitive but for case, blanks, Unicode form or punctuation, most frequent first.

        >>> Transactions.from_lists([["HIV", "milk"], ["hiv "]], sensitive=["HIV"]).twins
        (Twin(item='hiv ', support=1, resembles='HIV'),)
        """
        public = compress(zip(self.names, self.supports.tolist(), strict=True), (self.is_sensitive == 0).tolist())
        return twins_of(public, self.sensitive, self.sought)

    @cached_property
    def supports(self) -> npt.NDArray[np.int64]:
        """For each item, the number of transactions that hold it."""
        counts = _native.core.count_codes(self.items, len(self.names))
        counts.setflags(write=False)
        return counts

    @cached_property
    def identifiers(self) -> tuple[Identifiers, ...]:
        """Items that look like identifiers: dates, e-mail addresses, UUIDs, long numbers, names few transactions hold.

        >>> data = Transactions.from_lists([["milk", "2024-01-03"], ["milk", "2024-01-04"]])
        >>> data.identifiers
        (Identifiers(kind='dates or times', count=2, examples=('2024-01-03', '2024-01-04')),)
        """
        return find_identifiers(self.names, self.supports, self.offsets, self.items)

    @cached_property
    def feasible_for(self) -> set[Any]:
        """The promises that were found feasible for this data, see `veilset.models.Promise.check_feasible`."""
        return set()

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """For each transaction, the number of its items."""
        return np.diff(self.offsets)

    @property
    def length_counts(self) -> dict[int, int]:
        """How many transactions have how many items, shortest first; block by block, without all lengths at once.

        >>> Transactions.from_lists([["a", "b"], [], ["b", "c"]]).length_counts
        {0: 1, 2: 2}
        """
        counted: Counter[int] = Counter()
        for first in range(0, len(self), _ROWS_AT_ONCE):
            lengths = np.diff(self.offsets[first : first + _ROWS_AT_ONCE + 1])
            different, times = np.unique(lengths, return_counts=True)
            counted.update(dict(zip(different.tolist(), times.tolist(), strict=True)))
        return dict(sorted(counted.items()))

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    def in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """These items of the data in vocabulary order."""
        return tuple(self.names[code] for code in np.unique(self.codes(names)).tolist())

    def codes(self, names: Iterable[str]) -> npt.NDArray[np.int64]:
        """Codes of these names; an unknown one is an error."""
        found = []
        for name in several(names, "items"):
            if name not in self._code_of:
                raise InvalidArgument(
                    f"There is no item {name!r} in the data.",
                    near_misses(str(name), self.names) or "Check its spelling.",
                )
            found.append(self._code_of[name])
        return np.array(found, dtype=np.int64)

    def to_lists(self) -> list[list[str]]:
        """Each transaction as a list of names."""
        return [list(row) for row in self]

    def with_source(self, source: Source | None) -> Transactions:
        """The same transactions with another source."""
        return self._with(source=source)

    def write(
        self,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the word users type
        delimiter: str | None = None,
        column: str | None = None,
        long: Sequence[str] | None = None,
        wide: bool = False,
    ) -> None:
        """Write to a file, whole or not at all, in the layout its name says; text may be packed (``.gz``, ``.zst``).

        The options are those of `veilset.read`; a *format* that is long needs no *long*: its columns are ``id,item``.
        ``format="anatomy"`` writes the table of an `anatomy`, to a file whose name ends as for `veilset.read`.
        """
        path = Path(path)
        if format is not None and format.endswith("long") and long is None:
            long = ("id", "item")
        layout = Layout.choose(path, format=format, delimiter=delimiter, column=column, long=long, wide=wide)
        rows = self.anatomized_rows() if format in ANATOMIES else None
        with atomic_file(path, replace=True) as file, packed(file, path) as stream:
            if rows is None:
                write_rows(stream, self.offsets, self.items, self.names, as_written(layout))
            else:
                rows.write(stream, layout)

    def anatomized_rows(self) -> AnatomizedRows:
        """The rows, buckets and columns as an anatomized table has them."""
        anatomy = self.anatomy
        if anatomy is None or not anatomy.columns:
            lacks = "columns and buckets" if anatomy is None else "items, and so no columns"
            raise InvalidArgument(
                f"These transactions have no {lacks}, so they cannot be written as an anatomized table.",
                "Make them with LDiverseAnatomy or Transactions.anatomized, or choose another format.",
            )
        column_of, width = anatomy.column_of(self.names), len(anatomy.columns)
        return AnatomizedRows(self.offsets, self.items, self.names, column_of, width, anatomy.buckets)

    def to_arrow(self) -> Any:
        """An Arrow table with a list column ``items`` and, where persons are known, ``person``; no name is copied.

        It is the data as it is: in its order, **with the persons**, and unchecked. What may be handed over is
        `Release.to_arrow`; `anonymous` leaves the persons out.
        """
        names = pa.array(self.names, type=pa.string())
        values = pa.DictionaryArray.from_arrays(pa.array(self.items, type=pa.int32()), names)
        columns = {"items": pa.LargeListArray.from_arrays(pa.array(self.offsets, type=pa.int64()), values)}
        if self.persons is not None:
            columns["person"] = pa.array(self.persons)
        return pa.table(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transactions):
            return NotImplemented
        return (
            self.names == other.names
            and self.persons == other.persons
            and self.anatomy == other.anatomy
            and np.array_equal(self.is_sensitive, other.is_sensitive)
            and same_array(self.offsets, other.offsets)
            and same_array(self.items, other.items)
        )

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Transactions are immutable; {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Transactions are immutable; {name!r} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Transactions._of, tuple(getattr(self, part) for part in _PARTS)

    def _summary(self) -> Summary:
        count, lengths = len(self), self.lengths
        facts: list[tuple[float, str]] = [
            (count, "transaction(s)"),
            (len(self.names), "different item(s)"),
            (len(self.sensitive), "sensitive item(s)"),
            (len(self.items), "occurrence(s)"),
        ]
        if count:
            facts += [(round(float(lengths.mean()), 1), "item(s) on average"), (int(lengths.max()), "at most")]
        owners = "Rows of the same person are merged." if self.persons is not None else "Each row counts as one person."
        rows = [(f"{row + 1}", listed(self[row])) for row in range(min(3, count))]
        notes = [owners]
        if alike := Count(len(self.twins)):
            notes.append(
                f"{alike:,} public {alike:item resembles a|items resemble} sensitive {alike:one|ones}: see twins."
            )
        return Summary("Transactions", facts=facts, notes=notes, head=("row", "items"), rows=rows)
