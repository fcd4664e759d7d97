"""The kernels that hide patterns, asked shortly, and questions on which they take long."""

from itertools import combinations

import numpy as np

from tests.support.arrays import csr
from veilset import _native

BOUNDS = {"threads": 2, "memory_limit": 2**30, "time_limit": 60.0, "progress": None}
_OF_PATTERNS = ("antecedent_offsets", "antecedent_items", "most", "share_num", "share_den")


def sanitize(**changes) -> np.ndarray:
    """Rows 012, 01, 0; S_10 = -1 and S_20 = 1."""
    offsets, items = csr([[0, 1, 2], [0, 1], [0]])
    columns = {
        "column_offsets": np.array([0, 2, 2, 2], dtype=np.int64),
        "column_items": np.array([1, 2], dtype=np.int32),
        "column_values": np.array([-1, 1], dtype=np.int8),
    }
    return _native.hiding.sanitize(**{"offsets": offsets, "items": items, "vocabulary": 3} | columns | BOUNDS | changes)


def hide(**changes) -> dict:
    """Rows 01, 01, 012; 01 may be in one row, 12 in none or in less than half of those with 1."""
    offsets, items = csr([[0, 1], [0, 1], [0, 1, 2]])
    patterns, antecedents, keep = csr([[0, 1], [1, 2]]), csr([[], [1]]), csr([[0], [0, 1]])
    question = {
        "offsets": offsets,
        "items": items,
        "vocabulary": 3,
        "states": np.ones(len(items), dtype=np.uint8),
        "pattern_offsets": patterns[0],
        "pattern_items": patterns[1],
        "antecedent_offsets": antecedents[0],
        "antecedent_items": antecedents[1],
        "most": np.array([1, 0], dtype=np.int64),
        "share_num": np.array([0, 1], dtype=np.int64),
        "share_den": np.array([1, 2], dtype=np.int64),
        "keep_offsets": keep[0],
        "keep_items": keep[1],
        "keep_spare": np.array([0, 2], dtype=np.int64),
        "odds": np.array([2**53, 0], dtype=np.uint64),
        "seed": 1,
        "most_ways": 1,
    }
    asked = question | BOUNDS | changes
    hidden = _native.hiding.ToHide(
        offsets=asked.pop("pattern_offsets"),
        items=asked.pop("pattern_items"),
        **{name: asked.pop(name) for name in _OF_PATTERNS},
    )
    spared = _native.hiding.ToKeep(**{name: asked.pop(f"keep_{name}") for name in ("offsets", "items", "spare")})
    return _native.hiding.hide(hidden=hidden, keep=spared, **asked)


def long_product() -> dict:
    """A matrix full of victims, and rows that hold every item."""
    many = 1200
    columns = csr([[k for k in range(many) if k != j] for j in range(many)])
    offsets, items = csr([range(many)] * 3000)
    return {
        "offsets": offsets,
        "items": items,
        "vocabulary": many,
        "column_offsets": columns[0],
        "column_items": columns[1],
        "column_values": np.full(len(columns[1]), -1, dtype=np.int8),
    }


def long_hiding() -> dict:
    """Rows that hold every one of many patterns to keep, which share nothing with hidden ones; no two are alike."""
    shared, bits = range(3, 19), range(19, 34)
    rows = [[0, 1, 2, *shared, *(bit for bit in bits if number >> bit - 19 & 1)] for number in range(2 ** len(bits))]
    keep = csr([*(pattern for size in (7, 8, 9) for pattern in combinations(shared, size)), *([bit] for bit in bits)])
    offsets, items = csr(rows)
    return {
        "offsets": offsets,
        "items": items,
        "vocabulary": 34,
        "states": np.ones(len(items), dtype=np.uint8),
        "keep_offsets": keep[0],
        "keep_items": keep[1],
        "keep_spare": np.ones(len(keep[0]) - 1, dtype=np.int64),
    }


LONG = {"sanitize": (sanitize, long_product), "hide": (hide, long_hiding)}
