"""How much an auditor has to do, said before it starts, and progress that ends there.

An auditor goes through the data in passes: one for each size of itemsets, or one for each kind of question. Their
number is known beforehand. An auditor that needs fewer skips to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from veilset import _native
from veilset.limits import KernelLimits, Limits
from veilset.models import Coherence, PerPromise, Promise, RhoUncertainty
from veilset.transactions import Transactions

_STEPS = 1000  # of progress in a pass

# The kernels' own numbers of what they do. Itemsets of n items are n.
_WHOLE, _LOADING, _SINGLE, _ANY, _MARGIN, _EXPOSED, _FEW = 0, *range(1_000_001, 1_000_007)
_WHOLE_ROWS = {_WHOLE: "Comparing whole transactions"}
_INFERENCES = {
    _SINGLE: "Checking inferences from single items",
    _ANY: "Checking inferences from any knowledge",
    _MARGIN: "Searching for the highest confidence",
}


class Plan(Protocol):
    """What an auditor will do; its promise is always of its own kind."""

    def __call__(self, data: Transactions, promise: Any) -> Mapping[int, str]:
        """Its passes in order: the number that the kernel gives each, and what it does."""


def coherence_passes(data: Transactions, promise: Coherence) -> Mapping[int, str]:
    """What decides for any number of known items; and unless that is the question, one for each number up to p."""
    longest = len(_native.audit.row_sizes(data.offsets, data.items, data.is_sensitive)) - 1
    inferences = {_LOADING: "Comparing transactions", **_INFERENCES} if data.sensitive else {}
    whole = {1: "Checking single items", **_WHOLE_ROWS, **inferences}
    if promise.p is None or promise.p >= longest:
        return {**whole, _EXPOSED: "Counting what breaks the promise"}
    sizes = {size: f"Checking itemsets of {size} item{'s' * (size > 1)}" for size in range(1, promise.p + 1)}
    few = {_FEW: "Searching for a few items that are enough", _EXPOSED: "Counting what breaks the promise"}
    return {**whole, **sizes, **few} if promise.p > 2 else sizes


def rho_passes(data: Transactions, promise: RhoUncertainty) -> Mapping[int, str]:
    """From what is cheap to what is dear."""
    return {_LOADING: "Comparing transactions", **_INFERENCES}


PASSES = PerPromise[Plan]("plan of an audit")
PASSES.add(Coherence, coherence_passes)
PASSES.add(RhoUncertainty, rho_passes)


def work_ahead(data: Transactions, promise: Promise) -> str:
    """What an audit will go through, as a sentence.

    >>> data = Transactions.from_lists([["tea", "figs"], ["tea", "milk", "figs"]])
    >>> work_ahead(data, Coherence(k=2, p=2))
    'Checking the promise on 2 transactions with 5 items in all: 2 passes at most.'
    """
    passes = len(PASSES.of(promise)(data, promise)) if type(promise) in PASSES else 1
    rows, items = len(data), len(data.items)
    subject = f"{rows:,} transaction{'s' * (rows != 1)} with {items:,} item{'s' * (items != 1)} in all"
    return f"Checking the promise on {subject}: {passes} pass{'es' * (passes != 1)} at most."


def kernel_limits(limits: Limits, passes: Mapping[int, str]) -> KernelLimits:
    """What is left of the limits, as a kernel takes it; its progress is that of all passes together."""
    progress = limits.progress
    bounds = limits.for_kernel(lambda stage: passes.get(stage, ""))
    if progress is None:
        return bounds
    number = {stage: place for place, stage in enumerate(passes)}
    *_, last = passes
    furthest = 0

    def told(stage: int, done: int, total: int) -> None:
        nonlocal furthest
        stage = stage if stage in passes else last
        furthest = max(furthest, _STEPS * number[stage] + (_STEPS * done // total if total else 0))
        progress(passes[stage], furthest, _STEPS * len(passes))

    bounds["progress"] = told
    return bounds


def finished(limits: Limits, passes: Mapping[int, str]) -> None:
    """Tell that the audit is over, in however many of its passes."""
    *_, last = passes.values()
    limits.step(last, _STEPS * len(passes), _STEPS * len(passes))
