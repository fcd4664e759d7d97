"""What methods ask of transactions that an engine holds: the answers of `InMemory`.

All counting happens where the transactions lie, in passes over all of them or in searches over shares of their rows
(`spread_search`). Only numbers of items and lists of moles come to the driver. A list is put into the order of
`minimal_rare`, because a local search depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Held
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.mining.class_rounds import kept_in_classes
from veilset.mining.dealing import counted, counted_around, counted_beside
from veilset.mining.itemsets import Itemsets
from veilset.mining.listed import Listed
from veilset.mining.miner import Question, limits_of
from veilset.mining.spread_search import ANY_WORK, Search, TooManySteps
from veilset.transactions import Transactions

MOST_MOLES = 5_000_000
"""No longer list of moles comes to the driver."""
FIRST_BLOCK = 256
"""Items that are looked at together when items return; more and more, as long as the moles among them can be listed."""

_STEPS, _STEPS_EACH = 10_000_000_000, 1000
"""What a search may take in all, and besides for each item of a transaction, where any number may be known."""

_Codes = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.int64]


class OnEngine:
    """What methods ask of transactions that an engine holds.

    *any_number*: where an attacker may know any number of items, dense data has sets of items without end. Then a
    search stops after a number of steps, with `BudgetExceeded`.
    """

    in_time = False

    def __init__(self, held: Held, *, any_number: bool = False) -> None:
        self._held = held
        self._any_number = any_number
        self._data = held.vocabulary
        self._alone: dict[tuple[int, Any], Itemsets] = {}
        self._listed: dict[tuple[int, Any, int | None], Listed] = {}

    @cached_property
    def supports(self) -> _Numbers:
        """For each item, the number of transactions that hold it."""
        return self._filled(self._held.totals(partial(counted, among=self._data.is_sensitive == 0)))

    def longest(self, items: Collection[str]) -> int:
        """How many of these items a transaction has at most."""
        among = np.zeros(len(self._data.names), dtype=bool)
        among[self._data.codes(items)] = True
        return len(self._held.totals(partial(counted, among=among))["sizes"]) - 1 if len(self._held) else 0

    def beside(self, itemset: Sequence[str]) -> _Numbers:
        """For each item, how many of the transactions with all of *itemset* hold it."""
        if not itemset:
            return self.supports
        codes = self._data.codes(itemset).astype(np.int32)
        return self._filled(self._held.totals(partial(counted_beside, itemset=codes, items=len(self._data.names))))

    def moles(self, question: Question, items: Collection[str] | None = None) -> Itemsets:
        """The minimal moles made of *items*; `BudgetExceeded` if there are more than `MOST_MOLES`."""
        return self._no_more(self.few_moles(question, MOST_MOLES, items))

    def _no_more(self, found: Itemsets | None) -> Itemsets:
        if found is None:
            raise BudgetExceeded(
                f"More than {MOST_MOLES:,} sets of items break the promise: too many to list on an engine.",
                "Use the method auto, or choose a smaller p or k.",
            )
        return found

    def few_moles(self, question: Question, most: int, items: Collection[str] | None = None) -> Itemsets | None:
        """The minimal moles made of *items* if there are no more than *most*; else None."""
        limits = limits_of(question)
        size = self._largest(question)
        asked = np.arange(len(self._data.names)) if items is None else self._data.codes(items)
        alone = self._single(question, limits)
        first = alone[np.isin(alone.items, asked)]
        if len(first) > most:
            return None
        if size < 2 or self._nothing_to_find(question):
            return first
        left = np.setdiff1d(asked[self._data.is_sensitive[asked] == 0], alone.items)
        search = Search(self._held, self.supports, left, self._things(question), question, limits, work=self._work)
        try:
            larger = search.found(2, size, most - len(first))
        except TooManySteps:
            raise _too_many_steps() from None
        return None if larger is None else Itemsets.joined(first, larger)

    def first_mole(self, question: Question, items: Collection[str]) -> tuple[str, ...] | None:
        """The first minimal mole made of *items*; None: there is none."""
        found = self.moles(question, items)
        return found[0][0] if len(found) else None

    def items_in_moles(self, question: Question, without: Collection[str]) -> tuple[str, ...]:
        """The public items in any mole, minimal or not, if those of *without* are left out."""
        data = self._data
        moles = self.moles(question, data.in_order(set(data.public).difference(without)))
        in_any = np.zeros(len(data.names), dtype=bool)
        in_any[moles.items] = True
        # A mole with any other item of the same transaction is one, too.
        small = moles[moles.sizes < self._largest(question)]
        if len(small):
            rarest_first = np.lexsort((self.supports[small.items], np.repeat(np.arange(len(small)), small.sizes)))
            around = partial(
                counted_around, offsets=small.offsets, itemsets=small.items[rarest_first], items=len(data.names)
            )
            in_any |= self._filled(self._held.totals(around)) > 0
        in_any[data.is_sensitive == 1] = False
        in_any[data.codes(without)] = False
        return tuple(data.names[code] for code in np.flatnonzero(in_any).tolist())

    def returning(self, question: Question, kept: Collection[str], asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those of *kept*, which have no mole, and those that joined; asked in this order.

        Decided for blocks of items, each by a list of the minimal moles in what is kept and the block.
        """
        limits = limits_of(question)
        codes, things = self._data.codes(asked).astype(np.int32), self._things(question)
        inside = self._data.codes(kept).astype(np.int32)
        decided: dict[int, bool] = {}
        block = FIRST_BLOCK

        def may_join(item: str) -> bool:
            nonlocal inside, block
            code = int(self._data.codes([item])[0])
            while code not in decided:
                next_ones = codes[len(decided) : len(decided) + block]
                both = np.concatenate([inside, next_ones]).astype(np.int64)
                search = Search(
                    self._held, self.supports, both, things, question, limits, fresh=next_ones, work=self._work
                )
                try:  # of one item, whether there is a mole is all that matters
                    moles = search.found(2, self._largest(question), MOST_MOLES if len(next_ones) > 1 else 0)
                except TooManySteps:
                    if len(next_ones) == 1:
                        raise _too_many_steps() from None
                    moles = None
                if moles is None and len(next_ones) > 1:
                    block = max(1, len(next_ones) // 2)
                    continue
                joined = next_ones[:0] if moles is None else self._joined(moles, inside, next_ones, limits)
                decided.update((one, False) for one in next_ones.tolist())
                decided.update((one, True) for one in joined.tolist())
                inside = np.concatenate([inside, joined])
                block = 2 * len(next_ones)
            return decided[code]

        return may_join

    def keeping(self, question: Question) -> Listed:
        """No items so far, and whether one more would bring a mole: asked of a list of minimal moles.

        What is asked next for the same question knows the list of what was asked before.
        """
        key = question["k"], question["h"], question["max_size"]
        if key not in self._listed:
            limits, things, size = limits_of(question), self._things(question), self._largest(question)
            alone = self._single(question, limits)
            safe = np.setdiff1d(np.flatnonzero(self._data.is_sensitive == 0), alone.items)
            none_larger, asked = self._nothing_to_find(question), question.copy()

            def find(inside: _Numbers, fresh: _Numbers, known: Itemsets, most: int) -> Itemsets | None:
                if none_larger:
                    return alone[:0]
                both = np.concatenate([inside, fresh])
                new = fresh.astype(np.int32)
                search = Search(
                    self._held, self.supports, both, things, asked, limits, fresh=new, known=known, work=self._work
                )
                try:
                    return search.found(2, size, most)
                except TooManySteps:
                    raise _too_many_steps() from None

            by_support = safe[np.argsort(-self.supports[safe], kind="stable")]
            self._listed[key] = Listed(self._data, by_support, find, MOST_MOLES)
        self._listed[key].clear()
        return self._listed[key]

    def replaced(self, code: _Codes, vocabulary: Transactions, limits: Limits) -> OnEngine:
        """Who counts in the same transactions with other items; they are changed where they lie."""
        return OnEngine(self._held.changed(code, vocabulary), any_number=self._any_number)

    def _joined(self, moles: Itemsets, inside: _Codes, block: _Codes, limits: Limits) -> _Codes:
        """Those of the block that can join one after the other."""
        nothing = np.zeros(len(self._data.names), dtype=np.uint8)
        weight = np.ones(len(self._data.names), dtype=np.int64)
        with limits.guard("Putting items back", "choose a smaller p."):
            cover = _native.mining.MoleCover(
                moles.offsets, moles.items, weight, nothing, memory_limit=limits.bytes_left()
            )
        cover.insert(inside)
        cover.insert(block)
        joined: _Codes = block[cover.kept()[block] == 1]
        return joined

    def splitting(self, question: Question, asked: Sequence[str]) -> Callable[[str], bool]:
        """Whether an item may join those that joined if equal transactions of these are k at least."""
        stays = kept_in_classes(self._held, question, self._data.codes(asked).astype(np.int32), limits_of(question))
        return {name: name in stays for name in asked}.__getitem__

    @cached_property
    def _work(self) -> int:
        return _STEPS + _STEPS_EACH * int(self.supports.sum()) if self._any_number else ANY_WORK

    @cached_property
    def _longest(self) -> int:
        return self.longest(self._data.public)

    def _filled(self, totals: dict[str, _Numbers]) -> _Numbers:
        found = totals.get("supports", np.zeros(0, dtype=np.int64))
        return np.append(found, np.zeros(len(self._data.names) - len(found), dtype=np.int64))

    def _largest(self, question: Question) -> int:
        """The size of the largest itemsets that are asked for."""
        return self._longest if question["max_size"] is None else question["max_size"]

    def _things(self, question: Question) -> _Codes:
        """The sensitive items that occur, unless any confidence in them is allowed."""
        if question["h"] >= 1:
            return np.zeros(0, dtype=np.int32)
        return np.flatnonzero((self._data.is_sensitive == 1) & (self.supports > 0)).astype(np.int32)

    def _nothing_to_find(self, question: Question) -> bool:
        """Whether nothing can be a mole, or the empty itemset is one, so that no other is minimal."""
        k, h, rows = question["k"], question["h"], len(self._held)
        most = int(self.supports[self._data.is_sensitive == 1].max(initial=0))
        return (k <= 1 and h >= 1) or rows < k or most > h * rows

    def _single(self, question: Question, limits: Limits) -> Itemsets:
        """The minimal moles of one item."""
        key = question["k"], question["h"]
        if key not in self._alone:
            self._alone[key] = self._judged_alone(question, limits)
        return self._alone[key]

    def _judged_alone(self, question: Question, limits: Limits) -> Itemsets:
        public = np.flatnonzero((self._data.is_sensitive == 0) & (self.supports > 0))
        if self._nothing_to_find(question):
            public = public[:0]
        codes = rare = public[self.supports[public] < question["k"]]
        things = self._things(question)
        if len(things):
            others = np.setdiff1d(public, rare)
            found = Search(self._held, self.supports, others, things, question, limits).found(1, 1, len(others))
            codes = np.sort(np.concatenate([rare, self._no_more(found).items]))
        ends = np.arange(len(codes) + 1, dtype=np.int64)
        return Itemsets(self._data.names, ends, codes.astype(np.int32), self.supports[codes])


def _too_many_steps() -> BudgetExceeded:
    return BudgetExceeded(
        "Whether larger sets of items break the promise takes too many steps to find out on an engine.",
        "Use the method k-anonymity, or a limited p.",
    )
