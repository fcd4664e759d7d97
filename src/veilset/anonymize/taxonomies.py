"""Transactions in which items are replaced by nodes of a taxonomy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
