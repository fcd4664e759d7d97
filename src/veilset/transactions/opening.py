"""From a file, a database or a frame whose layout is known to transactions that remember where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.errors import UnreadableInput, in_python, spelled
from veilset.io import AnatomyFile, Layout, Rows, TextBlocks, gather, open_text, sha256_of
from veilset.io.arrow import completed, rows_of
from veilset.io.gaps import NO_GAPS, Gaps, Mending
from veilset.io.gather import row_blocks
from veilset.io.people import Doubt, resembling_ids, suspicious_ids
from veilset.io.sql import located, open_query, without_password
from veilset.io.tables import open_table
from veilset.io.where import Condition
from veilset.limits import Limits
from veilset.transactions.anatomy import Anatomy
from veilset.transactions.transactions import Transactions
from veilset.views import Count

if TYPE_CHECKING:
    from veilset.io.normalizing import Step


@dataclass(frozen=True)
class Source:
    """Where transactions came from: enough to read them again, to know that nothing changed, and to find a row there.

    Parameters
    ----------
    origin : str or None
        The path of a file, the URL of a database without its password, or None: a frame.
    sha256 : str
        Of the file, or of the transactions where there is none.
    layout : Layout
        As it was read.
    query : str, optional
        What the database was asked.
    encoding : str
        Of the text.
    where : str, optional
        The condition that rows had to satisfy.
    gaps : Gaps
        What became of missing cells and unknown people.
    noted : tuple of str
        What a careful reader would want to know about how it was read; options are as `veilset.errors.said` has them.
    ids : pyarrow.Array, optional
        What a long table calls its transactions, one for each.
    normalize : tuple of str
        What was done to item names (`veilset.io.normalizing`).
    unknown : int
        Rows of unknown people, which were not merged.
    """

    origin: str | None
    sha256: str
    layout: Layout
    query: str | None = None
    encoding: str = "utf-8"
    where: str | None = None
    gaps: Gaps = NO_GAPS
    noted: tuple[str, ...] = ()
    ids: Any = None
    normalize: tuple[Step, ...] = ()
    unknown: int = 0

    @property
    def name(self) -> str:
        """What to call it when talking about it."""
        if self.origin is None:
            return "a frame"
        return self.origin if self.query is not None else Path(self.origin).name

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader would want to know about how it was read."""
        return self.notes_in(in_python)

    def notes_in(self, spell: Callable[..., str]) -> tuple[str, ...]:
        """The same, with each option as *spell* writes it."""
        return tuple(spelled(note, spell) for note in self.noted)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes it doubtful who is a person, each in half a sentence."""
        return tuple(note.short for note in self.noted if isinstance(note, Doubt))

    def taken(self, rows: npt.NDArray[np.int64]) -> Source:
        """The same for the transactions at these positions."""
        return self if self.ids is None else replace(self, ids=self.ids.take(pa.array(rows)))

    def describe(self) -> str:
        """One sentence: what the source was taken to be."""
        layout = self.layout
        container, _, _, words = layout.form
        if self.origin is None or self.query is not None:
            kind = "the result of a query" if self.query is not None else "a frame"
            words = f"{kind} ({words.partition('(')[2]}"
        details = [f"delimiter {layout.delimiter!r}"] if container == "csv" else []
        if layout.format == "basket":
            details.append("with a header" if layout.header else "no header")
        if layout.columns:
            details.append(f"column{'s' * (len(layout.columns) > 1)} {', '.join(layout.columns)}")
        if layout.ignore:
            details.append(f"without {', '.join(layout.ignore)}")
        if self.encoding != "utf-8":
            details.append(self.encoding)
        if self.normalize:
            details.append(f"names normalized ({', '.join(self.normalize)})")
        return ", ".join([words, *details])


def read_file(
    path: Path,
    layout: Layout,
    *,
    encoding: str = "utf-8",
    where: str | None = None,
    gaps: Gaps = NO_GAPS,
    limits: Limits | None = None,
) -> Transactions:
    """Transactions of a file."""
    limits = limits or Limits()
    gaps.check(layout)
    with limits.guard(f"Reading {str(path)!r}", "split the file."):
        condition = None if where is None else Condition(where, layout, limits)
        return _gathered(_open_file(path, layout, encoding, gaps, condition, limits), gaps, limits, encoding)


def joined(parts: Iterable[Transactions], limits: Limits) -> Transactions:
    """The transactions of all parts, one part after the other, which need not be in memory together.

    >>> joined([Transactions.from_lists([["b"]]), Transactions.from_lists([["a"], []])], Limits()).to_lists()
    [['b'], ['a'], []]
    """
    pieces = (Rows(part.offsets, part.items, pa.array(part.names, pa.string())) for part in parts)
    return Transactions.from_gathered(gather(pieces, limits))


def read_query(url: str, query: str | None, layout: Layout, gaps: Gaps, limits: Limits) -> Transactions:
    """Transactions that a database answers."""
    gaps.check(layout)
    schema, batches = open_query(url, query, limits)
    layout = completed(layout, schema)
    origin = located(without_password(url), Path.cwd())
    pieces = rows_of(batches, schema, layout, gaps=gaps)
    return _gathered(_Opened(origin, layout, pieces, lambda: "", query), gaps, limits)


def read_frame(
    frame: pa.RecordBatchReader, layout: Layout, where: str | None, gaps: Gaps, limits: Limits
) -> Transactions:
    """Transactions of a frame."""
    gaps.check(layout)
    layout = completed(layout, frame.schema)
    condition = None if where is None else Condition(where, layout, limits)
    batches = frame if condition is None else condition.batches(frame, frame.schema.names)
    pieces = rows_of(batches, frame.schema, layout, gaps=gaps)
    return _gathered(_Opened(None, layout, pieces, lambda: "", condition=condition), gaps, limits)


def _gathered(opened: _Opened, gaps: Gaps, limits: Limits, encoding: str = "utf-8") -> Transactions:
    merged = opened.layout.person is not None
    mending = Mending(opened.layout, gaps, opened.origin)
    rows = gather(mending.pieces(opened.pieces), limits)
    told = {} if opened.condition is None else opened.condition.note
    rows = replace(rows, notes={**told, **rows.notes, **mending.closed(rows)})
    came_from = Source(
        opened.origin,
        opened.sha256(),
        opened.layout,
        opened.query,
        encoding,
        None if opened.condition is None else opened.condition.text,
        gaps,
        _notes(rows, opened.layout),
        None if merged else rows.owner_names,
        unknown=mending.apart,
    )
    if len(rows.offsets) == 1 and opened.condition is not None:
        raise UnreadableInput(
            f"No transactions are left in {came_from.name!r}: {came_from.notes[0]}", "Widen the condition."
        )
    if len(rows.offsets) == 1:
        raise UnreadableInput(f"There are no transactions in {came_from.name!r}.", "Use data with at least one.")
    data = Transactions.from_gathered(rows, merged=merged, source=came_from)
    if opened.anatomy is not None:
        data = data.anatomized(Anatomy.of(map(data.in_order, opened.anatomy.columns), opened.anatomy.buckets))
    return data if came_from.sha256 else data.with_source(replace(came_from, sha256=_sum_of(data)))


@dataclass(frozen=True)
class _Opened:
    origin: str | None
    layout: Layout
    pieces: Iterator[Rows]
    sha256: Callable[[], str]  # once all pieces were read; empty where there are no bytes
    query: str | None = None
    anatomy: AnatomyFile | None = None
    condition: Condition | None = None


def _open_file(
    path: Path, layout: Layout, encoding: str, gaps: Gaps, condition: Condition | None, limits: Limits
) -> _Opened:
    if layout.form.shape == "anatomy":
        file = AnatomyFile(path, layout, encoding, limits)
        return _Opened(str(path.resolve()), layout, file.pieces(), lambda: file.sha256, anatomy=file)
    if layout.form.container in ("parquet", "arrow"):
        layout, pieces = open_table(path, layout, limits, gaps, condition)
        return _Opened(str(path.resolve()), layout, pieces, lambda: sha256_of(path), condition=condition)
    blocks = TextBlocks(path, encoding, limits)
    text = blocks if condition is None else condition.text_blocks(path, blocks)
    layout, pieces = open_text(path, text, layout, gaps)
    return _Opened(str(path.resolve()), layout, pieces, lambda: blocks.sha256, condition=condition)


def _notes(gathered: Rows, layout: Layout) -> tuple[str, ...]:
    notes = [_told(note, count) for note, count in gathered.notes.items()]
    longest = empty = 0
    for first, last in row_blocks(gathered.offsets):
        offsets = gathered.offsets[first : last + 1]
        codes = gathered.codes[offsets[0] : offsets[-1]]
        if codes.size and codes.min() < 0:  # an empty field fills no row
            offsets = np.append(0, np.cumsum(codes >= 0))[offsets - offsets[0]]
        lengths = np.diff(offsets)
        longest = max(longest, int(lengths.max()))
        empty += int(np.count_nonzero(lengths == 0))
    if layout.format == "basket" and layout.person is None and len(gathered.offsets) > 3 and longest == 1:
        notes.append(f"No line has more than one item. If that is wrong, {layout.delimiter!r} is not the delimiter.")
    if empty:
        many = Count(empty)
        notes.append(
            f"{many:,} {many:transaction is|transactions are} empty; {many:it counts as a person|they count as people}."
        )
    notes += [*suspicious_ids(gathered, layout), *resembling_ids(gathered, layout)]
    return tuple(notes)


def _told(note: str, count: int) -> str:
    text = note.format(Count(count))
    return Doubt(text, note.short) if isinstance(note, Doubt) else text


def _sum_of(data: Transactions) -> str:
    """A hash of the transactions themselves."""
    digest = hashlib.sha256("\0".join(data.names).encode())
    for column in (data.offsets, data.items):
        for first in range(0, len(column), 1 << 20):
            digest.update(np.ascontiguousarray(column[first : first + (1 << 20)]).data)
    return digest.hexdigest()
