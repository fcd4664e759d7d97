"""Rows and sets of items as the kernels take them."""

from collections.abc import Collection, Sequence

import numpy as np


def marks(items: Collection[int], many: int) -> np.ndarray:
    return np.array([item in items for item in range(many)], dtype=np.uint8)


def csr(rows: Sequence[Collection[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, rows)])
    return offsets.astype(np.int64), np.array([item for row in rows for item in sorted(row)], dtype=np.int32)


def named(prefix: str, rows: Sequence[Collection[int]]) -> dict[str, np.ndarray]:
    """Rows as the two arguments of a kernel that begin with this prefix."""
    offsets, items = csr(rows)
    return {f"{prefix}offsets": offsets, f"{prefix}items": items}
