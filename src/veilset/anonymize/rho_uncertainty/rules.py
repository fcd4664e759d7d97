"""Sensitive rules in weighted rows: which items to suppress so that none is left, and whether one more item brings one.

The faces of ``native/rules/suppress.cpp`` and ``native/rules/keeping.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import BudgetExceeded
from veilset.limits import Limits, OutOfWork

# What a proof may cost. Counted, not timed, so that a run repeats itself; well below a second each.
_SEARCH = 10**8  # items of transactions to look at, for one sensitive item
_RULES = 2 * 10**7  # antecedents of one round
_ADVICE = "use the method remove-sensitive."
EVERYTHING = 2**62
_NONE, _TOO_DEAR = 0, 2  # as the kernel answers

Marks: TypeAlias = npt.NDArray[np.uint8]
"""1 for an item that is marked, 0 for any other."""


class Rows:
    """Transactions of items that are numbers below *vocabulary*; equal ones may be one with a weight."""

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        items: npt.NDArray[np.int32],
        weights: npt.NDArray[np.int64],
        vocabulary: int,
    ) -> None:
        self.arrays = (offsets, items, weights)
        self.all = np.arange(len(weights))
        self._kernel = _native.rules.WeightedRows(offsets, items, weights, vocabulary=vocabulary)

    def renamed(
        self,
        names: npt.NDArray[np.int32],
        vocabulary: int,
        *,
        rows: npt.NDArray[np.int64] | None = None,
        limits: Limits,
    ) -> Rows:
        """Some rows (None: all) with their items renamed (-1: left out), equal ones merged, empty ones left out."""
        chosen = self.all if rows is None else rows
        with limits.guard("Merging equal transactions", _ADVICE):
            merged = self._kernel.renamed(chosen, names, vocabulary=vocabulary, memory_limit=limits.bytes_left())
        return Rows(*merged, vocabulary)

    def holding(self, wanted: Marks, *, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Those of some rows that hold a wanted item."""
        return self._kernel.holding(rows, wanted)


@dataclass(frozen=True)
class Concealed:
    """What SuppressControl chose."""

    chosen: list[int]
    """The items to suppress, in the order in which they were chosen."""
    undecided: list[int]
    """Those of them that went because it would have taken too long to prove that they can stay."""
    stuck: tuple[int, ...]
    """A violating rule none of whose items may go, what is inferred last; empty: there is none."""
    complete: bool
    """False: what was chosen costs more than was allowed, and no more was looked for."""


def conceal(
    rows: Rows,
    rho: Fraction,
    *,
    sensitive: Marks,
    cost: npt.NDArray[np.int64],
    fixed: Marks,
    required: Marks | None = None,
    population: int,
    cost_limit: int = EVERYTHING,
    limits: Limits,
) -> Concealed:
    """Choose items to suppress until no rule of confidence *rho* or more is left (SuppressControl, Algorithm 1).

    Parameters
    ----------
    sensitive, fixed : marks of the items
        Which can be inferred, and which may not go.
    cost : array
        What suppressing each item costs.
    required : marks, optional
        Only rules count whose antecedent holds one of these, so that an attacker who knows nothing does not
        (suppressTest, Function 2).
    population : int
        The number of all transactions: what an attacker who knows nothing infers is counted over these.
    cost_limit : int
        Stop once more than this is lost.
    """
    with limits.guard("Concealing sensitive rules", _ADVICE):
        try:
            found = _native.rules.suppress(
                *rows.arrays,
                sensitive,
                cost,
                fixed,
                np.zeros(0, dtype=np.uint8) if required is None else required,
                rho_num=rho.numerator,
                rho_den=rho.denominator,
                population=population,
                cost_limit=cost_limit,
                search_budget=_SEARCH,
                rules_budget=_RULES,
                threads=limits.thread_count,
                **limits.for_kernel(lambda size: f"Concealing rules with {size} item{'s' * (size != 1)} known"),
            )
        except OutOfWork:
            raise BudgetExceeded(
                "The search for items to remove exceeded its work limit; the items to keep may be too many.",
                f"Remove sensitive items from the list of items to keep, or {_ADVICE}",
            ) from None
    chosen = found["chosen"]
    return Concealed(
        chosen.tolist(),
        chosen[found["undecided"].astype(bool)].tolist(),
        tuple(found["stuck"].tolist()),
        found["complete"],
    )


class Keeping:
    """A set of kept items without violating rules: asks of one more item whether it would bring one."""

    def __init__(self, rows: Rows, rho: Fraction, sensitive: Marks, *, population: int, limits: Limits) -> None:
        self._limits = limits
        with limits.guard("Preparing the transactions", _ADVICE):
            self._kept = _native.rules.Keeping(
                *rows.arrays,
                sensitive,
                population=population,
                rho_num=rho.numerator,
                rho_den=rho.denominator,
                memory_limit=limits.bytes_left(),
            )

    def keep(self, item: int) -> None:
        """Add an item to the set."""
        self._kept.keep(item)

    def drop(self, item: int) -> None:
        """Take an item out of the set."""
        self._kept.drop(item)

    def rule_with(self, item: int) -> tuple[tuple[int, ...] | None, int]:
        """A violating rule of *item* and kept items, what is inferred last, and the work it took to find.

        The rule is None if there is none, and empty if it would take too long to prove that there is none.
        """
        with self._limits.guard("Searching for rules", _ADVICE):
            answer, rule, work = self._kept.brings_rule(item, work=_SEARCH, time_limit=self._limits.seconds_left())
        found = {_NONE: None, _TOO_DEAR: ()}.get(answer, tuple(rule))
        return found, work
