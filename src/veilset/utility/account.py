"""The account of a release: what is known of its losses, each thing counted once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import BudgetExceeded, Infeasible
from veilset.exact import Support
from veilset.limits import Limits
from veilset.models import Promise
from veilset.release import Release, by_support
from veilset.utility.losses import COMMON_METRICS, COUNTS
from veilset.utility.metric import Metric
from veilset.utility.nuggets import nugget_support_of
from veilset.utility.utilities import UTILITIES, SideEffect, Telling

_SECONDS = 10.0


def metrics_of(promise: Promise | type[Promise]) -> tuple[Metric, ...]:
    """The metrics of releases under this promise: those of all promises, then its own."""
    mixed = promise.edits == "buckets"
    common = tuple(metric for metric in COMMON_METRICS if not (mixed and metric.compares_rows))
    return (*common, *UTILITIES.of(promise).metrics)


class Account:
    """What a release lost. Everything is counted once, on first use.

    Parameters
    ----------
    release : Release
    nugget_support, nugget_size : optional
        k' and p' of nuggets; rules are of the same k'. See `veilset.utility.nuggets`.
    limits : Limits, optional
        For everything together. Without a time limit, each count may take 10 seconds; with one, a part of the time
        left. Anything that takes longer, or too much memory, is left out of `values`, never guessed.
    """

    release: Release

    def __init__(
        self,
        release: Release,
        *,
        nugget_support: Support | None = None,
        nugget_size: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.release = release
        self.promise: Any = release.promise
        self.nugget_support = nugget_support_of(release, nugget_support)
        self.nugget_size = nugget_size
        self._limits = limits or Limits()
        self._utility = UTILITIES.of(release.promise)
        self._effects: tuple[SideEffect, ...] | None = None

    @cached_property
    def _alone(self) -> tuple[str, ...] | Mapping[str, Telling | None] | None:
        try:
            return self._utility.unavoidable(self.release, self.promise)
        except Infeasible:
            return None

    @property
    def unavoidable(self) -> tuple[str, ...] | None:
        """The items that any method would have to remove; None: no method could make the original keep the promise."""
        return None if self._alone is None else tuple(self._alone)

    @property
    def telling(self) -> tuple[Telling, ...]:
        """The suppressed items whose absence tells something, the most frequent first."""
        told = [*filter(None, self._alone.values())] if isinstance(self._alone, Mapping) else []
        gone = set(self.release.suppressed)
        return tuple(sorted((one for one in told if one.item in gone), key=lambda one: one.rank))

    @property
    def unavoidable_by_support(self) -> tuple[str, ...]:
        """The same, the most frequent first."""
        return by_support(self.release.original, self.unavoidable or ())

    @cached_property
    def survivors(self) -> npt.NDArray[np.int64]:
        """For each item of the original, the number of its occurrences that were kept."""
        return self.release.survivors()

    @property
    def hides(self) -> bool:
        """Whether patterns were to be hidden."""
        return self._utility.side_effects is not None

    def side_effects(self, limits: Limits | None = None) -> tuple[SideEffect, ...] | None:
        """What became of each pattern that was to be hidden or kept; None if there are none.

        `BudgetExceeded` is raised beyond the limits.
        """
        if self._effects is None and self._utility.side_effects is not None:
            self._effects = self._utility.side_effects(self.release, limits or self._limits)
        return self._effects

    @cached_property
    def values(self) -> dict[str, float]:
        """All metrics by name, except those not decided within the limits."""
        fitting = self.metrics
        found = {metric.name: metric.quick(self) for metric in fitting if metric.quick is not None}
        seconds = _SECONDS if self._limits.time_limit is None else None
        for count in (*self._utility.counts, *COUNTS):
            with suppress(BudgetExceeded):
                found |= count.numbers(self, self._limits.part(count.share, seconds))
        return {metric.name: found[metric.name] for metric in fitting if metric.name in found}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that apply to this release."""
        feasible = self.unavoidable is not None
        return tuple(metric for metric in metrics_of(self.promise) if feasible or not metric.only_feasible)
