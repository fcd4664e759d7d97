"""Losses where items are recoded: how much less the names in a release say (Cao et al. 2010 §3.2)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from veilset.release import Release

__all__ = ["average_loss", "recoded"]


def average_loss(release: Release) -> float:
    """avgLoss: the sum of sup(a) * infoLoss(a) over all items a, divided by the sum of sup(a).

    infoLoss is 1 for what is gone, 0 for what is there as it was, and IL_g = |leaves(g)| / |public items| for what has
    the name of the group g now. Public items, and leaves, are those that occur in the original: what a taxonomy knows
    besides does not make a release better or worse. So a group of all public items loses as much as suppression. Of
    noise, the method that made it has measured the loss.
    """
    if release.noise is not None:
        return release.noise
    original = release.original
    everything = len(original.items)
    if not everything:
        return 0.0
    leaves = Counter(release.generalized.values())
    unsure = np.zeros(len(original.names), dtype=np.int64)  # IL in units of 1 / (number of public items)
    unsure[original.codes(release.generalized)] = [leaves[name] for name in release.generalized.values()]
    there = release.survivors()
    public = len(original.public) or 1
    lost = (everything - int(there.sum())) * public + int(there @ unsure)
    return float(Fraction(lost, everything * public))


def recoded(release: Release) -> float:
    """The share of all item occurrences that are still there, under a coarser name."""
    there = release.survivors()[release.original.codes(release.generalized)]
    return float(there.sum()) / max(1, len(release.original.items))
