"""The audit of coherence on an engine, level by level: what the driver knows, and what it asks shares of branches.

`coherence_spread` explains it, and says which levels are looked at.
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
from veilset.audit.dealing import costs_of_branches, costs_of_pairs, dealt_rows
from veilset.audit.safe_itemsets import Level, Part, SafeItemsets, needed
from veilset.audit.shares import Shares, shares_of
from veilset.audit.whole_rows import Inferred, Mole
from veilset.engines import Dealt, Held, Work
from veilset.limits import Limits
from veilset.models import Coherence

_TASK, _ADVICE = "The audit", "choose a smaller p."
ANY_WORK = 1 << 62
"""Steps: as good as no limit."""
_BESIDES = 4  # passes that look at whole rows

_Array = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.int32]
_Bounds = tuple[int, int, int, int]  # the branches and the second items of a share
_Met = tuple[int, int, int, list[int]]  # holders with the sensitive thing, holders, the thing, the itemset


def step_of(level: int) -> str:
    """What is done at a level."""
    return f"Checking itemsets of {level} item{'s' * (level > 1)}"


@dataclass
class ShareMargin:
    """The largest share met, and where."""

    met: _Met = (0, 1, -1, [])

    def merge(self, other: _Met) -> None:
        """Keep the larger one; of equal ones, the first."""
        more = other[0] * self.met[1] > self.met[0] * other[1]
        equal = other[0] * self.met[1] == self.met[0] * other[1]
        # Single items are judged one by one; of those that are equal, the first sensitive thing decides.
        singles = len(self.met[3]) == len(other[3]) == 1
        if more or (equal and singles and other[2] < self.met[2]):
            self.met = other

    def keep(self, inferred: Inferred | None, most_items: int) -> bool:
        """Whether this is the largest, given the largest of any knowledge; that may need too many items to show."""
        if inferred is None:
            return False
        if inferred.together * self.met[1] > self.met[0] * inferred.support:
            if len(inferred.items) > most_items:
                return False
            self.met = inferred[:4]
        return inferred.exact


@dataclass
class Levels:
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
    breach: ShareMargin = field(default_factory=ShareMargin)
    any: ShareMargin = field(default_factory=ShareMargin)
    worst: list[tuple[list[int], int, int, int]] = field(default_factory=list)
    safe: SafeItemsets | None = None
    order: _Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    level: int = 2  # the next one
    complete: bool = True  # all minimal moles were counted
    exact: tuple[bool, bool, bool] = (True, True, True)
    furthest: int = 0
    dealt: Dealt | None = None
    bounds: list[_Bounds] = field(default_factory=list)

    def __post_init__(self) -> None:
        longest = max(1, len(self.totals["sizes"]) - 1)
        self.any_number = self.promise.p is None or self.promise.p >= longest
        self.p = longest if self.promise.p is None else self.promise.p
        self.passes = self.p + _BESIDES * (self.p > 2 or self.any_number)
        n, share = self.transactions, self.promise.share
        for thing, support in enumerate(self.totals["with"].tolist()):
            self.breach.merge((support, n, thing, []))
        if n:
            self.any.merge((int(self.totals["with_any"][0]), n, -1, []))
        allowed = all(support * share.denominator <= share.numerator * n for support in self.totals["with"].tolist())
        self.feasible = n >= self.promise.k and allowed

    @property
    def has_sensitive(self) -> bool:
        """Whether there is a sensitive item."""
        return bool(self.kind.max(initial=-1) >= 0)

    def first(self, data: Held) -> None:
        """Single items; what is kept is numbered anew. Deals out the rows: `close` lets the engine forget them."""
        supports = self.totals["supports"]
        public = np.flatnonzero((self.kind < 0) & (supports > 0))
        self.order = public[np.argsort(supports[public], kind="stable")].astype(np.int32)
        # Single items without enough holders, and those that give nothing away, are judged without a look at rows.
        first = self._rank(self.promise.k) if self.has_sensitive else len(self.order)
        head, rare = self._look(1, [(0, first, 0, 0)], None), self._rank(self.promise.k)
        self.dealt, shares = self._deal(data, rare)
        self.safe = SafeItemsets(data, triples=self.p > 3)
        bounds = shares.bounds(np.arange(len(self.order)) - rare, single=True)
        bounds = [(max(begin, first), max(end, first), second, last) for begin, end, second, last in bounds]
        rest = self._look(1, bounds, self.dealt) if first < len(self.order) else []
        self._absorb([*head, *rest])
        kept = np.asarray(self.order[np.concatenate([share["items"] for share in (*head, *rest)])])
        # What all rows hold is no generator.
        kept = kept[supports[kept] < self.transactions]
        self.bounds = shares.bounds(self._place(kept) - rare, single=False)
        self.order = kept

    def close(self) -> None:
        """Let the engine forget the rows, and what is safe."""
        for held in (self.dealt, self.safe):
            if held is not None:
                held.close()

    def larger(self, steps: int) -> bool:
        """Level by level; false if that takes more steps. It can be asked again, and goes on with the level it left."""
        safe = self.safe
        while safe is not None and self.level <= self.p and len(self.order) and safe.any_in_last:
            found = self._look(self.level, self.bounds, self.dealt, steps)
            steps -= sum(share["steps"] for share in found)
            if steps < 0:
                return False
            self._absorb(found)
            if self.level < self.p:
                safe.add(self._safe_in(found))
            self.level += 1
        return True

    def _safe_in(self, found: list[Any]) -> Level:
        """The safe itemsets that all shares found."""
        items, supports, children = (
            np.concatenate([share[name] for share in found]) for name in ("items", "supports", "children")
        )
        self.limits.require(3 * (items.nbytes + supports.nbytes + children.nbytes), _TASK, _ADVICE)
        if self.level == 2:  # pairs of a branch that is cut are in several shares
            branch = np.concatenate([np.arange(first, end) for first, end, _, _ in self.bounds])
            children = np.bincount(branch, weights=children, minlength=len(self.order)).astype(np.int32)
        return Level(items, supports, children)

    @property
    def holds_so_far(self) -> bool:
        """Whether no mole was found at the levels that were counted."""
        return not any(self.identity) and not any(self.attribute)

    def add_larger(self, moles: list[Mole]) -> None:
        """Moles that are larger than those of the levels that were counted."""
        counted = len(self.identity)
        for mole in moles:
            if (size := len(mole[0])) > counted:
                for numbers in (self.identity, self.attribute):
                    numbers.extend([0] * (size - len(numbers)))
                (self.identity if mole[2] < 0 else self.attribute)[size - 1] += 1
                self.worst.append(mole)
        self.worst = sorted(self.worst, key=self._severity)[: self.witnesses]

    def told(self, what: str, done: int = 0) -> None:
        """Tell what is done next, and how far it all is: never less than before."""
        self.limits.check_time(_TASK, _ADVICE)
        self.furthest = max(self.furthest, done)
        self.limits.step(what, self.furthest, self.passes)

    def _rank(self, support: int) -> int:
        """The first place in the order with this support or more."""
        return int(np.searchsorted(self.totals["supports"][self.order], support))

    def _place(self, kept: _Codes) -> _Array:
        """Where the kept items were in the order."""
        place = np.zeros(len(self.kind), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place[kept]

    def _deal(self, data: Held, rare: int) -> tuple[Dealt, Shares]:
        """The rows of each share; the first branch is that of the item with this rank."""
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

    def _look(self, level: int, bounds: Sequence[_Bounds], dealt: Dealt | None, steps: int = ANY_WORK) -> list[Any]:
        """What the shares find, in their order."""
        self.told(step_of(level), level - 1)
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
            "p": self.p,
            "level": level,
            "witness_limit": self.witnesses,
            "work_limit": steps,
        }
        safe = () if self.safe is None else self.safe.parts
        work = partial(_look_at_share, question=question, bounds=bounds, safe=safe)
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
            "complete": self.complete,
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
            "exact": self.exact,
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
