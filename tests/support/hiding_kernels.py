"""The kernels that hide patterns, asked shortly, and questions on which they take long."""

from itertools import combinations

import numpy as np

from tests.support.arrays import named
from veilset import _native

BOUNDS = {"threads": 2, "memory_limit": 2**30, "time_limit": 60.0, "progress": None}
_OF_PATTERNS = ("antecedent_offsets", "antecedent_items", "most", "share_num", "share_den")


def sanitize(**changes) -> np.ndarray:
    """Rows 012, 01, 0; S_10 = -1 and S_20 = 1."""
    columns = {**named("column_", [[1, 2], [], []]), "column_values": np.array([-1, 1], dtype=np.int8)}
    question = {**named("", [[0, 1, 2], [0, 1], [0]]), "vocabulary": 3}
    return _native.hiding.sanitize(**question | columns | BOUNDS | changes)


def hide(**changes) -> dict:
    """Rows 01, 01, 012; 01 may be in one row, 12 in none or in less than half of those with 1.

    There are no other rows, unless *rows*, *support* and *elsewhere* say so.
    """
    question = {
        **named("", [[0, 1], [0, 1], [0, 1, 2]]),
        "vocabulary": 3,
        "states": np.ones(7, dtype=np.uint8),
        **named("pattern_", [[0, 1], [1, 2]]),
        **named("antecedent_", [[], [1]]),
        "most": np.array([1, 0], dtype=np.int64),
        "share_num": np.array([0, 1], dtype=np.int64),
        "share_den": np.array([1, 2], dtype=np.int64),
        **named("keep_", [[0], [0, 1]]),
        "keep_spare": np.array([0, 2], dtype=np.int64),
        "odds": np.array([2**53, 0], dtype=np.uint64),
        "seed": 1,
        "most_strategies": 1,
    }
    asked = question | BOUNDS | changes
    offsets, items, vocabulary = asked["offsets"], asked["items"], asked.pop("vocabulary")
    asked.setdefault("copies", np.arange(len(offsets) - 1))
    patterns = len(asked["pattern_offsets"]) - 1
    everything = _native.hiding.All(
        rows=asked.pop("rows", len(offsets) - 1),
        support=asked.pop(
            "support", np.bincount(items[items >= 0], minlength=max(0, vocabulary))[: max(0, vocabulary)]
        ),
        elsewhere=asked.pop("elsewhere", np.zeros(patterns, dtype=np.int64)),
    )
    hidden = _native.hiding.ToHide(
        offsets=asked.pop("pattern_offsets"),
        items=asked.pop("pattern_items"),
        **{name: asked.pop(name) for name in _OF_PATTERNS},
    )
    spared = _native.hiding.ToKeep(**{name: asked.pop(f"keep_{name}") for name in ("offsets", "items", "spare")})
    return _native.hiding.hide(everything=everything, hidden=hidden, keep=spared, **asked)


def long_product() -> dict:
    """A matrix full of victims, and rows that hold every item."""
    many = 1200
    columns = named("column_", [[k for k in range(many) if k != j] for j in range(many)])
    values = np.full(len(columns["column_items"]), -1, dtype=np.int8)
    return {**named("", [range(many)] * 3000), "vocabulary": many, **columns, "column_values": values}


def long_hiding() -> dict:
    """Rows that hold every one of many patterns to keep, which share nothing with hidden ones; no two are alike."""
    shared, bits = range(3, 19), range(19, 34)
    rows = [[0, 1, 2, *shared, *(bit for bit in bits if number >> bit - 19 & 1)] for number in range(2 ** len(bits))]
    keep = [*(pattern for size in (7, 8, 9) for pattern in combinations(shared, size)), *([bit] for bit in bits)]
    return {
        **named("", rows),
        "vocabulary": 34,
        "states": np.ones(sum(map(len, rows)), dtype=np.uint8),
        **named("keep_", keep),
        "keep_spare": np.ones(len(keep), dtype=np.int64),
    }


LONG = {"sanitize": (sanitize, long_product), "hide": (hide, long_hiding)}
