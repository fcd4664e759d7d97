"""The auditor of (h,k,p)-coherence for transactions that an engine holds, with the answer of `audit_coherence`.

An itemset belongs to the branch of its rarest item. A *share* is a stretch of branches, first .. end - 1 in the order
from the rarest item to the most frequent one. It is given the rows with one of its items, without all rarer items and
those that fewer than k transactions hold; equal rows come once, with their number. A frequent item is late in the
order, so few items are left in the rows of its branch and most of them are equal: an item that a share f of all
transactions with m items each hold has at most m / f items after it. A branch that may still be too large for one task
is cut by the second items of its itemsets (`shares`).

**Why the answers are the same.** The local auditor goes from level to level; at each, what a branch finds is a function
of (1) the numbering of the items and their supports, (2) the rows that hold its item, projected on that item and later
ones, with their sensitive items, (3) the safe generators of all smaller sizes and (4) the margins of the levels before
(``native/audit/branches.hpp``). Here, (1), (3) and (4) are put together in the driver and given to every share, and (2)
is what the share holds: a projection is a set, so rows that it makes equal may be counted instead of listed, and items
that fewer than k transactions hold are in no safe itemset. The same code looks at each branch
(``native/audit/coherence_share.cpp``). What branches find is put together in their order: numbers are added, safe
generators appended, and of equal margins the first stays. The worst witnesses of everything are among the worst of each
share, since their order is total. So the induction over the levels goes through, with the same verdict, counts,
witnesses and margins.

Where the local auditor saves work, it takes other ways: whole rows instead of itemsets (no sensitive items and p > 2,
or p as large as the longest transaction), and a limit on counting moles once it is known that there are some. The
verdict is the same. So are the moles, except that here all of them are always counted. Margins are the same if the
promise holds, but may name another itemset with the same value; `checked` counts what was looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.audit.coherence import audit_of, reach_from, sensitive_things
from veilset.audit.dealing import costs_of_branches, costs_of_pairs, dealt_rows, survey
from veilset.audit.safe_itemsets import Level, Part, SafeItemsets, needed
from veilset.audit.shares import Shares, shares_of
from veilset.engines import Dealt, Held, Work
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import Audit, Coherence

_TASK, _ADVICE = "The audit", "choose a smaller p."

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
_Bounds = tuple[int, int, int, int]  # the branches and the second items of a share
_Met = tuple[int, int, int, list[int]]  # holders with the sensitive thing, holders, the thing, the itemset


def audit_coherence_spread(data: Held, promise: Coherence, *, witnesses: int, limits: Limits) -> Audit:
    """Whether transactions that an engine holds are (h,k,p)-coherent; *p* must be limited."""
    kind, things = sensitive_things(data.vocabulary, promise)
    totals = data.totals(partial(survey, kind=kind, things=len(things)))
    sizes = totals["sizes"]
    if promise.p is None:
        longest = max(1, len(sizes) - 1)
        raise InvalidArgument(
            f"{said('p', None)} is not audited on an engine yet.",
            f"The longest transaction has {longest} public items, so {said('p', longest)} means the same here.",
        )
    levels = _Levels(promise, kind, totals, len(data), witnesses, limits)
    if levels.feasible:
        levels.run(data)
    limits.step(_step(promise.p), promise.p, promise.p)
    return audit_of(
        data.vocabulary, promise, things, levels.found(), transactions=len(data), reach=reach_from(sizes, promise.p)
    )


def _step(level: int) -> str:
    return f"Checking itemsets of {level} item{'s' * (level > 1)}"


@dataclass
class _Margin:
    """The largest share met, and where."""

    met: _Met = (0, 1, -1, [])

    def merge(self, other: _Met) -> None:
        more = other[0] * self.met[1] > self.met[0] * other[1]
        equal = other[0] * self.met[1] == self.met[0] * other[1]
        # Single items are judged one by one; of those that are equal, the first sensitive thing decides.
        singles = len(self.met[3]) == len(other[3]) == 1
        if more or (equal and singles and other[2] < self.met[2]):
            self.met = other


@dataclass
class _Levels:
    """The audit in the driver: the numbering, the safe generators of each level, what was found."""

    promise: Coherence
    kind: _Codes
    totals: dict[str, _Array]
    transactions: int
    witnesses: int
    limits: Limits
    identity: list[int] = field(default_factory=list)
    attribute: list[int] = field(default_factory=list)
    checked: int = 0
    smallest: tuple[int, list[int]] = (0, [])
    breach: _Margin = field(default_factory=_Margin)
    any: _Margin = field(default_factory=_Margin)
    worst: list[tuple[list[int], int, int, int]] = field(default_factory=list)
    order: _Codes = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        n, share = self.transactions, self.promise.share
        for thing, support in enumerate(self.totals["with"].tolist()):
            self.breach.merge((support, n, thing, []))
        if n:
            self.any.merge((int(self.totals["with_any"][0]), n, -1, []))
        allowed = all(support * share.denominator <= share.numerator * n for support in self.totals["with"].tolist())
        self.feasible = n >= self.promise.k and allowed

    def run(self, data: Held) -> None:
        """Level by level, in shares."""
        supports = self.totals["supports"]
        public = np.flatnonzero((self.kind < 0) & (supports > 0))
        self.order = public[np.argsort(supports[public], kind="stable")].astype(np.int32)
        # Single items without enough holders, and those that give nothing away, are judged without a look at rows.
        first = len(self.order) if self.kind.max(initial=-1) < 0 else self._rank(self.promise.k)
        head = self._look(1, [(0, first, 0, 0)], None)
        rare = self._rank(self.promise.k)
        dealt, shares = self._deal(data, rare)
        safe = SafeItemsets(data, triples=self.promise.p > 3)  # type: ignore[operator]
        try:
            bounds = shares.bounds(np.arange(len(self.order)) - rare, single=True)
            bounds = [(max(begin, first), max(end, first), second, last) for begin, end, second, last in bounds]
            rest = self._look(1, bounds, dealt) if first < len(self.order) else []
            self._absorb([*head, *rest])
            kept = np.asarray(self.order[np.concatenate([share["items"] for share in (*head, *rest)])])
            # What all rows hold is no generator.
            kept = kept[supports[kept] < self.transactions]
            bounds = shares.bounds(self._place(kept) - rare, single=False)
            self.order = kept
            for level in range(2, self.promise.p + 1):  # type: ignore[operator]
                if not len(self.order) or not safe.any_in_last:
                    break
                found = self._look(level, bounds, dealt, safe)
                self._absorb(found)
                if level < self.promise.p:  # type: ignore[operator]
                    safe.add(self._safe_in(found, bounds if level == 2 else None))
        finally:
            dealt.close()
            safe.close()

    def _safe_in(self, found: list[Any], bounds: Sequence[_Bounds] | None) -> Level:
        """The safe itemsets of all shares. Pairs of a branch that is cut are in several shares: these have *bounds*."""
        items, supports, children = (
            np.concatenate([share[name] for share in found]) for name in ("items", "supports", "children")
        )
        self.limits.require(3 * (items.nbytes + supports.nbytes + children.nbytes), _TASK, _ADVICE)
        if bounds is not None:
            branch = np.concatenate([np.arange(first, end) for first, end, _, _ in bounds])
            children = np.bincount(branch, weights=children, minlength=len(self.order)).astype(np.int32)
        return Level(items, supports, children)

    def _rank(self, support: int) -> int:
        """The first place in the order with this support or more."""
        return int(np.searchsorted(self.totals["supports"][self.order], support))

    def _place(self, kept: _Codes) -> _Array:
        """Where the kept items were in the order."""
        place = np.zeros(len(self.kind), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place[kept]

    def _deal(self, data: Held, rare: int) -> tuple[Dealt, Shares]:
        """The rows of each share; the first branch has the item of this rank."""
        rank = np.full(len(self.kind), -1, dtype=np.int32)
        rank[self.order[rare:]] = np.arange(len(self.order) - rare)
        nothing = np.zeros(len(self.order) - rare, np.int64)
        costs = data.totals(partial(costs_of_branches, rank=rank)).get("costs", nothing)

        def pairs(cut: _Codes, group: _Codes) -> _Array:
            self.limits.check_time(_TASK, _ADVICE)
            return data.totals(partial(costs_of_pairs, rank=rank, cut=cut, group=group))["costs"].reshape(len(cut), -1)

        shares = shares_of(costs, int(np.count_nonzero(self.kind >= 0)), data.parallelism, pairs)
        self.limits.check_time(_TASK, _ADVICE)
        deal = partial(dealt_rows, rank=rank, order=self.order[rare:], kind=self.kind, shares=shares)
        return data.dealt(deal, len(shares)), shares

    def _look(
        self, level: int, bounds: Sequence[_Bounds], dealt: Dealt | None, safe: SafeItemsets | None = None
    ) -> list[Any]:
        """What the shares find, in their order."""
        self.limits.check_time(_TASK, _ADVICE)
        self.limits.step(_step(level), level - 1, self.promise.p or level)
        share = self.promise.share
        question = {
            "kind": self.kind,
            "order": self.order,
            "supports": self.totals["supports"][self.order],
            "met": [self.smallest[0], *self.breach.met[:2], *self.any.met[:2]],
            "kinds": int(self.kind.max(initial=-1)) + 1,
            "h_num": share.numerator,
            "h_den": share.denominator,
            "k": self.promise.k,
            "p": self.promise.p,
            "level": level,
            "witness_limit": self.witnesses,
        }
        work = partial(_look_at_share, question=question, bounds=bounds, safe=() if safe is None else safe.parts)
        if dealt is not None:
            return dealt.each(work)
        nothing = Work(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
        return [work(0, nothing)]

    def _absorb(self, found: list[Any]) -> None:
        """Add up what shares found, in their order."""
        self.identity.append(sum(share["identity"] for share in found))
        self.attribute.append(sum(share["attribute"] for share in found))
        for share in found:
            self.checked += share["checked"]
            support, itemset = share["smallest_support"]
            if support and itemset and (not self.smallest[0] or support < self.smallest[0]):
                self.smallest = support, itemset
            self.breach.merge(share["largest_breach"])
            self.any.merge(share["largest_any"])
            offsets, items = share["witness_offsets"].tolist(), share["witness_items"].tolist()
            columns = (share[f"witness_{name}"].tolist() for name in ("support", "sensitive", "with"))
            for number, numbers in enumerate(zip(*columns, strict=True)):
                self.worst.append((items[offsets[number] : offsets[number + 1]], *numbers))
        self.worst = sorted(self.worst, key=self._severity)[: self.witnesses]

    def _severity(self, mole: tuple[list[int], int, int, int]) -> tuple[Fraction, int, list[int]]:
        """The most severe come first: by how many times a limit is exceeded, then fewer items, then their order."""
        itemset, support, sensitive, together = mole
        share = self.promise.share
        excess = (
            Fraction(self.promise.k, support)
            if sensitive < 0
            else Fraction(together * share.denominator, support * share.numerator)
        )
        return -excess, len(itemset), itemset

    def found(self) -> Any:
        """The same as the kernel of the local auditor finds."""
        lengths = [len(itemset) for itemset, _, _, _ in self.worst]
        return {
            "feasible": self.feasible,
            "identity_by_size": self.identity,
            "attribute_by_size": self.attribute,
            "complete": True,
            "checked": self.checked,
            "sensitive_support": self.totals["with"],
            "witness_offsets": np.append(0, np.cumsum(lengths, dtype=np.int64)),
            "witness_items": np.array([code for itemset, _, _, _ in self.worst for code in itemset], dtype=np.int32),
            "witness_support": np.array([mole[1] for mole in self.worst], dtype=np.int64),
            "witness_sensitive": np.array([mole[2] for mole in self.worst], dtype=np.int32),
            "witness_with": np.array([mole[3] for mole in self.worst], dtype=np.int64),
            "smallest_support": self.smallest,
            "largest_breach": self.breach.met,
            "largest_any": self.any.met,
            "exact": (True, True, True),
        }


def _look_at_share(
    number: int, rows: Work, *, question: dict[str, Any], bounds: Sequence[_Bounds], safe: Sequence[Part]
) -> Any:
    """What the branches of one share find at one level."""
    limits = Limits(threads=1)
    first, end, second, second_end = bounds[number]
    levels = needed(safe, first, end, second)
    with limits.guard(_TASK, _ADVICE):
        return _native.audit.coherence_share(
            rows.offsets,
            rows.items,
            rows.weights,
            level_items=[level.items for level in levels],
            level_supports=[level.supports for level in levels],
            level_children=[level.children for level in levels],
            first=first,
            end=end,
            second=second,
            second_end=second_end,
            threads=1,
            **question,
            **limits.for_kernel(lambda _: _TASK),
        )
