"""What a method is asked to do: the data as the promise sees it, the weight of each item, and what must stay."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.weights import Weights, as_given, named_items, weights_of
from veilset.errors import Infeasible, InvalidArgument
from veilset.exact import percent
from veilset.limits import Limits
from veilset.mining import InMemory, Itemsets, Miner, Moles, Question, breach_of, minimal_rare_chunks
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


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
    miner: Miner
    """Who counts in *data*."""
    occurrences: int
    """How many items the original's transactions have together."""

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
        return cls.counted(
            data, seen, promise, InMemory(seen), len(data.items), weights=weights, keep=keep, limits=limits
        )

    @classmethod
    def counted(
        cls,
        original: Transactions,
        data: Transactions,
        promise: Coherence,
        miner: Miner,
        occurrences: int,
        *,
        weights: Weights,
        keep: Iterable[str],
        limits: Limits,
    ) -> Task:
        """The task for transactions that a miner counts in; *original* and *data* need only have names and roles."""
        weight = miner.supports if weights is None else weights_of(data, weights, only_public=True)
        kept = named_items(original, keep, "keep", only_public=True)
        task = cls(original, data, promise, weight, weights, kept, limits, miner, occurrences)
        if kept and (broken := miner.first_mole(task.question, kept)) is not None:
            raise Infeasible(
                f"Items that must be kept break the promise: {task.why(broken)}.",
                "Remove one of these items from the list, or choose a smaller k or p or a larger h.",
            )
        return task

    def within(self, limits: Limits, **changes: Any) -> Task:
        """The same task within other limits, or with other changes that leave the size-1 moles as they are."""
        other = replace(self, limits=limits, **changes)
        if "alone" in self.__dict__:
            other.__dict__["alone"] = self.alone
        return other

    def part(self, share: float, patience: float) -> Limits:
        """Limits for a part: this share of the time left, and no more than some seconds where seconds count."""
        return self.limits.part(share, patience if self.miner.in_time else None)

    def knowing(self, moles: Itemsets) -> Task:
        """The same task, which need not look for its size-1 moles any more."""
        alone = moles[moles.sizes == 1]
        other = replace(self)
        other.__dict__["alone"] = tuple(self.data.names[code] for code in alone.items.tolist())
        return other

    @property
    def question(self) -> Question:
        """What is a mole here."""
        promise = self.promise
        return {"k": promise.k, "h": promise.share, "max_size": promise.p, **self.limits.bounds()}

    def moles(self, *, max_size: int | None = None, items: Collection[str] | None = None) -> Itemsets:
        """The minimal moles of up to *max_size* items (None: p) made of *items* (None: of all public ones)."""
        question = self.question
        if max_size is not None:
            question["max_size"] = max_size
        return self.miner.moles(question, items)

    def mole_chunks(self, chunk_size: int, *, items: Collection[str] | None = None) -> Iterator[Moles]:
        """The minimal moles made of *items* (None: of all public ones), so many at a time."""
        return minimal_rare_chunks(self.data, **self.question, items=items, chunk_size=chunk_size)

    @cached_property
    def alone(self) -> tuple[str, ...]:
        """The size-1 moles, which no release can keep (Observation 2)."""
        return tuple(self.data.names[code] for code in self.moles(max_size=1).items.tolist())

    def lost(self, suppressed: Collection[str]) -> int:
        """What suppressing these items costs, in units of *weight*."""
        return int(self.weight[self.data.codes(suppressed)].sum())

    def loss(self, suppressed: Collection[str]) -> float:
        """The share of all item occurrences that goes with these items."""
        return int(self.miner.supports[self.data.codes(suppressed)].sum()) / max(1, self.occurrences)

    def chosen(self, items: Iterable[str]) -> frozenset[str]:
        """The items that an earlier run chose to suppress, once it is known that they may be."""
        gone = named_items(self.original, items, "chosen", only_public=True)
        if lost := self.keep.intersection(gone):
            raise InvalidArgument(
                f"{min(lost)!r} is listed both as kept and as suppressed.", "Remove it from one of the lists."
            )
        return gone

    def why(self, mole: Sequence[str]) -> str:
        """Why a mole is one."""
        support, with_it, sensitive = breach_of(self.miner, self.data, mole)
        together = " + ".join(map(repr, mole))
        if support < self.promise.k:
            times = "transaction" if support == 1 else "transactions"
            return f"only {support} {times} contain{'s' * (support == 1)} {together}"
        verb = "gives" if len(mole) == 1 else "give"
        return f"{together} {verb} an attacker {percent(Fraction(with_it, support))} confidence in {sensitive!r}"

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
