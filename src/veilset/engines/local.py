"""This process as an engine: transactions in memory, cut into pieces.

Nobody needs it to audit `Transactions`, which have auditors that need no pieces. It shows that an algorithm written for
any engine gives their answers, without a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.engines.engine import Deal, Mark, Measure, Numbers, Piece, Result, Thin, Thing, Value, Work
from veilset.engines.rows import added, changed, grouped, numbered, only, packed, thinned, united
from veilset.limits import Limits
from veilset.transactions import Reading, Transactions, joined, read


class Local:
    """The engine of this process.

    Parameters
    ----------
    pieces : int
        Into how many pieces transactions are cut.

    Examples
    --------
    >>> import veilset as vs
    >>> held = Local(pieces=2).read(vs.Transactions.from_lists([["a", "b"], ["a"]]))
    >>> len(held), held.vocabulary.names
    (2, ('a', 'b'))
    """

    def __init__(self, *, pieces: int = 1) -> None:
        self._pieces = pieces

    @property
    def told(self) -> Mapping[str, str]:
        """Its name."""
        return {"engine": "in-process"}

    def each(self, things: Sequence[Thing], work: Callable[[Thing], Result]) -> list[Result]:
        """What *work* returns for each thing."""
        return [work(thing) for thing in things]

    def gathered(self, things: Sequence[Thing], rows: Callable[[Thing], Transactions]) -> LocalHeld:
        """The transactions of all things."""
        return self.read(joined(map(rows, things), Limits()))

    def read(self, source: Any, *, sensitive: Iterable[str | int] = (), **how: Any) -> LocalHeld:
        """Transactions of any source that `veilset.read` takes, or `Transactions`."""
        if not isinstance(source, Transactions):
            source = read(source, sensitive=sensitive, **how)
        rows, origin = Piece(source.offsets, source.items), Reading.of(source)
        return LocalHeld(rows, vocabulary_of(source), self._pieces, origin)


class LookedUp(NamedTuple):
    """Rows to look at, where their items stand among all, and the number of each in its kind."""

    rows: Piece
    places: Numbers
    numbers: Numbers


class LocalHeld:
    """Transactions in memory, in pieces."""

    def __init__(self, rows: Piece, vocabulary: Transactions, pieces: int, origin: Reading) -> None:
        self._rows, self.vocabulary, self.parallelism, self.origin = rows, vocabulary, pieces, origin

    def __len__(self) -> int:
        return len(self._rows.offsets) - 1

    @property
    def engine(self) -> Local:
        """This process."""
        return Local(pieces=self.parallelism)

    def marked(self, sensitive: Collection[str]) -> LocalHeld:
        """The same with these items sensitive."""
        return LocalHeld(self._rows, self.vocabulary.marked(sensitive), self.parallelism, self.origin)

    def to_transactions(self) -> Transactions:
        """What is held, as transactions that need no engine."""
        names, sensitive = self.vocabulary.names, self.vocabulary.sensitive
        return Transactions.from_codes(*self._rows, names, sensitive=sensitive)

    def close(self) -> None:
        """They are forgotten with this object."""

    def _pieces(self) -> Iterator[Piece]:
        offsets, items = self._rows
        for rows in np.array_split(np.arange(len(self)), self.parallelism):
            if len(rows):
                ends = offsets[rows[0] : rows[-1] + 2]
                yield Piece(ends - ends[0], items[ends[0] : ends[-1]])

    def changed(self, code: npt.NDArray[np.int32], vocabulary: Transactions) -> LocalHeld:
        """The same transactions with other codes."""
        rows = changed(self._rows, code, len(vocabulary.names))
        return LocalHeld(rows, vocabulary, self.parallelism, self.origin)

    def thinned(self, mark: Mark, thin: Thin) -> LocalHeld:
        """The same transactions without some occurrences."""
        kept = self.kept(self.looked_up(mark), thin)
        return LocalHeld(thinned(self._rows, kept), self.vocabulary, self.parallelism, self.origin)

    def looked_up(self, mark: Mark) -> LookedUp:
        """The rows that *mark* tells, with their numbers in their kinds."""
        rows, kinds, first = [np.zeros(0, dtype=np.int64)], [_NOTHING], 0
        for piece in self._pieces():
            marked, kind = mark(piece)
            rows.append(marked + first)
            kinds.append(packed(*kind))
            first += len(piece.offsets) - 1
        found = np.concatenate(rows)
        mine = only(self._rows, found)
        there = np.repeat(self._rows.offsets[found] - mine.offsets[:-1], np.diff(mine.offsets))
        return LookedUp(mine, np.arange(len(mine.items)) + there, numbered(pa.concat_arrays(kinds), packed(*mine)))

    def kept(self, rows: LookedUp, thin: Thin) -> npt.NDArray[np.bool_]:
        """Which occurrences are left when *thin* has looked at these rows."""
        kept = np.ones(len(self._rows.items), dtype=bool)
        kept[rows.places] = thin(rows.rows, rows.numbers)
        return kept

    def totals(self, measure: Measure) -> dict[str, Numbers]:
        """The sums over all pieces."""
        sums: dict[str, Numbers] = {}
        for piece in self._pieces():
            added(sums, dict(measure(piece)))
        return sums

    def shared(self, value: Value) -> LocalShared[Value]:
        """A value for work on shares."""
        return LocalShared(value)

    def dealt(self, deal: Deal, shares: int) -> LocalDealt:
        """The rows of each share."""
        found = LocalDealt(shares)
        for piece in self._pieces():
            found.take(*deal(piece))
        return found


@dataclass
class LocalShared(Generic[Value]):
    """A value of this process."""

    value: Value

    def open(self) -> Value:
        """The value."""
        return self.value

    def close(self) -> None:
        """It goes when nobody has it any more."""


class LocalDealt:
    """Rows dealt out to shares, in memory."""

    def __init__(self, shares: int) -> None:
        self._rows: list[list[Any]] = [[] for _ in range(shares)]

    def take(self, offsets: Numbers, values: Any) -> None:
        """Add rows whose first value is their share."""
        shares, rows, weights = grouped(offsets, values)
        for share in np.unique(shares).tolist():
            mine = pa.array(shares == share)
            self._rows[share].append(pa.table({"row": rows.filter(mine), "weight": weights.filter(mine)}))

    def each(self, work: Callable[[int, Work], Result]) -> list[Result]:
        """What *work* returns for each share."""
        return [work(share, united(parts)) for share, parts in enumerate(self._rows)]

    def close(self) -> None:
        """Forget the rows."""
        self._rows = []


_NOTHING = packed(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))


def vocabulary_of(data: Transactions) -> Transactions:
    """One transaction with every item."""
    everything = np.array([0, len(data.names)], dtype=np.int64), np.arange(len(data.names), dtype=np.int32)
    return Transactions.from_codes(*everything, data.names, sensitive=data.sensitive)
