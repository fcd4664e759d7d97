"""What the auditor of anatomies has found in a bucket and column, as margins and witnesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset import _native
from veilset.audit.anatomy_cut import VALUE, Cut
from veilset.audit.findings import item_names, shortened
from veilset.exact import at_least
from veilset.models import Margin, Witness
from veilset.transactions import Transactions

_VALUE, _NOTHING, _ITEM, _SENSITIVE = range(4)  # kinds


@dataclass(frozen=True)
class Finding:
    """What is most probable there."""

    kind: int
    itemset: tuple[str, ...]
    rows: int
    """How many have it."""
    probability: Fraction
    bucket: int
    """From 1."""
    size: int
    """Of the bucket."""
    column: tuple[str, ...]
    """Empty where transactions are published whole."""
    by_value: bool
    """Whether having nothing there is a value like others."""

    def margin(self, bound: Fraction) -> Margin:
        """The probability, and where it is met."""
        return Margin(rounded(self.probability, bound), self.itemset, self._sensitive, self.bucket, self.column)

    def witness(self, bound: Fraction) -> Witness:
        """The same, with the reason."""
        sure = rounded(self.probability, bound)
        return Witness(self.itemset, self.rows, self._sensitive, sure, self._reason(), self.bucket, self.column)

    @property
    def _sensitive(self) -> str | None:
        """One sensitive item, if it stands for any."""
        return self.itemset[0] if self.kind == _SENSITIVE else None

    def _reason(self) -> str:
        if not self.column:
            return f"transaction {self.bucket:,} is published whole, as a bucket of its own"
        where, shown = f"of bucket {self.bucket:,}", shortened(self.column)
        if self.kind == _SENSITIVE:
            held = f"{self.rows:,} sensitive value{'s are' if self.rows > 1 else ' is'}"
            why = "; anyone with nothing public has one" if self.probability * self.size > self.rows else ""
            return f"{held} among the {_transactions(self.size)} {where}{why}"
        if self.kind == _NOTHING:
            why = "; anyone with items in the other columns is more likely to"
            likelier = self.probability > Fraction(self.rows, self.size)
            return f"{_of(self.rows, self.size, where)} none of {shown}{why if likelier else ''}"
        among = int(self.rows / self.probability)
        what = "this item" if self.kind == _ITEM else "exactly this"
        if among == self.size:
            return f"{_of(self.rows, among, where)} {what} of {shown}"
        why = "; anyone with nothing in the other columns has something here" if self.by_value else ""
        return f"{_of(self.rows, among, f'{where} with any of {shown}')} {what}{why}"


def _transactions(many: int) -> str:
    return f"{many:,} transaction{'s' * (many > 1)}"


def _of(rows: int, among: int, where: str) -> str:
    if among == 1:
        return f"the only transaction {where} has"
    how_many = f"all {_transactions(among)}" if rows == among else f"{rows:,} of the {_transactions(among)}"
    return f"{how_many} {where} {'has' if rows == 1 else 'have'}"


def rounded(probability: Fraction, bound: Fraction) -> Fraction:
    """Some have thousands of digits. What is rounded up, to millionths, stays within what it is within."""
    return min(at_least(probability), bound) if probability <= bound else at_least(probability)


def findings(data: Transactions, cut: Cut, found: _native.audit._AnatomyFindings) -> Iterator[Finding]:
    """Those of the kernel, with the names of items."""
    sizes = np.diff(cut.starts)
    lists = (found[key].tolist() for key in ("kind", "bucket", "column", "rows", "above", "below", "place"))
    for kind, bucket, number, rows, above, below, place in zip(*lists, strict=True):
        codes: list[int] = [place] if kind == _ITEM else []
        if kind in (_VALUE, _SENSITIVE):
            row = data.items[data.offsets[place] : data.offsets[place + 1]]
            codes = row[cut.column_of[row] == number].tolist()
        yield Finding(
            kind,
            item_names(data, codes),
            rows,
            Fraction(above, below),
            bucket + 1,
            int(sizes[bucket]),
            () if cut.whole else cut.columns[number],
            bool(cut.rules[number] == VALUE),
        )
