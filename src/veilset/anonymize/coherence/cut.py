"""The search for a cut: which nodes of a taxonomy to keep, so that no mole is left and the average loss is small.

What is looked for is a set of nodes, none above another, without a mole (see `Nodes`); what no kept node stands for is
suppressed. A start is improved by moves until no move gains; from nothing, the first move takes the coarsest names and
the next ones split them, as Cao et al. (2010 §5) do for another promise:

- *split* a kept node into those of its descendants that bring no mole;
- *merge* what is kept below a node into that node;
- *return* what is suppressed, under the coarsest name that brings no mole;
- *force* a node in, and put back, most valuable first, what can stay with it.

Every move is judged by what is lost in the end, the suppression it causes or saves included.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence

from veilset.anonymize.coherence.nodes import Nodes

# How many transactions the search may look at while it forces nodes in: counted, not timed, so that a run repeats
# itself. A few seconds.
_WORK = 10**7


def improved(nodes: Nodes, kept: Collection[int], *, what: str) -> frozenset[int]:
    """The nodes to keep, from a start that has no moles and is none above another: never worse than the start.

    *what* is being done, for progress.
    """
    choice = _Choice(nodes, kept, what)
    choice.settle()
    choice.force_all()
    return frozenset(choice.kept)


class _Choice:
    """A set of nodes, none above another, without a mole; and the moves that change it."""

    def __init__(self, nodes: Nodes, kept: Collection[int], what: str) -> None:
        self._nodes, self._what, self._limits = nodes, what, nodes.task.limits
        question = nodes.task.question
        self._keeping = nodes.miner.keeping(question)
        question["max_size"] = 1
        self._alone = {int(mole[0]) for mole, _ in nodes.miner.moles(question)}
        self._below_kept = dict.fromkeys(nodes.above, 0)  # how many kept nodes are below each
        self.kept: set[int] = set()
        self.weight = 0
        self.work = 0
        self._log: list[int] = []  # what the move under way added (n) and dropped (~n)
        for node in kept:
            self._add(node)

    def settle(self) -> None:
        """Return, split and merge until nothing gains."""
        self._fill()
        before = -1
        while self.weight > before:
            before = self.weight
            self._limits.step(self._what)
            for node in self._best_first(self.kept):
                self._gains(self._split, node)
            for node in self._small_first():
                if not self._covered(node):
                    self._gains(self._merge, node)
            self._fill()

    def force_all(self) -> None:
        """Force every node in once after the last one that gained, as far as the work allowed goes."""
        able = self._best_first(self._nodes.above.keys() - self._alone)
        allowed, at, since = self.work + _WORK, 0, 0
        while since < len(able) and self.work < allowed:
            self._limits.step(self._what, since, len(able))
            node, since = able[at % len(able)], since + 1
            at += 1
            if node not in self.kept and self._gains(self._force, node):
                self.settle()
                since = 0

    def _fill(self) -> None:
        """Return what is suppressed, under the coarsest name that brings no mole."""
        self._insert(self._nodes.top)

    def _split(self, node: int) -> None:
        if self._nodes.below[node]:
            self._drop(node)
            self._insert(self._nodes.below[node])

    def _merge(self, node: int) -> None:
        below = self._kept_below(node)
        if self._nodes.weight[node] <= self._nodes.total(below):
            return
        for finer in below:
            self._drop(finer)
        if self._may_stay(node):
            self._add(node)

    def _force(self, node: int) -> None:
        others = self._best_first(self.kept)
        for other in others:
            self._drop(other)
        self._add(node)
        apart = {*self._nodes.above[node], *self._all_below(node)}
        self._put_back([other for other in others if other not in apart], node)
        self._fill()

    def _put_back(self, others: Sequence[int], node: int) -> None:
        """Add, in this order, what brings no mole with a kept *node*; without it, the others have none among them.

        Halves are tried as a whole: only moles that hold the node matter, so that it alone needs to be asked about.
        """
        for other in others:
            self._add(other)
        if self._may_stay(node):
            return
        for other in others:
            self._drop(other)
        if len(others) > 1:
            half = len(others) // 2
            self._put_back(others[:half], node)
            self._put_back(others[half:], node)

    def _insert(self, nodes: Iterable[int]) -> None:
        """Keep each node that brings no mole, most valuable first; of one that does, its children are asked."""
        waiting = [(-self._nodes.weight[node], node) for node in nodes]
        heapq.heapify(waiting)
        while waiting:
            _, node = heapq.heappop(waiting)
            if node in self.kept:
                continue
            if not self._below_kept[node] and self._may_stay(node):
                self._add(node)
                continue
            for child in self._nodes.below[node]:
                heapq.heappush(waiting, (-self._nodes.weight[child], child))

    def _gains(self, move: Callable[[int], None], node: int) -> bool:
        """Make a move, and take it back unless it gained."""
        before, self._log = self.weight, []
        move(node)
        if self.weight > before:
            return True
        for step in reversed(self._log.copy()):
            self._drop(step) if step >= 0 else self._add(~step)
        return False

    def _may_stay(self, node: int) -> bool:
        if node in self._alone:
            return False
        self.work += self._nodes.supports[node]
        return not self._keeping.brings_mole(str(node))

    def _add(self, node: int) -> None:
        self._log.append(node)
        self.kept.add(node)
        self.weight += self._nodes.weight[node]
        self._keeping.keep(str(node))
        for above in self._nodes.above[node]:
            self._below_kept[above] += 1

    def _drop(self, node: int) -> None:
        self._log.append(~node)
        self.kept.remove(node)
        self.weight -= self._nodes.weight[node]
        self._keeping.drop(str(node))
        for above in self._nodes.above[node]:
            self._below_kept[above] -= 1

    def _covered(self, node: int) -> bool:
        return node in self.kept or not self.kept.isdisjoint(self._nodes.above[node])

    def _kept_below(self, node: int) -> list[int]:
        return [finer for finer in self._all_below(node) if finer in self.kept]

    def _all_below(self, node: int) -> list[int]:
        found, waiting = [], list(self._nodes.below[node])
        while waiting:
            found.append(waiting.pop())
            waiting.extend(self._nodes.below[found[-1]])
        return found

    def _best_first(self, nodes: Iterable[int]) -> list[int]:
        return sorted(nodes, key=lambda node: (-self._nodes.weight[node], node))

    def _small_first(self) -> list[int]:
        groups = (node for node, below in self._nodes.below.items() if below)
        return sorted(groups, key=lambda node: (self._nodes.hidden(node), node))
