"""The methods for transactions that an engine holds: they decide by the same code as those in memory.

The driver knows the names of items, their numbers and lists of moles. All counting, and the change itself, happens
where the transactions lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.auto import chosen_or_best
from veilset.anonymize.coherence.k_anonymity import suppressed_for_classes
from veilset.anonymize.coherence.remove_all import in_any_mole
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.coherence.tree import by_greedy
from veilset.anonymize.options import Chosen, Items, LargestListed, Restore, WeightsOption
from veilset.anonymize.weights import Weights
from veilset.engines import Held
from veilset.limits import Limits
from veilset.mining import OnEngine
from veilset.models import Coherence
from veilset.release import HeldRelease
from veilset.transactions import Transactions


def auto(
    data: Held,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    chosen: Chosen = None,
    limits: Limits,
) -> HeldRelease:
    """``auto``; whether all moles are listed depends on their number alone, not on seconds."""
    asked = HeldTask.of(data, promise, weights=weights, keep=keep, limits=limits)
    gone, attempts = chosen_or_best(asked.task, chosen)
    return asked.release("auto", gone, asked.task.options(chosen=gone), attempts=attempts)


def tree(
    data: Held,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    restore: Restore = True,
    largest_listed: LargestListed = None,
    limits: Limits,
) -> HeldRelease:
    """``tree``."""
    asked = HeldTask.of(data, promise, weights=weights, keep=keep, limits=limits)
    gone, largest_listed = by_greedy(asked.task, largest_listed, restore=restore)
    return asked.release("tree", gone, asked.task.options(restore=restore, largest_listed=largest_listed))


def remove_all(data: Held, promise: Coherence, /, *, restore: Restore = False, limits: Limits) -> HeldRelease:
    """``remove-all``."""
    asked = HeldTask.of(data, promise, limits=limits)
    return asked.release("remove-all", in_any_mole(asked.task, restore=restore), {"restore": restore})


def k_anonymity(data: Held, promise: Coherence, /, *, limits: Limits) -> HeldRelease:
    """``k-anonymity``."""
    asked = HeldTask.of(data, promise, limits=limits)
    return asked.release("k-anonymity", suppressed_for_classes(asked.task), {})


@dataclass(frozen=True)
class HeldTask:
    """One question to a method about transactions that an engine holds."""

    held: Held
    task: Task
    supports: npt.NDArray[np.int64]
    """For each item of what is held, how many transactions hold it."""

    @classmethod
    def of(
        cls,
        held: Held,
        promise: Coherence,
        *,
        weights: Weights = None,
        keep: Iterable[str] = (),
        limits: Limits,
    ) -> HeldTask:
        """The task, once it is known that it can be done; else `Infeasible` says why not."""
        names = held.vocabulary
        promise.check_data(names)
        groups = promise.group_names(names)
        seen = _renamed(held, names.renamed(groups), groups) if groups else held
        miner = OnEngine(seen, any_number=promise.p is None)
        sensitive = seen.vocabulary.sensitive
        holders = miner.supports[seen.vocabulary.codes(sensitive)].tolist()
        promise.refuse_counts(len(held), dict(zip(sensitive, holders, strict=True)))
        supports = OnEngine(held).supports if groups else miner.supports
        task = Task.counted(
            names, seen.vocabulary, promise, miner, int(supports.sum()), weights=weights, keep=keep, limits=limits
        )
        return cls(held, task, supports)

    def release(
        self, method: str, suppressed: Iterable[str], options: Mapping[str, object], **account: Any
    ) -> HeldRelease:
        """What a method answers with when it has chosen what to suppress."""
        gone = self.task.data.in_order(suppressed)
        return HeldRelease(
            original=self.held,
            custodian_data=_renamed(self.held, self.held.vocabulary.without(gone), {}),
            promise=self.task.promise,
            method=method,
            options=options,
            suppressed=gone,
            supports=self.supports,
            **account,
        )


def _renamed(held: Held, vocabulary: Transactions, names: Mapping[str, str]) -> Held:
    """The same transactions with items renamed to those of another vocabulary; what is not there is left out."""
    code_of = {name: code for code, name in enumerate(vocabulary.names)}
    codes = [code_of.get(names.get(name, name), -1) for name in held.vocabulary.names]
    return held.changed(np.array(codes, dtype=np.int32), vocabulary)
