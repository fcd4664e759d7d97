"""What ρ-uncertainty costs at least: a floor, because of rules made of sensitive items alone.

Generalization recodes public items only, and suppression changes no support of what it leaves. So a rule χ → α among
sensitive items that is too sure is so in every release, until one of its items is suppressed everywhere: no release
keeps all of χ and α. The least weight of sensitive items that hits all such sets is a loss nobody can avoid. It is hard
to find; what is given is a **proven lower bound** of it, from the rules with up to two items on the left side
(`native/rules/hitting_bound.cpp`). Between it and removing all sensitive items lies what a method can save.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.limits import Limits
from veilset.mining import Rules, rules
from veilset.models import RhoUncertainty
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.utility.metric import Metric
from veilset.utility.utilities import Count, Utility

if TYPE_CHECKING:
    from veilset.utility.account import Account

_MOST_ITEMS = 1000
_ADVICE = "leave the lower bound out."


def least_loss(data: Transactions, promise: RhoUncertainty, *, limits: Limits | None = None) -> float:
    """A lower bound of the share of item occurrences lost by any release of *data* that keeps *promise*.

    Only the 1,000 most frequent sensitive items are considered; others can only add to the loss.

    Examples
    --------
    >>> data = Transactions.from_lists([["s", "t"], ["s", "t"], ["s"], ["a"], ["a"]], sensitive=["s", "t"])
    >>> least_loss(data, RhoUncertainty(rho="2/3"))  # t → s: one of them goes, at best t with 2 of 7 occurrences
    0.2857142857142857
    """
    limits = limits or Limits()
    rho = promise.rho
    secret = data.only(data.sensitive)
    # Who knows nothing infers these; they go, and all others are looked at without them.
    common = secret.supports * rho.denominator >= rho.numerator * len(data)
    lost = int(secret.supports[common].sum())
    rest = secret.without(secret.names[code] for code in np.flatnonzero(common).tolist())
    heaviest = np.argsort(-rest.supports, kind="stable")[:_MOST_ITEMS]
    names = [rest.names[code] for code in heaviest.tolist()]
    found = rules(rest, 1, rho, max_size=3, items=names, **limits.bounds())
    place = np.full(len(rest.names), -1, dtype=np.int32)
    place[heaviest] = np.arange(len(heaviest), dtype=np.int32)
    weights = rest.supports[heaviest]
    with limits.guard("Searching for a lower bound of the loss", _ADVICE):
        kept = _native.rules.kept_at_most(
            weights,
            _sets_of(found, 2, place),
            _sets_of(found, 3, place),
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Searching for a lower bound of the loss"),
        )
    lost += int(weights.sum()) - kept
    return float(Fraction(lost, max(1, len(data.items))))


def _sets_of(found: Rules, size: int, place: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The items of the rules with so many, both sides together, each set once, one after the other."""
    left = found.antecedents
    chosen = np.flatnonzero(np.diff(left.offsets) == size - 1)
    columns = [left.items[left.offsets[chosen] + at] for at in range(size - 1)]
    sets = np.sort(place[np.stack([*columns, found.consequents[chosen]], axis=1)], axis=1)
    # One number a set: places are below 1,000, and three of them fit.
    keys = np.unique(sets.astype(np.int64) @ _MOST_ITEMS ** np.arange(size - 1, -1, -1))
    digits = [keys // _MOST_ITEMS**power % _MOST_ITEMS for power in range(size - 1, -1, -1)]
    return np.stack(digits, axis=1).astype(np.int32).ravel()


def _too_common(release: Release, promise: RhoUncertainty) -> tuple[str, ...]:
    """The sensitive items that an attacker who knows nothing infers: suppressing others makes them no rarer."""
    return promise.inferred_from_nothing(release.original)


def _floor(account: Account, limits: Limits) -> dict[str, float]:
    return {"floor": least_loss(account.release.original, account.promise, limits=limits)}


RHO_UNCERTAINTY = Utility(
    unavoidable=_too_common,
    metrics=(
        Metric(
            "floor",
            "minimum average loss, proven: sensitive items that imply each other too strongly cannot all be kept",
            1,
            "neither",
        ),
    ),
    counts=(Count(1 / 2, _floor),),
    decisive=("average_loss", "sensitive_kept", "items_lost", "nuggets_lost", "top_rules_kept"),
)
