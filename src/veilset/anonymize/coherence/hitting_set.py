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

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.cliques import Graph
from veilset.anonymize.coherence.highs import Solver
from veilset.anonymize.coherence.rows import Groups, Rows, Sets, clique_rows, pair_sets, set_rows
from veilset.limits import Limits

_EPS = 1e-6
_AT_ONCE = 1000  # sets shown to the linear program in one round
_CLIQUES_AT_ONCE = 400
_PATIENCE = 8  # rounds with cliques alone that may close less than a hundredth of the gap
_ROWS_TO_BRANCH = 60_000


class HittingSet:
    """The search for the cheapest choice of elements that hits every set.

    Parameters
    ----------
    cost : array of int64
        Of each element; none is negative.
    pairs : array of shape (m, 2)
        The sets of two elements.
    groups : Groups
        What is lost by more than one element.
    always, never : array of bool
        Elements that are chosen in any case, and those that may not be.
    offer : callable
        Makes a true solution of what a program would like, given as a number from 0 to 1 for each element; answers
        with the cost of the best solution known, of which the first is *best*.
    tell : callable
        Called now and then.
    """

    def __init__(
        self,
        cost: npt.NDArray[np.int64],
        pairs: npt.NDArray[np.int32],
        groups: Groups,
        *,
        always: npt.NDArray[np.bool_],
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
        self._at_least[: self._size][always] = 1
        self._at_most[: self._size][never] = 0
        self._offer, self._limits, self._seconds, self._tell = offer, limits, seconds, tell
        # HiGHS works best on numbers that are not large; what is proven is counted in 1 / _parts of a whole one.
        self._unit = max(1.0, float(self._cost.max(initial=0)) / 1000)
        self._parts = 1 << max(0, min(30, 60 - int(self._cost.sum()).bit_length()))
        self._program = Solver(self._cost / self._unit, limits=limits, seconds=seconds)
        self._program.confine(self._at_least, self._at_most)
        self._rows = self._late = set_rows(Sets.of([]))

    @property
    def proven(self) -> bool:
        """Whether nothing is better than the best."""
        return self.least >= self.best

    def add(self, sets: Sets) -> None:
        """More sets, of three elements or more."""
        self._larger = Sets.joined(self._larger, sets)

    def relax(self) -> npt.NDArray[np.float64]:
        """The solution of the linear program over the pool, strengthened by cliques, once it stands still."""
        stood, forgot, patience = 0.0, -math.inf, _PATIENCE
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
            if only_strengthened and value < stood + (self.best - stood) / 100:
                patience -= 1
            else:
                patience, stood = _PATIENCE, value
            if not len(broken.low) and (not cliques or not patience):
                break
            if value > forgot + _EPS and len(self._rows.low) > 2 * self._size + 2 * _AT_ONCE:
                forgot = value  # only where it has risen, so that no row comes and goes for ever
                self._forget(np.array(solution.row_value))
            self._show(Rows.joined(broken, clique_rows(cliques)))
        if not self.proven:
            self._improve(x)
        return x

    def branch(self) -> npt.NDArray[np.float64] | None:
        """The optimum over the pool, as 0 or 1 for each element; None: nothing is better than the best."""
        while not self.proven:
            before = self.best
            x = self._branch(Rows.joined(self._rows_to_branch(), self._late))
            if x is None:
                self.least = min(self.best, max(self.least, before))
                break
            broken = self._broken(x[: self._size], x[self._size :], most=_ROWS_TO_BRANCH)
            pairs = self._pairs[x[self._pairs].sum(axis=1) < 0.5][:_ROWS_TO_BRANCH]
            if not len(broken.low) and not len(pairs):
                return x[: self._size]
            self._late = Rows.joined(self._late, Rows.joined(broken, set_rows(pair_sets(pairs))))
            self._improve(x[: self._size])
            if self.best < before:
                self.relax()  # settles more than it could before
        return None

    def _branch(self, rows: Rows) -> npt.NDArray[np.float64] | None:
        """The optimum over these rows; what HiGHS finds on the way is offered as well."""
        self._limits.require(400 * len(rows.values), "Proving the optimum", "choose a smaller p.")
        program = Solver(self._cost / self._unit, whole=self._size, limits=self._limits, seconds=self._seconds)
        program.confine(self._at_least, self._at_most)
        # Its heuristics solve smaller programs, in which it does not look for a sign to stop; offers find as much.
        program.setOptionValue("mip_heuristic_effort", 0.0)
        program.setOptionValue("mip_rel_gap", 0.0)
        program.setOptionValue("mip_abs_gap", 0.9 / self._unit)
        program.setOptionValue("objective_bound", (self.best - 0.5) / self._unit)
        program.add(rows.low, rows.sets.starts[:-1], rows.sets.items, rows.values)

        def look() -> None:
            if (found := program.take_found()) is not None:
                self._improve(found[: self._size])
            self._raise(program.bound)
            self._tell()

        try:
            if not program.work(look):
                return None
        finally:
            self._raise(program.bound)
        self._raise(program.getInfo().mip_dual_bound)
        x = np.array(program.getSolution().col_value)
        x[: self._size] = np.rint(x[: self._size])
        return x

    def _improve(self, x: npt.NDArray[np.float64]) -> None:
        self.best = min(self.best, self._offer(x))
        self.least = min(self.least, self.best)

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
            self._program.confine(self._at_least, self._at_most)

    def _broken(self, x: npt.NDArray[np.float64], lost: npt.NDArray[np.float64], most: int = _AT_ONCE) -> Rows:
        """The larger sets that are not hit, the worst first; and where a group costs less than its elements say."""
        hit = self._larger.sums(x)
        worst = np.flatnonzero(hit < 1 - _EPS)
        worst = worst[np.argsort(hit[worst], kind="stable")][:most]
        sets = set_rows(self._larger.take(worst))
        short = x[self._groups.sets.items] - np.repeat(lost, self._groups.sets.sizes)
        worst = np.flatnonzero(short > _EPS)
        worst = worst[np.argsort(-short[worst], kind="stable")][: 4 * most]
        return Rows.joined(sets, self._group_rows(worst))

    def _show(self, rows: Rows) -> None:
        self._rows = Rows.joined(self._rows, rows)
        self._program.add(rows.low, rows.sets.starts[:-1], rows.sets.items, rows.values)

    def _forget(self, values: npt.NDArray[np.float64]) -> None:
        """Take rows out of the program that say nothing where it stands."""
        idle = values > self._rows.low + 1e-3
        self._rows = self._rows.take(~idle)
        gone = np.flatnonzero(idle).astype(np.int32)
        self._program.deleteRows(len(gone), gone)

    def _rows_to_branch(self) -> Rows:
        """The sets that are not settled: all of them, or if they are too many what the linear program was shown.

        Where the pairs fit, cliques stay out: HiGHS finds its own, and branches faster on short rows.
        """
        settled = self._at_least[: self._size]
        pairs = self._pairs[settled[self._pairs].sum(axis=1) < 0.5]
        larger = np.flatnonzero(self._larger.sums(settled) < 0.5)
        if len(pairs) + len(larger) > _ROWS_TO_BRANCH:
            return self._rows
        groups = self._group_rows(np.arange(len(self._groups.sets.items)))
        return Rows.joined(set_rows(Sets.joined(pair_sets(pairs), self._larger.take(larger))), groups)

    def _group_rows(self, which: npt.NDArray[np.int64]) -> Rows:
        """A group is lost if an element of it is: for these of all elements of groups."""
        group = np.repeat(np.arange(len(self._groups.cost)), self._groups.sets.sizes)[which]
        columns = np.stack([group + self._size, self._groups.sets.items[which]], axis=1).astype(np.int32)
        ones = np.tile(np.array([1, -1], dtype=np.int64), len(which))
        return Rows(pair_sets(columns), ones, np.zeros(len(which), dtype=np.int64))
