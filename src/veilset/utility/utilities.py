"""What measuring has to know of a promise: what any method must remove, and which numbers it has of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from veilset.limits import Limits
from veilset.mining import Standing
from veilset.models import PerPromise
from veilset.release import Release
from veilset.utility.metric import Metric

if TYPE_CHECKING:
    from veilset.utility.account import Account

Rule = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class SideEffect:
    """What became of one pattern, or of one rule.

    Parameters
    ----------
    items : tuple of str
        The pattern; of a rule, both sides together.
    kind : {"hidden", "keep"}
        Whether it was to be hidden or kept.
    fate : {"hidden", "found", "kept", "lost"}
        What became of it: hidden or found, kept or lost.
    before, after : int
        Number of transactions that contain all its items, in the original and in the release.
    level : Fraction or None
        The share of its limits that a hidden one had to stay below; None: none was drawn.
    rule : pair of tuples of str, or None
        Antecedent and consequent, if it is a rule.
    standing : Standing or None
        How much a hidden one stands out; None: no two of its items are frequent enough to tell, or it was to stay.
    """

    items: tuple[str, ...]
    kind: Literal["hidden", "keep"]
    fate: Literal["hidden", "found", "kept", "lost"]
    before: int
    after: int
    level: Fraction | None
    rule: Rule | None
    standing: Standing | None = None


@dataclass(frozen=True)
class Telling:
    """An item whose absence tells something: people expect it, and a method removes no more than it must.

    Parameters
    ----------
    item : str
        A public item that enough transactions of the original hold to stay, if that were all.
    support : int
        How many.
    rank : int
        Its place among the public items of the original by support, counted from 1.
    sensitive : str
        The sensitive item that it gives away by itself.
    confidence : Fraction
        The share of its transactions that hold that one.
    """

    item: str
    support: int
    rank: int
    sensitive: str
    confidence: Fraction


@dataclass(frozen=True)
class Count:
    """Numbers that are counted together, which may take long.

    Parameters
    ----------
    share : float
        Maximum share of the time left.
    numbers : callable
        From an account and limits to the numbers by name; `BudgetExceeded` is raised beyond the limits.
    """

    share: float
    numbers: Callable[[Account, Limits], Mapping[str, float]]


@dataclass(frozen=True)
class Utility:
    """What is measured for one promise.

    Parameters
    ----------
    unavoidable : callable
        From a release and its promise to the items that no release can keep, in vocabulary order; perhaps with what
        the absence of each tells, or None.
    metrics : tuple of Metric
        Those of this promise alone.
    counts : tuple of Count
        How the slow ones are counted.
    decisive : tuple of str
        The names of the five metrics that matter most for the decision, the most important first.
    side_effects : callable, optional
        From a release to what became of each pattern, if patterns are hidden.
    """

    unavoidable: Callable[[Release, Any], tuple[str, ...] | Mapping[str, Telling | None]] = lambda release, promise: ()
    metrics: tuple[Metric, ...] = ()
    counts: tuple[Count, ...] = ()
    decisive: tuple[str, ...] = ("items_lost", "kinds_lost", "nuggets_lost", "top_rules_kept", "sensitive_kept")
    side_effects: Callable[[Release, Limits], tuple[SideEffect, ...]] | None = None


UTILITIES = PerPromise[Utility]("measure of utility")
