"""What an algorithm needs from a place of computation: totals over all rows, and work on shares of rows.

Transactions lie there in pieces that nobody sees as a whole. The algorithm hands over functions of one piece or one
share; what they return is small, and is put together in the driver in a fixed order. A function may run more than once
on the same rows, in another process or on another machine, so it is picklable and depends on nothing but its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from veilset.transactions import Reading, Transactions

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Value = TypeVar("Value")
Opened_co = TypeVar("Opened_co", covariant=True)
Numbers = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """Some rows as codes of the vocabulary: row r holds ``items[offsets[r]:offsets[r + 1]]``, without repetitions."""

    offsets: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]


class Work(NamedTuple):
    """The different rows of a share, and for how many transactions each stands."""

    offsets: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


Measure = Callable[[Piece], Mapping[str, Numbers]]
"""Numbers of a piece. Those of the same name are added up; a shorter array counts as filled up with zeros."""

Deal = Callable[[Piece], tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]
"""Rows for shares, as offsets and values: the first value of a row is its share, the others are codes."""


Mark = Callable[[Piece], tuple[Numbers, Piece]]
"""Which rows of a piece are to be looked at, by their numbers, which ascend, and the kind of each, as codes."""

Thin = Callable[[Piece, Numbers], npt.NDArray[np.bool_]]
"""Which occurrences of some rows are kept; the numbers tell for each row which one of its kind it is."""


class Dealt(Protocol):
    """Rows dealt out to shares."""

    def each(self, work: Callable[[int, Work], Result]) -> list[Result]:
        """What *work* returns for each share, in their order; the share has its number and its rows."""

    def close(self) -> None:
        """Forget the rows."""


class Shared(Protocol[Opened_co]):
    """A value that lies where tasks can open it. It is sent out once, and takes memory only while it is open."""

    def open(self) -> Opened_co:
        """The value."""

    def close(self) -> None:
        """Forget it. Nobody opens it again."""


@runtime_checkable
class Held(Protocol):
    """Transactions that an engine holds."""

    @property
    def vocabulary(self) -> Transactions:
        """One transaction with every item that occurs: their names, order and roles, for code that asks for these."""

    @property
    def engine(self) -> Engine:
        """Where they lie."""

    @property
    def origin(self) -> Reading:
        """What reads them again; without a path, nothing does."""

    @property
    def parallelism(self) -> int:
        """How many shares are worked on at once."""

    def marked(self, sensitive: Collection[str]) -> Held:
        """The same with the items of exactly these names sensitive, and no others."""

    def totals(self, measure: Measure) -> dict[str, Numbers]:
        """The sums of *measure* over all pieces."""

    def changed(self, code: npt.NDArray[np.int32], vocabulary: Transactions) -> Held:
        """The same transactions with each item replaced by that of *vocabulary* with this code; -1: without it.

        A row of codes for an item: it is replaced by all of these. Items that become the same are one. Transactions are
        changed where they lie, when they are read.
        """

    def thinned(self, mark: Mark, thin: Thin) -> Held:
        """The same transactions without some occurrences in rows that *mark* tells; all others stay as they are.

        Rows of the same kind are numbered from 0 on, in the order of their bytes. So the rows that come out depend on
        those that are there, not on where they lie. Which of them is which is not known any more.
        """

    def dealt(self, deal: Deal, shares: int) -> Dealt:
        """The rows that *deal* makes of each piece, brought together by share; equal rows become one with a weight."""

    def shared(self, value: Value) -> Shared[Value]:
        """A value for work on shares."""

    def close(self) -> None:
        """Let the engine forget them; what is asked of them afterwards has to be read again."""

    def __len__(self) -> int:
        """The number of transactions."""


class Engine(Protocol):
    """A place of computation."""

    @property
    def told(self) -> Mapping[str, str]:
        """What a recipe says of it: its name as ``engine``, and where it is."""

    def read(self, source: Any, *, sensitive: Iterable[str | int] = ()) -> Held:
        """Transactions of a source, held there."""

    def each(self, things: Sequence[Thing], work: Callable[[Thing], Result]) -> list[Result]:
        """What *work* returns for each of a few things, in their order; it is done there."""

    def gathered(self, things: Sequence[Thing], rows: Callable[[Thing], Transactions]) -> Held:
        """The transactions that *rows* finds for each thing, looked up and held there."""
