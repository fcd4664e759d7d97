"""One search for minimal moles on an engine: rows dealt out once, then one job for each size of itemsets.

An itemset belongs to the branch of its rarest item. A share of the branches is given, in one shuffle, the rows with one
of its items, without rarer ones; equal rows come once, with their number. A branch that is too large for one task is in
parts, by the second items of its itemsets (`shares`). A task walks its branches, given all minimal moles of smaller
sizes, and finds those of the next size (``native/mining/mole_share.cpp``). An itemset that contains no smaller mole and
is none itself is safe. So a share knows which itemsets are minimal without the one subset that belongs to another
branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.engines import Dealt, Held, Work
from veilset.limits import Limits
from veilset.mining.dealing import branch_costs, dealt_alone, dealt_places, pair_costs
from veilset.mining.itemsets import Itemsets
from veilset.mining.miner import Question
from veilset.mining.shares import shares_of

ANY_WORK = 1 << 62
"""Steps: as good as no limit."""
_TASK, _ADVICE = "The search for moles", "choose a smaller p."

_Codes = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.int64]


class TooManySteps(Exception):
    """A search has taken as many steps as it may; `OnEngine` says what that means."""


class _Moles(NamedTuple):
    """Minimal moles of one size: a row of ascending ranks for each, and the supports."""

    ranks: _Codes
    supports: _Numbers


class Search:
    """One search for minimal moles among some safe public items, with at least one that is fresh (None: any).

    *known* are all minimal moles without a fresh one; None: there are none.
    """

    def __init__(
        self,
        held: Held,
        supports: _Numbers,
        items: _Numbers,
        things: _Codes,
        question: Question,
        limits: Limits,
        *,
        fresh: _Codes | None = None,
        known: Itemsets | None = None,
        work: int = ANY_WORK,
    ) -> None:
        self._held, self._question, self._limits, self._work = held, question, limits, work
        items = np.sort(items)
        self._order = items[np.argsort(supports[items], kind="stable")].astype(np.int32)
        self._supports = supports[self._order]
        self._place = np.full(len(supports), -1, dtype=np.int32)
        self._place[self._order] = np.arange(len(items))
        self._place[things] = len(items) + np.arange(len(things))
        self._things = len(things)
        self._known = None if known is None or not len(known) else known
        self._fresh = (np.ones(len(items)) if fresh is None else np.isin(self._order, fresh)).astype(np.uint8)

    def found(self, smallest: int, largest: int, most: int) -> Itemsets | None:
        """The minimal moles of these sizes in the order of `minimal_rare`; None if there are more than *most*.

        It raises `TooManySteps` if that would take more than *work*: as many items as tasks read in all.
        """
        moles: list[_Moles] = []
        if len(self._order) >= smallest <= largest:
            dealt, bounds = self._deal() if largest > 1 else self._deal_alone()
            try:
                for size in range(smallest, largest + 1):
                    level, grows = self._level(dealt, bounds, moles, size, most)
                    if level is None:
                        return None
                    moles.append(level)
                    most -= len(level.supports)
                    if not grows:
                        break
            finally:
                dealt.close()
        return self._in_order(moles)

    def _deal(self) -> tuple[Dealt, _Codes]:
        """The rows of each share, and what it looks at."""

        def pairs(large: _Codes, group: _Numbers) -> _Numbers:
            totals = self._held.totals(partial(pair_costs, place=self._place, large=large, group=group))
            return totals["costs"].reshape(len(large), -1)

        self._limits.check_time(_TASK, _ADVICE)
        totals = self._held.totals(partial(branch_costs, place=self._place, publics=len(self._order)))
        costs = totals.get("costs", np.zeros(len(self._order), np.int64))
        shares = shares_of(costs, self._things, self._held.parallelism, pairs)
        deal = partial(dealt_places, place=self._place, shares=shares, fresh=self._fresh)
        return self._held.dealt(deal, len(shares.bounds)), shares.bounds

    def _deal_alone(self) -> tuple[Dealt, _Codes]:
        """The same for single items: no other public item is needed."""
        shares = shares_of(self._supports, self._things, self._held.parallelism, None)
        deal = partial(dealt_alone, place=self._place, shares=shares)
        return self._held.dealt(deal, len(shares.bounds)), shares.bounds

    def _level(
        self, dealt: Dealt, bounds: _Codes, known: list[_Moles], size: int, most: int
    ) -> tuple[_Moles | None, bool]:
        """The minimal moles of one size (None: more than *most*), and whether there may be larger ones."""
        self._limits.check_time(_TASK, _ADVICE)
        self._limits.step(f"Searching for sets of {size} item{'s' * (size > 1)}")
        known = [*known, *self._known_below(size)]
        lengths = np.concatenate([[0], *(np.full(len(one.supports), one.ranks.shape[1]) for one in known)])
        share = self._question["h"]
        asked = {
            "fresh": self._fresh,
            "known_offsets": np.cumsum(lengths, dtype=np.int64),
            "known_items": np.concatenate([np.zeros(0, np.int32), *(one.ranks.ravel() for one in known)]),
            "things": self._things,
            "h_num": share.numerator,
            "h_den": share.denominator,
            "k": self._question["k"],
            "size": size,
            "most": most,
            "work": self._work,
        }
        answers = dealt.each(partial(_look_at_share, asked=asked, bounds=bounds))
        self._work -= sum(steps for *_, steps in answers)
        if self._work < 0:
            raise TooManySteps
        count = sum(len(supports) for _, supports, *_ in answers)
        if count > most:
            return None, False
        self._limits.require(5 * 4 * size * count, _TASK, _ADVICE)  # the parts, the whole, and both in order
        ranks = np.concatenate([np.zeros(0, np.int32), *(items for items, *_ in answers)]).reshape(-1, size)
        supports = np.concatenate([np.zeros(0, np.int64), *(supports for _, supports, *_ in answers)])
        return _Moles(ranks, supports), any(grows for *_, grows, _ in answers)

    def _known_below(self, size: int) -> list[_Moles]:
        """The moles of smaller sizes that were known before."""
        if self._known is None:
            return []
        found = []
        for smaller in range(2, size):
            moles = self._known[self._known.sizes == smaller]
            ranks = np.sort(self._place[moles.items.reshape(-1, smaller)], axis=1)
            found.append(_Moles(ranks.astype(np.int32), moles.supports))
        return found

    def _in_order(self, moles: list[_Moles]) -> Itemsets:
        """Single items in the order of the vocabulary, pairs by their ranks, then all larger ones as a walk meets them.

        The walk of ``native/mining/moles.hpp`` goes branch by branch. Inside, it reports all itemsets that extend P by
        one item, the rarest first, before it extends P by two, the most frequent first.
        """
        listed = [self._itemsets(one) for one in moles]
        large = [one for one in moles if one.ranks.shape[1] > 2]
        keys = np.zeros((max((one.ranks.shape[1] for one in large), default=1), sum(len(one.ranks) for one in large)))
        begin, behind = 0, len(self._order)
        for one in large:
            end, size = begin + len(one.ranks), one.ranks.shape[1]
            keys[:size, begin:end] = one.ranks.T
            keys[1 : size - 1, begin:end] = 2 * behind - one.ranks.T[1 : size - 1]
            begin = end
        small = [
            itemsets[np.lexsort(one.ranks.T[::-1] if one.ranks.shape[1] > 1 else (self._order[one.ranks[:, 0]],))]
            for one, itemsets in zip(moles, listed, strict=True)
            if one.ranks.shape[1] <= 2
        ]
        walked = [itemsets for one, itemsets in zip(moles, listed, strict=True) if one.ranks.shape[1] > 2]
        together = self._joined(walked)[np.lexsort(keys[::-1])]
        return self._joined([*small, together])

    def _itemsets(self, moles: _Moles) -> Itemsets:
        """In the codes of the vocabulary."""
        codes = np.sort(self._order[moles.ranks], axis=1)
        ends = np.arange(len(codes) + 1, dtype=np.int64) * codes.shape[1]
        return Itemsets(self._held.vocabulary.names, ends, codes.ravel(), moles.supports)

    def _joined(self, parts: Sequence[Itemsets]) -> Itemsets:
        names, nothing = self._held.vocabulary.names, np.zeros(0, dtype=np.int32)
        whole = Itemsets(names, np.zeros(1, np.int64), nothing, np.zeros(0, np.int64))
        for part in parts:
            whole = Itemsets.joined(whole, part)
        return whole


def _look_at_share(
    number: int, rows: Work, *, asked: dict[str, Any], bounds: _Codes
) -> tuple[_Codes, _Numbers, bool, int]:
    """The minimal moles of one size in the branches of one share."""
    limits = Limits(threads=1)
    first, end, second, second_end = bounds[number].tolist()
    with limits.guard(_TASK, _ADVICE):
        return _native.mining.mole_share(
            rows.offsets,
            rows.items,
            rows.weights,
            first=first,
            end=end,
            second=second,
            second_end=second_end,
            **asked,
            **limits.for_kernel(lambda _: _TASK),
        )
