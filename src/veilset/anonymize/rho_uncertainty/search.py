"""Several strategies, each followed by a restore pass and exchanges; the best result is taken.

A search asks for the different transactions and how often each occurs, in an order that depends on nothing else. So the
order of the data plays no part, and wherever these rows are brought together, the result is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from veilset.anonymize.rho_uncertainty.choice import Choice
from veilset.anonymize.rho_uncertainty.found import Found
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.engines import Piece, Work
from veilset.engines.rows import different
from veilset.errors import BudgetExceeded, Infeasible
from veilset.limits import Limits
from veilset.release import Attempt, Release

Strategy: TypeAlias = Callable[[Task, Work, Limits], Found]
"""Finds a start among different transactions, within limits."""

Answer: TypeAlias = tuple[Found, tuple[Attempt, ...]]


@dataclass(frozen=True)
class Plan:
    """How a method searches.

    Parameters
    ----------
    strategies : sequence of name and strategy
        The best of them wins.
    published : strategy
        The published algorithm, as it is.
    """

    strategies: Sequence[tuple[str, Strategy]]
    published: Strategy

    def run(self, task: Task, rows: Work, *, as_published: bool, exchange: bool) -> Answer:
        """What the published algorithm finds, or what the best of all strategies does."""
        if as_published:
            return self.published(task, rows, task.limits), ()
        return best_of(task, rows, self.strategies, exchange=exchange)


def best_of(task: Task, data: Work, strategies: Sequence[tuple[str, Strategy]], *, exchange: bool) -> Answer:
    """Restore (and exchange) what each strategy finds, and take the result with the largest weight.

    A strategy that reaches a limit of time or memory is given up; removing all sensitive items always remains.
    """
    rows = None
    best, best_total = Found(task.without_sensitive), -1
    attempts: list[Attempt] = []
    won = -1
    for number, (name, strategy) in enumerate(strategies):
        started = time.perf_counter()
        bounded = task.limits.part(1 / 2)
        choice, note = None, ""
        state: Literal["not chosen", "not finished", "not applicable"] = "not chosen"
        undecided: set[int] = set()
        try:
            found = strategy(task, data, bounded)
            undecided.update(found.undecided)
            rows = task.hierarchy.extended(data, bounded) if rows is None else rows
            choice = Choice(task.hierarchy, rows, task.promise, found.kept, must_stay=task.must_stay, limits=bounded)
            choice.improve() if exchange else choice.restore()
        except Infeasible as stop:
            note, state = stop.what, "not applicable"
        except BudgetExceeded:
            state = "not finished"
            note = f"stopped at the {'time' if bounded.seconds_left() <= 0 else 'memory'} limit"
        loss = None
        if choice is not None:
            loss = task.hierarchy.average_loss(choice.kept)
            if choice.total > best_total:
                dear = undecided.union(choice.undecided).difference(choice.kept)
                best, best_total, won = Found(frozenset(choice.kept), sorted(dear)), choice.total, number
        attempts.append(Attempt(name, loss, time.perf_counter() - started, note, state))
    if won >= 0:
        attempts[won] = replace(attempts[won], state="chosen")
    else:
        loss = task.hierarchy.average_loss(best.kept)
        attempts.append(Attempt("all sensitive items removed", loss, 0.0, state="chosen"))
    return best, tuple(attempts)


def without_sensitive(task: Task, _: Work, __: Limits) -> Found:
    """A start that needs no proof."""
    return Found(task.without_sensitive)


def answered(task: Task, method: str, plan: Plan, *, as_published: bool, exchange: bool, **options: object) -> Release:
    """What was chosen before, or what a plan finds in transactions in memory, as a release."""
    data = task.data

    def search() -> Answer:
        rows = different(Piece(data.offsets, data.items))
        return plan.run(task, rows, as_published=as_published, exchange=exchange)

    account = task.account(search, as_published=as_published, exchange=exchange, **options)  # type: ignore[arg-type]
    released = data.without(account["suppressed"]).renamed(account["generalized"])
    return Release(original=data, custodian_data=released, method=method, **account)
