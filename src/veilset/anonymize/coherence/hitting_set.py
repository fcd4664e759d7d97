"""A minimum-weight hitting set: of each given set at least one element is chosen, at the least cost.

Three things are kept: the sets given so far (the *pool*), the rows of them that the linear program has been shown,
and what is proven. A bound proven for some of the sets holds for all, so sets may come in any time.

1. *Relax*: solve the linear program, show it what its solution breaks (cliques of pairs, larger sets), and repeat.
2. *Certify*: turn the dual solution into a bound in whole numbers, so that it does not rest on rounding: for any y ≥ 0,
   the cost is at least Σ low·y + Σ min(0, cost − Aᵀy) over the elements that are free (Neumaier, Shcherbina 2004).
3. *Fix*: an element whose choice, or its absence, would cost more than the best solution known is settled.
4. *Branch*: HiGHS solves what is left; its bound is rounded up less a tolerance, and rests on its arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.cliques import Graph
from veilset.anonymize.coherence.highs import Solver, Stopped
from veilset.limits import Limits

__all__ = ["Groups", "HittingSet", "Sets"]

_EPS = 1e-6
_AT_ONCE = 1000  # sets shown to the linear program in one round
_CLIQUES_AT_ONCE = 400
_PATIENCE = 8  # rounds with cliques alone that may close less than a hundredth of the gap
_ROWS_TO_BRANCH = 60_000


@dataclass(frozen=True)
class Sets:
    """Sets of elements, set i being ``items[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]
    items: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of elements of each."""
        return np.diff(self.starts)

    def take(self, which: npt.NDArray[np.integer | np.bool_]) -> Sets:
        """Some of them."""
        chosen = np.arange(len(self))[which]
        sizes = self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return Sets(starts, self.items[np.repeat(self.starts[chosen], sizes) + within])

    def sums(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Of each set, the sum of what its elements have."""
        return np.add.reduceat(values[self.items], self.starts[:-1]) if len(self) else np.zeros(0)

    @staticmethod
    def joined(*several: Sets) -> Sets:
        """Those of all."""
        sizes = np.concatenate([sets.sizes for sets in several])
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Sets(starts, np.concatenate([sets.items for sets in several]))

    @staticmethod
    def of(sets: list[npt.NDArray[np.int32]]) -> Sets:
        """Those of a list."""
        starts = np.concatenate([[0], np.cumsum([len(items) for items in sets])]).astype(np.int64)
        return Sets(starts, np.concatenate(sets) if sets else np.zeros(0, dtype=np.int32))


@dataclass(frozen=True)
class Groups:
    """Sets that cost something, once, if any of their elements is chosen."""

    sets: Sets
    cost: npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Rows:
    """Inequalities Σ values·x ≥ low over the columns of a program."""

    sets: Sets
    values: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]

    def take(self, which: npt.NDArray[np.integer | np.bool_]) -> _Rows:
        signs = Sets(self.sets.starts, self.values)  # type: ignore[arg-type]
        return _Rows(self.sets.take(which), signs.take(which).items, self.low[which])  # type: ignore[arg-type]

    @staticmethod
    def joined(first: _Rows, second: _Rows) -> _Rows:
        return _Rows(
            Sets.joined(first.sets, second.sets),
            np.concatenate([first.values, second.values]),
            np.concatenate([first.low, second.low]),
        )


class HittingSet:
    """The search for the cheapest choice of elements that hits every set.

    Parameters
    ----------
    cost : array of int64
        Of each element; none is negative.
    pairs : array of shape (m, 2)
        The sets of two elements.
    groups : Groups
        What is lost by more than one element; may be empty.
    never : array of bool
        Elements that may not be chosen.
    offer : callable
        Makes a true solution of what a program would like, given as a number from 0 to 1 for each element; answers
        with the cost of the best solution known.
    best : int
        That of the first.
    limits, seconds
        As for `Solver`.
    tell : callable
        Called now and then.
    """

    def __init__(
        self,
        cost: npt.NDArray[np.int64],
        pairs: npt.NDArray[np.int32],
        groups: Groups,
        *,
        never: npt.NDArray[np.bool_],
        offer: Callable[[npt.NDArray[np.float64]], int],
        best: int,
        limits: Limits,
        seconds: Callable[[], float],
        tell: Callable[[], None],
    ) -> None:
        self.best, self.least = best, 0
        self._size, self._groups = len(cost), groups
        self._cost = np.concatenate([cost, groups.cost])
        self._pairs, self._graph = pairs, Graph(pairs, len(cost))
        self._larger = Sets.of([])
        self._at_least = np.zeros(len(self._cost))
        self._at_most = np.ones(len(self._cost))
        self._at_most[: self._size][never] = 0
        self._offer, self._limits, self._seconds, self._tell = offer, limits, seconds, tell
        # HiGHS works best on numbers that are not large; what is proven is counted in 1 / _parts of a whole one.
        self._unit = max(1.0, float(self._cost.max(initial=0)) / 1000)
        self._parts = 1 << max(0, min(30, 60 - int(self._cost.sum()).bit_length()))
        self._program = Solver(self._cost / self._unit, limits=limits, seconds=seconds)
        self._program.changeColsBounds(
            len(self._cost), np.arange(len(self._cost), dtype=np.int32), self._at_least, self._at_most
        )
        self._rows = _Rows(Sets.of([]), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @property
    def proven(self) -> bool:
        """Whether nothing is better than the best."""
        return self.least >= self.best

    def add(self, sets: Sets) -> None:
        """More sets, of three elements or more."""
        self._larger = Sets.joined(self._larger, sets)

    def relax(self) -> npt.NDArray[np.float64]:
        """The solution of the linear program over the pool, strengthened by cliques, once it stands still."""
        before, patience = -math.inf, _PATIENCE
        x = np.zeros(self._size)
        while not self.proven:
            if not self._program.work(self._tell):
                self.least = self.best  # what is settled leaves nothing that is better
                break
            solution = self._program.getSolution()
            columns = np.array(solution.col_value)
            x = columns[: self._size]
            self._certify(np.array(solution.row_dual))
            self._tell()
            broken = self._broken(x, columns[self._size :])
            cliques = self._graph.violated_cliques(1 - x, self._cost[: self._size], _CLIQUES_AT_ONCE)
            value = self._program.getInfo().objective_function_value * self._unit
            only_strengthened = not len(broken.low) and (1 - x)[self._pairs].sum(1).max(initial=0) <= 1 + _EPS
            patience = patience - 1 if only_strengthened and value < before + (self.best - before) / 100 else _PATIENCE
            before = max(before, value) if patience == _PATIENCE else before
            if not len(broken.low) and (not cliques or not patience):
                break
            self._forget(np.array(solution.row_value))
            self._show(_Rows.joined(broken, _clique_rows(cliques)))
        self.best = min(self.best, self._offer(x)) if not self.proven else self.best
        self.least = min(self.least, self.best)
        return x

    def branch(self) -> npt.NDArray[np.float64] | None:
        """The optimum over the pool, as 0 or 1 for each element; None: nothing is better than the best."""
        rows = self._rows_to_branch()
        while not self.proven:
            x = self._branch(rows)
            if x is None:
                self.least = self.best
                break
            broken = self._broken(x[: self._size], x[self._size :], most=_ROWS_TO_BRANCH)
            pairs = self._pairs[x[self._pairs].sum(1) < 0.5]
            if not len(broken.low) and not len(pairs):
                return x[: self._size]
            self.best = min(self.best, self._offer(x[: self._size]))
            rows = _Rows.joined(rows, _Rows.joined(broken, _set_rows(_pair_sets(pairs[:_ROWS_TO_BRANCH]))))
        return None

    def _branch(self, rows: _Rows) -> npt.NDArray[np.float64] | None:
        count = len(self._cost)
        self._limits.require(400 * len(rows.values), "Proving the optimum", "ask for smaller itemsets (p).")
        program = Solver(self._cost / self._unit, whole=self._size, limits=self._limits, seconds=self._seconds)
        program.changeColsBounds(count, np.arange(count, dtype=np.int32), self._at_least, self._at_most)
        program.setOptionValue("mip_rel_gap", 0.0)
        program.setOptionValue("mip_abs_gap", 0.9 / self._unit)
        program.setOptionValue("objective_bound", (self.best - 0.5) / self._unit)
        program.add(rows.low, rows.sets.starts[:-1], rows.sets.items, rows.values)

        def look() -> None:
            self._raise(program.bound)
            self._tell()

        try:
            if not program.work(look):
                return None
        except Stopped:
            self._raise(program.bound)
            raise
        self._raise(program.getInfo().mip_dual_bound)
        x = np.array(program.getSolution().col_value)
        x[: self._size] = np.rint(x[: self._size])
        return x

    def _raise(self, bound: float) -> None:
        """Take over a bound of HiGHS, in its units: whole numbers only, and less what it may be off."""
        if math.isfinite(bound):
            sure = math.ceil(bound * self._unit * (1 - 1e-12) - _EPS * self._unit)
            self.least = min(self.best, max(self.least, sure))

    def _certify(self, duals: npt.NDArray[np.float64]) -> None:
        """Turn a dual solution into a bound, and settle the elements it settles; all in whole numbers."""
        y = np.floor(np.maximum(duals, 0) * (self._unit * self._parts)).astype(np.int64)
        used = np.flatnonzero(y)
        rows, y = self._rows.take(used), y[used]
        left = self._cost * self._parts
        np.subtract.at(left, rows.sets.items, rows.values * np.repeat(y, rows.sets.sizes))
        free = self._at_least < self._at_most
        sure = int((rows.low * y).sum()) + int(np.minimum(left, 0)[free].sum()) + int(left[self._at_least == 1].sum())
        self.least = min(self.best, max(self.least, -(-sure // self._parts)))
        room = (self.best - 1) * self._parts - sure
        absent, chosen = free & (left > room), free & (-left > room)
        if absent.any() or chosen.any():
            self._at_most[absent], self._at_least[chosen] = 0, 1
            changed = np.flatnonzero(absent | chosen).astype(np.int32)
            self._program.changeColsBounds(len(changed), changed, self._at_least[changed], self._at_most[changed])

    def _broken(self, x: npt.NDArray[np.float64], lost: npt.NDArray[np.float64], most: int = _AT_ONCE) -> _Rows:
        """The larger sets that are not hit, the worst first; and where a group costs less than its elements say."""
        hit = self._larger.sums(x)
        worst = np.flatnonzero(hit < 1 - _EPS)
        worst = worst[np.argsort(hit[worst], kind="stable")][:most]
        sets = _set_rows(self._larger.take(worst))
        short = x[self._groups.sets.items] - np.repeat(lost, self._groups.sets.sizes)
        worst = np.flatnonzero(short > _EPS)
        worst = worst[np.argsort(-short[worst], kind="stable")][: 4 * most]
        return _Rows.joined(sets, self._group_rows(worst))

    def _show(self, rows: _Rows) -> None:
        self._rows = _Rows.joined(self._rows, rows)
        self._program.add(rows.low, rows.sets.starts[:-1], rows.sets.items, rows.values)

    def _forget(self, values: npt.NDArray[np.float64]) -> None:
        """Take rows out of the program that say nothing where it stands, once they are many."""
        if len(self._rows.low) < 2 * self._size + 2 * _AT_ONCE:
            return
        idle = values > self._rows.low + 1e-3
        self._rows = self._rows.take(~idle)
        gone = np.flatnonzero(idle).astype(np.int32)
        self._program.deleteRows(len(gone), gone)

    def _rows_to_branch(self) -> _Rows:
        """The sets that are not settled: all of them, or if they are too many what the linear program was shown.

        Where the pairs fit, cliques stay out: HiGHS finds its own, and branches faster on short rows.
        """
        settled = self._at_least[: self._size]
        pairs = self._pairs[settled[self._pairs].sum(axis=1) < 0.5]
        larger = np.flatnonzero(self._larger.sums(settled) < 0.5)
        if len(pairs) + len(larger) > _ROWS_TO_BRANCH:
            return self._rows
        groups = self._group_rows(np.arange(len(self._groups.sets.items)))
        return _Rows.joined(_set_rows(Sets.joined(_pair_sets(pairs), self._larger.take(larger))), groups)

    def _group_rows(self, which: npt.NDArray[np.int64]) -> _Rows:
        """A group is lost if an element of it is: for these of all elements of groups."""
        group = np.repeat(np.arange(len(self._groups.cost)), self._groups.sets.sizes)[which]
        columns = np.stack([group + self._size, self._groups.sets.items[which]], axis=1).astype(np.int32)
        ones = np.tile(np.array([1, -1], dtype=np.int64), len(which))
        return _Rows(_pair_sets(columns), ones, np.zeros(len(which), dtype=np.int64))


def _pair_sets(pairs: npt.NDArray[np.int32]) -> Sets:
    return Sets(np.arange(len(pairs) + 1, dtype=np.int64) * 2, np.ascontiguousarray(pairs).reshape(-1))


def _set_rows(sets: Sets) -> _Rows:
    return _Rows(sets, np.ones(len(sets.items), dtype=np.int64), np.ones(len(sets), dtype=np.int64))


def _clique_rows(cliques: list[npt.NDArray[np.int32]]) -> _Rows:
    sets = Sets.of(cliques)
    return _Rows(sets, np.ones(len(sets.items), dtype=np.int64), sets.sizes - 1)
