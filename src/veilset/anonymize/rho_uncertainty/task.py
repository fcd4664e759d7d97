"""What a method is asked to do, and what its release says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.rho_uncertainty.found import Found
from veilset.anonymize.rho_uncertainty.hierarchy import STUCK, Hierarchy
from veilset.anonymize.taxonomies import listed_under
from veilset.anonymize.weights import Weights, as_given, named_items, weights_of
from veilset.errors import Infeasible, InvalidArgument, said
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.release import Attempt
from veilset.transactions import Taxonomy, Transactions
from veilset.transactions.vocabulary import several

_LARGEST = 2**61


@dataclass(frozen=True)
class Task:
    """One question to a method."""

    data: Transactions
    """The original; where an engine holds it, only its names and roles."""
    supports: npt.NDArray[np.int64]
    """For each item, the number of transactions that hold it."""
    population: int
    """How many transactions there are."""
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
        return cls.counted(
            data,
            data.supports.astype(np.int64),
            len(data),
            promise,
            taxonomy,
            weights=weights,
            sensitive_weight=sensitive_weight,
            keep=keep,
            limits=limits,
        )

    @classmethod
    def counted(
        cls,
        data: Transactions,
        supports: npt.NDArray[np.int64],
        population: int,
        promise: RhoUncertainty,
        taxonomy: Taxonomy | None,
        *,
        weights: Weights,
        sensitive_weight: int,
        keep: Iterable[str],
        limits: Limits,
    ) -> Task:
        """The task for transactions of which this is known; *data* need only have names and roles."""
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
        weight = supports if weights is None else weights_of(data, weights, only_public=False)
        weight = weight * np.where(data.is_sensitive == 1, sensitive_weight, 1)
        # Kernels add up the weights of items, in units of 1 / (number of public items), as integers of 64 bits.
        if float(weight.sum(dtype=np.float64)) * max(1, len(data.public)) >= _LARGEST:
            raise InvalidArgument(
                f"The total weight of all {len(data.names):,} items is too large to count exactly.",
                f"Divide all weights by the same number, or use a smaller {said('sensitive_weight')}.",
            )
        return cls(
            data,
            supports,
            population,
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
        return Hierarchy(self.data, self.supports, self.population, self.taxonomy, self.weight)

    @cached_property
    def must_stay(self) -> list[int]:
        """The entries of what must survive."""
        return sorted(self.hierarchy.entry(item) for item in self.keep)

    @property
    def without_sensitive(self) -> list[int]:
        """All public items as they are, and nothing else: the paper's Simple, which needs no proof."""
        tree = self.hierarchy
        return [entry for entry in tree.above if not tree.sensitive[entry] and not tree.children[entry]]

    def account(
        self,
        search: Callable[[], tuple[Found, tuple[Attempt, ...]]],
        *,
        as_published: bool,
        exchange: bool,
        chosen: Iterable[str] | None,
        listed_from: int = 0,
        **options: object,
    ) -> dict[str, Any]:
        """What a release says of what was chosen before, or of what a *search* finds, wherever its data lies."""
        options |= {"as_published": as_published or None, "exchange": None if exchange else False}
        found, attempts = search() if chosen is None else (Found(self.named(chosen)), ())
        if chosen is not None or not as_published:
            options["chosen"] = tuple(self.hierarchy.label(entry) for entry in sorted(found.kept))
        return self._account(found, options, attempts, listed_from)

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

    def _account(
        self, found: Found, options: dict[str, object], attempts: tuple[Attempt, ...], listed_from: int
    ) -> dict[str, Any]:
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
        return {
            "promise": self.promise,
            "options": as_given(weights=self.weights, sensitive_weight=times, keep=self.keep, **options),
            "suppressed": gone,
            "generalized": recoding,
            "stands_for": listed_under(groups, self.data.names, self.supports, listed_from),
            "listed_from": listed_from,
            "undecided": tuple(name for name in gone if name in dear),
            "notes": self.notes,
            "attempts": attempts,
        }
