"""What a method is asked to do: the data as the promise sees it, the weight of each item, and what must stay."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.weights import Weights, as_given, named_items, weights_of
from veilset.errors import Infeasible, InvalidArgument
from veilset.exact import percent
from veilset.limits import Bounds, Limits
from veilset.mining import Mole, Moles, minimal_rare, minimal_rare_chunks
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


class Question(Bounds):
    """Which itemsets are moles, and the bounds of the search for them: keyword arguments of `veilset.mining`."""

    k: int
    h: Fraction
    max_size: int | None


@dataclass(frozen=True)
class Task:
    """One question to a method."""

    original: Transactions
    data: Transactions
    """The original as the promise sees it: sensitive items of a group are one item."""
    promise: Coherence
    weight: npt.NDArray[np.int64]
    """IL(v) of each item of *data*, in units that are the same for all; made from *weights*."""
    weights: Weights
    keep: frozenset[str]
    """Public items that must survive."""
    limits: Limits

    @classmethod
    def of(
        cls,
        data: Transactions,
        promise: Coherence,
        *,
        weights: Weights = None,
        keep: Iterable[str] = (),
        limits: Limits,
    ) -> Task:
        """The task, once it is known that it can be done; else `Infeasible` says why not."""
        promise.check_feasible(data)
        seen = promise.as_seen_by_attacker(data)
        weight = weights_of(seen, weights, only_public=True)
        task = cls(data, seen, promise, weight, weights, named_items(data, keep, "keep", only_public=True), limits)
        if task.keep and (broken := next(task.mole_chunks(1, items=task.keep), None)) is not None:
            raise Infeasible(
                f"Items that must be kept break the promise: {_why(broken[0], promise)}.",
                "Remove one of these items from the list, or choose a smaller k or p or a larger h.",
            )
        return task

    def within(self, limits: Limits, **changes: Any) -> Task:
        """The same task within other limits, or with other changes that leave the size-1 moles as they are."""
        other = replace(self, limits=limits, **changes)
        if "alone" in self.__dict__:
            other.__dict__["alone"] = self.alone
        return other

    def knowing(self, moles: Moles) -> Task:
        """The same task, which need not look for its size-1 moles any more."""
        alone = moles[moles.itemsets.sizes == 1].itemsets
        other = replace(self)
        other.__dict__["alone"] = tuple(self.data.names[code] for code in alone.items.tolist())
        return other

    @property
    def question(self) -> Question:
        """What is a mole here."""
        promise = self.promise
        return {"k": promise.k, "h": promise.share, "max_size": promise.p, **self.limits.bounds()}

    def moles(self, *, max_size: int | None = None, items: Collection[str] | None = None) -> Moles:
        """The minimal moles of up to *max_size* items (None: p) made of *items* (None: of all public ones)."""
        question = self.question
        if max_size is not None:
            question["max_size"] = max_size
        return minimal_rare(self.data, **question, items=items)

    def mole_chunks(self, chunk_size: int, *, items: Collection[str] | None = None) -> Iterator[Moles]:
        """The minimal moles made of *items* (None: of all public ones), so many at a time."""
        return minimal_rare_chunks(self.data, **self.question, items=items, chunk_size=chunk_size)

    @cached_property
    def alone(self) -> tuple[str, ...]:
        """The size-1 moles, which no release can keep (Observation 2)."""
        return tuple(mole.items[0] for mole in self.moles(max_size=1))

    def lost(self, suppressed: Collection[str]) -> int:
        """What suppressing these items costs, in units of *weight*."""
        return int(self.weight[self.data.codes(suppressed)].sum())

    def chosen(self, items: Iterable[str]) -> frozenset[str]:
        """The items that an earlier run chose to suppress, once it is known that they may be."""
        gone = named_items(self.original, items, "chosen", only_public=True)
        if lost := self.keep.intersection(gone):
            raise InvalidArgument(
                f"{min(lost)!r} is listed both as kept and as suppressed.", "Remove it from one of the lists."
            )
        return gone

    def options(self, **others: object) -> dict[str, object]:
        """What a recipe must repeat: the options that were given, and those of *others* that are not None."""
        return as_given(weights=self.weights, keep=self.keep, **others)

    def release(
        self, method: str, suppressed: Collection[str], options: Mapping[str, object], **account: Any
    ) -> Release:
        """What a method answers with when it has chosen what to suppress."""
        gone = self.data.in_order(suppressed)
        return Release(
            original=self.original,
            custodian_data=self.original.without(gone),
            promise=self.promise,
            method=method,
            options=options,
            suppressed=gone,
            **account,
        )


def _why(mole: Mole, promise: Coherence) -> str:
    together = " + ".join(map(repr, mole.items))
    if mole.support < promise.k:
        times = "transaction" if mole.support == 1 else "transactions"
        return f"only {mole.support} {times} contain{'s' * (mole.support == 1)} {together}"
    verb = "gives" if len(mole.items) == 1 else "give"
    return f"{together} {verb} an attacker {percent(mole.breach)} confidence in {mole.sensitive!r}"
