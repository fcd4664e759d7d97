"""Minimal moles, the items that occur in moles, and whether one more item brings a mole (thesis §4.3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset import _native
from veilset.engines import Held
from veilset.errors import said
from veilset.exact import check_whole, exact_share
from veilset.limits import Bounds, Limits
from veilset.mining.counting import supports
from veilset.mining.frequent_itemsets import LARGEST, allowed
from veilset.mining.itemsets import Itemsets, Selection
from veilset.mining.rare_spread import rare_on_engine
from veilset.transactions import Transactions, check_transactions
from veilset.views import MOST_ROWS, Shown, Summary, Tabular, by_size, listed

_TASK, _ADVICE = "The search for moles", f"use smaller itemsets ({said('p')} or {said('max_size')})."
_EVERYTHING = 2**62


class Mole(NamedTuple):
    """A minimal mole."""

    items: tuple[str, ...]
    support: int
    breach: Fraction
    "The largest share of a sensitive item among the transactions that hold this itemset or any subset of it."
    sensitive: str | None
    "The sensitive item behind it."


@dataclass(frozen=True, eq=False, repr=False)
class Moles(Shown, Tabular):
    """Minimal moles as arrays; iterates as `Mole`, slices like `Itemsets`.

    The breach probability of mole i is ``breach_with[i] / breach_of[i]``, that of the item ``names[sensitive[i]]``; the
    three arrays are empty if the data has no sensitive items.
    """

    itemsets: Itemsets
    breach_with: npt.NDArray[np.int32]
    breach_of: npt.NDArray[np.int32]
    sensitive: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.itemsets)

    @property
    def by_size(self) -> tuple[int, ...]:
        """How many there are of one item, of two items, and so on."""
        return self.itemsets.by_size

    @property
    def supports(self) -> npt.NDArray[np.int64]:
        """The support of each."""
        return self.itemsets.supports

    def __iter__(self) -> Iterator[Mole]:
        for i, (items, support) in enumerate(self.itemsets):
            breach, code = Fraction(0), -1
            if len(self.sensitive):
                breach, code = Fraction(int(self.breach_with[i]), int(self.breach_of[i])), int(self.sensitive[i])
            yield Mole(items, support, breach, self.itemsets.names[code] if code >= 0 else None)

    @overload
    def __getitem__(self, which: int) -> Mole: ...
    @overload
    def __getitem__(self, which: Selection) -> Moles: ...
    def __getitem__(self, which: int | Selection) -> Mole | Moles:
        """One as `Mole`, or several as `Moles`: a slice, a mask or an array of positions."""
        if isinstance(which, (int, np.integer)):
            at = range(len(self))[which]
            return next(iter(self[at : at + 1]))
        if len(self.sensitive) == 0:
            return Moles(self.itemsets[which], self.breach_with, self.breach_of, self.sensitive)
        return Moles(self.itemsets[which], self.breach_with[which], self.breach_of[which], self.sensitive[which])

    def to_lists(self) -> list[tuple[list[str], int, Fraction, str | None]]:
        """(names, support, breach probability, sensitive item) of each."""
        return [(list(items), support, breach, sensitive) for items, support, breach, sensitive in self]

    def to_arrow(self) -> pa.Table:
        """A table with the columns ``items``, ``support``, ``breach`` and ``sensitive``."""
        if len(self.sensitive) == 0:
            breach, sensitive = pa.array(np.zeros(len(self))), pa.nulls(len(self), pa.string())
        else:
            breach = pa.array(self.breach_with / self.breach_of)
            names = np.array([*self.itemsets.names, None], dtype=object)
            sensitive = pa.array(names[self.sensitive], pa.string())
        return self.itemsets.to_arrow().append_column("breach", breach).append_column("sensitive", sensitive)

    def _summary(self) -> Summary:
        rows = [
            (
                listed(mole.items),
                f"{mole.support:,}",
                "" if mole.sensitive is None else f"{mole.breach} {mole.sensitive}",
            )
            for mole in self[:MOST_ROWS]
        ]
        notes, facts = [by_size(self.by_size)] if rows else [], [(len(self), "minimal mole(s)")]
        head = ("items", "support", "breach")
        return Summary("Moles", facts=facts, notes=notes, head=head, rows=rows, count=len(self))


def minimal_rare(
    data: Transactions | Held,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    include_absent: bool = False,
    **bounds: Unpack[Bounds],
) -> Moles:
    """All minimal moles: occurring public itemsets with support below *k*, or that imply a sensitive item with a
    confidence above *h*, while no proper subset does either.

    Subsets include the empty one: if an attacker who knows nothing already breaks *k* or *h*, no itemset is minimal,
    and the result is empty. Single items come first, then pairs, then larger ones.

    Parameters
    ----------
    data : Transactions
        Or transactions that an engine holds, without sensitive items: then at most 5 million moles.
    k : int
        Itemsets that fewer transactions contain are moles.
    h : float, str or Fraction
        Itemsets that imply a sensitive item with higher confidence are moles too.
    max_size : int, optional
        Maximum number of items; None: any number.
    items : iterable of str, optional
        Only itemsets of these public items.
    include_absent : bool
        Include itemsets that no transaction contains, if transactions contain each of their subsets.

    Examples
    --------
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]])
    >>> [mole.items for mole in minimal_rare(data, 2)]
    [('a', 'c'), ('b', 'c')]
    """
    limits = Limits(**bounds)
    question = _question(k, h, max_size)
    if isinstance(data, Held):
        found = rare_on_engine(
            data, question["k"], question["p"] or None, items, include_absent=include_absent, limits=limits
        )
        return Moles(found, *[np.zeros(0, dtype=np.int32)] * 3)
    check_transactions(data)
    with limits.guard(_TASK, _ADVICE):
        return _moles(data, *_search(data, question, items, limits, absent=include_absent).next(_EVERYTHING))


def minimal_rare_chunks(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    items: Iterable[str] | None = None,
    include_absent: bool = False,
    chunk_size: int = 1_000_000,
    **bounds: Unpack[Bounds],
) -> Iterator[Moles]:
    """`minimal_rare` in chunks of *chunk_size*, found one after the other: together they need not fit into memory.

    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]])
    >>> [len(chunk) for chunk in minimal_rare_chunks(data, 3, chunk_size=2)]
    [1]
    """
    check_transactions(data)
    limits = Limits(**bounds)
    question = _question(k, h, max_size)
    check_whole(chunk_size, "chunk_size", "Give a whole number of at least 1.")

    def chunks() -> Iterator[Moles]:
        with limits.guard(_TASK, _ADVICE):
            search = _search(data, question, items, limits, absent=include_absent)
            found, at = _moles(data, *search.next(min(chunk_size, _EVERYTHING))), 0
        while at < len(found):
            yield found[at : at + chunk_size]
            at = min(at + chunk_size, len(found))
            if len(found) - at < chunk_size:
                with limits.guard(_TASK, _ADVICE):
                    found, at = _joined(found[at:], _moles(data, *search.next(min(chunk_size, _EVERYTHING)))), 0

    return chunks()


def items_in_moles(
    data: Transactions,
    k: int,
    *,
    h: float | str | Fraction = 1,
    max_size: int | None = None,
    **bounds: Unpack[Bounds],
) -> tuple[str, ...]:
    """The public items that occur in any mole of up to *max_size* items, minimal or not, in vocabulary order."""
    check_transactions(data)
    limits = Limits(**bounds)
    question = _question(k, h, max_size)
    public = data.only(data.public) if data.sensitive else data
    if exact_share(h, "h") == 1 and (max_size is None or max_size >= public.lengths.max(initial=0)):
        return _items_of_rare_rows(public, k, limits)
    with limits.guard(_TASK, _ADVICE):
        mask = _search(data, question, None, limits, mark=True).items_in_moles()
    return tuple(data.names[i] for i in np.flatnonzero(mask).tolist())


def _items_of_rare_rows(public: Transactions, k: int, limits: Limits) -> tuple[str, ...]:
    """With h = 1 and no limit on the size, a transaction that contains a mole is a mole itself: no search is needed."""
    if len(public) < k:
        return ()
    rows = list(dict.fromkeys(row for row in public if row))
    held = supports(public, rows, **limits.bounds())
    return public.in_order(
        {item for row, support in zip(rows, held.tolist(), strict=True) if support < k for item in row}
    )


class Keeping:
    """A set of public items without moles, which says whether one more item would add a mole."""

    def __init__(
        self,
        data: Transactions,
        k: int,
        *,
        h: float | str | Fraction = 1,
        max_size: int | None = None,
        **bounds: Unpack[Bounds],
    ) -> None:
        self._data = data
        self._limits = Limits(**bounds)
        # The rows of every item, 4 bytes each, and a few numbers for every item.
        self._limits.require(4 * len(data.items) + 32 * len(data.names), _TASK, _ADVICE)
        self._memory_limit = self._limits.bytes_left()
        self._kept = _native.mining.Keeping(data.offsets, data.items, data.is_sensitive, **_question(k, h, max_size))

    def keep(self, item: str) -> None:
        """Add an item to the set."""
        self._kept.keep(int(self._data.codes([item])[0]))

    def drop(self, item: str) -> None:
        """Remove an item from the set."""
        self._kept.drop(int(self._data.codes([item])[0]))

    def brings_mole(self, item: str) -> bool:
        """Whether *item* with up to ``max_size - 1`` kept items is a mole."""
        with self._limits.guard(_TASK, _ADVICE):
            return self._kept.brings_mole(
                int(self._data.codes([item])[0]),
                memory_limit=self._memory_limit,
                time_limit=self._limits.seconds_left(),
            )


class _Question(TypedDict):
    h_num: int
    h_den: int
    k: int
    p: int


def _question(k: int, h: float | str | Fraction, max_size: int | None) -> _Question:
    share = exact_share(h, "h")
    check_whole(k, "k", "Give a whole number of at least 1.")
    any_size = "Give a whole number of at least 1, or None for itemsets of any size."
    check_whole(max_size, "max_size", any_size, may_be_none=True)
    return {
        "h_num": share.numerator,
        "h_den": share.denominator,
        "k": min(k, LARGEST),
        "p": min(max_size or 0, LARGEST),
    }


def _search(
    data: Transactions,
    question: _Question,
    items: Iterable[str] | None,
    limits: Limits,
    *,
    absent: bool = False,
    mark: bool = False,
) -> _native.mining.MoleSearch:
    return _native.mining.MoleSearch(
        data.offsets,
        data.items,
        data.is_sensitive,
        allowed(data, items),
        **question,
        absent=absent,
        mark=mark,
        threads=limits.thread_count,
        **limits.for_kernel(_stage),
    )


def _stage(stage: int) -> str:
    return ("Reading the transactions", "Searching for pairs", "Searching for larger itemsets")[stage]


def _moles(
    data: Transactions,
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    supports: npt.NDArray[np.int32],
    *breach: npt.NDArray[np.int32],
) -> Moles:
    return Moles(Itemsets(data.names, offsets, items, supports.astype(np.int64)), *breach)


def _joined(first: Moles, second: Moles) -> Moles:
    return Moles(
        Itemsets.joined(first.itemsets, second.itemsets),
        np.concatenate([first.breach_with, second.breach_with]),
        np.concatenate([first.breach_of, second.breach_of]),
        np.concatenate([first.sensitive, second.sensitive]),
    )
