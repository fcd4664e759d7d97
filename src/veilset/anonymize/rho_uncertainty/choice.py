"""What is kept, and the moves that make it more: the restore pass, and restore with repair.

Which sets of nodes and sensitive items make a violating rule (its antecedent and what it infers) is fixed before
anything is chosen: suppression changes no other rule, and a node has the same transactions in every cut. So what is
looked for is a set of nodes, none above another, and of sensitive items that contains none of those. Every move keeps
it so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from veilset.anonymize.rho_uncertainty.hierarchy import Hierarchy
from veilset.anonymize.rho_uncertainty.rules import Keeping, Rows
from veilset.errors import BudgetExceeded
from veilset.limits import Limits
from veilset.models import RhoUncertainty

# How many items of transactions repairs may look at: counted, not timed, so that a run repeats itself. A few seconds.
_WORK = 3 * 10**7
_TO_JUDGE = 20  # what one item of a rule counts as: which of them is the cheapest has to be found


class Choice:
    """A set of entries of a hierarchy without a violating rule.

    It starts from *kept*, which has no violating rule, and none above another. The *rows* have all nodes in them
    (`Hierarchy.extended`). Entries of items that *must_stay* weigh more than all else.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        rows: Rows,
        promise: RhoUncertainty,
        kept: Iterable[int],
        *,
        must_stay: Collection[int] = (),
        limits: Limits,
    ) -> None:
        self._tree, self._rows, self._rho, self._limits = hierarchy, rows, promise.rho, limits
        self.above = hierarchy.above
        everything = int(hierarchy.total.sum()) * max(1, hierarchy.public) + 1
        items = {int(hierarchy.items[entry][0]) for entry in must_stay}
        self.weight = {
            entry: int(hierarchy.cost[entry]) + everything * len(items.intersection(hierarchy.items[entry].tolist()))
            for entry in self.above
        }
        self.kept: set[int] = set()
        self.work = 0
        self._below_kept = dict.fromkeys(self.above, 0)  # how many kept nodes are below each
        self._log: list[int] = []  # what the move under way added (e) and dropped (~e)
        self._undecided: set[int] = set()
        self._keeping: Keeping | None = None
        for entry in kept:
            self._add(entry)

    @property
    def total(self) -> int:
        """The weight of what is kept."""
        return sum(self.weight[entry] for entry in self.kept)

    @property
    def undecided(self) -> set[int]:
        """What is not kept because it would have taken too long to prove that it may be."""
        return self._undecided.difference(self.kept)

    def restore(self) -> None:
        """Put back what breaks nothing, the largest regained loss first."""
        waiting = self._best_first(entry for entry in self.above if self.weight[entry] > 0 and not self._covered(entry))
        self._look_at([*self.kept, *waiting])
        for number, entry in enumerate(waiting):
            self._limits.step("Restoring items", number, len(waiting))
            if not self._covered(entry) and self._rule_with(entry) is None:
                self._add(entry)

    def improve(self) -> None:
        """Restore, then split and repair until nothing gains, as far as the work allowed goes."""
        self.restore()
        before, direction = -1, -1  # the lightest are proven soonest; then the heaviest first
        while (now := self.total) > before and self.work < _WORK:
            before = now
            self._split_all()
            gone = self._best_first(entry for entry in self.above if self._tree.sensitive[entry])[::direction]
            direction = -direction
            self._look_at([*self.kept, *gone, *(above for entry in self.kept for above in self.above[entry])])
            for number, entry in enumerate(gone):
                self._limits.step("Repairing", number, len(gone))
                if entry not in self.kept:
                    self._gains([entry], [])
            self.restore()

    def _split_all(self) -> None:
        """Split every node that gains by it, those that gain most first."""
        splits = {entry: self._tree.children[entry] for entry in self.kept if self._tree.children[entry]}
        if not splits:
            return
        gains = {entry: sum(self.weight[child] for child in below) for entry, below in splits.items()}
        above = (node for entry in self.kept for node in self.above[entry])
        self._look_at([*self.kept, *above, *(child for below in splits.values() for child in below)])
        for number, entry in enumerate(sorted(splits, key=lambda entry: (self.weight[entry] - gains[entry], entry))):
            self._limits.step("Splitting nodes", number, len(splits))
            if entry in self.kept:
                self._gains(splits[entry], [entry])

    def _look_at(self, entries: Iterable[int]) -> None:
        """Only these are asked about from here on: without the others, many transactions are the same."""
        names = np.full(len(self._tree), -1, dtype=np.int32)
        chosen = np.fromiter(entries, dtype=np.int64)
        names[chosen] = chosen
        rows = self._rows.renamed(names, len(self._tree), limits=self._limits)
        self._keeping = Keeping(
            rows, self._rho, self._tree.sensitive, population=self._tree.population, limits=self._limits
        )
        for entry in self.kept:
            self._keeping.keep(entry)

    def _rule_with(self, entry: int) -> tuple[int, ...] | None:
        """A violating rule of *entry* and what is kept; None: there is none; empty: it would take too long to tell."""
        assert self._keeping is not None  # noqa: S101 - every move looks at something first
        self._limits.check_time("Restoring items", "use the method remove-sensitive.")
        rule, work = self._keeping.rule_with(entry)
        self.work += work + _TO_JUDGE * len(rule or ())
        if rule == ():
            self._undecided.add(entry)
        return rule

    def _gains(self, wanted: Sequence[int], instead: Sequence[int]) -> bool:
        """Keep *wanted* instead of others, and what that breaks repaired; taken back unless it gains."""
        if self.work >= _WORK:
            return False
        self._log = []
        try:
            gained = self._forced(wanted, instead) > 0
        except BudgetExceeded:
            self._take_back()
            raise
        if not gained:
            self._take_back()
        return gained

    def _forced(self, wanted: Sequence[int], instead: Sequence[int]) -> int:
        """What a move gains. Of each rule it would make, the cheapest item goes or is recoded to the node above it."""
        gain = sum(self.weight[entry] for entry in wanted) - sum(self.weight[entry] for entry in instead)
        for entry in instead:
            self._drop(entry)
        for entry in wanted:
            while gain > 0 and (rule := self._rule_with(entry)) is not None:
                cheapest = min({entry, *rule}, key=lambda other: (self.weight[other], other)) if rule else entry
                cost = self.weight[cheapest]
                coarser = self._recoded(rule, entry, below=min(cost, gain))
                if coarser is not None:
                    gain -= coarser
                    continue
                gain -= cost
                if cheapest == entry:
                    break
                self._drop(cheapest)
            else:
                if gain > 0:
                    self._add(entry)
        return gain

    def _recoded(self, rule: Sequence[int], wanted: int, *, below: int) -> int | None:
        """Recode an item of a rule to the node above if that costs less than *below* and breaks nothing; the cost."""
        costs = []
        for entry in rule:
            if entry == wanted or not self.above[entry]:
                continue
            node = self.above[entry][0]
            finer = self._kept_below(node)
            if node not in self.above[wanted]:
                costs.append((sum(self.weight[other] for other in finer) - self.weight[node], node, finer))
        if not costs:
            return None
        cost, node, finer = min(costs)
        if cost >= below:
            return None
        for entry in finer:
            self._drop(entry)
        if self._rule_with(node) is None:
            self._add(node)
            return cost
        for entry in finer:
            self._add(entry)
        return None

    def _take_back(self) -> None:
        for step in reversed(self._log.copy()):
            self._drop(step) if step >= 0 else self._add(~step)

    def _add(self, entry: int) -> None:
        self._log.append(entry)
        self.kept.add(entry)
        if self._keeping is not None:
            self._keeping.keep(entry)
        for above in self.above[entry]:
            self._below_kept[above] += 1

    def _drop(self, entry: int) -> None:
        self._log.append(~entry)
        self.kept.remove(entry)
        if self._keeping is not None:
            self._keeping.drop(entry)
        for above in self.above[entry]:
            self._below_kept[above] -= 1

    def _covered(self, entry: int) -> bool:
        """Whether an entry is kept, or one above or below it is."""
        return entry in self.kept or self._below_kept[entry] > 0 or not self.kept.isdisjoint(self.above[entry])

    def _kept_below(self, node: int) -> list[int]:
        found, waiting = [], [*self._tree.children[node]]
        while waiting:
            entry = waiting.pop()
            if entry in self.kept:
                found.append(entry)
            elif self._below_kept[entry]:
                waiting.extend(self._tree.children[entry])
        return found

    def _best_first(self, entries: Iterable[int]) -> list[int]:
        return sorted(entries, key=lambda entry: (-self.weight[entry], entry))
