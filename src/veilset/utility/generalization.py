"""Losses where items are recoded: how much less the names in a release say (Cao et al. 2010 §3.2)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from veilset.release import Release


def average_loss(release: Release) -> float:
    """avgLoss: the sum of sup(a) * infoLoss(a) over all items a, divided by the sum of sup(a).

    infoLoss is 1 for a removed occurrence, 0 for an unchanged one, and IL_g = |leaves(g)| / |public items| for one that
    now has the name of the group g. Only public items and leaves that occur in the original count: other items of a
    taxonomy make a release neither better nor worse. So a group of all public items loses as much as suppression. If
    the loss does not follow from the edits, the method has measured it.
    """
    if release.own_loss is not None:
        return release.own_loss
    everything = len(release.original.items)
    if not everything:
        return 0.0
    lost, public = _lost(release)
    return float(Fraction(int(lost.sum()), everything * public))


class ItemLoss(NamedTuple):
    """What became of one item of the original.

    *released_as* is its own name, that of a group, or None if it was removed; *loss* is its infoLoss, averaged over its
    *support* occurrences if transactions were withheld or single occurrences removed.
    """

    item: str
    sensitive: bool
    support: int
    released_as: str | None
    loss: Fraction


def info_loss(release: Release) -> tuple[ItemLoss, ...]:
    """infoLoss of every item of the original, in vocabulary order; `average_loss` is its mean.

    Examples
    --------
    >>> from veilset import Coherence, Transactions
    >>> rows = [["ale", "bun"], ["ale", "bun"], ["bun", "rum"], ["rum"], ["fig"]]
    >>> data, recoded = Transactions.from_lists(rows), {"ale": "drinks", "rum": "drinks"}
    >>> made = data.without(["fig"]).renamed(recoded)
    >>> release = Release(data, made, Coherence(k=2, p=2), "by hand", {}, ("fig",), recoded)
    >>> for item in info_loss(release):
    ...     print(item.item, item.support, item.released_as, item.loss)
    ale 2 drinks 1/2
    bun 3 bun 0
    fig 1 None 1
    rum 2 drinks 1/2
    """
    original, gone = release.original, set(release.suppressed)
    lost, public = _lost(release)
    rows = zip(original.names, original.is_sensitive.tolist(), original.supports.tolist(), lost.tolist(), strict=True)
    return tuple(
        ItemLoss(
            item,
            bool(sensitive),
            support,
            None if item in gone else release.generalized.get(item, item),
            Fraction(units, support * public),
        )
        for item, sensitive, support, units in rows
    )


def _lost(release: Release) -> tuple[npt.NDArray[np.int64], int]:
    """sup(a) * infoLoss(a) of every item a, in units of 1 / (number of public items); and that number."""
    original = release.original
    public = len(original.public) or 1
    leaves = Counter(release.generalized.values())
    unsure = np.zeros(len(original.names), dtype=np.int64)
    unsure[original.codes(release.generalized)] = [leaves[name] for name in release.generalized.values()]
    there = release.survivors()
    return (original.supports - there) * public + there * unsure, public
