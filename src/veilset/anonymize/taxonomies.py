"""Transactions in which items are replaced by nodes of a taxonomy, and what readers are told of these nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from veilset.exact import check_whole
from veilset.limits import Limits
from veilset.transactions import Transactions


def replaced(
    data: Transactions, becomes: list[list[int]], limits: Limits
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The rows with each item replaced by what it becomes."""
    sizes = np.array([len(nodes) for nodes in becomes], dtype=np.int64)
    flat = np.array([node for nodes in becomes for node in nodes], dtype=np.int32)
    first = np.concatenate([[0], np.cumsum(sizes)])
    size_at = sizes[data.items] if len(data.items) else np.zeros(0, dtype=np.int64)
    end = np.concatenate([[0], np.cumsum(size_at)]).astype(np.int64)
    # Row numbers, nodes, their names as text and once more in vocabulary order.
    limits.require(48 * int(end[-1]), "Recoding", "give a taxonomy with fewer levels.")
    within = np.arange(end[-1]) - np.repeat(end[:-1], size_at)
    return end[data.offsets], flat[np.repeat(first[data.items], size_at) + within] if len(flat) else flat


def check_name_leaves_from(least: object) -> None:
    """Raise unless it is a number of transactions, or None."""
    check_whole(least, "name_leaves_from", "Give a whole number, or 0 to list all items.", least=0, may_be_none=True)


def listed_under(
    stands_for: Mapping[str, Collection[str]], data: Transactions, least: int
) -> dict[str, tuple[str, ...]]:
    """What readers are told of each coarser name: its items that *least* transactions have; a name of none is left out.

    Whether an item that is not listed occurs is left open: it may be rare, or missing.

    >>> data = Transactions.from_lists([["ale"], ["ale", "rum"], ["fig"]])
    >>> listed_under({"drinks": ("ale", "gin", "rum"), "food": ("fig",)}, data, 2)
    {'drinks': ('ale',)}
    """
    support = dict(zip(data.names, data.supports.tolist(), strict=True))
    told = {name: tuple(item for item in items if support.get(item, 0) >= least) for name, items in stands_for.items()}
    return {name: items for name, items in told.items() if items}
