"""The methods for transactions that an engine holds: they decide by the same code as those in memory.

The driver knows the names of items, their numbers and lists of moles. All counting, and the change itself, happens
where the transactions lie.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize.coherence.auto import chosen_or_best
from veilset.anonymize.coherence.generalize import best_cut
from veilset.anonymize.coherence.k_anonymity import suppressed_for_classes
from veilset.anonymize.coherence.remove_all import in_any_mole
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.coherence.tree import by_greedy
from veilset.anonymize.held import released, renamed
from veilset.anonymize.options import (
    Chosen,
    Items,
    LargestListed,
    NameLeavesFrom,
    Partial,
    Restore,
    TaxonomyOption,
    Truthful,
    WeightsOption,
)
from veilset.anonymize.taxonomies import check_name_leaves_from
from veilset.anonymize.thinned_cut import check_partial
from veilset.anonymize.weights import Weights
from veilset.engines import Held
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.mining import OnEngine
from veilset.models import Coherence
from veilset.release import HeldRelease


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


def generalize(
    data: Held,
    promise: Coherence,
    /,
    *,
    taxonomy: TaxonomyOption = None,
    name_leaves_from: NameLeavesFrom = None,
    keep: Items = (),
    partial: Partial = False,
    truthful: Truthful = True,
    chosen: Chosen = None,
    limits: Limits,
) -> HeldRelease:
    """``generalize``; the minimal moles of the names that its search looks at must fit into a list."""
    check_name_leaves_from(name_leaves_from)
    check_partial(partial, truthful)
    if partial:
        raise InvalidArgument(
            f"{said('partial', True)} is not available on an engine yet.",
            "Leave it out, or read the data into memory, with vs.read.",
        )

    def task_of(recoding: Mapping[str, str], kept: Collection[str]) -> Task:
        seen = renamed(data, data.vocabulary.renamed(recoding), recoding) if recoding else data
        return HeldTask.of(seen, promise, keep=kept, limits=limits).task

    found = best_cut(data.vocabulary, task_of, taxonomy, keep, chosen)
    gone, recoding = found.nodes.uncovered(found.cut), found.nodes.recoding(found.cut)
    account = found.account(found.cut, gone, name_leaves_from)
    return released(
        data,
        promise=promise,
        method="generalize",
        suppressed=gone,
        generalized=recoding,
        supports=OnEngine(data).supports,
        attempts=found.attempts,
        **account,
    )


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
        seen = renamed(held, names.renamed(groups), groups) if groups else held
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
        return released(
            self.held,
            promise=self.task.promise,
            method=method,
            suppressed=suppressed,
            generalized={},
            options=options,
            supports=self.supports,
            **account,
        )
