"""Which join values stay in the join where small groups are suppressed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veilset.joins.columns import Codes
from veilset.joins.parties.leakage import Mask


def kept_keys(
    keys: Mapping[int, tuple[Codes, int]],
    floors: Mapping[int, int],
    classes: Codes | None = None,
    alive: Mapping[int, Mask] | None = None,
) -> dict[int, Mask]:
    """The join values of one table that stay in the join where small groups are suppressed, by edge.

    A join value stays if as many of our rows have it as the floor of its edge says (1 where nothing is suppressed). A
    row stays if its join values on all edges do. Taking out one takes out the other, so this is repeated until nothing
    changes. Neighbours do the same: what either takes out is *alive* for neither, and both begin again until no mask
    changes. Then every row is in the join, since the join is acyclic, and no class summary shows a smaller group.

    Parameters
    ----------
    keys : mapping
        For each edge of the table, the number of each row's join value, and how many there are, as a `Site` has them.
    floors : mapping
        The floor of each edge; 1 for those that are not named.
    classes : array of int32, optional
        In the target table, the class of each row.
    alive : mapping, optional
        For each edge, the join values that the neighbour keeps.

    Examples
    --------
    >>> ids = np.array([0, 0, 1], np.int32)
    >>> kept_keys({0: (ids, 2), 1: (np.array([0, 1, 1], np.int32), 2)}, {0: 2})[1].tolist()
    [True, True]
    """
    kept = {edge: np.ones(count, bool) for edge, (_, count) in keys.items()}
    for edge, mask in (alive or {}).items():
        kept[edge] &= mask
    while True:
        masks = [np.append(kept[edge], False)[codes] for edge, (codes, _) in keys.items()]  # the last is that of -1
        rows = np.logical_and.reduce(masks if classes is None else [*masks, classes >= 0])
        now = {
            edge: kept[edge] & (np.bincount(codes[rows], minlength=count) >= floors.get(edge, 1))
            for edge, (codes, count) in keys.items()
        }
        if all(np.array_equal(now[edge], kept[edge]) for edge in keys):
            return now
        kept = now
