"""What a method is asked to do, and the release it answers with."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from veilset.anonymize.rho_uncertainty.choice import Choice
from veilset.anonymize.rho_uncertainty.hierarchy import STUCK, Hierarchy
from veilset.anonymize.taxonomies import listed_under
from veilset.anonymize.weights import Weights, as_given, named_items, weights_of
from veilset.errors import BudgetExceeded, Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Attempt, Release
from veilset.transactions import Taxonomy, Transactions
from veilset.transactions.vocabulary import several

_LARGEST = 2**61


@dataclass(frozen=True)
class Found:
    """What a strategy found: the entries to keep, and those removed because the check exceeded its work limit."""

    kept: Collection[int]
    undecided: Collection[int] = ()


Strategy: TypeAlias = Callable[[Limits], Found]
"""Finds a start within limits."""


@dataclass(frozen=True)
class Task:
    """One question to a method."""

    data: Transactions
    promise: RhoUncertainty
    taxonomy: Taxonomy
    """Over the public items; a flat one if nothing is to be generalized."""
    weight: npt.NDArray[np.int64]
    """The weight of each item, in units that are the same for all; made from the two weights."""
    weights: Weights
    sensitive_weight: int
    keep: frozenset[str]
    """Items that must survive; public ones as themselves or under the name of a node."""
    notes: tuple[str, ...]
    """What in the taxonomy plays no part."""
    limits: Limits

    @classmethod
    def of(
        cls,
        data: Transactions,
        promise: RhoUncertainty,
        taxonomy: Taxonomy | None,
        *,
        weights: Weights,
        sensitive_weight: int,
        keep: Iterable[str],
        limits: Limits,
    ) -> Task:
        """The task; without a taxonomy, a flat one."""
        promise.check_feasible(data)
        if (
            isinstance(sensitive_weight, bool)
            or not isinstance(sensitive_weight, int)
            or not 1 <= sensitive_weight <= 1000
        ):
            raise InvalidArgument(
                f"{said('sensitive_weight')} is {sensitive_weight!r}.", "Give a whole number from 1 to 1000."
            )
        # A tree has leaves: where no item is public, the sensitive ones, which nothing is made of.
        leaves = data.public or data.names
        tree = Taxonomy.from_paths({name: [] for name in leaves}) if taxonomy is None else taxonomy
        notes = tree.check(data)
        weight = weights_of(data, weights, only_public=False) * np.where(data.is_sensitive == 1, sensitive_weight, 1)
        # Kernels add up the weights of items, in units of 1 / (number of public items), as integers of 64 bits.
        if float(weight.sum(dtype=np.float64)) * max(1, len(data.public)) >= _LARGEST:
            raise InvalidArgument(
                f"The total weight of all {len(data.names):,} items is too large to count exactly.",
                f"Divide all weights by the same number, or use a smaller {said('sensitive_weight')}.",
            )
        return cls(
            data,
            promise,
            tree.pruned(data) if data.public else tree,
            weight,
            weights,
            sensitive_weight,
            named_items(data, keep, "keep", only_public=False),
            notes,
            limits,
        )

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """What can stand for the items."""
        return Hierarchy(self.data, self.taxonomy, self.weight)

    @cached_property
    def must_stay(self) -> list[int]:
        """The entries of what must survive."""
        return sorted(self.hierarchy.entry(item) for item in self.keep)

    @property
    def without_sensitive(self) -> list[int]:
        """All public items as they are, and nothing else: the paper's Simple, which needs no proof."""
        tree = self.hierarchy
        return [entry for entry in tree.above if not tree.sensitive[entry] and not tree.children[entry]]

    def answer(
        self,
        method: str,
        strategies: Sequence[tuple[str, Strategy]],
        published: Strategy,
        *,
        as_published: bool,
        exchange: bool,
        chosen: Iterable[str] | None,
        listed_from: int = 0,
        **options: object,
    ) -> Release:
        """What was chosen before, the published algorithm alone, or the best of several strategies, as a release."""
        options |= {"as_published": as_published or None, "exchange": None if exchange else False}
        attempts: tuple[Attempt, ...] = ()
        if chosen is not None:
            found = Found(self.named(chosen))
        elif as_published:
            return self.release(method, published(self.limits), options, listed_from=listed_from)
        else:
            found, attempts = self.best_of(strategies, exchange=exchange)
        names = tuple(self.hierarchy.label(entry) for entry in sorted(found.kept))
        return self.release(method, found, options | {"chosen": names}, attempts, listed_from=listed_from)

    def best_of(
        self, strategies: Sequence[tuple[str, Strategy]], *, exchange: bool
    ) -> tuple[Found, tuple[Attempt, ...]]:
        """Restore (and exchange) what each strategy finds, and take the result with the largest weight.

        A strategy that reaches a limit of time or memory is given up; removing all sensitive items always remains.
        """
        rows = None
        best, best_total = Found(self.without_sensitive), -1
        attempts: list[Attempt] = []
        won = -1
        for number, (name, strategy) in enumerate(strategies):
            started = time.perf_counter()
            bounded = self.limits.part(1 / 2)
            choice, note = None, ""
            state: Literal["not chosen", "not finished", "not applicable"] = "not chosen"
            undecided: set[int] = set()
            try:
                found = strategy(bounded)
                undecided.update(found.undecided)
                rows = self.hierarchy.extended(bounded) if rows is None else rows
                choice = Choice(
                    self.hierarchy, rows, self.promise, found.kept, must_stay=self.must_stay, limits=bounded
                )
                choice.improve() if exchange else choice.restore()
            except Infeasible as stop:
                note, state = stop.what, "not applicable"
            except BudgetExceeded:
                state = "not finished"
                note = f"stopped at the {'time' if bounded.seconds_left() <= 0 else 'memory'} limit"
            loss = None
            if choice is not None:
                loss = self.hierarchy.average_loss(choice.kept)
                if choice.total > best_total:
                    dear = undecided.union(choice.undecided).difference(choice.kept)
                    best, best_total, won = Found(frozenset(choice.kept), sorted(dear)), choice.total, number
            attempts.append(Attempt(name, loss, time.perf_counter() - started, note, state))
        if won >= 0:
            attempts[won] = replace(attempts[won], state="chosen")
        else:
            loss = self.hierarchy.average_loss(best.kept)
            attempts.append(Attempt("all sensitive items removed", loss, 0.0, state="chosen"))
        return best, tuple(attempts)

    def named(self, names: Iterable[str]) -> list[int]:
        """The entries that an earlier release kept, by their names in it."""
        tree = self.hierarchy
        entry_of = {tree.label(entry): entry for entry in tree.above}
        given = list(several(names, "chosen"))
        if strange := [name for name in given if name not in entry_of]:
            raise InvalidArgument(
                f"{strange[0]!r} is neither an item nor a group of items.",
                "Use the names an earlier release kept.",
            )
        kept = {entry_of[name] for name in given}
        if above := [entry for entry in sorted(kept) if not kept.isdisjoint(tree.above[entry])]:
            raise InvalidArgument(
                f"{tree.label(above[0])!r} must be kept, but so must a group above it.",
                "Remove one of them from the list.",
            )
        return sorted(kept)

    def release(
        self,
        method: str,
        found: Found,
        options: dict[str, object],
        attempts: tuple[Attempt, ...] = (),
        *,
        listed_from: int = 0,
    ) -> Release:
        """What a method answers with when it has chosen what to keep."""
        tree = self.hierarchy
        kept = sorted(found.kept)
        tree.check_names(kept)  # ALL may be among them, which an item may be called as long as it is not used
        names = {}
        for entry in kept:
            for code in tree.items[entry].tolist():
                names[self.data.names[code]] = tree.label(entry)
        gone = tuple(name for name in self.data.names if name not in names)
        if lost := self.keep.intersection(gone):
            why = next((f" {attempt.note}" for attempt in attempts if attempt.note.startswith(STUCK)), "")
            raise Infeasible(
                f"No solution was found that keeps every required item: {min(lost)!r} is lost.{why}",
                "Remove one of these items from the list, or choose a larger rho.",
            )
        dear = {self.data.names[code] for entry in found.undecided for code in tree.items[entry].tolist()}
        recoding = {item: name for item, name in names.items() if item != name}
        groups = {tree.label(entry): tree.stands_for(entry) for entry in kept if len(tree.items[entry]) > 1}
        times = None if self.sensitive_weight == 1 else self.sensitive_weight
        return Release(
            original=self.data,
            custodian_data=self.data.without(gone).renamed(recoding),
            promise=self.promise,
            method=method,
            options=as_given(weights=self.weights, sensitive_weight=times, keep=self.keep, **options),
            suppressed=gone,
            generalized=recoding,
            stands_for=listed_under(groups, self.data, listed_from),
            listed_from=listed_from,
            undecided=tuple(name for name in gone if name in dear),
            notes=self.notes,
            attempts=attempts,
        )
