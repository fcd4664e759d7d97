"""The methods for transactions that an engine holds: they decide by the same code as those in memory.

A search asks thousands of questions one after another, and which rule it finds first, and how much work that takes,
depends on all transactions. So the cluster brings together what is different, with numbers, and one task searches
there. It is given the names of items, and answers with what is to be kept: no transaction comes to the driver. If there
are too many different ones for a task, the method is refused (`MOST`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial as given_to

import numpy as np
import numpy.typing as npt

from veilset.anonymize.held import released
from veilset.anonymize.options import (
    AsPublished,
    Chosen,
    Exchange,
    Items,
    NameLeavesFrom,
    Partial,
    SensitiveWeight,
    TaxonomyOption,
    Truthful,
    WeightsOption,
)
from veilset.anonymize.rho_uncertainty.search import Answer, Plan
from veilset.anonymize.rho_uncertainty.suppress import SUPPRESS
from veilset.anonymize.rho_uncertainty.task import Task
from veilset.anonymize.rho_uncertainty.top_down import TOP_DOWN, Grown
from veilset.anonymize.taxonomies import check_name_leaves_from
from veilset.anonymize.thinned_cut import check_partial
from veilset.anonymize.weights import Weights
from veilset.engines import Held, Piece, Work
from veilset.errors import BudgetExceeded, InvalidArgument, said
from veilset.limits import Limits
from veilset.mining import OnEngine
from veilset.models import RhoUncertainty
from veilset.release import HeldRelease
from veilset.transactions import Taxonomy

MOST = 32_000_000
"""Items of different transactions, with the groups above them, that one task is given: some gigabytes."""

_A_MOMENT = 1e-3  # seconds: a limit of time is above 0
_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose multiples are spread evenly


def suppress(
    data: Held,
    promise: RhoUncertainty,
    /,
    *,
    weights: WeightsOption = None,
    sensitive_weight: SensitiveWeight = 1,
    keep: Items = (),
    as_published: AsPublished = False,
    exchange: Exchange = True,
    chosen: Chosen = None,
    limits: Limits,
) -> HeldRelease:
    """``suppress``."""
    task = _task(data, promise, None, weights=weights, sensitive_weight=sensitive_weight, keep=keep, limits=limits)
    return _answered(data, task, "suppress", SUPPRESS, as_published=as_published, exchange=exchange, chosen=chosen)


def top_down(
    data: Held,
    promise: RhoUncertainty,
    /,
    *,
    taxonomy: TaxonomyOption = None,
    name_leaves_from: NameLeavesFrom = None,
    weights: WeightsOption = None,
    sensitive_weight: SensitiveWeight = 1,
    keep: Items = (),
    as_published: AsPublished = False,
    exchange: Exchange = True,
    partial: Partial = False,
    truthful: Truthful = True,
    chosen: Chosen = None,
    limits: Limits,
) -> HeldRelease:
    """``top-down``."""
    check_name_leaves_from(name_leaves_from)
    check_partial(partial, truthful)
    if partial:
        raise InvalidArgument(
            f"{said('partial', True)} is not available on an engine yet.",
            "Leave it out, or read the data into memory, with vs.read.",
        )
    promise.check_meaningful(data.vocabulary)
    supports = OnEngine(data).supports
    grown = Grown.of(data.vocabulary, supports, taxonomy, name_leaves_from, named=chosen is not None)
    asked = {"weights": weights, "sensitive_weight": sensitive_weight, "keep": keep, "limits": limits}
    task = _task(data, promise, grown.tree, **asked)  # type: ignore[arg-type]
    return _answered(
        data,
        task,
        "top-down",
        TOP_DOWN,
        as_published=as_published,
        exchange=exchange,
        chosen=chosen,
        **grown.options,
    )


def remove_sensitive(data: Held, promise: RhoUncertainty, /, *, limits: Limits) -> HeldRelease:
    """``remove-sensitive``."""
    promise.check_meaningful(data.vocabulary)
    limits.step("Suppressing all sensitive items")
    return released(
        data,
        promise=promise,
        method="remove-sensitive",
        suppressed=data.vocabulary.sensitive,
        generalized={},
        options={},
        supports=OnEngine(data).supports,
    )


def _task(
    held: Held,
    promise: RhoUncertainty,
    taxonomy: Taxonomy | None,
    *,
    weights: Weights,
    sensitive_weight: int,
    keep: Items,
    limits: Limits,
) -> Task:
    promise.check_meaningful(held.vocabulary)
    return Task.counted(
        held.vocabulary,
        OnEngine(held).supports,
        len(held),
        promise,
        taxonomy,
        weights=weights,
        sensitive_weight=sensitive_weight,
        keep=keep,
        limits=limits,
    )


def _answered(
    held: Held, task: Task, method: str, plan: Plan, *, as_published: bool, exchange: bool, **options: object
) -> HeldRelease:
    """What was chosen before, or what a plan finds where all different transactions are, as a release."""

    def search() -> Answer:
        _refuse_too_many(held, task)
        limits = task.limits
        look = given_to(
            _look,
            task=replace(task, limits=Limits(threads=1)),  # a task has other memory, and nobody to tell its progress
            seconds=None if limits.time_limit is None else limits.seconds_left(),
            run=given_to(plan.run, as_published=as_published, exchange=exchange),
        )
        limits.step("Searching for items to keep")
        dealt = held.dealt(given_to(dealt_by_row, shares=1), 1)
        try:
            return dealt.each(look)[0]
        finally:
            dealt.close()

    account = task.account(search, as_published=as_published, exchange=exchange, **options)  # type: ignore[arg-type]
    return released(held, method=method, supports=task.supports, **account)


def _look(_: int, rows: Work, *, task: Task, seconds: float | None, run: Callable[[Task, Work], Answer]) -> Answer:
    """What a plan finds, where the rows are."""
    bounded = task if seconds is None else replace(task, limits=Limits(threads=1, time_limit=max(seconds, _A_MOMENT)))
    return run(bounded, rows)


def _refuse_too_many(held: Held, task: Task) -> None:
    """Raise if one task could not hold the different transactions, with the groups above their items."""
    lengths = np.array([len(path) for path in task.hierarchy.paths], dtype=np.int64)
    if int((task.supports * lengths).sum()) <= MOST:
        return  # even if no two are equal
    task.limits.step("Counting different transactions")
    shares = held.parallelism
    dealt = held.dealt(given_to(dealt_by_row, shares=shares), shares)
    try:
        found = sum(dealt.each(given_to(_size, lengths=lengths)))
    finally:
        dealt.close()
    if found > MOST:
        raise BudgetExceeded(
            f"The different transactions have {found:,} items, with the groups above them: more than the {MOST:,} that "
            "a method for rho-uncertainty searches on an engine.",
            "Use the method remove-sensitive.",
        )


def _size(_: int, rows: Work, *, lengths: npt.NDArray[np.int64]) -> int:
    return int(lengths[rows.items].sum())


def dealt_by_row(piece: Piece, *, shares: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Each row once, for a share that depends on nothing but its items."""
    offsets, items = piece
    mixed = (items.astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    sums = np.append(np.uint64(0), np.cumsum(mixed, dtype=np.uint64))
    share = ((sums[offsets[1:]] - sums[offsets[:-1]]) % np.uint64(shares)).astype(np.int32)
    return offsets + np.arange(len(offsets)), np.insert(items, offsets[:-1], share)
