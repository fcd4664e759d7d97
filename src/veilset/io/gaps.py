"""Cells that are missing, and unknown people: refused, left out, or taken as people of their own. The user decides.

Readers let them pass (owner or item -1) if `Gaps.tolerated`; here is decided, piece by piece, what becomes of them, and
everything is counted. Nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import InvalidArgument, UnreadableInput, said
from veilset.io.layout import Layout
from veilset.io.rows import Offsets, Rows, arrow_numbers, ends_of
from veilset.views import Count

_NO_ITEM = "{0:,} {0:row|rows} without an item {0:was|were} skipped."
_NULL_ITEMS = "{0:,} {0:item|items} without a name {0:was|were} skipped."
_NO_OWNER = "{0:,} {0:row|rows} without an id {0:was|were} skipped."
_UNKNOWN_SKIPPED = "{0:,} {0:row|rows} of unknown people {0:was|were} skipped."
_UNKNOWN_APART = "{0:,} {0:row|rows} of unknown people {0:was|were} not merged: each row counts as a separate person."
_UNKNOWN_BY_ID = (
    "{0:,} {0:row|rows} of unknown people {0:was|were} not merged: each transaction counts as a separate person."
)

NAME_IT = (
    f"Use {said('unknown_rows', 'separate')} (each such row is a separate person) or {said('unknown_rows', 'skip')}, "
    "or fill it in."
)
"""What to do about a row that nobody owns."""

SKIP_IT = f"Use {said('missing', 'skip')} to leave such cells out, or fill it in."
"""What to do about an item that is missing."""


@dataclass(frozen=True)
class Gaps:
    """What becomes of missing cells, and of people nobody knows.

    Parameters
    ----------
    missing : str
        ``refuse`` or ``skip``: ids and items that are missing.
    unknown_person : tuple of str
        Ids that stand for people nobody knows; a missing id does too.
    unknown_rows : str, optional
        What becomes of their rows: ``separate``, each transaction is a person of its own, or ``skip``. Without it,
        *missing* decides about missing ids.
    """

    missing: str = "refuse"
    unknown_person: tuple[str, ...] = ()
    unknown_rows: str | None = None

    @property
    def tolerated(self) -> bool:
        """Whether readers let missing cells pass."""
        return self.missing == "skip" or self.unknown_rows is not None

    def needs_ids(self, layout: Layout) -> bool:
        """Whether the ids of a long table matter besides the people in it."""
        apart = self.unknown_rows == "separate" and layout.form.shape == "long"
        return apart and layout.person not in (None, *layout.columns[:1])

    def check(self, layout: Layout) -> None:
        """Raise if this does not go together, or with the layout."""
        container, shape, _, words = layout.form
        owned = layout.person is not None or shape == "long"
        if self.unknown_person and self.unknown_rows is None:
            raise InvalidArgument(
                f"{said('unknown_person', list(self.unknown_person))} leaves open what happens to these rows.",
                f"Add {said('unknown_rows', 'separate')} (each transaction counts as a separate person) "
                f"or {said('unknown_rows', 'skip')} (they are left out).",
            )
        if self.unknown_rows is not None and not owned:
            raise InvalidArgument(
                f"{said('unknown_rows', self.unknown_rows)} needs a column that identifies the person.",
                f"Name it: {said('person', 'COLUMN')}.",
            )
        listed = shape == "lists" and container in ("json", "parquet", "arrow")
        if self.missing == "skip" and not (owned or listed):
            raise InvalidArgument(
                f"Nothing can be missing in {words}: an empty field or cell means no item.",
                f"Leave {said('missing')} out.",
            )


NO_GAPS = Gaps()
"""All that is missing is refused."""


class Mending:
    """The pieces of one source on their way, with their gaps closed."""

    def __init__(self, layout: Layout, gaps: Gaps, source: str | None = None) -> None:
        self._layout, self._gaps = layout, gaps
        self._where = "" if source is None else f"{source!r}: "  # before every error
        self._nobodys = self._somebodys = 0  # rows
        self.apart = 0  # rows of unknown people, which are not merged
        self._met: set[str] = set()
        self._vacant: list[tuple[npt.NDArray[np.int64], Any]] = []  # table rows without an item, and whose they are

    def pieces(self, pieces: Iterator[Rows]) -> Iterator[Rows]:
        """The same rows without gaps, but for rows of a long table without an item: `closed` decides about them."""
        first = 1
        for piece in pieces:
            long = self._layout.form.shape == "long"
            many = len(piece.codes) if long else len(piece.offsets) - 1
            mended = piece
            if not long and self._layout.form.container != "csv":
                mended = self._without_null_items(piece, first)
            if piece.owners is not None and self._gaps.tolerated:
                mended, rows = self._with_owners(mended, first)
            else:
                rows = np.arange(first, first + many)
            if long:
                mended = self._remembered(mended, rows)
            yield mended
            first += many

    def closed(self, whole: Rows) -> dict[str, int]:
        """What to note about all rows, once those of each owner are one; raises if an item is missing.

        An id may have no item at all: so a long table says that a transaction is empty.
        """
        notes: dict[str, int] = {}
        if self._nobodys and not self._somebodys:
            column = self._layout.person or self._layout.columns[0]
            raise UnreadableInput(
                f"{self._where}None of {self._nobodys:,} rows has an id in {column!r}.",
                "Check the column name.",
            )
        if self._vacant:
            owners = whole.owner_names.cast(pa.large_string())
            count, at, alone = 0, None, list[npt.NDArray[np.int64]]()
            for rows, names in self._vacant:
                places = pc.index_in(names.cast(pa.large_string()), value_set=owners).to_numpy()
                others = whole.offsets[places + 1] > whole.offsets[places]
                count += int(others.sum())
                alone.append(places[~others])
                if at is None and others.any():
                    at = int(rows[np.argmax(others)])
            if at is not None and self._gaps.missing == "refuse":
                raise UnreadableInput(
                    f"{self._where}Row {at:,} (counting from 1) has no item, in the column "
                    f"{self._layout.columns[1]!r}; {count:,} such rows belong to transactions that have other items.",
                    SKIP_IT,
                )
            if count:
                notes[_no_item(np.concatenate(alone))] = count
        for name in self._gaps.unknown_person:
            if name not in self._met:
                shown = repr(name).replace("{", "{{").replace("}", "}}")
                notes[f"No row has the id {shown} given in {said('unknown_person')}."] = 1
        return notes

    def _without_null_items(self, piece: Rows, first: int) -> Rows:
        gone = piece.codes < 0
        if not gone.any():
            return piece
        if self._gaps.missing == "refuse":
            row = first + int(np.searchsorted(piece.offsets, np.argmax(gone), side="right")) - 1
            raise UnreadableInput(
                f"{self._where}Row {row:,} (counting from 1) contains an item without a name.", SKIP_IT
            )
        return replace(
            piece,
            codes=piece.codes[~gone],
            offsets=ends_of(~gone)[piece.offsets],
            notes=_added(piece, _NULL_ITEMS, int(gone.sum())),
        )

    def _with_owners(self, piece: Rows, first: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """The piece with a known owner for each row, and which rows of the table are in it. No row is a run here."""
        assert piece.owners is not None  # noqa: S101 - asked before
        rows = np.arange(first, first + len(piece.owners))
        named = pc.is_in(piece.owner_names, value_set=pa.array(self._gaps.unknown_person, piece.owner_names.type))
        named = named.to_numpy(zero_copy_only=False)
        unknown = np.append(named, True)[piece.owners]  # code -1 finds the last
        used = np.unique(piece.owners[unknown & (piece.owners >= 0)])
        self._met.update(piece.owner_names.take(arrow_numbers(used)).to_pylist())
        count, missing = int(unknown.sum()), int(np.count_nonzero(piece.owners < 0))
        self._nobodys += missing
        self._somebodys += len(rows) - missing
        if not count:
            return piece, rows
        if self._gaps.unknown_rows == "separate":
            self.apart += count
            return self._apart(piece, unknown, named, rows, count), rows
        note = _NO_OWNER if self._gaps.unknown_rows is None else _UNKNOWN_SKIPPED
        return _kept(replace(piece, notes=_added(piece, note, count)), ~unknown), rows[~unknown]

    def _apart(
        self,
        piece: Rows,
        unknown: npt.NDArray[np.bool_],
        named: npt.NDArray[np.bool_],
        rows: npt.NDArray[np.int64],
        count: int,
    ) -> Rows:
        """Unknown people under names of their own: that of their transaction, else the number of their row."""
        assert piece.owners is not None  # noqa: S101 - asked before
        owners, many = piece.owners.copy(), len(piece.owner_names)
        labels, starts = [], ["(row "]
        by_row, note = unknown, _UNKNOWN_APART
        if piece.ids is not None:
            start, note = f"({self._layout.columns[0]} ", _UNKNOWN_BY_ID
            starts.append(start)
            ids = unknown & (piece.ids >= 0)
            owners[ids] = many + piece.ids[ids]
            labels += [f"{start}{name})" for name in piece.id_names.to_pylist()]
            by_row = unknown & (piece.ids < 0)
        owners[by_row] = many + len(labels) + np.arange(by_row.sum(), dtype=np.int32)
        labels += [f"(row {row})" for row in rows[by_row].tolist()]
        for start in starts:
            taken = pc.and_(pc.starts_with(piece.owner_names, start), pa.array(~named)).index(True).as_py()
            if taken >= 0:
                name = piece.owner_names[taken].as_py()
                raise UnreadableInput(
                    f"{self._where}The id {name!r} looks like one that Veilset gives to unknown people.",
                    f"Rename it, or use {said('unknown_rows', 'skip')}.",
                )
        together = pa.concat_arrays([piece.owner_names.cast(pa.large_string()), pa.array(labels, pa.large_string())])
        return replace(piece, owners=owners, owner_names=together, notes=_added(piece, note, count))

    def _remembered(self, piece: Rows, rows: npt.NDArray[np.int64]) -> Rows:
        """A piece of a long table, with neighbouring rows of one owner as one, after noting those without an item."""
        assert piece.owners is not None  # noqa: S101 - every row of a long table has one
        vacant = piece.codes < 0
        if vacant.any():
            whose = np.repeat(piece.owners, np.diff(piece.offsets))[vacant]
            self._vacant.append((rows[vacant], piece.owner_names.take(arrow_numbers(whose))))
        begins = np.flatnonzero(np.diff(piece.owners, prepend=-1))
        if len(begins) == len(piece.owners):
            return replace(piece, ids=None, id_names=None)
        offsets: Offsets = np.append(piece.offsets[begins], piece.offsets[-1])
        return replace(piece, owners=piece.owners[begins], offsets=offsets, ids=None, id_names=None)


def _no_item(empty: npt.NDArray[np.int64]) -> str:
    """The note on skipped rows; with those that are all of a transaction, which is *empty*, it adds up to the file."""
    if not len(empty):
        return _NO_ITEM
    rows, many = Count(len(empty)), Count(len(np.unique(empty)))
    alone = f"{rows:,} more {rows:is|are} all there is of {many:,} empty {many:transaction|transactions}"
    return f"{_NO_ITEM[:-1]}; {alone}."


def _added(piece: Rows, note: str, count: int) -> dict[str, int]:
    return {**piece.notes, note: piece.notes.get(note, 0) + count}


def _kept(piece: Rows, keep: npt.NDArray[np.bool_]) -> Rows:
    lengths = np.diff(piece.offsets)
    assert piece.owners is not None  # noqa: S101 - asked before
    return replace(
        piece,
        offsets=ends_of(lengths[keep]),
        codes=piece.codes[np.repeat(keep, lengths)],
        owners=piece.owners[keep],
        ids=None if piece.ids is None else piece.ids[keep],
        in_order=False,
    )
